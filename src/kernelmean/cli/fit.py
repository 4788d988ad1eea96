"""``kernelmean fit``: a file becomes a density, or a kernel mean, in a small file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelmean.cli import clusters, results
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean._types import Points, Vector
    from kernelmean.files import Source
    from kernelmean.mean.value import SparseKernelMean

UNLIKE = (
    30.0  # ratio of the spreads of two columns from which on one bandwidth suits only one of them
)


def command(
    data: o.Data,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="MODEL.km", help="Where to write the model.")
    ],
    bandwidth: o.Bandwidth = "scott",
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    k: o.Centers = "auto",
    selection: o.SelectionName = o.Selection.auto,
    refine: Annotated[
        int, typer.Option(min=0, help="Steps that move the centres off the data.")
    ] = 0,
    scale: o.ScaleName = o.Scale.none,
    signed: Annotated[
        bool, typer.Option("--signed", help="The unconstrained kernel mean instead of a density.")
    ] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of sample weights.")
    ] = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    certificate: Annotated[
        bool, typer.Option(help="Measure the error against the full kernel mean.")
    ] = True,
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
      kernelmean fit data.csv -o mean.km --signed --weights w --k 100
    """
    import kernelmean as km

    o.ready(output)
    o.ready_for_report(report)
    o.keep_apart([output, report], [data])
    chosen: dict[str, Any] = {
        "bandwidth": o.number_or_word(bandwidth), "kernel": kernel.value, "scale": scale.setting, "k": o.whole_or_auto(k),
        "selection": selection.value, "refine": refine, "engine": engine.value, "random_state": seed,
    }  # fmt: skip
    with results.working(quiet), clusters.engine(scheduler, workers) as cluster:
        source = km.read(
            data, columns=columns, transform=transform, weights=weights, drop_na=drop_na
        )
        X, w = source.sample() if cluster is None else clusters.sample(source)
        chosen["engine"] = chosen["engine"] if cluster is None else cluster
        mean = _labelled(_signed(X, w, chosen) if signed else _density(X, w, chosen), source)
        rows = _some_rows(X, w, source)
        measured = mean.certificate(X, sample_weight=w, random_state=seed) if certificate else None
        if report is not None:
            from kernelmean.pictures.html import fit_page

            settings = {"file": data, "transform": mean.transform or "none", "seed": seed}
            page = fit_page(
                mean, rows, certificate=measured, settings=settings, command=results.command_line()
            )
            results.write_text(report, page)
        mean.save(output)
    results.show(_facts(mean, source, measured, output), as_json)
    _note_few(mean, chosen["k"])
    if scale is o.Scale.none:
        _note_units(rows, source.columns)


def _some_rows(X: Any, weights: Any, source: Source) -> Points:
    """Rows that count, enough for units and for the ranges of pictures."""
    import numpy as np

    if isinstance(X, np.ndarray):
        found: Points = X if weights is None else X[weights > 0]
        return found
    parts = (
        batch.points if batch.weights is None else batch.points[batch.weights > 0]
        for batch in source.numbered()
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
    if spreads and spreads[most] > UNLIKE * spreads[least]:
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


def _density(
    X: Points | Source, weights: Vector | None, chosen: dict[str, Any]
) -> SparseKernelMean:
    import kernelmean as km

    fitted = km.SparseKDE(**chosen).fit(X, sample_weight=weights).mean_
    assert isinstance(fitted, km.SparseKernelMean)
    return fitted


def _signed(X: Points | Source, weights: Vector | None, chosen: dict[str, Any]) -> SparseKernelMean:
    import kernelmean as km

    return km.sparse_kernel_mean(X, sample_weight=weights, **chosen)


def _labelled(mean: SparseKernelMean, source: Source) -> SparseKernelMean:
    """With what a later file must be treated by: the names of the columns and the transform."""
    names = None if source.columns is None else tuple(source.columns)
    return replace(
        mean, columns=names, transform=None if source.transform is None else str(source.transform)
    )


def _facts(
    mean: SparseKernelMean, source: Source, certificate: Any, output: Path
) -> dict[str, Any]:
    measured = {} if certificate is None else {
        "relative_error": certificate.relative_error, "error": certificate.error,
        "standard_error": certificate.standard_error, "certificate": certificate.method,
    }  # fmt: skip
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
        "selection": mean.selection,
        "stopped_by": mean.stop_reason,
        "covering_radius": mean.cover,
        "bound": mean.bound,
    }
