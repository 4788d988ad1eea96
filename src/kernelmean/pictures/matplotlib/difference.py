"""Where two samples differ, in a plane of two columns or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmean.pictures.difference import DifferenceMap, RegionMark, difference_map
from kernelmean.pictures.matplotlib.axes import panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

    from kernelmean.comparison.value import Difference
    from kernelmean.pictures.matplotlib.axes import AnyFigure

INKS = ("#0b4f86", "#a3420a")  # of what the first and the second sample have more of
FILLS = ("#2f83c0", "#e3813a")  # the same where the difference is largest
MARKS = ("o", "D")  # of rows that are typical of either sample
HALO = 2.5  # width of the light rim around labels, in points


class DifferenceDisplay:
    """Where the first of two samples has more of its rows, and where the second has.

    Blue is where the first sample has more, orange where the second has; the stronger, the larger
    the difference of the densities. Columns that are not shown are integrated out. Ellipses are the
    regions that were found, from the 10 % to the 90 % quantile of their rows in either column, with
    the difference of the shares of rows in percentage points. Dots are rows that are typical of
    what either sample has more of.

    Parameters
    ----------
    drawn : DifferenceMap
        What is to be drawn, as :meth:`from_difference` makes it.

    Attributes
    ----------
    drawn : DifferenceMap
        As given.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    ax_ : matplotlib.axes.Axes
        The axes.
    contours_ : matplotlib.contour.QuadContourSet or matplotlib.lines.Line2D
        Filled contours of the difference, or its curve along a single column.
    regions_ : list of matplotlib.lines.Line2D
        The outlines of the regions, in the order of the list of regions.
    texts_ : list of matplotlib.text.Annotation
        The labels of the regions, but for those that would lie on another.
    typical_ : list of matplotlib.collections.PathCollection
        The typical rows of the first sample and of the second.

    See Also
    --------
    kernelmean.report.difference_page : The same picture on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(300, 2))
    >>> B = np.concatenate([rng.normal(size=(250, 2)), rng.normal(4.0, 0.5, (50, 2))])
    >>> display = km.plot.DifferenceDisplay.from_difference(km.difference(A, B, random_state=0))
    >>> sorted([display.ax_.get_xlabel(), display.ax_.get_ylabel()])
    ['x1', 'x2']
    """

    figure_: AnyFigure
    ax_: Axes
    contours_: QuadContourSet | Line2D
    regions_: list[Line2D]
    texts_: list[Annotation]
    typical_: list[PathCollection]

    def __init__(self, *, drawn: DifferenceMap) -> None:
        self.drawn = drawn

    @classmethod
    def from_difference(
        cls,
        found: Difference,
        *,
        columns: Sequence[str | int] | str | int | None = None,
        ax: Axes | None = None,
        regions: bool = True,
        typical: bool = True,
        **contour_options: Any,
    ) -> Self:
        """Draw the difference of two samples.

        Parameters
        ----------
        found : Difference
            The result of :func:`kernelmean.difference`.
        columns : str, int or sequence of these, default=None
            One column or two, by name or number; by default the two that explain most.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        regions : bool, default=True
            Whether to draw the regions that were found and stand apart in these columns.
        typical : bool, default=True
            Whether to draw the rows that are typical of either sample.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf``, or to ``plot`` for a single column.

        Returns
        -------
        display : DifferenceDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.difference : Finds where two samples differ.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> found = km.difference(
        ...     rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, (200, 3)), random_state=0
        ... )
        >>> display = km.plot.DifferenceDisplay.from_difference(found, columns="x3")
        >>> display.ax_.get_xlabel()
        'x3'
        """
        drawn = difference_map(found, columns)
        return cls(drawn=drawn).plot(ax=ax, regions=regions, typical=typical, **contour_options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        regions: bool = True,
        typical: bool = True,
        **contour_options: Any,
    ) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        regions : bool, default=True
            Whether to draw the regions.
        typical : bool, default=True
            Whether to draw the rows that are typical of either sample.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf``, or to ``plot`` for a single column.

        Returns
        -------
        display : DifferenceDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_difference : Takes the map of a difference, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> rng = np.random.default_rng(0)
        >>> found = km.difference(
        ...     rng.normal(size=(200, 2)), rng.normal(0.5, 1.0, (200, 2)), random_state=0
        ... )
        >>> display = km.plot.DifferenceDisplay.from_difference(found)
        >>> own = Figure().subplots()
        >>> display.plot(ax=own, regions=False).ax_ is own
        True
        """
        drawn = self.drawn
        self.figure_, (self.ax_,) = panels(1, ax)
        self.contours_ = _ground(drawn, self.ax_, contour_options)
        limits = {"xlim": self.ax_.get_xlim()}
        if len(drawn.axes) == 2:
            limits["ylim"] = self.ax_.get_ylim()
        marks = drawn.regions if regions else ()
        self.typical_ = _dots(drawn, self.ax_) if typical else []
        self.regions_ = [_outline(mark, self.ax_) for mark in marks]
        self.texts_ = [_label(mark, self.ax_) for mark in marks if mark.labelled]
        self.ax_.set(**limits)
        _legend(drawn, self.ax_, self.typical_)
        return self


