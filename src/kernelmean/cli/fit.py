"""``kernelmean fit``: a file becomes a density, or a kernel mean, in a small file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernelmean.cli import clusters, results
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files import Source
    from kernelmean.mean.certificate import Certificate
    from kernelmean.mean.value import SparseKernelMean

LARGE_ERROR = 0.1  # relative, above which a note is due
MAX_SPREAD_RATIO = 30.0  # of two columns, from which on one bandwidth suits only one of them

Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="MODEL.km", help="Where to write the model.")
]
Refine = Annotated[int, typer.Option(min=0, help="Steps that move the centres off the data.")]
Signed = Annotated[
    bool, typer.Option("--signed", help="The unconstrained kernel mean instead of a density.")
]
Weights = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of sample weights.")]
Measured = Annotated[bool, typer.Option(help="Measure the error against the full kernel mean.")]


class Task(NamedTuple):
    """What is fitted, and how: a sample in memory, in files or on a cluster, and the settings."""

    source: Source
    X: Any  # an array, the source, or a Dask frame
    weights: Any  # the same kind of thing, or None
    settings: dict[str, Any]


def command(
    data: o.Data,
    output: Output,
    bandwidth: o.Bandwidth = "scott",
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    k: o.Centers = "auto",
    error: o.Error = None,
    selection: o.SelectionName = o.Selection.auto,
    spread: o.SpreadName = o.Spread.auto,
    refine: Refine = 0,
    scale: o.ScaleName = o.Scale.none,
    signed: Signed = False,
    weights: Weights = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    certificate: Measured = True,
    report: o.Report = None,
    engine: o.Engine = o.EngineName.cpu,
    scheduler: clusters.Scheduler = None,
    workers: clusters.Workers = None,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Fit a density to a file, and save it as a small model.

    With --signed it is the unconstrained kernel mean. The model holds no data; it carries the
    quantiles of the training density, the names of the columns and the transform, for score. With
    --scheduler or --workers the fit runs on a Dask cluster, whose workers read a parquet file or
    folder themselves.

    \b
    Examples:
      kernelmean fit data.csv -o model.km
      kernelmean fit data.parquet -o model.km --columns x,y --bandwidth likelihood --report fit.html
      kernelmean fit cells.fcs -o cells.km --columns FSC-A,CD3 --transform arcsinh:150 --scale std
      kernelmean fit data.csv -o model.km --error 0.01
      kernelmean fit data.csv -o mean.km --signed --weights w --k 100
    """
    import kernelmean as km

    o.ready(output)
    o.ready_for_report(report)
    o.keep_apart([output, report], [data])
    chosen = o.settings(
        bandwidth=bandwidth, kernel=kernel, scale=scale, k=k, selection=selection, spread=spread,
        engine=engine, seed=seed,
    )  # fmt: skip
    more = {"refine": refine, "error": error}
    how: dict[str, Any] = {"columns": columns, "transform": transform, "drop_na": drop_na}
    with results.working(quiet), clusters.engine(scheduler, workers) as cluster:
        task = _task(km.read(data, weights=weights, **how), chosen | more, cluster)
        mean = _labelled(_quietly(_signed if signed else _density, task), task.source)
        rows = _some_rows(task)
        measured = _certificate(mean, task, seed) if certificate else None
        if report is not None:
            results.write_text(report, _page(mean, rows, measured, data, seed))
        mean.save(output)
    results.show(_facts(mean, task.source, measured, output), as_json)
    _note_few(mean, chosen["k"])
    _note_error(mean, task.settings)
    if scale is o.Scale.none:
        _note_units(rows, task.source.columns)


def _task(source: Source, settings: dict[str, Any], cluster: Any) -> Task:
    """The sample where it is to be fitted: on a cluster, where there is one."""
    if cluster is None:
        return Task(source, *source.sample(), settings)
    return Task(source, *clusters.sample(source), settings | {"engine": cluster})


def _quietly(fit: Callable[[Task], SparseKernelMean], task: Task) -> SparseKernelMean:
    """The mean; what a fit would warn of is noted after the facts, in the words of options."""
    import kernelmean as km

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", km.FitWarning)
        return fit(task)


