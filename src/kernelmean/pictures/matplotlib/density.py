"""A density in planes of two coordinates, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from kernelmean._types import ArrayLike
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import density_views
from kernelmean.pictures.matplotlib.axes import mean_of, panels
from kernelmean.pictures.matplotlib.categories import mark_sides
from kernelmean.pictures.matplotlib.contours import (
    Style,
    ground,
    group_colors,
    legend,
    outlines,
    rings,
    shading,
)
from kernelmean.pictures.matplotlib.from_data import FromData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection
    from matplotlib.legend import Legend

    from kernelmean.pictures.matplotlib.axes import AnyFigure, AxesLike
    from kernelmean.pictures.matplotlib.contours import Ground


class DensityDisplay(FromData):
    """Contours of a kernel mean with its centres, drawn as rings whose areas are their weights.

    A centre with a spread of its own has an ellipse around it, or along a single coordinate a bar,
    of one standard deviation.
    Coordinates that are not shown are integrated out. Each line of a density encloses another tenth
    of the mass in view. Negative weights have a colour of their own. On a domain panels end with
    it: categories are bars, curves or cells, longitude and latitude a map. :meth:`from_data` draws
    the groups of a table's rows on one panel.

    Parameters
    ----------
    views : sequence of DensityView
        One value for each panel, as :meth:`from_estimator` and :meth:`from_mean` make them, or for
        each group.
    groups : Groups or None, default=None
        Names of the groups, which share one panel.

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
        Contours, a curve, the curves of categories, bars or cells; one for each panel or group.
    areas_ : list of matplotlib.collections.PolyCollection
        The shading of such curves; none where they are not filled.
    centers_ : list of matplotlib.collections.PathCollection
        The rings; one collection for each panel, none without centres.
    spreads_ : list of matplotlib.collections.LineCollection
        The ellipses or bars; one collection for each panel, none where centres are points.
    legend_ : matplotlib.legend.Legend or None
        The names of the groups.

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
    contours_: list[Ground]
    centers_: list[PathCollection]
    areas_: list[PolyCollection]
    spreads_: list[LineCollection]
    legend_: Legend | None

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
        levels: int | Sequence[float] | None = None,
        fill: bool | None = None,
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
        levels : int or sequence of float, default=None
            Masses of the regions of a density that contours enclose, or how many regions; by
            default ten, of masses 0.05 to 0.95. For a mean with negative values, only how many.
        fill : bool, default=None
            Whether contours are filled, and curves shaded; by default contours only.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf`` or ``contour``, or to ``plot`` for a single
            coordinate.

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
            levels=levels,
            fill=fill,
            **contour_options,
        )

    @classmethod
    def from_mean(
        cls,
        mean: KernelMean | SparseKernelMean | DomainMean,
        X: ArrayLike | None = None,
        *,
        features: int | Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        ax: AxesLike | None = None,
        centers: bool = True,
        levels: int | Sequence[float] | None = None,
        fill: bool | None = None,
        **contour_options: Any,
    ) -> Self:
        """Draw a kernel mean.

        Parameters
        ----------
        mean : SparseKernelMean, KernelMean or DomainMean
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
        levels : int or sequence of float, default=None
            Masses of the regions of a density that contours enclose, or how many regions; by
            default ten, of masses 0.05 to 0.95. For a mean with negative values, only how many.
        fill : bool, default=None
            Whether contours are filled, and curves shaded; by default contours only.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf`` or ``contour``, or to ``plot`` for a single
            coordinate.

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
        return cls(views=views).plot(
            ax=ax, centers=centers, levels=levels, fill=fill, **contour_options
        )

    def plot(
        self,
        ax: AxesLike | None = None,
        *,
        centers: bool = True,
        levels: int | Sequence[float] | None = None,
        fill: bool | None = None,
        **contour_options: Any,
    ) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes or sequence of Axes, default=None
            Where to draw, with as many axes as there are panels; by default on a new figure.
        centers : bool, default=True
            Whether to draw the centres.
        levels : int or sequence of float, default=None
            Masses of the regions of a density that contours enclose, or how many regions; by
            default ten, of masses 0.05 to 0.95. For a mean with negative values, only how many.
        fill : bool, default=None
            Whether contours are filled, and curves shaded; by default contours only.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf`` or ``contour``, or to ``plot`` for a single
            coordinate.

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
        count = len(self.views)
        alone = self.groups is None
        self.figure_, self.axes_ = panels(count if alone else 1, ax)
        self.ax_ = self.axes_[0]
        shared = self.axes_ if alone else [self.ax_] * count
        colors = [None] * count if alone else group_colors(count)
        style = Style(levels, fill, contour_options)
        places = list(zip(self.views, shared, colors, strict=True))
        self.contours_ = [
            ground(view, axes, style._replace(color=color, slot=None if alone else (i, count)))
            for i, (view, axes, color) in enumerate(places)
        ]
        self.areas_ = [
            shading(view, axes, curve)
            for (view, axes, _), curve in zip(places, self.contours_, strict=True)
            if fill and view.shape == "curve"
        ]
        for view, axes, _ in places:
            mark_sides(view, axes)
        drawn = [place for place in places if centers and place[0].shape not in ("bars", "cells")]
        self.centers_ = [rings(*place) for place in drawn]
        self.spreads_ = [outlines(*place) for place in drawn if place[0].covariances is not None]
        self.legend_ = (
            None if self.groups is None else legend(self.ax_, self.groups, self.views, fill)
        )
        return self
