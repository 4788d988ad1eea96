"""The page of the clusters of a mean shift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean._types import ArrayLike
from kernelmean.meanshift.estimator import MeanShift
from kernelmean.pictures.cluster_points import names_of, point_views
from kernelmean.pictures.density import PRINCIPAL_AXES
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, legend_place
from kernelmean.pictures.html.cluster_points import points_charts, points_figures
from kernelmean.pictures.html.merge_tree import diagram_chart, told, tree_chart
from kernelmean.pictures.merge_tree import MergeView, merge_view

MAX_LISTED = 100  # clusters in the table, those of the highest peaks
MAX_MODES = 40  # modes in the table, the clearest
MAX_TABULATED = 12  # coordinates of a peak in the table


def clusters_page(
    shift: MeanShift,
    X: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write the clusters of a mean shift as one self-contained HTML page.

    The page has the clusters in a table, the persistence diagram and the tree of all peaks of the
    density, and the points in the colours of their clusters.

    Parameters
    ----------
    shift : MeanShift
        A fitted mean shift.
    X : array-like of shape (n, d), default=None
        The points that it was fitted to; without them the page does not show any.
    columns : sequence of str, default=None
        Names of the d coordinates; by default those of the data, or x1, x2 and so on.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of clusters.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time
        O(n·d + m²) and memory O(n·d + m) for m peaks.

    See Also
    --------
    kernelmean.MeanShift : Finds the clusters.
    kernelmean.plot.MergeTreeDisplay : The diagram and the tree by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
    >>> page = km.report.clusters_page(km.MeanShift(random_state=0).fit(X), X)
    >>> "300 points in 2 clusters" in page
    True
    """
    view = merge_view(shift)
    names = names_of(shift, columns)
    merging = [diagram_chart("diagram", view), tree_chart("tree", view)]
    points, drawn = _points(shift, X, names)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(shift, view))),
        page.section("clusters", "Clusters", _clusters(shift, view, names)),
        page.section("merging", "How peaks merge", *_merging(view, merging)),
        *points,
        facts.settings_section(_settings(shift), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"{_counted(len(shift.labels_), 'point')} in {_clustered(view)}"
    lede = page.text(_lede(shift, view))
    return page.render(page.Page("clusters", heading, lede, sections, [*merging, *drawn]))


def _lede(shift: MeanShift, view: MergeView) -> str:
    peaks = _counted(len(view.clusters), "peak")
    said = f"The density of {_counted(shift.n_features_in_, 'column')} has {peaks}"
    if len(view.clusters) == 1:
        return f"{said}."
    if shift.significance is None:
        return f"{said}; no test has asked which of them are chance."
    some = "one is a cluster" if view.n_clusters == 1 else f"{view.n_clusters} are clusters"
    kept = "all of them clusters" if view.n_clusters == len(view.clusters) else f"of which {some}"
    large = "" if shift.min_cluster_size == 1 else f" of {shift.min_cluster_size} points or more"
    return f"{said}, {kept}{large} at the level {shift.significance:g}."


def _clustered(view: MergeView) -> str:
    return _counted(view.n_clusters, "cluster")


def _counted(count: int, what: str) -> str:
    return f"{facts.number(count)} {what}{'' if count == 1 else 's'}"


def _numbers(shift: MeanShift, view: MergeView) -> dict[str, str]:
    unclear = int((shift.labels_ < 0).sum())
    return {
        "points": facts.number(len(shift.labels_)),
        "clusters": facts.number(view.n_clusters),
        "peaks of the density": facts.number(len(view.clusters)),
        "level of the test": "none" if shift.significance is None else f"{shift.significance:g}",
        "bandwidth": f"{shift.bandwidth_:.4g}",
        "mean strength": f"{shift.strengths_.mean():.3f}",
        **({"between clusters": facts.number(unclear)} if shift.noise else {}),
    }


def _settings(shift: MeanShift) -> dict[str, object]:
    mean = shift.mean_.expansion
    radius = "one bandwidth" if shift.merge_radius is None else shift.merge_radius
    return {
        "kernel": mean.kernel,
        "scale": _scale(shift),
        "centres": facts.number(mean.k),
        "spread": facts.SPREADS[mean.atoms.kind],
        "significance": "none" if shift.significance is None else shift.significance,
        "tolerance": shift.tol,
        "merge radius": radius,
        "smallest cluster": _counted(shift.min_cluster_size, "point"),
        "steps of the slowest point": shift.n_iter_,
    }


def _scale(shift: MeanShift) -> str:
    """What columns are divided by, or the size of the map."""
    A = shift.mean_.expansion.scale
    if A is None:
        return "none"
    if np.array_equal(A, np.diag(np.diag(A))) and len(A) <= MAX_TABULATED:
        return "columns divided by " + ", ".join(f"{1.0 / a:.4g}" for a in np.diag(A))
    return f"{len(A)} × {len(A)} matrix"


def _clusters(shift: MeanShift, view: MergeView, columns: Sequence[str]) -> str:
    """What is known of each cluster."""
    names = columns[:MAX_TABULATED]
    labels = shift.labels_[shift.labels_ >= 0]
    sizes = np.bincount(labels, minlength=view.n_clusters)
    strengths = np.bincount(labels, shift.strengths_[shift.labels_ >= 0], view.n_clusters)
    rows = []
    for cluster in range(min(view.n_clusters, MAX_LISTED)):
        size = int(sizes[cluster])
        _, _, z, _, peak, _ = told(view, int(shift.cluster_modes_[cluster]))
        place = shift.cluster_centers_[cluster, : len(names)]
        share = f"{100.0 * size / len(shift.labels_):.1f} %"
        strength = f"{strengths[cluster] / size:.3f}" if size else "–"
        at = [f"{value:.4g}" for value in place]
        rows.append([cluster, facts.number(size), share, z, strength, peak, *at])
    head = ("cluster", "points", "share", "z", "mean strength", "log density", *names)
    more = view.n_clusters - len(rows)
    table = page.table("Clusters and their peaks", head, rows, numbers=range(1, len(head)))
    words = (
        "That of the highest peak comes first; z says how far its peak stands above the saddle at "
        "which it joins another, in standard deviations of chance."
    )
    rest = f" {_counted(more, 'further cluster')} not listed." if more else ""
    return f'<p>{words}{rest}</p><div class="nowrap tall">{table}</div>'


def _merging(view: MergeView, drawn: Sequence[Chart]) -> list[str]:
    """The diagram and the tree, in words and as figures, and the modes as a table."""
    diagram = (
        "Each dot is a peak of the density, its area the points that climb to it. The further "
        "below the diagonal, the higher it stands above the saddle at which its hill meets another."
    )
    tree = "Each line is a peak, from its height down to that saddle, where it joins another."
    if view.left_out:
        tree += f" {_counted(view.left_out, 'less clear peak')} not drawn."
    return [
        f'<div class="controls">{legend_place(drawn)}</div>',
        '<div class="views pair">'
        + page.chart("diagram", "Persistence diagram", page.text(diagram))
        + page.chart("tree", "Merge tree", page.text(tree))
        + "</div>",
        _modes(view),
    ]


def _modes(view: MergeView) -> str:
    """The clearest modes as a table, folded away."""
    chosen = view.clearest[:MAX_MODES]
    rows = []
    for mode in chosen:
        name, *figures = told(view, int(mode))
        joins = int(view.joined[mode])
        rows.append([int(mode), name, *figures, "–" if joins < 0 else joins])
    head = ("peak", "is", "points", "z", "p", "log density", "at the saddle", "joins peak")
    what = "All peaks" if len(chosen) == len(view.clusters) else f"The {MAX_MODES} clearest peaks"
    table = page.table(what, head, rows, numbers=range(2, len(head)))
    return f'<details class="nowrap"><summary>{what} as a table</summary>{table}</details>'


def _points(
    shift: MeanShift, X: ArrayLike | None, names: Sequence[str]
) -> tuple[list[str], list[Chart]]:
    """The section of the points and its charts, where there are some."""
    if X is None:
        return [], []
    views = point_views(shift, X, names)
    drawn = points_charts(views, len(shift.cluster_modes_))
    said = "Each point in the colour of its cluster."
    if views[0].axes == PRINCIPAL_AXES:
        said += " The plane is that of the two leading principal axes of the density."
    if len(views[0].rows) < len(shift.labels_):
        said += f" Drawn are {facts.number(len(views[0].rows))} of them."
    legend = f'<div class="controls">{legend_place(drawn)}</div>'
    figures = points_figures(views, drawn)
    return [page.section("points", "Points", f"<p>{page.text(said)}</p>", legend, figures)], drawn
