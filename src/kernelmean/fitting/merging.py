"""Means of several samples as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean import _checks, coefficients, engines
from kernelmean._types import Constraint, IntVector, Matrix, Points, Vector
from kernelmean.coefficients import Stopping
from kernelmean.coefficients.sources import Source
from kernelmean.engines import PointCloud
from kernelmean.fitting.fit import path_facts
from kernelmean.fitting.settings import default_limit
from kernelmean.kernels import RadialFunction
from kernelmean.linalg.pursuit import GreedyPursuit
from kernelmean.mean import scaling
from kernelmean.mean.compare import expansions
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.selection import KCenter, Listed
from kernelmean.selection.auto import Selected
from kernelmean.selection.listed import distinct_rows

# Candidates for each centre of the merged mean, those of largest weight: its algebra then takes
# O(k³), whatever is merged.
CANDIDATES_PER_CENTER = 4


def merge(
    means: Sequence[SparseKernelMean], k: int | None = None, *, constraint: Constraint = None
) -> SparseKernelMean:
    """The mean of the union of several samples, Σ_l (n_l/N) z_l, on k of the centres of all.

    The weights are optimal and the target is exact: signed weights stay signed. With k at least the
    number of distinct centres the merged mean equals the target. Otherwise the centres are those of
    a greedy selection among them, or farthest-first where that reaches a smaller error.

    Parameters
    ----------
    means : sequence of SparseKernelMean
        Sparse means of one kernel, space and scale.
    k : int or None, default=None
        The number of centres of the result. By default it is the largest integer below 3√N.
    constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None, default=None
        The constraint on the new weights, as in :func:`sparse_kernel_mean`.

    Returns
    -------
    SparseKernelMean
        The merged mean, without a ``bound``. Time O(P·k·d + k³) and memory O(P·d + k²), where P is
        the number of centres of all means.

    Raises
    ------
    ValueError
        If the means have different kernels, spaces or scales, or if there are none.

    See Also
    --------
    MeanStream : Merges the means of an endless stream.
    SparseKDE.merge : Merges two estimators.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> options = {"kernel": km.Gaussian(0.8), "k": 40, "random_state": 0}
    >>> halves = [km.sparse_kernel_mean(part, **options) for part in (X[:300], X[300:])]
    >>> union = km.merge(halves, k=50)
    >>> union.n_points, union.k, union.selection
    (600, 50, 'merged')
    """
    first, points, target, total = _union(means)
    _checks.choice(constraint, "constraint", coefficients.CONSTRAINTS)
    limit = default_limit(total) if k is None else _checks.count(k, "k")
    engine = engines.precise(engines.open(first.engine))
    mapped = scaling.apply(first.scale, points, first.centers[0])
    cloud = engine.load(mapped)
    radial = first.kernel.radial(first.dimension, first.space)
    choice = _best(_Union(cloud, radial, mapped, target), limit, constraint)
    path = choice.path
    facts = path_facts(choice.path, cloud, engine)
    assert path.indices is not None
    return SparseKernelMean(
        centers=points[path.indices],
        weights=choice.weights,
        kernel=first.kernel,
        space=first.space,
        scale=first.scale,
        indices=None,
        n_points=total,
        constraint=constraint,
        engine=first.engine,
        selection="merged",
        **{**facts, "nearest_bound": None, "center_mass": None, "nested": False},
    )


@dataclass(frozen=True)
class _Union:
    """Σ_a w_a φ(·, c_a) over the centres of all, w of any sign."""

    cloud: PointCloud
    radial: RadialFunction
    points: Points
    weights: Vector

    def sources(self, limit: int, unit_sum: bool) -> Iterator[Source]:
        """Farthest-first, and the greedy selection where there are more centres than wanted."""
        yield KCenter(self.cloud, int(np.argmax(np.abs(self.weights))))
        rows = np.fromiter(
            distinct_rows(self.cloud, [self._heaviest(CANDIDATES_PER_CENTER * limit)]),
            dtype=np.intp,
        )
        if limit < len(rows):
            kappa = self.cloud.kernel_sum(self.radial, self.points[rows], self.weights)
            directions = engines.orthonormal_basis(self.cloud, self.radial, limit)
            picks = GreedyPursuit(self.radial, unit_sum, self.points[rows], kappa, directions).take(
                limit
            )
            yield Listed("greedy", self.cloud, [rows[picks]])

    def _heaviest(self, most: int) -> IntVector:
        """Rows of the largest |w|, in their order."""
        return np.sort(np.argsort(-np.abs(self.weights), kind="stable")[:most])


def _best(union: _Union, limit: int, constraint: Constraint) -> Selected:
    """The selection whose weights reach the smallest error."""
    found: tuple[float, Selected] | None = None
    for source in union.sources(limit, constraint is not None):
        path = coefficients.grow(
            union.cloud, union.radial, source, Stopping(limit, limit, 0.0, 1), union.weights
        )
        alpha = coefficients.weights(path.factor, path.k, constraint, "cholesky")
        objective = path.factor.objective(alpha)
        if found is None or objective < found[0]:
            found = objective, Selected(path, alpha)
    assert found is not None
    return found[1]


def merging_error(means: Sequence[SparseKernelMean], merged: SparseKernelMean) -> float:
    """‖Σ_l (n_l/N) z_l − z‖: what merging has cost, exactly."""
    first, points, target, total = _union(means)
    return KernelMean(
        points, target, first.kernel, first.space, first.scale, total, first.engine
    ).distance(merged)


def _union(means: Sequence[SparseKernelMean]) -> tuple[SparseKernelMean, Matrix, Vector, float]:
    """(a representative, all centres, their weights in Σ(n_l/N)z_l, N)."""
    expansions(means)
    for mean in means:
        if not isinstance(mean, SparseKernelMean):
            raise TypeError(
                f"sparse means can be merged, but the list holds a {type(mean).__name__}."
            )
    first = means[0]
    for other in means[1:]:
        first.expansion.pairing(other.expansion)
        if first.kernel != other.kernel:
            raise ValueError(
                f"the means to merge have different kernels ({first.kernel} and {other.kernel})."
            )
    total = sum(mean.n_points for mean in means)
    points = np.concatenate([mean.centers for mean in means])
    target = np.concatenate([mean.weights * (mean.n_points / total) for mean in means])
    return first, points, target, total
