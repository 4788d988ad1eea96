"""``kernelmean info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results
from kernelmean.cli.models import described


def command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL.km", help="A model that fit has written.")
    ],
    as_json: o.AsJson = False,
    debug: o.Debug = False,
) -> None:
    """What a model holds: kernel, centres, how they were found.

    \b
    Examples:
      kernelmean info model.km
      kernelmean info model.km --json
    """
    import kernelmean as km

    mean = km.load(model)
    thresholds = mean.log_quantiles is not None
    facts = {
        "model": str(model),
        "model_bytes": model.stat().st_size,
        "points": mean.n_points,
        **described(mean),
    }
    weights = {
        "smallest_weight": float(mean.weights.min()),
        "largest_weight": float(mean.weights.max()),
    }
    results.show(
        {**facts, **weights, "sum_of_weights": float(mean.weights.sum()), "thresholds": thresholds},
        as_json,
    )
