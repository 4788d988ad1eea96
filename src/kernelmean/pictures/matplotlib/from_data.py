"""Densities of a table's columns, group by group, as seaborn's ``kdeplot`` draws them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from kernelmean._types import ArrayLike
from kernelmean.pictures.grouped_density import Groups, grouped_density
from kernelmean.pictures.view import DensityView, region_masses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kernelmean.pictures.matplotlib.axes import AxesLike

LEVELS = 10  # regions whose contours are drawn
# Arguments of seaborn's ``kdeplot``, and what to do in their place.
INSTEAD = {
    "thresh": "give the largest mass in levels=, 0.95 for thresh=0.05",
    **dict.fromkeys(("bw_adjust", "bw_method"), "give estimator=km.SparseKDE(bandwidth=...)"),
    "cumulative": "plot density.cdf(x)",
    **dict.fromkeys(
        (
            "palette",
            "hue_order",
            "hue_norm",
            "multiple",
            "clip",
            "cut",
            "gridsize",
            "log_scale",
            "cbar",
        ),
        "draw display.views by Matplotlib",
    ),
}


class FromData(ABC):
    """A display of densities that can be made of a table."""

    def __init__(self, *, views: Sequence[DensityView], groups: Groups | None = None) -> None:
        self.views = list(views)
        self.groups = groups

    @abstractmethod
    def plot(
        self,
        ax: AxesLike | None = None,
        *,
        centers: bool = True,
        levels: int | Sequence[float] | None = None,
        fill: bool | None = None,
        **contour_options: Any,
    ) -> Self:
        """Draw the views."""

    @classmethod
    def from_data(
        cls,
        data: Any = None,
        *,
        x: str | int | ArrayLike | None = None,
        y: str | int | ArrayLike | None = None,
        hue: str | int | ArrayLike | None = None,
        weights: str | int | ArrayLike | None = None,
        levels: int | Sequence[float] = LEVELS,
        fill: bool = False,
        common_norm: bool = True,
        estimator: Any = None,
        domain: Any = None,
        centers: bool = False,
        ax: Axes | None = None,
        **contour_options: Any,
    ) -> Self:
        """Fit and draw the density of one or two columns of a table, for each group of its rows.

        The arguments that it shares with seaborn's ``kdeplot`` mean the same, and its others are
        refused. Levels alone are different: here a level p is the
        mass *within* its contour, there the mass below it, outside, so that ``levels=[0.1, 0.5]``
        of seaborn is ``levels=[0.9, 0.5]`` here, and its ``thresh=0.05`` a largest level of 0.95.

        Rows with a missing value (NaN, None or null) in a column that is used are left out.

        Parameters
        ----------
        data : frame, mapping or array-like, default=None
            A pandas, polars or Arrow table, a mapping from names to columns, or an array of shape
            (n, d), whose columns are numbers. None where all columns are given as arrays.
        x : str, int or array-like of shape (n,), default=None
            The column along the horizontal axis. Without ``y``, a curve is drawn. Of an array of
            one or two columns, these are drawn by default.
        y : str, int or array-like of shape (n,), default=None
            The column along the vertical axis. Without ``x``, the curve stands upright.
        hue : str, int or array-like of shape (n,), default=None
            The column whose values tell groups apart. Each has a density and a colour of its own,
            in the order of numbers, letters or categories.
        weights : str, int or array-like of shape (n,), default=None
            Weights of the rows; whole numbers mean repeated rows.
        levels : int or sequence of float, default=10
            Masses between 0 and 1: each contour encloses the smallest region that holds so much of
            the mass of its group, the highest density region. A number m stands for the masses
            (i − ½)/m, i = 1, ..., m. Curves have no levels.
        fill : bool, default=False
            Whether regions are filled, and areas below curves shaded, both transparently.
        common_norm : bool, default=True
            Whether the curve of a group encloses the share of its rows, so that all together
            enclose one. Otherwise each does. Contours are of the masses of single groups in any
            case.
        estimator : SparseKDE or None, default=None
            An estimator whose copy is fitted to each group. By default
            ``SparseKDE(bandwidth="scott", scale="cov", random_state=0)``, a sparse copy of the
            kernel density estimate that seaborn draws; with a ``domain``, with
            ``scale="std"``, and categories have the shares of their rows, with one more of each.
        domain : mapping or None, default=None
            What the columns can hold, by name or number, as :class:`SparseKDE` takes it: bounds,
            periods, longitude and latitude, or categories. The picture ends where the domain does.
            Columns that are not drawn may be named too.
        centers : bool, default=False
            Whether to draw the centres.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **contour_options : dict
            Passed on to Matplotlib's ``contourf`` or ``contour``, or to ``plot`` for a curve.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a group has too few different rows, two of one column or three of two, if there is
            no such column or it is used twice, or if a level is not between 0 and 1.
        TypeError
            If a column to be drawn holds no numbers, or the estimator no density; if an argument is
            one of seaborn's that is not offered.

        See Also
        --------
        from_estimator : A density that is fitted already, in any number of coordinates.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> table = {"size": rng.normal(size=200), "age": rng.normal(size=200)}
        >>> table["kind"] = np.repeat(["old", "new"], 100)
        >>> display = km.plot.DensityDisplay.from_data(
        ...     table, x="size", y="age", hue="kind", levels=(0.5, 0.9), fill=True
        ... )
        >>> [text.get_text() for text in display.legend_.get_texts()]
        ['new', 'old']
        """
        _refuse_seaborns(contour_options)
        region_masses(levels)  # refused before anything is fitted
        drawn = grouped_density(data, x, y, hue, weights, common_norm, estimator, domain)
        return cls(views=drawn.views, groups=drawn.groups).plot(
            ax=ax, centers=centers, levels=levels, fill=fill, **contour_options
        )


def _refuse_seaborns(options: dict[str, Any]) -> None:
    """A TypeError for an argument of seaborn's that Matplotlib does not know."""
    name = next((name for name in options if name in INSTEAD), None)
    if name is not None:
        raise TypeError(f"{name}= is an argument of seaborn's: {INSTEAD[name]}.")
