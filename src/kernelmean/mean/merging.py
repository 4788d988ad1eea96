"""Means of several samples as one, and all distances between many means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean import _checks, coefficients, engines
from kernelmean._types import Constraint, Matrix, Vector
from kernelmean.coefficients import Stopping
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, KernelMean, expansion_of
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


def distance_matrix(means: Sequence[AnyMean]) -> Matrix:
    """‖z_a − z_b‖ for all pairs: symmetric, zero diagonal. Time O((Σk)²d)."""
    expansions = _expansions(means)
    N = len(expansions)
    G, log_unit = np.zeros((N, N)), np.zeros((N, N))
    for a in range(N):
        for b in range(a + 1):
            G[a, b], log_unit[a, b] = expansions[a].inner_in_units(expansions[b])
            G[b, a], log_unit[b, a] = G[a, b], log_unit[a, b]
    top = float(log_unit.max())  # squared norms need not fit a float for distances to
    G *= np.exp(log_unit - top)
    squared = np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G
    D: Matrix = scaling.times_exp(np.sqrt(np.maximum(squared, 0.0)), 0.5 * top)
    np.fill_diagonal(D, 0.0)
    return D


def _union(means: Sequence[SparseKernelMean]) -> tuple[SparseKernelMean, Matrix, Vector, float]:
    """(a representative, all centres, their weights in Σ(n_l/N)z_l, N)."""
    _expansions(means)
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


def _expansions(means: Sequence[AnyMean]) -> list[KernelMean]:
    if not isinstance(means, Sequence):
        raise TypeError(f"give a list of SparseKernelMean, got {means!r}.")
    if not means:
        raise ValueError("give a list of at least one SparseKernelMean, got none.")
    return [expansion_of(mean) for mean in means]
