"""``kernelmean score``: the log-density of every row of a file, however large."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results

if TYPE_CHECKING:
    from kernelmean.files import Source, TableWriter
    from kernelmean.mean.value import SparseKernelMean


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


class Scores(NamedTuple):
    """What is known once all rows are scored."""

    rows: int
    total: float  # Σ log f
    flagged: int  # rows below the threshold


def command(
    model: Model,
    data: o.Data,
    output: Output = None,
    threshold: Threshold = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Log-density of every row of a file, however large.

    The columns of the model are looked up by name, and its transform is applied. Written are the
    row number (from 0), the log-density, and with --threshold whether the row is flagged.

    \b
    Examples:
      kernelmean score model.km data.parquet -o scores.parquet
      kernelmean score model.km new.csv -o scores.csv --threshold 0.01
    """
    from kernelmean.mean.loading import load_mean

    o.ready_for_table(output)
    o.keep_apart([output], [data, str(model)])
    mean = load_mean(model)
    cutoff = None if threshold is None else _cutoff(mean, model, threshold)
    if not mean.is_density:
        raise ValueError(
            f"{model} holds a signed kernel mean, which has no log-density; fit without --signed."
        )
    source = matching(mean, model, data, columns, transform, drop_na)
    with results.working(quiet), _writing(output) as write:
        found = _stream(mean, source, cutoff, write)
    facts = {"file": data, "rows": found.rows, "mean_log_density": found.total / found.rows}
    flagged = {} if cutoff is None else _flagged(found, threshold, cutoff)
    written = {} if output is None else {"scores": str(output)}
    results.show(facts | flagged | written, as_json)


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
    from kernelmean import _progress

    found = Scores(0, 0.0, 0)
    with _progress.share("scoring") as progress:
        for batch in source.numbered():
            scores = mean.log(batch.points)
            columns: dict[str, Any] = {"row": batch.rows, "log_density": scores}
            flagged = 0
            if cutoff is not None:
                columns["flagged"] = scores < cutoff
                flagged = int(columns["flagged"].sum())
            write(columns)
            total = found.total + float(scores.sum())
            found = Scores(found.rows + len(scores), total, found.flagged + flagged)
            progress.reach(batch.done)
    return found


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
    from kernelmean.files import column_names, read
    from kernelmean.files.transforms import parse

    if (
        transform is not None
        and mean.transform is not None
        and parse(transform) != parse(mean.transform)
    ):
        raise ValueError(
            f"{model} was fitted after {mean.transform}, so --transform {transform} does not fit "
            "it."
        )
    wanted: Any = columns
    if columns is None and mean.columns is not None and column_names(data) is not None:
        wanted = list(mean.columns)
    source = read(data, columns=wanted, transform=transform or mean.transform, drop_na=drop_na)
    if len(source.wanted) != mean.dimension:
        raise ValueError(
            f"{data} has {len(source.wanted)} columns, but {model} was fitted on "
            f"{mean.dimension}; use --columns."
        )
    return source
