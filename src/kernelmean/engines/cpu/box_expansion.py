"""Gaussian sums over a compact block by its moments, in one and two dimensions.

About the mean c of the block, weighted by |w|, with u = √(2 rate) (q − c) and v = √(2 rate) (x −
c),

    Σ_j w_j exp(−rate ‖q − x_j‖²) = exp(−‖u‖²/2) Σ_j w'_j exp(u·v_j) = exp(−‖u‖²/2) Σ_|α|<P M_α u^α
    + remainder, w'_j = w_j exp(−‖v_j‖²/2),  M_α = Σ_j w'_j v_j^α / α!.

With T ≥ |u·v_j| for all j, Taylor's remainder is at most Σ|w_j| · exp(T − ‖u‖²/2) T^P / P!. A query
is served where that is at most 2⁻⁵³A per unit of mass, hence at most 2⁻⁵³A in all. Rounding is
amplified by at most exp(T + mean ‖v‖²/2), as Σ|w'_j| exp(u·v_j) ≥ Σ|w_j| exp(−mean ‖v‖²/2) by
Jensen; so T ≤ STEADY is asked for, unless exp(T − ‖u‖²/2) ≤ 2⁻⁷A.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import part
from kernelmean.engines.cpu.blocks import CELL, width

FEWEST = {
    1: 64,
    2: 256,
}  # queries in all for which moments are tried; in more dimensions there are too many moments
STEP = 4  # orders are multiples of this
HIGHEST = 32
STEADY = 2.0
EXPECTED = (
    12.0,
    20.0,
)  # the order is about 12 + 20 ‖v‖; if that does not pay, the queries are not looked at
FARTHEST = 600.0  # ‖u‖²/2, beyond which exp(−‖u‖²/2) may underflow where the sum does not
REMAINDER = 2.0**-46  # 2⁻⁵³A, where A is known as 2⁷ exp(−rate · cut)
GAIN = 6.0  # what a term of the sum costs, in moments
FACTORIALS = np.array([1.0 / math.factorial(k) for k in range(HIGHEST + STEP)])  # 1/k!


class Chosen(NamedTuple):
    """The queries that moments serve."""

    U: Any  # (d, ·)
    factor: Any  # exp(−‖u‖²/2)
    T: Any  # then the value
    limit: Any  # of T^P/P!
    which: Any  # of those seen


def pays(d: int, q: int) -> bool:
    """Whether to try moments at all. Decided by sizes alone, so that results do not depend on
    threads.
    """
    return d in FEWEST and q >= FEWEST[d]


def _centre(d: int) -> Any:
    cells = width(d) // CELL

    @part()
    def centre(X, w, b, boxes, scale, mean, half):
        """The mean of the block, and how far its box reaches from there in each coordinate, times
        scale.
        """
        span = 0.0
        for t in range(d):
            low = boxes.lower[t, b]
            high = boxes.upper[t, b]
            s = 0.0
            total = 0.0
            for c in range(cells):
                for j in range(CELL):
                    s += abs(w[c, j]) * X[t, c, j]
                    total += abs(w[c, j])
            mean[t] = min(max(s / total, low), high) if total > 0.0 else low
            half[t] = scale * max(high - mean[t], mean[t] - low)
            span += half[t] * half[t]
        return span

    return centre


def _choose(d: int) -> Any:
    exp = elementary.exp

    @part()
    def choose(Q, cuts, rate, mean, half, count, chosen):
        """The queries that order HIGHEST serves; how many."""
        scale = math.sqrt(2.0 * rate)
        m = 0
        for a in range(count):
            s = 0.0
            reach = 0.0
            for t in range(d):
                chosen.U[t, m] = scale * (Q[t, a] - mean[t])
                s += 0.5 * chosen.U[t, m] * chosen.U[t, m]
                reach += abs(chosen.U[t, m]) * half[t]
            allowed = REMAINDER * exp(min(s - reach - rate * cuts[1, a], 700.0))
            power = reach * reach
            power *= power
            power *= power
            power *= power
            enough = (power * power * FACTORIALS[HIGHEST] <= allowed) & (s <= FARTHEST)
            chosen.factor[m] = s
            chosen.T[m] = reach
            chosen.limit[m] = allowed
            chosen.which[m] = a
            m += enough & ((reach <= STEADY) | (allowed >= REMAINDER))
        for a in range(m):
            chosen.factor[a] = exp(-chosen.factor[a])
        return m

    return choose


@part()
def _order(T, limit, m):
    """The order that all of m queries need: T^order/order! ≤ limit."""
    order = 0
    unserved = m
    while unserved > 0 and order < HIGHEST:
        order = order + STEP
        unserved = 0
        for a in range(m):
            unserved += T[a] ** order * FACTORIALS[order] > limit[a]
    return order


@part()
def _measure_row(z, y, a, terms, M):
    """M_ab = Σ_j z_j y_j^b / (a! b!) for b < terms."""
    for b in range(0, terms, STEP):
        m0 = 0.0
        m1 = 0.0
        m2 = 0.0
        m3 = 0.0
        for j in range(len(z)):
            z0 = z[j]
            z1 = z0 * y[j]
            z2 = z1 * y[j]
            z3 = z2 * y[j]
            m0 += z0
            m1 += z1
            m2 += z2
            m3 += z3
            z[j] = z3 * y[j]
        M[a, b] = m0
        M[a, b + 1] = m1
        M[a, b + 2] = m2
        M[a, b + 3] = m3
        for k in range(b, b + STEP):
            M[a, k] *= FACTORIALS[a] * FACTORIALS[k]


def _measure(d: int) -> Any:
    B = width(d)
    cells = width(d) // CELL
    exp = elementary.exp
    last = d - 1

    @part()
    def measure(X, w, mean, scale, order, M):
        """M_ab = Σ_j w'_j v_j1^a v_j2^b / (a! b!); only M_0b in one dimension."""
        x = np.empty(B)
        y = np.empty(B)
        row = np.empty(B)
        z = np.empty(B)
        for c in range(cells):
            for k in range(CELL):
                j = c * CELL + k
                v = w[c, k]
                x[j] = scale * (X[0, c, k] - mean[0]) if v != 0.0 else 0.0
                y[j] = scale * (X[last, c, k] - mean[last]) if v != 0.0 else 0.0
                row[j] = v * exp(-0.5 * (y[j] * y[j] + (x[j] * x[j] if last else 0.0)))
        for a in range(order if last else 1):
            for j in range(B):
                z[j] = row[j]
            _measure_row(z, y, a, order - a, M)
            for j in range(B):
                row[j] *= x[j]

    return measure


