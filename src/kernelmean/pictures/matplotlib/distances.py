"""The distances of all pairs of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Matrix
from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.pictures.distances import MAX_NAMED, clustered_order, distance_map
from kernelmean.pictures.embedding import collection
from kernelmean.pictures.matplotlib.axes import panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from kernelmean.pictures.matplotlib.axes import AnyFigure

NAMES_HEIGHT = 160.0  # height that a column of names has, in points
LARGEST_FONT = 10.0  # size of the names where they are few, in points


class DistancesDisplay:
    """The distances of all pairs of samples, ordered so that samples alike stand side by side.

    Parameters
    ----------
    distances : ndarray of shape (N, N)
        Distances of all pairs.
    names : sequence of str
        Names of the samples, in the order of the distances.
    order : ndarray of shape (N,)
        Rows in the order in which they are drawn.

    Attributes
    ----------
    distances : ndarray of shape (N, N)
        As given.
    names : list of str
        As given.
    order : ndarray of shape (N,)
        As given.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    ax_ : matplotlib.axes.Axes
        The axes.
    image_ : matplotlib.image.AxesImage
        The distances as colours.

    See Also
    --------
    kernelmean.plot.EmbeddingDisplay : The samples as points of a plane.
    kernelmean.report.embedding_page : The same picture on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> D = np.abs(np.subtract.outer([0.0, 9.0, 1.0], [0.0, 9.0, 1.0]))
    >>> display = km.plot.DistancesDisplay.from_distances(D, names=["a", "far", "b"])
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['far', 'b', 'a']
    """

    figure_: AnyFigure
    ax_: Axes
    image_: AxesImage

    def __init__(self, *, distances: Matrix, names: Sequence[str], order: IntVector) -> None:
        self.distances = distances
        self.names = list(names)
        self.order = order

    @classmethod
    def from_estimator(
        cls,
        estimator: DistributionEmbedding,
        *,
        names: Sequence[object] | None = None,
        ax: Axes | None = None,
        **image_options: Any,
    ) -> Self:
        """Draw the distances of a fitted embedding.

        Parameters
        ----------
        estimator : DistributionEmbedding
            A fitted embedding.
        names : sequence, default=None
            Names of the N samples; by default those of the fit.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **image_options : dict
            Passed on to Matplotlib's ``imshow``.

        Returns
        -------
        display : DistancesDisplay
            The display, drawn.

        See Also
        --------
        from_distances : The same for a matrix.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = [rng.normal(i, size=(50, 2)) for i in range(4)]
        >>> embedding = km.DistributionEmbedding(embedding=None, random_state=0).fit(samples)
        >>> km.plot.DistancesDisplay.from_estimator(embedding).image_.get_array().shape
        (4, 4)
        """
        samples = collection(estimator, names)
        return cls._ordered(samples.distances, samples.names).plot(ax=ax, **image_options)

    @classmethod
    def from_distances(
        cls,
        distances: ArrayLike,
        *,
        names: Sequence[object] | None = None,
        ax: Axes | None = None,
        **image_options: Any,
    ) -> Self:
        """Draw a matrix of distances.

        Parameters
        ----------
        distances : array-like of shape (N, N)
            Symmetric, such as the result of :func:`distance_matrix`.
        names : sequence, default=None
            Names of the N samples; by default 0, 1, and so on.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **image_options : dict
            Passed on to Matplotlib's ``imshow``.

        Returns
        -------
        display : DistancesDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.distance_matrix : Distances of several kernel means.

        Examples
        --------
        >>> import kernelmean as km
        >>> display = km.plot.DistancesDisplay.from_distances([[0.0, 2.0], [2.0, 0.0]])
        >>> display.names
        ['0', '1']
        """
        D = _checks.points(distances, "distances")
        if D.shape[0] != D.shape[1] or not np.allclose(D, D.T):
            raise ValueError(
                f"distances must be a symmetric (N, N) matrix, got one of shape {D.shape}."
            )
        given = [str(name) for name in (range(len(D)) if names is None else names)]
        if len(given) != len(D):
            raise ValueError(f"names has {len(given)} entries, but there are {len(D)} samples.")
        return cls._ordered(D, given).plot(ax=ax, **image_options)

    @classmethod
    def _ordered(cls, distances: Matrix, names: list[str]) -> Self:
        return cls(distances=distances, names=names, order=clustered_order(distances))

    def plot(self, ax: Axes | None = None, **image_options: Any) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **image_options : dict
            Passed on to Matplotlib's ``imshow``.

        Returns
        -------
        display : DistancesDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_distances : Orders the samples, and draws their distances.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> pair = np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> display = km.plot.DistancesDisplay(
        ...     distances=pair, names=["a", "b"], order=np.array([1, 0])
        ... )
        >>> [label.get_text() for label in display.plot().ax_.get_yticklabels()]
        ['b', 'a']
        """
        drawn = distance_map(self.distances, self.names, self.order)
        self.figure_, (self.ax_,) = panels(1, ax)
        self.image_ = self.ax_.imshow(drawn.distances, **({"cmap": "Blues_r"} | image_options))
        self.ax_.figure.colorbar(self.image_, ax=self.ax_, label="distance")
        if len(drawn.names) <= MAX_NAMED:
            names = [plain(name) for name in drawn.names]
            places = range(len(names))
            size = min(LARGEST_FONT, NAMES_HEIGHT / len(names))  # no letter stands in the next line
            self.ax_.set_xticks(places, names, rotation=90, fontsize=size)
            self.ax_.set_yticks(places, names, fontsize=size)
        return self
