"""The error indicator against the number of centres."""

from __future__ import annotations

from typing import Any, Self

from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures import Indicator, indicator
from kernelmean.pictures.matplotlib.axes import mean_of, panels


class IndicatorDisplay:
    """How much of the squared error that k centres remove is still there with m of them: (E_m −
    E_k)/(E_1 − E_k).

    Parameters
    ----------
    curve : made by :meth:`from_estimator` and :meth:`from_mean`.

    Attributes
    ----------
    figure_, ax_ : where it was drawn. line_, chosen_ : the curve, and the mark at k_0.
    """

    def __init__(self, *, curve: Indicator) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_options: Any) -> Self:
        """Draw the indicator of the sparse mean inside a fitted estimator."""
        return cls.from_mean(mean_of(estimator), ax=ax, **line_options)

    @classmethod
    def from_mean(cls, mean: Any, *, ax: Any = None, **line_options: Any) -> Self:
        """Draw the indicator of a sparse kernel mean."""
        if not isinstance(mean, SparseKernelMean):
            raise TypeError(
                "a full kernel mean has no indicator: every point is a centre; fit with "
                "sparse=True."
            )
        return cls(curve=indicator(mean)).plot(ax=ax, **line_options)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw on the axes given, or on a new figure."""
        self.figure_, (self.ax_,) = panels(1, ax)
        curve = self.curve
        (self.line_,) = self.ax_.semilogy(curve.centers, curve.left_over, **line_options)
        self.chosen_ = self.ax_.axvline(
            curve.chosen,
            color="tab:orange",
            linestyle=":",
            label=f"$k_0$ = {curve.chosen} ({curve.stop_reason})",
        )
        self.ax_.set(xlabel="centres m", ylabel="$(E_m - E_{k_0})\\,/\\,(E_1 - E_{k_0})$")
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(frameon=False)
        return self
