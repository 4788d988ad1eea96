"""Orthogonal greedy selection from a pool of candidates.

With P the projection on the span of the centres so far, r(x) = ⟨z̄ − Pz̄, φ_x⟩ and P²(x) = ‖φ_x −
Pφ_x‖², a further centre x lowers the squared error by exactly y² = r(x)²/P²(x). For weights that
sum to one let u(x) = 1 − Σ of the weights of Pφ_x and w = u/P; the best objective is −Σy² + (1 −
Σwy)²/Σw², and x is scored by what that becomes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import OrthonormalBasis, Projections
from kernelmean.kernels import RadialFunction
from kernelmean.linalg import gains
from kernelmean.linalg.factor import cholesky, product, solve_lower
from kernelmean.linalg.gram import gram

LARGEST_BLOCK_PICKS = 32  # between two updates of the whole pool, but
PICKS_BEFORE_PER_PICK = 8  # no more than one for so many picks made before
SHORTLIST_PER_PICK = 4  # candidates considered for each pick of a block


@dataclass
class Residuals:
    """What is left of z̄, of the sum and of every candidate outside the span of the centres."""

    r: Vector  # ⟨z̄ − Pz̄, φ_x⟩
    u: Vector  # 1 − 1ᵀK⁻¹k(C, x)
    squares: Vector  # P²(x)
    sums: Vector  # Σy², Σwy, Σw² over the centres so far

    def scores(self, unit_sum: bool) -> Vector:
        """The larger the better; −inf where P² is at the floor."""
        squares = np.maximum(self.squares, gains.FLOOR)
        _, wy, w2 = self.sums
        if unit_sum:
            value = gains.unit_sum_gain(self.r, self.u, squares, wy, w2)
        else:
            value = gains.free_gain(self.r, squares)
        return np.where(self.squares > gains.FLOOR, value, -np.inf)

    def of(self, some: IntVector) -> Residuals:
        """Of some candidates, to go their own way."""
        return Residuals(self.r[some], self.u[some], self.squares[some], self.sums.copy())

    def take_out(self, shares: Projections, coordinates: Matrix) -> None:
        """Less what new orthonormal directions hold.

        ``coordinates`` are those of z̄ and of the sum in them.
        """
        y, w = coordinates.T
        self.r -= shares.products[0]
        self.u -= shares.products[1]
        self.squares -= shares.squares
        self.sums += (y @ y, w @ y, w @ w)


class HostDirections:
    """V of :class:`kernelmean.engines.Directions` in NumPy.  Memory 8Pk bytes."""

    def __init__(self, radial: RadialFunction) -> None:
        self._radial = radial
        self._size = 0
        self._points: Points | None = None
        # Row m: products of the m-th direction with all candidates.
        self._rows: Matrix = np.empty((0, 0))

    def extend(self, points: Points, picks: IntVector, coordinates: Matrix) -> Projections:
        """New candidates: L⁻¹K of the picks with them, L = V_picksᵀ."""
        m = self._size
        old = points[:0] if self._points is None else self._points
        rows = np.empty((m, len(points)))
        if m:
            L = self._rows[:m, picks].T
            rows[:] = solve_lower(L, gram(self._radial, old[picks], points))
        self._points = np.concatenate([old, points])
        self._rows = np.concatenate([self._rows[:m], rows], axis=1)
        return _shares(rows, coordinates)

    def residual_gram(self, listed: IntVector) -> Matrix:
        """K − VᵀV among some candidates."""
        assert self._points is not None
        G = gram(self._radial, self._points[listed], self._points[listed])
        known = self._rows[: self._size, listed]
        return G - product(known.T, known) if self._size else G

    def include(self, chosen: IntVector, sides: Matrix) -> tuple[Matrix, Projections]:
        """R = K(J, ·) − V_JᵀV, MMᵀ = R_J, V ← [V; M⁻¹R]."""
        assert self._points is not None
        R = gram(self._radial, self._points[chosen], self._points)
        m = self._size
        R = R - product(np.ascontiguousarray(self._rows[:m, chosen].T), self._rows[:m]) if m else R
        M = cholesky(R[:, chosen])
        rows = solve_lower(M, R)
        coordinates = solve_lower(M, sides)
        self._append(rows)
        return coordinates, _shares(rows, coordinates)

    def _append(self, rows: Matrix) -> None:
        """Further directions, by their products with all candidates."""
        stop = self._size + len(rows)
        if stop > len(self._rows):
            larger = np.empty((stop + stop // 4 + 32, self._rows.shape[1]))
            larger[: self._size] = self._rows[: self._size]
            self._rows = larger
        self._rows[self._size : stop] = rows
        self._size = stop


def _shares(rows: Matrix, coordinates: Matrix) -> Projections:
    """Σ over the directions."""
    products = (
        np.stack([product(rows.T, side) for side in coordinates.T])
        if rows.size
        else np.zeros((2, rows.shape[1]))
    )
    return Projections(products, np.einsum("ij,ij->j", rows, rows))


class GreedyPursuit:
    """Picks from a pool that may grow.

    Time O(P·k² + P·k·d) for k picks from P candidates, memory 8·P·k bytes.
    """

    def __init__(
        self,
        radial: RadialFunction,
        unit_sum: bool,
        points: Points,
        kappa: Vector,
        directions: OrthonormalBasis | None = None,
    ) -> None:
        self._unit_sum = unit_sum
        self.points = points
        self.kappa = kappa
        self.picks = np.empty(0, np.intp)
        self._directions = HostDirections(radial) if directions is None else directions
        self._coordinates: Matrix = np.empty((0, 2))  # of z̄ and of the sum, in these directions
        self._directions.extend(points, self.picks, self._coordinates)
        self._left = Residuals(kappa.copy(), np.ones(len(kappa)), np.ones(len(kappa)), np.zeros(3))

    def extend(self, points: Points, kappa: Vector) -> None:
        """More candidates, as if they had been there from the start."""
        new = Residuals(kappa.copy(), np.ones(len(kappa)), np.ones(len(kappa)), np.zeros(3))
        new.take_out(
            self._directions.extend(points, self.picks, self._coordinates), self._coordinates
        )
        self.points = np.concatenate([self.points, points])
        self.kappa = np.concatenate([self.kappa, kappa])
        for name in ("r", "u", "squares"):
            setattr(
                self._left, name, np.concatenate([getattr(self._left, name), getattr(new, name)])
            )

    def follow(self, picks: IntVector) -> None:
        """Make these candidates centres, whatever their score; none that is at the floor."""
        for j in picks:
            if self._left.squares[j] > gains.FLOOR:
                self._include(np.array([j]))

    def take(self, m: int) -> IntVector:
        """The next m picks; fewer when P² of every other candidate is at the floor."""
        start = len(self.picks)
        while len(self.picks) < start + m:
            chosen = self._block(start + m - len(self.picks))
            if not len(chosen):
                break
            self._include(chosen)
        return self.picks[start:]

    def _block(self, most: int) -> IntVector:
        """The next picks: one where that is cheap, else a few that are exact within a shortlist."""
        size = min(LARGEST_BLOCK_PICKS, len(self.picks) // PICKS_BEFORE_PER_PICK, most)
        scores = self._left.scores(self._unit_sum)
        if size <= 1:
            best = np.argmax(scores)
            return np.array([best] if scores[best] > -np.inf else [], dtype=np.intp)
        count = min(SHORTLIST_PER_PICK * size, len(scores))
        order = np.argpartition(-scores, (count - 1, min(count, len(scores) - 1)))
        return self._shortlisted(np.sort(order[:count]), order[count : count + 1], size)

    def _shortlisted(self, listed: IntVector, outside: IntVector, size: int) -> IntVector:
        """At most so many picks from the shortlist, with v = G_j/√G_jj for the residual Gram G.

        Ends where ``outside``, the best candidate that is not listed, may be better. With weights
        that sum to one a pick lowers all scores: it is then scored anew after each, with the new
        sums.
        """
        listed_left = self._left.of(listed)
        outside_left = self._left.of(outside)
        bar = outside_left.scores(self._unit_sum)
        G = self._directions.residual_gram(listed)
        rows = np.empty((size, len(listed)))
        chosen: list[int] = []
        while len(chosen) < size:
            scores = listed_left.scores(self._unit_sum)
            j = int(np.argmax(scores))
            if scores[j] == -np.inf:
                break
            if chosen and self._unit_sum:
                outside_left.sums = listed_left.sums
                bar = outside_left.scores(self._unit_sum)
            if chosen and (bar > scores[j]).any():
                break
            P = np.sqrt(listed_left.squares[j])
            coordinates = np.array([[listed_left.r[j], listed_left.u[j]]]) / P
            known = rows[: len(chosen)]
            v = (G[j] - known[:, j] @ known) / P
            rows[len(chosen)] = v
            listed_left.take_out(Projections(coordinates.T * v, v * v), coordinates)
            listed_left.squares[j] = 0.0
            chosen.append(j)
        return listed[chosen]

    def _include(self, chosen: IntVector) -> None:
        """The new directions against the whole pool."""
        sides = np.column_stack([self._left.r[chosen], self._left.u[chosen]])
        try:
            coordinates, shares = self._directions.include(chosen, sides)
        # Within reach of the floor rounding may undo a block: one by one, without those at the
        # floor.
        except LinAlgError:
            left = np.diagonal(self._directions.residual_gram(chosen))
            self._left.squares[chosen] = np.minimum(self._left.squares[chosen], left)
            if len(chosen) > 1:
                self.follow(chosen)
            return
        self._coordinates = np.concatenate([self._coordinates, coordinates])
        self._left.take_out(shares, coordinates)
        self._left.squares[chosen] = 0.0
        self.picks = np.concatenate([self.picks, chosen])
