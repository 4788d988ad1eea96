"""A density or a kernel mean on a domain, as users have it."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import Any

from kernelmean import _checks
from kernelmean._types import (
    ArrayLike,
    Matrix,
    Points,
    RandomState,
    Vector,
)
from kernelmean.domains import Cuts, Domain, words
from kernelmean.mean import domain_space, domain_storage, storage
from kernelmean.mean.cards import mean_card
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.expansion import KernelMean, freeze_arrays
from kernelmean.mean.on_domain.evaluation import Evaluation
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.methods import DensityQuestions
from kernelmean.mean.questions.on_domain.answers import DomainAnswers
from kernelmean.mean.questions.on_domain.rows import log_with_missing
from kernelmean.mean.value import SparseKernelMean


@dataclass(frozen=True, eq=False)
class DomainMean(Evaluation, DensityQuestions):
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
    cut : ndarray of bool of shape (k, numbers) or None
        In which of the numbers a component ends at the bounds, rather than being folded there;
        None where none does.

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
    cut: Cuts | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, ("log_shares", "log_quantiles", "cut"))

    def __reduce__(self) -> tuple[Any, ...]:
        return DomainMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        spread = self.base.expansion.atoms.kind
        kind = "centres" if spread is None else f"{spread} atoms"
        size = f"{self.k} {kind} for {self.n_points:.15g} points in {self.dimension} columns"
        where = words.sentence(self.domain, self.columns)
        stop = "" if self.stop_reason is None else f", {self.selection}, stop: {self.stop_reason}"
        return f"DomainMean({size}, {where}, {self.kernel}, space={self.space!r}{stop})"

    def _repr_html_(self) -> str:
        where = {"columns": words.sentence(self.domain, self.columns)}
        facts = self.base.expansion._facts() | {"dimensions": str(self.dimension)} | where
        return mean_card("DomainMean", facts, self.base.expansion, curve=False)

    @property
    def centers(self) -> Any:
        """(k, d): the centres as rows, with the likeliest category of each.

        Returns
        -------
        ndarray of shape (k, d)
            Numbers within the domain; an array of objects where categories are no numbers. A
            component that ends at a bound stands at its mean in the domain.
        """
        return self.written(self.domain.rows(self.places, self._likeliest()))

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
        >>> fit = km.SparseKDE(domain={0: (0, None)}, target="kde", random_state=0).fit(X)
        >>> abs(fit.mean_.log_gradient([[0.0]]).round(6))  # folded: level at the bound
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


def _on_domain(other: Any) -> DomainMean:
    """A mean on a domain; a TypeError for anything else."""
    if not isinstance(other, DomainMean):
        raise TypeError(f"a DomainMean is needed, got {type(other).__name__}.")
    return other
