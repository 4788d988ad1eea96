"""Oracles: every quantity written from its formula, slow and independent of the library.

A kernel is here a function g of the squared distance with g(0) = 1, and works on float64,
longdouble and mpmath numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import mpmath
import numpy as np
from scipy.special import gammaln, kv

Profile = Callable[[np.ndarray], np.ndarray]


# Kernels and Gram matrices


def gaussian(sigma: float) -> Profile:
    return lambda r2: np.exp(-r2 / (2 * sigma**2))


def laplacian(gamma: float) -> Profile:
    return lambda r2: np.exp(-np.sqrt(r2) / gamma)


def student(alpha: float, beta: float) -> Profile:
    return lambda r2: (1 + r2 / beta) ** -alpha


def laplacian_l2(gamma: float, d: int) -> Profile:
    """t^ν K_ν(t) / (2^{ν−1} Γ(ν)), ν = d/2 + 1, t = r/γ; for small d only."""
    nu = d / 2 + 1

    def g(r2: np.ndarray) -> np.ndarray:
        t = np.sqrt(np.asarray(r2, dtype=float)) / gamma
        small = t < 1e-7
        safe = np.where(small, 1.0, t)
        return np.where(small, 1.0, safe**nu * kv(nu, safe) / (2 ** (nu - 1) * np.exp(gammaln(nu))))

    return g


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """‖a − b‖² by direct differences, coordinates added in order."""
    total = np.zeros((len(A), len(B)), dtype=np.result_type(A, B))
    for t in range(A.shape[1]):
        total += (A[:, t, None] - B[None, :, t]) ** 2
    return total


def gram(g: Profile, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return g(squared_distances(A, B))


def uniform(X: np.ndarray) -> np.ndarray:
    return np.full(len(X), 1 / len(X))


def normalised(w: np.ndarray) -> np.ndarray:
    return np.asarray(w, dtype=float) / np.sum(w)


def repeated(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Every row as often as its integer weight says."""
    return np.repeat(X, np.asarray(w, dtype=int), axis=0)


# Selection


def farthest_first(X: np.ndarray, k: int, first: int) -> tuple[list[int], list[float], float]:
    """(indices, radii, cover) by the loop of THEORY §2.1."""
    chosen, radii = [first], [np.inf]
    D2 = squared_distances(X, X[[first]])[:, 0]
    while len(chosen) < k:
        j = int(np.argmax(D2))
        if D2[j] <= 0:
            break
        radii.append(float(np.sqrt(D2[j])))
        chosen.append(j)
        D2 = np.minimum(D2, squared_distances(X, X[[j]])[:, 0])
    return chosen, radii, float(np.sqrt(D2.max()))


def best_radius(X: np.ndarray, k: int) -> float:
    """The smallest covering radius over all subsets of k points."""
    D = np.sqrt(squared_distances(X, X))
    k = min(k, len(X))
    return min(
        float(D[:, list(subset)].min(axis=1).max()) for subset in combinations(range(len(X)), k)
    )


# Coefficients


