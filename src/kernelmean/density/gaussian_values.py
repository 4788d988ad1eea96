"""The values of a Gaussian density estimate at points: summed exactly, or over a sparse copy."""

from __future__ import annotations

import operator
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._random import Streams
from kernelmean._types import ArrayLike, Points
from kernelmean.density.bandwidth_factor import BandwidthFactor
from kernelmean.density.sparse_copy import DensityEstimate, SparseCopy
from kernelmean.engines import Engine
from kernelmean.fitting.honesty import FitWarning
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean

DEFAULT_ERROR = 1e-3  # of a sparse density, in L2
EXACT_WORK = 8e9  # n·q·d of a call up to which every point is summed: a second on two cores


class Summed(NamedTuple):
    """What a call has summed."""

    method: Literal["exact", "sparse"]
    relative_error: float
    made_of: tuple[Any, ...]  # the estimate in question


class GaussianValues(BandwidthFactor):
    """A Gaussian density estimate that is evaluated; see :class:`gaussian_kde`."""

    # Subclasses of SciPy's class need not call its __init__, so these have values without it.
    error: float | Literal["auto"] | None = "auto"
    engine: str | Engine = "cpu"
    _streams = Streams(0)
    _estimate: DensityEstimate | None = None
    _read: tuple[Any, ...] = ()  # what the estimate was made of
    _summed = Summed("exact", 0.0, ())

    @property
    def method(self) -> Literal["exact", "sparse"]:
        """What the last call summed: every point, or the atoms of a sparse density.

        Returns
        -------
        {'exact', 'sparse'}
            "exact" before the first call, and before the first with another bandwidth, error or
            engine.
        """
        return self._last_call.method

    @property
    def relative_error(self) -> float:
        """The measured relative error in L2 of the density that the last call summed.

        Returns
        -------
        float
            0.0 where that was exact; else that of :attr:`certificate_`, which has its standard
            error too.
        """
        return self._last_call.relative_error

    @property
    def sparse_(self) -> SparseKernelMean | None:
        """The sparse density in use for large calls.

        Returns
        -------
        SparseKernelMean or None
            None while no call has asked for one, or where none is within ``error``.
        """
        copy = self._known_copy
        return None if copy is None else copy.mean

    @property
    def certificate_(self) -> Certificate | None:
        """The error of :attr:`sparse_`, measured at 512 frequencies that its fit has not seen.

        Returns
        -------
        Certificate or None
            None where there is no sparse density.
        """
        copy = self._known_copy
        return None if copy is None else copy.certificate

    def evaluate(self, points: ArrayLike) -> NDArray[Any]:
        """The density at some points.

        Parameters
        ----------
        points : array-like of shape (d, q) or (d,)
            The points, one per column, or a single one.

        Returns
        -------
        ndarray of shape (q,)
            f at each point, exact or within ``error`` in L2. Time O(q·n·d), or O(q·k·d).

        Raises
        ------
        ValueError
            If the points have another dimension, or are not finite.

        See Also
        --------
        logpdf : The logarithm, which does not underflow.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.gaussian_kde(np.arange(5)).evaluate([0, 2]).round(4)
        array([0.1348, 0.1951])
        """
        Q, dtype = self._queries(points)
        values = self._for_calls_of(len(Q))(Q) if len(Q) else np.empty(0)
        return values.astype(dtype, copy=False)

    __call__ = evaluate

    def pdf(self, x: ArrayLike) -> NDArray[Any]:
        """The density at some points: another name of :meth:`evaluate`.

        Parameters
        ----------
        x : array-like of shape (d, q) or (d,)
            The points, one per column, or a single one.

        Returns
        -------
        ndarray of shape (q,)
            f at each point. Time O(q·n·d), or O(q·k·d).

        See Also
        --------
        evaluate : The same.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.gaussian_kde(np.arange(5)).pdf(2.0).round(4)
        array([0.1951])
        """
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        """The logarithm of the density at some points, without underflow.

        Parameters
        ----------
        x : array-like of shape (d, q) or (d,)
            The points, one per column, or a single one.

        Returns
        -------
        ndarray of shape (q,)
            log f at each point. Time O(q·n·d), about n·q·d/8·10⁹ seconds on two cores; where
            ``error`` was given, of a sparse density in large calls, in time O(q·k·d).

        Raises
        ------
        ValueError
            If the points have another dimension, or are not finite.

        See Also
        --------
        evaluate : The density itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.gaussian_kde(np.arange(5)).logpdf([2.0, 99.0]).round(1)
        array([-1.6000e+00, -3.4388e+03])
        """
        Q, dtype = self._queries(x)
        values = self._for_calls_of(len(Q), logs=True).log(Q) if len(Q) else np.empty(0)
        return values.astype(dtype, copy=False)

    def _queries(self, points: ArrayLike) -> tuple[Points, np.dtype[Any]]:
        """(q, d) points, and the type of what SciPy would return for them."""
        given = np.atleast_2d(np.asarray(points))
        if given.ndim == 2 and given.shape[0] != self.d and given.shape == (1, self.d):
            given = given.T  # a single point
        if given.ndim != 2 or given.shape[0] != self.d:
            size = given.shape[0] if given.ndim == 2 else given.shape
            raise ValueError(f"points have dimension {size}, dataset has dimension {self.d}")
        dtype = np.dtype(np.common_type(self.covariance, given))
        if dtype.kind == "c":
            raise ValueError("points should be real numbers, not complex ones.")
        return np.ascontiguousarray(given.T, dtype=np.float64), dtype

    @property
    def _known_copy(self) -> SparseCopy | None:
        """The sparse density, if it was asked for before."""
        found: SparseCopy | None = vars(self._current).get("copy")
        return found

    @property
    def _current(self) -> DensityEstimate:
        """The estimate of these points at this bandwidth; a new one where anything has changed."""
        if self._estimate is None or self._changed_since(self._read):
            self._estimate = self._estimated()
            self._read = self._made_of
        return self._estimate

    @property
    def _made_of(self) -> tuple[Any, ...]:
        """What an estimate is made of."""
        return self.dataset, self.weights, self.cho_cov, self.error, self.engine

    def _changed_since(self, made_of: tuple[Any, ...]) -> bool:
        """Whether points, bandwidth, error or engine are others than those."""
        return not made_of or any(map(operator.is_not, made_of, self._made_of))

    @property
    def _last_call(self) -> Summed:
        """What the last call has summed, if it was of these points at this bandwidth."""
        last = self._summed
        return Summed("exact", 0.0, ()) if self._changed_since(last.made_of) else last

    def _note(self, method: Literal["exact", "sparse"], relative_error: float = 0.0) -> None:
        """Keep what a call sums."""
        self._summed = Summed(method, relative_error, self._made_of)

    def _estimated(self) -> DensityEstimate:
        return DensityEstimate(
            points=np.ascontiguousarray(self.dataset.T, dtype=np.float64),
            weights=self.weights,
            factor=float(self.factor),
            scale=self._whitening(),
            error=self._allowed_error,
            engine=self.engine,
            streams=self._streams,
        )

    def _for_calls_of(self, size: int, *, logs: bool = False) -> KernelMean:
        """What is summed in a call at so many points."""
        # Logarithms of a density that is near in L2 may be far off: they are to be asked for.
        allowed = self._allowed_error > 0.0 and not (logs and self.error == "auto")
        return self._sparse_or_full(allowed and 1.0 * self.n * size * self.d > EXACT_WORK)

    @property
    def _allowed_error(self) -> float:
        """The relative error that a sparse density may have; 0 for none."""
        return DEFAULT_ERROR if self.error == "auto" else float(self.error or 0.0)

    def _sparse_or_full(self, large: bool) -> KernelMean:
        first = "copy" not in vars(self._current)
        copy = self._current.copy if large else None
        if large and copy is None and first:
            warnings.warn(
                f"no sparse density is within error={self._allowed_error:g}, as is common in three "
                "dimensions or more, so every point is summed, which takes longer; a larger error= "
                "may be within reach, and error=None sums without asking.",
                FitWarning,
                stacklevel=4,
            )
        if copy is None:
            self._note("exact")
            return self._current.full
        self._note("sparse", copy.certificate.relative_error)
        return copy.mean.expansion
