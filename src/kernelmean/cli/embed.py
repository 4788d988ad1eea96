"""``kernelmean embed``: many samples as points in a plane."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, notes, results, streams
from kernelmean.cli import options as o
from kernelmean.cli.samples import Samples, read_samples

if TYPE_CHECKING:
    from kernelmean.embedding.differing import SamplesTest
    from kernelmean.embedding.estimator import DistributionEmbedding


Files = Annotated[
    list[str],
    declare.Argument(metavar="FILES...", help="One file per sample; or one file, with --group."),
]
Group = Annotated[
    str | None,
    declare.Option(metavar="COLUMN", help="Column that tells the samples of one file apart."),
]
Metric = Annotated[str, declare.Option(metavar="mmd|kl|l2", help="Distance between samples.")]
Output = Annotated[
    Path | None,
    declare.Option(
        "-o",
        "--output",
        metavar="COORDINATES.csv",
        help="csv, tsv, jsonl, parquet, feather or arrow; - is standard output.",
    ),
]
Method = Annotated[
    str, declare.Option(metavar="isomap|mds", help="How distances become coordinates.")
]
Dimensions = Annotated[int, declare.Option(min=1, help="Number of coordinates.")]
Neighbors = Annotated[int, declare.Option(min=1, help="Of the graph of isomap.")]
Metadata = Annotated[
    Path | None,
    declare.Option(
        metavar="TABLE",
        help="A table whose first column names the samples; the others describe them.",
    ),
]
Color = Annotated[
    str | None,
    declare.Option(
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
    form: streams.Format = streams.Form.csv,
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
      kernelmean embed cells.h5ad --group donor --columns obsm:X_pca
    """
    o.ready_for_table(output)
    o.ready(report)
    o.keep_apart([output, report], files)
    chosen = o.settings(
        bandwidth=bandwidth, kernel=kernel, scale=scale, k=k, selection=selection, spread=spread,
        engine=engine, seed=seed,
    )  # fmt: skip
    plane = {"n_components": dimensions, "embedding": method, "n_neighbors": neighbors}
    how = {"columns": columns, "transform": transform, "drop_na": drop_na}
    with results.working(quiet):
        paths = list(map(streams.given, files))
        samples = read_samples(paths, group, metadata, color, how)
        embedding = _fit(samples, chosen | plane | {"metric": metric})
        rows = _rows(embedding, samples)
        shown = {"files": len(files), "transform": transform or "none"}
        differs = _test(samples, chosen) if len(samples.points) > 1 else None
        written = _write(output, form, rows)
        if report is not None:
            page = _page(embedding, samples, differs, color, shown)
            written |= results.written(report, page)
    facts = {"samples": len(rows), "metric": metric, "kernel": str(embedding.kernel_)}
    tested = {} if differs is None else {"p_value_of_no_difference": differs.p_value}
    extra = {"distances": embedding.distances_} if as_json else {}
    aside = streams.is_standard(output)
    results.show(
        facts | tested | written | extra,
        as_json,
        aside=aside,
        **({} if aside else {"coordinates": rows}),
    )
    if differs is not None:
        notes.alike(differs.p_value)


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


def _test(samples: Samples, chosen: dict[str, Any]) -> SamplesTest:
    """Whether the samples differ at all, or their distances are what chance makes of one."""
    from kernelmean.embedding.differing import samples_test

    return samples_test(list(samples.points.values()), random_state=chosen["random_state"])


def _write(path: Path | None, form: streams.Form, rows: list[dict[str, Any]]) -> dict[str, str]:
    if path is None:
        return {}
    with streams.table_to(path, form) as write:
        write({name: [row[name] for row in rows] for name in rows[0]})
    return {"coordinates_file": str(path)}


def _page(
    embedding: DistributionEmbedding,
    samples: Samples,
    differs: SamplesTest | None,
    color: str | None,
    settings: dict[str, Any],
) -> str:
    from kernelmean.pictures.html import embedding_page

    return embedding_page(
        embedding,
        test=differs,
        metadata=samples.metadata or None,
        color=color,
        settings=settings,
        command=results.command_line(),
    )
