"""``kernelmean proportions``: how much of each class an unlabelled file holds."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, notes, results, streams
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files.reader import Labels
    from kernelmean.proportions.estimator import ClassProportions
    from kernelmean.proportions.explaining import GoodnessOfFit
    from kernelmean.proportions.intervals import ProportionIntervals


class Representation(StrEnum):
    """What tells the classes apart: a classifier, or the points themselves (raw, none)."""

    auto = "auto"
    raw = "raw"
    none = "none"
    logistic = "logistic"
    forest = "forest"


Train = Annotated[str, declare.Argument(metavar="TRAIN", help="A file of points with labels.")]
Test = Annotated[str, declare.Argument(metavar="TEST", help="A file of points without labels.")]
Label = Annotated[
    str,
    declare.Option(
        metavar="COLUMN", help="Column of labels in TRAIN, or a file with one label per row."
    ),
]
RepresentationName = Annotated[
    Representation, declare.Option(help="A classifier, or kernel means of the columns.")
]
Solver = Annotated[
    str, declare.Option(metavar="auto|likelihood|qp|paper|moments", help="How shares are read.")
]
Bandwidth = Annotated[
    str | None,
    declare.Option(
        metavar="search|RULE|NUMBER",
        help="Of kernel means; by default the best on simulated mixtures.",
    ),
]
Level = Annotated[float, declare.Option(help="Of the confidence intervals.")]


def command(
    train: Train,
    test: Test,
    label: Label,
    representation: RepresentationName = Representation.auto,
    solver: Solver = "auto",
    bandwidth: Bandwidth = None,
    scale: o.ScaleName = o.Scale.none,
    selection: o.SelectionName = o.Selection.auto,
    spread: o.SpreadName = o.Spread.auto,
    level: Level = 0.95,
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
    """How much of each class an unlabelled file holds.

    Estimated from the labelled points of TRAIN, with confidence intervals; no row of TEST gets a
    label. By default a calibrated classifier is learnt; a solver, a bandwidth or another option of
    kernel means asks for those of the columns. A small p says that no mixture of the classes
    explains TEST: do not trust the proportions then. One of the two files may be -, standard input.

    \b
    Examples:
      kernelmean proportions train.csv test.csv --label species --report shares.html
      kernelmean proportions train.csv test.csv --label species --representation logistic --json
      kernelmean proportions train-idx3-ubyte.gz test-idx3-ubyte.gz --label train-idx1-ubyte.gz
    """
    import kernelmean as km

    o.ready(report)
    o.keep_apart([report], [train, test])
    streams.refuse_twice([train, test])
    chosen = o.settings(
        bandwidth=bandwidth, scale=scale, selection=selection, spread=spread, engine=engine,
        seed=seed,
    )  # fmt: skip
    how = {"transform": transform, "drop_na": drop_na}
    with results.working(quiet):
        files = streams.given(train), streams.given(test)
        table, labels, points = _read(*files, label, columns, how)
        model = km.ClassProportions(
            solver=solver, representation=_classifier(representation, seed), **chosen
        ).fit(table, labels)
        found = model.predict_interval(points, level=level, random_state=seed)
        fit = _goodness_of_fit(model, points, labels, seed)
    facts = {
        "training_points": len(table),
        "points": len(points),
        "classifier": _learnt(model, representation),
        "kernel": str(model.kernel_) if model.classifier_ is None else None,
        "solver": model.solver_,
        "level": level,
        **_explained(fit, as_json),
    }
    assert not isinstance(found, list)  # one sample was asked for
    if report is not None:
        named = {"labelled rows": streams.title(train), "sample": streams.title(test)}
        rows = {"rows with labels": len(table), "rows of the sample": len(points)}
        facts |= results.written(report, _page(model, found, fit, labels, named | rows))
    results.show(facts, as_json, proportions=_rows(model.classes_.tolist(), found))
    if fit is not None:
        notes.unexplained(fit)


def _page(
    model: ClassProportions,
    found: ProportionIntervals,
    fit: GoodnessOfFit | None,
    labels: Labels,
    settings: dict[str, Any],
) -> str:
    import numpy as np

    from kernelmean.pictures.html import proportions_page

    training = [float(np.mean(labels == name)) for name in model.classes_]
    return proportions_page(
        model, found, fit=fit, training=training, settings=settings, command=results.command_line()
    )


def _read(
    train: str, test: str, label: str, columns: str | None, how: dict[str, Any]
) -> tuple[Points, Labels, Points]:
    """The training points with their labels, and the points of the same columns without any."""
    import kernelmean as km

    source = km.read(train, columns=columns, labels=label, **how)
    same = source.columns if source.columns is not None else columns
    points = km.read(test, columns=same, **how).load().points
    table = source.load()
    assert table.labels is not None
    _refuse_measurements(table.labels, label)
    return table.points, table.labels, points


def _goodness_of_fit(
    model: ClassProportions, points: Points, labels: Labels, seed: int
) -> GoodnessOfFit | None:
    """Whether a mixture of the classes explains the points; None where they are too small."""
    from collections import Counter

    from kernelmean.proportions.explaining import FEWEST_ROWS

    if max(Counter(labels.tolist()).values()) < FEWEST_ROWS:
        return None
    found = model.goodness_of_fit(points, random_state=seed)
    assert not isinstance(found, list)  # one sample was asked for
    return found


def _explained(fit: GoodnessOfFit | None, as_json: bool) -> dict[str, Any]:
    """The p-value in words, or all numbers for machines."""
    if not as_json:
        return {"explained": None if fit is None else f"p = {fit.p_value:.3g}"}
    names = ("distance", "expected_distance", "p_value")
    return {name: None if fit is None else fit._asdict()[name] for name in names}


def _learnt(model: ClassProportions, asked: Representation) -> list[str] | None:
    """The classifiers that have a part in the posteriors; None where there are none."""
    if model.classifier_ is None:
        return None
    return model.classifier_.names_ if asked is Representation.auto else [asked.value]


def _rows(classes: list[Any], found: ProportionIntervals) -> list[dict[str, Any]]:
    """One line per class: its proportion, and the ends of the interval."""
    columns = zip(classes, found.proportions, found.lower, found.upper, strict=True)
    return [
        {"class": name, "proportion": float(p), "lower": float(l), "upper": float(u)}
        for name, p, l, u in columns
    ]


def _refuse_measurements(labels: Labels, name: str) -> None:
    """A ValueError where nearly every row has a label of its own: hours of work for nothing."""
    found = len(set(labels.tolist()))
    if found > max(2, len(labels) // 2):
        raise ValueError(
            f"{name} holds {found} different labels in {len(labels)} rows, but a label names a "
            "class of many rows."
        )


def _classifier(name: Representation, seed: int) -> Any:
    """A word of the estimator's, or a classifier of scikit-learn with sensible settings."""
    if name in (Representation.auto, Representation.raw):
        return name.value
    if name is Representation.none:
        return "raw"
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        Representation.logistic: lambda: make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        Representation.forest: lambda: RandomForestClassifier(random_state=seed),
    }[name]()
