"""A density in planes of two coordinates, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmean._types import ArrayLike
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import DensityView, density_views
from kernelmean.pictures.matplotlib.axes import mean_of, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D

    from kernelmean.pictures.matplotlib.axes import AnyFigure, AxesLike

SIGNED_LEVELS = 12  # most contour levels of a mean that is below zero somewhere
RING_AREA = 500.0  # area of the rings of all centres of a panel together, in square points
LEAST_RING = 2.0  # area of the smallest ring, in square points
LARGEST_RING = 120.0  # area of the largest ring, in square points
OUTLINE_WIDTH = 0.6  # of the ellipse of a spread, in points
BAR_WIDTH = 2.5  # of the bar of a spread along a line, in points
OUTLINE_OPACITY = 0.6  # of both


class DensityDisplay:
    """Contours of a kernel mean with its centres, drawn as rings whose areas are their weights.

    A centre with a spread of its own has an ellipse around it, or along a single coordinate a bar,
    of one standard deviation.
    Coordinates that are not shown are integrated out. Each line of a density encloses another tenth
    of the mass in view. Negative weights have a colour of their own.

    Parameters
    ----------
    views : sequence of DensityView
        One value for each panel, as :meth:`from_estimator` and :meth:`from_mean` make them.

    Attributes
    ----------
    views : list of DensityView
        What is drawn.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    axes_ : list of matplotlib.axes.Axes
        The axes of the panels.
    ax_ : matplotlib.axes.Axes
        The first of them.
    contours_ : list of matplotlib artists
        Filled contours, or the curve of a single coordinate; one for each panel.
    centers_ : list of matplotlib.collections.PathCollection
        The rings; one collection for each panel, none without centres.
    spreads_ : list of matplotlib.collections.LineCollection
        The ellipses or bars; one collection for each panel, none where centres are points.

    See Also
    --------
    kernelmean.plot.IndicatorDisplay : The error against the number of centres.
    kernelmean.report.fit_page : The same picture on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> density = km.SparseKDE(k=30, random_state=0).fit(X)
    >>> display = km.plot.DensityDisplay.from_estimator(density, X)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x1', 'x2')
    """

    figure_: AnyFigure
    axes_: list[Axes]
    ax_: Axes
    contours_: list[QuadContourSet | Line2D]
    centers_: list[PathCollection]
    spreads_: list[LineCollection]

    def __init__(self, *, views: Sequence[DensityView]) -> None:
        self.views = list(views)

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: ArrayLike | None = None,
        *,
        features: int | Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        ax: AxesLike | None = None,
        centers: bool = True,
        **contour_options: Any,
    ) -> Self:
        """Draw the density of a fitted estimator.

        Parameters
        ----------
        estimator : SparseKDE, MeanShift or SparseKDEOutlierDetector
            A fitted estimator that holds a kernel mean.
        X : array-like of shape (n, d), default=None
            Points that set the range of the picture; by default the centres do.
        features : int or sequence of int, default=None
            A coordinate, or a pair of them. By default all there is to see is drawn: every pair of
            up to six coordinates, or the plane of the two principal axes of more.
        columns : sequence of str, default=None
            Names of the coordinates; by default those that the mean remembers, else x1, x2, and so
            on.
        ax : Axes or sequence of Axes, default=None
            Where to draw, with as many axes as there are panels; by default on a new figure.
        centers : bool, default=True
            Whether to draw the centres.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf``, or to ``plot`` for a single coordinate.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.

        See Also
        --------
        from_mean : The same for a kernel mean.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> density = km.SparseKDE(k=30, random_state=0).fit(X)
        >>> len(km.plot.DensityDisplay.from_estimator(density, X).axes_)
        3
        """
        return cls.from_mean(
            mean_of(estimator),
            X,
            features=features,
            columns=columns,
            ax=ax,
            centers=centers,
            **contour_options,
        )

    @classmethod
    def from_mean(
        cls,
        mean: KernelMean | SparseKernelMean,
        X: ArrayLike | None = None,
        *,
        features: int | Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        ax: AxesLike | None = None,
        centers: bool = True,
        **contour_options: Any,
    ) -> Self:
        """Draw a kernel mean.

        Parameters
        ----------
        mean : SparseKernelMean or KernelMean
            The mean to draw.
        X : array-like of shape (n, d), default=None
            Points that set the range of the picture; by default the centres do.
        features : int or sequence of int, default=None
            A coordinate, or a pair of them; by default all there is to see.
        columns : sequence of str, default=None
            Names of the coordinates; by default those that the mean remembers, else x1, x2, and so
            on.
        ax : Axes or sequence of Axes, default=None
            Where to draw, with as many axes as there are panels; by default on a new figure.
        centers : bool, default=True
            Whether to draw the centres.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf``, or to ``plot`` for a single coordinate.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.

        See Also
        --------
        from_estimator : The same for an estimator.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(300, 3)), k=20)
        >>> display = km.plot.DensityDisplay.from_mean(mean, features=(0, 2), centers=False)
        >>> display.ax_.get_ylabel()
        'x3'
        """
        views = density_views(mean, X, columns, features)
        return cls(views=views).plot(ax=ax, centers=centers, **contour_options)

    def plot(
        self, ax: AxesLike | None = None, *, centers: bool = True, **contour_options: Any
    ) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes or sequence of Axes, default=None
            Where to draw, with as many axes as there are panels; by default on a new figure.
        centers : bool, default=True
            Whether to draw the centres.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf``, or to ``plot`` for a single coordinate.

        Returns
        -------
        display : DensityDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_mean : Computes the density, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(300, 1)), k=20)
        >>> display = km.plot.DensityDisplay.from_mean(mean)
        >>> own = Figure().subplots()
        >>> display.plot(ax=own, color="black").ax_ is own
        True
        """
        self.figure_, self.axes_ = panels(len(self.views), ax)
        self.ax_ = self.axes_[0]
        self.contours_ = []
        self.centers_ = []
        self.spreads_ = []
        for view, axes in zip(self.views, self.axes_, strict=True):
            self.contours_.append(_ground(view, axes, contour_options))
            if centers:
                self.centers_.append(_rings(view, axes))
            if centers and view.covariances is not None:
                self.spreads_.append(_outlines(view, axes))
        return self


