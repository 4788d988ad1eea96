"""Random points from a mean that is a density."""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, expansion_of


def draw(mean: AnyMean, size: int, rng: np.random.Generator) -> Points:
    """(size, d) points from Σ_a α_a φ(·, c_a), α ≥ 0: a centre by its weight, then a step.

    The step is drawn from the kernel.
    """
    expansion = expansion_of(mean)
    cumulative = np.cumsum(expansion.weights)
    rows = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    steps = expansion.kernel.sample(size, expansion.dimension, rng)
    back = scaling.undo(expansion.scale, steps, np.zeros(expansion.dimension))
    moved: Points = expansion.centers[np.minimum(rows, expansion.k - 1)] + back
    return moved
