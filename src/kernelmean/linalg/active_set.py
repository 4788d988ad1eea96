"""Lawson–Hanson on the simplex: the exact minimiser of αᵀKα − 2κᵀα by entering and leaving faces.

Each entry and each step to the boundary lowers the objective, so no face recurs; a weight whose
entry rounding would undo is barred. A face {Σα = 1, α = 0 off F} has its minimiser in closed form:
with K_FF = LLᵀ, v = L⁻¹κ_F, w = L⁻¹1, α_F = L⁻ᵀ(v + νw), ν = (1 − wᵀv)/(wᵀw), and ν is the
multiplier that other weights are priced against.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from kernelmean._types import EPS, IntVector, Matrix, Vector
from kernelmean.linalg import triangular
from kernelmean.linalg.factor import cholesky, product, solve_lower, square

# a weight enters when it violates optimality by more, in units of ‖y‖²; below, rounding decides
ENTRY_GAP = 1e-13  # in units of the objective: a gradient below it lets no weight enter
KEPT_CANDIDATES = 32  # to enter, kept between two pricings of all weights
# On average, usually about 1; where there are more, rounding has stopped the descent.
ENTRIES_PER_WEIGHT = 20


def minimise(L: Matrix, y: Vector, guess: Vector | None = None) -> Vector:
    """argmin αᵀKα − 2κᵀα over α ≥ 0, Σα = 1, with K = LLᵀ and κ = Ly.

    K includes the jitter; zeros of α are exact.
    """
    coordinates = np.column_stack([y, solve_lower(L, np.ones(len(y)))])
    x = _sum_to_one(L, coordinates)
    if np.min(x) > 0.0:
        whole: Vector = x / x.sum()
        return whole
    K = square(L)
    kappa = product(L, y)
    if guess is None:
        free = _starting_set(K, kappa, L, coordinates, x)
        guess = np.zeros(len(kappa))
        guess[free] = 1.0 / len(free)
    descent = _Descent(K, kappa, guess, float(y @ y))
    descent.run()
    weights: Vector = descent.weights / descent.weights.sum()
    return weights


def _coordinates(lower: Matrix, kappa: Vector) -> Matrix:
    """Columns v = L⁻¹κ and w = L⁻¹1."""
    sides = np.column_stack([kappa, np.ones(len(kappa))])
    return solve_lower(lower, sides)


def _starting_set(K: Matrix, kappa: Vector, L: Matrix, coordinates: Matrix, x: Vector) -> IntVector:
    """Drop all negative weights of the minimiser x at once, until none is left.

    That gives a good face, rarely the best one.
    """
    free = np.arange(len(kappa))
    while np.min(x) <= 0.0:
        free = free[x > 0.0]
        x = _face_minimiser(K, kappa, L, coordinates, free)
    return free


def _sum_to_one(lower: Matrix, coordinates: Matrix) -> Vector:
    """L⁻ᵀ(v + νw): the minimiser subject to Σα = 1, from its coordinates (v, w)."""
    solved = solve_lower(lower, coordinates, transposed=True)
    x: Vector = solved[:, 0] + solved[:, 1] * ((1.0 - solved[:, 0].sum()) / solved[:, 1].sum())
    return x


def _face_minimiser(
    K: Matrix, kappa: Vector, L: Matrix, coordinates: Matrix, free: IntVector
) -> Vector:
    """The minimiser with α = 0 off the free set.

    It is found by projection in the given factor if few are off, else the free set is factored
    anew. α_Z = 0 means multipliers in the span of L⁻¹E_Z: project (v, w) on its complement.
    """
    size = len(kappa)
    if size - len(free) > size // 8:
        lower = cholesky(K[np.ix_(free, free)])
        return _sum_to_one(lower, _coordinates(lower, kappa[free]))
    off = np.zeros((size, size - len(free)))
    off[np.setdiff1d(np.arange(size), free), np.arange(size - len(free))] = 1.0
    spanned = solve_lower(L, off)
    basis = np.asarray(qr(spanned, mode="economic", check_finite=False)[0], dtype=np.float64)
    minimiser: Vector = _sum_to_one(L, coordinates - product(basis, product(basis.T, coordinates)))[
        free
    ]
    return minimiser


class _Face:
    """The minimiser over one face, kept current while single weights enter and leave."""

    def __init__(self, K: Matrix, kappa: Vector, free: IntVector) -> None:
        self._K = K
        self._kappa = kappa
        self._factor = np.zeros(K.shape)
        self._coordinates = np.zeros((2, len(kappa)))
        self._triangle = triangular.operations(len(kappa) ** 3 / 3.0)
        self._free = np.zeros(len(kappa), dtype=np.intp)
        self.size = len(free)
        lower = cholesky(K[np.ix_(free, free)])
        self._free[: self.size] = free
        self._factor[: self.size, : self.size] = lower
        self._coordinates[:, : self.size] = _coordinates(lower, kappa[free]).T

    @property
    def free(self) -> IntVector:
        return self._free[: self.size]

    def multiplier(self) -> float:
        """ν, the common value of (Kα − κ)_F at the minimiser."""
        v, w = self._coordinates[:, : self.size]
        return float((1.0 - w @ v) / (w @ w))

    def minimiser(self) -> Vector:
        v, w = self._coordinates[:, : self.size]
        x: Vector = v + self.multiplier() * w
        self._triangle.backward(self._factor, self.size, x)
        return x

    def enter(self, j: int) -> bool:
        """Append weight j; False if its column depends on the free ones to rounding."""
        row = self._K[j, self.free]
        pivot = self._K[j, j] - self._triangle.forward(self._factor, self.size, row)
        if pivot <= 0.0:
            return False
        diagonal = np.sqrt(pivot)
        sides = np.array([self._kappa[j], 1.0])
        self._coordinates[:, self.size] = (
            sides - self._coordinates[:, : self.size] @ row
        ) / diagonal
        self._factor[self.size, : self.size] = row
        self._factor[self.size, self.size] = diagonal
        self._free[self.size] = j
        self.size += 1
        return True

    def leave(self, position: int) -> None:
        self._triangle.delete_row(self._factor, self.size, position, self._coordinates)
        self._free[position : self.size - 1] = self._free[position + 1 : self.size]
        self.size -= 1


class _Descent:
    """From a face to the best face."""

    def __init__(self, K: Matrix, kappa: Vector, start: Vector, unit: float) -> None:
        self._K = K
        self._kappa = kappa
        # Smaller violations are rounding: Kα − κ is a difference of terms as large as max κ.
        self._threshold = ENTRY_GAP * unit + EPS * float(np.max(np.abs(kappa)))
        self._face = _Face(K, kappa, np.flatnonzero(start))
        self._barred = np.zeros(len(kappa), dtype=bool)
        self.weights = start.copy()
        self._settle(self._face.minimiser())

    def run(self) -> None:
        """Enter the worst violator until there is none.

        Between two full pricings only candidates are priced.
        """
        entries = 0
        limit = ENTRIES_PER_WEIGHT * len(self._kappa)
        while len(candidates := self._violators()) and entries < limit:
            rows = self._K[candidates]
            kappa = self._kappa[candidates]
            waiting = np.ones(len(candidates), dtype=bool)
            worst = 0  # enters without repricing: every round must count towards the limit
            while waiting[worst]:
                waiting[worst] = False
                self._enter(int(candidates[worst]))
                entries += 1
                slack = self._slack(rows, kappa)
                slack[~waiting | (slack >= -self._threshold)] = np.inf
                worst = int(np.argmin(slack)) if np.isfinite(slack).any() else worst

    def _settle(self, x: Vector) -> None:
        """Walk towards the minimiser of the face, until it lies inside.

        Whoever reaches zero first leaves the free set.
        """
        while np.min(x) <= 0.0:
            free = self._face.free
            falling = np.flatnonzero(x <= 0.0)
            here = self.weights[free]
            steps = here[falling] / np.maximum(
                here[falling] - x[falling], np.finfo(np.float64).tiny
            )
            first = int(np.argmin(steps))
            self.weights[free] = np.maximum(here + steps[first] * (x - here), 0.0)
            self.weights[free[falling[first]]] = 0.0
            self._face.leave(int(falling[first]))
            x = self._face.minimiser()
        self.weights[self._face.free] = x

    def _enter(self, j: int) -> None:
        """Free weight j; bar it where rounding hides the descent that its multiplier promises."""
        self._barred[j] = not self._face.enter(j)
        if self._barred[j]:
            return
        x = self._face.minimiser()
        if x[-1] > 0.0:
            self._settle(x)
        else:
            self._face.leave(self._face.size - 1)
            self._barred[j] = True

    def _slack(self, rows: Matrix, kappa: Vector) -> Vector:
        """(Kα − κ)_j − ν. By einsum: waking the threads of BLAS for it costs more."""
        product: Vector = np.einsum("ij,j->i", rows, self.weights)
        return product - kappa - self._face.multiplier()

    def _violators(self) -> IntVector:
        """The weights at zero with the smallest (Kα − κ)_j below ν, worst first."""
        slack = self._slack(self._K, self._kappa)
        slack[self._barred | (self.weights > 0.0)] = np.inf
        worst = np.argsort(slack, kind="stable")[:KEPT_CANDIDATES]
        return worst[slack[worst] < -self._threshold]