def _scheme() -> LinearSegmentedColormap:
    """From the second sample's colour over white to the first's; readers who do not tell red from
    green tell these.
    """
    from matplotlib.colors import LinearSegmentedColormap

    ends = [FILLS[1], "#ffffff", FILLS[0]]
    return LinearSegmentedColormap.from_list("difference", ends)


def _ground(drawn: DifferenceMap, axes: Axes, options: dict[str, Any]) -> QuadContourSet | Line2D:
    """The difference of the densities: filled contours, or a curve with the area below it."""
    axes.set_xlabel(plain(drawn.axes[0]))
    if len(drawn.axes) == 1:
        x = drawn.grids[0]
        y = drawn.values
        for more, part in ((0, np.maximum(y, 0.0)), (1, np.minimum(y, 0.0))):
            axes.fill_between(x, part, color=FILLS[more], alpha=0.6, linewidth=0.0)
        axes.set_ylabel("difference of the densities")
        axes.axhline(0.0, color="0.6", linewidth=0.8)
        axes.margins(x=0.0)
        line: dict[str, Any] = {"color": "0.25", "linewidth": 1.2}
        return axes.plot(x, y, **(line | options))[0]
    axes.set_ylabel(plain(drawn.axes[1]))
    usual: dict[str, Any] = {"cmap": _scheme(), "levels": drawn.levels, "extend": "both"}
    return axes.contourf(*drawn.grids, drawn.values, **(usual | options))


def _outline(mark: RegionMark, axes: Axes) -> Line2D:
    """An ellipse, or on a single axis a thick bar."""
    bar = len(mark.lower) == 1
    (line,) = axes.plot(
        *mark.outline.T,
        color=INKS[mark.more],
        linewidth=5.0 if bar else 1.6,
        linestyle="-" if mark.more == 0 or bar else (0, (5, 2)),
        solid_capstyle="butt",
    )
    return line


def _label(mark: RegionMark, axes: Axes) -> Annotation:
    from matplotlib.patheffects import withStroke

    return axes.annotate(
        plain(mark.label),
        tuple(mark.outline[mark.top]),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize="small",
        color=INKS[mark.more],
        path_effects=[withStroke(linewidth=HALO, foreground="white")],
    )


def _dots(drawn: DifferenceMap, axes: Axes) -> list[PathCollection]:
    """The typical rows of either sample."""
    return [
        axes.scatter(
            places[:, 0],
            places[:, 1],
            s=22,
            marker=marker,
            color=ink,
            edgecolors="white",
            linewidths=0.7,
            zorder=3,
        )
        for places, marker, ink in zip(drawn.typical, MARKS, INKS, strict=True)
    ]


def _legend(drawn: DifferenceMap, axes: Axes, dots: list[PathCollection]) -> None:
    """What the two colours are, and the dots where there are some; above, where nothing is."""
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=fill, label=plain(f"more in {name}"))
        for fill, name in zip(FILLS, drawn.names, strict=True)
    ]
    for name, mark in zip(drawn.names, dots, strict=False):
        mark.set_label(plain(f"typical of {name}"))
    handles = [*patches, *(mark for mark in dots if np.size(mark.get_offsets()))]
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False,
        fontsize="small", borderaxespad=0.2, columnspacing=1.2,
    )  # fmt: skip
