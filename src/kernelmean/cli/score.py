"""``kernelmean score``: the log-density of every row of a file, however large."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, domains, results, scoring, streams
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean.cli.scoring import Scores
    from kernelmean.files import Source, TableWriter
    from kernelmean.mean.value import SparseKernelMean
    from kernelmean.pictures.scores import ScoreTally


class MissingValues(StrEnum):
    """What to do with rows that have missing values."""

    error = "error"
    marginal = "marginal"


Model = Annotated[
    Path, declare.Argument(metavar="MODEL.km", help="A density that fit has written.")
]
Output = Annotated[
    Path | None,
    declare.Option(
        "-o",
        "--output",
        metavar="SCORES",
        help="parquet, feather, arrow, jsonl, csv or tsv (also .gz); - is standard output.",
    ),
]
Keep = Annotated[
    str | None,
    declare.Option(
        metavar="A,B,...|all", help="Columns of DATA to write beside the scores, or all of them."
    ),
]
Threshold = Annotated[
    float | None,
    declare.Option(metavar="SHARE", help="Flag rows below this quantile of the training density."),
]
Missing = Annotated[
    MissingValues,
    declare.Option(
        help="Rows with missing values are refused, or scored by the columns that they have."
    ),
]


def command(
    model: Model,
    data: o.Data,
    output: Output = None,
    keep: Keep = None,
    threshold: Threshold = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    missing: Missing = MissingValues.error,
    form: streams.Format = streams.Form.csv,
    report: o.Report = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Log-density of every row of a file, however large.

    The columns of the model are looked up by name, its transform is applied, and its categories are
    found again. Written are the row number (from 0), the columns of --keep, the log-density, with
    --threshold whether the row is flagged, and with --missing marginal how many of its values are
    missing. DATA and -o may be -, standard input and output; then the facts go to standard error.

    \b
    Examples:
      kernelmean score model.km data.parquet -o scores.parquet
      kernelmean score model.km new.csv -o scores.csv --threshold 0.01 --report scores.html
      kernelmean score model.km data.csv -o scores.csv --keep w
      kernelmean score model.km new.csv -o - --keep all --format jsonl
      kernelmean score model.km new.csv -o scores.csv --missing marginal
    """
    o.ready_for_table(output)
    o.ready(report)
    o.keep_apart([output, report], [data, str(model)])
    mean = domains.load_either(model)
    cutoff = None if threshold is None else _cutoff(mean, model, threshold)
    if not mean.is_density:
        raise ValueError(
            f"{model} holds a signed kernel mean, which has no log-density; fit without --signed."
        )
    path = streams.given(data)
    source = matching(mean, model, path, columns, transform, drop_na)
    names = scoring.kept_names(keep, path)
    kept = scoring.Kept(path, names, typed=streams.has_types(output, form))
    if missing is MissingValues.marginal:
        _refuse_with_marginals(threshold, drop_na)
        source = replace(source, keep_na=True)
    seen = None if report is None else _tally(mean, source)
    with results.working(quiet), _writing(output, form) as write:
        found = scoring.stream(mean, source, cutoff, kept, write, seen)
    facts = {"file": streams.title(data), "rows": found.rows}
    facts |= {"mean_log_density": found.total / found.rows}
    incomplete = {"incomplete_rows": found.incomplete} if source.keep_na else {}
    outside = {"rows_outside": found.outside} if domains.is_on_domain(mean) else {}
    flagged = {} if cutoff is None else _flagged(found, threshold, cutoff)
    written = {} if output is None else {"scores": str(output)}
    settings = {"model": str(model), "file": streams.title(data)}
    if cutoff is not None:
        settings["threshold"] = f"{threshold:g}: a log-density below {cutoff:.4g}"
    paged = {}
    if seen is not None:
        judged = None if cutoff is None else found.flagged
        paged = _paged(report, seen, mean, settings, cutoff, judged)
    aside = streams.is_standard(output)
    results.show(facts | incomplete | outside | flagged | written | paged, as_json, aside=aside)


def _tally(mean: SparseKernelMean, source: Source) -> ScoreTally:
    """What the page is to show of the rows."""
    from kernelmean.pictures.density import column_names
    from kernelmean.pictures.scores import ScoreTally

    return ScoreTally(mean, column_names(mean, source.columns))


def _paged(
    report: Path | None,
    seen: ScoreTally,
    mean: SparseKernelMean,
    settings: dict[str, Any],
    cutoff: float | None,
    flagged: int | None,
) -> dict[str, str]:
    """Write the page, and name it."""
    from kernelmean.pictures.html.scores import page_of_scores

    page = page_of_scores(
        seen.view(),
        mean,
        cutoff=cutoff,
        flagged=flagged,
        settings=settings,
        command=results.command_line(),
    )
    return results.written(report, page)


def _flagged(found: Scores, threshold: float | None, cutoff: float) -> dict[str, Any]:
    return {
        "threshold": threshold,
        "log_density_below": cutoff,
        "flagged": found.flagged,
        "flagged_share": found.flagged / found.rows,
    }


def _writing(output: Path | None, form: streams.Form) -> AbstractContextManager[TableWriter]:
    """Where the rows go; nowhere without a file."""
    return nullcontext(lambda columns: None) if output is None else streams.table_to(output, form)


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
