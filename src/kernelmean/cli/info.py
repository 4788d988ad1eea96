"""``kernelmean info``: what a model file holds; what is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, results
from kernelmean.cli import options as o
from kernelmean.cli.domains import is_on_domain
from kernelmean.cli.models import described

if TYPE_CHECKING:
    from kernelmean.comparison.value import Difference
    from kernelmean.compiled.stored import StoredLoop
    from kernelmean.mean.on_domain import DomainMean
    from kernelmean.monitoring.monitor import DriftMonitor


def command(
    model: Annotated[
        Path | None, declare.Argument(metavar="MODEL.km", help="A model that fit has written.")
    ] = None,
    cache: Annotated[
        bool,
        declare.Option("--cache", help="Not a model, but the compiled loops that are on disk."),
    ] = False,
    report: o.Report = None,
    as_json: o.AsJson = False,
    debug: o.Debug = False,
) -> None:
    """What a model holds: kernel, domain, centres and how they were found; differences; a monitor.

    \b
    Examples:
      kernelmean info model.km
      kernelmean info model.km --report model.html
      kernelmean info model.km --json
      kernelmean info --cache
    """
    if cache is (model is not None):
        raise ValueError("info takes a model, or --cache for what is compiled: one of the two.")
    if model is None:
        if report is not None:
            raise ValueError("--report shows a model; --cache prints what is compiled.")
        _show_cache(as_json)
        return
    import kernelmean as km

    o.ready(report)
    o.keep_apart([report], [str(model)])
    mean = km.load(model)
    paged = results.written(report, "" if report is None else _page(model, mean))
    if isinstance(mean, km.Difference):
        results.show(_of_difference(model, mean) | paged, as_json)
        return
    if isinstance(mean, km.GroupDifferences):
        named = {"model": str(model), "kind": "differences of groups", "groups": list(mean.names)}
        results.show(named | {"summary": mean.describe()} | paged, as_json)
        return
    if isinstance(mean, km.DriftMonitor):
        results.show(_of_monitor(model, mean) | paged, as_json)
        return
    columns = _columns_of_domain(mean) if as_json and is_on_domain(mean) else {}
    results.show(_of_mean(model, mean) | columns | paged, as_json)


def _page(model: Path, found: Any) -> str:
    """What the file holds, as a page."""
    import kernelmean as km

    settings = {"model": model}
    command = results.command_line()
    if isinstance(found, km.Difference | km.GroupDifferences):
        return km.report.difference_page(found, settings=settings, command=command)
    if isinstance(found, km.DriftMonitor):
        return km.report.monitor_page(found, settings=settings, command=command)
    from kernelmean.pictures.html.fit import page_of_density

    return page_of_density("info", found, settings=settings, command=command)


def _show_cache(as_json: bool) -> None:
    """The compiled loops on disk, and a table by folder."""
    from kernelmean.compiled import stored

    loops = stored.loops()
    here, elsewhere, stale = (
        [loop for loop in loops if loop.state is state] for state in stored.State
    )
    facts = {
        "loops": len(here),
        "megabytes": _megabytes(here),
        "kernels": sorted({loop.kernel for loop in here if loop.kernel}),
        "dimensions": sorted({loop.dimension for loop in here if loop.dimension}),
        "for_other_processors": len(elsewhere),
        "stale": len(stale),
        "stale_megabytes": _megabytes(stale),
        "new_ones_go_to": [str(folder) for folder in stored.written()] or None,
    }
    rows: list[dict[str, Any]] = [
        {"loops": len(own), "megabytes": _megabytes(own), "folder": str(folder)}
        for folder in stored.folders()
        if (own := [loop for loop in loops if loop.files[0].parent == folder])
    ]
    tables: dict[str, Any] = {"folders": rows} if rows or as_json else {}
    results.show(facts, as_json, **tables)


def _megabytes(loops: list[StoredLoop]) -> float:
    return round(sum(loop.size for loop in loops) / 1e6, 2)


def _of_mean(model: Path, mean: Any) -> dict[str, Any]:
    """What a file of a density, or of a kernel mean, holds."""
    return {
        "model": str(model),
        "model_bytes": model.stat().st_size,
        "points": mean.n_points,
        **described(mean),
        "smallest_weight": float(mean.weights.min()),
        "largest_weight": float(mean.weights.max()),
        "sum_of_weights": float(mean.weights.sum()),
        "thresholds": mean.log_quantiles is not None,
    }


def _columns_of_domain(mean: DomainMean) -> dict[str, Any]:
    """What the columns of a density on a domain can hold, for programs."""
    from kernelmean.domains.words import facts

    return {"domain_columns": facts(mean.domain, mean.columns)}


def _of_difference(model: Path, found: Difference) -> dict[str, Any]:
    """What a file of a difference holds."""
    return {
        "model": str(model),
        "model_bytes": model.stat().st_size,
        "kind": "difference",
        "samples": list(found.names),
        "rows": list(found.n_points),
        "columns": list(found.column_names),
        "p_value": found.test.p_value,
        "regions": len(found.regions),
        "false_discovery_rate": found.level,
        "summary": found.describe(),
    }


def _of_monitor(model: Path, monitor: DriftMonitor) -> dict[str, Any]:
    """What a file of a monitor holds: its reference, and what it has seen."""
    return {
        "model": str(model),
        "model_bytes": model.stat().st_size,
        "kind": "drift monitor",
        "reference_rows": monitor.n_reference,
        "dimensions": monitor.dimension,
        "columns": None if monitor.columns is None else list(monitor.columns),
        "transform": monitor.transform,
        "run_length": monitor.run_length,
        "window": monitor.window,
        "threshold": monitor.threshold,
        "rows_seen": monitor.n_seen,
        "new_references": monitor.state.rebases,
        "rows_to_the_next_reference": monitor.collecting,
        "alarm_that_nobody_answered": None if monitor.alarm is None else monitor.alarm.describe(),
    }
