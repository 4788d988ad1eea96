"""Effects of columns and of pairs on the difference of two samples, with what chance adds to them.

The difference is taken apart by Sklar's theorem: the columns by themselves, and beyond them how
they depend on each other. With the functions ψ of ``rank_functions``,

    column j:        Σ_r w_r c_jr²,             c_jr = E_A ψ_r(u_j) − E_B ψ_r(u_j),
    columns j and k: Σ_rs w_r w_s C_jrks²,  C_jrks = E_A ψ_r(v_j)ψ_s(v_k) − E_B ψ_r(v_j)ψ_s(v_k),

where u are ranks among the rows of both samples and v ranks among the rows of the own sample: a
monotone map of a column in one of the samples changes every u and no v. Each effect is the square
of a mean of features, so sums over bins of rows are all that is kept. The bins are resampled for
what chance does, and exchanged between the samples for the hypothesis of no effect.

That v is read from the sample itself makes C vary less than the mean of its products does. To first
order a sample whose margins are off by c has its products off by the response a of ψ to that,

    C_jrks = E[ψ_r(v_j)ψ_s(v_k)] + Σ_t a_jrks,t E ψ_t(v_j) + Σ_t a_ksjr,t E ψ_t(v_k),
    a_jrks,t = E[∂ψ_r/∂c_t (v_j) ψ_s(v_k)].

The last terms are zero in the samples themselves and not in bins of them: with them sums over bins
vary as they would if their rows were ranked anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.comparison.rank_functions import (
    Codes,
    cell_shares,
    functions,
    look_up,
    mid_ranks,
    responses,
)

MAIN = 6  # functions of a column
DIRECTIONS = 6  # functions that describe margins which are off
PAIR_FUNCTIONS = 256  # of all columns together, those that are multiplied with each other
MAX_PAIR = 3  # and of one column
RESPONSE_ROWS = 4096  # rows of each sample that responses are read from
BLOCK_NUMBERS = 2**22  # in one block of resampled means
LEVEL = 0.05  # for one or more effects that are none, among columns, and among pairs
TINY = 1e-12  # a variance of ranks that is none


class Binned(NamedTuple):
    """Rows of both samples as cells, in bins of equal size, those of the first sample first."""

    codes: Codes  # (n, d), bin after bin
    cells: int  # of a column
    weights: Vector | None  # (n,), of mean one within each sample
    size: int  # rows of a bin
    bins: tuple[int, int]

    @property
    def first(self) -> int:
        """How many rows are of the first sample."""
        return self.size * self.bins[0]

    def halves(self) -> Iterator[tuple[Codes, Vector | None]]:
        """The rows of each sample."""
        for part in (slice(None, self.first), slice(self.first, None)):
            yield self.codes[part], None if self.weights is None else self.weights[part]


class Features(NamedTuple):
    """Sums of weighted features over bins; each effect owns as many features as every other."""

    sums: NDArray[np.float64]  # (bins, effects, features)
    totals: Vector  # (bins,): the weights of the rows
    importance: Vector  # (features,): what the square of each counts

    def squares(self, members: Matrix, others: Matrix) -> Matrix:
        """Σ w (mean of members − mean of others)² for every row of counts of bins, (m, effects)."""
        bins, effects, features = self.sums.shape
        flat = self.sums.reshape(bins, effects * features)
        step = max(1, BLOCK_NUMBERS // max(1, effects * features))
        found = np.empty((len(members), effects))
        for start in range(0, len(members), step):
            part = slice(start, start + step)
            means = [
                (counts[part] @ flat) / (counts[part] @ self.totals)[:, None]
                for counts in (members, others)
            ]
            gaps = (means[0] - means[1]).reshape(len(means[0]), effects, features)
            found[part] = gaps**2 @ self.importance
        return found

    def noise(self, bins: tuple[int, int]) -> Vector:
        """What chance adds to each square: the variance of both means, summed as the squares are.

        Var = B/(B − 1) Σ_b (S_b − W_b mean)² / W² for a ratio of sums over B bins.
        """
        found = np.zeros(self.sums.shape[1])
        for part in (slice(None, bins[0]), slice(bins[0], None)):
            S = self.sums[part]
            W = self.totals[part]
            gaps = S - W[:, None, None] * (S.sum(axis=0) / W.sum())
            rows = len(W) / max(len(W) - 1, 1)
            found += rows * np.einsum("bef,bef,f->e", gaps, gaps, self.importance) / W.sum() ** 2
        return found


class Measured(NamedTuple):
    """Effects of one family, (effects,) each, and what resampling says of them."""

    values: Vector  # less what chance adds: without an effect their mean is zero
    scores: Vector  # by how many standard deviations under no effect they exceed chance
    p_values: Vector
    found: NDArray[np.bool_]  # whether they exceed what the largest of all would be by chance
    draws: Matrix  # (draws, effects): values of resampled bins


def measure(features: Features, bins: tuple[int, int], signs: Matrix, draws: Matrix) -> Measured:
    """Effects with their p-values by permutations of the bins, and with resampled bins.

    ``signs`` (permutations, bins) says which bins a permutation puts in the first sample, ``draws``
    (draws, bins) how often a bin is drawn.
    """
    own = (np.arange(sum(bins)) < bins[0]).astype(np.float64)
    square = features.squares(own[None], 1.0 - own[None])[0]
    noise = features.noise(bins)
    null = features.squares(signs, 1.0 - signs)
    ties = 1e-12 * np.maximum(square, noise)
    # (1 + #{T_π ≥ T}) / (1 + permutations)
    p_values = (1.0 + (null >= square - ties).sum(axis=0)) / (1.0 + len(null))
    mean = null.mean(axis=0)
    spread = null.std(axis=0)
    some = spread > ties
    null = np.where(some, null - mean, 0.0) / np.where(some, spread, 1.0)
    scores = np.where(some, square - mean, 0.0) / np.where(some, spread, 1.0)
    least = np.quantile(null.max(axis=1, initial=0.0), 1.0 - LEVEL)
    values = square - noise
    resampled = features.squares(draws * own, draws * (1.0 - own)) - 2.0 * noise
    return Measured(values, scores, p_values, (scores > least) & (values > 0.0), resampled)


def column_features(rows: Binned) -> Features:
    """ψ_r(u_j), u_j the ranks among the rows of both samples."""
    table = functions(cell_shares(rows.codes, rows.cells, rows.weights), MAIN)
    sums = np.stack(
        [np.tensordot(weights, look_up(table, codes), axes=1) for codes, weights in _blocks(rows)]
    )
    return Features(sums, _totals(rows), importance(MAIN))


def pair_features(rows: Binned, pairs: tuple[IntVector, IntVector]) -> Features:
    """ψ_r(v_j)ψ_s(v_k), v_j the ranks among the rows of the own sample, with what margins add."""
    d = rows.codes.shape[1]
    m = max(1, min(MAX_PAIR, PAIR_FUNCTIONS // d))
    shares = [cell_shares(codes, rows.cells, w) for codes, w in rows.halves()]
    tables = [functions(p, max(m, DIRECTIONS)) for p in shares]
    # A function that one of the samples does not have cannot be compared.
    both = np.all([table.any(axis=1) for table in tables], axis=0)[:, None]
    tables = [table * both for table in tables]
    moved = _responses(rows, shares, tables, m)
    found = np.empty((sum(rows.bins), len(pairs[0]), m * m))
    for b, (codes, weights) in enumerate(_blocks(rows)):
        psi = look_up(tables[b >= rows.bins[0]], codes)
        flat = psi[:, :, :m].reshape(len(psi), -1)
        weighted = flat if rows.weights is None else weights[:, None] * flat
        products = (flat.T @ weighted).reshape(d, m, d, m)
        # Σ_t a_jrks,t E ψ_t(v_j), and the same with j and k exchanged
        margins = np.einsum("tjrks,jt->jrks", moved, np.tensordot(weights, psi, axes=1))
        products += margins + margins.transpose(2, 3, 0, 1)
        found[b] = products[pairs[0], :, pairs[1], :].reshape(len(pairs[0]), m * m)
    w = importance(m)
    return Features(found, _totals(rows), np.outer(w, w).ravel())


def rank_correlations(rows: Binned, pairs: IntVector) -> Matrix:
    """(pairs, 2): Pearson's correlation of the ranks in each sample; 0 with a constant column."""
    columns, at = np.unique(pairs, return_inverse=True)
    j, k = at.reshape(-1, 2).T
    found = np.zeros((len(pairs), 2))
    for which, (codes, weights) in enumerate(rows.halves()):
        some = codes[:, columns]
        u = look_up(mid_ranks(cell_shares(some, rows.cells, weights)), some)
        w = np.ones(len(u)) if weights is None else weights
        u -= w @ u / w.sum()
        C = u.T @ (w[:, None] * u)
        scale = np.sqrt(C.diagonal()[j] * C.diagonal()[k])
        some_scale = scale > TINY * w.sum()
        found[some_scale, which] = C[j, k][some_scale] / scale[some_scale]
    return found


