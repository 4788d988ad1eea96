"""``kernelmean score``: the log-density of every row of a file, however large."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernelmean.cli import domains, results
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean._types import Points, Vector
    from kernelmean.files import Source, TableWriter
    from kernelmean.mean.value import SparseKernelMean


class MissingValues(StrEnum):
    """What to do with rows that have missing values."""

    error = "error"
    marginal = "marginal"


Model = Annotated[Path, typer.Argument(metavar="MODEL.km", help="A density that fit has written.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="SCORES", help="parquet, feather, arrow, csv or tsv (also .gz)."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Flag rows below this quantile of the training density."),
]
Missing = Annotated[
    MissingValues,
    typer.Option(
        help="Rows with missing values are refused, or scored by the columns that they have."
    ),
]


class Scores(NamedTuple):
    """What is known once all rows are scored."""

    rows: int
    total: float  # Σ log f
    flagged: int  # rows below the threshold
    incomplete: int  # rows with missing values
    outside: int  # rows where the density is zero


def command(
    model: Model,
    data: o.Data,
    output: Output = None,
    threshold: Threshold = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    missing: Missing = MissingValues.error,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Log-density of every row of a file, however large.

    The columns of the model are looked up by name, its transform is applied, and its categories are
    found again. Written are the
    row number (from 0), the log-density, with --threshold whether the row is flagged, and with
    --missing marginal how many of its values are missing.

    \b
    Examples:
      kernelmean score model.km data.parquet -o scores.parquet
      kernelmean score model.km new.csv -o scores.csv --threshold 0.01
      kernelmean score model.km new.csv -o scores.csv --missing marginal
    """
    o.ready_for_table(output)
    o.keep_apart([output], [data, str(model)])
    mean = domains.load_either(model)
    cutoff = None if threshold is None else _cutoff(mean, model, threshold)
    if not mean.is_density:
        raise ValueError(
            f"{model} holds a signed kernel mean, which has no log-density; fit without --signed."
        )
    source = matching(mean, model, data, columns, transform, drop_na)
    if missing is MissingValues.marginal:
        _refuse_with_marginals(threshold, drop_na)
        source = replace(source, keep_na=True)
    with results.working(quiet), _writing(output) as write:
        found = _stream(mean, source, cutoff, write)
    facts = {"file": data, "rows": found.rows, "mean_log_density": found.total / found.rows}
    incomplete = {"incomplete_rows": found.incomplete} if source.keep_na else {}
    outside = {"rows_outside": found.outside} if domains.is_on_domain(mean) else {}
    flagged = {} if cutoff is None else _flagged(found, threshold, cutoff)
    written = {} if output is None else {"scores": str(output)}
    results.show(facts | incomplete | outside | flagged | written, as_json)


def _flagged(found: Scores, threshold: float | None, cutoff: float) -> dict[str, Any]:
    return {
        "threshold": threshold,
        "log_density_below": cutoff,
        "flagged": found.flagged,
        "flagged_share": found.flagged / found.rows,
    }


def _writing(output: Path | None) -> AbstractContextManager[TableWriter]:
    """Where the rows go; nowhere without a file."""
    from kernelmean.files import table_writer

    return nullcontext(lambda columns: None) if output is None else table_writer(output)


def _stream(
    mean: SparseKernelMean, source: Source, cutoff: float | None, write: TableWriter
) -> Scores:
    """Score all rows, with one batch in memory at a time."""
    import numpy as np

    from kernelmean import _progress

    found = Scores(0, 0.0, 0, 0, 0)
    with _progress.share("scoring") as progress:
        for batch in source.numbered():
            missing = np.isnan(batch.points).sum(axis=1)  # none, unless they are asked for
            scores = _scored(mean, batch.points, bool(missing.any()))
            columns: dict[str, Any] = {"row": batch.rows, "log_density": scores}
            if cutoff is not None:
                columns["flagged"] = scores < cutoff
            if source.keep_na:
                columns["missing"] = missing
            write(columns)
            found = Scores(
                found.rows + len(scores),
                found.total + float(scores.sum()),
                found.flagged + int(np.sum(columns.get("flagged", 0))),
                found.incomplete + int(np.count_nonzero(missing)),
                found.outside + int(np.count_nonzero(scores == -np.inf)),
            )
            progress.reach(batch.done)
    return found


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


def _refuse_with_marginals(threshold: float | None, drop_na: bool) -> None:
    """A ValueError for options that take whole rows."""
    if drop_na:
        raise ValueError("--drop-na leaves out the rows that --missing marginal is for.")
    if threshold is not None:
        raise ValueError(
            "--threshold is a log-density of whole rows, to which those of --missing marginal, "
            "of fewer columns, do not compare; use one of the two."
        )


def _cutoff(mean: SparseKernelMean, model: Path, level: float) -> float:
    """The quantile of the training points' log-density, which the model carries."""
    from kernelmean.density.quantiles import threshold

    if not 0.0 < level < 1.0:
        raise ValueError(f"--threshold must lie between 0 and 1, got {level:g}.")
    if mean.log_quantiles is None:
        raise ValueError(
            f"{model} carries no quantiles of its training density, so --threshold has no "
            "meaning; fit it anew."
        )
    return threshold(mean.log_quantiles, level)


def matching(
    mean: SparseKernelMean,
    model: Path,
    data: str,
    columns: str | None,
    transform: str | None,
    drop_na: bool,
) -> Source:
    """The file as the model wants it: its columns in its order, through its transform."""
    from kernelmean.files import column_names, coordinate_names, read

    _refuse_other_transform(mean, model, transform)
    wanted: Any = columns
    if columns is None and mean.columns is not None and column_names(data) is not None:
        wanted = list(mean.columns)
    names = coordinate_names(data, wanted)
    if len(names) != mean.dimension:
        raise ValueError(
            f"{data} has {len(names)} columns, but {model} was fitted on "
            f"{mean.dimension}; use --columns."
        )
    levels = {names[t]: levels for t, levels in domains.levels_of(mean).items()}
    return read(
        data,
        columns=wanted,
        transform=transform or mean.transform,
        drop_na=drop_na,
        categories=levels or None,
    )


def _refuse_other_transform(mean: SparseKernelMean, model: Path, transform: str | None) -> None:
    """A ValueError where a model was fitted after another transform, or with a domain."""
    from kernelmean.files.transforms import parse

    if domains.is_on_domain(mean) and parse(transform) is not None:
        raise ValueError(
            f"{model} was fitted with --domain on values as they are, so --transform {transform} "
            "does not fit it."
        )
    if (
        transform is not None
        and mean.transform is not None
        and parse(transform) != parse(mean.transform)
    ):
        raise ValueError(
            f"{model} was fitted after {mean.transform}, so --transform {transform} does not fit "
            "it."
        )
