"""Where the hills of a density meet: the pass between modes along a graph of atoms.

Modes and atoms are the nodes, edges lead to near ones, and an edge is as high as the lowest point
of its segment. Edges from the highest on join nodes into hills; the edge that joins two hills is
their saddle. The hill that ends there is the one whose mode stands out less above the saddle, in
terms of sampling noise: by its height alone, a stray point far out would outlive the hill of all
others in many dimensions. A straight segment may cut a corner, so the way between two modes is then
bent: its points climb sideways, which can only raise the pass (a string method, E, Ren &
Vanden-Eijnden 2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.climbing import DensityToClimb
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.sampling_noise import log_values, log_variance

MAX_MODES_ALL_PAIRS = 60  # up to which every pair of modes has an edge
EDGE_POINTS = 7  # looked at within a segment
NUMBERS_TOGETHER = 2**22  # coordinates of places on segments
STRING_POINTS = 13  # of a way between two modes
STRING_STEPS = 10


class Modes(NamedTuple):
    """Peaks of a density, the highest first."""

    peaks: Points  # (m, d) in the coordinates of the kernel
    log_values: Vector  # (m,) without the constants of the density


class Saddles(NamedTuple):
    """Where the hill of each of m modes ends in that of another."""

    parents: IntVector  # (m,) that other; −1 for the last
    passes: IntVector  # (m,) the pass between the two; −1 for the last
    log_values: Vector  # (m,) −inf for the last
    points: Points  # (m, d) NaN for the last


def find_passes(mean: KernelMean, modes: Modes) -> Edges:
    """The m − 1 passes between the hills of m modes, in the coordinates of the kernel."""
    m, d = modes.peaks.shape
    if m == 1:
        return Edges(np.empty((0, 2), dtype=np.intp), np.empty(0), np.empty((0, d)))
    heavy = mean.weights > 0.0
    nodes = np.concatenate([modes.peaks, mean.mapped_centers[heavy]])
    return Edges.among(mean, nodes, _pairs(nodes, m)).joining(m, len(nodes))


def ended(judge: KernelMean, modes: Modes, passes: Edges) -> Saddles:
    """At each pass, the highest first, the hill ends whose mode stands out less above it.

    ``judge`` is the density that says how far.
    """
    m, d = modes.peaks.shape
    found = Saddles(np.full(m, -1), np.full(m, -1), np.full(m, -np.inf), np.full((m, d), np.nan))
    heights = log_values(judge, modes.peaks)
    levels = log_values(judge, passes.points)
    noise_of_modes = log_variance(judge, modes.peaks)
    noise_of_passes = log_variance(judge, passes.points)
    sets = _Sets(m)
    standing = np.arange(m)  # of each set, the mode that has not ended
    for e in np.argsort(-passes.log_values, kind="stable"):
        a, b = sets.roots(*passes.pairs[e])
        pair = standing[[a, b]]
        # log of (f(mode) − f(pass))/√(V(mode) + V(pass))
        with np.errstate(divide="ignore"):
            above = np.log(-np.expm1(np.minimum(levels[e] - heights[pair], 0.0)))
        noise = 0.5 * np.logaddexp(noise_of_modes[pair], noise_of_passes[e])
        clear = heights[pair] + above - noise
        ends, stays = pair[np.lexsort((-pair, clear))]
        found.parents[ends] = stays
        found.passes[ends] = e
        # No pass is higher than a mode, but for rounding.
        found.log_values[ends] = min(passes.log_values[e], modes.log_values[pair].min())
        found.points[ends] = passes.points[e]
        sets.join(a, b)
        standing[min(a, b)] = stays
    return found


def bent(mean: KernelMean, peaks: Points, passes: Edges, found: Saddles, some: IntVector) -> Edges:
    """The passes after the ways of some modes to their parents have been bent to higher ones."""
    if not len(some):
        return passes
    ways = _bent_ways(mean, peaks[some], peaks[found.parents[some]])
    rows = found.passes[some]
    higher = ways.log_values > passes.log_values[rows]
    log_values = passes.log_values.copy()
    points = passes.points.copy()
    log_values[rows[higher]] = ways.log_values[higher]
    points[rows[higher]] = ways.points[higher]
    return Edges(passes.pairs, log_values, points)


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of nodes, and the lowest point on the segment between them."""

    pairs: IntVector  # (e, 2)
    log_values: Vector  # (e,)
    points: Points  # (e, d)

    @classmethod
    def among(cls, mean: KernelMean, nodes: Points, pairs: IntVector) -> Edges:
        """Look along all segments, both ends included."""
        shares = np.linspace(0.0, 1.0, EDGE_POINTS + 2)
        lowest = np.empty(len(pairs))
        points = np.empty((len(pairs), nodes.shape[1]))
        together = max(1, NUMBERS_TOGETHER // (len(shares) * nodes.shape[1]))
        for start in range(0, len(pairs), together):
            some = slice(start, start + together)
            starts = nodes[pairs[some, 0]]
            ways = nodes[pairs[some, 1]] - starts
            places = starts + shares[:, None, None] * ways
            values = log_values(mean, places.reshape(-1, places.shape[2])).reshape(len(shares), -1)
            at = values.argmin(axis=0)
            edges = np.arange(len(at))
            lowest[some] = values[at, edges]
            points[some] = places[at, edges]
        return cls(pairs, lowest, points)

    def joining(self, modes: int, count: int) -> Edges:
        """The edges that join two hills, the highest first, as pairs of a mode in each."""
        sets = _Sets(count)
        kept = list[tuple[int, int, int]]()
        for e in np.argsort(-self.log_values, kind="stable"):
            first, second = sets.join(*self.pairs[e])
            if first != second and max(first, second) < modes:
                kept.append((int(e), first, second))
        rows = np.array([e for e, _, _ in kept], dtype=np.intp)
        pairs = np.array([pair for _, *pair in kept], dtype=np.intp).reshape(-1, 2)
        return Edges(pairs, self.log_values[rows], self.points[rows])


def _pairs(nodes: Points, m: int) -> IntVector:
    """(e, 2): each node with its neighbours, and modes with each other if they are few."""
    count = min(len(nodes), 2 * nodes.shape[1] + 8)
    near = np.asarray(cKDTree(nodes).query(nodes, k=np.arange(1, count + 1))[1])
    pairs = np.column_stack([np.repeat(np.arange(len(nodes)), count), near.ravel()])
    if m <= MAX_MODES_ALL_PAIRS:
        pairs = np.concatenate([pairs, np.column_stack(np.triu_indices(m, 1))])
    # Hills that no edge joins would have no saddle: neighbours of neighbours may not reach them.
    pairs = np.concatenate([pairs, np.column_stack([np.zeros(m, dtype=np.intp), np.arange(m)])])
    ordered = np.unique(np.sort(pairs, axis=1), axis=0)
    apart: IntVector = ordered[ordered[:, 0] != ordered[:, 1]]
    return apart


class _Sets:
    """Disjoint sets of nodes, each named by its lowest node."""

    def __init__(self, count: int) -> None:
        self._root = list(range(count))

    def roots(self, a: int, b: int) -> tuple[int, int]:
        """The names of the sets of two nodes."""
        return self._find(a), self._find(b)

    def join(self, a: int, b: int) -> tuple[int, int]:
        """Make one set of two; the names that they had."""
        names = self.roots(a, b)
        self._root[max(names)] = min(names)
        return names

    def _find(self, node: int) -> int:
        while self._root[node] != node:
            self._root[node] = self._root[self._root[node]]
            node = self._root[node]
        return node


class _Passes(NamedTuple):
    log_values: Vector  # (q,)
    points: Points  # (q, d)


def _bent_ways(mean: KernelMean, starts: Points, ends: Points) -> _Passes:
    """The highest pass that each way from start to end has had while its points climb sideways."""
    density = DensityToClimb.of(mean)
    q, d = starts.shape
    shares = np.linspace(0.0, 1.0, STRING_POINTS)
    ways = starts[:, None] + shares[:, None] * (ends - starts)[:, None]
    best = _Passes(np.full(q, -np.inf), np.empty((q, d)))
    for _ in range(STRING_STEPS):
        here = density.at(ways.reshape(-1, d))
        values = here.log_value.reshape(q, -1)
        lowest = np.argmin(values, axis=1)
        passes = values[np.arange(q), lowest]
        higher = passes > best.log_values
        best.log_values[higher] = passes[higher]
        best.points[higher] = ways[np.arange(q), lowest][higher]
        ways = _evenly(ways + _sideways(ways, here.step.reshape(ways.shape)), shares)
    return best


def _sideways(ways: Points, steps: Points) -> Points:
    """The part of each step that is across the way; the ends stay."""
    along = np.gradient(ways, axis=1)
    lengths = np.linalg.norm(along, axis=2, keepdims=True)
    along = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)
    across: Points = steps - (steps * along).sum(axis=2, keepdims=True) * along
    across[:, [0, -1]] = 0.0
    return across


def _evenly(ways: Points, shares: Vector) -> Points:
    """The same ways with points at even distances, so that they do not slide off the pass."""
    pieces = np.linalg.norm(np.diff(ways, axis=1), axis=2)
    lengths = np.concatenate([np.zeros((len(ways), 1)), np.cumsum(pieces, axis=1)], axis=1)
    total = lengths[:, -1:]
    even = np.broadcast_to(shares, lengths.shape).copy()
    places = np.divide(lengths, total, out=even, where=total > 0.0)
    return np.stack(
        [
            np.column_stack([np.interp(shares, place, column) for column in way.T])
            for way, place in zip(ways, places, strict=True)
        ]
    )
