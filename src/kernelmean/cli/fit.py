"""``kernelmean fit``: a file becomes a density, or a kernel mean, in a small file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from kernelmean import _progress
from kernelmean.cli import clusters, declare, domains, notes, results, streams
from kernelmean.cli import options as o
from kernelmean.cli.models import described

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files import Source
    from kernelmean.mean.certificate import Certificate
    from kernelmean.mean.value import SparseKernelMean

# What is measured of a copy; null in JSON where nothing is.
MEASURED = ("relative_error", "error", "standard_error", "certificate")

Output = Annotated[
    Path, declare.Option("-o", "--output", metavar="MODEL.km", help="Where to write the model.")
]
Refine = Annotated[int, declare.Option(min=0, help="Steps that move the centres off the data.")]
Signed = Annotated[
    bool, declare.Option("--signed", help="The unconstrained kernel mean instead of a density.")
]
Weights = Annotated[str | None, declare.Option(metavar="COLUMN", help="Column of sample weights.")]
Measured = Annotated[
    bool, declare.Option(help="Measure the error of a copy against the full kernel mean.")
]


Rows = Annotated[
    bool, declare.Option(help="Whether the report shows rows of DATA, the rarest of them by value.")
]


class Task(NamedTuple):
    """What is fitted, and how: a sample in memory, in files or on a cluster, and the settings."""

    source: Source
    X: Any  # an array, the source, or a Dask frame
    weights: Any  # the same kind of thing, or None
    settings: dict[str, Any]


def command(
    data: o.Data,
    output: Output,
    bandwidth: o.DensityBandwidth = "auto",
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    k: o.Centers = "auto",
    error: o.Error = None,
    selection: o.SelectionName = o.Selection.auto,
    spread: o.SpreadName = o.Spread.auto,
    refine: Refine = 0,
    scale: o.DensityScaleName = o.DensityScale.auto,
    target: o.TargetName = o.Target.auto,
    signed: Signed = False,
    weights: Weights = None,
    columns: o.Columns = None,
    domain: o.Domain = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    certificate: Measured = True,
    report: o.Report = None,
    rows: Rows = True,
    engine: o.Engine = o.EngineName.cpu,
    scheduler: clusters.Scheduler = None,
    workers: clusters.Workers = None,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Fit a density to a file, and save it as a small model.

    By default it is the density that explains rows best that are held out; with --target kde, or
    with a bandwidth, a certified copy of a kernel density estimate; with --signed the unconstrained
    kernel mean. The model holds no data; it carries the quantiles of the training density, the
    names of the columns, the domain and the transform, for score. With --domain the density is zero
    where no value can lie, and columns may hold words. With --scheduler or --workers the fit runs
    on a Dask cluster, whose workers read a parquet file or folder themselves.

    \b
    Examples:
      kernelmean fit data.csv -o model.km
      kernelmean fit data.parquet -o model.km --columns x,y --target kde --report fit.html
      kernelmean fit cells.fcs -o cells.km --columns FSC-A,CD3 --transform arcsinh:150
      kernelmean fit data.csv -o model.km --bandwidth scott --scale none
      kernelmean fit data.csv -o model.km --error 0.01
      kernelmean fit train.csv -o model.km --domain "y>=-9,species:category"
      kernelmean fit data.csv -o mean.km --signed --weights w --k 100
    """
    import kernelmean as km

    o.ready(output)
    o.ready(report)
    o.keep_apart([output, report], [data])
    chosen = o.settings(
        bandwidth=bandwidth, kernel=kernel, scale=scale, target=target, k=k, selection=selection,
        spread=spread, engine=engine, seed=seed,
    )  # fmt: skip
    if signed:
        chosen = _of_a_mean(chosen)
    path = streams.given(data)
    more: dict[str, Any] = {"refine": refine, "error": error}
    how: dict[str, Any] = {"columns": columns, "transform": transform, "drop_na": drop_na}
    if domain is not None:
        domains.refuse_beside(
            transform=transform, signed=signed, scheduler=scheduler, workers=workers
        )
        more["domain"], how["categories"] = domains.asked(domain, path, columns, weights)
    with results.working(quiet), clusters.engine(scheduler, workers) as cluster:
        task = _task(km.read(path, weights=weights, **how), chosen | more, cluster)
        mean = _labelled(_quietly(_signed if signed else _density, task), task.source)
        measured = _certificate(mean, task, seed) if certificate else None
        mean.save(output)
        named = streams.title(data)
        paged = {}
        if report is not None:
            with _progress.phase("drawing the page"):
                page = _page(
                    mean, _ranging(mean, task), measured, rows, {"file": named, "seed": seed}
                )
            paged = results.written(report, page)
    facts = {"file": named} | _facts(mean, task.source, measured, output, as_json)
    results.show(facts | paged, as_json)
    if domain is None:
        _note(mean, task, bandwidth)


