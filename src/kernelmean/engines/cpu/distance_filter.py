"""Exact farthest-first traversal in high dimension: many centres per pass over the points.

The points with the largest distances form a pool. As long as the best of the pool beats every point
outside, it is the next centre, and only the pool needs to hear of it. The whole sample then meets
the batch in one float32 matrix product, which only *filters*: a distance that might lower anything
is recomputed by direct differences in coordinate order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import EXACT_MATH, entry, part
from kernelmean.compiled.pool_picks import pick
from kernelmean.engines.cpu.blocks import read_only
from kernelmean.engines.rounds import farthest

POOL = 512  # points among which the next centres are sought
BATCH = 256  # most centres per pass
SCORES = 1 << 20  # scores per block of rows: 4 MiB stay in the cache between product and sieve
SINGLE = 2.0**-24  # unit roundoffs
DOUBLE = 2.0**-53  # unit roundoffs
FAR = 64.0  # centres beyond this many times the sample's reach are measured directly
TINY = 2.0**-100  # outweighs every underflow in one coordinate, points scaled to norm at most 1


class Batch(NamedTuple):
    """Centres on their way to the sample; y is a row, centred and scaled to norm at most 1."""

    centers: Points  # (b, d) rows of X
    singles: NDArray[np.float32]  # (b, d) their y
    halves: NDArray[np.float32]  # (b,) |y|²/2
    reach: float  # largest |y| among them


class DistanceFilter:
    """Lowers squared distances to centres, which need not be rows of X. ``nearest`` is written to.

    Memory half of X and 8 bytes a row beside it.
    """

    def __init__(self, X: Points, nearest: Vector, count: int) -> None:
        self.X = X
        self.nearest = nearest
        self._count = count
        self._middle, self._singles, self._norms, self._scale = _centred_and_scaled(X, count)

    def update(self, centers: Points) -> None:
        """nearest_i ← min(nearest_i, ‖x_i − c‖²) over the centres."""
        singles = np.empty(centers.shape, np.float32)
        norms = np.empty(len(centers))
        _measure(read_only(centers), self._middle, norms)
        norms *= self._scale
        near = norms <= FAR
        for center in centers[~near & self._may_matter(norms)]:
            self._update_directly(center[None])
        centers = centers[near]
        norms = norms[near]
        singles = singles[near]
        _round_off(read_only(centers), self._middle, self._scale, singles)
        for b in range(0, len(centers), BATCH):
            some = slice(b, b + BATCH)
            halves = (0.5 * norms[some] ** 2).astype(np.float32)
            self._update_by_batch(
                Batch(centers[some], singles[some], halves, float(norms[some].max()))
            )

    def _may_matter(self, norms: Vector) -> NDArray[np.bool_]:
        """Whether a centre is nearer to the ball of all points than some point is to its centre:
        |c| − max|y| < max D.
        """
        reach = float(self._norms.max()) + math.sqrt(float(self.nearest.max())) * self._scale
        may: NDArray[np.bool_] = norms <= reach * (1.0 + 1e-6)
        return may

    def _update_by_batch(self, batch: Batch) -> None:
        size = SCORES // len(batch.halves)
        for start in range(0, len(self.X), size):
            self._update_rows(batch, slice(start, min(start + size, len(self.X))))

    def _update_rows(self, batch: Batch, rows: slice) -> None:
        """One product on the threads of BLAS, then the sieve on ours."""
        scores = self._singles[rows] @ batch.singles.T
        norms = self._norms[rows]
        X = self.X[rows]
        nearest = self.nearest[rows]
        tasks = [
            (scores[p], batch, norms[p], self._scale, X[p], nearest[p])
            for p in threads.pieces(len(scores))
        ]
        threads.run(_sieve, tasks, self._count)

    def _update_directly(self, center: Points) -> None:
        """A centre so far out that single precision says nothing about it."""
        tasks = [(self.X[p], center, self.nearest[p]) for p in threads.pieces(len(self.X))]
        threads.run(_lower_all, tasks, self._count)


class FilterHolder:
    """Distances and pool of a traversal of the rows of X from row ``first``.

    Time O(nkd), nearly all of it in matrix products; memory half of X and 16 bytes a row.
    """

    def __init__(self, X: Points, first: int, count: int) -> None:
        self._filter = DistanceFilter(X, np.full(len(X), np.inf), count)
        self._waiting = np.array([first], dtype=np.int64)
        self.update()

    def squared_distances(self) -> Vector:
        """min_c ‖x_i − c‖² over the centres taken so far, in the order of X."""
        self.update()
        return self._filter.nearest.copy()

    def capacity(self) -> int:
        """As many as one pass takes."""
        return BATCH - len(self._waiting)

    def pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres while the best of the pool beats every point outside."""
        found: int = pick(self._pool, rows, squares)
        self._waiting = np.append(self._waiting, rows[:found])
        return found

    def exhausted(self) -> bool:
        """Whether a new pool had no next centre."""
        return len(self._waiting) == 0

    def update(self) -> None:
        """nearest_i ← min(nearest_i, ‖x_i − c‖²) over the centres that wait; then a new pool."""
        if len(self._waiting) > 0:
            self._filter.update(self._filter.X[self._waiting])
            self._waiting = self._waiting[:0]
        self._pool = farthest(self._filter.X, self._filter.nearest, POOL)


