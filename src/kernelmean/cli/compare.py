"""``kernelmean compare``: do two samples have the same distribution, and where do they differ?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, differences, results, streams
from kernelmean.cli import options as o
from kernelmean.cli.samples import Columned, groups_of, two_samples

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.comparison.result import TwoSampleTest
    from kernelmean.comparison.value import Difference


First = Annotated[
    str, declare.Argument(metavar="A", help="A file of points, or a model; - is standard input.")
]
Second = Annotated[
    str | None,
    declare.Argument(metavar="B", help="Another one of the same kind; none with --group."),
]
Group = Annotated[
    str | None,
    declare.Option(metavar="COLUMN", help="Column of A that names the groups to compare."),
]
Bandwidth = Annotated[
    str | None,
    declare.Option(
        metavar="RULE|NUMBER",
        help="Of the MMD and the divergences: median and iqr by default. The test tunes itself; "
        "one at this bandwidth is shown besides.",
    ),
]
Permutations = Annotated[int, declare.Option(min=1, help="Of the two-sample test.")]
Level = Annotated[
    float,
    declare.Option(metavar="SHARE", help="Level of the test and false-discovery rate of regions."),
]


def command(
    a: First,
    b: Second = None,
    group: Group = None,
    level: Level = 0.05,
    bandwidth: Bandwidth = None,
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    scale: o.ScaleName = o.Scale.none,
    spread: o.SpreadName = o.Spread.auto,
    permutations: Permutations = 999,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    report: o.Report = None,
    engine: o.Engine = o.EngineName.cpu,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compare two samples: how far apart, is it chance, and where do they differ?

    The answer in words, the columns that explain most, and the regions in which one sample has more
    of its rows than the other. The maximum mean discrepancy with its certificate and p-value, and
    the Kullback-Leibler divergence both ways. A sample is a file, or with --group the rows of one
    value; each of more than two groups is compared with the rest. Columns are matched by name where
    both files have names.

    Two models (.km) are compared by their distance, and by their divergences where they are
    densities.

    \b
    Examples:
      kernelmean compare before.csv after.csv
      kernelmean compare before.csv after.csv --report difference.html
      kernelmean compare cells.parquet --columns x,y --group site
      kernelmean compare a.fcs b.fcs --columns FSC-A,CD3 --transform arcsinh:150 --json
      kernelmean compare a.km b.km
    """
    files = _files(a, b, group, level)
    o.ready(report)
    o.keep_apart([report], files)
    chosen = o.settings(bandwidth=bandwidth, kernel=kernel, scale=scale, engine=engine, seed=seed)
    how = {"columns": columns, "transform": transform, "drop_na": drop_na}
    shown = {"transform": transform or "none", "seed": seed}
    named = {"a": a} if b is None else {"a": a, "b": b}
    with results.working(quiet):
        if b is not None and _are_models(a, b):
            _refuse_report(report)
            results.show(named | _of_models(a, b, seed), as_json)
            return
        streams.refuse_twice(files)
        paths = list(map(streams.given, files))
        samples = (
            two_samples(paths, how, files) if group is None else groups_of(paths[0], group, how)
        )
        same = {
            "level": level,
            "permutations": permutations,
            "engine": engine.value,
            "random_state": seed,
        }
        if len(samples.points) > 2:
            _compare_groups(samples, same, named | {"group": group}, shown, report, as_json)
            return
        found = differences.of_two(samples.points, samples.columns, same)
        facts = _of_samples(samples.points, chosen, spread.setting, found)
        written = differences.write_page(report, found, named | shown)
    if as_json:
        results.show(named | facts | differences.all_facts(found) | written, as_json)
        return
    differences.say_sentence(found.describe())
    tables: dict[str, Any] = dict(differences.short_tables(found))
    results.show(named | facts | written, as_json, **tables)


def _compare_groups(
    samples: Columned,
    settings: dict[str, Any],
    named: dict[str, Any],
    shown: dict[str, Any],
    report: Path | None,
    as_json: bool,
) -> None:
    """Each of more than two groups against the rest: a table, and the page where one is wanted."""
    found = differences.of_groups(samples.points, samples.columns, settings)
    written = differences.write_page(report, found, named | shown)
    sentence = found.describe()
    if not as_json:
        differences.say_sentence(sentence)
    facts = named | {
        "points": sum(map(len, samples.points.values())),
        "groups": len(samples.points),
        "level": settings["level"],
    }
    said = {"sentence": sentence} if as_json else {}
    rows = differences.group_rows(found, as_json)
    results.show(facts | said | written, as_json, differences=rows)


def _files(a: str, b: str | None, group: str | None, level: float) -> list[str]:
    """What is to be read; a ValueError where that leaves nothing to compare."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"--level must lie between 0 and 1, got {level:g}.")
    if b is None and group is None:
        raise ValueError(
            "one file alone has nothing to be compared with: give another, or --group."
        )
    if b is not None and group is not None:
        raise ValueError("--group takes the samples from one file, got 2 files.")
    if b is None and Path(a).suffix == ".km":
        raise ValueError(f"{a} is a model, which has no rows to take groups from.")
    return [a] if b is None else [a, b]


def _refuse_report(report: Path | None) -> None:
    if report is not None:
        raise ValueError("--report shows rows, which models have not: compare two files of points.")


def _are_models(a: str, b: str) -> bool:
    """Whether both are models; a ValueError where only one of them is."""
    models = [Path(path).suffix == ".km" for path in (a, b)]
    if models[0] != models[1]:
        raise ValueError(
            "compare two files of points or two models, not one of each; fit the points first."
        )
    return models[0]


def _of_samples(
    named: Mapping[str, Points], shared: dict[str, Any], spread: str | None, found: Difference
) -> dict[str, Any]:
    """How far apart they are: by sparse means with their measured error, and by likelihoods."""
    import kernelmean as km

    samples = list(named.values())
    asked = _own_test(samples, shared, len(found.test.null))
    same = {"bandwidth": "median", **shared, "spread": spread}
    pair = km.DistributionEmbedding(embedding=None, error_bars=True, **same).fit(samples)
    forth = km.kl_divergence(*samples, spread=spread, **shared)
    back = km.kl_divergence(*samples[::-1], spread=spread, **shared)
    assert pair.distance_errors_ is not None
    return {
        "points_a": len(samples[0]),
        "points_b": len(samples[1]),
        "mmd": float(pair.distances_[0, 1]),
        "mmd_error_at_most": float(pair.distance_errors_[0, 1]),
        "p_value": found.test.p_value,
        **({} if asked is None else {"p_value_of_this_kernel": asked.p_value}),
        "permutations": len(found.test.null),
        "kl_a_b": forth.value,
        "kl_a_b_standard_error": forth.standard_error,
        "kl_b_a": back.value,
        "kl_b_a_standard_error": back.standard_error,
        "bandwidth_of_mmd": pair.bandwidth_,
    }


def _own_test(
    samples: list[Points], shared: dict[str, Any], permutations: int
) -> TwoSampleTest | None:
    """The test of the kernel that was asked for; None where the test is to tune itself."""
    import kernelmean as km

    if "bandwidth" not in shared and shared.get("kernel", "gaussian") == "gaussian":
        return None
    asked = {"bandwidth": "median", **shared}
    return km.mmd_test(*samples, permutations=permutations, **asked)


def _of_models(a: str, b: str, seed: int) -> dict[str, Any]:
    import kernelmean as km
    from kernelmean.cli.domains import load_without

    means = [load_without(path, "compare") for path in (a, b)]
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
