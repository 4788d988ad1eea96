"""How the peaks of a density merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmean.meanshift.estimator import MeanShift
from kernelmean.pictures.matplotlib.axes import panels
from kernelmean.pictures.merge_tree import (
    COLORS,
    HEIGHT,
    MAX_COLORED,
    NO_SADDLE,
    PEAK,
    SADDLE,
    MergeView,
    merge_view,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.text import Annotation

    from kernelmean.pictures.matplotlib.axes import AnyFigure, AxesLike

GREY = "0.6"  # of modes that are no cluster, on light and on dark
MARKERS = "osD^P"  # a new one when colours end
ALL_AREA = 600.0  # of the dots of all points together, in square points
LEAST_AREA = 10.0  # of the smallest dot
MAX_TICKS = 4  # along the peaks, which may differ in the third digit
MAX_NUMBERED = 20  # clusters up to which they are numbered in the tree


class MergeTreeDisplay:
    """How the peaks of a density merge: a persistence diagram, and a tree.

    In the diagram each peak is a dot: how high it is, and how high the saddle is at which its hill
    ends in another. Dots far below the diagonal stand clear of what surrounds them. The last one
    has no saddle and stands at the lower edge. In the tree each peak is a line from its height down
    to that saddle, where it joins another. Peaks that are clusters are coloured and numbered.

    Parameters
    ----------
    view : MergeView
        The peaks, as :meth:`from_estimator` finds them.

    Attributes
    ----------
    view : MergeView
        What is drawn.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    axes_ : list of matplotlib.axes.Axes
        The axes of the diagram and of the tree.
    ax_ : matplotlib.axes.Axes
        The first of them.
    dots_ : list of matplotlib.collections.PathCollection
        The peaks in the diagram: first those that are no cluster, then those of each colour.
    lines_ : matplotlib.collections.LineCollection
        The tree, peaks from left to right.
    texts_ : list of matplotlib.text.Annotation
        The numbers of the clusters above the lines of the tree.

    See Also
    --------
    kernelmean.MeanShift : Its ``tree_`` is what is drawn, as numbers.
    kernelmean.report.clusters_page : The same pictures on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
    >>> shift = km.MeanShift(random_state=0).fit(X)
    >>> display = km.plot.MergeTreeDisplay.from_estimator(shift)
    >>> [text.get_text() for text in display.texts_]
    ['0', '1']
    """

    figure_: AnyFigure
    axes_: list[Axes]
    ax_: Axes
    dots_: list[PathCollection]
    lines_: LineCollection
    texts_: list[Annotation]

    def __init__(self, *, view: MergeView) -> None:
        self.view = view

    @classmethod
    def from_estimator(
        cls, estimator: MeanShift, *, ax: AxesLike | None = None, **scatter_options: Any
    ) -> Self:
        """Draw the merge tree of a fitted mean shift.

        Parameters
        ----------
        estimator : MeanShift
            A fitted mean shift.
        ax : sequence of two Axes, default=None
            Where to draw; by default on a new figure.
        **scatter_options : dict
            Passed on to Matplotlib's ``scatter``, for the dots of the diagram.

        Returns
        -------
        display : MergeTreeDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.MeanShift.cut : Other clusters from the same tree.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> shift = km.MeanShift(bandwidth=0.5).fit(X)
        >>> km.plot.MergeTreeDisplay.from_estimator(shift).ax_.get_xlabel()
        'log density at the peak'
        """
        return cls(view=merge_view(estimator)).plot(ax=ax, **scatter_options)

    def plot(self, ax: AxesLike | None = None, **scatter_options: Any) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : sequence of two Axes, default=None
            Where to draw; by default on a new figure.
        **scatter_options : dict
            Passed on to Matplotlib's ``scatter``, for the dots of the diagram.

        Returns
        -------
        display : MergeTreeDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_estimator : Takes the tree of a mean shift, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> display = km.plot.MergeTreeDisplay.from_estimator(km.MeanShift(bandwidth=0.5).fit(X))
        >>> own = Figure().subplots(1, 2)
        >>> display.plot(ax=own).ax_ is own[0]
        True
        """
        self.figure_, self.axes_ = panels(2, ax)
        self.ax_ = self.axes_[0]
        self.dots_ = _diagram(self.view, self.axes_[0], scatter_options)
        self.lines_, self.texts_ = _tree(self.view, self.axes_[1])
        return self


def _diagram(view: MergeView, axes: Axes, options: dict[str, Any]) -> list[PathCollection]:
    high = float(view.log_peak.max())
    axes.axline((high, high), slope=1.0, color=GREY, linewidth=0.8, zorder=0)
    axes.axhline(view.floor, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    across = axes.get_yaxis_transform()
    axes.text(0.02, view.floor, NO_SADDLE, transform=across, va="top", color=GREY, size="small")
    areas = np.maximum(ALL_AREA * view.shares, LEAST_AREA)
    dots = []
    for group in np.unique(view.groups):
        rows = np.flatnonzero(view.groups == group)
        look: dict[str, Any] = {
            "marker": _marker(group),
            **_paint(group),
            "linewidths": 0.8,
        } | options
        x = view.log_peak[rows]
        dots.append(axes.scatter(x, view.log_saddle[rows], s=areas[rows], **look))
    axes.locator_params(axis="x", nbins=MAX_TICKS)
    axes.set(xlabel=PEAK, ylabel=SADDLE, xlim=view.peak_range, ylim=view.height_range)
    axes.set_title(_counted(view), fontsize="medium")
    return dots


def _tree(view: MergeView, axes: Axes) -> tuple[LineCollection, list[Annotation]]:
    from matplotlib.collections import LineCollection

    lines = view.lines
    groups = view.groups[view.branches]
    clusters = view.clusters[view.branches]
    drawn = LineCollection(
        list(lines),
        colors=[_color(group) for group in groups],
        linewidths=np.where(clusters >= 0, 2.0, 1.0).tolist(),
        capstyle="round",
    )
    axes.add_collection(drawn)
    texts = [
        axes.annotate(
            str(cluster),
            (line[0, 0], line[0, 1]),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
        for cluster, line in zip(clusters, lines, strict=True)
        if cluster >= 0 and view.n_clusters <= MAX_NUMBERED
    ]
    axes.set(ylabel=HEIGHT, ylim=view.height_range, xticks=[], xlim=(-0.8, len(lines) - 0.2))
    axes.set_title(_told(view), fontsize="medium")
    return drawn, texts


def _color(group: int) -> str:
    if group == 0:
        return GREY
    return f"C{COLORS}" if group > MAX_COLORED else f"C{(group - 1) % COLORS}"


def _marker(group: int) -> str:
    return "o" if group in (0, MAX_COLORED + 1) else MARKERS[(group - 1) // COLORS]


def _paint(group: int) -> dict[str, str]:
    """Clusters are filled, the others rings."""
    ring = {"facecolors": "none", "edgecolors": GREY}
    return ring if group == 0 else {"color": _color(group)}


def _counted(view: MergeView) -> str:
    modes = len(view.clusters)
    kept = f"{view.n_clusters} cluster{'s' if view.n_clusters > 1 else ''}"
    return f"{kept} of {modes} mode{'s' if modes > 1 else ''}"


def _told(view: MergeView) -> str:
    """What the tree shows."""
    return f"the {len(view.branches)} clearest modes" if view.left_out else "merge tree"
