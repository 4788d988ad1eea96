"""Rules for the scale. Each follows the data's scale and gives the σ of an isotropic Gaussian.

Examples
--------
>>> import numpy as np, kernelmean as km
>>> X = np.random.default_rng(0).normal(size=(500, 2))
>>> bool(np.isclose(km.bandwidth.scott(10 * X), 10 * km.bandwidth.scott(X)))
True
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelmean import _checks, _progress, engines
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, RandomState
from kernelmean.bandwidth import labelled, leave_one_out, moments, resolution
from kernelmean.bandwidth.leave_one_out import Folding
from kernelmean.engines import Engine, PointCloud, Summary
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.samples import ArraySample, WeightedSample

LABELLED_RULE = "jaakkola"
MAX_RESOLUTION_ROWS = 10_000  # in which steps between values are looked for
RANKING_RULE = "ranking"  # of outlier detectors
# Of the median distance between rows: on the tuning sets of ``benchmarks.outlier_sets`` a quarter
# and a half rank outliers a little worse.
RANKING_SHARE = 1.0 / 3.0

__all__ = [
    "RULES",
    "auto",
    "by_rule",
    "iqr",
    "jaakkola",
    "likelihood",
    "median",
    "mode",
    "scott",
    "silverman",
]


def scott(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Scott's rule: s·n^{−1/(d+4)}, s the mean standard deviation of the coordinates (ddof = 1).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.

    Returns
    -------
    float
        The bandwidth. It takes time and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    bandwidth.silverman : A rule with another constant, robust in one dimension.
    bandwidth.mode : A wider bandwidth, for modes.

    References
    ----------
    .. [1] D. W. Scott, "Multivariate Density Estimation: Theory, Practice, and Visualization",
       Wiley, 1992.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.scott(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.347
    """
    return by_rule("scott", _cloud(X, sample_weight))


