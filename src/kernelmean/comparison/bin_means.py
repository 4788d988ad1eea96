"""Inner products of the means of bins: by common centres, or of all points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.comparison.bins import Bins
from kernelmean.comparison.pairs import Pair
from kernelmean.engines import Engine
from kernelmean.kernels import RadialFunction
from kernelmean.linalg.factor import Factor, product
from kernelmean.linalg.gram import gram
from kernelmean.linalg.ridge import ridge_products

SMALL_BIN = 64  # rows: smaller bins are read together, and summed from one table of kernel values
TABLE = 2**22  # kernel values in such a table at a time


class Side(NamedTuple):
    """One bandwidth: its centres, and with which regularisations; None is none."""

    radial: RadialFunction
    centers: Points
    ridges: Sequence[float | None]


def center_grams(
    pair: Pair, bins: Bins, sides: Sequence[Side], known: Points, engine: Engine
) -> list[Matrix]:
    """G_bc = ⟨mean of part b, mean of part c⟩, projected on the centres, up to what Σv = 0 removes.

    One for each ridge of each side, by the covariance of the known rows.
    """
    found = []
    for side, kappa in zip(sides, _part_means(pair, bins, sides, engine), strict=True):
        pooled = kappa.mean(axis=1)
        factor = Factor(side.radial)
        factor.append(side.centers, pooled)
        Y = factor.forward_substitute(kappa - pooled[:, None])
        ridges = [ridge for ridge in side.ridges if ridge is not None]
        regular: list[Matrix] = []
        if ridges:
            F = factor.forward_substitute(gram(side.radial, side.centers, known))
            regular = ridge_products(Y, F, ridges)
        waiting = iter(regular)
        found += [product(Y.T, Y) if ridge is None else next(waiting) for ridge in side.ridges]
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


def _part_means(pair: Pair, bins: Bins, sides: Sequence[Side], engine: Engine) -> list[Matrix]:
    """κ_b = mean over part b of g(C, x), (k, parts) for each side: n·k kernel values each."""
    small = sum(bins.counts) if bins.size < SMALL_BIN and pair.first.sample.resident else 0
    columns: list[list[Vector]] = [[] for _ in sides]
    weights = pair.weights()
    for part in bins.parts[small:]:
        own = None if weights is None else weights[part]
        cloud = pair.restrict(part).load(engine, own)
        for side, found in zip(sides, columns, strict=True):
            found.append(cloud.kernel_sum(side.radial, side.centers))
    tables = _small_means(pair, bins, small, sides)
    return [np.column_stack([*tables[i : i + 1], *columns[i]]) for i in range(len(sides))]


def _small_means(pair: Pair, bins: Bins, count: int, sides: Sequence[Side]) -> list[Matrix]:
    """The same for the first bins, so small that to load one would cost more than its sums."""
    weights = pair.weights()
    most = max(len(side.centers) for side in sides)
    at_once = max(1, TABLE // (bins.size * most))
    found: list[list[Matrix]] = [[] for _ in sides]
    for start in range(0, count, at_once):
        parts = bins.parts[start : min(start + at_once, count)]
        points = pair.rows(np.concatenate(parts))
        shares = np.concatenate([_shares(weights, part) for part in parts])
        for side, tables in zip(sides, found, strict=True):
            values = gram(side.radial, side.centers, points)
            values *= shares
            tables.append(values.reshape(len(values), len(parts), bins.size).sum(axis=2))
    return [np.concatenate(tables, axis=1) for tables in found if tables]


def _shares(weights: Vector | None, part: IntVector) -> Vector:
    """Weights of the rows of a part, adding up to one."""
    if weights is None:
        return np.full(len(part), 1.0 / len(part))
    own: Vector = weights[part] / weights[part].sum()
    return own