def _note_error(mean: SparseKernelMean, settings: dict[str, Any]) -> None:
    """A word where the number of centres was open and leaves a large error."""
    found = mean.estimated_error
    if found is None or not isinstance(settings["k"], str):
        return
    if settings["error"] is not None and mean.stop_reason == "k_max":
        results.note(
            f"--error {settings['error']:g} was not reached: {mean.k} centres, the most that "
            f"memory allows, leave an estimated relative error of {found:.2g}."
        )
    elif settings["error"] is None and found > LARGE_ERROR:
        results.note(
            f"{mean.k} centres leave an estimated relative error of {found:.2g}; "
            f"--error {LARGE_ERROR:g} takes as many as that needs."
        )


def _density(task: Task) -> SparseKernelMean:
    import kernelmean as km

    fitted = km.SparseKDE(**task.settings).fit(task.X, sample_weight=task.weights).mean_
    assert isinstance(fitted, km.SparseKernelMean)
    return fitted


def _signed(task: Task) -> SparseKernelMean:
    import kernelmean as km

    return km.sparse_kernel_mean(task.X, sample_weight=task.weights, **task.settings)


def _certificate(mean: SparseKernelMean, task: Task, seed: int) -> Certificate:
    return mean.certificate(task.X, sample_weight=task.weights, random_state=seed)


def _page(
    mean: SparseKernelMean, rows: Points, measured: Certificate | None, data: str, seed: int
) -> str:
    from kernelmean.pictures.html import fit_page

    settings = {"file": data, "transform": mean.transform or "none", "seed": seed}
    return fit_page(
        mean, rows, certificate=measured, settings=settings, command=results.command_line()
    )


def _some_rows(task: Task) -> Points:
    """Rows that count, enough for units and for the ranges of pictures."""
    import numpy as np

    if isinstance(task.X, np.ndarray):
        found: Points = task.X if task.weights is None else task.X[task.weights > 0]
        return found
    parts = (
        batch.points if batch.weights is None else batch.points[batch.weights > 0]
        for batch in task.source.numbered()
    )
    return next(rows for rows in parts if len(rows))


def _note_units(X: Points, names: list[str] | None) -> None:
    """A word where columns have units so different that one of them decides alone; constant ones do
    not count.
    """
    if names is None:
        return
    varied = X.max(axis=0) > X.min(axis=0)  # rounding gives constant columns a spread
    spreads = {
        name: float(spread)
        for name, spread, counts in zip(names, X.std(axis=0), varied, strict=True)
        if counts
    }
    least = min(spreads, key=spreads.__getitem__, default="")
    most = max(spreads, key=spreads.__getitem__, default="")
    if spreads and spreads[most] > MAX_SPREAD_RATIO * spreads[least]:
        results.note(
            f"column {most!r} spreads {spreads[most] / spreads[least]:.0f} times as far as "
            f"{least!r}, and all columns share one "
            "bandwidth; --scale std makes them alike."
        )


def _note_few(mean: SparseKernelMean, k: int | str) -> None:
    """A word where there are fewer distinct points than centres asked for."""
    if mean.stop_reason == "distinct" and not isinstance(k, str) and mean.k < k:
        results.note(
            f"--k {k} asks for more centres than there are distinct points: each of these "
            f"{mean.k} is one."
        )


def _labelled(mean: SparseKernelMean, source: Source) -> SparseKernelMean:
    """With what a later file must be treated by: the names of the columns and the transform."""
    names = None if source.columns is None else tuple(source.columns)
    return replace(
        mean, columns=names, transform=None if source.transform is None else str(source.transform)
    )


def _facts(
    mean: SparseKernelMean, source: Source, certificate: Certificate | None, output: Path
) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    if certificate is not None:
        measured = {
            "relative_error": certificate.relative_error,
            "error": certificate.error,
            "standard_error": certificate.standard_error,
            "certificate": certificate.method,
        }
    return {
        "file": source.path,
        "points": mean.n_points,
        **({"dropped_rows": source.missing} if source.drop_na else {}),
        **describe(mean),
        **measured,
        "model": str(output),
        "model_bytes": output.stat().st_size,
    }


def describe(mean: SparseKernelMean) -> dict[str, Any]:
    """What a model knows of itself."""
    return {
        "kind": "density" if mean.is_density else f"kernel mean ({mean.space})",
        "dimensions": mean.dimension,
        "columns": None if mean.columns is None else list(mean.columns),
        "transform": mean.transform,
        "kernel": str(mean.kernel),
        "bandwidth": mean.kernel.length,
        "scaled": mean.scale is not None,
        "centres": mean.k,
        "spread": mean.expansion.atoms.kind,
        "selection": mean.selection,
        "stopped_by": mean.stop_reason,
        "estimated_error": mean.estimated_error,
        "covering_radius": mean.cover,
        "bound": mean.bound,
    }
