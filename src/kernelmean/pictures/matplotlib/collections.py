"""Many samples: their map, and their distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Matrix, Points
from kernelmean.pictures import clustered_order, collection
from kernelmean.pictures.matplotlib.axes import panels

NAMED = 15  # samples up to which every one is named on the map
TICKED = 40  # and beside a matrix
LETTERS = 160.0  # points of height that a column of names has
FEW = 6  # different numbers up to which they are groups


class EmbeddingDisplay:
    """Samples as points of a plane, near where their distributions are alike.

    Parameters
    ----------
    coordinates : (N, ≥ 1), the first two are drawn. names : of the samples.

    Attributes
    ----------
    figure_, ax_ : where it was drawn. points_ : Matplotlib's artists, one for each group. texts_ :
        the names.
    """

    def __init__(self, *, coordinates: Points, names: Sequence[str]) -> None:
        self.coordinates = coordinates
        self.names = list(names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[object] | None = None, color: ArrayLike | None = None, ax: Any = None,
        label: bool | None = None, **scatter_options: Any,
    ) -> Self:  # fmt: skip
        """Draw a fitted DistributionEmbedding; ``color`` is a group or a number for each sample."""
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
        ax: Any = None,
        *,
        color: ArrayLike | None = None,
        label: bool | None = None,
        **scatter_options: Any,
    ) -> Self:
        """Draw; by default few samples are labelled with their names."""
        x = self.coordinates[:, 0]
        y = self.coordinates[:, 1] if self.coordinates.shape[1] > 1 else np.zeros(len(x))
        values = None if color is None else _column(color, len(x))
        self.figure_, (self.ax_,) = panels(1, ax)
        self.points_ = []
        if values is not None and values.dtype.kind in "iuf" and len(np.unique(values)) > FEW:
            self.points_ = [self.ax_.scatter(x, y, c=values, **scatter_options)]
            self.ax_.figure.colorbar(self.points_[0], ax=self.ax_)
        elif values is not None:
            for group in np.unique(values.astype(str)):
                rows = values.astype(str) == group
                self.points_.append(
                    self.ax_.scatter(x[rows], y[rows], label=group, **scatter_options)
                )
            self.ax_.legend(frameon=False)
        else:
            self.points_ = [self.ax_.scatter(x, y, **scatter_options)]
        named = len(x) <= NAMED if label is None else label
        self.texts_ = (
            [_named(self.ax_, *place) for place in zip(x, y, self.names, strict=True)]
            if named
            else []
        )
        self.ax_.set(
            xlabel="first coordinate",
            ylabel="second coordinate" if self.coordinates.shape[1] > 1 else "",
        )
        return self


class DistancesDisplay:
    """The distances of all pairs of samples, ordered so that samples alike stand side by side.

    Parameters
    ----------
    distances : (N, N). names : of the samples. order : (N,) rows in the order drawn.

    Attributes
    ----------
    figure_, ax_ : where it was drawn. image_ : Matplotlib's artist.
    """

    def __init__(self, *, distances: Matrix, names: Sequence[str], order: IntVector) -> None:
        self.distances = distances
        self.names = list(names)
        self.order = order

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[object] | None = None,
        ax: Any = None,
        **image_options: Any,
    ) -> Self:
        """Draw the distances of a fitted DistributionEmbedding."""
        samples = collection(estimator, names)
        return cls(distances=samples.distances, names=samples.names, order=samples.order).plot(
            ax=ax, **image_options
        )

    @classmethod
    def from_distances(
        cls,
        distances: ArrayLike,
        *,
        names: Sequence[object] | None = None,
        ax: Any = None,
        **image_options: Any,
    ) -> Self:
        """Draw an (N, N) matrix of distances, such as that of :func:`distance_matrix`."""
        D = _checks.points(distances, "distances")
        if D.shape[0] != D.shape[1] or not np.allclose(D, D.T):
            raise ValueError(
                f"distances must be a symmetric (N, N) matrix, got one of shape {D.shape}."
            )
        given = [str(name) for name in (range(len(D)) if names is None else names)]
        if len(given) != len(D):
            raise ValueError(f"names has {len(given)} entries, but there are {len(D)} samples.")
        return cls(distances=D, names=given, order=clustered_order(D)).plot(ax=ax, **image_options)

    def plot(self, ax: Any = None, **image_options: Any) -> Self:
        """Draw on the axes given, or on a new figure."""
        self.figure_, (self.ax_,) = panels(1, ax)
        ordered = self.distances[np.ix_(self.order, self.order)]
        self.image_ = self.ax_.imshow(ordered, **{"cmap": "Blues_r", **image_options})
        self.ax_.figure.colorbar(self.image_, ax=self.ax_, label="distance")
        if len(self.order) <= TICKED:
            names = [_plain(self.names[i]) for i in self.order]
            places = range(len(self.order))
            size = min(10.0, LETTERS / len(self.order))  # no letter stands in the next line
            self.ax_.set_xticks(places, names, rotation=90, fontsize=size)
            self.ax_.set_yticks(places, names, fontsize=size)
        return self


def _column(color: ArrayLike, n: int) -> np.ndarray[Any, Any]:
    values = np.asarray(color)
    if values.shape != (n,):
        raise ValueError(
            f"color has shape {values.shape}, but one value per sample is needed: ({n},)."
        )
    return values


def _named(axes: Any, x: float, y: float, name: str) -> Any:
    return axes.annotate(
        _plain(name), (x, y), xytext=(4, 4), textcoords="offset points", fontsize="small"
    )


def _plain(name: str) -> str:
    """A name as it is: Matplotlib would read mathematics between two dollars."""
    return name.replace("$", r"\$")
