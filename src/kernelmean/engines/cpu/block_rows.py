"""Rows read back from blocks, so that the points need not be kept a second time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines.cpu.blocks import Blocks


class BlockRows:
    """Stands in for the (n, d) array that the blocks were made of: 4 bytes a point, not 8·d."""

    dtype = np.dtype(np.float64)

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.shape = blocks.n, blocks.d

    def __len__(self) -> int:
        return self._blocks.n

    def __getitem__(self, key: Any) -> Any:
        """Rows by number, slice or list; (all rows, one coordinate) as a pair."""
        if isinstance(key, tuple):
            rows, axis = key
            return self._column(int(axis))[rows]
        wanted = (
            np.arange(*key.indices(len(self))) if isinstance(key, slice) else np.atleast_1d(key)
        )
        found = self._rows(wanted)
        return found if isinstance(key, slice) or np.ndim(key) else found[0]

    @property
    def T(self) -> Iterator[Vector]:  # noqa: N802
        """Coordinate by coordinate."""
        return (self._column(t) for t in range(self._blocks.d))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Points:
        return np.stack(list(self.T), axis=1).astype(dtype or np.float64, copy=False)

    def _column(self, t: int) -> Vector:
        column: Vector = self._blocks.gather(np.ascontiguousarray(self._blocks.points[:, t]))
        return column

    def _rows(self, rows: IntVector) -> Points:
        places = self._places[rows]
        width = self._blocks.shape[1]
        return np.ascontiguousarray(
            self._blocks.points[places // width, : self._blocks.d, places % width]
        )

    @lazy
    def _places(self) -> IntVector:
        """Where each row is among the blocks."""
        order = np.arange(len(self)) if self._blocks.tree is None else self._blocks.tree.order
        places = np.empty_like(order)
        places[order] = np.arange(len(order), dtype=order.dtype)
        return places
