"""``kernelmean compare``: do two files hold the same distribution, and how far apart are they?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results
from kernelmean.cli.samples import alike

if TYPE_CHECKING:
    from kernelmean._types import Points


First = Annotated[str, typer.Argument(metavar="A", help="A file of points, or a model.")]
Second = Annotated[str, typer.Argument(metavar="B", help="Another one of the same kind.")]
Bandwidth = Annotated[
    str | None,
    typer.Option(
        metavar="RULE|NUMBER", help="median for the MMD and iqr for the divergences by default."
    ),
]
Permutations = Annotated[int, typer.Option(min=1, help="Of the two-sample test.")]


def command(
    a: First,
    b: Second,
    bandwidth: Bandwidth = None,
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    scale: o.ScaleName = o.Scale.none,
    spread: o.SpreadName = o.Spread.auto,
    permutations: Permutations = 999,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    engine: o.Engine = o.EngineName.cpu,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compare two files: how far apart, and is it chance?

    The maximum mean discrepancy with its certificate and p-value, and the Kullback-Leibler
    divergence both ways. Columns are matched by name where both files have names.

    Two models (.km) are compared by their distance, and by their divergences where they are
    densities.

    \b
    Examples:
      kernelmean compare before.csv after.csv
      kernelmean compare a.fcs b.fcs --columns FSC-A,CD3 --transform arcsinh:150 --json
      kernelmean compare a.km b.km
    """
    chosen = o.settings(bandwidth=bandwidth, kernel=kernel, scale=scale, engine=engine, seed=seed)
    with results.working(quiet):
        if _are_models(a, b):
            facts = _of_models(a, b, seed)
        else:
            samples = list(alike((a, b), columns, transform, drop_na))
            facts = _of_samples(samples, chosen, spread.setting, permutations)
    results.show({"a": a, "b": b} | facts, as_json)


def _are_models(a: str, b: str) -> bool:
    """Whether both are models; a ValueError where only one of them is."""
    models = [Path(path).suffix == ".km" for path in (a, b)]
    if models[0] != models[1]:
        raise ValueError(
            "compare two files of points or two models, not one of each; fit the points first."
        )
    return models[0]


def _of_samples(
    samples: list[Points], shared: dict[str, Any], spread: str | None, permutations: int
) -> dict[str, Any]:
    import kernelmean as km

    test = km.mmd_test(*samples, permutations=permutations, **shared)
    # The same kernel, now with sparse means of both and the measured error of each.
    same = {**shared, "kernel": test.kernel, "spread": spread}
    same.pop("bandwidth", None)
    pair = km.DistributionEmbedding(embedding=None, error_bars=True, **same).fit(samples)
    forth = km.kl_divergence(*samples, spread=spread, **shared)
    back = km.kl_divergence(*samples[::-1], spread=spread, **shared)
    assert pair.distance_errors_ is not None
    return {
        "points_a": len(samples[0]),
        "points_b": len(samples[1]),
        "mmd": float(pair.distances_[0, 1]),
        "mmd_error_at_most": float(pair.distance_errors_[0, 1]),
        "p_value": test.p_value,
        "permutations": len(test.null),
        "kl_a_b": forth.value,
        "kl_a_b_standard_error": forth.standard_error,
        "kl_b_a": back.value,
        "kl_b_a_standard_error": back.standard_error,
        "kernel_of_mmd": str(test.kernel),
    }


def _of_models(a: str, b: str, seed: int) -> dict[str, Any]:
    import kernelmean as km

    means = [km.load(path) for path in (a, b)]
    if means[0].transform != means[1].transform or means[0].columns != means[1].columns:
        raise ValueError(
            f"{a} and {b} were fitted on other columns or after another transform, so they "
            "cannot be compared."
        )
    facts: dict[str, Any] = {
        "l2_distance" if means[0].space == "l2" else "mmd": means[0].distance(means[1])
    }
    if all(mean.is_density for mean in means):
        forth = km.kl_divergence(*means, random_state=seed)
        back = km.kl_divergence(*means[::-1], random_state=seed)
        facts |= {"kl_a_b": forth.value, "kl_a_b_standard_error": forth.standard_error}
        facts |= {"kl_b_a": back.value, "kl_b_a_standard_error": back.standard_error}
    return facts
