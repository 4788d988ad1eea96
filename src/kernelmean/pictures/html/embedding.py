"""The page of an embedding of distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.pictures import Collection, collection
from kernelmean.pictures.html import charts, facts, page
from kernelmean.pictures.html.scatter import PLAIN, scatter

NEIGHBORS = 5
FILTERED = 12  # samples from which on the table has a search box
MAPPED = 1000  # samples up to which all distances are drawn
METRICS = {
    "mmd": "maximum mean discrepancy",
    "l2": "L2 distance of the densities",
    "kl": "Kullback–Leibler divergence, both ways added",
}


def embedding_page(
    embedding: DistributionEmbedding,
    *,
    names: Sequence[object] | None = None,
    metadata: Mapping[str, Sequence[object]] | None = None,
    color: str | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Samples as points of a plane, as one self-contained HTML page.

    Parameters
    ----------
    embedding : fitted; with ``error_bars=True`` the page shows each sample's error.
    names : of the N samples; by default those of the fit.
    metadata : columns to colour by, name to N values; numbers give a scale, anything else groups.
    color : the column to begin with; by default the first.
    settings : more rows for the table of settings, name to value.
    command : that reproduces the page, as a line or as a list of arguments.
    title : heading of the page.
    """
    samples = collection(embedding, names)
    known = _checked(metadata or {}, color, len(samples.names))
    drawn = []
    sections = [page.section("facts", "In numbers", page.facts(_numbers(embedding, samples)))]
    if samples.coordinates is not None:
        drawn.append(scatter("scatter", samples, known, color))
        sections.append(_scatter_section(embedding, drawn[0]))
    if len(samples.names) <= MAPPED:
        drawn.append(charts.heat_map("heat-map", samples))
    sections += [_heat_map_section(samples), _neighbors_section(samples)]
    sections += [
        facts.settings_section(_settings(embedding), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"{facts.number(len(samples.names))} samples compared"
    return page.render(page.Page("embed", heading, _lede(embedding, samples), sections, drawn))


def _checked(
    metadata: Mapping[str, Sequence[object]], color: str | None, n: int
) -> Mapping[str, Sequence[object]]:
    for name, values in metadata.items():
        if len(values) != n:
            raise ValueError(
                f"the metadata column {name!r} has {len(values)} values, but there are {n} samples."
            )
    if color is not None and color not in metadata:
        raise ValueError(
            f"color={color!r} is no column of the metadata; choose from "
            f"{', '.join(map(repr, metadata)) or 'none'}."
        )
    return metadata


def _lede(embedding: DistributionEmbedding, samples: Collection) -> str:
    total = facts.number(float(samples.sizes.sum()))
    said = (
        f"{facts.number(len(samples.names))} samples, {total} points in "
        f"{embedding.n_features_in_} dimensions, "
    )
    return page.text(f"{said}compared by the {METRICS[samples.metric]}.")


def _numbers(embedding: DistributionEmbedding, samples: Collection) -> dict[str, str]:
    errors = (
        {} if samples.errors is None else {"largest error of a mean": f"{samples.errors.max():.2e}"}
    )
    fewest = int(samples.counts.min())
    most = int(samples.counts.max())
    return {
        "samples": facts.number(len(samples.names)),
        "points": facts.number(float(samples.sizes.sum())),
        "centres each": facts.number(most)
        if fewest == most
        else f"{facts.number(fewest)} – {facts.number(most)}",
        "bandwidth": f"{embedding.bandwidth_:.4g}",
        **errors,
    }


def _settings(embedding: DistributionEmbedding) -> dict[str, object]:
    given = embedding.get_params()
    hidden = ("group", "random_state", "scale", "kernel", "bandwidth", "error_bars")
    kept = {name: value for name, value in given.items() if name not in hidden}
    scale = "none" if embedding.scale_ is None else "a matrix, common to all"
    engine = embedding.engine if isinstance(embedding.engine, str) else embedding.engine.name
    return {
        "kernel": embedding.kernel_,
        "scale": scale,
        "random_state": given["random_state"],
        **kept,
        "engine": engine,
    }


def _scatter_section(embedding: DistributionEmbedding, chart: charts.Chart) -> str:
    columns = [name for name in chart["variants"] if name != PLAIN]
    options = "".join(
        f'<option value="{page.text(name)}"{" selected" if name == chart["first"] else ""}>{page.text(name)}</option>'
        for name in (*columns, PLAIN)
    )
    choice = f'<label for="color-by">Colour by</label><select id="color-by" data-varies="scatter">{options}</select>'
    controls = f'{choice if columns else ""}{charts.legend_place([chart])}<span class="scalebar" hidden></span>'
    more = (
        ""
        if embedding.n_components <= 2
        else f" The first two of {embedding.n_components} coordinates are drawn."
    )
    method = {"isomap": "ISOMAP", "mds": "classical scaling"}[str(embedding.embedding)]
    caption = page.text(
        f"Each mark is a sample; near ones have like distributions. Coordinates by {method}: "
        f"only distances have a meaning.{more}"
        " Arrow keys walk through the samples."
    )
    return page.section(
        "map", "Map of the samples", f'<div class="controls">{controls}</div>',
        page.chart("scatter", "Map of the samples", caption, shape="large"),
    )  # fmt: skip


def _heat_map_section(samples: Collection) -> str:
    if len(samples.names) > MAPPED:
        words = (
            f"<p>All pairs of more than {facts.number(MAPPED)} samples are too many to draw; "
            "the table has the nearest.</p>"
        )
        return page.section("distances", "Distances", words)
    caption = page.text(
        f"All pairs by the {METRICS[samples.metric]}, in the order of a clustering (average "
        "linkage), so that samples alike "
        "stand together; the stronger the colour, the nearer. Arrow keys walk through the pairs."
    )
    return page.section(
        "distances",
        "Distances",
        page.chart("heat-map", "Distances of all pairs of samples", caption, shape="tile"),
    )


def _neighbors_section(samples: Collection) -> str:
    nearest = samples.nearest(NEIGHBORS)
    rows = [
        (
            name,
            facts.number(samples.sizes[i]),
            facts.number(samples.counts[i]),
            "not measured" if samples.errors is None else f"{samples.errors[i]:.2e}",
            *(f"{samples.names[j]} ({samples.distances[i, j]:.3g})" for j in nearest[i]),
        )
        for i, name in enumerate(samples.names)
    ]
    head = ("sample", "n", "k", "error", *(f"{rank + 1}." for rank in range(nearest.shape[1])))
    table = page.table(
        "Nearest samples of each, with their distances", head, rows, numbers=(1, 2, 3)
    )
    box = '<div class="controls"><label for="find">Find</label><input type="search" id="find" data-filters="neighbours"></div>'
    shown = box if len(rows) >= FILTERED else ""
    return page.section(
        "nearest", "Nearest samples", shown, f'<div id="neighbours" class="nowrap">{table}</div>'
    )
