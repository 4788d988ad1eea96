"""The tree by which the modes of a density merge."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.saddles import Modes, Saddles, bent, ended, find_passes
from kernelmean.meanshift.sampling_noise import z_scores
from kernelmean.meanshift.tree import MergeTree

IN_QUESTION = 0.8  # standard deviations above the saddle, from which on a better pass is looked for


def merge_tree(
    mean: KernelMean, modes: Modes, sizes: IntVector, judge: KernelMean | None = None
) -> MergeTree:
    """How the modes of a density merge; so many points climb to each.

    ``judge`` is a density in the coordinates of the kernel whose noise is known where that of the
    mean is not: centres of few points, which stand for more, make hills of their own.
    """
    judging = mean if judge is None else judge
    passes = find_passes(mean, modes)
    saddles = ended(judging, modes, passes)
    z = _clearness(judging, modes.peaks, saddles)
    some = np.flatnonzero((saddles.parents >= 0) & (z > IN_QUESTION))
    # A pass that is higher than it seemed may be met earlier: hills end anew.
    saddles = ended(judging, modes, bent(mean, modes.peaks, passes, saddles, some))
    z = _clearness(judging, modes.peaks, saddles)
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


def _clearness(mean: KernelMean, peaks: Points, saddles: Saddles) -> Vector:
    """(m,) how far both modes that meet stand above the saddle: the lesser of the two z."""
    some = np.flatnonzero(saddles.parents >= 0)
    places = saddles.points[some]
    z = np.full(len(peaks), np.inf)
    z[some] = np.minimum(
        z_scores(mean, peaks[some], places),
        z_scores(mean, peaks[saddles.parents[some]], places),
    )
    return z
