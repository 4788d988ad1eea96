"""How clearly points belong to their clusters."""

from __future__ import annotations

import numpy as np

from kernelmean import engines
from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.clustering import Clustering
from kernelmean.meanshift.sampling_noise import log_values
from kernelmean.samples import Sample

CLEAR = 2.0 / 3.0  # the strength from which on a point is no noise


def strengths(found: Clustering, X: Sample) -> Vector:
    """(n,) how clearly each point belongs to its cluster.

    That is the share of the centres that climb to the cluster in the density at the point, which
    falls to about a half between two; and for a point on a small hill that is no cluster, times
    how high the way from there is: the hills of stray points are cut off from all others.
    """
    heights = _heights(found)[found.of_points]
    if len(found.kept) == 1:
        return heights
    mean = found.mean.expansion
    of_centers = found.predict(mean.centers)
    shares = np.zeros(len(X))
    for number in range(len(found.kept)):
        rows = np.flatnonzero(found.labels == number)
        own = np.flatnonzero(of_centers == number)
        if len(rows) and len(own):
            shares[rows] = _shares(mean, own, X.restrict(rows))
    joined: Vector = shares * heights
    return joined


def _shares(mean: KernelMean, own: IntVector, X: Sample) -> Vector:
    """Σ over some centres of w_a φ_a(x), over the same sum of all."""
    kernel = mean.kernel.formula(mean.dimension)
    part = mean.loaded(engines.precise(engines.open(mean.engine)), own)

    def share(mapped: Points) -> Vector:
        of_own = part.log_kernel_sum(kernel, mapped, mean.weights[own])
        found: Vector = np.exp(np.minimum(of_own - log_values(mean, mapped), 0.0))
        return found

    shares: Vector = mean.map_queries(X).apply(share)
    return shares


def _heights(found: Clustering) -> Vector:
    """(m,) 1 for a mode that is a cluster, else saddle/peak times the height of its parent."""
    heights = np.ones(len(found.owners))
    if found.rules.significance is None:
        return heights
    tree = found.tree
    for mode in tree.from_last[1:]:
        if found.owners[mode] != mode:
            drop = min(float(tree.log_saddle[mode] - tree.log_peak[mode]), 0.0)
            heights[mode] = np.exp(drop) * heights[tree.parent[mode]]
    return heights
