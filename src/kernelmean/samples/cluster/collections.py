"""Samples on the workers of a cluster: Dask arrays and frames, or arrays from here, in parts that
stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed

from kernelmean import _checks, engines
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import PointCloud, Summary, parts
from kernelmean.engines.cluster import Engine
from kernelmean.engines.parts.part_index import PartIndex
from kernelmean.engines.parts.protocol import starts
from kernelmean.samples.cluster import workers
from kernelmean.samples.cluster.clients import connect
from kernelmean.samples.cluster.remote import RemoteParts, results
from kernelmean.samples.files import BatchSource
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import Queries, Sample

PART = 1 << 26  # numbers of an array from here in one part: 512 MiB
HERE = 1 << 22  # numbers: a collection of at most 32 MiB comes here, where it needs no rounds
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1TB"
}  # arrays from here are meant to travel


def check(X: Any, engine: Engine, name: str, columns: int | None = None) -> Sample:
    """A Dask collection or an array, checked where it is: its parts become float64 in one piece
    each. A small one comes here, where it needs no rounds.
    """
    client = connect(engine)
    blocks, d = (
        _partitions(X, name, columns)
        if _checks.is_collection(X)
        else _pieces(X, client, name, columns)
    )
    with dask.config.set(QUIET):
        made = client.compute(
            [dask.delayed(workers.loaded)(block, name, d, engine.local) for block in blocks]
        )
        sizes = np.array(results(client, client.map(workers.size, made, pure=False)), dtype=np.intp)
    live = np.flatnonzero(sizes)
    _checks.table_shape((int(sizes.sum()), d), name)
    if sizes.sum() * d <= HERE:
        gathered = results(client, client.map(workers.rows, [made[i] for i in live], pure=False))
        return ArraySample(np.concatenate(gathered))
    return ClusterSample(client, engine, tuple(made[i] for i in live), sizes[live], d)


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
class ClusterSample(Sample):
    """Numbers on workers.

    Each part is a future that the scheduler can make again where a worker is lost.
    """

    client: Any
    engine: Engine
    futures: tuple[Any, ...]
    sizes: IntVector  # rows of each part
    width: int  # coordinates
    resident = False

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of coordinates."""
        return int(self.sizes.sum()), self.width

    def rows(self, indices: IntVector) -> Points:
        """Some of the points, brought here in the order asked for."""
        return PartIndex(self.remote_parts()).rows(indices)

    def restrict(self, rows: IntVector) -> ClusterSample:
        """The sample of these rows, which ascend."""
        begins = starts(self.sizes)
        cuts = np.searchsorted(rows, begins)
        sizes = np.diff(cuts).astype(np.intp)
        live = np.flatnonzero(sizes)
        local = [rows[cuts[i] : cuts[i + 1]] - begins[i] for i in live]
        return self._like(workers.taken, live, local, sizes[live])

    def map(self, matrix: Matrix, origin: Vector) -> ClusterSample:
        """A(x − origin) for every row, on the workers."""
        everyone = np.arange(len(self.futures))
        return self._like(workers.mapped, everyone, [matrix] * len(everyone), self.sizes, origin)

    def join(self, others: Sequence[ClusterSample]) -> ClusterSample:
        """The parts of several samples, one after another."""
        samples = [self, *others]
        futures = tuple(future for sample in samples for future in sample.futures)
        sizes = np.concatenate([sample.sizes for sample in samples])
        return replace(self, futures=futures, sizes=sizes)

    def blocks(self) -> Iterator[Points]:
        """All rows, part by part, each brought here."""
        for i in range(len(self.futures)):
            own: list[tuple[()] | None] = [() if i == j else None for j in range(len(self.futures))]
            yield self.remote_parts().each("apply", np.asarray, own=own)[i]

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """``function`` of each part on its worker; the answers come here, end to end."""
        return np.concatenate(self.remote_parts().each("apply", function))

    def array(self) -> Points:
        """A TypeError: all points at once are what a cluster avoids."""
        raise TypeError(
            "this needs all points in memory, but they are in a file or on a cluster: use a "
            "sparse mean, or load them first."
        )

    def load(self, engine: engines.Engine, weights: Vector | None = None) -> PointCloud:
        """The combiner of many parts, each in a point cloud of its worker's own engine."""
        return parts.PointCloud(PartIndex(self.remote_parts(weights)))

    def summary(self, weights: Vector | None = None) -> Summary:
        """Counts, moments and quantiles, by questions to all workers."""
        return parts.PointCloud(PartIndex(self.remote_parts(weights))).summary

    def require_finite(self, name: str) -> None:
        """Nothing: the parts were checked when they were made."""

    def remote_parts(self, weights: Vector | None = None) -> RemoteParts:
        """The parts with their weights."""
        if weights is None:
            return RemoteParts(self.client, self.futures, self.sizes, self.width)
        cut = np.split(weights, starts(self.sizes)[1:-1])
        weighted = self._like(workers.weighted, np.arange(len(cut)), cut, self.sizes)
        return RemoteParts(self.client, weighted.futures, self.sizes, self.width)

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


def check_queries(X: Any, name: str, columns: int | None = None) -> ClusterQueries:
    """A Dask collection to evaluate at; nothing is computed yet."""
    _, d = _partitions(X, name, columns)
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    return ClusterQueries(rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows, name, d)


@dataclass(frozen=True, eq=False)
class ClusterQueries(Queries):
    """Places on a cluster; what is computed of them is a Dask array, made when asked for."""

    places: Any  # a Dask array
    name: str
    width: int
    maps: tuple[tuple[Matrix, Vector], ...] = ()

    @property
    def shape(self) -> tuple[Any, int]:
        """The number of places, which may be unknown (NaN), and of coordinates."""
        return self.places.shape[0], self.width

    def map(self, matrix: Matrix, origin: Vector) -> ClusterQueries:
        """A(q − origin) for every row."""
        return replace(self, maps=(*self.maps, (matrix, origin)))

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """A Dask array of ``function`` of the rows, in their chunks."""
        probe = function(np.zeros((1, self.width)))
        shape = probe.shape[1:]
        chunks = self.places.chunks[0]
        return da.map_blocks(
            workers.evaluated,
            self.places,
            label=self.name,
            columns=self.width,
            maps=self.maps,
            function=function,
            dtype=probe.dtype,
            chunks=(chunks, *((size,) for size in shape)),
            **({"drop_axis": 1} if not shape else {}),
            meta=np.empty((0,) * (1 + len(shape)), probe.dtype),
        )
