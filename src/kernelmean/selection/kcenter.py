"""Farthest-first traversal, the paper's selection."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean import _checks, _shown, engines, samples
from kernelmean._types import ArrayLike, IntVector, Points, RandomState, Vector
from kernelmean.coefficients.sources import Batch
from kernelmean.engines import Distances, Engine, PointCloud
from kernelmean.samples import WeightedSample
from kernelmean.selection.base import first_center


class Centers(NamedTuple):
    """Points that cover a sample, in the order in which they were picked.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        Rows of X.
    points : ndarray of shape (k, d)
        The rows themselves.
    radii : ndarray of shape (k,)
        Distance of each point to the earlier ones when it was picked; the first is inf.
    cover : float
        Largest distance from a point of the sample to its nearest centre.

    See Also
    --------
    k_center : The function that returns it.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> centers = km.k_center(np.array([[0.0], [1.0], [10.0]]), 2, first=0)
    >>> centers.indices, centers.cover
    (array([0, 2]), 1.0)
    """

    indices: IntVector
    points: Points
    radii: Vector
    cover: float

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def k_center(
    X: ArrayLike,
    k: int,
    *,
    first: int | None = None,
    random_state: RandomState = None,
    engine: str | Engine = "cpu",
    sample_weight: ArrayLike | None = None,
) -> Centers:
    """Points that cover a sample, by exact farthest-first traversal.

    Each next centre is the point farthest from the earlier ones, the lowest row on ties. The cover
    radius is at most twice the best possible for k points [1]_, and a prefix is the answer for
    every smaller k. At most O(nkd) time, O(nd) memory.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample; also a mapped file, a source of batches (``km.read``) or a Dask collection.
    k : int
        Number of centres; with fewer distinct points, each of those is returned once.
    first : int or None, default=None
        Row to start from; drawn by weight with ``random_state`` if None.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Draws the first centre, where ``first`` is None.
    engine : str or Engine, default="cpu"
        "cpu", "gpu" (X may then be on the device), "auto", "naive", or an engine instance.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights; rows of weight 0 are absent.

    Returns
    -------
    Centers
        The centres as ``indices`` and ``points``, with ``radii`` and ``cover``.

    See Also
    --------
    sparse_kernel_mean : Takes these centres with ``selection="kcenter"``.

    References
    ----------
    .. [1] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical
       Computer Science 38 (1985), 293-306.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> centers = km.k_center(X, 50, first=0)
    >>> centers.points.shape, bool((np.diff(centers.radii[1:]) <= 0).all())
    ((50, 3), True)
    """
    checked = samples.check(X, engine)
    sample = WeightedSample.of(checked, _checks.weights(sample_weight, len(checked)))
    if first is not None and _checks.count(first, "first", least=0) >= len(checked):
        raise ValueError(f"first must be a row of X, 0 to {len(checked) - 1}, got {first}.")
    count = float(len(sample)) * _checks.count(k, "k")
    cloud = sample.load(engines.choose(engine, count, checked.on_device))
    start = None if first is None else _position(sample, first)
    chance = _checks.streams(random_state)
    traversal = cloud.traverse(first_center(cloud, chance) if start is None else start)
    picks = traversal.take(_checks.count(k, "k"))
    indices = sample.given_rows(picks.indices)
    return Centers(indices, cloud.rows(picks.indices), picks.radii, traversal.distances().cover)


class KCenter:
    """The farthest-first traversal of a point cloud, as a source of centres."""

    name = "kcenter"

    def __init__(self, cloud: PointCloud, first: int) -> None:
        self._cloud = cloud
        self._traversal = cloud.traverse(first)
        self._taken = 0

    def take(self, m: int) -> Batch:
        """The next m centres."""
        picks = self._traversal.take(m)
        self._taken += len(picks.indices)
        return Batch(self._cloud.rows(picks.indices), picks.indices)

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centres: those of the traversal where it ends there."""
        if len(centers) == self._taken:
            return self._traversal.distances()
        return self._cloud.nearest(centers).distances()


def _position(sample: WeightedSample, first: int) -> int:
    """Where a row of X is among those that count."""
    position = sample.positions(np.array([first]))
    if position is None:
        raise ValueError(f"first is row {first}, but its weight is zero.")
    return int(position[0])
