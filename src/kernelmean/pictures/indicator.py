"""The error indicator against the number of centres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.on_domain import inner_of

HORIZONTAL = "centres m"  # title of the axis along which centres are counted


class IndicatorCurve(NamedTuple):
    """E_1..E_k, and how much of the squared error that k_0 centres remove is still there with m of
    them.
    """

    centers: IntVector  # (k,) m = 1..k
    values: Vector  # (k,) E_m, in units of g(0); err² = ‖z̄‖² + E_m
    # (k,) (E_m − E_k)/(E_1 − E_k), NaN where rounding leaves nothing to draw on a logarithmic axis
    left_over: Vector
    chosen: int  # k_0
    stop_reason: str

    @property
    def drawn(self) -> IntVector:
        """Places in the arrays above at which there is something to draw."""
        return np.flatnonzero(np.isfinite(self.left_over))


def indicator_curve(mean: KernelMean | SparseKernelMean | DomainMean) -> IndicatorCurve:
    """(E_m − E_k)/(E_1 − E_k) for m = 1..k; NaN at k itself, where it is 0.

    On a domain it is that of the mean inside, by which centres were chosen. A TypeError for a mean
    whose centres were not chosen one by one: all points, or cells.
    """
    mean = inner_of(mean)
    if not isinstance(mean, SparseKernelMean):
        raise TypeError(
            "this mean has no indicator, because every point is a centre or centres are cells, as "
            "in MeanShift by default: fit with sparse=True, MeanShift with significance=None."
        )
    E = mean.indicator
    if E is None:
        raise TypeError(
            "a density that was fitted by likelihood, or is a part of another, has no indicator: "
            "no kernel mean is known that it would be near to; fit with target='kde'. Nor has one "
            "whose centres have a spread that takes in categories or places; fit with spread=None."
        )
    left_over = np.full(len(E), np.nan)
    gained = E[0] - E[-1]
    if gained > 0.0:
        left_over = (E - E[-1]) / gained
        left_over[~(left_over > 0.0)] = np.nan
    return IndicatorCurve(np.arange(1, len(E) + 1), E, left_over, mean.k, mean.stop_reason)
