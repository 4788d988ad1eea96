"""A map of places whose peak is known, which says of other places whether theirs is certain.

Space is cut into blocks, several times over: by grids of the same blocks that are shifted against
each other along the diagonal, and by blocks of several sizes. A block is *pure* if it holds a few
known places, all of one peak. Where the blocks of all grids of one size are pure and of one peak,
no boundary between peaks is near. A block is found by a hash of its corner, in any dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Points

BLOCK_BANDWIDTHS = (1.0, 0.5)  # the sides of blocks, from the largest
GRIDS = 4  # of each size, shifted by a fraction of a block
LEAST_PLACES = 3  # in a block, for its purity to tell anything
UNKNOWN = -1  # in the place of a peak
BLOCK_ROWS = 16384  # whose corners are held at a time

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: spreads bits upwards
HALF = np.uint64(29)  # and a shift brings them down again


class Grid(NamedTuple):
    """The blocks of one grid that hold a known place."""

    side: float
    offset: float  # in blocks
    keys: NDArray[np.uint64]  # (b,) sorted
    peaks: IntVector  # (b,) of pure blocks, else UNKNOWN

    @classmethod
    def of(cls, places: Points, peaks: IntVector, side: float, offset: float) -> Grid:
        """The blocks of some places."""
        keys = cell_keys(places, side, offset)
        order = np.argsort(keys, kind="stable")
        ranked = peaks[order]
        first = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
        lowest = np.minimum.reduceat(ranked, first)
        sizes = np.diff(first, append=len(keys))
        pure = (lowest == np.maximum.reduceat(ranked, first)) & (sizes >= LEAST_PLACES)
        return cls(side, offset, keys[order[first]], np.where(pure, lowest, UNKNOWN))

    def at(self, places: Points) -> IntVector:
        """The peak of the block of each place, if that is pure."""
        keys = cell_keys(places, self.side, self.offset)
        near = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: IntVector = np.where(self.keys[near] == keys, self.peaks[near], UNKNOWN)
        return found


@dataclass(frozen=True)
class BasinMap:
    """Grids of several sizes, each size several times."""

    sizes: tuple[tuple[Grid, ...], ...]

    @classmethod
    def of(cls, places: Points, peaks: IntVector, length: float) -> BasinMap:
        """The map of known places, for blocks of a few fractions of a bandwidth."""
        offsets = [number / GRIDS for number in range(GRIDS)]
        return cls(
            tuple(
                tuple(Grid.of(places, peaks, size * length, offset) for offset in offsets)
                for size in BLOCK_BANDWIDTHS
            )
        )

    def at(self, places: Points) -> IntVector:
        """(n,) the peak of each place where it is certain, else UNKNOWN."""
        found = np.full(len(places), UNKNOWN)
        for grids in self.sizes:
            left = np.flatnonzero(found == UNKNOWN)
            found[left] = _agreed(grids, places[left])
        return found


def _agreed(grids: tuple[Grid, ...], places: Points) -> IntVector:
    """The peak that all grids name, else UNKNOWN."""
    found = grids[0].at(places)
    for grid in grids[1:]:
        rows = np.flatnonzero(found != UNKNOWN)
        other = grid.at(places[rows])
        found[rows[other != found[rows]]] = UNKNOWN
    return found


def cell_keys(places: Points, side: float, offset: float = 0.0) -> NDArray[np.uint64]:
    """(n,) a number for the cell of each place in a grid of cubes: a hash of its corner.

    Two cells share a number as seldom as two random numbers of 64 bits are equal.
    """
    keys = np.zeros(len(places), dtype=np.uint64)
    for start in range(0, len(places), BLOCK_ROWS):
        some = slice(start, start + BLOCK_ROWS)
        corners = np.divide(places[some].T, side, order="C")
        corners += offset
        np.floor(corners, out=corners)
        corners += 0.0  # no −0, whose bits differ
        for bits in corners.view(np.uint64):
            keys[some] ^= bits
            keys[some] *= MULTIPLIER
            keys[some] ^= keys[some] >> HALF
    return keys
