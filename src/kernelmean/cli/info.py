"""``kernelmean info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results
from kernelmean.cli.domains import is_on_domain
from kernelmean.cli.models import described

if TYPE_CHECKING:
    from kernelmean.comparison.value import Difference
    from kernelmean.mean.on_domain import DomainMean
    from kernelmean.monitoring.monitor import DriftMonitor


def command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL.km", help="A model that fit has written.")
    ],
    as_json: o.AsJson = False,
    debug: o.Debug = False,
) -> None:
    """What a model holds: kernel, domain, centres and how they were found; differences; a monitor.

    \b
    Examples:
      kernelmean info model.km
      kernelmean info model.km --json
    """
    import kernelmean as km

    mean = km.load(model)
    if isinstance(mean, km.Difference):
        results.show(_of_difference(model, mean), as_json)
        return
    if isinstance(mean, km.GroupDifferences):
        named = {"model": str(model), "kind": "differences of groups", "groups": list(mean.names)}
        results.show(named | {"summary": mean.describe()}, as_json)
        return
    if isinstance(mean, km.DriftMonitor):
        results.show(_of_monitor(model, mean), as_json)
        return
    columns = _columns_of_domain(mean) if as_json and is_on_domain(mean) else {}
    results.show(_of_mean(model, mean) | columns, as_json)


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
