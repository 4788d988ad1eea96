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

from kernelmean import _checks, engines
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, RandomState
from kernelmean.bandwidth import labelled, leave_one_out, moments
from kernelmean.engines import Engine, PointCloud
from kernelmean.engines.arrays import WeightedPoints

LABELLED_RULE = "jaakkola"

__all__ = [
    "RULES",
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
    """s·n^{−1/(d+4)}, s the mean over coordinates of the standard deviation (ddof = 1).

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.

    Returns
    -------
    float
        Time and memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.scott(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.347
    """
    return by_rule("scott", _cloud(X, sample_weight))


def silverman(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """s·(4/((d+2)n))^{1/(d+4)}; in one dimension .9·min(s, IQR/1.349)·n^{−1/5}.

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.

    Returns
    -------
    float
        Time and memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.silverman(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.347
    """
    return by_rule("silverman", _cloud(X, sample_weight))


def mode(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """s·(4/((d+4)n))^{1/(d+6)}: wider than Scott's, for modes and mean shift (Chen, Genovese &
    Wasserman 2016).

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.

    Returns
    -------
    float
        Time and memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> float(round(km.bandwidth.mode(np.random.default_rng(0).normal(size=(500, 2))), 3))
    0.427
    """
    return by_rule("mode", _cloud(X, sample_weight))


def iqr(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean over coordinates of IQR/1.35, the paper's rule for flow cytometry: a scale, without a
    factor in n.

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.

    Returns
    -------
    float
        Time O(n·d), for quantiles O(n log n·d); memory O(n·d).

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
    """Median of the nonzero pairwise distances, over 1000 points drawn by weight where there are
    more.

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.
    random_state : which points, where there are more than 1000.

    Returns
    -------
    float
        Time O(n + 1000²·d), memory O(n·d).

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
    """The σ that maximises the leave-one-out likelihood Σ_i log f_{σ,−i}(x_i); a point is left out
    with all its copies.

    Exact over all rows while that takes at most 10⁹ kernel values per σ (4·10⁹ in up to three
    dimensions); beyond, exact sums at as many rows as that allows, at least 1000. About 15 values
    of σ are tried.

    Parameters
    ----------
    X : array of shape (n, d)
    sample_weight : nonnegative; integer weights mean repeated rows.
    random_state : which rows, where not all.
    engine : "cpu", "gpu", "naive", or an engine instance.

    Returns
    -------
    float
        At most about 15 · 4·10⁹ kernel values; memory O(n·d).

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


def jaakkola(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    variant: str = "nearest",
    random_state: RandomState = 0,
    engine: str | Engine = "cpu",
) -> float:
    """Jaakkola's heuristic for labelled points.

    ``"nearest"``: median over points of the distance to the nearest point of another class.
    ``"cross"``: median of all distances between points of different classes. Beyond 10⁹ distances,
    over points drawn by weight.

    Parameters
    ----------
    X : array of shape (n, d)
    y : (n,) labels.
    sample_weight : nonnegative; integer weights mean repeated rows.
    variant : "nearest" or "cross".
    random_state : which points, where not all.
    engine : "cpu", "naive", or an engine instance.

    Returns
    -------
    float
        Time O(n²·d) up to 10⁹ distances, memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> km.bandwidth.jaakkola(np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1])
    2.5
    """
    checked = _checks.points(X)
    measure = labelled.VARIANTS[_checks.choice(variant, "variant", tuple(labelled.VARIANTS))]
    rows, present, weights = engines.present(checked, _checks.weights(sample_weight, len(checked)))
    labels = _checks.labels(y, len(checked), rows)
    opened = engines.precise(engines.open(engine))
    chance = _checks.streams(random_state).of("bandwidth jaakkola")
    sample = WeightedPoints(present, weights)
    return _positive(LABELLED_RULE, measure(opened, sample, labels, chance))


def by_rule(rule: str, cloud: PointCloud) -> float:
    """The bandwidth that a named rule gives for the points of a point cloud."""
    if rule == LABELLED_RULE:
        raise ValueError(
            "bandwidth rule 'jaakkola' needs labels: use km.bandwidth.jaakkola(X, y), or an "
            "estimator that is given y."
        )
    return _positive(rule, RULES[_checks.choice(rule, "bandwidth rule", RULES)](cloud))


def _median(cloud: PointCloud, streams: Streams) -> float:
    return moments.median(cloud, streams.of("bandwidth median"))


def _likelihood(cloud: PointCloud, streams: Streams) -> float:
    return leave_one_out.likelihood(cloud, moments.scott(cloud), streams.of("bandwidth likelihood"))


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
    _, present, weights = engines.present(checked, _checks.weights(sample_weight, len(checked)))
    return engines.precise(engines.open(engine)).load(present, weights)


RULES: dict[str, Callable[[PointCloud], float]] = {
    "scott": moments.scott,
    "silverman": moments.silverman,
    "iqr": moments.iqr,
    "median": lambda cloud: _median(cloud, _checks.streams(0)),
    "mode": moments.mode,
    "likelihood": lambda cloud: _likelihood(cloud, _checks.streams(0)),
}
