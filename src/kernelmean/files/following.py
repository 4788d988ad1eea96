"""Rows as they arrive: text that grows, standard input, a folder that parquet files come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Points
from kernelmean.files import opening, sample_of, tables, text, transforms
from kernelmean.files.feeds import Feed, Patience, opened, standard_input
from kernelmean.files.lines import Lines
from kernelmean.files.reader import Reader
from kernelmean.files.source import Mask, Source, no_rows

STANDARD_INPUT = "-"
FOLDERS = (".parquet", ".pq")  # of formats, those that a folder may be named after
IGNORED = (".", "_")  # how names begin that are not meant for readers, or not yet
NO_ROWS = np.empty(0, dtype=np.int64)


class Arrived(NamedTuple):
    """Rows that have arrived since the batch before."""

    points: Points  # (m, d), where m may be 0; (0, 0) where nothing is known of the columns
    rows: IntVector  # (m,) their numbers in the stream, from 0; those left out have numbers too
    dropped: int  # rows left out so far, since a value was missing or not finite
    columns: list[str] | None  # names of the d coordinates, where the stream has names
    unfinished: str | None = None  # in the last batch: what had begun to arrive, and is no row


def arriving(
    where: str,
    *,
    columns: Sequence[str] | str | None = None,
    expected: Sequence[str] | None = None,
    transform: str | None = None,
    drop_na: bool = False,
    follow: bool = False,
    poll: float = 0.25,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Arrived]:
    """The rows of a file, of a folder of parquet files or of standard input (``"-"``), in order.

    ``columns``, ``transform`` and ``drop_na`` are those of ``read``; ``expected`` are columns to
    look up where none are asked for and the stream has names. With ``follow`` a text file or a
    folder does not end: it is looked at again every ``poll`` seconds, and waited for where it is
    not there yet. ``stop`` is asked while waiting, and ends the stream once nothing is left to
    read. Standard input and pipes end by themselves; what comes out of them is handed on at once.

    A line of text counts when it has ended. A last line without an end counts where no more can
    come and it holds the numbers that are wanted; else it is told in ``unfinished`` of a last batch
    without rows, as are files of a folder that were never complete. The rows before a fault come
    out before the ValueError, so that nothing depends on how rows are cut into batches.
    """
    transforms.parse(transform)  # before anything is waited for
    if follow and where != STANDARD_INPUT:
        _refuse_what_does_not_grow(Path(where))
    wish = _Wish(columns, expected, transform, bool(drop_na))
    return _batches(where, wish, Patience(poll, stop), follow)


class _Wish(NamedTuple):
    """Which numbers of a row are wanted."""

    columns: Sequence[str] | str | None
    expected: Sequence[str] | None
    transform: str | None
    drop_na: bool

    def source(self, reader: Reader, name: str) -> Source:
        """What is read of a file or a stream."""
        columns = self.expected if self.columns is None and reader.named else self.columns
        return sample_of(reader, name, columns, self.transform, drop_na=self.drop_na)


def _refuse_what_does_not_grow(path: Path) -> None:
    """A ValueError for files that are written once; what is not there yet is judged by its name."""
    ending = path.suffix.lower()
    known = {".npz", *text.COMPRESSIONS, *opening.ENDINGS}.difference(FOLDERS)
    if ending not in text.ENDINGS and (path.is_file() if path.exists() else ending in known):
        raise ValueError(
            f"{path} cannot be followed: rows arrive in text ({', '.join(text.ENDINGS)}), in a "
            "folder of parquet files, or on standard input (-)."
        )


def _batches(where: str, wish: _Wish, patience: Patience, follow: bool) -> Iterator[Arrived]:
    """Whatever it is, which may be known only once it is there."""
    path = Path(where)
    if where == STANDARD_INPUT:
        yield from _text(Path("standard input"), standard_input(patience), wish)
        return
    if follow and not _awaited(path, patience):
        return
    if path.is_dir():
        yield from _folder(path, wish, patience, follow)
    elif path.exists() and (path.suffix.lower() in text.ENDINGS or not path.is_file()):
        with opened(path, patience, follow) as feed:
            yield from _text(path, feed, wish)
    else:
        if follow:
            _refuse_what_does_not_grow(path)
        source = wish.source(opening.open_reader(where), where)
        tally = _Tally(source)
        yield from _blocks(source, tally)
        tally.refuse_nothing(where)


def _awaited(path: Path, patience: Patience) -> bool:
    """Whether it is there, in the end."""
    last = False
    while not path.exists():
        if last:
            return False
        last = patience.ends()
        if not last:
            time.sleep(patience.poll)
    return True


class _Tally:
    """Numbers for the rows of a stream, and how many of them are left out."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = 0
        self._dropped = 0

    def arrived(self, numbers: Points, place: Callable[[int], str]) -> Iterator[Arrived]:
        """The rows that are whole; a ValueError at the first that is not and may not be dropped.

        ``place`` says where a row is.
        """
        transform = self._source.transform
        points = numbers if transform is None else transform(numbers)
        finite = np.isfinite(points)
        kept: Mask = np.asarray(finite.all(axis=1))
        # The rows before this one come out; all of them, where it is the end.
        end = len(kept) if self._source.drop_na or kept.all() else int(kept.argmin())
        rows = self._count + np.flatnonzero(kept[:end])
        self._count += end
        self._dropped += end - len(rows)
        if end:
            yield self._batch(points[:end][kept[:end]], rows)
        if end < len(kept):
            column = self._source.wanted[int(finite[end].argmin())]
            raise self._missing(place(end), column)

    def nothing(self, unfinished: str) -> Arrived:
        """No rows, at the end, but the beginning of one."""
        return self._batch(np.empty((0, len(self._source.wanted))), NO_ROWS, unfinished)

    def refuse_nothing(self, name: str) -> None:
        """A ValueError where no row came out of what has ended by itself."""
        if self._count == self._dropped:
            raise no_rows(name, self._source.drop_na)

    def _batch(self, points: Points, rows: IntVector, unfinished: str | None = None) -> Arrived:
        return Arrived(points, rows, self._dropped, self._source.columns, unfinished)

    def _missing(self, place: str, column: str) -> ValueError:
        transform = self._source.transform
        what = (
            "a missing or infinite value"
            if transform is None
            else f"a value that is missing or not finite after {transform}"
        )
        return ValueError(
            f"{place}: column {column!r} holds {what}; leave such rows out by drop_na=True "
            "(--drop-na), or fill them in first."
        )


