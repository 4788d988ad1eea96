"""Many samples as points of a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmean._types import ArrayLike, Points
from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.pictures.embedding import (
    ColorGroups,
    ColorScale,
    SampleMap,
    collection,
    sample_map,
)
from kernelmean.pictures.matplotlib.axes import panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.text import Annotation

    from kernelmean.pictures.matplotlib.axes import AnyFigure

MAX_LABELLED = 15  # samples up to which every one is named on the map
COLOR = "color"  # name of the one column that colours a map here


class EmbeddingDisplay:
    """Samples as points of a plane, near where their distributions are alike.

    Parameters
    ----------
    coordinates : ndarray of shape (N, n_components)
        Coordinates of the samples, of which the first two are drawn.
    names : sequence of str
        Names of the samples.

    Attributes
    ----------
    coordinates : ndarray of shape (N, n_components)
        As given.
    names : list of str
        As given.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    ax_ : matplotlib.axes.Axes
        The axes.
    points_ : list of matplotlib.collections.PathCollection
        The marks, one collection for each group.
    texts_ : list of matplotlib.text.Annotation
        The names beside the marks, where they are drawn.

    See Also
    --------
    kernelmean.plot.DistancesDisplay : The distances behind the map.
    kernelmean.report.embedding_page : The same picture on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> samples = {name: rng.normal(i, size=(50, 2)) for i, name in enumerate("abcd")}
    >>> embedding = km.DistributionEmbedding(embedding="mds", random_state=0).fit(samples)
    >>> display = km.plot.EmbeddingDisplay.from_estimator(embedding)
    >>> [text.get_text() for text in display.texts_]
    ['a', 'b', 'c', 'd']
    """

    figure_: AnyFigure
    ax_: Axes
    points_: list[PathCollection]
    texts_: list[Annotation]

    def __init__(self, *, coordinates: Points, names: Sequence[str]) -> None:
        self.coordinates = coordinates
        self.names = list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: DistributionEmbedding,
        *,
        names: Sequence[object] | None = None,
        color: ArrayLike | None = None,
        ax: Axes | None = None,
        label: bool | None = None,
        **scatter_options: Any,
    ) -> Self:
        """Draw the map of a fitted embedding.

        Parameters
        ----------
        estimator : DistributionEmbedding
            A fitted embedding with coordinates.
        names : sequence, default=None
            Names of the N samples; by default those of the fit.
        color : array-like of shape (N,), default=None
            A value for each sample: more than six different numbers give a scale of colours,
            anything else gives groups, with a legend.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        label : bool, default=None
            Whether to write the names beside the marks; by default up to 15 samples have names.
        **scatter_options : dict
            Passed on to Matplotlib's ``scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.plot.DistancesDisplay.from_estimator : The distances of the same samples.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = [rng.normal(i, size=(50, 2)) for i in range(4)]
        >>> embedding = km.DistributionEmbedding(embedding="mds", random_state=0).fit(samples)
        >>> display = km.plot.EmbeddingDisplay.from_estimator(embedding, color=list("uvuv"))
        >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
        ['u', 'v']
        """
        samples = collection(estimator, names)
        if samples.coordinates is None:
            raise ValueError(
                "this embedding has distances only (embedding=None); draw them with "
                "DistancesDisplay."
            )
        return cls(coordinates=samples.coordinates, names=samples.names).plot(
            ax=ax, color=color, label=label, **scatter_options
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        color: ArrayLike | None = None,
        label: bool | None = None,
        **scatter_options: Any,
    ) -> Self:
        """Draw, or draw again in another place or in other colours.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        color : array-like of shape (N,), default=None
            A value for each sample: more than six different numbers give a scale of colours,
            anything else gives groups, with a legend.
        label : bool, default=None
            Whether to write the names beside the marks; by default up to 15 samples have names.
        **scatter_options : dict
            Passed on to Matplotlib's ``scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_estimator : Takes the map of a fitted embedding, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> display = km.plot.EmbeddingDisplay(coordinates=np.eye(3), names=["a", "b", "c"])
        >>> len(display.plot(label=False).texts_)
        0
        """
        drawn = sample_map(self.coordinates, self.names, _columns(color, len(self.coordinates)))
        self.figure_, (self.ax_,) = panels(1, ax)
        self.points_ = _marks(drawn, self.ax_, scatter_options)
        wanted = len(drawn.places) <= MAX_LABELLED if label is None else label
        self.texts_ = _names(drawn, self.ax_) if wanted else []
        across, up = (*drawn.axes, "")[:2]
        self.ax_.set(xlabel=across, ylabel=up)
        return self


def _columns(color: ArrayLike | None, n: int) -> dict[str, list[object]]:
    """The one column that colours the map, or none."""
    if color is None:
        return {}
    values = np.asarray(color)
    if values.shape != (n,):
        raise ValueError(
            f"color has shape {values.shape}, but one value per sample is needed: ({n},)."
        )
    return {COLOR: list(values)}


def _marks(drawn: SampleMap, axes: Axes, options: dict[str, Any]) -> list[PathCollection]:
    """The samples in one colour, along a scale of colours, or group by group with a legend."""
    coloring = drawn.colorings.get(COLOR)
    x, y = drawn.places.T
    if isinstance(coloring, ColorScale):
        points = axes.scatter(x, y, c=coloring.values, **options)
        axes.figure.colorbar(points, ax=axes)
        return [points]
    if isinstance(coloring, ColorGroups):
        groups = [
            axes.scatter(x[rows], y[rows], label=name, **options)
            for name, rows in zip(coloring.names, coloring.members, strict=True)
        ]
        axes.legend(frameon=False)
        return groups
    return [axes.scatter(x, y, **options)]


def _names(drawn: SampleMap, axes: Axes) -> list[Annotation]:
    return [
        axes.annotate(
            plain(name), (x, y), xytext=(4, 4), textcoords="offset points", fontsize="small"
        )
        for name, (x, y) in zip(drawn.names, drawn.places, strict=True)
    ]
