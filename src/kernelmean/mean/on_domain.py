"""A kernel mean on a domain: bounds, periods, spheres and categories beside plain numbers.

Each component is a product. Its numbers have a Gaussian, of which what lies beyond a bound is
reflected and what lies beyond a period comes round, so that nothing is lost:

    f(x) = Σ_a α_a Σ_g N(g(x); c_a, V_a) · Π_s h_as(u_s) · Π_j p_aj(l_j).

A place on a sphere is a unit vector u, and h_a is what a Gaussian about c_a leaves on the sphere,
normalised there: the von Mises and Fisher distribution with concentration |c_a|/v. Categories
have probabilities p_a. For given categories f is a sum over the centres and their images as any
other, which engines evaluate.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import (
    ArrayLike,
    Constraint,
    IntVector,
    Matrix,
    Points,
    RandomState,
    Space,
    StopReason,
    Vector,
)
from kernelmean.domains import Domain, Images, tables, words
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel, Spreads
from kernelmean.mean import domain_space, domain_storage, sphere, storage
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.expansion import KernelMean, freeze_arrays
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.methods import DensityQuestions
from kernelmean.mean.questions.on_domain.answers import DomainAnswers
from kernelmean.mean.questions.on_domain.rows import log_with_missing
from kernelmean.mean.sums import density_sum
from kernelmean.mean.unfolding import imaged, images_of
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import Sample


@dataclass(frozen=True, eq=False)
class DomainMean(DensityQuestions):
    """A mean of which some columns are bounded, periodic, on a sphere or categories.

    It is a frozen value, which estimators make where they are given a ``domain``. Its integral over
    the domain, and its sum over categories, is that of the mean inside: one for a density. It
    evaluates itself at O(K·d) per point, where K counts the centres and those of their images that
    reach into the domain.

    Attributes
    ----------
    base : SparseKernelMean or KernelMean
        The sum over centres in the coordinates that engines see: the numbers, and three for each
        sphere. Bounds and periods are not heeded by it.
    domain : Domain
        What the columns can hold.
    log_shares : ndarray of shape (k, levels) or None
        The logarithms of the probabilities of the categories in each component, the levels of all
        columns end to end; None where there are no categories.
    columns : tuple of str or None
        The names of the columns, where the data had them.
    transform : str or None
        What the values of a file went through, as :func:`read` names it.
    log_quantiles : ndarray of shape (1001,) or None
        The quantiles of the log-density of the training points, where an estimator fitted the mean.

    See Also
    --------
    SparseKDE : Makes one, with ``domain``.
    SparseKernelMean : A mean of plain numbers.
    load : Reads one from a file.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> waits = np.random.default_rng(0).exponential(size=(2000, 1))
    >>> density = km.SparseKDE(domain={0: (0, None)}, random_state=0).fit(waits).mean_
    >>> density([[-0.1]])
    array([0.])
    >>> density.quantile([0.0, 1.0])
    array([ 0., inf])
    """

    base: SparseKernelMean | KernelMean
    domain: Domain
    log_shares: Matrix | None = None
    columns: tuple[str, ...] | None = None
    transform: str | None = None
    log_quantiles: Vector | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, ("log_shares", "log_quantiles"))

    def __reduce__(self) -> tuple[Any, ...]:
        return DomainMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        spread = self.base.expansion.atoms.kind
        kind = "centres" if spread is None else f"{spread} atoms"
        size = f"{self.k} {kind} for {self.n_points:.15g} points in {self.dimension} columns"
        where = words.sentence(self.domain, self.columns)
        stop = "" if self.stop_reason is None else f", {self.selection}, stop: {self.stop_reason}"
        return f"DomainMean({size}, {where}, {self.kernel}, space={self.space!r}{stop})"

    @property
    def k(self) -> int:
        """Number of centres."""
        return self.base.k

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return self.domain.dimension

    @property
    def weights(self) -> Vector:
        """(k,): the coefficients α_a."""
        return self.base.weights

    @property
    def centers(self) -> Any:
        """(k, d): the centres as rows, with the likeliest category of each.

        Returns
        -------
        ndarray of shape (k, d)
            Numbers within the domain; an array of objects where categories are no numbers.
        """
        return self.written(self.domain.rows(self.base.centers, self._likeliest()))

    @property
    def kernel(self) -> Kernel:
        """The kernel of the numbers and of the chord distance on spheres."""
        return self.base.kernel

    @property
    def space(self) -> Space:
        """The space in which distances are taken."""
        return self.base.space

    @property
    def scale(self) -> Matrix | None:
        """The linear map that is applied to the coordinates before the kernel."""
        return self.base.scale

    @property
    def spreads(self) -> Spreads | None:
        """The spreads of the centres, in the coordinates of the kernel."""
        return self.base.spreads

    @property
    def n_points(self) -> float:
        """The number of points that were fitted."""
        return self.base.n_points

    @property
    def is_density(self) -> bool:
        """Whether no weight is negative, in L2."""
        return self.base.is_density

    @property
    def engine(self) -> str | Engine:
        """What computes kernel sums."""
        return self.base.engine

    @property
    def estimated_error(self) -> float | None:
        """What the fit thinks of its own relative error, where all columns are numbers.

        It is that of the mean inside, without reflections.
        """
        return self._of_fit("estimated_error") if self.domain.is_flat else None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why no further centre was taken; None where every row is one."""
        found: StopReason | None = self._of_fit("stop_reason")
        return found

    @property
    def selection(self) -> str | None:
        """How the centres were found; None where every row is one."""
        found: str | None = self._of_fit("selection")
        return found

    @property
    def constraint(self) -> Constraint:
        """The constraint on the weights."""
        found: Constraint = self._of_fit("constraint")
        return found

    @property
    def kappa(self) -> Vector | None:
        """The inner products of the mean inside with its centres, where they are known."""
        found: Vector | None = self._of_fit("kappa")
        return found

    def _of_fit(self, name: str) -> Any:
        """What is known of the fit; None where every row is a centre."""
        return getattr(self.base, name) if isinstance(self.base, SparseKernelMean) else None

    def __call__(self, Q: Any) -> Vector:
        """The value of f at the query rows; 0 outside of the domain.

        Parameters
        ----------
        Q : array-like or frame of shape (q, d)
            The query rows, with categories as they were in the data.

        Returns
        -------
        ndarray of shape (q,)
            f(q_1), …, f(q_q). Time O(q·K·d).
        """
        return self.values_coded(self.coded(Q))

    def log(self, Q: Any, *, missing: str = "error") -> Vector:
        """The logarithm of f at the query rows; −∞ outside of the domain.

        Parameters
        ----------
        Q : array-like or frame of shape (q, d)
            The query rows, with categories as they were in the data.
        missing : {'error', 'marginal'}, default='error'
            What to do with NaN and None: refuse it, or take the marginal of the columns that a row
            has, which is 0 where it has none. Longitude and latitude are known both, or neither.

        Returns
        -------
        ndarray of shape (q,)
            log f(q_1), …, log f(q_q). Time O(q·K·d).

        Raises
        ------
        ValueError
            If a weight is negative.

        See Also
        --------
        log_gradient : Its gradient.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).uniform(size=(2000, 1))
        >>> density = km.SparseKDE(domain={0: (0, 1)}, random_state=0).fit(X).mean_
        >>> density.log([[0.5], [1.5]]).round(0) + 0.0
        array([  0., -inf])
        """
        self._need_density("log")
        if _checks.choice(missing, "missing", ("error", "marginal")) == "marginal":
            return log_with_missing(self, self.coded(Q, incomplete=True))
        return self.log_coded(self.coded(Q))

    def gradient(self, Q: Any) -> Points:
        """The gradient ∇f at the query rows, where all columns are numbers; 0 outside.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query rows.

        Returns
        -------
        ndarray of shape (q, d)
            ∇f(q_1), …, ∇f(q_q). Time O(q·K·d).

        Raises
        ------
        ValueError
            If a column is on a sphere or holds categories.

        See Also
        --------
        log_gradient : The gradient of the logarithm.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).exponential(size=(500, 1))
        >>> density = km.SparseKDE(domain={0: (0, None)}, random_state=0).fit(X).mean_
        >>> density.gradient([[-1.0]])
        array([[0.]])
        """
        return self._within(Q, "gradient")

    def log_gradient(self, Q: Any) -> Points:
        """The gradient ∇ log f at the query rows, where all columns are numbers; 0 outside.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query rows.

        Returns
        -------
        ndarray of shape (q, d)
            ∇ log f(q_1), …, ∇ log f(q_q). Time O(q·K·d).

        Raises
        ------
        ValueError
            If a weight is negative, or a column is on a sphere or holds categories.

        See Also
        --------
        gradient : The gradient of f itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).exponential(size=(500, 1))
        >>> density = km.SparseKDE(domain={0: (0, None)}, random_state=0).fit(X).mean_
        >>> abs(density.log_gradient([[0.0]]).round(6))
        array([[0.]])
        """
        self._need_density("log_gradient")
        return self._within(Q, "log_gradient")

    def inner(self, other: DomainMean) -> float:
        """The inner product of two means in L2 of the domain, ∫_D f f′.

        Parameters
        ----------
        other : DomainMean
            A mean on the same domain and of the same scale, all of whose columns are numbers.

        Returns
        -------
        float
            The sum over the centres of one and the images of those of the other. Time O(k·K′·d).

        Raises
        ------
        ValueError
            If the domains or the scales differ, or a column is on a sphere or holds categories.

        See Also
        --------
        distance : The norm of the difference.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).uniform(size=(5000, 1))
        >>> density = km.SparseKDE(domain={0: (0, 1)}, random_state=0).fit(X).mean_
        >>> round(density.inner(density), 1)
        1.0
        """
        return domain_space.inner(self, _on_domain(other))

    def distance(self, other: DomainMean) -> float:
        """The distance of two means in L2 of the domain.

        Parameters
        ----------
        other : DomainMean
            A mean on the same domain and of the same scale, all of whose columns are numbers.

        Returns
        -------
        float
            The root of ∫_D (f − f′)². Time O((k + k′)·(K + K′)·d).

        Raises
        ------
        ValueError
            If the domains or the scales differ, or a column is on a sphere or holds categories.

        See Also
        --------
        inner : The inner product behind it.
        distance_matrix : All distances between many means.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).uniform(size=(500, 1))
        >>> density = km.SparseKDE(domain={0: (0, 1)}, random_state=0).fit(X).mean_
        >>> density.distance(density)
        0.0
        """
        return domain_space.distance(self, _on_domain(other))

    def certificate(
        self,
        X: Any,
        *,
        method: str = "auto",
        sample_weight: ArrayLike | None = None,
        size: int | None = None,
        random_state: RandomState = None,
    ) -> Certificate:
        """The error ‖f̄ − f‖ in L2 of the domain, f̄ the kernel density of X folded alike.

        With r the difference of the two before they are folded, that on the domain is Σ_g r(g(x)).
        If at most N of the images g(x) of a point lie where r is not nothing, then by Cauchy and
        Schwarz (Σ_g r(g(x)))² ≤ N·Σ_g r(g(x))², and since the images of the domain cover the space
        once, the integral of this over the domain is N·‖r‖². So √N·‖r‖ is an upper bound. Two
        images count for each half-line; for an interval or a period as many as the rows and the
        centres reach, 12 standard deviations beyond them.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            The sample whose density is compared with f.
        method : {'auto', 'exact', 'rows', 'spectral'}, default='auto'
            "exact" sums over all pairs and their images, in time O(n²·d), and gives the error
            itself. The others measure ‖r‖ as for a mean of plain numbers, and give the bound.
            "auto" is exact up to 20 000 points unless rounding hides the answer, else spectral.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows of X. Integer weights mean repeated rows.
        size : int or None, default=None
            The number of rows (2000 by default) or of frequencies (4000 by default).
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Decides which rows or which frequencies are taken.

        Returns
        -------
        Certificate
            The error or its bound, and the same relative to ‖f̄‖. Memory O(n·d + k²).

        Raises
        ------
        ValueError
            If a column is on a sphere or holds categories, a row lies outside of the domain, or f
            is near to no kernel density, as those fitted by likelihood.

        See Also
        --------
        SparseKernelMean.certificate : The error without a domain.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).exponential(size=(500, 1))
        >>> fit = km.SparseKDE(domain={0: (0, None)}, target="kde", random_state=0).fit(X)
        >>> fit.mean_.certificate(X).method
        'exact'
        """
        from kernelmean.mean.domain_certificate import certified

        return certified(self, X, method, sample_weight, (size, random_state))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mean to one small file, without pickle and without the data.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file.

        Raises
        ------
        ValueError
            If every row is a centre, or a category is no word, number or truth.

        See Also
        --------
        load : Reads the mean again.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).uniform(size=(500, 1))
        >>> density = km.SparseKDE(domain={0: (0, 1)}, random_state=0).fit(X).mean_
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     density.save(pathlib.Path(folder) / "mean.km")
        ...     km.load(pathlib.Path(folder) / "mean.km").k == density.k
        True
        """
        storage.write(path, *domain_storage.packed(self))

    # What the rest of the package asks of a mean; not part of the public surface.

    def _asked(self) -> DomainAnswers:
        return DomainAnswers(self, Columns(self.dimension, self.columns))

    def _again(self, mean: Any, names: tuple[str, ...] | None) -> Any:
        """A part of this density: on a domain still, or a plain mean."""
        if not isinstance(mean, DomainMean):
            return self.base._again(mean, names)
        inner = self.base._again(mean.base.expansion, None)
        return replace(mean, base=inner, columns=names, transform=self.transform)

    def _need_density(self, method: str) -> None:
        if (self.weights < 0).any():
            raise ValueError(
                f"{method} needs nonnegative weights: fit or refit with constraint='simplex'."
            )

    def _within(self, Q: Any, method: str) -> Points:
        """A gradient of the unfolded sum at rows inside; 0 at others."""
        if not self.domain.is_flat:
            raise ValueError(
                f"{method} needs columns of numbers, and here is {self._not_flat()}: give those "
                "columns to conditional(...) first."
            )
        embedded = self.domain.embed(self.coded(Q))
        found = np.zeros(embedded.coordinates.shape)
        if embedded.inside.any():
            inside = embedded.coordinates[embedded.inside]
            found[embedded.inside] = getattr(self.unfolded, method)(inside)
        return found

    def _not_flat(self) -> str:
        """The columns that hold no numbers, in words."""
        flat = set(self.domain.lines.tolist())
        names = [words.label(t, self.columns) for t in range(self.dimension) if t not in flat]
        return ", ".join(names)

    def _likeliest(self) -> IntVector:
        """(k, c) the most probable category of each column in each component."""
        if self.log_shares is None:
            return np.zeros((self.k, 0), dtype=np.intp)
        parts = np.split(self.log_shares, np.cumsum(self.domain.sizes)[:-1], axis=1)
        return np.column_stack([part.argmax(axis=1) for part in parts])

    def written(self, rows: Points) -> Any:
        """Coded rows as users have them.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows with the positions of categories among the levels.

        Returns
        -------
        ndarray of shape (q, d)
            The rows with the categories themselves, as objects where they are no numbers.
        """
        return tables.written(rows, self.domain.categories.tolist(), self.domain.levels)

    def coded(self, Q: Any, *, incomplete: bool = False) -> Points:
        """Rows as users have them, checked, as numbers.

        Parameters
        ----------
        Q : array-like or frame of shape (q, d), or Sample
            The rows; those of a sample are checked, and numbers, already.
        incomplete : bool, default=False
            Whether NaN and None may stand for values that are missing.

        Returns
        -------
        ndarray of shape (q, d)
            The rows, with categories replaced by their position among the levels, −1 for others.
        """
        if isinstance(Q, Sample):
            return Q.array()
        Columns(self.dimension, self.columns).refuse_other_order(Q, "Q")
        table = np.array(Q, dtype=object) if isinstance(Q, list | tuple) else Q
        _checks.table_shape(np.shape(table), "Q", self.dimension)
        categories = self.domain.categories
        levels = self.domain.levels
        coded = tables.code(table, tuple(categories.tolist()), levels, "Q", incomplete=incomplete)
        lost = np.isnan(coded.rows[:, categories]).any(axis=0)
        if lost.any() and not incomplete:
            column = words.label(int(categories[lost][0]), self.columns)
            raise ValueError(
                f"Q has missing values in {column}; use log(Q, missing='marginal') for these rows, "
                "or drop them."
            )
        return coded.rows

    def log_coded(self, rows: Points) -> Vector:
        """The logarithm of f at coded rows.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows as :meth:`coded` gives them, complete.

        Returns
        -------
        ndarray of shape (q,)
            log f(q_1), …, log f(q_q).
        """
        found = np.full(len(rows), -np.inf)
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            sums = mean.cloud_for(mapped).log_kernel_sum(formula, mapped, weights)
            found[some] = sums + mean.log_constant + log_factor
        return found

    def values_coded(self, rows: Points) -> Vector:
        """The value of f at coded rows.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows as :meth:`coded` gives them, complete.

        Returns
        -------
        ndarray of shape (q,)
            f(q_1), …, f(q_q).
        """
        found = np.zeros(len(rows))
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            constant = mean.log_constant + log_factor
            found[some] = density_sum(mean.cloud_for(mapped), formula, mapped, weights, constant)
        return found

    def _by_codes(self, rows: Points) -> Iterator[tuple[IntVector, Points, Vector, float]]:
        """Rows that have the same categories and lie inside, in the coordinates of the kernel.

        With them come the weights of the centres there, and the logarithm of a factor for the sum.
        """
        embedded = self.domain.embed(rows)
        for codes, some in embedded.by_codes():
            weights, log_factor = self.weights_at(codes)
            yield some, self.unfolded.map(embedded.coordinates[some]), weights, log_factor

    def weights_at(self, codes: IntVector) -> tuple[Vector, float]:
        """The weights of ``unfolded`` at the given categories, and the logarithm of a factor.

        Parameters
        ----------
        codes : ndarray of int of shape (c,)
            A category of each column.

        Returns
        -------
        weights : ndarray of shape (K,)
            The weights in units of the factor.
        log_factor : float
            The logarithm of the factor.
        """
        weights = self.unfolded.weights
        if self.log_shares is None:
            return weights, 0.0
        logs = sum(self.shares_of(i)[:, code] for i, code in enumerate(codes.tolist()))
        top = float(np.max(logs))
        if np.isneginf(top):  # which no component has
            return np.zeros(len(weights)), 0.0
        return weights * np.exp(logs - top)[self.images.owner], top

    def shares_of(self, i: int) -> Matrix:
        """The logarithms of the probabilities of one column of categories.

        Parameters
        ----------
        i : int
            Which of the columns of categories, from 0 on.

        Returns
        -------
        ndarray of shape (k, levels)
            A row for each component.
        """
        assert self.log_shares is not None
        first = sum(self.domain.sizes[:i])
        return self.log_shares[:, first : first + self.domain.sizes[i]]

    @lazy
    def images(self) -> Images:
        """The images of the centres that reach into the domain."""
        lines = np.arange(len(self.domain.lines))
        return images_of(self.base.expansion, self.domain.group, lines)

    @lazy
    def unfolded(self) -> KernelMean:
        """The centres and their images as one sum, each divided by its mass on the spheres.

        Inside the domain it is what f is but for categories; outside it means nothing.
        """
        base = self.base.expansion
        weights = base.weights * np.exp(-sphere.log_masses(base, self.domain))
        lines = np.arange(len(self.domain.lines))
        return imaged(replace(base, weights=weights), self.images, lines)


def _on_domain(other: Any) -> DomainMean:
    """A mean on a domain; a TypeError for anything else."""
    if not isinstance(other, DomainMean):
        raise TypeError(f"a DomainMean is needed, got {type(other).__name__}.")
    return other
