"""Regions of an image: connected pixels, and the boundaries between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kernelmean._types import IntVector, Points, Vector
from kernelmean.meanshift.grouped import total, totals


class Boundaries(NamedTuple):
    """Pairs of regions that touch, and what lies between them."""

    pairs: IntVector  # (b, 2) two regions, the lower number first
    lengths: Vector  # (b,) pairs of neighbouring pixels across the boundary
    contrasts: Vector  # (b,) their differences, summed


class Regions(NamedTuple):
    """An image in connected regions."""

    labels: IntVector  # (rows, columns) the region of each pixel
    sizes: Vector  # (r,) pixels
    sums: Points  # (r, channels) colours, summed over the pixels
    boundaries: Boundaries

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.sizes)

    @property
    def means(self) -> Points:
        """(r, channels) the mean colours."""
        return self.sums / self.sizes[:, None]

    def joined(self, groups: IntVector) -> Regions:
        """The same image with regions of one group as one; groups are numbered from 0."""
        edges = self.boundaries
        pairs = np.sort(groups[edges.pairs], axis=1)
        between = pairs[:, 0] != pairs[:, 1]
        return Regions(
            groups[self.labels],
            total(groups, self.sizes),
            totals(groups, self.sums),
            _gathered(pairs[between], edges.lengths[between], edges.contrasts[between]),
        )


def regions(
    clusters: IntVector, colors: NDArray[np.float64], seen: NDArray[np.float64], reach: int
) -> Regions:
    """The connected parts of clusters of pixels, (rows, columns), numbered row by row.

    Regions have the mean of ``colors``; the contrast of a boundary is measured in ``seen``, from
    ``reach`` pixels before it to as many behind it.
    """
    labels = _connected(clusters)
    flat = labels.ravel()
    pixels = colors.reshape(len(flat), -1)
    return Regions(
        labels,
        np.bincount(flat).astype(np.float64),
        totals(flat, pixels),
        _boundaries(labels, seen, reach),
    )


def without_small(found: Regions, least: int) -> Regions:
    """Regions of fewer pixels join the neighbour of the most similar colour, until none is left."""
    while (found.sizes < least).any() and found.n_regions > 1:
        found = found.joined(_absorbing(found, least))
    return found


def _connected(clusters: IntVector) -> IntVector:
    """Pixels of one cluster that touch by a side belong together."""
    places = np.arange(clusters.size).reshape(clusters.shape)
    across = clusters[:, 1:] == clusters[:, :-1]
    down = clusters[1:] == clusters[:-1]
    first = np.concatenate([places[:, :-1][across], places[:-1][down]])
    second = np.concatenate([places[:, 1:][across], places[1:][down]])
    return _components(first, second, clusters.size).reshape(clusters.shape)


def _components(first: IntVector, second: IntVector, count: int) -> IntVector:
    """Numbers of the connected components of a graph with these edges."""
    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(count, count))
    labels: IntVector = connected_components(graph, directed=False)[1].astype(np.intp)
    return labels


def _boundaries(labels: IntVector, seen: NDArray[np.float64], reach: int) -> Boundaries:
    """All pairs of pixels with a side in common and different regions."""
    parts = [_across(labels, seen, reach)]
    parts.append(_across(labels.T, np.swapaxes(seen, 0, 1), reach))
    pairs, contrasts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _gathered(pairs, np.ones(len(pairs)), contrasts)


def _across(labels: IntVector, seen: NDArray[np.float64], reach: int) -> tuple[IntVector, Vector]:
    """Neighbours in a row that lie in different regions, and how far the colours about them differ.

    Within ``reach`` of the image's edge its last column stands for what would lie behind it.
    """
    row, column = np.nonzero(labels[:, 1:] != labels[:, :-1])
    pairs = np.stack([labels[row, column], labels[row, column + 1]], axis=1)
    before = np.maximum(column - reach, 0)
    behind = np.minimum(column + 1 + reach, labels.shape[1] - 1)
    contrasts: Vector = np.linalg.norm(seen[row, before] - seen[row, behind], axis=1)
    return np.sort(pairs, axis=1), contrasts


def _gathered(pairs: IntVector, lengths: Vector, contrasts: Vector) -> Boundaries:
    """One boundary for each pair of regions that occurs."""
    if not len(pairs):
        return Boundaries(pairs.reshape(0, 2), lengths, contrasts)
    base = int(pairs.max()) + 1
    keys, inverse = np.unique(pairs[:, 0] * base + pairs[:, 1], return_inverse=True)
    return Boundaries(
        np.stack([keys // base, keys % base], axis=1),
        total(inverse, lengths),
        total(inverse, contrasts),
    )


def _absorbing(found: Regions, least: int) -> IntVector:
    """Groups in which every small region is with its neighbour of the most similar colour."""
    means = found.means
    both = np.concatenate([found.boundaries.pairs, found.boundaries.pairs[:, ::-1]])
    own = both[found.sizes[both[:, 0]] < least]
    apart = np.linalg.norm(means[own[:, 0]] - means[own[:, 1]], axis=1)
    order = np.lexsort((apart, own[:, 0]))
    nearest = own[order][np.unique(own[order, 0], return_index=True)[1]]
    return _components(nearest[:, 0], nearest[:, 1], found.n_regions)
