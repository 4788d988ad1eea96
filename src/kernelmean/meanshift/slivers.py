"""Slivers: thin regions along an edge, of colours that are mixed of those on its two sides.

An edge is never sharp: lenses, resampling and compression leave a ramp of a few pixels between two
colours, and the density has peaks there. People see an edge, no object. A region is a sliver if
nowhere wider than a ramp, and if two neighbours that each share much of its boundary have colours
between which its own lies. A wire before a sky is none: it has the sky on both sides.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import (
    distance_transform_cdt,
    distance_transform_edt,
    maximum,
    maximum_filter,
    minimum_filter,
)

from kernelmean._types import IntVector, Points
from kernelmean.mean.linkage import by_appearance
from kernelmean.meanshift.region_tree import JUST_NOTICEABLE
from kernelmean.meanshift.regions import Regions, regions

ROUNDS = 3
WIDEST = 0.006  # half the width of a ramp, as a share of the image's longer side
LEAST_WIDEST = 2  # and in pixels, at least
LEAST_LENGTH = 4.0  # of a sliver, in widths: what is as long as wide is a speck
LEAST_BOUNDARY = 0.15  # share of its boundary that a sliver has with each of the two sides
INSIDE = 0.03  # of the way between the colours: the least distance of a mixture from either
ASIDE = 0.3  # of that way: how far a mixture may lie beside the straight line


def none_but_wide(
    labels: IntVector, pixels: NDArray[np.float64], seen: NDArray[np.float64], reach: int
) -> IntVector:
    """(rows, columns) segments without slivers, numbered anew; the same array where there are none.

    ``pixels``, ``seen`` and ``reach`` are those of :func:`regions`.
    """
    wide = labels
    for _ in range(ROUNDS):  # what a sliver has on both sides may show once others are gone
        parts = regions(wide, pixels, seen, reach)
        shared = without_slivers(parts)
        if shared is parts.labels:
            break
        wide = shared
    return labels if wide is labels else by_appearance(wide.ravel()).reshape(wide.shape)


def without_slivers(found: Regions) -> IntVector:
    """(rows, columns) the regions, whose numbers stay, with slivers shared out among the others.

    Each of their pixels joins the nearest region that is none.
    """
    radii = _radii(found.labels, found.n_regions)
    long = found.sizes >= LEAST_LENGTH * (2.0 * radii - 1.0) ** 2
    thin = np.flatnonzero((radii <= _widest(found.labels.shape)) & long)
    slivers = [int(region) for region in thin if _is_mixed(found, int(region))]
    if not slivers or len(slivers) == found.n_regions:
        return found.labels
    gone: NDArray[np.bool_] = np.isin(found.labels, slivers)
    nearest = distance_transform_edt(gone, return_distances=False, return_indices=True)
    labels: IntVector = found.labels[tuple(nearest)]
    return labels


def _widest(shape: tuple[int, ...]) -> float:
    return max(LEAST_WIDEST, WIDEST * max(shape))


def _radii(labels: IntVector, count: int) -> NDArray[np.float64]:
    """(r,) pixels from the innermost pixel of each region to the next region, or to the edge."""
    around = np.pad(labels, 1, constant_values=-1)
    border = maximum_filter(around, 3) != minimum_filter(around, 3)
    depth = 1 + distance_transform_cdt(~border, metric="chessboard")[1:-1, 1:-1]
    return np.asarray(maximum(depth, labels, np.arange(count)), dtype=np.float64)


def _is_mixed(found: Regions, region: int) -> bool:
    """Whether the colour lies between those of two neighbours along much of the boundary."""
    edges = found.boundaries
    own = np.flatnonzero((edges.pairs == region).any(axis=1))
    lengths = edges.lengths[own]
    long = own[lengths >= LEAST_BOUNDARY * lengths.sum()]
    others = edges.pairs[long].sum(axis=1) - region
    means = found.means
    return any(_between(means[region], means[a], means[b]) for a, b in combinations(others, 2))


def _between(color: Points, one: Points, other: Points) -> bool:
    """Whether a colour is about a mixture of two that differ visibly."""
    way = other - one
    length = float(np.linalg.norm(way))
    if length <= 2.0 * JUST_NOTICEABLE:
        return False
    share = float((color - one) @ way) / length**2
    aside = float(np.linalg.norm(color - one - share * way))
    return INSIDE < share < 1.0 - INSIDE and aside <= ASIDE * length
