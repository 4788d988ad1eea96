"""Kernel means of the classes over posteriors.

Posteriors p(x) lie on the simplex. Their square roots lie on a sphere, where the distance of two
is Hellinger's: a step from .01 to .02 counts there as it should, which it does not on the simplex,
and certainty, which logarithms put at infinity, has its place. Each class has cells of its training
rows, with a spread; blurred by a kernel they are its kernel mean, for any bandwidth. In L2 the
inner product of Gaussian means of bandwidth σ is that in the RKHS of bandwidth √2σ, up to a
factor, so that bandwidths which are √2 apart serve both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean._types import IntVector, Matrix
from kernelmean.engines import Engine
from kernelmean.fitting.cells import Cells, find_cells
from kernelmean.fitting.prepare import loaded
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Gaussian
from kernelmean.mean.expansion import KernelMean
from kernelmean.mixtures.rows import Rows
from kernelmean.samples import ArraySample, WeightedSample

BANDWIDTHS = (0.05, 0.07, 0.1, 0.14, 0.2)  # of distances up to √2
CELLS = 60  # of a class
MAX_ROWS = 5000  # of a class, whose cells are searched for
LEAST_VALUE = 1e-12  # of a mean, in units of the kernel's peak: beyond, no class is nearer


@dataclass(frozen=True, eq=False)
class SimplexMeans:
    """The kernel means of C classes at one bandwidth."""

    means: tuple[KernelMean, ...]
    joint: KernelMean  # all cells of all classes
    shares: Matrix  # (cells, C): the weight of each cell in its class

    def values(self, posteriors: Matrix) -> Matrix:
        """(n, C): z_c at each row, in units of the kernel's peak. Time O(n·Σk·C)."""
        radial, _ = self.joint.pairing(self.joint)
        at = self.joint.map(np.sqrt(posteriors))
        values: Matrix = self.joint.cloud.kernel_sum(radial, at, self.shares)
        return np.maximum(values, LEAST_VALUE)


def class_cells(
    posteriors: Matrix, y: IntVector, k: int, engine: str | Engine, rng: np.random.Generator
) -> list[Cells]:
    """The cells of each class, of the square roots of its rows' posteriors."""
    settings = FitSettings(kernel="gaussian", bandwidth=1.0, engine=engine)
    found = []
    for c in range(posteriors.shape[1]):
        roots = np.sqrt(posteriors[y == c])
        roots = roots[rng.permutation(len(roots))[:MAX_ROWS]]
        data = loaded(WeightedSample.of(ArraySample(roots)), settings)
        rows = Rows(roots, np.ones(len(roots)))
        distinct = len(np.unique(roots, axis=0))
        found.append(find_cells(data, rows, min(k, distinct), "scalar", settings, rng))
    return found


def blurred(cells: Sequence[Cells], bandwidth: float) -> SimplexMeans:
    """The means of the classes at a bandwidth."""
    kernel = Gaussian(bandwidth)
    means = tuple(some.blurred(kernel, "rkhs") for some in cells)
    owner = np.repeat(np.arange(len(means)), [mean.k for mean in means])
    weights = np.concatenate([mean.weights for mean in means])
    joint = KernelMean(
        centers=np.concatenate([mean.centers for mean in means]),
        weights=weights / weights.sum(),
        kernel=kernel,
        space="rkhs",
        scale=None,
        n_points=sum(mean.n_points for mean in means),
        engine=means[0].engine,
        spreads=np.concatenate([some.spreads for some in cells]),
    )
    shares = np.zeros((len(owner), len(means)))
    shares[np.arange(len(owner)), owner] = weights
    return SimplexMeans(means, joint, shares)
