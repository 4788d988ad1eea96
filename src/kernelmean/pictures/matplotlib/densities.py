"""A density in planes of two coordinates, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kernelmean._types import ArrayLike
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures import DensityView, density_views, line_view, plane_view
from kernelmean.pictures.matplotlib.axes import mean_of, panels

LEVELS = np.linspace(0.05, 0.95, 10)  # shares of the mass below
RINGS = 500.0  # square points that all centres of a panel cover together


class DensityDisplay:
    """Contours of a kernel mean with its centres, rings whose areas are their weights.

    Coordinates that are not shown are integrated out. Each line of a density encloses another tenth
    of the mass in view.

    Parameters
    ----------
    views : the panels; made by :meth:`from_estimator` and :meth:`from_mean`.

    Attributes
    ----------
    figure_, axes_, ax_ : the figure, its axes, and the first of them.
    contours_, centers_ : Matplotlib's artists, one of each per panel.
    """

    def __init__(self, *, views: Sequence[DensityView]) -> None:
        self.views = list(views)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike | None = None, *, features: Any = None, columns: Sequence[str] | None = None,
        ax: Any = None, centers: bool = True, **contour_options: Any,
    ) -> Self:  # fmt: skip
        """Draw the density of a fitted estimator that has one: SparseKDE, MeanShift,
        SparseKDEOutlierDetector.

        X sets the range of the picture (by default the centres do); ``features`` is a coordinate or
        a pair of them, by default everything there is to see: all pairs of up to six coordinates,
        the principal plane of more.
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
        cls, mean: KernelMean | SparseKernelMean, X: ArrayLike | None = None, *, features: Any = None,
        columns: Sequence[str] | None = None, ax: Any = None, centers: bool = True, **contour_options: Any,
    ) -> Self:  # fmt: skip
        """Draw a kernel mean; arguments as in :meth:`from_estimator`."""
        views = _views(mean, X, features, columns)
        return cls(views=views).plot(ax=ax, centers=centers, **contour_options)

    def plot(self, ax: Any = None, *, centers: bool = True, **contour_options: Any) -> Self:
        """Draw on the axes given, as many as there are panels, or on a new figure."""
        self.figure_, self.axes_ = panels(len(self.views), ax)
        self.ax_ = self.axes_[0]
        self.contours_ = []
        self.centers_ = []
        for view, axes in zip(self.views, self.axes_, strict=True):
            self.contours_.append(_ground(view, axes, contour_options))
            if centers:
                self.centers_.append(_rings(view, axes))
        return self


def _views(
    mean: Any, X: ArrayLike | None, features: Any, columns: Sequence[str] | None
) -> list[DensityView]:
    if features is None:
        return density_views(mean, X, columns)
    chosen = np.atleast_1d(np.asarray(features))
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or len(chosen) > 2 or not len(chosen):
        raise ValueError(
            f"features must be one coordinate or a pair of them, by number, got {features!r}."
        )
    if (
        chosen.min() < 0
        or chosen.max() >= mean.dimension
        or len(set(chosen.tolist())) < len(chosen)
    ):
        raise ValueError(
            f"features must be different numbers from 0 to {mean.dimension - 1}, got {features!r}."
        )
    if len(chosen) == 1:
        return [line_view(mean, int(chosen[0]), X, columns)]
    return [plane_view(mean, (int(chosen[0]), int(chosen[1])), X, columns)]


def _ground(view: DensityView, axes: Any, options: dict[str, Any]) -> Any:
    axes.set_xlabel(view.axes[0])
    if len(view.axes) == 1:
        axes.set_ylabel(view.what)
        return axes.plot(view.grids[0], view.values, **options)[0]
    axes.set_ylabel(view.axes[1])
    chosen = {"cmap": "Blues", **options}
    if view.signed:
        return axes.contourf(*view.grids, view.values, **{"levels": 12, **chosen})
    return axes.contourf(
        *view.grids, view.mass_below(), **{"levels": LEVELS, "extend": "max", **chosen}
    )


def _rings(view: DensityView, axes: Any) -> Any:
    """Areas in proportion to |α|; negative weights in another colour."""
    share = np.abs(view.weights) / np.abs(view.weights).sum()
    up = view.centers[:, 1] if len(view.axes) == 2 else np.zeros(len(share))
    inks = np.where(view.weights < 0, "tab:purple", "tab:orange")
    low = axes.get_xlim()
    high = axes.get_ylim()
    rings = axes.scatter(
        view.centers[:, 0],
        up,
        s=np.clip(RINGS * share, 2.0, 120.0),
        facecolors="none",
        edgecolors=inks,
        linewidths=0.7,
    )
    axes.set(xlim=low, ylim=high)
    return rings
