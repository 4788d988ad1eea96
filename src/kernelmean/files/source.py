"""A file as a sample: the same rows in the same order, as often as they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks, _progress
from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Points, Vector
from kernelmean.files.reader import ArrayReader, Labels, Reader, refuse_beyond_memory
from kernelmean.files.transforms import Transform

Mask = np.ndarray[Any, np.dtype[np.bool_]]  # (m,)

BATCH_NUMBERS = 1 << 21  # by default: 16 MiB
MIN_BATCH_ROWS = 1024  # however wide they are
MAX_TEXT_CHARACTERS = 1 << 24  # of labels as an array of text, however unequal their lengths
# Bytes of a table in memory for each byte of its file, at most: compressed, or in few bits.
MAX_EXPANSION = 16


class Batch(NamedTuple):
    """Some rows, and what belongs to them."""

    rows: IntVector  # (m,) their places in the file, from 0
    points: Points  # (m, d)
    weights: Vector | None  # (m,)
    labels: Labels | None  # (m,)
    done: float  # share of the file that has been read


class Table(NamedTuple):
    """All rows at once."""

    points: Points  # (n, d)
    weights: Vector | None  # (n,)
    labels: Labels | None  # (n,)


@dataclass(frozen=True, eq=False)
class Source:
    """Rows of a file as finite float64 points, read anew in every pass; made by :func:`read`.

    Every fit takes it in the place of an array. ``np.asarray`` reads all of it; :meth:`batches`
    keeps one block in memory.

    Attributes
    ----------
    path : str
        The file.
    reader : Reader
        How it is read.
    wanted : list of str
        The columns of the file that are coordinates.
    columns : list of str or None
        Their names, where the file has names.
    transform : Transform or None
        What is done to every coordinate.
    weight : str or None
        The column of weights.
    label : str or None
        The column of labels.
    given_labels : ndarray of shape (n,) or None
        Labels from another file.
    drop_na : bool
        Whether rows with a value that is missing or not finite are left out.
    keep_na : bool
        Whether rows with missing values are kept, with NaN for them; infinite values are refused
        all the same.
    levels : mapping of str to tuple
        The values of the coordinates that hold categories, by name. Such a coordinate is the place
        of its value among these, from 0; −1 where it is none of them.

    See Also
    --------
    read : Makes it.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, kernelmean as km
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(pathlib.Path(folder) / "points.npy", np.zeros((5, 2)))
    ...     source = km.read(pathlib.Path(folder) / "points.npy")
    ...     source.shape, [len(block) for block in source.batches(3)]
    ((5, 2), [3, 2])
    """

    path: str
    reader: Reader
    wanted: list[str]  # columns of the file that are coordinates
    columns: list[str] | None  # their names, where the file has names
    transform: Transform | None = None
    weight: str | None = None  # the column of weights
    label: str | None = None  # the column of labels
    given_labels: Labels | None = None  # labels from another file
    drop_na: bool = False
    keep_na: bool = False
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"km.read({self.path!r}), {len(self.wanted)} columns"

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of coordinates.

        Returns
        -------
        tuple of int
            (n, d). It takes a pass over the file where that does not say how many rows there are,
            or where rows are dropped.
        """
        return self._rows, len(self.wanted)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values, which is always float64."""
        return np.dtype(np.float64)

    @property
    def ndim(self) -> int:
        """The number of axes, which is always 2."""
        return 2

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[Points]:
        return self.batches()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Points:
        points = self.load().points
        return points if dtype is None else points.astype(dtype, copy=False)

    @property
    def weights(self) -> Vector | None:
        """The column of weights.

        Returns
        -------
        ndarray of shape (n,) or None
            One weight per row, read in a pass; None where no column was named.
        """
        if self.weight is None:
            return None
        return np.concatenate(
            [batch.weights for batch in self._kept() if batch.weights is not None]
        )

    @property
    def labels(self) -> Labels | None:
        """The labels of the rows.

        Returns
        -------
        ndarray of shape (n,) or None
            One label per row, read in a pass; None where no column or file was named.
        """
        return None if self.label is None and self.given_labels is None else self.load().labels

    @lazy
    def missing(self) -> int:
        """How many rows have a value that is missing or not finite; it takes a pass.

        With ``keep_na`` only those that are kept out of the file by values that are not finite.
        """
        return sum(int(np.count_nonzero(~kept)) for _, kept in self._pieces())

    def batches(self, rows: int | None = None) -> Iterator[Points]:
        """The points in blocks of rows, in the order of the file.

        Parameters
        ----------
        rows : int or None, default=None
            The number of rows in a block; by default as many as take about 16 MiB.

        Returns
        -------
        iterator of ndarray of shape (m, d)
            The blocks, of which the last may be shorter. Memory for one block at a time where the
            format is streamed.

        See Also
        --------
        numbered : The same with the places, weights and labels of the rows.
        load : All rows at once.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(pathlib.Path(folder) / "points.npy", np.zeros((5, 2)))
        ...     source = km.read(pathlib.Path(folder) / "points.npy")
        ...     [len(block) for block in source.batches(3)]
        [3, 2]
        """
        return (batch.points for batch in self.numbered(rows))

    def numbered(self, rows: int | None = None) -> Iterator[Batch]:
        """The points in blocks, with their places in the file, their weights and their labels.

        Parameters
        ----------
        rows : int or None, default=None
            The number of rows in a block; by default as many as take about 16 MiB.

        Returns
        -------
        iterator of Batch
            ``rows``, ``points``, ``weights``, ``labels``, and ``done``, the share of the file read
            so far.

        See Also
        --------
        batches : The points alone.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(pathlib.Path(folder) / "points.npy", np.zeros((5, 2)))
        ...     source = km.read(pathlib.Path(folder) / "points.npy")
        ...     [batch.rows.tolist() for batch in source.numbered(3)]
        [[0, 1, 2], [3, 4]]
        """
        default = max(MIN_BATCH_ROWS, BATCH_NUMBERS // len(self.wanted))
        return _regrouped(self._kept(), default if rows is None else _checks.count(rows, "rows"))

    def load(self) -> Table:
        """Read all rows in one pass.

        Returns
        -------
        Table
            ``points`` of shape (n, d), ``weights`` and ``labels`` of shape (n,) or None. Memory
            O(n·d).

        Raises
        ------
        ValueError
            If that is more than the memory of this machine can hold.

        See Also
        --------
        batches : One block at a time.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(pathlib.Path(folder) / "points.npy", np.zeros((5, 2)))
        ...     source = km.read(pathlib.Path(folder) / "points.npy")
        ...     source.load().points.shape
        (5, 2)
        """
        batches = []
        for batch, held in self._gathered():
            refuse_beyond_memory(held, self.path)
            batches.append(batch)
        return _table(batches)

    def _gathered(self) -> Iterator[tuple[Batch, int]]:
        """The batches, and how many bytes they take so far."""
        held = 0
        with _progress.share(f"reading {self.path}") as progress:
            for batch in self._kept():
                held += batch.points.nbytes
                yield batch, held
                progress.reach(batch.done)

    def sample(self) -> tuple[Points | Source, Vector | None]:
        """What to fit, and its weights: all points where memory allows it, else this source.

        Returns
        -------
        points : ndarray of shape (n, d) or Source
            All points where they take a quarter of the free memory or less, else the source itself.
            Where some columns hold categories it is a source too, of what is then in memory, since
            points do not say what their codes mean.
        weights : ndarray of shape (n,) or None
            Their weights.

        See Also
        --------
        load : All rows, whatever they take.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(pathlib.Path(folder) / "points.npy", np.zeros((5, 2)))
        ...     source = km.read(pathlib.Path(folder) / "points.npy")
        ...     points, weights = source.sample()
        >>> points.shape, weights
        ((5, 2), None)
        """
        most = _bytes_on_disk(self.path) * MAX_EXPANSION // 8
        # Counting rows may take a pass, which a small file need not pay for.
        if not _checks.fits_in_memory(most) and _checks.is_streamed(self):
            return self, self.weights
        batches = []
        for batch, held in self._gathered():
            if not _checks.fits_in_memory(held // 8):  # a small file may hold a large table
                return self, self.weights
            batches.append(batch)
        points, weights, _ = _table(batches)
        return (self.holding(points) if self.levels else points), weights

    def holding(self, points: Points) -> Source:
        r"""The same file with its points in memory, under the names of their columns.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            The points, in the columns of this source.

        Returns
        -------
        Source
            A source of these points, which reads no file any more.

        See Also
        --------
        sample : All points, where memory holds them.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = pathlib.Path(folder) / "rows.csv"
        ...     _ = table.write_text("x,y\n1,2\n3,4\n")
        ...     source = km.read(table)
        ...     again = source.holding(np.ones((3, 2)))
        >>> again.columns
        ['x', 'y']
        """
        if self.columns is None:
            raise ValueError(f"the columns of {self.path} have no names.")
        reader = ArrayReader(points, self.columns)
        return Source(self.path, reader, self.columns, self.columns, levels=self.levels)

    @lazy
    def _rows(self) -> int:
        count = self.reader.count
        if count is None or self.drop_na:
            count = sum(len(batch.rows) for batch in self._kept())
        if count == 0:
            raise no_rows(self.path, self.drop_na)
        return count

    def _kept(self) -> Iterator[Batch]:
        """The rows that are whole; a ValueError where others may not be dropped."""
        some = False
        for batch, kept in self._pieces():
            some = some or bool(kept.any())
            if kept.all():
                yield batch
            elif self.drop_na:
                yield _selected(batch, kept)
            else:
                raise ValueError(self._about_missing())
        if not some:
            raise no_rows(self.path, self.drop_na)

    def _pieces(self) -> Iterator[tuple[Batch, Mask]]:
        """Blocks as the file has them, and which of their rows are whole."""
        columns = [*self.wanted, *([] if self.weight is None else [self.weight])]
        start = 0
        wanted = [] if self.label is None else [self.label]
        for numbers, values, done in self.reader.blocks(columns, wanted):
            rows = np.arange(start, start + len(numbers))
            start += len(numbers)
            points, whole = self._coordinates(numbers[:, : len(self.wanted)])
            weights = None if self.weight is None else numbers[:, -1]
            if weights is not None:
                whole &= np.isfinite(weights)
            labels = values[0] if values else None
            own = labels if self.given_labels is None else self._labels_at(rows)
            if own is not None:
                whole &= _present(own)
            yield Batch(rows, points, weights, own, done), whole
        if self.given_labels is not None:
            self._labels_at(np.arange(start), whole_file=True)

    def _coordinates(self, numbers: Points) -> tuple[Points, Mask]:
        """The transformed numbers, and which rows are whole, or lack values that may be missing."""
        points = numbers if self.transform is None else self._transformed(numbers, self.transform)
        usable = np.isfinite(points)
        if self.keep_na:
            usable |= np.isnan(numbers)  # not of the points: log makes NaN of numbers
        return points, np.asarray(usable.all(axis=1))

    def _transformed(self, numbers: Points, transform: Transform) -> Points:
        """The numbers after a transform, which codes of categories do not undergo."""
        if not self.levels:
            return transform(numbers)
        names = self.wanted if self.columns is None else self.columns
        plain = [j for j, name in enumerate(names) if name not in self.levels]
        found = np.array(numbers)
        found[:, plain] = transform(found[:, plain])
        return found

    def _labels_at(self, rows: IntVector, whole_file: bool = False) -> Labels:
        assert self.given_labels is not None
        if (len(rows) and rows[-1] >= len(self.given_labels)) or (
            whole_file and len(rows) != len(self.given_labels)
        ):
            raise ValueError(
                f"{self.path} needs one label per row, but there are {len(self.given_labels)} "
                "labels."
            )
        return self.given_labels[rows]

    def _about_missing(self) -> str:
        missing = "" if self.keep_na else "missing or "
        what = (
            f"{missing}infinite values"
            if self.transform is None
            else f"values that are {missing}not finite after {self.transform}"
        )
        rows = "1 row has" if self.missing == 1 else f"{self.missing} rows have"
        how = (
            "remove such rows, or leave such values empty, first."
            if self.keep_na
            else "leave them out by drop_na=True (--drop-na), or fill them in first."
        )
        return f"{self.path}: {rows} {what}; {how}"


def no_rows(path: str, drop_na: bool) -> ValueError:
    """A file that nothing can be learned from."""
    return ValueError(f"{path} has no rows{' without missing values' if drop_na else ''}.")


def _table(batches: list[Batch]) -> Table:
    points = np.concatenate([batch.points for batch in batches])
    weighted = [batch.weights for batch in batches if batch.weights is not None]
    labelled = [batch.labels for batch in batches if batch.labels is not None]
    weights = np.concatenate(weighted) if weighted else None
    return Table(points, weights, _natural(np.concatenate(labelled)) if labelled else None)


def _bytes_on_disk(path: str) -> int:
    """Of a file, or of the files of a folder."""
    place = Path(path)
    files = place.rglob("*") if place.is_dir() else [place]
    return sum(file.stat().st_size for file in files if file.is_file())


def column_values(reader: Reader, name: str) -> Labels:
    """One column of any kind, whole."""
    return _natural(
        np.concatenate([values for block in reader.blocks([], [name]) for values in block.labels])
    )


def _selected(batch: Batch, rows: Mask | slice) -> Batch:
    weights, labels = (
        None if part is None else part[rows] for part in (batch.weights, batch.labels)
    )
    return Batch(batch.rows[rows], batch.points[rows], weights, labels, batch.done)


def _regrouped(batches: Iterable[Batch], size: int) -> Iterator[Batch]:
    """The same rows in batches of equal size."""
    held: list[Batch] = []
    count = 0
    done = 0.0
    for batch in batches:
        held.append(batch)
        count = count + len(batch.rows)
        done = batch.done
        if count >= size:
            joined = _joined(held, done)
            full = count - count % size
            yield from (
                _selected(joined, slice(start, start + size)) for start in range(0, full, size)
            )
            held = [_selected(joined, slice(full, None))]
            count = count - full
    if count:
        yield _joined(held, done)


def _joined(batches: list[Batch], done: float) -> Batch:
    if len(batches) == 1:
        return batches[0]
    rows = np.concatenate([batch.rows for batch in batches])
    points = np.concatenate([batch.points for batch in batches])
    weights = [batch.weights for batch in batches if batch.weights is not None]
    labels = [batch.labels for batch in batches if batch.labels is not None]
    return Batch(
        rows,
        points,
        np.concatenate(weights) if weights else None,
        np.concatenate(labels) if labels else None,
        done,
    )


def _present(labels: Labels) -> Mask:
    """Neither None nor NaN."""
    if labels.dtype.kind == "O":
        return np.array([label is not None and label == label for label in labels], dtype=bool)  # noqa: PLR0124
    return labels == labels if labels.dtype.kind == "f" else np.ones(len(labels), dtype=bool)  # noqa: PLR0124


def _natural(labels: Labels) -> Labels:
    """Text as text, and as whole numbers where every label is one.

    That is all that a csv file says of its types.
    """
    if labels.dtype.kind != "O":
        return labels
    words = list(map(str, labels.tolist()))
    # Each would take the room of the longest.
    if len(words) * max(map(len, words), default=0) > max(
        MAX_TEXT_CHARACTERS, 4 * sum(map(len, set(words)))
    ):
        return np.array(words, dtype=object)
    text = np.array(words)
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
    return numbers if (numbers.astype(str) == text).all() else text
