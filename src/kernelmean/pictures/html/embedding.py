"""The page of an embedding of distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean.embedding.differing import SamplesTest
from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.pictures.distances import distance_map
from kernelmean.pictures.embedding import Collection, collection, sample_map
from kernelmean.pictures.html import charts, facts, page
from kernelmean.pictures.html.distances import distances_chart
from kernelmean.pictures.html.sample_map import PLAIN, sample_map_chart

NEIGHBORS = 5  # nearest samples of each in the table
MIN_SEARCHED = 12  # samples from which on the table has a search box
MAX_PAIRED = 1000  # samples up to which all distances are drawn
ALIKE = 0.05  # p-value above which samples may all have one distribution
METRICS = {
    "mmd": "maximum mean discrepancy",
    "l2": "L2 distance of the densities",
    "kl": "Kullback–Leibler divergence, both ways added",
}


def embedding_page(
    embedding: DistributionEmbedding,
    *,
    names: Sequence[object] | None = None,
    test: SamplesTest | None = None,
    metadata: Mapping[str, Sequence[object]] | None = None,
    color: str | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write an embedding of distributions as one self-contained HTML page.

    The page has the map of the samples, their distances, and the nearest samples of each.

    Parameters
    ----------
    embedding : DistributionEmbedding
        A fitted embedding; with ``error_bars=True`` the page shows each sample's error.
    names : sequence, default=None
        Names of the N samples; by default those of the fit.
    test : SamplesTest, default=None
        The result of :func:`kernelmean.embedding.differing.samples_test` of the same samples: the
        page then says whether they differ at all. Without it the page compares their distances
        with those that chance would leave.
    metadata : mapping of str to sequence, default=None
        Columns to colour by, each with N values. More than six different numbers give a scale of
        colours, anything else gives groups.
    color : str, default=None
        The column to begin with; by default the first.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of samples.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time
        O(N³) for up to 600 samples, O(N² log N) for more; memory O(N²).

    See Also
    --------
    kernelmean.plot.EmbeddingDisplay : The map by Matplotlib.
    kernelmean.plot.DistancesDisplay : The distances by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> samples = {name: rng.normal(i, size=(50, 2)) for i, name in enumerate("abcd")}
    >>> embedding = km.DistributionEmbedding(embedding="mds", random_state=0).fit(samples)
    >>> page = km.report.embedding_page(embedding, metadata={"site": ["u", "v", "u", "v"]})
    >>> "4 samples compared" in page
    True
    """
    samples = collection(embedding, names)
    known = _checked(metadata or {}, color, len(samples.names))
    drawn = []
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(embedding, samples, test))),
        *_differ_section(samples, test),
    ]
    if samples.coordinates is not None:
        places = sample_map(samples.coordinates, samples.names, known)
        drawn.append(sample_map_chart("scatter", places, samples, color))
        sections.append(_map_section(embedding, drawn[0]))
    if len(samples.names) <= MAX_PAIRED:
        pairs = distance_map(samples.distances, samples.names)
        drawn.append(distances_chart("heat-map", pairs))
    sections += [
        _distances_section(samples),
        _neighbors_section(samples),
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


def _differ_section(samples: Collection, test: SamplesTest | None) -> list[str]:
    """Whether there is anything to see: by a test, and by how far chance alone drives samples."""
    ratio = samples.distance_to_chance
    if test is None and ratio is None:
        return []
    said = []
    if test is not None:
        alike = test.p_value > ALIKE
        verdict = (
            "The samples may all have one distribution: the map may show nothing but chance."
            if alike
            else "The samples differ."
        )
        how_many = facts.number(test.as_large) if test.as_large else "none"
        how = (
            f"Their means spread as far in {how_many} of {test.permutations} ways to share their "
            f"rows out anew (permutation test, {facts.number(test.rows)} rows, "
            f"p = {test.p_value:.2g})."
        )
        said.append(f"<p><strong>{verdict}</strong> {how}</p>")
    if ratio is not None:
        said.append(
            f"<p>On average their distances are {_times(ratio)} as chance alone would leave "
            "between samples of one distribution.</p>"
        )
    return [page.section("differ", "Do they differ at all?", *said)]


def _times(ratio: float) -> str:
    return "about as large" if 0.9 < ratio < 1.1 else f"{ratio:.2g} times as large"


def _numbers(
    embedding: DistributionEmbedding, samples: Collection, test: SamplesTest | None
) -> dict[str, str]:
    errors = (
        {} if samples.errors is None else {"largest error of a mean": f"{samples.errors.max():.2g}"}
    )
    tested = {} if test is None else {"do they differ": f"p = {test.p_value:.2g}"}
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
        **tested,
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


def _map_section(embedding: DistributionEmbedding, chart: charts.Chart) -> str:
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
    controls = (
        f'{_color_choice(chart)}{charts.legend_place([chart])}<span class="scalebar" hidden></span>'
    )
    return page.section(
        "map",
        "Map of the samples",
        f'<div class="controls">{controls}</div>',
        page.chart("scatter", "Map of the samples", caption, shape="large"),
    )


def _color_choice(chart: charts.Chart) -> str:
    """A list of the columns to colour by; nothing where there are none."""
    columns = [name for name in chart["variants"] if name != PLAIN]
    if not columns:
        return ""
    options = "".join(
        f'<option value="{page.text(name)}"{" selected" if name == chart["first"] else ""}>'
        f"{page.text(name)}</option>"
        for name in (*columns, PLAIN)
    )
    return (
        '<label for="color-by">Colour by</label>'
        f'<select id="color-by" data-varies="scatter">{options}</select>'
    )


def _distances_section(samples: Collection) -> str:
    if len(samples.names) > MAX_PAIRED:
        words = (
            f"<p>All pairs of more than {facts.number(MAX_PAIRED)} samples are too many to draw; "
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
            *facts.sample_figures(samples, i),
            *(_told(samples, i, int(j)) for j in nearest[i]),
        )
        for i, name in enumerate(samples.names)
    ]
    head = ("sample", "n", "k", "error", *(f"{rank + 1}." for rank in range(nearest.shape[1])))
    what = "Nearest samples of each, with their distances"
    if samples.noise is not None:
        what += ", and after the stroke the distance that chance leaves between samples of one kind"
    table = page.table(what, head, rows, numbers=(1, 2, 3))
    box = (
        '<div class="controls"><label for="find">Find</label>'
        '<input type="search" id="find" data-filters="neighbours"></div>'
    )
    shown = box if len(rows) >= MIN_SEARCHED else ""
    return page.section(
        "nearest", "Nearest samples", shown, f'<div id="neighbours" class="nowrap">{table}</div>'
    )


def _told(samples: Collection, i: int, j: int) -> str:
    """A neighbour with its distance, and that of chance."""
    chance = samples.chance(i, j)
    beside = "" if chance is None else f" / {chance:.2g}"
    return f"{samples.names[j]} ({samples.distances[i, j]:.3g}{beside})"
