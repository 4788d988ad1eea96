"""The tree by which the modes of a density merge."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.saddles import Modes, Saddles, bent, find_saddles
from kernelmean.meanshift.sampling_noise import z_scores
from kernelmean.meanshift.tree import MergeTree

IN_QUESTION = 0.8  # standard deviations above the saddle, from which on a better pass is looked for


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