def _evaluate(d: int) -> Any:
    last = d - 1

    @part()
    def evaluate(M, order, U, m, value):
        """Σ_ab M_ab u_1^a u_2^b by Horner's rule."""
        x = U[0]
        y = U[last]
        inner = np.empty(m)
        for i in range(m):
            value[i] = 0.0
        for a in range(order - 1 if last else 0, -1, -1):
            for i in range(m):
                inner[i] = 0.0
            for b in range((order - a - 1) // STEP * STEP, -1, -STEP):
                m0 = M[a, b]
                m1 = M[a, b + 1]
                m2 = M[a, b + 2]
                m3 = M[a, b + 3]
                for i in range(m):
                    inner[i] = (((inner[i] * y[i] + m3) * y[i] + m2) * y[i] + m1) * y[i] + m0
            for i in range(m):
                value[i] = value[i] * x[i] + inner[i]

    return evaluate


def _hand_out(d: int) -> Any:
    @part()
    def hand_out(chosen, m, seen, count):
        """Add what moments gave to those chosen; the others move up. How many are left."""
        left = 0
        k = 0
        for a in range(count):
            if k < m and chosen.which[k] == a:
                seen.out[seen.found[a]] += chosen.factor[k] * chosen.T[k]
                k += 1
            else:
                seen.found[left] = seen.found[a]
                for t in range(d):
                    seen.Q[t, left] = seen.Q[t, a]
                for tier in range(len(seen.cuts)):
                    seen.cuts[tier, left] = seen.cuts[tier, a]
                left += 1
        return left

    return hand_out


def served_by_moments(d: int) -> Any:
    """A part that adds a block's sum for the queries that moments serve, where this pays, and
    counts those left.
    """
    B = width(d)
    triangular = d > 1
    centre = _centre(d)
    choose = _choose(d)
    measure = _measure(d)
    evaluate = _evaluate(d)
    hand_out = _hand_out(d)

    @part()
    def cost(order, m):
        """Operations for the moments of B points and for m queries."""
        return (0.5 * order * (order + STEP) if triangular else 1.0 * order) * (B + m)

    @part()
    def serve(X, w, b, boxes, seen, count, rate):
        mean = np.empty(d)
        half = np.empty(d)
        scale = math.sqrt(2.0 * rate)
        expected = EXPECTED[0] + EXPECTED[1] * math.sqrt(centre(X, w, b, boxes, scale, mean, half))
        if not cost(expected, count) <= GAIN * count * B:
            return count
        factor = np.empty(count + 1)
        T = np.empty(count + 1)
        limit = np.empty(count + 1)
        chosen = Chosen(np.empty((d, count + 1)), factor, T, limit, np.empty(count + 1, np.int64))
        m = choose(seen.Q, seen.cuts, rate, mean, half, count, chosen)
        order = _order(T, limit, m)
        if cost(order, m) > GAIN * m * B:
            return count
        M = np.zeros((HIGHEST, HIGHEST + STEP))
        measure(X, w, mean, scale, order, M)
        evaluate(M, order, chosen.U, m, T)
        return hand_out(chosen, m, seen, count)

    return serve


@part()
def served_by_none(X, w, b, boxes, seen, count, rate):
    return count
