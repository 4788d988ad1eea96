"""Where the displays draw: axes that are given, or a new figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = 3.4  # inches


def panels(count: int, ax: Any = None, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """``count`` axes: those given, one or a sequence, or new ones in rows of three."""
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise ValueError(f"ax holds {len(given)} axes, but this display draws {count} panels.")
        return given[0].figure, given
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("km.plot needs Matplotlib: pip install 'kernelmean[report]'.") from error
    across = min(count, columns)
    down = math.ceil(count / across)
    size = (max(PANEL * across, 4.8), max(PANEL * down, 3.8))
    figure, made = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for spare in made.ravel()[count:]:
        spare.remove()
    return figure, list(made.ravel()[:count])


def mean_of(estimator: Any) -> KernelMean | SparseKernelMean:
    """The mean inside a fitted estimator."""
    check_is_fitted(estimator)
    mean = getattr(estimator, "mean_", None)
    if not isinstance(mean, (KernelMean, SparseKernelMean)):
        raise TypeError(f"{type(estimator).__name__} holds no kernel mean to draw (mean_).")
    return mean