def importance(m: int) -> Vector:
    """w_r = r^(−1/2), what the square of the r-th function counts: the first are the smoothest."""
    found: Vector = 1.0 / np.sqrt(np.arange(1.0, m + 1.0))
    return found


def _responses(
    rows: Binned, shares: list[Matrix], tables: list[NDArray[np.float64]], m: int
) -> NDArray[np.float64]:
    """a_jrks,t of both samples together, (t, d, m, d, m)."""
    d = rows.codes.shape[1]
    found = np.zeros((tables[0].shape[2], d, m, d, m))
    for count, p, table, (codes, w) in zip(rows.bins, shares, tables, rows.halves(), strict=True):
        some = codes[:RESPONSE_ROWS]
        weights = np.ones(len(some)) if w is None else w[:RESPONSE_ROWS]
        psi = look_up(table[:, :, :m], some).reshape(len(some), -1)
        psi *= (weights * (count / sum(rows.bins) / weights.sum()))[:, None]
        for t, slopes in enumerate(responses(p, m, table)):
            moves = look_up(slopes, some).reshape(len(some), -1)
            found[t] += (moves.T @ psi).reshape(d, m, d, m)
    return found


def _blocks(rows: Binned) -> Iterator[tuple[Codes, Vector]]:
    """The rows of each bin and their weights."""
    ones = np.ones(rows.size)
    for start in range(0, len(rows.codes), rows.size):
        part = slice(start, start + rows.size)
        yield rows.codes[part], ones if rows.weights is None else rows.weights[part]


def _totals(rows: Binned) -> Vector:
    return np.array([weights.sum() for _, weights in _blocks(rows)])
