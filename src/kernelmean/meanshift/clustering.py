"""From a density to clusters: climb, link the ends, refine the peaks, absorb what is small."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from kernelmean import _checks, samples
from kernelmean import bandwidth as rules_of_bandwidth
from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import EPS, ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.fitting.fit import fit_mean
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.climbing import Ascent, DensityToClimb, climb
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.meanshift.linkage import Links, link
from kernelmean.samples import Queries, Sample, WeightedSample

RULE = "mode"  # the default rule for the bandwidth
REFINED_STEP_BANDWIDTHS = 1e-9  # the last step of a refined peak
MAX_REFINING_STEPS = 2000  # of a peak


class Rules(NamedTuple):
    """When to stop, what to merge, what to absorb."""

    tol: float = 1e-3  # bandwidths
    merge_radius: float | None = None  # None: the bandwidth
    min_cluster_size: int = 1
    max_iter: int = 10_000

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
        )


@dataclass(frozen=True, eq=False)
class Clustering:
    """The peaks of a density, and which of them each point climbs to."""

    mean: AnyMean  # the density that was climbed
    labels: IntVector  # (n,) from 0, the highest peak
    centers: Points  # (c, d) the peaks
    log_densities: Vector  # (c,) the density at each
    shifted: Points  # (n, d) where each point ended, in the coordinates of the data
    n_iter: int
    rules: Rules
    anchors: Points  # (m, d) ends that stand for all, in the coordinates of the kernel
    anchor_labels: IntVector  # (m,)

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

        The others get a label and an end, and have no part in the rest.
        """
        absent = np.setdiff1d(np.arange(len(X)), rows)
        ascent = _ascent(self.mean.expansion, X.restrict(absent), self.rules)
        _warn_if_cut(ascent, len(absent), self.rules)
        labels = np.empty(len(X), dtype=np.intp)
        shifted = np.empty(X.shape)
        labels[rows] = self.labels
        shifted[rows] = self.shifted
        labels[absent] = self._at_ends(ascent.ends)
        shifted[absent] = _in_data(self.mean.expansion, ascent.ends)
        return replace(self, labels=labels, shifted=shifted)

    def _labels(self, mapped: Points) -> IntVector:
        ascent = climb(
            DensityToClimb.of(self.mean.expansion), mapped, self.rules.tol, self.rules.max_iter
        )
        _warn_if_cut(ascent, len(mapped), self.rules)
        return self._at_ends(ascent.ends)

    def _at_ends(self, ends: Points) -> IntVector:
        nearest: IntVector = self.anchor_labels[self._tree.query(ends)[1]]
        return nearest

    @lazy
    def _tree(self) -> cKDTree:
        return cKDTree(self.anchors)


def density(
    sample: WeightedSample, settings: FitSettings, streams: Streams, *, sparse: bool
) -> AnyMean:
    """The density to climb: nonnegative weights on k centres, or every point a centre.

    Without any spread in the data no rule gives a bandwidth; there is one cluster whatever it is,
    and it is set to 1.
    """
    width = settings.bandwidth
    if isinstance(settings.kernel, Kernel):
        if isinstance(width, str) and width == RULE:
            width = DEFAULT_RULE  # both mean the kernel's own
    elif isinstance(width, str) and _is_one_point(sample.sample):
        _checks.choice(width, "bandwidth rule", rules_of_bandwidth.RULES)
        width = 1.0
    asked = replace(settings, bandwidth=width)
    return fit_mean(sample, asked, streams) if sparse else full_mean(sample, asked)


def _is_one_point(sample: Sample) -> bool:
    """Whether all rows in memory are equal; elsewhere this is not looked for."""
    return sample.resident and not np.ptp(sample.array(), axis=0).any()


def cluster(mean: AnyMean, X: Sample, rules: Rules) -> Clustering:
    """The clusters of X under a density.  Time O(n·k·d) per step, memory O(n·d)."""
    expansion = mean.expansion
    density_to_climb = DensityToClimb.of(expansion)
    # Of centres with spreads too: they stand for the density of that bandwidth, whose peaks lie as
    # far apart whatever carries it.
    radius = density_to_climb.length if rules.merge_radius is None else rules.merge_radius
    ascent = _ascent(expansion, X, rules)
    _warn_if_cut(ascent, len(X), rules)
    links = link(ascent.ends, radius)
    peaks, owner = _peaks(density_to_climb, ascent, links, radius)
    owner = _absorbed(
        peaks.ends,
        owner,
        np.bincount(links.groups[links.cells], minlength=len(owner)),
        rules.min_cluster_size,
    )
    kept, labels = np.unique(owner, return_inverse=True)
    anchor_labels = labels[links.groups]
    return Clustering(
        mean,
        anchor_labels[links.cells],
        _in_data(expansion, peaks.ends[kept]),
        peaks.log_values[kept] + expansion.log_constant,
        _in_data(expansion, ascent.ends),
        ascent.n_iter,
        rules,
        ascent.ends[links.firsts],
        anchor_labels,
    )


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


def _peaks(
    density_to_climb: DensityToClimb, ascent: Ascent, links: Links, radius: float
) -> tuple[Ascent, IntVector]:
    """Refined peaks from the highest first, and the peak of each group.

    Groups whose peaks meet are one.
    """
    group = links.groups[links.cells]
    order = np.lexsort((-ascent.log_values, group))
    best = order[np.searchsorted(group[order], np.arange(links.groups.max() + 1))]
    ends = ascent.ends[best]
    # Rounding moves points too.
    tol = max(
        REFINED_STEP_BANDWIDTHS, 8 * EPS * float(np.abs(ends).max()) / density_to_climb.length
    )
    refined = climb(density_to_climb, ends, tol, MAX_REFINING_STEPS)
    values = density_to_climb.at(refined.ends).log_value
    by_height = np.lexsort((best, -values))
    peaks = refined._replace(ends=refined.ends[by_height], log_values=values[by_height])
    met = link(peaks.ends, radius)
    # Groups are numbered from the highest peak on.
    highest = met.firsts[np.unique(met.groups, return_index=True)[1]]
    owner = np.empty(len(best), dtype=np.intp)
    owner[by_height] = met.groups[met.cells]
    return peaks._replace(ends=peaks.ends[highest], log_values=peaks.log_values[highest]), owner


def _absorbed(peaks: Points, owner: IntVector, sizes: IntVector, least: int) -> IntVector:
    """Groups of too small clusters go to the nearest peak of a large one.

    The largest cluster always stays.
    """
    total = np.bincount(owner, sizes, minlength=len(peaks))
    large = np.flatnonzero((total >= least) | (total == total.max()))
    if len(large) == len(peaks):
        return owner
    nearest: IntVector = large[cKDTree(peaks[large]).query(peaks)[1]]
    nearest[large] = large
    return nearest[owner]


def _warn_if_cut(ascent: Ascent, n: int, rules: Rules) -> None:
    if ascent.left:
        warnings.warn(
            f"{ascent.left} of {n} points still move by more than tol={rules.tol:g} bandwidths "
            f"after max_iter={rules.max_iter} "
            "steps and are taken where they are; raise max_iter or tol.",
            stacklevel=3,
        )
