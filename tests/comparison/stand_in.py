"""A quick difference of two samples with all fields that pictures, pages and sentences draw from.

It takes the place of ``km.difference`` where a test is about what is drawn or said: regions are
cells of random centres, shares of columns are distances of histograms.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from scipy.stats import norm, spearmanr

import kernelmean as km
from kernelmean.comparison import words
from kernelmean.pictures.marginals import marginal

CENTERS = 80
BINS = 24
LINKED = 2.0  # distance in standard deviations below which cells join
TYPICAL = 5


class Effect(NamedTuple):
    columns: tuple[str, ...]
    share: float
    low: float
    high: float
    p_value: float
    value_a: float
    value_b: float


@dataclass(frozen=True, eq=False)
class Region:
    more: int
    shares: tuple[float, float]
    difference: float
    low: float
    high: float
    counts: tuple[int, int]
    q_value: float
    center: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    columns: tuple[int, ...]
    cells: np.ndarray


@dataclass(frozen=True, eq=False)
class Difference:
    names: tuple[str, str]
    column_names: tuple[str, ...]
    n_points: tuple[int, int]
    test: Any
    level: float
    mean_a: km.KernelMean
    mean_b: km.KernelMean
    regions: tuple[Region, ...]
    columns: tuple[Effect, ...]
    pairs: tuple[Effect, ...]
    histograms: Any
    typical_a: Any
    typical_b: Any

    def __call__(self, Q):
        return self.mean_a(Q) - self.mean_b(Q)

    def marginal(self, columns):
        P = np.eye(self.mean_a.dimension)[list(columns)]
        a, b = marginal(self.mean_a, P), marginal(self.mean_b, P)
        return lambda Q: a(Q) - b(Q)

    def describe(self):
        return words.describe(self)


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    names: tuple[str, ...]
    differences: tuple[Difference, ...]
    p_values: tuple[float, ...]
    order: np.ndarray

    def describe(self):
        return words.describe_groups(self)


def difference(
    A, B=None, *, groups=None, names=("A", "B"), columns=None, level=0.05, random_state=0, **_
):
    """Of two samples, or of each group against the rest where there are more than two."""
    A = np.asarray(A, dtype=float)
    if groups is not None:
        return _of_groups(A, np.asarray(groups), columns, level)
    B = np.asarray(B, dtype=float)
    n, d = A.shape
    X = np.concatenate([A, B])
    scale = X.std(axis=0) + 1e-300
    rng = np.random.default_rng(0)
    centers = X[rng.choice(len(X), min(CENTERS, len(X)), replace=False)]
    cells = cdist(X / scale, centers / scale).argmin(axis=1)
    counts = np.stack(
        [np.bincount(part, minlength=len(centers)) for part in (cells[:n], cells[n:])]
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    spreads = np.full(len(centers), 0.1)
    means = [
        km.KernelMean(centers, w, km.Gaussian(0.3), "l2", np.diag(1 / scale), m, "naive", spreads)
        for w, m in zip(shares, (len(A), len(B)), strict=True)
    ]
    witness = means[0](X) - means[1](X)
    column_names = tuple(columns or (f"x{j + 1}" for j in range(d)))
    edges = tuple(np.histogram_bin_edges(X[:, j], BINS) for j in range(d))
    bars = [tuple(np.histogram(S[:, j], edges[j])[0] / len(S) for j in range(d)) for S in (A, B)]
    test = km.mmd_test(A, B, permutations=199, scale="std", random_state=0, engine="naive")
    single, pairs = _effects(A, B, bars, column_names, test.p_value)
    return Difference(
        names=tuple(names),
        column_names=column_names,
        n_points=(len(A), len(B)),
        test=test,
        level=level,
        mean_a=means[0],
        mean_b=means[1],
        regions=_regions(X, n, cells, counts, centers / scale, level),
        columns=single,
        pairs=pairs,
        histograms=SimpleNamespace(edges=edges, shares_a=bars[0], shares_b=bars[1]),
        typical_a=_typical(A, witness[:n]),
        typical_b=_typical(B, -witness[n:]),
    )


def _typical(S, values):
    rows = np.argsort(-values, kind="stable")[:TYPICAL]
    return SimpleNamespace(indices=rows, points=S[rows], values=values[rows])


def _effects(A, B, bars, names, p):
    raw = np.array([((a - b) ** 2).sum() for a, b in zip(*bars, strict=True)]) + 1e-12
    pairs = list(combinations(range(len(names)), 2))
    joint = 0.1 * np.array([min(raw[i], raw[j]) for i, j in pairs])
    total = raw.sum() + joint.sum()

    def effect(columns, share, a, b):
        chance = p if share > 0.1 else 0.5
        return Effect(columns, share, max(0.0, share - 0.1), min(1.0, share + 0.1), chance, a, b)

    single = [
        effect((names[j],), raw[j] / total, np.median(A[:, j]), np.median(B[:, j]))
        for j in range(len(names))
    ]
    double = [
        effect(
            (names[i], names[j]),
            joint[m] / total,
            *(float(spearmanr(S[:, i], S[:, j]).statistic) for S in (A, B)),
        )
        for m, (i, j) in enumerate(pairs)
    ]
    return tuple(tuple(sorted(e, key=lambda f: -f.share)) for e in (single, double))


def _regions(X, n, cells, counts, centers, level):
    sizes = counts.sum(axis=0)
    total = np.array([n, len(X) - n])
    expected = sizes * n / len(X)
    z = (counts[0] - expected) / np.sqrt(expected * total[1] / len(X) + 1e-12)
    p = 2 * norm.sf(np.abs(z))
    order = np.argsort(p)
    q = np.empty_like(p)
    q[order] = np.minimum.accumulate((p[order] * len(p) / (1 + np.arange(len(p))))[::-1])[::-1]
    found = []
    for more, sign in ((0, 1), (1, -1)):
        chosen = np.flatnonzero((q <= level) & (sign * z > 0))
        groups = (
            fcluster(linkage(centers[chosen]), LINKED, "distance")
            if len(chosen) > 1
            else np.ones(len(chosen), int)
        )
        found += [
            _region(X, np.isin(cells, own), n, more, own, q[own].min())
            for own in (chosen[groups == g] for g in np.unique(groups))
        ]
    return tuple(sorted(found, key=lambda region: -abs(region.difference)))


def _region(X, inside, n, more, cells, q):
    counts = int(inside[:n].sum()), int(inside[n:].sum())
    a, b = counts[0] / n, counts[1] / (len(X) - n)
    error = 2.5 * np.sqrt(a * (1 - a) / n + b * (1 - b) / (len(X) - n))
    rows = X[inside]
    center = np.median(rows, axis=0)
    apart = np.abs(center - np.median(X, axis=0)) / (rows.std(axis=0) + 0.2 * X.std(axis=0))
    first = np.argsort(-apart)
    columns = tuple(int(j) for j in first if apart[j] >= 0.6 * apart[first[0]])
    lower, upper = np.quantile(rows, [0.1, 0.9], axis=0)
    return Region(
        more, (a, b), b - a, b - a - error, b - a + error, counts, q, center, lower, upper,
        columns, cells,
    )  # fmt: skip


def _of_groups(X, labels, columns, level):
    names = sorted({str(label) for label in labels})
    own = [labels.astype(str) == name for name in names]
    options = {"columns": columns, "level": level}
    if len(names) == 2:
        return difference(X[own[0]], X[own[1]], names=tuple(names), **options)
    found = [
        difference(X[rows], X[~rows], names=(name, "the rest"), **options)
        for name, rows in zip(names, own, strict=True)
    ]
    p = np.array([one.test.p_value for one in found])
    order = np.argsort(p, kind="stable")
    held = np.empty_like(p)
    held[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    strength = np.array([-one.test.statistic for one in found])
    return GroupDifferences(
        tuple(names), tuple(found), tuple(held.tolist()), np.lexsort((strength, held))
    )


def people(seed=0, n=900, columns=("age", "income", "height", "score")):
    """Two samples of four columns: B has more old and poor rows, A some more of middle age."""
    rng = np.random.default_rng(seed)

    def most(m):
        height = rng.normal(172.0, 9.0, m)
        return np.column_stack(
            [rng.normal(45.0, 11.0, m), rng.normal(38e3, 8e3, m), height, rng.normal(0, 1, m)]
        )

    def some(m, age, income):
        rest = most(m)
        rest[:, 0] = rng.normal(age, 2.5, m)
        rest[:, 1] = rng.normal(income, 2200.0, m)
        return rest

    A = np.concatenate([most(n), some(n // 12, 27.0, 58e3), some(n // 30, 71.0, 19e3)])
    B = np.concatenate([most(n - 60), some(n // 7, 71.0, 19e3)])
    return A, B, columns[: A.shape[1]]


class Planted(NamedTuple):
    """Two samples, the names of their columns, and how they differ."""

    A: np.ndarray
    B: np.ndarray
    columns: tuple[str, ...]
    found: Difference


def planted(columns=("age", "income", "height", "score"), names=("before", "after"), d=4):
    """The difference of :func:`people`, or of the first d of their columns."""
    A, B, _ = people()
    A, B = A[:, :d], B[:, :d]
    return Planted(A, B, columns[:d], difference(A, B, names=names, columns=columns[:d]))
