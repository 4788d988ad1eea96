"""The questions as methods, the same for a mean, a sparse mean and an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from kernelmean import _checks
from kernelmean._types import ArrayLike, Matrix, Points, RandomState, Vector
from kernelmean.mean.questions.answers import Answers
from kernelmean.mean.questions.asking import levels as checked_levels
from kernelmean.mean.questions.plain import PlainAnswers
from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion

# What a mean without a domain is asked by.
Asked = PlainAnswers


class DensityQuestions:
    """What a density can be asked; whoever has it says who answers, and makes one again."""

    def _asked(self) -> Answers:
        """Who answers for the density in question, and knows the names of its columns."""
        raise NotImplementedError

    def _again(self, mean: Any, names: tuple[str, ...] | None) -> Self:
        """Another density of the same kind, with other columns."""
        raise NotImplementedError

    def cdf(self, x: ArrayLike, column: str | int | None = None) -> Vector:
        """The distribution function of each column, P(column ≤ x).

        The distribution function of all columns together is ``probability(upper=x)``. On a domain
        it is exactly 0 and 1 at the bounds of a column, and begins where a period starts.

        Parameters
        ----------
        x : float, array-like of shape (q,) or (q, d)
            The places: numbers for one column, rows for all of them. A pandas series for all of
            them is one row, and goes by its labels.
        column : str, int or None, default=None
            The name or the position of one column; None for every column, or for the only one.

        Returns
        -------
        ndarray of shape (q,) or (q, d)
            The probabilities; of shape (q,) for one column. Time O(q·k) per column.

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, or the mean is no density.

        See Also
        --------
        quantile : Its inverse.
        probability : The probability of a box.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 2))
        >>> density = km.SparseKDE(random_state=0).fit(X)
        >>> density.cdf([0.0, 2.0], column=1).round(1)
        array([0.5, 1. ])
        >>> density.cdf([[0.0, 0.0]]).shape
        (1, 2)
        """
        asked = self._asked()
        if column is None and asked.columns.dimension > 1:
            return asked.cdfs(x)
        return asked.cdf(x, asked.columns.position(0 if column is None else column))

    def quantile(self, p: ArrayLike, column: str | int | None = None) -> Vector:
        """The quantiles of each column: the x with P(column ≤ x) = p.

        Parameters
        ----------
        p : float or array-like of shape (q,)
            Probabilities from 0 to 1; these two have −∞ and ∞, or the bounds of the column.
        column : str, int or None, default=None
            The name or the position of one column; None for every column, or for the only one.

        Returns
        -------
        ndarray of shape (q,) or (q, d)
            The quantiles; of shape (q,) for one column. Time O(q) per column beyond a table of
            O(k) nodes, which takes O(k²); levels below 1e-5 or above 1 − 1e-5 take O(k) each.

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, or p is no probability.

        See Also
        --------
        cdf : Its inverse.
        hdr : The smallest region that holds a given probability.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 1))
        >>> density = km.SparseKDE(random_state=0).fit(X)
        >>> density.quantile([0.025, 0.5, 0.975]).round(0) + 0.0
        array([-2.,  0.,  2.])
        """
        asked = self._asked()
        wanted = checked_levels(p)
        if column is None and asked.columns.dimension > 1:
            return asked.quantiles(wanted)
        return asked.quantile(wanted, asked.columns.position(0 if column is None else column))

    def probability(
        self,
        lower: ArrayLike | Mapping[Any, float] | None = None,
        upper: ArrayLike | Mapping[Any, float] | None = None,
        *,
        error: float = 1e-5,
        random_state: RandomState = None,
    ) -> Estimate:
        """The probability of a box, P(lower ≤ x ≤ upper in every column).

        It is a closed form where the covariances of the bounded columns are diagonal in the
        coordinates of the data, as those of points and round atoms are unless ``scale`` turns
        them. Otherwise each component is integrated by a lattice that is shifted at random.

        On a domain, a category in the place of a bound asks for rows that have it, in one of the
        two bounds or in both. In a column with a period a lower bound above the upper one means an
        interval across the end of the period, as from 22 to 2 o'clock. Places on a sphere have no
        bounds.

        Parameters
        ----------
        lower : array-like of shape (d,), mapping or None, default=None
            The lower bounds, or those of some columns by name or position; None for no bound. A
            pandas series goes by its labels.
        upper : array-like of shape (d,), mapping or None, default=None
            The upper bounds, likewise.
        error : float, default=1e-5
            The standard error at which the lattice is dense enough. It has 12 × 32 768 points at
            most; a RuntimeWarning says where they do not reach it.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the shifts of the lattice.

        Returns
        -------
        Estimate
            The probability, a float with its ``standard_error``, which is 0 for closed forms. Time
            O(k·m²) for m bounded columns, times some thousand points without a closed form.

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, a lower bound exceeds an upper
            one, or a category is unknown.

        See Also
        --------
        cdf : The probability of a half-line.
        conditional : The density where some columns are known.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 2))
        >>> density = km.SparseKDE(random_state=0).fit(X)
        >>> round(density.probability([-1.0, -1.0], [1.0, 1.0], random_state=0), 2)
        0.47
        >>> round(density.probability({0: 0.0}), 1)
        0.5
        """
        rng = _checks.streams(random_state).of("box points")
        goal = _checks.number(error, "error", above=0.0)
        return self._asked().probability(lower, upper, goal, rng)

    def marginal(self, columns: Any) -> Self:
        """The density of some of the columns, whatever the others are.

        Parameters
        ----------
        columns : str, int or sequence of them
            Names or positions, in the order wanted.

        Returns
        -------
        SparseKDE, SparseKernelMean, KernelMean or DomainMean
            A density of the same kind as this one, with the names of its columns. Time O(k·d³). Of
            a column of categories it gives their probabilities. A mean on a domain becomes a plain
            one where no column is left that is bounded, periodic, on a sphere or of categories.

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, a column is unknown, or only
            one of longitude and latitude is named.

        See Also
        --------
        conditional : The density of the others where some are known.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> density.marginal([2, 0]).score_samples([[0.0, 0.0]]).shape
        (1,)
        """
        asked = self._asked()
        positions = asked.columns.positions(columns)
        return self._again(asked.marginal(positions), asked.columns.named(positions))

    def conditional(self, given: Mapping[Any, float]) -> Self:
        """The density of the other columns where some have known values.

        Parameters
        ----------
        given : mapping or pandas series
            Values by the name or the position of their column, which a series has as labels:
            numbers, or categories.

        Returns
        -------
        SparseKDE, SparseKernelMean, KernelMean or DomainMean
            A density of the same kind as this one, of the columns that are left, with their names.
            Time O(k·d³). A mean on a domain becomes a plain one where nothing is left of that.

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, a column is unknown, none is
            left, or a value lies outside of the domain.

        See Also
        --------
        marginal : The density of some columns where nothing is known of the others.
        sample : Draws whole rows with given values.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> x = np.random.default_rng(0).normal(size=(5000, 1))
        >>> X = np.hstack([x, x + 0.1 * np.random.default_rng(1).normal(size=x.shape)])
        >>> density = km.SparseKDE(random_state=0).fit(X)
        >>> density.conditional({0: 1.0}).expectation().round(1)
        array([1.])
        """
        asked = self._asked()
        part = asked.conditional(given)
        return self._again(part.density, asked.columns.named(part.free))

    def expectation(self) -> Vector:
        """The mean of the distribution, Σ_a α_a c_a.

        Of a column with bounds it is the mean within them, and of one with a period the circular
        mean: the angle of the mean of all values as points of a circle.

        Returns
        -------
        ndarray of shape (d,)
            One number per column. Time O(k·d).

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, or a column holds categories
            or is on a sphere.

        See Also
        --------
        covariance : The spread about it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.SparseKDE(bandwidth=1.0).fit(np.array([[0.0], [3.0]])).expectation()
        array([1.5])
        """
        return self._asked().expectation()

    def covariance(self) -> Matrix:
        """The covariance of the distribution; a kernel density is wider than its sample by σ².

        A density by likelihood, the default of :class:`SparseKDE`, keeps the weight of one row for
        what was never seen, in components 8, 64, … times as wide as the data: its covariance is
        larger than that of the rows, the more so the fewer they are. Fit with ``target="kde"`` or
        a number as ``k`` where that matters.

        Returns
        -------
        ndarray of shape (d, d)
            Σ_a α_a (V_a + (c_a − μ)(c_a − μ)ᵀ), V_a the covariance of component a. Time O(k·d²).

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, the mean is no density, or a column has a period,
            holds categories or is on a sphere.

        See Also
        --------
        expectation : The mean μ.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.SparseKDE(bandwidth=1.0).fit(np.array([[0.0], [4.0]])).covariance().round(6)
        array([[5.]])
        """
        return self._asked().covariance()

    def entropy(self, *, random_state: RandomState = None) -> Estimate:
        """The differential entropy −∫ f log f, in nats.

        Parameters
        ----------
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the points that are drawn from the density in more than one dimension.

        Returns
        -------
        Estimate
            The entropy, a float with its ``standard_error``; in one dimension by quadrature, with
            the standard error 0, and for categories alone by a sum. Time O(k·d) for each of
            131 072 points.

        Raises
        ------
        ValueError
            If the mean is no density, or its weights do not sum to one.

        See Also
        --------
        kl_divergence : The relative entropy of two densities.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 1))
        >>> round(km.SparseKDE(random_state=0).fit(X).entropy(), 1)
        1.4
        """
        return self._asked().entropy(_checks.streams(random_state).of("entropy points"))

    def hdr(self, level: float = 0.95, *, random_state: RandomState = None) -> HighestDensityRegion:
        """The highest density region: the smallest one that holds a given probability.

        Parameters
        ----------
        level : float, default=0.95
            The probability, between 0 and 1.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the points that are drawn from the density in more than one dimension.

        Returns
        -------
        HighestDensityRegion
            The threshold of the log-density, and who is inside. Time O(k·d) for each of 131 072
            points.

        Raises
        ------
        ValueError
            If the mean is no density, its weights do not sum to one, or the level is not between
            0 and 1.

        See Also
        --------
        quantile : Intervals with equal tails.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 2))
        >>> region = km.SparseKDE(random_state=0).fit(X).hdr(0.9, random_state=0)
        >>> region.contains(X).mean().round(1)
        np.float64(0.9)
        """
        asked = self._asked()
        wanted = _checks.number(level, "level", above=0.0)
        if wanted >= 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        found = asked.region(wanted, _checks.streams(random_state).of("region points"))
        return replace(found, columns=asked.columns.names)

    def modes(self) -> DensityModes:
        """The peaks of the density, found by mean shift from every centre.

        They are the peaks of this estimate; which of them chance explains is asked by
        :class:`MeanShift`.

        Returns
        -------
        DensityModes
            Their places and log-densities, the highest first. Time O(k²·d) per step.

        Raises
        ------
        ValueError
            If the mean is no density, its kernel has no convex profile, or a column holds
            categories or is on a sphere.

        See Also
        --------
        MeanShift : Clusters, one for each peak that is significant.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0, 0.0], [6.0, 6.0]])
        >>> km.SparseKDE(bandwidth=1.0).fit(X).modes().points.shape
        (2, 2)
        """
        return self._asked().modes()

    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        given: Mapping[Any, float] | None = None,
    ) -> Points:
        """Draw random points from the density.

        Parameters
        ----------
        n_samples : int, default=1
            How many points to draw.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the draw.
        given : mapping or None, default=None
            Values of some columns, by name or position: the others are drawn from the conditional
            density.

        Returns
        -------
        ndarray of shape (n_samples, d)
            The points, one per row, with the given values in their columns; an array of objects
            where categories are no numbers. Time O(n_samples·d).

        Raises
        ------
        ValueError
            If the mean is no density; with ``given``, if its kernel is not a Gaussian.

        See Also
        --------
        conditional : The density behind ``given``.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> density.sample(3, random_state=0).shape
        (3, 2)
        >>> density.sample(2, random_state=0, given={0: 1.5})[:, 0]
        array([1.5, 1.5])
        """
        count = _checks.count(n_samples, "n_samples", least=0)
        return self._asked().sample(count, _checks.streams(random_state).of("sample"), given)
