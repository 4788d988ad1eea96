"""Inner products of the means of bins: by common centres, or of all points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.comparison.bins import Bins
from kernelmean.comparison.pairs import Pair
from kernelmean.engines import Engine
from kernelmean.kernels import RadialFunction
from kernelmean.linalg.factor import Factor, product
from kernelmean.linalg.gram import gram
from kernelmean.linalg.ridge import ridge_products

SMALL_BIN = 256  # rows: smaller bins are read together, and summed from one table of kernel values
TABLE = 2**22  # kernel values in such a table at a time


def center_gram(
    pair: Pair,
    bins: Bins,
    radials: Sequence[RadialFunction],
    centers: Points,
    engine: Engine,
    known: Points | None,
    ridges: Sequence[float],
) -> list[Matrix]:
    """G_bc = ⟨mean of part b, mean of part c⟩, projected on the centres, up to what Σv = 0 removes.

    For each radial function the plain product, and then one for each ridge, by the covariance
    of the known rows.
    """
    found = []
    for radial, kappa in zip(
        radials, _part_means(pair, bins, radials, centers, engine), strict=True
    ):
        pooled = kappa.mean(axis=1)
        factor = Factor(radial)
        factor.append(centers, pooled)
        Y = factor.forward_substitute(kappa - pooled[:, None])
        found.append(product(Y.T, Y))
        if known is not None:
            F = factor.forward_substitute(gram(radial, centers, known))
            found += ridge_products(Y, F, ridges)
    return found


def full_gram(
    pair: Pair, bins: Bins, radials: Sequence[RadialFunction], engine: Engine
) -> list[Matrix]:
    """G_bc = mean of g over the pairs of parts b and c, less the means of rows and columns.

    Time O(n²·d), memory O(n·d).
    """
    weights = pair.weights()
    points = pair.rows(np.concatenate(bins.parts))
    starts = np.cumsum([0, *(len(part) for part in bins.parts[:-1])])
    shares = np.concatenate([_shares(weights, part) for part in bins.parts])
    clouds = [
        engine.load(pair.rows(part), None if weights is None else weights[part])
        for part in bins.parts
    ]
    found = []
    for radial in radials:
        rows = [cloud.kernel_sum(radial, points) * shares for cloud in clouds]
        G: Matrix = np.stack([np.add.reduceat(row, starts) for row in rows])
        G = G - G.mean(axis=0)
        found.append(G - G.mean(axis=1)[:, None])
    return found


def _part_means(
    pair: Pair, bins: Bins, radials: Sequence[RadialFunction], centers: Points, engine: Engine
) -> list[Matrix]:
    """κ_b = mean over part b of g(C, x), (k, parts) for each radial: n·k kernel values each."""
    small = sum(bins.counts) if bins.size < SMALL_BIN and pair.first.sample.resident else 0
    columns: list[list[Vector]] = [[] for _ in radials]
    weights = pair.weights()
    for part in bins.parts[small:]:
        own = None if weights is None else weights[part]
        cloud = pair.restrict(part).load(engine, own)
        for radial, found in zip(radials, columns, strict=True):
            found.append(cloud.kernel_sum(radial, centers))
    tables = _small_means(pair, bins, small, radials, centers)
    return [np.column_stack([*tables[i : i + 1], *columns[i]]) for i in range(len(radials))]


def _small_means(
    pair: Pair, bins: Bins, count: int, radials: Sequence[RadialFunction], centers: Points
) -> list[Matrix]:
    """The same for the first bins, so small that to load one would cost more than its sums."""
    weights = pair.weights()
    at_once = max(1, TABLE // (bins.size * len(centers)))
    found: list[list[Matrix]] = [[] for _ in radials]
    for start in range(0, count, at_once):
        parts = bins.parts[start : min(start + at_once, count)]
        points = pair.rows(np.concatenate(parts))
        shares = np.concatenate([_shares(weights, part) for part in parts])
        for radial, tables in zip(radials, found, strict=True):
            values = gram(radial, centers, points)
            values *= shares
            tables.append(values.reshape(len(centers), len(parts), bins.size).sum(axis=2))
    return [np.concatenate(tables, axis=1) for tables in found if tables]


def _shares(weights: Vector | None, part: IntVector) -> Vector:
    """Weights of the rows of a part, adding up to one."""
    if weights is None:
        return np.full(len(part), 1.0 / len(part))
    own: Vector = weights[part] / weights[part].sum()
    return own
