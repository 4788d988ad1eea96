"""Answers that are more than an array."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kernelmean import _shown
from kernelmean._types import ArrayLike, Points, Vector
from kernelmean.mean.questions.asking import Columns

NEGLIGIBLE = 1e-5  # relative: a standard error that reaches no digit that is shown


class _Density(Protocol):
    """What is evaluated."""

    @property
    def dimension(self) -> int:
        """Number of columns."""

    def log(self, Q: Any) -> Vector:
        """The log-density at the query rows."""


class Estimate(float):
    """A number, and the standard error with which it is known.

    It is a float in every respect, shown in the digits that its error leaves, or in four where the
    error reaches none of them; a closed form has the standard error 0.

    Attributes
    ----------
    standard_error : float
        The standard error of the number; 0 where no chance entered.

    See Also
    --------
    SparseKDE.probability : The probability of a box.
    SparseKDE.entropy : The differential entropy.

    Examples
    --------
    >>> import kernelmean as km
    >>> found = km.Estimate(0.25, 0.001)
    >>> found, found + 1, found.standard_error
    (0.25 ± 0.001, 1.25, 0.001)
    """

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Self:
        if standard_error < 0.0:
            raise ValueError(f"a standard error is not negative, got {standard_error!r}.")
        found = super().__new__(cls, value)
        found.standard_error = float(standard_error)
        return found

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.standard_error

    def __repr__(self) -> str:
        shown = _shown.number(self)
        if not math.isfinite(self.standard_error):
            return f"{shown} ± {self.standard_error}"
        if self.standard_error <= NEGLIGIBLE * abs(float(self)):
            return shown
        # As many digits as the error leaves.
        digits = max(1 - math.floor(math.log10(self.standard_error)), 0)
        return f"{round(float(self), digits)!r} ± {self.standard_error:.2g}"


class DensityModes(NamedTuple):
    """The peaks of a density, the highest first.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Where they are.
    log_densities : ndarray of shape (m,)
        The log-density there, in falling order.

    See Also
    --------
    SparseKDE.modes : Finds them.
    MeanShift : Clusters, one for each mode that chance does not explain.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> km.SparseKDE(bandwidth=0.5).fit(X).modes().points.round(2)
    array([[0.05],
           [5.  ]])
    """

    points: Points
    log_densities: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


@dataclass(frozen=True, eq=False)
class HighestDensityRegion:
    """The smallest region that holds a given probability: where the density exceeds a threshold.

    Attributes
    ----------
    level : float
        The probability of the region.
    log_threshold : float
        The log-density at its boundary.
    standard_error : float
        What chance may do to ``level``: the standard error of the probability of the region with
        this threshold. 0 where there are ``intervals``.
    density : KernelMean or DomainMean
        The density itself.
    intervals : ndarray of shape (m, 2) or None
        The intervals that make up the region, from the lowest, for a Gaussian kernel in one
        dimension; else None.
    columns : tuple of str or None
        The names of the columns, where the density has them.

    See Also
    --------
    SparseKDE.hdr : Makes one.
    SparseKDE.probability : The probability of a box.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> region = km.SparseKDE(random_state=0).fit(X).hdr(0.95)
    >>> region.contains([[0.0], [4.0]])
    array([ True, False])
    >>> region.intervals.round(0)
    array([[-2.,  2.]])
    """

    level: float
    log_threshold: float
    standard_error: float
    density: _Density
    intervals: Points | None = None
    columns: tuple[str, ...] | None = None

    @property
    def threshold(self) -> float:
        """The density at the boundary; 0 or ∞ where it does not fit a float."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_threshold))

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Which points lie in the region.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of bool of shape (q,)
            True where the density is at least the threshold. Time O(q·k·d).

        Raises
        ------
        ValueError
            If X is a frame whose columns have other names, or stand in another order.

        See Also
        --------
        SparseKDE.score_samples : The log-density itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> region = km.SparseKDE(k=40, random_state=0).fit(X).hdr(0.5)
        >>> region.contains([[0.0, 0.0], [9.0, 9.0]])
        array([ True, False])
        """
        Columns(self.density.dimension, self.columns).refuse_other_order(X, "X")
        inside: NDArray[np.bool_] = self.density.log(X) >= self.log_threshold
        return inside

    def __repr__(self) -> str:
        return f"HighestDensityRegion(level={self.level:g}, log_threshold={self.log_threshold:.6g})"
