"""``kernelmean embed``: many samples as points in a plane."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results
from kernelmean.cli.samples import alike

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.embedding.estimator import DistributionEmbedding


class Samples(NamedTuple):
    """The points of each sample, and what is known of the samples."""

    points: dict[str, Points]
    metadata: dict[str, list[Any]]


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES...", help="One file per sample; or one file, with --group."),
    ],
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that tells the samples of one file apart."),
    ] = None,
    metric: Annotated[
        str, typer.Option(metavar="mmd|kl|l2", help="Distance between samples.")
    ] = "mmd",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="COORDINATES.csv", help="csv, tsv, parquet, feather or arrow."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="isomap|mds", help="How distances become coordinates.")
    ] = "isomap",
    dimensions: Annotated[int, typer.Option(min=1, help="Number of coordinates.")] = 2,
    neighbors: Annotated[int, typer.Option(min=1, help="Of the graph of isomap.")] = 5,
    bandwidth: o.Bandwidth = "iqr",
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    scale: o.ScaleName = o.Scale.none,
    k: o.Centers = "auto",
    selection: o.SelectionName = o.Selection.auto,
    metadata: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="A table whose first column names the samples; the others describe them.",
        ),
    ] = None,
    color: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Colour of the report: a column of --metadata, or of the file with --group.",
        ),
    ] = None,
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
    """Many samples as points in a plane, near where alike.

    A sample is a file, or with --group the rows of one value. Columns are matched by name where the
    files have names.

    \b
    Examples:
      kernelmean embed patient1.fcs patient2.fcs patient3.fcs --columns FSC-A,CD3 --transform arcsinh:150 -o coordinates.csv
      kernelmean embed cells.parquet --group patient --color site --report embed.html
    """
    import kernelmean as km

    o.ready_for_table(output)
    o.ready_for_report(report)
    o.keep_apart([output, report], files)
    how: dict[str, Any] = {"transform": transform, "drop_na": drop_na}
    with results.working(quiet):
        found = (
            _from_files(files, columns, how)
            if group is None
            else _grouped(files, group, color, how | {"columns": columns})
        )
        samples = _coloured(found, metadata, color)
        embedding = km.DistributionEmbedding(
            dimensions, metric=metric, embedding=method, n_neighbors=neighbors, bandwidth=o.number_or_word(bandwidth),
            kernel=kernel.value, scale=scale.setting, k=o.whole_or_auto(k), selection=selection.value,
            error_bars=metric != "kl", engine=engine.value, random_state=seed,
        ).fit(samples.points)  # fmt: skip
        rows = _rows(embedding, samples)
        if output is not None:
            _write(output, rows)
        if report is not None:
            _report(
                report,
                embedding,
                samples,
                color,
                {"files": len(files), "transform": transform or "none"},
            )
    facts: dict[str, Any] = {
        "samples": len(rows),
        "metric": metric,
        "kernel": str(embedding.kernel_),
    }
    extra = {"distances": embedding.distances_} if as_json else {}
    results.show(facts | extra, as_json, coordinates=rows)


def _coloured(samples: Samples, metadata: Path | None, color: str | None) -> Samples:
    """The samples with their metadata, among which must be what they are coloured by."""
    known = (
        samples.metadata
        if metadata is None
        else samples.metadata | _described(metadata, list(samples.points))
    )
    if color is not None and color not in known:
        raise ValueError(
            f"there is no column {color!r} to colour by; known are {', '.join(known) or 'none'}."
        )
    return Samples(samples.points, known)


def _from_files(files: list[str], columns: str | None, how: dict[str, Any]) -> Samples:
    """One sample per file, under the shortest kind of name that tells the files apart."""
    from kernelmean import _progress
    from kernelmean.files import short_name

    if len(set(files)) < len(files):
        raise ValueError("a file is named twice; give each sample once.")
    kinds = (
        *map(
            _readable,
            ([short_name(path) for path in files], [Path(path).name for path in files], files),
        ),
        _escaped(files),
    )
    names = next(kind for kind in kinds if len(set(kind)) == len(files))
    if len(files) < 2:
        raise ValueError(
            "an embedding compares samples: give at least two files, or one with --group COLUMN."
        )
    return Samples(
        dict(
            zip(
                names,
                _progress.track(alike(files, columns, how), "reading", len(files)),
                strict=True,
            )
        ),
        {},
    )


def _readable(names: list[str]) -> list[str]:
    from kernelmean.files import readable

    return list(map(readable, names))


def _escaped(files: list[str]) -> list[str]:
    """Names that differ in bytes that cannot be shown, told apart by them."""
    return [os.fsencode(path).decode("utf-8", "backslashreplace") for path in files]


def _grouped(files: list[str], group: str, color: str | None, how: dict[str, Any]) -> Samples:
    """Rows of equal group, in the order of the sorted groups; a column to colour by is no
    coordinate.
    """
    import numpy as np

    import kernelmean as km
    from kernelmean.files import column_names

    if len(files) != 1:
        raise ValueError(f"--group takes the samples from one file, got {len(files)} files.")
    names = column_names(files[0]) or []
    if color in names and how["columns"] is None:
        how = how | {"columns": [name for name in names if name not in (group, color)]}
    X, _, labels = km.read(files[0], labels=group, **how).load()
    assert labels is not None
    found, codes = np.unique(labels, return_inverse=True)
    points = {str(name): X[codes == i] for i, name in enumerate(found)}
    return Samples(
        points, _shared_values(files[0], group, color, list(points)) if color in names else {}
    )


def _shared_values(path: str, group: str, color: Any, names: list[str]) -> dict[str, list[Any]]:
    """The value of a column in each group, which must have one only."""
    from kernelmean.files import read_columns

    table = read_columns(path, [group, color])
    groups = table[group].astype(str)
    values = {name: set(table[color][groups == name].tolist()) for name in names}
    mixed = next((name for name, seen in values.items() if len(seen) != 1), None)
    if mixed is not None:
        raise ValueError(
            f"column {color!r} differs within group {mixed!r}, so it is no property of the sample."
        )
    return {color: [values[name].pop() for name in names]}


def _described(path: Path, names: list[str]) -> dict[str, list[Any]]:
    """Columns of the metadata in the order of the samples."""
    from kernelmean.files import read_columns, short_name

    table = read_columns(path)
    first, *others = table
    listed = list(map(str, table[first]))
    places = {short_name(name): i for i, name in enumerate(listed)} | {
        name: i for i, name in enumerate(listed)
    }
    absent = next((name for name in names if name not in places), None)
    if absent is not None:
        raise ValueError(
            f"{path} does not name the sample {absent!r} in its first column, {first!r}."
        )
    return {column: [table[column][places[name]] for name in names] for column in others}


def _rows(embedding: DistributionEmbedding, samples: Samples) -> list[dict[str, Any]]:
    """One line per sample: name, size, centres, error, coordinates, metadata."""
    errors = embedding.sample_errors_
    coordinates = embedding.embedding_
    assert coordinates is not None
    return [
        {
            "name": name,
            "points": len(samples.points[name]),
            "centres": embedding.means_[i].expansion.k,
            **({} if errors is None else {"error": float(errors[i])}),
            **{f"x{j + 1}": float(value) for j, value in enumerate(coordinates[i])},
            **{column: values[i] for column, values in samples.metadata.items()},
        }
        for i, name in enumerate(samples.points)
    ]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    from kernelmean.files import table_writer

    with table_writer(path) as write:
        write({name: [row[name] for row in rows] for name in rows[0]})


def _report(
    path: Path,
    embedding: DistributionEmbedding,
    samples: Samples,
    color: str | None,
    settings: dict[str, Any],
) -> None:
    from kernelmean.pictures.html import embedding_page

    page = embedding_page(
        embedding,
        metadata=samples.metadata or None,
        color=color,
        settings=settings,
        command=results.command_line(),
    )
    results.write_text(path, page)
