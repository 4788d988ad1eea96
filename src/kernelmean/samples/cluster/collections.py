"""Samples on the workers of a cluster: Dask arrays and frames, or arrays from here, in parts that
stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed

from kernelmean import _checks
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.cluster import Engine
from kernelmean.engines.parts.protocol import divided, starts, wanted_rows
from kernelmean.samples.cluster import workers
from kernelmean.samples.cluster.clients import connect
from kernelmean.samples.cluster.remote import RemoteParts, results
from kernelmean.samples.files import BatchSource

PART = 1 << 26  # numbers of an array from here in one part: 512 MiB
HERE = 1 << 22  # numbers: a collection of at most 32 MiB comes here, where it needs no rounds
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1TB"
}  # arrays from here are meant to travel


def take_in(
    X: Any, engine: Engine, name: str, columns: int | None = None
) -> ClusterSample | Points:
    """A Dask collection or an array, checked where it is: its parts become float64 in one piece
    each.
    """
    client = connect(engine)
    blocks, d = (
        _partitions(X, name, columns)
        if _checks.is_collection(X)
        else _pieces(X, client, name, columns)
    )
    with dask.config.set(QUIET):
        parts = client.compute(
            [dask.delayed(workers.loaded)(block, name, d, engine.local) for block in blocks]
        )
        sizes = np.array(
            results(client, client.map(workers.size, parts, pure=False)), dtype=np.intp
        )
    live = np.flatnonzero(sizes)
    _checks.table_shape((int(sizes.sum()), d), name)
    if sizes.sum() * d <= HERE:
        return np.concatenate(
            results(client, client.map(workers.rows, [parts[i] for i in live], pure=False))
        )
    return ClusterSample(client, engine, tuple(parts[i] for i in live), sizes[live], d)


def _partitions(X: Any, name: str, columns: int | None) -> tuple[list[Any], int]:
    """The partitions of a Dask collection, and the number of its columns."""
    if (
        not isinstance(X, Delayed) and hasattr(X, "columns") and X.ndim == 2
    ):  # what Dask delays has every attribute
        _numeric_columns(X, name)
        _checks.table_shape((1, len(X.columns)), name, columns)
        return list(X.to_delayed()), len(X.columns)
    if not isinstance(X, da.Array):
        raise TypeError(
            f"{name} is a Dask {type(X).__name__}, but an array or a frame of numbers is needed."
        )
    _checks.table_shape([1 if np.isnan(n) else int(n) for n in X.shape], name, columns)
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds values of type {X.dtype}, but real numbers are needed.")
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return list(rows.to_delayed().ravel()), int(X.shape[1])


def _numeric_columns(X: Any, name: str) -> None:
    for column, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "biuf":
            raise TypeError(
                f"{name} has a column {column!r} of type {kind}, but real numbers are needed: "
                "drop it, or encode it as numbers."
            )


def _pieces(X: Any, client: Any, name: str, columns: int | None) -> tuple[list[Any], int]:
    """An array from here, cut for the workers; a source of batches is read here, batch by batch."""
    if not isinstance(X, np.ndarray) and _checks.is_streamed(X):
        source = BatchSource(X)
        return list(source.read(max(1, PART // source.dimension), None)), source.dimension
    checked = _checks.points(X, name, columns)
    count = max(len(client.nthreads()), 1, -(-checked.size // PART))
    return list(np.array_split(checked, min(count, len(checked)))), int(checked.shape[1])


@dataclass(frozen=True, eq=False)
class ClusterSample:
    """(n, d) numbers on workers; each part is a future that the scheduler can make again where a
    worker is lost.
    """

    client: Any
    engine: Engine
    futures: tuple[Any, ...]
    sizes: IntVector
    dimension: int

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return int(self.sizes.sum()), self.dimension

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Points:
        """A few rows; (d,) for a single number."""
        wanted = wanted_rows(rows, len(self))
        begins = starts(self.sizes)
        where = divided(wanted, begins)
        own = [
            None if w is None else (wanted[w] - begin,)
            for w, begin in zip(where, begins[:-1], strict=True)
        ]
        found = np.empty((len(wanted), self.dimension))
        for w, rows_there in zip(where, self.parts(None, None).each("rows", own=own), strict=True):
            if w is not None:
                found[w] = rows_there
        return found[0] if np.ndim(rows) == 0 and not isinstance(rows, slice) else found

    def keep(self, rows: IntVector) -> ClusterSample:
        """The table of these rows."""
        cuts = np.searchsorted(rows, starts(self.sizes))
        begins = starts(self.sizes)
        sizes = np.diff(cuts).astype(np.intp)
        live = np.flatnonzero(sizes)
        local = [rows[cuts[i] : cuts[i + 1]] - begins[i] for i in live]
        return self._like(workers.taken, live, local, sizes[live])

    def together(self, others: Sequence[ClusterSample]) -> ClusterSample:
        """The parts of several tables, one after another."""
        tables = [self, *others]
        futures = tuple(future for table in tables for future in table.futures)
        return replace(
            self, futures=futures, sizes=np.concatenate([table.sizes for table in tables])
        )

    def mapped(self, matrix: Matrix, origin: Vector) -> ClusterSample:
        """A(x − origin) for every row."""
        everyone = np.arange(len(self.futures))
        return self._like(workers.mapped, everyone, [matrix] * len(everyone), self.sizes, origin)

    def parts(self, weights: Vector | None, local: Any) -> RemoteParts:
        """The parts with their weights, each in a point cloud of its worker."""
        if weights is None:
            return RemoteParts(self.client, self.futures, self.sizes, self.dimension)
        cut = np.split(weights, starts(self.sizes)[1:-1])
        table = self._like(workers.weighted, np.arange(len(cut)), cut, self.sizes)
        return RemoteParts(self.client, table.futures, self.sizes, self.dimension)

    def over(self, function: Callable[[Points], Any]) -> Any:
        """function of all rows, end to end, on this machine."""
        return np.concatenate(self.parts(None, None).each("apply", function))

    def _like(
        self,
        function: Callable[..., Any],
        which: IntVector,
        own: Sequence[Any],
        sizes: IntVector,
        *same: Any,
    ) -> ClusterSample:
        with dask.config.set(QUIET):
            made = [
                self.client.submit(function, self.futures[i], mine, *same, pure=False)
                for i, mine in zip(which, own, strict=True)
            ]
        return replace(self, futures=tuple(made), sizes=sizes)


def queries(X: Any, name: str, columns: int | None = None) -> ClusterQueries:
    """A Dask collection to evaluate at; nothing is computed yet."""
    _, d = _partitions(X, name, columns)
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    return ClusterQueries(rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows, name, d)


@dataclass(frozen=True, eq=False)
class ClusterQueries:
    """(q, d) places on a cluster; what is computed of them is a Dask array."""

    rows: Any
    name: str
    dimension: int
    maps: tuple[tuple[Matrix, Vector], ...] = ()

    @property
    def shape(self) -> tuple[Any, int]:
        """(q, d); q may be unknown (NaN)."""
        return self.rows.shape[0], self.dimension

    def __len__(self) -> int:
        return len(self.rows)

    def mapped(self, matrix: Matrix, origin: Vector) -> ClusterQueries:
        """A(q − origin) for every row."""
        return replace(self, maps=(*self.maps, (matrix, origin)))

    def over(self, function: Callable[[Points], Any]) -> Any:
        """A Dask array of function(rows), in the chunks of the rows."""
        probe = function(np.zeros((1, self.dimension)))
        shape = probe.shape[1:]
        rows = self.rows.chunks[0]
        return da.map_blocks(
            workers.evaluated,
            self.rows,
            label=self.name,
            columns=self.dimension,
            maps=self.maps,
            function=function,
            dtype=probe.dtype,
            chunks=(rows, *((size,) for size in shape)),
            **({"drop_axis": 1} if not shape else {}),
            meta=np.empty((0,) * (1 + len(shape)), probe.dtype),
        )
