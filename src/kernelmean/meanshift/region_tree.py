"""The tree of an image's regions: neighbours become one, the least different first.

Two neighbours differ by what Ward's criterion says of their mean colours, and by the contrast along
their common boundary. Ward's alone would cut a sky that darkens slowly into bands; contrast alone
would keep every speck. Contrast that no eye sees counts for nothing.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.linkage import by_appearance
from kernelmean.meanshift.regions import Regions

# A difference in CIE L*a*b*/100 that is just noticeable (Mahy, Van Eycken & Oosterlinck 1994).
JUST_NOTICEABLE = 0.023


class Level(NamedTuple):
    """Where a tree is cut."""

    n_segments: int | None  # leaves so many, if given
    contrast: float  # what differs by at most this is one, otherwise

    @classmethod
    def of(cls, n_segments: int | None, contrast: float | None) -> Level:
        """A level as a user gives it, checked."""
        if n_segments is not None:
            return cls(_checks.count(n_segments, "n_segments"), 0.0)
        if contrast is None:
            raise ValueError("give the number of segments, or the contrast between them.")
        return cls(None, _checks.number(contrast, "contrast", least=0.0))


@dataclass(frozen=True, eq=False)
class RegionTree:
    """Regions of an image, and the order in which neighbours become one.

    Attributes
    ----------
    labels : ndarray of shape (rows, columns)
        The region of each pixel, from 0.
    sizes : ndarray of shape (r,)
        The number of pixels of each region.
    colors : ndarray of shape (r, channels)
        The mean colour of each region, from 0 to 1.
    merges : ndarray of shape (r - 1, 2)
        The two that become one, step by step. Regions have the numbers 0 to r − 1, and what step t
        makes has the number r + t, as in SciPy's hierarchical clusterings.
    heights : ndarray of shape (r - 1,)
        How different the two were, in units of colour; it never falls from one step to the next.

    See Also
    --------
    Segmentation.cut : Segments from any level of the tree.
    """

    labels: IntVector
    sizes: IntVector
    colors: Points
    merges: IntVector
    heights: Vector

    def __repr__(self) -> str:
        rows, columns = self.labels.shape
        return f"RegionTree({len(self.sizes)} regions of {rows} × {columns} pixels)"

    def cut(self, n_segments: int | None = None, contrast: float | None = None) -> IntVector:
        """The segment of each region: so many segments, or those that differ by more.

        Parameters
        ----------
        n_segments : int or None, default=None
            The number of segments, at most that of the regions.
        contrast : float or None, default=None
            Neighbours that differ by at most this are one; used where there is no ``n_segments``.

        Returns
        -------
        ndarray of shape (r,)
            Numbers from 0, in the order of the first pixels.

        Raises
        ------
        ValueError
            If neither number is given, or one is out of range.
        """
        level = Level.of(n_segments, contrast)
        if level.n_segments is None:
            done = int(np.searchsorted(self.heights, level.contrast, side="right"))
        else:
            done = max(len(self.sizes) - level.n_segments, 0)
        roots = np.arange(len(self.sizes) + done)
        for step in range(done - 1, -1, -1):
            roots[self.merges[step]] = roots[len(self.sizes) + step]
        return by_appearance(roots[: len(self.sizes)])


def region_tree(found: Regions, colors: Points) -> RegionTree:
    """All regions down to one; ``colors`` are those that the tree tells of its regions."""
    merges, heights = _Merging(found).run()
    return RegionTree(
        found.labels,
        found.sizes.astype(np.intp),
        colors,
        merges,
        np.maximum.accumulate(heights),
    )


class _Merging:
    """Regions on their way to one, each with the neighbour that it differs least from.

    A region that has grown is a new one: its slot has another version. The heap holds one entry for
    each; where the neighbour has changed since, the entry is renewed when it comes up, which is
    never too late, as differences between unchanged regions stay.
    """

    def __init__(self, found: Regions) -> None:
        self.total = float(found.sizes.sum())
        self.sizes = found.sizes.copy()
        self.sums = found.sums.copy()
        self.versions = [0] * found.n_regions
        self.nodes = list(range(found.n_regions))
        self.sides: list[dict[int, tuple[float, float]]] = [{} for _ in range(found.n_regions)]
        edges = found.boundaries
        columns = (edges.pairs.tolist(), edges.lengths.tolist(), edges.contrasts.tolist())
        for (i, j), length, contrast in zip(*columns, strict=True):
            self.sides[i][j] = self.sides[j][i] = (length, contrast)
        self.heap: list[tuple[float, float, int, int, int, int]] = []

    def run(self) -> tuple[IntVector, Vector]:
        """What becomes one at each step, and how different it was."""
        for slot in range(len(self.sides)):
            self._push(slot)
        merges = list[tuple[int, int]]()
        heights = list[float]()
        while self.heap:
            height, _, slot, version, other, seen = heapq.heappop(self.heap)
            if self.versions[slot] != version:
                continue
            if self.versions[other] != seen:
                self._push(slot)
                continue
            merges.append((self.nodes[slot], self.nodes[other]))
            heights.append(height)
            self._push(self._join(slot, other, len(self.sides) + len(merges) - 1))
        return np.array(merges, dtype=np.intp).reshape(-1, 2), np.array(heights)

    def _push(self, slot: int) -> None:
        """Note the neighbour that a region differs least from."""
        if not self.sides[slot]:
            return
        others = np.fromiter(self.sides[slot], dtype=np.intp)
        lengths, contrasts = np.array(list(self.sides[slot].values())).T
        sizes = self.sizes[others]
        off = self.sums[others] / sizes[:, None] - self.sums[slot] / self.sizes[slot]
        shares = sizes * self.sizes[slot] / ((sizes + self.sizes[slot]) * self.total)
        ward = shares * np.einsum("ij,ij->i", off, off)
        heights = difference(ward, contrasts / lengths)
        best = np.lexsort((ward, heights))[0]
        other = int(others[best])
        entry = (float(heights[best]), float(ward[best]), slot, self.versions[slot])
        heapq.heappush(self.heap, (*entry, other, self.versions[other]))

    def _join(self, slot: int, other: int, node: int) -> int:
        """The slot of both as one: the one with more neighbours stays."""
        gone, kept = sorted((slot, other), key=lambda each: len(self.sides[each]))
        self.sizes[kept] += self.sizes[gone]
        self.sums[kept] += self.sums[gone]
        self.nodes[kept] = node
        self.versions[kept] += 1
        self.versions[gone] = -1
        mine = self.sides[kept]
        del mine[gone]
        for neighbour, (length, contrast) in self.sides[gone].items():
            if neighbour == kept:
                continue
            del self.sides[neighbour][gone]
            before = mine.get(neighbour, (0.0, 0.0))
            mine[neighbour] = (before[0] + length, before[1] + contrast)
            self.sides[neighbour][kept] = mine[neighbour]
        self.sides[gone] = {}
        return kept


def difference(ward: Vector, contrast: Vector) -> Vector:
    """(w·g²)^{1/4}, in units of colour, with w = n₁n₂/((n₁ + n₂)n)·‖m₁ − m₂‖² of Ward's criterion.

    g is the mean contrast along the boundary, as far as it is more than just noticeable.
    """
    height: Vector = np.sqrt(np.sqrt(ward) * np.maximum(contrast - JUST_NOTICEABLE, 0.0))
    return height
