"""``kernelmean proportions``: how much of each class an unlabelled file holds."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results

if TYPE_CHECKING:
    from kernelmean.files.reader import Labels


class Representation(StrEnum):
    """What the kernel means are over: the points, or what a classifier thinks of them."""

    none = "none"
    logistic = "logistic"
    forest = "forest"


def command(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="A file of points with labels.")],
    test: Annotated[str, typer.Argument(metavar="TEST", help="A file of points without labels.")],
    label: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of labels in TRAIN, or a file with one label per row."
        ),
    ],
    representation: Annotated[
        Representation, typer.Option(help="Points, or the posteriors of a classifier.")
    ] = Representation.none,
    solver: Annotated[
        str, typer.Option(metavar="qp|paper|moments", help="How the proportions are solved for.")
    ] = "qp",
    bandwidth: Annotated[
        str,
        typer.Option(
            metavar="search|RULE|NUMBER", help="By default the best on simulated mixtures."
        ),
    ] = "search",
    scale: o.ScaleName = o.Scale.none,
    selection: o.SelectionName = o.Selection.auto,
    level: Annotated[float, typer.Option(help="Of the confidence intervals.")] = 0.95,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    engine: o.Engine = o.EngineName.cpu,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """How much of each class an unlabelled file holds.

    Estimated from the labelled points of TRAIN, with confidence intervals; no row of TEST gets a
    label.

    \b
    Examples:
      kernelmean proportions train.csv test.csv --label species
      kernelmean proportions train.csv test.csv --label species --representation logistic --json
      kernelmean proportions train-images-idx3-ubyte.gz t10k-images-idx3-ubyte.gz --label train-labels-idx1-ubyte.gz
    """
    import kernelmean as km

    how: dict[str, Any] = {"transform": transform, "drop_na": drop_na}
    with results.working(quiet):
        labelled = km.read(train, columns=columns, labels=label, **how)
        same = labelled.columns if labelled.columns is not None else columns
        unlabelled = km.read(test, columns=same, **how).load().points
        table = labelled.load()
        _refuse_measurements(cast("Labels", table.labels), label)
        fitted = km.ClassProportions(
            solver=solver, bandwidth=o.number_or_word(bandwidth), scale=scale.setting, engine=engine.value,
            selection=selection.value, representation=_classifier(representation, seed), random_state=seed,
        ).fit(table.points, cast("Labels", table.labels))  # fmt: skip
        found = fitted.predict_interval(unlabelled, level=level, random_state=seed)
    columns_of = zip(
        fitted.classes_.tolist(), found.proportions, found.lower, found.upper, strict=True
    )
    rows = [
        {"class": name, "proportion": float(p), "lower": float(l), "upper": float(u)}
        for name, p, l, u in columns_of
    ]
    facts = {
        "training_points": len(table.points),
        "points": len(unlabelled),
        "kernel": str(fitted.kernel_),
        "level": level,
    }
    results.show(facts, as_json, proportions=rows)


def _refuse_measurements(labels: Labels, name: str) -> None:
    """A ValueError where nearly every row has a label of its own: hours of work without a meaning."""
    found = len(set(labels.tolist()))
    if found > max(2, len(labels) // 2):
        raise ValueError(
            f"{name} holds {found} different labels in {len(labels)} rows, but a label names a "
            "class of many rows."
        )


def _classifier(name: Representation, seed: int) -> Any:
    """A classifier of scikit-learn with sensible settings."""
    if name is Representation.none:
        return None
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