def silverman(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Silverman's rule: s·(4/((d+2)n))^{1/(d+4)}; in 1-D 0.9·min(s, IQR/1.349)·n^{−1/5}.

    Here s is the mean over coordinates of the standard deviation, and IQR the interquartile range.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.

    Returns
    -------
    float
        The bandwidth. It takes time and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    bandwidth.scott : The same power of n without the constant.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman & Hall,
       1986.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.silverman(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.347
    """
    return by_rule("silverman", _cloud(X, sample_weight))


def mode(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Rule for modes and mean shift: s·(4/((d+4)n))^{1/(d+6)}, which is wider than Scott's.

    Here s is the mean over coordinates of the standard deviation. The rule is Equation 18 of [1]_.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.

    Returns
    -------
    float
        The bandwidth. It takes time and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    MeanShift : Clusters around modes; it starts from this rule.
    bandwidth.scott : The rule for densities.

    References
    ----------
    .. [1] Y.-C. Chen, C. R. Genovese and L. Wasserman, "A comprehensive approach to mode
       clustering", Electronic Journal of Statistics 10(1), 2016.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.mode(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.427
    """
    return by_rule("mode", _cloud(X, sample_weight))


def iqr(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean over the coordinates of IQR/1.35: a scale of the data, without a factor in n.

    It is the rule of [1]_ for flow cytometry.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.

    Returns
    -------
    float
        The bandwidth. It takes time O(n·d), or O(n log n·d) to sort for quantiles, and memory
        O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    DistributionEmbedding : Compares samples by this rule, by default.
    bandwidth.median : Another scale of the data without a factor in n.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.iqr(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.964
    """
    return by_rule("iqr", _cloud(X, sample_weight))


def median(
    X: ArrayLike, sample_weight: ArrayLike | None = None, *, random_state: RandomState = 0
) -> float:
    """Median of the nonzero pairwise distances, over at most 1000 points drawn by weight.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Decides which points are compared, where there are more than 1000.

    Returns
    -------
    float
        The bandwidth. It takes time O(n + 1000²·d) and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    mmd_test : Compares two samples by this rule, by default.
    bandwidth.iqr : Another scale of the data without a factor in n.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A Kernel Two-Sample
       Test", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.median(np.random.default_rng(0).normal(size=(500, 2))), 3))
    1.614
    """
    return _positive("median", _median(_cloud(X, sample_weight), _checks.streams(random_state)))


def likelihood(
    X: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    random_state: RandomState = 0,
    engine: str | Engine = "cpu",
) -> float:
    """The σ that maximises the leave-one-out likelihood Σ_i log f_{σ,−i}(x_i).

    A point is left out together with all its copies. The sums are exact over all rows while that
    takes at most 10⁹ kernel values per σ (4·10⁹ in up to three dimensions). Beyond that, they are
    exact at as many rows as that allows, but at least 1000. About 15 values of σ are tried.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Decides at which rows the likelihood is taken, where not at all of them.
    engine : {'cpu', 'gpu', 'naive'} or Engine, default='cpu'
        What computes the kernel sums.

    Returns
    -------
    float
        The bandwidth. It takes at most about 15 · 4·10⁹ kernel values, and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    bandwidth.scott : A closed formula, for densities with one or few humps.

    References
    ----------
    .. [1] R. P. W. Duin, "On the Choice of Smoothing Parameters for Parzen Estimators of
       Probability Density Functions", IEEE Transactions on Computers C-25(11), 1976.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> bool(0.2 < km.bandwidth.likelihood(X) < 0.6)
    True
    """
    return _positive(
        "likelihood", _likelihood(_cloud(X, sample_weight, engine), _checks.streams(random_state))
    )


def auto(
    X: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    random_state: RandomState = 0,
    engine: str | Engine = "cpu",
) -> float:
    """The rule "likelihood", without the say of outliers, and no finer than the data.

    A Cauchy density of the weight of one point explains rows far from all others: a single one
    would otherwise ask for a kernel that reaches it. The bandwidth is at least √(mean δ²/12), with
    δ the steps in which the values of each coordinate are recorded.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Decides at which rows the likelihood is taken, where not at all of them.
    engine : {'cpu', 'gpu', 'naive'} or Engine, default='cpu'
        What computes the kernel sums.

    Returns
    -------
    float
        The bandwidth. It takes at most about 15 · 4·10⁹ kernel values, and memory O(n·d).

    Raises
    ------
    ValueError
        If the points have no spread: all are equal, or there is only one.

    See Also
    --------
    bandwidth.likelihood : The same with a say of every row.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> X[0] = 1e6
    >>> bool(0.2 < km.bandwidth.auto(X) < 0.6)
    True
    """
    cloud = _cloud(X, sample_weight, engine)
    return _positive("auto", _auto(cloud, _checks.streams(random_state)))


def jaakkola(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    variant: str = "nearest",
    random_state: RandomState = 0,
    engine: str | Engine = "cpu",
) -> float:
    """Jaakkola's heuristic for labelled points: the distance at which the classes meet.

    The variant "nearest" is the median over the points of the distance to the nearest point of
    another class. The variant "cross" is the median of all distances between points of different
    classes. Beyond 10⁹ distances, either is taken over points drawn by weight.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    y : array-like of shape (n,)
        The labels of the rows, of at least two classes.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    variant : {'nearest', 'cross'}, default='nearest'
        Which distances the median is taken of.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Decides which points are compared, where not all of them.
    engine : {'cpu', 'naive'} or Engine, default='cpu'
        What computes the distances.

    Returns
    -------
    float
        The bandwidth. It takes time O(n²·d), but at most 10⁹ distances, and memory O(n·d).

    Raises
    ------
    ValueError
        If there is only one class, or if the distances are all zero.

    See Also
    --------
    SparseKDEClassifier : Takes this rule as ``bandwidth="jaakkola"``.

    References
    ----------
    .. [1] T. Jaakkola, M. Diekhans and D. Haussler, "Using the Fisher kernel method to detect
       remote protein homologies", Intelligent Systems for Molecular Biology, 1999.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> km.bandwidth.jaakkola(np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1])
    2.5
    """
    checked = _checks.points(X)
    measure = labelled.VARIANTS[_checks.choice(variant, "variant", tuple(labelled.VARIANTS))]
    sample = WeightedSample.of(ArraySample(checked), _checks.weights(sample_weight, len(checked)))
    labels = _checks.labels(y, len(checked), sample.present)
    opened = engines.precise(engines.open(engine))
    chance = _checks.streams(random_state).of("bandwidth jaakkola")
    points = WeightedPoints(sample.sample.array(), sample.weights)
    return _positive(LABELLED_RULE, measure(opened, points, labels, chance))


def by_rule(rule: str, cloud: PointCloud) -> float:
    """The bandwidth that a named rule gives for points that an engine has loaded.

    Parameters
    ----------
    rule : {'scott', 'silverman', 'iqr', 'median', 'mode', 'likelihood', 'auto'}
        The name of the rule, one of ``bandwidth.RULES``.
    cloud : PointCloud
        The points, as :func:`kernelmean.engines.open` and its engine's ``load`` give them.

    Returns
    -------
    float
        The bandwidth. Costs in time and memory are those of the rule.

    Raises
    ------
    ValueError
        If the rule is unknown, if it needs labels, or if the points have no spread.

    See Also
    --------
    bandwidth.scott : A rule for points in an array.
    engines.open : Where point clouds come from.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> cloud = km.engines.open("naive").load(np.random.default_rng(0).normal(size=(500, 2)))
    >>> float(round(km.bandwidth.by_rule("scott", cloud), 3))
    0.347
    """
    if rule == LABELLED_RULE:
        raise ValueError(
            "bandwidth rule 'jaakkola' needs labels: use km.bandwidth.jaakkola(X, y), or an "
            "estimator that is given y."
        )
    if rule != RANKING_RULE:
        _checks.choice(rule, "bandwidth rule", RULES)
    if rule in SUMMARY_RULES:
        return by_summary(rule, cloud.summary)
    with _progress.phase("bandwidth"):
        return _positive(rule, SAMPLE_RULES[rule](cloud))


def by_folded_rule(rule: str, cloud: PointCloud, folding: Folding) -> float:
    """The bandwidth of one of the rules that leave rows out, on a domain."""
    with _progress.phase("bandwidth"):
        return _positive(rule, FOLDED_RULES[rule](cloud, _checks.streams(0), folding))


def by_summary(rule: str, summary: Summary) -> float:
    """The bandwidth of a rule that reads nothing but counts, moments and quantiles."""
    return _positive(rule, SUMMARY_RULES[rule](summary))


def _median(cloud: PointCloud, streams: Streams) -> float:
    return moments.median(cloud, streams.of("bandwidth median"))


def _likelihood(cloud: PointCloud, streams: Streams, folding: Folding | None = None) -> float:
    start = moments.scott(cloud.summary)
    rng = streams.of("bandwidth likelihood")
    return leave_one_out.likelihood(cloud, start, rng, folding=folding)


def _auto(cloud: PointCloud, streams: Streams, folding: Folding | None = None) -> float:
    summary = cloud.summary
    shrinkage = summary.size ** (-1.0 / (summary.dimension + 4))
    robust = moments.iqr(summary)
    width = robust if robust > 0.0 else moments.scott(summary) / shrinkage
    rng = streams.of("bandwidth auto")
    found = leave_one_out.likelihood(cloud, width * shrinkage, rng, width, folding)
    count = max(1, int(min(MAX_RESOLUTION_ROWS, summary.size)))
    rows = cloud.rows(cloud.locate((np.arange(count) + 0.5) / count))
    return max(found, float(np.sqrt(resolution.rounding_variances(rows).mean())))


def require_spread(rule: str, summary: Summary) -> None:
    """Raise a ValueError where all points are equal."""
    _positive(rule, float(summary.std.max()))


def _positive(rule: str, sigma: float) -> float:
    if not (np.isfinite(sigma) and sigma > 0):
        raise ValueError(
            f"bandwidth rule {rule!r} finds no spread in the data (all points equal, or one "
            "point only); "
            "give the bandwidth as a positive number."
        )
    return sigma


def _cloud(
    X: ArrayLike, sample_weight: ArrayLike | None, engine: str | Engine = "naive"
) -> PointCloud:
    checked = _checks.points(X)
    sample = WeightedSample.of(ArraySample(checked), _checks.weights(sample_weight, len(checked)))
    return sample.load(engines.precise(engines.open(engine)))


SUMMARY_RULES: dict[str, Callable[[Summary], float]] = {
    "scott": moments.scott,
    "silverman": moments.silverman,
    "iqr": moments.iqr,
    "mode": moments.mode,
}
# Rules that leave rows out, and so notice what a domain brings back.
FOLDED_RULES: dict[str, Callable[[PointCloud, Streams, Folding | None], float]] = {
    "likelihood": _likelihood,
    "auto": _auto,
}
SAMPLE_RULES: dict[str, Callable[[PointCloud], float]] = {
    "median": lambda cloud: _median(cloud, _checks.streams(0)),
    "likelihood": lambda cloud: _likelihood(cloud, _checks.streams(0)),
    "auto": lambda cloud: _auto(cloud, _checks.streams(0)),
    RANKING_RULE: lambda cloud: RANKING_SHARE * _median(cloud, _checks.streams(0)),
}
RULES = ("scott", "silverman", "iqr", "median", "mode", "likelihood", "auto")
