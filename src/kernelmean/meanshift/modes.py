"""The modes of a density, and the tree by which they merge."""

from __future__ import annotations

import numpy as np

from kernelmean._types import EPS, IntVector, Points, Vector
from kernelmean.mean import scaling
from kernelmean.mean.climbing import Ascent, DensityToClimb, climb
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.linkage import Links, link
from kernelmean.meanshift.saddles import Modes, Saddles, bent, find_saddles
from kernelmean.meanshift.sampling_noise import z_scores
from kernelmean.meanshift.tree import MergeTree

REFINED_STEP_BANDWIDTHS = 1e-9  # the last step of a refined peak
MAX_REFINING_STEPS = 2000  # of a peak
IN_QUESTION = 0.8  # standard deviations above the saddle, from which on a better pass is looked for


def modes_at(
    density: DensityToClimb, ascent: Ascent, links: Links, radius: float
) -> tuple[Modes, IntVector]:
    """The refined peaks of groups of ends, and the mode of each group.

    Groups whose peaks meet have one mode.
    """
    group = links.groups[links.cells]
    order = np.lexsort((-ascent.log_values, group))
    best = order[np.searchsorted(group[order], np.arange(links.groups.max() + 1))]
    ends = ascent.ends[best]
    # Rounding moves points too.
    tol = max(REFINED_STEP_BANDWIDTHS, 8 * EPS * float(np.abs(ends).max()) / density.length)
    refined = climb(density, ends, tol, MAX_REFINING_STEPS)
    values = density.at(refined.ends).log_value
    by_height = np.lexsort((best, -values))
    peaks = refined.ends[by_height]
    met = link(peaks, radius)
    # Groups are numbered from the highest peak on.
    highest = met.firsts[np.unique(met.groups, return_index=True)[1]]
    owners = np.empty(len(best), dtype=np.intp)
    owners[by_height] = met.groups[met.cells]
    return Modes(peaks[highest], values[by_height][highest]), owners


def merge_tree(mean: KernelMean, modes: Modes, sizes: IntVector) -> MergeTree:
    """How the modes of a density merge; so many points climb to each."""
    saddles = find_saddles(mean, modes)
    ended = np.flatnonzero(saddles.parents >= 0)
    z = np.full(len(sizes), np.inf)
    z[ended] = _clearness(mean, modes.peaks, saddles, ended)
    some = ended[z[ended] > IN_QUESTION]
    saddles = bent(mean, modes.peaks, saddles, some)
    z[some] = _clearness(mean, modes.peaks, saddles, some)
    start = mean.centers[0]
    return MergeTree(
        scaling.undo(mean.scale, modes.peaks, start),
        modes.log_values + mean.log_constant,
        saddles.log_values + mean.log_constant,
        scaling.undo(mean.scale, saddles.points, start),
        saddles.parents,
        z,
        sizes,
    )


def _clearness(mean: KernelMean, peaks: Points, saddles: Saddles, some: IntVector) -> Vector:
    """How far both modes that meet stand above the saddle: the lesser of the two z."""
    places = saddles.points[some]
    own = z_scores(mean, peaks[some], places)
    return np.minimum(own, z_scores(mean, peaks[saddles.parents[some]], places))