def direct_solve(K: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    return np.linalg.solve(K, kappa)


def incremental_inverse(K: np.ndarray, kappa: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The paper's section "Computation of α_I and auto-selection of k", word for word.

    K_{m+1}⁻¹ = [K_m⁻¹ 0; 0 0] + q_0 q qᵀ,  q_0 = 1/(φ(x,x) − bᵀK_m⁻¹b),  q = (−K_m⁻¹b, 1);  α =
    K⁻¹κ,  E = −αᵀκ. Returns α_m and E_m for m = 1, …, k.
    """
    inverse = np.array([[1 / K[0, 0]]])
    alphas, indicator = [inverse @ kappa[:1]], [-(kappa[0] ** 2) / K[0, 0]]
    for m in range(1, len(K)):
        b = K[:m, m]
        q0 = 1 / (K[m, m] - b @ inverse @ b)
        q = np.append(-(inverse @ b), 1.0)
        grown = np.zeros((m + 1, m + 1))
        grown[:m, :m] = inverse
        inverse = grown + q0 * np.outer(q, q)
        alpha = inverse @ kappa[: m + 1]
        alphas.append(alpha)
        indicator.append(-(alpha @ kappa[: m + 1]))
    return alphas, np.array(indicator)


def paper_stop(E: np.ndarray, tol: float) -> int:
    """First m ≥ 3 with |E_{m−1} − E_m| ≤ tol·|E_1 − E_m|, else all; by subtraction, as the paper
    has it.
    """
    for m in range(3, len(E) + 1):
        if abs(E[m - 2] - E[m - 1]) <= tol * abs(E[0] - E[m - 1]):
            return m
    return len(E)


def project_by_bisection(v: np.ndarray) -> np.ndarray:
    """Projection onto the simplex: the θ with Σ max(v − θ, 0) = 1, by halving an interval."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        theta = (low + high) / 2
        if np.maximum(v - theta, 0).sum() > 1:
            low = theta
        else:
            high = theta
    return np.maximum(v - high, 0)


def simplex_by_supports(K: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    """Minimiser of αᵀKα − 2κᵀα on the simplex: the best feasible stationary point over all
    supports. For k ≤ 8.
    """
    best, value = None, np.inf
    for size in range(1, len(K) + 1):
        for support in combinations(range(len(K)), size):
            S = list(support)
            kkt = np.block(
                [[K[np.ix_(S, S)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]]
            )
            alpha = np.linalg.solve(kkt, np.append(kappa[S], 1.0))[:size]
            objective = alpha @ K[np.ix_(S, S)] @ alpha - 2 * kappa[S] @ alpha
            if (alpha >= 0).all() and objective < value:
                value, best = objective, np.zeros(len(K))
                best[S] = alpha
    assert best is not None
    return best


def conjugate_gradients(K: np.ndarray, kappa: np.ndarray, tol: float, most: int) -> np.ndarray:
    """Hestenes–Stiefel, relative residual ≤ tol or ``most`` iterations: MATLAB's pcg without a
    preconditioner.
    """
    x = np.zeros(len(K))
    r = kappa.copy()
    p = r.copy()
    for _ in range(most):
        if np.linalg.norm(r) <= tol * np.linalg.norm(kappa):
            break
        step = (r @ r) / (p @ K @ p)
        x = x + step * p
        smaller = r - step * (K @ p)
        p = smaller + (smaller @ smaller) / (r @ r) * p
        r = smaller
    return x


# Errors


def error_squared(
    g: Profile, X: np.ndarray, p: np.ndarray, C: np.ndarray, alpha: np.ndarray
) -> float:
    """‖Σ p_j φ(x_j) − Σ α_a φ(c_a)‖²/g(0) in extended precision (80 bits on x86): relative errors
    down to 1e-9.
    """
    points = np.concatenate([X, C]).astype(np.longdouble)
    w = np.concatenate([p, -alpha]).astype(np.longdouble)
    total = np.longdouble(0)
    for start in range(0, len(points), 256):
        rows = slice(start, start + 256)
        total += w[rows] @ (gram(g, points[rows], points) @ w)
    return float(total)


def norm_squared(g: Profile, X: np.ndarray, p: np.ndarray) -> float:
    """‖z̄‖²/g(0)."""
    return error_squared(g, X, p, X[:0], p[:0])


def relative_error(
    g: Profile, X: np.ndarray, p: np.ndarray, C: np.ndarray, alpha: np.ndarray
) -> float:
    return float(np.sqrt(max(error_squared(g, X, p, C, alpha), 0.0) / norm_squared(g, X, p)))


def gaussian_error_squared_mp(
    sigma: float, X: np.ndarray, p: np.ndarray, C: np.ndarray, alpha: np.ndarray
) -> float:
    """The same in 512-bit arithmetic, for a Gaussian and a few dozen points."""
    with mpmath.workprec(512):
        points = [[mpmath.mpf(float(v)) for v in row] for row in np.concatenate([X, C])]
        w = [mpmath.mpf(float(v)) for v in np.concatenate([p, -alpha])]
        two = 2 * mpmath.mpf(float(sigma)) ** 2
        total = mpmath.mpf(0)
        for a, wa in zip(points, w, strict=True):
            for b, wb in zip(points, w, strict=True):
                total += (
                    wa
                    * wb
                    * mpmath.exp(-sum((s - t) ** 2 for s, t in zip(a, b, strict=True)) / two)
                )
        return float(total)


def optimal_weights_extended(
    g: Profile, X: np.ndarray, p: np.ndarray, C: np.ndarray, digits: int = 50
) -> np.ndarray:
    """K⁻¹κ with K, κ in extended precision and the solve in ``digits`` digits: the optimum where
    float64 has none.
    """
    K = gram(g, C.astype(np.longdouble), C.astype(np.longdouble))
    kappa = gram(g, C.astype(np.longdouble), X.astype(np.longdouble)) @ p.astype(np.longdouble)
    with mpmath.workdps(digits):
        exact = mpmath.matrix([[_mpf(v) for v in row] for row in K])
        solution = mpmath.cholesky_solve(exact, mpmath.matrix([_mpf(v) for v in kappa]))
        return np.array([float(v) for v in solution])


def _mpf(v: np.longdouble) -> mpmath.mpf:
    high = float(v)
    return mpmath.mpf(high) + mpmath.mpf(float(v - np.longdouble(high)))


# Bounds (THEORY §2.2), in units of √g(0)


def theorem_1(g: Profile, X: np.ndarray, p: np.ndarray, chosen: np.ndarray) -> float:
    """Σ_{j∉I} p_j · √(1 − ν²), ν = min_{j∉I} max_{i∈I} g; copies of a centre count as chosen."""
    r2 = squared_distances(X, X[chosen]).min(axis=1)
    outside = r2 > 0
    return (
        float(p[outside].sum() * np.sqrt(1 - g(r2[outside]).min() ** 2)) if outside.any() else 0.0
    )


def mean_nearest(g: Profile, X: np.ndarray, p: np.ndarray, C: np.ndarray) -> float:
    """Σ_j p_j √(1 − g(D_j)²)."""
    return float(p @ np.sqrt(np.maximum(1 - g(squared_distances(X, C).min(axis=1)) ** 2, 0)))


def mean_power(g: Profile, X: np.ndarray, p: np.ndarray, C: np.ndarray) -> float:
    """Σ_j p_j √(1 − k_jᵀK⁻¹k_j): the distance of each φ(x_j) from the span of the centres. Time
    O(nk²).
    """
    K, k = gram(g, C, C), gram(g, C, X)
    return float(p @ np.sqrt(np.maximum(1 - (k * np.linalg.solve(K, k)).sum(axis=0), 0)))


# Nyström (the paper's section 4.1)


def nystrom(K: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """K̃_I = K Q_I K_I⁻¹ Q_Iᵀ Kᵀ, Q_I the columns of the identity in I."""
    Q = np.eye(len(K))[:, chosen]
    return K @ Q @ np.linalg.solve(Q.T @ K @ Q, Q.T @ K.T)


# Mixtures: a Gaussian kernel over atoms N(c, S), in the coordinates of the data


def covariances(mean: object) -> tuple[np.ndarray, np.ndarray]:
    """(Σ, S): that of the kernel and (k, d, d) those of the atoms, before the mean's scale."""
    d = mean.centers.shape[1]
    back = np.eye(d) if mean.scale is None else np.linalg.inv(mean.scale)
    S = np.zeros((len(mean.centers), d, d))
    if mean.spreads is not None:
        own = mean.spreads
        S = own[:, None, None] * np.eye(d) if own.ndim == 1 else own
    return mean.kernel.bandwidth**2 * back @ back.T, back @ S @ back.T


def log_normal(u: np.ndarray, V: np.ndarray) -> np.ndarray:
    """log N(u; 0, V), of one vector and matrix or of as many."""
    sign, log_det = np.linalg.slogdet(2 * np.pi * V)
    assert (sign > 0).all()
    return -0.5 * (u * np.linalg.solve(V, u[..., None])[..., 0]).sum(axis=-1) - 0.5 * log_det


def log_peak(V: np.ndarray) -> float:
    """log N(0; 0, V)."""
    return float(log_normal(np.zeros(len(V)), V))


def mixture_log_terms(mean: object, Q: np.ndarray) -> np.ndarray:
    """(q, k): log of what each atom adds at q, without its weight."""
    kernel, own = covariances(mean)
    unit = log_peak(kernel) if mean.space == "rkhs" else 0.0
    return np.array([log_normal(q - mean.centers, kernel + own) - unit for q in Q])


def mixture_value(mean: object, Q: np.ndarray) -> np.ndarray:
    return np.exp(mixture_log_terms(mean, Q)) @ mean.weights


def mixture_gradient(mean: object, Q: np.ndarray) -> np.ndarray:
    kernel, own = covariances(mean)
    terms = np.exp(mixture_log_terms(mean, Q)) * mean.weights
    slopes = [
        np.linalg.solve(kernel + S, (c - Q).T).T for c, S in zip(mean.centers, own, strict=True)
    ]
    return np.einsum("qa,aqt->qt", terms, slopes)


def mixture_inner(f: object, h: object) -> float:
    """⟨f, h⟩ by all pairs: in L2 with both kernels, in the RKHS with the one they share."""
    (kernel, own), (other, theirs) = covariances(f), covariances(h)
    width = kernel + other if f.space == "l2" else kernel
    unit = 0.0 if f.space == "l2" else log_peak(kernel)
    total = 0.0
    for a, c, S in zip(f.weights, f.centers, own, strict=True):
        terms = np.exp(log_normal(c - h.centers, width + S + theirs) - unit)
        total += float(a * (terms @ h.weights))
    return total


def mixture_distance(f: object, h: object) -> float:
    squared = mixture_inner(f, f) + mixture_inner(h, h) - 2 * mixture_inner(f, h)
    return float(np.sqrt(max(squared, 0.0)))
