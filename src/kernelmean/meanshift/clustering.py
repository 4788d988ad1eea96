"""From a density to clusters: climb, link the ends, keep the modes that are there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from kernelmean import _checks, samples
from kernelmean._lazy import lazy
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.mean import scaling
from kernelmean.mean.climbing import Ascent, DensityToClimb, climb
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.mean.joint_climbing import ascended, climb_together
from kernelmean.meanshift.judging import Judge
from kernelmean.meanshift.merging import merge_tree
from kernelmean.meanshift.saddles import Modes
from kernelmean.meanshift.tree import MergeTree
from kernelmean.samples import Queries, Sample


class Rules(NamedTuple):
    """When to stop, what to merge, what to absorb."""

    tol: float = 1e-3  # bandwidths
    merge_radius: float | None = None  # None: the bandwidth
    min_cluster_size: int = 1
    max_iter: int = 10_000
    significance: float | None = None  # None: every mode is a cluster

    def checked(self) -> Rules:
        """The same, or one clear sentence."""
        radius = (
            None if self.merge_radius is None else _checks.length(self.merge_radius, "merge_radius")
        )
        size = _checks.count(self.min_cluster_size, "min_cluster_size")
        return Rules(
            _checks.number(self.tol, "tol", above=0.0),
            radius,
            size,
            _checks.count(self.max_iter, "max_iter"),
            None if self.significance is None else _level(self.significance),
        )


def _level(significance: float) -> float:
    level = _checks.number(significance, "significance", above=0.0)
    if level >= 1.0:
        raise ValueError(
            f"significance is a level below 1 such as 0.05, got {significance!r}; None keeps every "
            "mode."
        )
    return level


@dataclass(frozen=True, eq=False)
class Clustering:
    """The modes of a density, which of them each point climbs to, and which are clusters."""

    mean: AnyMean  # the density that was climbed
    rules: Rules
    modes: Modes  # the highest first, in the coordinates of the kernel
    of_points: IntVector  # (n,) the mode of each point
    owners: IntVector  # (m,) the mode that each mode belongs to: itself, if it is a cluster
    shifted: Points  # (n, d) where each point ended, in the coordinates of the data
    n_iter: int
    anchors: Points  # (a, d) ends that stand for all, in the coordinates of the kernel
    of_anchors: IntVector  # (a,) the mode of each
    sizes: IntVector  # (m,) the points of each mode
    judge: KernelMean | None = None  # whose noise decides, if not that of the mean itself
    tested: MergeTree | None = None  # how the modes merge, where a test has asked for it

    def __repr__(self) -> str:
        return (
            f"Clustering({len(self.of_points)} points in {len(self.kept)} clusters, {self.mean!r})"
        )

    @lazy
    def kept(self) -> IntVector:
        """(c,) the modes that are clusters, the highest first."""
        return np.unique(self.owners)

    @lazy
    def labels(self) -> IntVector:
        """(n,) the cluster of each point, from 0, the highest."""
        return self.cut(self.owners)

    @property
    def centers(self) -> Points:
        """(c, d) the peaks of the clusters, in the coordinates of the data."""
        return _in_data(self.mean.expansion, self.modes.peaks[self.kept])

    @property
    def log_densities(self) -> Vector:
        """(c,) the logarithm of the density at the peaks."""
        values: Vector = self.modes.log_values[self.kept] + self.mean.expansion.log_constant
        return values

    @lazy
    def tree(self) -> MergeTree:
        """How all modes merge."""
        if self.tested is not None:
            return self.tested
        return merge_tree(self.mean.expansion, self.modes, self.sizes, self.judge)

    def cut(self, owners: IntVector) -> IntVector:
        """(n,) labels of the points where modes belong to these owners, from 0, the highest."""
        return self._numbers(owners)[self.of_points]

    def predict(self, X: ArrayLike | Queries) -> IntVector:
        """Labels of new points, by climbing from each to where it ends.

        Ends off the known ones join the nearest.
        """
        expansion = self.mean.expansion
        queries = samples.check_queries(X, expansion.engine, "X", expansion.dimension)
        labels: IntVector = expansion.map_queries(queries).apply(self._labels)
        return labels

    def with_absent(self, X: Sample, rows: IntVector) -> Clustering:
        """The clustering of all rows of X, where it is known for some.

        The others get a mode and an end, and have no part in the rest.
        """
        absent = np.setdiff1d(np.arange(len(X)), rows)
        ascent = _ascent(self.mean.expansion, X.restrict(absent), self.rules)
        _warn_if_cut(ascent.left, len(absent), self.rules)
        modes = np.empty(len(X), dtype=np.intp)
        shifted = np.empty(X.shape)
        modes[rows] = self.of_points
        shifted[rows] = self.shifted
        modes[absent] = self._at_ends(ascent.ends)
        shifted[absent] = _in_data(self.mean.expansion, ascent.ends)
        return replace(self, of_points=modes, shifted=shifted)

    def _labels(self, mapped: Points) -> IntVector:
        ascent = climb(
            DensityToClimb.of(self.mean.expansion), mapped, self.rules.tol, self.rules.max_iter
        )
        _warn_if_cut(ascent.left, len(mapped), self.rules)
        return self._numbers(self.owners)[self._at_ends(ascent.ends)]

    def _at_ends(self, ends: Points) -> IntVector:
        """The mode of each end."""
        nearest: IntVector = self.of_anchors[self._tree_of_anchors.query(ends)[1]]
        return nearest

    def _numbers(self, owners: IntVector) -> IntVector:
        """(m,) the cluster of each mode."""
        numbers: IntVector = np.unique(owners, return_inverse=True)[1]
        return numbers

    @lazy
    def _tree_of_anchors(self) -> cKDTree:
        return cKDTree(self.anchors)


def cluster(mean: AnyMean, X: Sample, rules: Rules, judge: Judge | None = None) -> Clustering:
    """The clusters of X under a density.  Time O(n·k·d) per step, memory O(n·d)."""
    expansion = mean.expansion
    density_to_climb = DensityToClimb.of(expansion)
    # Of centres with spreads too: they stand for the density of that bandwidth, whose peaks lie as
    # far apart whatever carries it.
    radius = density_to_climb.length if rules.merge_radius is None else rules.merge_radius
    if X.resident:
        starts = expansion.map_queries(X).array()
        ascent = climb_together(density_to_climb, starts, rules.tol, rules.max_iter, radius)
    else:
        ascent = ascended(density_to_climb, _ascent(expansion, X, rules), radius)
    _warn_if_cut(ascent.left, len(X), rules)
    found = Clustering(
        mean,
        rules,
        Modes(ascent.peaks, ascent.log_peaks),
        ascent.modes,
        np.arange(len(ascent.peaks)),
        _in_data(expansion, ascent.ends),
        ascent.n_iter,
        ascent.anchors,
        ascent.anchor_modes,
        np.bincount(ascent.modes, minlength=len(ascent.peaks)),
        None if judge is None else judge.of_kernel(expansion),
    )
    return _judged(found)


def _judged(found: Clustering) -> Clustering:
    """The same with modes that are significant and large enough as owners of the others."""
    rules = found.rules
    if rules.significance is None:
        owners = _absorbed(found.modes.peaks, found.sizes, rules.min_cluster_size)
        return replace(found, owners=owners)
    tree = found.tree
    kept = tree.large(tree.significant(rules.significance), rules.min_cluster_size)
    return replace(found, owners=tree.owners(kept), tested=tree)


def _ascent(expansion: KernelMean, X: Sample, rules: Rules) -> Ascent:
    """All rows climb, each where it is; their ends come here."""

    def climbed(mapped: Points) -> Matrix:
        found = climb(DensityToClimb.of(expansion), mapped, rules.tol, rules.max_iter)
        facts = np.full((len(mapped), 2), [found.n_iter, 0.0])
        facts[0, 1] = found.left
        return np.column_stack([found.ends, found.log_values, facts])

    mapped = expansion.map_queries(X)
    if X.resident:
        return climb(DensityToClimb.of(expansion), mapped.array(), rules.tol, rules.max_iter)
    rows: Matrix = mapped.apply(climbed)
    return Ascent(
        np.ascontiguousarray(rows[:, :-3]),
        rows[:, -3].copy(),
        int(rows[:, -2].max()),
        int(rows[:, -1].sum()),
    )


def _in_data(expansion: KernelMean, ends: Points) -> Points:
    """Ends in the coordinates of the data."""
    return scaling.undo(expansion.scale, ends, expansion.centers[0])


def _absorbed(peaks: Points, sizes: IntVector, least: int) -> IntVector:
    """Modes of too few points go to the nearest peak of many; the largest always stays."""
    owners = np.arange(len(peaks))
    large = np.flatnonzero((sizes >= least) | (sizes == sizes.max()))
    if len(large) < len(peaks):
        owners = large[cKDTree(peaks[large]).query(peaks)[1]]
        owners[large] = large
    return owners


def _warn_if_cut(left: int, n: int, rules: Rules) -> None:
    if left:
        warnings.warn(
            f"{left} of {n} points still move by more than tol={rules.tol:g} bandwidths "
            f"after max_iter={rules.max_iter} "
            "steps and are taken where they are; raise max_iter or tol.",
            stacklevel=3,
        )
