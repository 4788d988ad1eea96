"""The error indicator against the number of centres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.indicator import HORIZONTAL, IndicatorCurve, indicator_curve
from kernelmean.pictures.matplotlib.axes import mean_of, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from kernelmean.mean.expansion import KernelMean
    from kernelmean.pictures.matplotlib.axes import AnyFigure


class IndicatorDisplay:
    """How much of the squared error that k centres remove is still there with m of them.

    Drawn is (E_m − E_k)/(E_1 − E_k) against m on a logarithmic axis, where E_m is the error
    indicator of the first m centres, and the number of centres at which the fit stopped.

    Parameters
    ----------
    curve : IndicatorCurve
        The curve, as :meth:`from_estimator` and :meth:`from_mean` make it.

    Attributes
    ----------
    curve : IndicatorCurve
        What is drawn.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    ax_ : matplotlib.axes.Axes
        The axes.
    line_ : matplotlib.lines.Line2D
        The curve.
    chosen_ : matplotlib.lines.Line2D
        The mark at the number of centres of the fit.

    See Also
    --------
    kernelmean.plot.DensityDisplay : The fitted density with its centres.
    kernelmean.report.fit_page : The same picture on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(300, 2)), k=20)
    >>> display = km.plot.IndicatorDisplay.from_mean(mean)
    >>> int(display.chosen_.get_xdata()[0])
    20
    """

    figure_: AnyFigure
    ax_: Axes
    line_: Line2D
    chosen_: Line2D

    def __init__(self, *, curve: IndicatorCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls, estimator: object, *, ax: Axes | None = None, **line_options: Any
    ) -> Self:
        """Draw the indicator of the sparse mean inside a fitted estimator.

        Parameters
        ----------
        estimator : SparseKDE, MeanShift or SparseKDEOutlierDetector
            A fitted estimator that holds a sparse kernel mean. A density that was fitted by
            likelihood, or is one of cells as in ``MeanShift`` by default, has no indicator and is
            refused by a TypeError.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options : dict
            Passed on to Matplotlib's ``semilogy``.

        Returns
        -------
        display : IndicatorDisplay
            The display, drawn.

        See Also
        --------
        from_mean : The same for a sparse kernel mean.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> density = km.SparseKDE(k=20, target="kde", random_state=0).fit(X)
        >>> km.plot.IndicatorDisplay.from_estimator(density).ax_.get_xlabel()
        'centres m'
        """
        return cls.from_mean(mean_of(estimator), ax=ax, **line_options)

    @classmethod
    def from_mean(
        cls,
        mean: KernelMean | SparseKernelMean | DomainMean,
        *,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the indicator of a sparse kernel mean.

        Parameters
        ----------
        mean : SparseKernelMean or DomainMean
            The mean. A full kernel mean and a density by likelihood have no indicator and are
            refused by a TypeError.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options : dict
            Passed on to Matplotlib's ``semilogy``.

        Returns
        -------
        display : IndicatorDisplay
            The display, drawn.

        See Also
        --------
        from_estimator : The same for an estimator.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(300, 2)), k=20)
        >>> km.plot.IndicatorDisplay.from_mean(mean, color="black").line_.get_color()
        'black'
        """
        return cls(curve=indicator_curve(mean)).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options : dict
            Passed on to Matplotlib's ``semilogy``.

        Returns
        -------
        display : IndicatorDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_mean : Takes the curve of a mean, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(300, 2)), k=20)
        >>> display = km.plot.IndicatorDisplay.from_mean(mean)
        >>> own = Figure().subplots()
        >>> display.plot(ax=own).ax_ is own
        True
        """
        self.figure_, (self.ax_,) = panels(1, ax)
        curve = self.curve
        (self.line_,) = self.ax_.semilogy(curve.centers, curve.left_over, **line_options)
        self.chosen_ = self.ax_.axvline(
            curve.chosen,
            color="tab:orange",
            linestyle=":",
            label=f"$k_0$ = {curve.chosen} ({curve.stop_reason})",
        )
        self.ax_.set(xlabel=HORIZONTAL, ylabel="$(E_m - E_{k_0})\\,/\\,(E_1 - E_{k_0})$")
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(frameon=False)
        return self
