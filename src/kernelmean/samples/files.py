"""A sample in a file: read batch by batch, as often as it is asked.

Every question is one pass over the file. What is kept between passes is 8 bytes a point for each
traversal, and the centres; so n points need not fit memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import methodcaller
from typing import Any

import numpy as np

from kernelmean import _checks, engines
from kernelmean._types import Batches, IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud, Summary, arrays, parts
from kernelmean.engines.parts.part import Part, TraversalState
from kernelmean.engines.parts.part_index import PartIndex
from kernelmean.engines.parts.protocol import Question, divided, starts
from kernelmean.samples.protocol import Sample

BATCH_NUMBERS = 1 << 22  # numbers that are read at a time: 32 MiB in float64
OFFERED_POINTS = 1 << 16  # a round of a traversal is a pass: more offers make fewer rounds


@dataclass(frozen=True)
class MappedArray:
    """An array in a file that is mapped to memory; any rows can be read."""

    X: np.ndarray[Any, Any]

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    def read(self, step: int, needed: Sequence[bool] | None) -> Iterator[Points | None]:
        """Batches of ``step`` rows; None in place of those that are not needed."""
        for i, start in enumerate(range(0, len(self.X), step)):
            wanted = needed is None or needed[i]
            yield np.array(self.X[start : start + step], dtype=np.float64) if wanted else None

    def rows(self, indices: IntVector) -> Points | None:
        """Some rows, in the order asked for."""
        return np.asarray(np.asarray(self.X)[indices], dtype=np.float64)


@dataclass(frozen=True)
class BatchSource:
    """A source of batches, read from its beginning each time."""

    source: Batches

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.source.shape[1])

    def read(self, step: int, needed: Sequence[bool] | None) -> Iterator[Points | None]:
        """Batches of ``step`` rows, up to the last that is needed."""
        last = None
        if needed is not None:
            last = max((i for i, wanted in enumerate(needed) if wanted), default=-1)
        for i, batch in enumerate(self.source.batches(step)):
            if last is not None and i > last:
                return
            yield np.ascontiguousarray(batch, dtype=np.float64)

    def rows(self, indices: IntVector) -> Points | None:
        """None: rows are found by reading."""
        return None


@dataclass(frozen=True, eq=False)
class FileSample(Sample):
    """Numbers in a file, in batches.

    Some rows may be left out, and all are mapped by A(x − origin) on the way in.
    """

    source: MappedArray | BatchSource
    step: int  # rows of a batch
    sizes: IntVector  # rows of each batch
    kept: IntVector | None = None  # rows that are not left out, ascending; None for all
    maps: tuple[tuple[Matrix, Vector], ...] = ()
    resident = False

    @classmethod
    def check(cls, X: Any, name: str, columns: int | None = None) -> FileSample:
        """A mapped array or a source of batches, checked in one pass: shape, type, finite."""
        source: MappedArray | BatchSource
        source = MappedArray(X) if isinstance(X, np.ndarray) else BatchSource(X)
        _checks.table_shape((1 if len(X) else 0, source.dimension), name, columns)
        step = max(1, BATCH_NUMBERS // source.dimension)
        batches = source.read(step, None)
        sizes = [len(_checks.points(batch, name)) for batch in batches if batch is not None]
        return cls(source, step, np.array(sizes, dtype=np.intp))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of coordinates."""
        count = int(self.sizes.sum()) if self.kept is None else len(self.kept)
        return count, self.source.dimension

    def rows(self, indices: IntVector) -> Points:
        """Some of the points, in the order asked for."""
        original = indices if self.kept is None else self.kept[indices]
        found = self.source.rows(original)
        return self._mapped(self._found(original) if found is None else found)

    def restrict(self, rows: IntVector) -> FileSample:
        """The sample of these rows, which ascend."""
        return replace(self, kept=rows if self.kept is None else self.kept[rows])

    def map(self, matrix: Matrix, origin: Vector) -> FileSample:
        """A(x − origin) for every row, computed whenever it is read."""
        return replace(self, maps=(*self.maps, (matrix, origin)))

    def join(self, others: Sequence[FileSample]) -> FileSample:
        """The rows of several samples of one file, in the order of the file."""
        samples = [self, *others]
        if any(sample.source is not self.source for sample in samples):
            raise ValueError(
                "samples from different files cannot be pooled; give scale and bandwidth as "
                "numbers."
            )
        rows = [np.arange(len(s)) if s.kept is None else s.kept for s in samples]
        return replace(self, kept=np.unique(np.concatenate(rows)))

    def blocks(self) -> Iterator[Points]:
        """All rows, batch by batch."""
        return (batch for batch in self.batches() if batch is not None and len(batch))

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """``function`` of each batch, end to end."""
        return np.concatenate([function(batch) for batch in self.blocks()])

    def array(self) -> Points:
        """A TypeError: all points at once are what a sample in a file avoids."""
        raise TypeError(
            "this needs all points in memory, but they are in a file or on a cluster: use a "
            "sparse mean, or load them first."
        )

    def load(self, engine: Engine, weights: Vector | None = None) -> PointCloud:
        """The combiner of many parts: every question is a pass, each batch in the engine given."""
        return parts.PointCloud(PartIndex(FileParts(self, weights, engine)))

    def summary(self, weights: Vector | None = None) -> Summary:
        """Counts, moments and quantiles, by passes over the file."""
        return self.load(engines.open("naive"), weights).summary  # which asks no engine

    def require_finite(self, name: str) -> None:
        """Nothing: what is read is checked then."""

    def batches(self, needed: Sequence[bool] | None = None) -> Iterator[Points | None]:
        """The batches, restricted and mapped; None in place of some that are not needed."""
        begins = starts(self.sizes)
        for i, batch in enumerate(self.source.read(self.step, needed)):
            if batch is None or self.kept is None:
                yield batch if batch is None else self._mapped(batch)
                continue
            low, high = np.searchsorted(self.kept, begins[i : i + 2])
            yield self._mapped(batch[self.kept[low:high] - begins[i]])

    def kept_sizes(self) -> IntVector:
        """How many rows are left of each batch."""
        if self.kept is None:
            return self.sizes
        return np.diff(np.searchsorted(self.kept, starts(self.sizes))).astype(np.intp)

    def _found(self, rows: IntVector) -> Points:
        begins = starts(self.sizes)
        where = divided(rows, begins)
        found = np.empty((len(rows), self.source.dimension))
        for i, batch in enumerate(self.source.read(self.step, [w is not None for w in where])):
            if batch is not None and (w := where[i]) is not None:
                found[w] = batch[rows[w] - begins[i]]
        return found

    def _mapped(self, X: Points) -> Points:
        for matrix, origin in self.maps:
            X = arrays.mapped(X, matrix, np.ravel(origin))
        return X


