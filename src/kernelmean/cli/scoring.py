"""Every row of a file by the log-density of a model, block by block, and what is seen of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelmean.cli import domains
from kernelmean.cli.kept_types import Kind, converted, kinds

if TYPE_CHECKING:
    import numpy as np

    from kernelmean._types import IntVector, Points, Vector
    from kernelmean.files import Source, TableWriter
    from kernelmean.mean.value import SparseKernelMean
    from kernelmean.pictures.scores import ScoreTally

Columns = dict[str, Any]

ALL = "all"  # of --keep
WRITTEN = ("row", "log_density", "flagged", "missing")  # columns of the table itself


class Scores(NamedTuple):
    """What is known once all rows are scored."""

    rows: int
    total: float  # Σ log f
    flagged: int  # rows below the threshold
    incomplete: int  # rows with missing values
    outside: int  # rows where the density is zero


class Kept:
    """Columns of the file that are written beside the scores, as they stand there.

    They are read in a pass of their own, at the pace of the scores. Where the table that is written
    has types, columns of a text file have those of :mod:`kernelmean.cli.kept_types`, which takes
    another pass.
    """

    def __init__(self, data: str, names: Sequence[str], *, typed: bool = False) -> None:
        from kernelmean.files.opening import open_reader

        self.names = list(names)
        reader = open_reader(data)
        self._kinds = kinds(reader, self.names) if typed and names else [Kind.word] * len(names)
        self._blocks = reader.blocks([], self.names) if names else iter(())
        self._held: list[tuple[int, list[Any]]] = []  # the first row of each block, and its columns
        self._end = 0

    def at(self, rows: IntVector) -> Columns:
        """The values in these rows, which rise from call to call."""
        import numpy as np

        if not self.names:
            return {}
        while self._end <= rows[-1]:
            block = next(self._blocks)
            told = [
                converted(_columns(values), kind)
                for values, kind in zip(block.labels, self._kinds, strict=True)
            ]
            self._held.append((self._end, told))
            self._end += len(block.labels[0])
        found = []
        for j in range(len(self.names)):
            parts = [
                columns[j][rows[(rows >= first) & (rows < first + len(columns[j]))] - first]
                for first, columns in self._held
            ]
            found.append(np.concatenate([part for part in parts if len(part)]))
        self._held = [kept for kept in self._held if kept[0] + len(kept[1][0]) > rows[-1]]
        return dict(zip(self.names, found, strict=True))


def _columns(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text as objects, so that all blocks are of one type."""
    return values.astype(object) if values.dtype.kind in "US" else values


def kept_names(keep: str | None, data: str) -> list[str]:
    """The columns that --keep names; a ValueError where they are none of the file's."""
    import csv

    from kernelmean.files.opening import open_reader

    if keep is None:
        return []
    reader = open_reader(data)
    known = [*reader.names, *reader.extras]
    listed = [name.strip() for name in next(csv.reader([keep], skipinitialspace=True), [])]
    names = known if listed == [ALL] and ALL not in known else listed
    for name in names:
        if name not in known:
            raise ValueError(
                f"--keep: {data} has no column {name!r}; its columns are "
                f"{', '.join(map(repr, known))}."
            )
        if name in WRITTEN:
            raise ValueError(
                f"--keep: the scores have a column {name!r} of their own: leave this one out, or "
                "rename it in the file."
            )
    if len(set(names)) < len(names):
        raise ValueError("--keep names a column twice.")
    return names


def stream(
    mean: SparseKernelMean,
    source: Source,
    cutoff: float | None,
    kept: Kept,
    write: TableWriter,
    seen: ScoreTally | None,
) -> Scores:
    """Score all rows, with one batch in memory at a time; each is written and looked at."""
    from kernelmean import _progress

    found = Scores(0, 0.0, 0, 0, 0)
    with _progress.share("scoring") as progress:
        for rows, points, columns, done in _batches(mean, source, cutoff):
            beside = kept.at(rows)
            write({"row": columns["row"]} | beside | columns)
            if seen is not None:
                seen.add(points, columns["log_density"], rows, beside)
            found = _added(found, columns)
            progress.reach(done)
    return found


def _batches(
    mean: SparseKernelMean, source: Source, cutoff: float | None
) -> Iterator[tuple[IntVector, Points, Columns, float]]:
    import numpy as np

    for batch in source.numbered():
        missing = np.isnan(batch.points).sum(axis=1)  # none, unless they are asked for
        scores = _scored(mean, batch.points, bool(missing.any()))
        columns: Columns = {"row": batch.rows, "log_density": scores}
        if cutoff is not None:
            columns["flagged"] = scores < cutoff
        if source.keep_na:
            columns["missing"] = missing
        yield batch.rows, batch.points, columns, batch.done


def _added(found: Scores, columns: Columns) -> Scores:
    import numpy as np

    scores = columns["log_density"]
    return Scores(
        found.rows + len(scores),
        found.total + float(scores.sum()),
        found.flagged + int(np.sum(columns.get("flagged", 0))),
        found.incomplete + int(np.count_nonzero(columns.get("missing", 0))),
        found.outside + int(np.count_nonzero(scores == -np.inf)),
    )


def _scored(mean: SparseKernelMean, points: Points, incomplete: bool) -> Vector:
    """The log-density of rows, or of the columns that they have."""
    if domains.is_on_domain(mean):
        return _scored_on_domain(mean, points, incomplete)
    return mean.log(points, missing="marginal") if incomplete else mean.log(points)


def _scored_on_domain(mean: Any, points: Points, incomplete: bool) -> Vector:
    """The same of coded rows: −∞ outside, and for a category that the model has not seen."""
    import numpy as np

    from kernelmean.domains import tables

    found: Vector
    if not incomplete:
        found = mean.log_coded(points)
        return found
    rows = points.astype(object)
    unknown = np.zeros(len(points), dtype=bool)
    for t, levels in domains.levels_of(mean).items():
        rows[:, t] = tables.decoded(points[:, t], levels)
        unknown |= points[:, t] == tables.UNKNOWN
    found = mean.log(rows, missing="marginal")
    return np.where(unknown, -np.inf, found)
