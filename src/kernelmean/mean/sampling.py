"""Random points from a mean that is a density."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.kernels import Spreads
from kernelmean.mean import scaling

if TYPE_CHECKING:
    from kernelmean.mean.expansion import AnyMean, KernelMean


def draw(
    mean: AnyMean, size: int, rng: np.random.Generator, *, kernel_noise: bool = True
) -> Points:
    """(size, d) points from Σ_a α_a φ(·, c_a), α ≥ 0: a centre by its weight, then a step.

    The step is drawn from the kernel, and another from the spread of the centre. Without
    ``kernel_noise`` only the latter: points like those of the sample rather than of its density.
    """
    expansion = mean.expansion
    rows = draw_components(expansion.weights, size, rng)
    return draw_from(expansion, rows, rng, kernel_noise=kernel_noise)


def draw_components(weights: Vector, size: int, rng: np.random.Generator) -> IntVector:
    """(size,) components, each by its weight."""
    cumulative = np.cumsum(weights)
    found = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    components: IntVector = np.minimum(found, len(weights) - 1)
    return components


def draw_from(
    expansion: KernelMean, rows: IntVector, rng: np.random.Generator, *, kernel_noise: bool = True
) -> Points:
    """One point of each of the components."""
    size = len(rows)
    steps = np.zeros((size, expansion.dimension))
    if kernel_noise:
        steps = expansion.kernel.sample(size, expansion.dimension, rng)
    if expansion.spreads is not None:
        steps = steps + _from_spreads(expansion.spreads, rows, rng.normal(size=steps.shape))
    back = scaling.undo(expansion.scale, steps, np.zeros(expansion.dimension))
    moved: Points = expansion.centers[rows] + back
    return moved


def _from_spreads(spreads: Spreads, rows: IntVector, normal: Points) -> Points:
    """S_a^{½}Z for the atom of each row; by eigenvalues, since S may be singular."""
    if spreads.ndim == 1:
        scaled: Points = np.sqrt(spreads[rows])[:, None] * normal
        return scaled
    values, vectors = np.linalg.eigh(spreads)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    steps: Points = np.einsum("ist,it->is", roots[rows], normal)
    return steps
