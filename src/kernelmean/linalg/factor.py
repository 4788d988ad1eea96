"""The growing Cholesky factor: one factorisation serves every number of centres.

K + Λ = LLᵀ with rows in selection order, y = L⁻¹κ; Λ is a tiny diagonal jitter, λ_i = 4i·eps·K_ii,
what rounding may take from pivot i, with K_ii = 1 for points and less for atoms. The leading block
of a Cholesky factor is the factor of the leading block, and forward substitution uses only earlier
rows, so for every m ≤ k:  E_m = −Σ_{i≤m} y_i², α_m = L_m⁻ᵀ y_{1:m}.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dgemm, dsyrk, dtrmm, dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf

from kernelmean._types import EPS, Matrix, Points, Vector
from kernelmean.engines import Elimination
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.kernels.atoms import joined
from kernelmean.linalg.gram import as_atoms, gram, squared_norms

LARGEST_BOOST = 1e12  # of the least jitter, by factors of ten; then there is no factor
NOTABLE_JITTER = 1e-8  # in units of g(0): above it a warning tells


def product(A: Matrix, B: Matrix) -> Matrix:
    """A @ B by the BLAS that SciPy's LAPACK runs on.

    NumPy and SciPy each bring their own, with their own threads; alternating between them was slow
    and erratic on two cores, presumably because the idle threads of one wait in a busy loop where
    the other works.
    """
    columns = B.reshape(len(B), -1)
    result: Matrix = dgemm(1.0, columns.T, A.T).T
    return result.reshape(len(A), *B.shape[1:])


def cholesky(A: Matrix, jitter: Vector | float = 0.0) -> Matrix:
    """The lower triangular L with LLᵀ = A + Λ.

    Of A only the lower triangle is read, and nothing is written. LAPACK is called directly: SciPy's
    own checks take longer than a small system.
    """
    shifted = A.copy(order="C")
    shifted[np.diag_indices(len(A))] += jitter
    U, info = dpotrf(shifted.T, lower=0, clean=1, overwrite_a=1)
    if info:
        raise LinAlgError(f"the leading block of order {info} is not positive definite.")
    L: Matrix = U.T
    return L


def solve_lower(L: Matrix, B: Matrix, *, transposed: bool = False) -> Matrix:
    """L⁻¹B, or L⁻ᵀB, for a matrix or a vector.

    A matrix of right-hand sides by dtrsm from the right, (L⁻¹B)ᵀ = BᵀL⁻ᵀ, which is how rows lie in
    memory: LAPACK's solver takes a thousand times as long for one row.
    """
    upper = np.ascontiguousarray(L).T
    flag = 0 if transposed else 1
    if B.ndim == 1:
        x: Matrix = dtrsv(upper, B, lower=0, trans=flag)
        return x
    X: Matrix = dtrsm(1.0, upper, B.T, side=1, lower=0, trans_a=1 - flag).T
    return X


def square(L: Matrix) -> Matrix:
    """LLᵀ of a lower triangle, in half the time of a product of any two matrices."""
    upper = np.ascontiguousarray(L).T
    K: Matrix = dtrmm(1.0, upper, upper, side=0, lower=0, trans_a=1).T
    return K


class Panel(NamedTuple):
    """Consecutive rows of L: what stands left of their diagonal block, and that block."""

    left: Matrix  # (rows, first row)
    diagonal: Matrix  # (rows, rows), lower triangle

    def above(self, below: Panel) -> Panel:
        """One panel of these rows and those right below them."""
        start = self.left.shape[1]
        rows = len(self.diagonal)
        diagonal = np.zeros((rows + len(below.diagonal), rows + len(below.diagonal)))
        diagonal[:rows, :rows] = self.diagonal
        diagonal[rows:, :rows] = below.left[:, start:]
        diagonal[rows:, rows:] = below.diagonal
        return Panel(np.concatenate([self.left, below.left[:, :start]]), diagonal)


class Factor:
    """L and y, grown by blocks of centres. Time k³/3 in all, memory k²/2."""

    def __init__(self, radial: RadialFunction, elimination: Elimination | None = None) -> None:
        self.radial = radial
        self._elimination = elimination
        self._boost = 1.0  # what λ had to be multiplied by
        self.atoms = Atoms(np.empty((0, 0)))
        self._diagonal: Vector = np.empty(0)  # K_ii
        self.kappa: Vector = np.empty(0)
        self.y: Vector = np.empty(0)
        self._panels: list[
            Panel
        ] = []  # few: a panel as large as half of the one above it is merged with that
        self._blocks: list[int] = []

    @property
    def centers(self) -> Points:
        """The centres, those of atoms without their spreads."""
        return self.atoms.centers

    def append(self, centers: Points | Atoms, kappa: Vector) -> None:
        """Grow by a block of centres.

        Where K + Λ is not positive in float64, Λ is raised tenfold and all is factored again.
        """
        self._blocks.append(len(centers))
        new = as_atoms(centers)
        self.atoms = joined([self.atoms, new] if len(self.y) else [new])
        self._diagonal = np.concatenate([self._diagonal, squared_norms(self.radial, new)])
        self.kappa = np.concatenate([self.kappa, kappa])
        try:
            self._grow(len(centers))
        except LinAlgError:
            self._start_again()

    @property
    def size(self) -> int:
        """Centres factored so far."""
        return len(self.y)

    @property
    def jitter(self) -> float:
        """The largest λ_i, in units of K_ii."""
        return float((self._relative_jitters(0, self.size)).max()) if self.size else 0.0

    @property
    def jitters(self) -> Vector:
        """λ_i = 4i·eps·K_ii, times what near-singularity asked for."""
        return self._relative_jitters(0, self.size) * self._diagonal[: self.size]

    def _relative_jitters(self, start: int, stop: int) -> Vector:
        return self._boost * 4 * EPS * np.arange(start + 1.0, stop + 1)

    @property
    def indicator(self) -> Vector:
        """E_m = −Σ_{i≤m} y_i² for every prefix, in units of g(0).

        It is non-increasing by construction.
        """
        return -np.cumsum(self.y**2)

    @property
    def pivots(self) -> Vector:
        """Squared diagonal of L: λ_i plus what each centre adds to the span of the earlier ones."""
        return np.concatenate([np.diagonal(panel.diagonal) for panel in self._panels]) ** 2

    def lower(self, m: int) -> Matrix:
        """L_m as one matrix."""
        L = np.zeros((m, m))
        for start, stop, panel in self._parts(m):
            L[start:stop, :start] = panel.left[: stop - start]
            L[start:stop, start:stop] = panel.diagonal[: stop - start, : stop - start]
        return L

    def weights(self, m: int) -> Vector:
        """α_m = L_m⁻ᵀ y_{1:m}, the optimum on the first m centres."""
        return self.back_substitute(self.y[:m])

    def forward_substitute(self, b: Matrix) -> Matrix:
        """L_m⁻¹ b, m = len(b)."""
        x = np.array(b, dtype=np.float64)
        for start, stop, panel in self._parts(len(b)):
            if start:
                x[start:stop] -= product(panel.left[: stop - start], x[:start])
            diagonal = panel.diagonal[: stop - start, : stop - start]
            x[start:stop] = solve_lower(diagonal, x[start:stop])
        return x

    def back_substitute(self, b: Vector) -> Vector:
        """L_m⁻ᵀ b, m = len(b)."""
        x = np.array(b, dtype=np.float64)
        for start, stop, panel in reversed(self._parts(len(b))):
            diagonal = panel.diagonal[: stop - start, : stop - start]
            x[start:stop] = solve_lower(diagonal, x[start:stop], transposed=True)
            x[:start] -= product(panel.left[: stop - start].T, x[start:stop])
        return x

    def objective(self, alpha: Vector) -> float:
        """αᵀKα − 2κᵀα for any α on the first centres, so that err² = ‖z̄‖² + this.

        It is comparable between selections.
        """
        return self.value(alpha) - float(self.jitters[: len(alpha)] @ alpha**2)

    def value(self, alpha: Vector) -> float:
        """αᵀ(K + Λ)α − 2κᵀα = ‖L_mᵀα − y‖² − ‖y‖² for any α on the first m centres.

        The second form has no cancellation.
        """
        y = self.y[: len(alpha)]
        x = -y
        for start, stop, panel in self._parts(len(alpha)):
            rows = alpha[start:stop]
            x[:start] += product(rows[None], panel.left[: len(rows)])[0]
            x[start:stop] += product(rows[None], panel.diagonal[: len(rows), : len(rows)])[0]
        return float(x @ x) - float(y @ y)

    def _grow(self, b: int) -> None:
        """[L 0; Xᵀ M]: X = L⁻¹K₁₂, MMᵀ = K₂₂ + Λ₂ − XᵀX, y₂ = M⁻¹(κ₂ − Xᵀy₁)."""
        m = self.size
        old = self.atoms[:m]
        new = self.atoms[m : m + b]
        jitter = self._relative_jitters(m, m + b) * self._diagonal[m : m + b]
        if self._elimination is None:
            left, M = self._on_the_host(old, new, jitter)
        else:
            left, M = self._elimination(old.centers, new.centers, jitter)
        rest = self.kappa[m : m + b] - product(left, self.y) if m else self.kappa[m : m + b]
        self._add(Panel(left, M))
        self.y = np.concatenate([self.y, solve_lower(M, rest)])

    def _on_the_host(self, old: Atoms, new: Atoms, jitter: Vector) -> tuple[Matrix, Matrix]:
        """(Xᵀ, M)."""
        X = (
            self.forward_substitute(gram(self.radial, old, new))
            if len(old)
            else np.empty((0, len(new)))
        )
        schur = gram(self.radial, new, new)
        if len(old):
            schur -= dsyrk(1.0, X.T, lower=1)  # the lower triangle, which is all that is read
        return np.ascontiguousarray(X.T), cholesky(schur, jitter)

    def _start_again(self) -> None:
        while self._boost < LARGEST_BOOST:
            self._boost *= 10
            self._panels = []
            self.y = np.empty(0)
            try:
                for b in self._blocks:
                    self._grow(b)
            except LinAlgError:
                continue
            if self.jitter > NOTABLE_JITTER:
                warnings.warn(
                    f"the Gram matrix is nearly singular: a jitter of {self.jitter:.0e} was "
                    "needed; "
                    "fewer centres or a smaller bandwidth would serve better.",
                    stacklevel=2,
                )
            return
        raise LinAlgError(
            "the Gram matrix of the centres is not positive definite: the kernel is not a valid "
            "one."
        )

    def _add(self, panel: Panel) -> None:
        """Append rows; few large panels make few large matrix products."""
        while self._panels and len(self._panels[-1].diagonal) <= 2 * len(panel.diagonal):
            panel = self._panels.pop().above(panel)
        self._panels.append(panel)

    def _parts(self, m: int) -> list[tuple[int, int, Panel]]:
        """(first row, last row plus one, panel) for the panels that hold the first m rows."""
        starts = [panel.left.shape[1] for panel in self._panels]
        return [
            (start, min(start + len(panel.diagonal), m), panel)
            for start, panel in zip(starts, self._panels, strict=True)
            if start < m
        ]
