"""Means of several samples as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean import _checks, coefficients, engines
from kernelmean._types import Constraint, Matrix, Vector
from kernelmean.coefficients import Stopping
from kernelmean.mean import scaling
from kernelmean.mean.comparing import expansions
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.fitting import default_limit, path_facts
from kernelmean.mean.value import SparseKernelMean
from kernelmean.selection import KCenter


def merge(means: Sequence[SparseKernelMean], k: int | None = None, *, constraint: Constraint = None) -> SparseKernelMean:
    """The mean of the union of samples, Σ_l (n_l/N) z_l, on k of the centres of all, with optimal weights.

    The target is exact: signed weights stay signed. Without ``k``, the largest integer below 3√N; with k at least the
    number of distinct centres the merged mean equals the target.
    """
    first, points, target, total = _union(means)
    _checks.choice(constraint, "constraint", coefficients.CONSTRAINTS)
    limit = default_limit(total) if k is None else _checks.count(k, "k")
    engine = engines.precise(engines.open(first.engine))
    room = engine.load(scaling.apply(first.scale, points, first.centers[0]))
    radial = first.kernel.radial(first.dimension, first.space)
    source = KCenter(room, int(np.argmax(np.abs(target))))
    path = coefficients.grow(room, radial, source, Stopping(limit, limit, 0.0, 1), target)
    facts = path_facts(path, room, engine)
    assert path.indices is not None
    return SparseKernelMean(
        centers=points[path.indices],
        weights=coefficients.weights(path.factor, path.k, constraint, "cholesky"),
        kernel=first.kernel,
        space=first.space,
        scale=first.scale,
        indices=None,
        n_points=total,
        constraint=constraint,
        engine=first.engine,
        selection="merged",
        **{**facts, "nearest_bound": None, "center_mass": None},
    )


def merging_error(means: Sequence[SparseKernelMean], merged: SparseKernelMean) -> float:
    """‖Σ_l (n_l/N) z_l − z‖: what merging has cost, exactly."""
    first, points, target, total = _union(means)
    return KernelMean(points, target, first.kernel, first.space, first.scale, total, first.engine).distance(merged)


def _union(means: Sequence[SparseKernelMean]) -> tuple[SparseKernelMean, Matrix, Vector, float]:
    """(a representative, all centres, their weights in Σ(n_l/N)z_l, N)."""
    expansions(means)
    for mean in means:
        if not isinstance(mean, SparseKernelMean):
            raise TypeError(f"sparse means can be merged, but the list holds a {type(mean).__name__}.")
    first = means[0]
    for other in means[1:]:
        first.expansion.pairing(other.expansion)
        if first.kernel != other.kernel:
            raise ValueError(f"the means to merge have different kernels ({first.kernel} and {other.kernel}).")
    total = sum(mean.n_points for mean in means)
    points = np.concatenate([mean.centers for mean in means])
    target = np.concatenate([mean.weights * (mean.n_points / total) for mean in means])
    return first, points, target, total
