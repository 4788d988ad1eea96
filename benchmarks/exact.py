"""The exact error of any centres with any weights: all pairs in NumPy.

It is apart from every contender, kernelmean included. With g the inner product of the space, z̄ the
mean of the points and z that of the centres,

    err² = ⟨z̄ − z, z̄⟩ − ⟨z̄ − z, z⟩ = mean_j r(x_j) − Σ_a α_a r(c_a),   r = z̄ − z,

residuals first, so that little cancels. Where float64 still leaves no more than a few digits,
extended precision follows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

DOUBTFUL = 1e-5  # relative errors below this are computed again in extended precision
BLOCK = 256  # rows at a time

Profile = Callable[[np.ndarray], np.ndarray]


def profile(kernel: str, length: float, d: int, space: str, reach: float) -> Profile:
    """g/g(0) as a function of r² ≤ reach².

    Gaussian: exp(−r²/2σ²), in L2 with 2σ² in place of σ². Laplacian: exp(−r/γ); its spectrum is (1
    + γ²ω²)^−(d+1)/2, so that g = φ∗φ in L2, with the square of that spectrum, is the Matérn kernel
    2^(1−ν)/Γ(ν)·s^ν·K_ν(s), s = r/γ, ν = d/2 + 1.
    """
    if kernel == "gaussian":
        rate = (0.5 if space == "rkhs" else 0.25) / length**2
        return lambda r2: np.exp(-rate * r2)
    if space == "rkhs":
        return lambda r2: np.exp(-np.sqrt(r2) / length)
    nu = 0.5 * d + 1.0
    s = np.linspace(0.0, 1.001 * reach / length, 2 + int(400 * reach / length))
    with np.errstate(invalid="ignore"):
        values = 2.0 ** (1.0 - nu) / gamma(nu) * s**nu * kv(nu, s)
    values[0] = 1.0
    spline = CubicSpline(s, values)
    return lambda r2: spline(np.sqrt(r2) / length)


class Exact:
    """Errors against the kernel mean of X; ``kernel`` is "gaussian" or "laplacian"."""

    def __init__(self, X: np.ndarray, kernel: str, length: float, space: str) -> None:
        self.X, self._extended = X, kernel == "gaussian"
        self._variance = length**2 * (1.0 if space == "rkhs" else 2.0)  # of g, for a Gaussian
        # Centres that left the data stay within its diameter on either side.
        reach = 3.0 * float(np.linalg.norm(np.ptp(X, axis=0)))
        self.g = profile(kernel, length, X.shape[1], space, reach)

    @cached_property
    def at_points(self) -> np.ndarray:
        """z̄(x_j)."""
        return np.concatenate(
            [self.g(cdist(rows, self.X, "sqeuclidean")).mean(axis=1) for rows in _blocks(self.X)]
        )

    @cached_property
    def at_points_extended(self) -> np.ndarray:
        return np.concatenate(
            [self.g(squared(rows, self.X)).mean(axis=1) for rows in _blocks(self.X)]
        )

    def errors(self, C: np.ndarray, weights: list[np.ndarray]) -> list[float]:
        """‖z̄ − z‖/‖z̄‖ for several sets of weights on the same centres."""
        A = np.column_stack(weights)
        found = self._errors(C, A, self.at_points, lambda a, b: cdist(a, b, "sqeuclidean"))
        if self._extended and min(found) < DOUBTFUL:
            found = self._errors(C, A.astype(np.longdouble), self.at_points_extended, squared)
        return found

    def error_of(self, mean) -> float:
        """‖z̄ − z‖/‖z̄‖ of a fitted mean, whose centres may have spreads (Gaussian kernels only)."""
        if mean.spreads is None:
            return self.errors(mean.centers, [mean.weights])[0]
        C, alpha = mean.centers, mean.weights
        S = (
            mean.spreads[:, None, None] * np.eye(C.shape[1])
            if mean.spreads.ndim == 1
            else mean.spreads
        )
        kappa = np.array(
            [blurred(self.X - c, s, self._variance).mean() for c, s in zip(C, S, strict=True)]
        )
        K = np.array(
            [blurred_pairs(C - c, S + s, self._variance) for c, s in zip(C, S, strict=True)]
        )
        norm = self.at_points.mean()
        return float(np.sqrt(max(norm - 2 * kappa @ alpha + alpha @ K @ alpha, 0.0) / norm))

    def _errors(
        self, C: np.ndarray, A: np.ndarray, at_points: np.ndarray, distances: Callable
    ) -> list[float]:
        """√(mean r(x_j) − αᵀr(C)) over √mean z̄(x_j), for every column α of A."""
        kappa, at_X = np.zeros(len(C), dtype=A.dtype), []
        for rows, mean in zip(_blocks(self.X), _blocks(at_points), strict=True):
            K = self.g(distances(rows, C))
            kappa += K.sum(axis=0)
            at_X.append(mean[:, None] - K @ A)
        at_C = kappa[:, None] / len(self.X) - self.g(distances(C, C)) @ A
        squares = np.concatenate(at_X).mean(axis=0) - (A * at_C).sum(axis=0)
        return [float(e) for e in np.sqrt(np.maximum(squares, 0) / at_points.mean())]


def blurred(U: np.ndarray, S: np.ndarray, variance: float) -> np.ndarray:
    """The Gaussian g of that variance, blurred by N(0, S), at rows of U."""
    V = variance * np.eye(len(S)) + S
    forms = np.einsum("ij,ij->i", U, np.linalg.solve(V, U.T).T)
    return np.exp(-0.5 * forms - 0.5 * np.linalg.slogdet(V / variance)[1])


def blurred_pairs(U: np.ndarray, S: np.ndarray, variance: float) -> np.ndarray:
    """The same with a covariance for each row."""
    V = variance * np.eye(U.shape[1]) + S
    forms = np.einsum("ij,ij->i", U, np.linalg.solve(V, U[:, :, None])[:, :, 0])
    return np.exp(-0.5 * forms - 0.5 * np.linalg.slogdet(V / variance)[1])


def squared(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """‖a − b‖² in extended precision."""
    total = np.zeros((len(A), len(B)), dtype=np.longdouble)
    for a, b in zip(A.astype(np.longdouble).T, B.astype(np.longdouble).T, strict=True):
        total += (a[:, None] - b) ** 2
    return total


def _blocks(rows: np.ndarray) -> list[np.ndarray]:
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