def _centred_and_scaled(X: Points, count: int) -> tuple[Vector, NDArray[np.float32], Vector, float]:
    """(middle, y = scale·(x − middle) in float32, the norms |y| ≤ 1, the scale, a power of two)."""
    n, d = X.shape
    middle = X[:: max(1, n // 8192)].mean(axis=0)  # any point amid the sample will do
    norms = np.empty(n)
    singles = np.empty((n, d), np.float32)
    pieces = threads.pieces(n)
    threads.run(_measure, [(X[p], middle, norms[p]) for p in pieces], count)
    # Clipped, so that neither the scale nor its square leaves the range of float64.
    scale = float(2.0 ** -np.clip(np.frexp(norms.max())[1] + 1, -480, 480))
    norms *= scale
    threads.run(_round_off, [(X[p], middle, scale, singles[p]) for p in pieces], count)
    return middle, singles, norms, scale


@entry(EXACT_MATH)
def _measure(X, middle, norms):
    """norms_i = |x_i − middle|."""
    for i in range(len(X)):
        s = 0.0
        for t in range(len(middle)):
            s += (X[i, t] - middle[t]) ** 2
        norms[i] = np.sqrt(s)


@entry(EXACT_MATH)
def _round_off(X, middle, scale, singles):
    """singles_i = scale·(x_i − middle), rounded to float32."""
    for i in range(len(X)):
        for t in range(len(middle)):
            singles[i, t] = scale * (X[i, t] - middle[t])


@entry(EXACT_MATH)
def _sieve(scores, batch, norms, scale, X, nearest):
    """nearest_i ← min(nearest_i, ‖x_i − c_j‖²) over the batch, given scores ≈ y_i·c_j.

    Nearly every point that moves closer does so to the centre of its best score, so these pairs are
    computed first; the bar they leave is rarely passed again.
    """
    d = X.shape[1]
    suspects = np.empty(len(X), np.int64)
    champions = np.empty(len(X), np.int64)
    count = 0
    for i in range(len(X)):
        if _above(
            scores[i], batch.halves, _bar(norms[i], batch.reach, nearest[i] * scale * scale, d)
        ):
            suspects[count] = i
            champions[count] = _best(scores[i], batch.halves)
            count += 1
    _lower_pairs(X, batch.centers, suspects[:count], champions[:count], nearest)
    for i in suspects[:count]:
        height = _bar(norms[i], batch.reach, nearest[i] * scale * scale, d)
        if _above(scores[i], batch.halves, height) > 1:
            for j in range(len(batch.halves)):
                if scores[i, j] > height + batch.halves[j]:
                    nearest[i] = min(nearest[i], _direct(X[i], batch.centers[j]))


@part(EXACT_MATH)
def _bar(norm, reach, nearest, d):
    """A float32 b such that score ≤ b + |c|²/2 proves that centre c lowers nothing.

    |y − c|² = |y|² − 2(y·c − |c|²/2) ≥ nearest as soon as y·c − |c|²/2 ≤ (|y|² − nearest)/2.
    The score misses y·c by at
    most (d+2)u/(1−(d+2)u)·|y||c|, in any order of summation, |c|²/2 and its sum with b add at most
    3u(|c|² + |b|): all below (d+16)u(|y|+reach)² + 4u|b|. The rounding of the direct sums is below
    (d+8)·2⁻⁵²·nearest.
    """
    height = 0.5 * (norm * norm - nearest * (1.0 + 2.0 * (d + 8) * DOUBLE))
    error = (d + 16) * (SINGLE * (norm + reach) ** 2 + TINY) + 4.0 * SINGLE * abs(height)
    return np.float32(height - error)


@part(EXACT_MATH)
def _above(scores, halves, height):
    """How many scores pass the bar."""
    count = np.int32(0)
    for j in range(len(halves)):
        count += np.int32(scores[j] > height + halves[j])
    return count


@part(EXACT_MATH)
def _best(scores, halves):
    """argmax_j of scores_j − halves_j."""
    champion = 0
    for j in range(1, len(halves)):
        if scores[j] - halves[j] > scores[champion] - halves[champion]:
            champion = j
    return champion


@part(EXACT_MATH)
def _lower_pairs(X, centers, rows, chosen, nearest):
    """nearest_i ← min(nearest_i, ‖x_i − c‖²) for pairs (i, c).

    Four pairs at a time: the ordered sum of one pair waits for each of its additions.
    """
    last = len(rows) - 1
    for p in range(0, len(rows), 4):
        q = min(p + 1, last)
        r = min(p + 2, last)
        s = min(p + 3, last)
        xp = X[rows[p]]
        xq = X[rows[q]]
        xr = X[rows[r]]
        xs = X[rows[s]]
        cp = centers[chosen[p]]
        cq = centers[chosen[q]]
        cr = centers[chosen[r]]
        cs = centers[chosen[s]]
        sp = sq = sr = ss = 0.0
        for t in range(X.shape[1]):
            gp = xp[t] - cp[t]
            gq = xq[t] - cq[t]
            gr = xr[t] - cr[t]
            gs = xs[t] - cs[t]
            sp = sp + gp * gp
            sq = sq + gq * gq
            sr = sr + gr * gr
            ss = ss + gs * gs
        nearest[rows[p]] = min(nearest[rows[p]], sp)
        nearest[rows[q]] = min(nearest[rows[q]], sq)
        nearest[rows[r]] = min(nearest[rows[r]], sr)
        nearest[rows[s]] = min(nearest[rows[s]], ss)


@entry(EXACT_MATH)
def _lower_all(X, center, nearest):
    """nearest_i ← min(nearest_i, ‖x_i − c‖²) for all rows."""
    for i in range(len(X)):
        nearest[i] = min(nearest[i], _direct(X[i], center[0]))


@part(EXACT_MATH)
def _direct(x, c):
    """‖x − c‖², summed in coordinate order."""
    s = 0.0
    for t in range(len(c)):
        g = x[t] - c[t]
        s += g * g
    return s