def _note(mean: SparseKernelMean, task: Task, bandwidth: str) -> None:
    """Where another option would have done better."""
    notes.few(mean, task.settings["k"])
    notes.error(mean, task.settings)
    if notes.one_width_for_all(mean, bandwidth):
        notes.units(_some_rows(task), task.source.columns)


def _of_a_mean(settings: dict[str, Any]) -> dict[str, Any]:
    """The same for a kernel mean, which has no likelihood: what is left to it is the library's own
    default for means.
    """
    if settings["target"] == o.Target.likelihood:
        raise ValueError(
            "--target likelihood fits a density, but --signed asks for a kernel mean: leave one of "
            "the two out."
        )
    left_open = {name for name in ("bandwidth", "scale") if settings[name] == "auto"}
    return {name: value for name, value in settings.items() if name not in left_open | {"target"}}


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


def _density(task: Task) -> Any:
    import kernelmean as km

    X = _with_names(task) if "domain" in task.settings else task.X
    fitted = km.SparseKDE(**task.settings).fit(X, sample_weight=task.weights).mean_
    assert isinstance(fitted, km.SparseKernelMean) or domains.is_on_domain(fitted)
    return fitted


def _with_names(task: Task) -> Any:
    """The rows under the names that the file has for its columns, so that messages tell these."""
    import numpy as np

    plain = isinstance(task.X, np.ndarray) and task.source.columns is not None
    return task.source.holding(task.X) if plain else task.X


def _signed(task: Task) -> SparseKernelMean:
    import kernelmean as km

    found: SparseKernelMean = km.sparse_kernel_mean(
        task.X, sample_weight=task.weights, **task.settings
    )
    return found


def _certificate(mean: SparseKernelMean, task: Task, seed: int) -> Certificate | None:
    """The measured error; None where the density is a copy of no kernel mean.

    On a domain there is one where all columns hold numbers.
    """
    from kernelmean.mean.value import is_by_likelihood

    if is_by_likelihood(mean) or not domains.is_flat(mean):
        return None
    with _progress.phase("measuring the error"):
        return mean.certificate(task.X, sample_weight=task.weights, random_state=seed)


def _page(
    mean: SparseKernelMean,
    sample: Any,
    measured: Certificate | None,
    rows: bool,
    named: dict[str, Any],
) -> str:
    from kernelmean.pictures.html import fit_page

    settings = named | {"transform": mean.transform or "none"}
    command = results.command_line()
    return fit_page(
        mean, sample, certificate=measured, rows=rows, settings=settings, command=command
    )


def _ranging(mean: SparseKernelMean, task: Task) -> Any:
    """Rows that set the ranges of pictures; where categories have names, the file that has them."""
    return task.X if domains.levels_of(mean) else _some_rows(task)


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


def _labelled(mean: SparseKernelMean, source: Source) -> SparseKernelMean:
    """With what a later file must be treated by: the names of the columns and the transform."""
    names = None if source.columns is None else tuple(source.columns)
    return replace(
        mean, columns=names, transform=None if source.transform is None else str(source.transform)
    )


def _facts(
    mean: SparseKernelMean,
    source: Source,
    certificate: Certificate | None,
    output: Path,
    as_json: bool,
) -> dict[str, Any]:
    measured: dict[str, Any] = dict.fromkeys(MEASURED) if as_json else {}
    if certificate is not None:
        measured = {
            "relative_error": certificate.relative_error,
            "error": certificate.error,
            "standard_error": certificate.standard_error,
            "certificate": certificate.method,
        }
    return {
        "points": mean.n_points,
        **({"dropped_rows": source.missing} if source.drop_na else {}),
        **described(mean),
        **measured,
        "model": str(output),
        "model_bytes": output.stat().st_size,
    }