@dataclass
class FileParts:
    """Parts that are read anew for every question; of each, the distances are kept."""

    sample: FileSample
    weights: Vector | None
    local: Engine
    offered: int = OFFERED_POINTS
    known: list[dict[str, TraversalState]] = field(init=False)

    def __post_init__(self) -> None:
        everything = self.sample.kept_sizes()
        self._live = np.flatnonzero(everything)
        self._sizes = everything[self._live]
        self._begins = starts(self._sizes)
        self.known = [{} for _ in self._live]

    @property
    def sizes(self) -> IntVector:
        """The number of rows of each batch."""
        return self._sizes

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.sample.dimension

    def each(
        self,
        question: Question,
        *arguments: Any,
        own: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> list[Any]:
        """One pass over the batches that are asked."""
        answers: list[Any] = [None] * len(self._live)
        needed = np.zeros(len(self.sample.sizes), dtype=bool)
        needed[self._live] = [own is None or own[i] is not None for i in range(len(self._live))]
        position = {int(batch): i for i, batch in enumerate(self._live)}
        for batch, X in enumerate(self.sample.batches(needed.tolist())):
            if X is None or not needed[batch]:
                continue
            i = position[batch]
            part = Part(X, self._weights(i), self.local, self.known[i], lean=True)
            further = () if own is None else own[i] or ()
            answers[i] = methodcaller(question, *arguments, *further)(part)
        return answers

    def _weights(self, i: int) -> Vector | None:
        if self.weights is None:
            return None
        return self.weights[self._begins[i] : self._begins[i + 1]]
