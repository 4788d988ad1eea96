"""Kullback–Leibler divergence of two densities or of two samples, in the log domain throughout.

Densities are never clamped: a far outlier legitimately gives a huge divergence, so the largest term
is reported too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks, _shown
from kernelmean._types import ArrayLike, Points, RandomState, Vector
from kernelmean.engines import Engine
from kernelmean.fitting.recipe import RULE, Recipe, common, halves, mean_in, two_samples
from kernelmean.kernels import Kernel
from kernelmean.mean import sampling
from kernelmean.mean.divergence import divergences, log_density
from kernelmean.mean.expansion import AnyMean, KernelMean

SUM_SLACK = 1e-6  # by which Σα of a density may differ from 1
WORTHWHILE_SPREAD = 0.5  # of the terms: the unbiased correction is kept where it at least halves it


class Divergence(NamedTuple):
    """D(p|q), or the sum of both directions, as a mean over points.

    ``float(divergence)`` is its value.

    Attributes
    ----------
    value : float
        The mean of the terms.
    standard_error : float
        The standard error of the mean over the points, the densities taken as given.
    largest_term : float
        The largest of the terms that the value is the mean of; a far outlier shows here.

    See Also
    --------
    kl_divergence : Finds it.

    Examples
    --------
    >>> import kernelmean as km
    >>> float(km.Divergence(0.5, 0.1, 2.0))
    0.5
    """

    value: float
    standard_error: float  # over the points, the densities taken as given
    largest_term: float  # of those the value is the mean of

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def kl_divergence(
    p: ArrayLike | AnyMean,
    q: ArrayLike | AnyMean,
    *,
    symmetric: bool = False,
    points: Any = None,
    n_samples: int = 10_000,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = RULE,
    scale: str | ArrayLike | None = None,
    sparse: bool = True,
    spread: str | None = "auto",
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> Divergence:
    """The Kullback–Leibler divergence D(p|q) = ∫ p log(p/q), or D(p|q) + D(q|p).

    *Two means* with α ≥ 0, Σα = 1 (``constraint="simplex"``, or full means) are compared at
    ``points`` drawn from p, or at ``n_samples`` points drawn from the mean p itself. There, with l
    = log q − log p, the terms are expm1(l) − l where q is near p: each ≥ 0, unbiased since ∫q = 1,
    and exact to 1e-7 where the mean of −l is noise. Where that does not halve their spread (q far
    from p), they are −l.

    *Two samples* are split at random in halves. Densities are fitted on the first halves (sparse
    with optimal nonnegative weights in L2, or full), and log f_p − log f_q is averaged over the
    second half of p. This is not a metric, and below 0 by chance for samples of equal law. Kernel,
    bandwidth and scale are common to both, as in :func:`mmd`.

    Parameters
    ----------
    p, q : array-like of shape (n, d), SparseKernelMean or KernelMean
        Two means that are densities, or two samples; n may differ.
    symmetric : bool, default=False
        Whether to add the other direction.
    points : array-like of shape (m, d), pair of such arrays or None, default=None
        Where to average, with two means: points drawn from p, or if symmetric a pair, from p and
        from q.
    n_samples : int, default=10000
        How many points are drawn from the mean p, where none are given.
    kernel : str or Kernel, default='gaussian'
        The kernel of the densities, for samples.
    bandwidth : float or str, default='iqr'
        The kernel's own length, or a rule, for samples.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the samples first.
    sparse : bool, default=True
        False fits full densities to the samples.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the halves, the selections of centres and the points that are drawn.

    Returns
    -------
    Divergence
        The divergence, with its standard error and its largest term. Time O(points·k·d) for means,
        and two fits of O(n·k·d + k³) for samples; memory O(n·d + k²).

    Raises
    ------
    TypeError
        If a mean is compared with a sample.
    ValueError
        If a mean is no density, or ``points`` is given with samples.

    See Also
    --------
    mmd : A metric between samples.

    References
    ----------
    .. [1] S. Kullback and R. A. Leibler, "On information and sufficiency", Annals of Mathematical
       Statistics 22(1), 1951.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> near, far = (rng.normal(m, 1.0, (400, 2)) for m in (0.0, 2.0))
    >>> bool(km.kl_divergence(near, far, random_state=0).value > 1.0)
    True
    """
    means = mean_in(p), mean_in(q)
    if means[0] is not None and means[1] is not None:
        models = _density(means[0], "p"), _density(means[1], "q")
        if models[0].dimension != models[1].dimension:
            raise ValueError(
                f"p has {models[0].dimension} dimensions, but q has {models[1].dimension}; they "
                "must be the same."
            )
        if points is not None:
            return _on_points(models, points, symmetric)
        return _by_sampling(
            models, _checks.count(n_samples, "n_samples", least=2), symmetric, random_state
        )
    if means != (None, None):
        raise TypeError(
            "kl_divergence compares two means or two samples, not a mean with a sample: fit one "
            "to the sample."
        )
    if points is not None:
        raise ValueError("points= goes with two means; samples are split in halves and need none.")
    samples = two_samples(p, q, "pq")
    chosen, matrix = common(samples, kernel, bandwidth, scale, engine)
    recipe = Recipe(
        chosen,
        matrix,
        sparse=sparse,
        engine=engine,
        streams=_checks.streams(random_state),
        options={"spread": spread},
    ).for_densities()
    first, second = zip(
        *(halves(X, recipe.streams, name) for X, name in zip(samples, "pq", strict=True)),
        strict=True,
    )
    found = divergences(recipe.means(first), second)
    pairs = [(0, 1), (1, 0)] if symmetric else [(0, 1)]
    return _total([Divergence(*(float(matrix[pair]) for matrix in found)) for pair in pairs])


def _density(mean: KernelMean, name: str) -> KernelMean:
    """A mean as a density; a ValueError where it is none."""
    total = float(mean.weights.sum())
    if (mean.weights < 0).any() or abs(total - 1.0) > SUM_SLACK:
        what = (
            "has negative weights"
            if (mean.weights < 0).any()
            else f"has weights that sum to {total:.6g}"
        )
        raise ValueError(
            f"{name} {what}, so it is no density: fit or refit it with constraint='simplex'."
        )
    return replace(mean, space="l2")


def _on_points(models: tuple[KernelMean, KernelMean], points: Any, symmetric: bool) -> Divergence:
    """Mean of log p − log q over points of p, and the other way round."""
    if not symmetric:
        sets = [_checks.points(points, "points", models[0].dimension)]
    elif isinstance(points, tuple) and len(points) == 2:
        sets = [_checks.points(X, "points", models[0].dimension) for X in points]
    else:
        raise ValueError(
            "with symmetric=True points= must be a pair of arrays: drawn from p, and drawn from q."
        )
    directions = [models, models[::-1]]
    return _total(
        [_mean_of(-_log_ratio(*pair, X)) for X, pair in zip(sets, directions, strict=False)]
    )


def _by_sampling(
    models: tuple[KernelMean, KernelMean], size: int, symmetric: bool, random_state: RandomState
) -> Divergence:
    chance = _checks.streams(random_state)
    directions = [models, models[::-1]] if symmetric else [models]
    drawn = [
        sampling.draw(pair[0], size, chance.of("divergence", which))
        for which, pair in enumerate(directions)
    ]
    return _total(
        [_mean_of(_terms(_log_ratio(*pair, X))) for pair, X in zip(directions, drawn, strict=True)]
    )


def _terms(log_ratio: Vector) -> Vector:
    """expm1(l) − l, or −l where E expm1(l) = 0 is seen by too few points to help."""
    with np.errstate(over="ignore"):
        corrected: Vector = np.expm1(log_ratio) - log_ratio
    return corrected if np.std(corrected) < WORTHWHILE_SPREAD * np.std(log_ratio) else -log_ratio


def _log_ratio(p: KernelMean, q: KernelMean, X: Points) -> Vector:
    """l = log q − log p."""
    ratio: Vector = log_density(q, X) - log_density(p, X)
    return ratio


def _mean_of(terms: Vector) -> Divergence:
    spread = float(np.std(terms, ddof=1)) / np.sqrt(len(terms)) if len(terms) > 1 else np.inf
    return Divergence(float(np.mean(terms)), float(spread), float(np.max(terms)))


def _total(parts: list[Divergence]) -> Divergence:
    return Divergence(
        sum(part.value for part in parts),
        float(np.hypot.reduce([part.standard_error for part in parts])),
        max(part.largest_term for part in parts),
    )
