"""Samples in files, larger than memory: batches are read one after another, and 8 bytes a point are
kept.

Every question is one pass over the file. Between passes only the squared distances of a traversal
stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine
from kernelmean.engines import arrays as sample
from kernelmean.engines.parts.part import Part, TraversalState
from kernelmean.engines.parts.protocol import divided, starts, wanted_rows

BATCH = 1 << 22  # numbers: 32 MiB in float64


def take_in(X: Any, name: str, columns: int | None = None) -> FileSample:
    """A mapped array or a source of batches, checked in one pass: shape, type and finite numbers."""
    source: MappedArray | BatchSource = (
        MappedArray(X) if isinstance(X, np.ndarray) else BatchSource(X)
    )
    _checks.table_shape((1 if len(X) else 0, source.dimension), name, columns)
    step = max(1, BATCH // source.dimension)
    sizes = [
        len(_checks.points(batch, name)) for batch in source.read(step, None) if batch is not None
    ]
    return FileSample(source, step, np.array(sizes, dtype=np.intp))


@dataclass(frozen=True)
class MappedArray:
    """An array in a file; any rows can be read."""

    X: np.ndarray[Any, Any]

    @property
    def dimension(self) -> int:
        """Number of columns."""
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

    source: Any

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return int(self.source.shape[1])

    def read(self, step: int, needed: Sequence[bool] | None) -> Iterator[Points | None]:
        """Batches of ``step`` rows, up to the last that is needed."""
        last = (
            None
            if needed is None
            else max((i for i, wanted in enumerate(needed) if wanted), default=-1)
        )
        for i, batch in enumerate(self.source.batches(step)):
            if last is not None and i > last:
                return
            yield np.ascontiguousarray(batch, dtype=np.float64)

    def rows(self, indices: IntVector) -> Points | None:
        """None: rows are found by reading."""
        return None


@dataclass(frozen=True)
class FileSample:
    """(n, d) numbers in a file, in batches; some rows may be left out, and all mapped by A(x −
    origin) on the way in.
    """

    source: MappedArray | BatchSource
    step: int
    sizes: IntVector  # rows of each batch
    kept: IntVector | None = None  # ascending
    maps: tuple[tuple[Matrix, Vector], ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return int(self.sizes.sum()) if self.kept is None else len(self.kept), self.source.dimension

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Points:
        """A few rows; (d,) for a single number."""
        wanted = wanted_rows(rows, len(self))
        original = wanted if self.kept is None else self.kept[wanted]
        found = self.source.rows(original)
        found = self._found(original) if found is None else found
        return (
            self._mapped(found)[0]
            if np.ndim(rows) == 0 and not isinstance(rows, slice)
            else self._mapped(found)
        )

    def keep(self, rows: IntVector) -> FileSample:
        """The table of these rows."""
        return replace(self, kept=rows if self.kept is None else self.kept[rows])

    def together(self, others: Sequence[FileSample]) -> FileSample:
        """The rows of several tables of one source, in the order of the file."""
        tables = [self, *others]
        if any(table.source is not self.source for table in tables):
            raise ValueError(
                "samples from different files cannot be pooled; give scale and bandwidth as "
                "numbers."
            )
        rows = [np.arange(len(table)) if table.kept is None else table.kept for table in tables]
        return replace(self, kept=np.unique(np.concatenate(rows)))

    def mapped(self, matrix: Matrix, origin: Vector) -> FileSample:
        """A(x − origin) for every row."""
        return replace(self, maps=(*self.maps, (matrix, origin)))

    def parts(self, weights: Vector | None, local: Engine) -> FileParts:
        """The batches with their weights."""
        return FileParts(self, weights, local)

    def over(self, function: Callable[[Points], Any]) -> Any:
        """function(batch) for all batches, end to end."""
        return np.concatenate(
            [function(batch) for batch in self.batches() if batch is not None and len(batch)]
        )

    def batches(self, needed: Sequence[bool] | None = None) -> Iterator[Points | None]:
        """The batches as the point clouds see them; None in place of some that are not needed."""
        begins = starts(self.sizes)
        for i, batch in enumerate(self.source.read(self.step, needed)):
            if batch is None or self.kept is None:
                yield batch if batch is None else self._mapped(batch)
                continue
            low, high = np.searchsorted(self.kept, begins[i : i + 2])
            yield self._mapped(batch[self.kept[low:high] - begins[i]])

    def kept_sizes(self) -> IntVector:
        """Rows that are left of each batch."""
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
            X = sample.mapped(X, matrix, np.ravel(origin))
        return X


@dataclass
class FileParts:
    """Parts that are read anew for every question; of each, the distances of its traversals are
    kept.
    """

    table: FileSample
    weights: Vector | None
    local: Engine
    offered: int = 1 << 16  # a round is a pass over the file: more offers make fewer of them
    known: list[dict[str, TraversalState]] = field(init=False)

    def __post_init__(self) -> None:
        everything = self.table.kept_sizes()
        self._live = np.flatnonzero(everything)
        self._sizes = everything[self._live]
        self._begins = starts(self._sizes)
        self.known = [{} for _ in self._live]

    @property
    def sizes(self) -> IntVector:
        """Rows of each batch."""
        return self._sizes

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.table.shape[1]

    def each(
        self, question: str, *arguments: Any, own: Sequence[tuple[Any, ...] | None] | None = None
    ) -> list[Any]:
        """One pass over the batches that are asked."""
        answers: list[Any] = [None] * len(self._live)
        needed = np.zeros(len(self.table.sizes), dtype=bool)
        needed[self._live] = [own is None or own[i] is not None for i in range(len(self._live))]
        position = {int(batch): i for i, batch in enumerate(self._live)}
        for batch, X in enumerate(self.table.batches(needed.tolist())):
            if X is None or not needed[batch]:
                continue
            i = position[batch]
            part = Part(X, self._weights(i), self.local, self.known[i], lean=True)
            answers[i] = getattr(part, question)(*arguments, *(() if own is None else own[i] or ()))
        return answers

    def _weights(self, i: int) -> Vector | None:
        return None if self.weights is None else self.weights[self._begins[i] : self._begins[i + 1]]
