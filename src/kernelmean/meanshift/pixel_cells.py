"""The density of an image's pixels, by cells of pixels that are near in colour and position.

A few hundred cells, each with its share of the pixels, their mean and their variance, stand for all
of them: a Gaussian mixture that is made in a few passes, without a search. Cells begin at the nodes
of a grid, so that chance has no part in it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from kernelmean._types import IntVector, Points, Vector
from kernelmean.compiled import threads
from kernelmean.fitting import spreads
from kernelmean.fitting.prepare import engine_name, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Spreads
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.clustering import Clustering, Rules, cluster
from kernelmean.meanshift.grouped import total, totals
from kernelmean.samples import ArraySample, WeightedSample
from kernelmean.selection.kmeans import lloyd

CELLS = 500  # of an image, where their number is open: some 300 pixels each in a small photograph
LLOYD_PIXELS = 40_000  # about as many, on a grid, say where the cells lie
LLOYD_PASSES = 6  # over these pixels; later ones move cells by a fraction of a pixel


class PixelCells(NamedTuple):
    """A density of pixels, and the centre that stands for each of them."""

    mean: KernelMean
    cells: IntVector  # (n,) the centre of each pixel


def cell_density(X: Points, shape: tuple[int, int], settings: FitSettings) -> PixelCells:
    """Pixels of an image of this shape, row by row, as a mixture of Gaussians.

    Time O(n log k) for n pixels and k cells.
    """
    prepared = prepare(WeightedSample.of(ArraySample(X)), settings)
    rows, columns = shape
    step = math.ceil(math.sqrt(len(X) / LLOYD_PIXELS))
    some = X.reshape(rows, columns, -1)[::step, ::step].reshape(-1, X.shape[1])
    cloud = prepared.data.engine.load(np.ascontiguousarray(some))
    count = _number(settings, len(X))
    kinds = spreads.kinds(settings, prepared.kernel, X.shape[1], count)
    centers = lloyd(cloud, X[grid(shape, count)], LLOYD_PASSES)
    nearest = cKDTree(centers).query(X, workers=threads.default_count())[1]
    cells = np.unique(nearest, return_inverse=True)[1]
    sizes = np.bincount(cells).astype(np.float64)
    means, widths = _moments(X, cells, sizes, full=kinds == ("full",))
    mean = KernelMean(
        means,
        sizes / len(X),
        prepared.kernel,
        "l2",
        None,
        float(len(X)),
        engine_name(settings.engine, prepared.data),
        widths,
    )
    return PixelCells(mean, cells)


def cluster_cells(found: PixelCells, rules: Rules) -> Clustering:
    """The clusters of the pixels: a cell climbs as one, from its centre."""
    starts = ArraySample(found.mean.centers)
    clustering = cluster(found.mean, starts, rules._replace(min_cluster_size=1))
    return replace(
        clustering,
        of_points=clustering.of_points[found.cells],
        sizes=np.bincount(clustering.of_points[found.cells], minlength=len(clustering.sizes)),
        shifted=clustering.shifted[found.cells],
        rules=rules,
    )


def grid(shape: tuple[int, int], count: int) -> IntVector:
    """About so many pixels of an image, evenly spread, as positions row by row."""
    rows, columns = shape
    step = math.sqrt(rows * columns / min(count, rows * columns))
    down = _even(rows, step)
    across = _even(columns, step)
    places: IntVector = (down[:, None] * columns + across).ravel()
    return places


def _even(length: int, step: float) -> IntVector:
    """Positions in the middle of equal parts, each about a step long."""
    count = min(max(round(length / step), 1), length)
    return ((np.arange(count) + 0.5) * length / count).astype(np.intp)


def _number(settings: FitSettings, n: int) -> int:
    """The number of cells to begin with."""
    rule = settings.stopping(n)
    wanted = min(CELLS, rule.limit) if settings.k_max is not None else CELLS
    return min(n, wanted if rule.k is None else rule.k)


def _moments(X: Points, cells: IntVector, sizes: Vector, *, full: bool) -> tuple[Points, Spreads]:
    """The mean of each cell, and its covariance or its variance per coordinate."""
    means = totals(cells, X) / sizes[:, None]
    off = X - means[cells]
    d = X.shape[1]
    if not full:
        return means, total(cells, np.einsum("ij,ij->i", off, off)) / (d * sizes)
    covariances = np.empty((len(sizes), d, d))
    for s in range(d):
        for t in range(s + 1):
            covariances[:, s, t] = total(cells, off[:, s] * off[:, t]) / sizes
            covariances[:, t, s] = covariances[:, s, t]
    return means, covariances
