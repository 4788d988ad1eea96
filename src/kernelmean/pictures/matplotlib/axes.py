"""What all displays need: axes to draw on, the mean inside an estimator, names as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    AxesLike: TypeAlias = Axes | Sequence[Axes] | np.ndarray[tuple[int, ...], np.dtype[np.object_]]
    AnyFigure: TypeAlias = Figure | SubFigure

PANEL = 3.4  # width and height of a panel, in inches
LEAST_SIZE = (4.8, 3.8)  # width and height of the smallest figure, in inches
ACROSS = 3  # panels in a row


@runtime_checkable
class HasMean(Protocol):
    """An estimator that holds a kernel mean once it is fitted."""

    mean_: KernelMean | SparseKernelMean | DomainMean


def panels(
    count: int, ax: AxesLike | None = None, least: tuple[float, float] = LEAST_SIZE
) -> tuple[AnyFigure, list[Axes]]:
    """``count`` axes: those given, one or a sequence, or new ones in rows of three.

    A new figure has at least this width and height, in inches.
    """
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise ValueError(f"ax holds {len(given)} axes, but this display draws {count} panels.")
        return given[0].figure, given
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("km.plot needs Matplotlib: pip install 'kernelmean[report]'.") from error
    across = min(count, ACROSS)
    down = math.ceil(count / across)
    size = (max(PANEL * across, least[0]), max(PANEL * down, least[1]))
    figure, made = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for spare in made.ravel()[count:]:
        spare.remove()
    return figure, list(made.ravel()[:count])


def mean_of(estimator: object) -> KernelMean | SparseKernelMean | DomainMean:
    """The mean inside a fitted estimator."""
    check_is_fitted(estimator)
    if isinstance(estimator, HasMean) and isinstance(
        estimator.mean_, (KernelMean, SparseKernelMean, DomainMean)
    ):
        return estimator.mean_
    raise TypeError(f"{type(estimator).__name__} holds no kernel mean to draw (mean_).")


def plain(name: str) -> str:
    """A name as it is: Matplotlib would read mathematics between two dollars."""
    return name.replace("$", r"\$")