def _text(path: Path, feed: Feed, wish: _Wish) -> Iterator[Arrived]:
    """Batches as large as what arrives at once."""
    lines = Lines(path, feed)
    layout = lines.begin()
    if layout is None:
        if lines.unfinished is not None:
            yield _never_known(lines.unfinished)
        return
    source = wish.source(layout, str(path))
    tally = _Tally(source)
    for numbers, place in lines.pieces(layout, source.wanted):
        yield from tally.arrived(numbers, place)
    if lines.unfinished is not None:
        yield tally.nothing(lines.unfinished)
    elif not feed.stopped:
        tally.refuse_nothing(str(path))


def _never_known(unfinished: str) -> Arrived:
    """No rows and no columns, at the end, but the beginning of something."""
    return Arrived(np.empty((0, 0)), NO_ROWS, 0, None, unfinished)


def _blocks(source: Source, tally: _Tally) -> Iterator[Arrived]:
    """The rows of a file that is whole."""
    first = 0
    for numbers, _, _ in source.reader.blocks(source.wanted, ()):
        yield from tally.arrived(numbers, partial(_place, source.path, first))
        first += len(numbers)


def _place(path: str, first: int, row: int) -> str:
    return f"{path}, row {first + row} from 0"


def _folder(path: Path, wish: _Wish, patience: Patience, follow: bool) -> Iterator[Arrived]:
    """The files that are there, and with ``follow`` those that come."""
    files = _Files(path, follow)
    tally = None
    more = True
    while more:
        last = not follow or patience.ends()
        before = len(files.done)
        for reader in files.new():
            source = wish.source(reader, str(reader.path))
            tally = _Tally(source) if tally is None else tally
            yield from _blocks(source, tally)
        some = len(files.done) > before
        more = follow and (some or not last)
        if more and not some:
            time.sleep(patience.poll)
    if files.late:
        late = ", ".join(files.late)
        yield _never_known(late) if tally is None else tally.nothing(late)
    elif tally is not None and not follow:
        tally.refuse_nothing(str(path))


class _Files:
    """The parquet files of a folder, each once, in the order of their names among the new ones."""

    def __init__(self, folder: Path, follow: bool) -> None:
        self.done: dict[Path, list[str]] = {}  # those that were complete, and their columns
        self.late: list[str] = []  # those that were not, at the last look
        self._folder = folder
        self._follow = follow

    def new(self) -> Iterator[tables.ParquetReader]:
        """Those that are complete since the last look; with ``follow`` others may become so."""
        self.late = []
        found = list(filter(self._is_meant, tables.files_within(self._folder)))
        if not found and not self._follow:
            raise tables.without_files(self._folder)
        for file in (file for file in found if file not in self.done):
            try:
                reader = tables.read_parquet(file)
            except (ValueError, FileNotFoundError):  # without its footer yet, or renamed since
                if not self._follow:
                    raise
                self.late.append(str(file.relative_to(self._folder)))
                continue
            self.done[file] = reader.names
            first = next(iter(self.done))
            if reader.names != self.done[first]:
                raise tables.unlike(self._folder, first, file)
            yield reader

    def _is_meant(self, file: Path) -> bool:
        parts = file.relative_to(self._folder).parts
        return file.is_file() and not any(
            part.startswith(IGNORED) or part.endswith(".tmp") for part in parts
        )
