"""What a fit says of itself where its error is large, or larger than was asked for."""

from __future__ import annotations

import warnings

from kernelmean.fitting.points import HONEST
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean

MORE = 4  # times as many centres are what a warning proposes
MANY = 0.25  # of the points: a mean of more centres is hardly sparse, so another bandwidth helps


class FitWarning(UserWarning):
    """A fit that left the number of centres to us has a large error, or one above ``error=``.

    The text says how large the error is and what to change. A fit with a given ``k`` says it by
    ``SparseKernelMean.estimated_error`` alone.

    See Also
    --------
    sparse_kernel_mean : Gives it.

    Examples
    --------
    >>> import warnings, numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     mean = km.sparse_kernel_mean(X, bandwidth=0.05, k_max=20, spread=None, random_state=0)
    >>> caught[0].category is km.FitWarning, bool(mean.estimated_error > 0.1)
    (True, True)
    """


def told(mean: SparseKernelMean, settings: FitSettings, depth: int = 1) -> SparseKernelMean:
    """The mean, after a warning where its number of centres was open and its error is large.

    Rows that were named as centres are as many as were asked for, and ``patience=1`` is the paper's
    rule, whatever comes of it. The warning points to the line
    that called the caller, or to one ``depth`` calls up.
    """
    estimated = mean.estimated_error
    if estimated is None or not isinstance(settings.k, str):
        return mean
    if settings.error is not None and mean.stop_reason == "k_max":
        _warn(
            f"error={settings.error:g} was not reached: {mean.k} centres, {_most(settings)}, leave "
            f"an estimated relative error of {estimated:.2g}.",
            depth,
        )
    elif settings.error is None and estimated > HONEST and _ours(settings):
        _warn(
            f"{mean.k} centres leave an estimated relative error of {estimated:.2g}; "
            f"{_advice(mean, settings)}.",
            depth,
        )
    return mean


def told_on_domain(mean: DomainMean, settings: FitSettings, depth: int = 1) -> DomainMean:
    """The same for a mean on a domain."""
    if isinstance(mean.base, SparseKernelMean):
        told(mean.base, settings, depth + 1)
    return mean


def _ours(settings: FitSettings) -> bool:
    """Whether the number of centres is our choice, not that of rows or of the paper's rule."""
    return isinstance(settings.selection, str) and settings.patience > 1


def _warn(text: str, depth: int) -> None:
    warnings.warn(text, FitWarning, stacklevel=3 + depth)


def _most(settings: FitSettings) -> str:
    if settings.k_max is not None:
        return "the most that k_max allows"
    if not isinstance(settings.selection, str):
        return "all that selection names"
    return "the most that memory allows"


def _advice(mean: SparseKernelMean, settings: FitSettings) -> str:
    """The one thing to change."""
    if mean.stop_reason == "k_max" and mean.k < MANY * mean.n_points:
        return f"allow more of them, k_max={MORE * mean.k}"
    if settings.spread is None and mean.kernel.traits.spreads:
        return "give them spreads, spread='auto'"
    return "use a wider bandwidth"
