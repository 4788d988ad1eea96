"""``kernelmean embed``: many samples as points in a plane."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results
from kernelmean.cli.samples import Samples, read_samples

if TYPE_CHECKING:
    from kernelmean.embedding.estimator import DistributionEmbedding


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILES...", help="One file per sample; or one file, with --group."),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that tells the samples of one file apart."),
]
Metric = Annotated[str, typer.Option(metavar="mmd|kl|l2", help="Distance between samples.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="COORDINATES.csv", help="csv, tsv, parquet, feather or arrow."
    ),
]
Method = Annotated[
    str, typer.Option(metavar="isomap|mds", help="How distances become coordinates.")
]
Dimensions = Annotated[int, typer.Option(min=1, help="Number of coordinates.")]
Neighbors = Annotated[int, typer.Option(min=1, help="Of the graph of isomap.")]
Metadata = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        help="A table whose first column names the samples; the others describe them.",
    ),
]
Color = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Colour of the report: a column of --metadata, or of the file with --group.",
    ),
]


def command(
    files: Files,
    group: Group = None,
    metric: Metric = "mmd",
    output: Output = None,
    method: Method = "isomap",
    dimensions: Dimensions = 2,
    neighbors: Neighbors = 5,
    bandwidth: o.Bandwidth = "iqr",
    kernel: o.Kernel = o.DEFAULT_KERNEL,
    scale: o.ScaleName = o.Scale.none,
    k: o.Centers = "auto",
    selection: o.SelectionName = o.Selection.auto,
    spread: o.SpreadName = o.Spread.auto,
    metadata: Metadata = None,
    color: Color = None,
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
      kernelmean embed patient1.fcs patient2.fcs patient3.fcs --columns FSC-A,CD3 -o map.csv
      kernelmean embed cells.parquet --group patient --color site --report embed.html
    """
    o.ready_for_table(output)
    o.ready_for_report(report)
    o.keep_apart([output, report], files)
    chosen = o.settings(
        bandwidth=bandwidth, kernel=kernel, scale=scale, k=k, selection=selection, spread=spread,
        engine=engine, seed=seed,
    )  # fmt: skip
    plane = {"n_components": dimensions, "embedding": method, "n_neighbors": neighbors}
    how = {"columns": columns, "transform": transform, "drop_na": drop_na}
    with results.working(quiet):
        samples = read_samples(files, group, metadata, color, how)
        embedding = _fit(samples, chosen | plane | {"metric": metric})
        rows = _rows(embedding, samples)
        _write(output, rows)
        shown = {"files": len(files), "transform": transform or "none"}
        _report(report, embedding, samples, color, shown)
    facts = {"samples": len(rows), "metric": metric, "kernel": str(embedding.kernel_)}
    extra = {"distances": embedding.distances_} if as_json else {}
    results.show(facts | extra, as_json, coordinates=rows)


def _fit(samples: Samples, settings: dict[str, Any]) -> DistributionEmbedding:
    """The embedding; errors are measured where the metric has any."""
    import kernelmean as km

    settings = settings | {"error_bars": settings["metric"] != "kl"}
    return km.DistributionEmbedding(**settings).fit(samples.points)


def _rows(embedding: DistributionEmbedding, samples: Samples) -> list[dict[str, Any]]:
    """One line per sample: name, size, centres, their spread, error, coordinates, metadata."""
    from kernelmean.pictures.embedding import collection

    told = collection(embedding)
    assert told.coordinates is not None
    return [
        {
            "name": name,
            "points": len(samples.points[name]),  # a KL mean is fitted to some of them only
            "centres": int(told.counts[i]),
            "spread": embedding.means_[i].expansion.atoms.kind or "none",
            **({} if told.errors is None else {"error": float(told.errors[i])}),
            **{f"x{j + 1}": float(value) for j, value in enumerate(told.coordinates[i])},
            **{column: values[i] for column, values in samples.metadata.items()},
        }
        for i, name in enumerate(told.names)
    ]


def _write(path: Path | None, rows: list[dict[str, Any]]) -> None:
    if path is None:
        return
    from kernelmean.files import table_writer

    with table_writer(path) as write:
        write({name: [row[name] for row in rows] for name in rows[0]})


def _report(
    path: Path | None,
    embedding: DistributionEmbedding,
    samples: Samples,
    color: str | None,
    settings: dict[str, Any],
) -> None:
    if path is None:
        return
    from kernelmean.pictures.html import embedding_page

    page = embedding_page(
        embedding,
        metadata=samples.metadata or None,
        color=color,
        settings=settings,
        command=results.command_line(),
    )
    results.write_text(path, page)