def _ground(view: DensityView, axes: Axes, options: dict[str, Any]) -> QuadContourSet | Line2D:
    axes.set_xlabel(view.axes[0])
    if len(view.axes) == 1:
        axes.set_ylabel(view.what)
        return axes.plot(view.grids[0], view.values, **options)[0]
    axes.set_ylabel(view.axes[1])
    usual: dict[str, Any] = {"cmap": "Blues", "levels": SIGNED_LEVELS}
    if view.levels is not None:
        usual |= {"levels": view.levels, "extend": "max"}
    return axes.contourf(*view.grids, view.heights, **(usual | options))


def _rings(view: DensityView, axes: Axes) -> PathCollection:
    """Areas in proportion to |α|; negative weights in another colour."""
    horizontal = axes.get_xlim()
    vertical = axes.get_ylim()
    rings = axes.scatter(
        view.places[:, 0],
        view.places[:, 1],
        s=np.clip(RING_AREA * view.shares, LEAST_RING, LARGEST_RING),
        facecolors="none",
        edgecolors=_inks(view),
        linewidths=0.7,
    )
    axes.set(xlim=horizontal, ylim=vertical)
    return rings


def _outlines(view: DensityView, axes: Axes) -> LineCollection:
    """One standard deviation of every spread: thin ellipses, or bars that are seen on the axis."""
    from matplotlib.collections import LineCollection

    line = len(view.axes) == 1
    outlines = LineCollection(
        list(view.outlines()),
        colors=_inks(view),
        linewidths=BAR_WIDTH if line else OUTLINE_WIDTH,
        alpha=OUTLINE_OPACITY,
        clip_on=not line,
    )
    axes.add_collection(outlines, autolim=False)
    return outlines


def _inks(view: DensityView) -> list[str]:
    return ["tab:purple" if weight < 0 else "tab:orange" for weight in view.weights]
