"""Covariances of groups of points: one thread adds up a group, in the order of its points.

Not by BLAS, whose own threads would change bits.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Matrix, Points
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import entry
from kernelmean.engines.arrays import group_order
from kernelmean.engines.cpu.blocks import Blocks
from kernelmean.kernels import Spreads

TOGETHER = 256  # points whose products are added up before they join the sum
PIECES = 64  # into which the groups are cut, for threads


def covariances(blocks: Blocks, w: Matrix, labels: IntVector, means: Points, count: int) -> Spreads:
    """(k, d, d): Σ w_j (x_j − m)(x_j − m)ᵀ / Σ w_j over each group; 0 where it weighs nothing.

    Weights w are in the layout of the blocks, labels in the order of their points.
    """
    k, d = means.shape
    order, ends = group_order(labels, k)
    starts = np.concatenate([[0], ends])
    found = np.zeros((k, d, d))
    size = -(-k // PIECES)
    tasks = [
        (
            blocks.points,
            w,
            order,
            starts[a : a + size + 1],
            means[a : a + size],
            found[a : a + size],
        )
        for a in range(0, k, size)
    ]
    threads.run(_add_products, tasks, count)
    return found


@entry()
def _add_products(X, w, order, starts, means, out):
    B = X.shape[2]
    d = means.shape[1]
    u = np.empty(d)
    partial = np.empty((d, d))
    for a in range(len(means)):
        mass = 0.0
        for first in range(starts[a], starts[a + 1], TOGETHER):
            for s in range(d):  # whole arrays at once would take seconds longer to compile
                for t in range(s + 1):
                    partial[s, t] = 0.0
            for i in range(first, min(first + TOGETHER, starts[a + 1])):
                b = order[i] // B
                j = order[i] % B
                mass += w[b, j]
                for t in range(d):
                    u[t] = X[b, t, j] - means[a, t]
                for s in range(d):
                    z = w[b, j] * u[s]
                    for t in range(s + 1):
                        partial[s, t] += z * u[t]
            for s in range(d):
                for t in range(s + 1):
                    out[a, s, t] += partial[s, t]
        for s in range(d):
            for t in range(s + 1):
                out[a, s, t] = out[a, s, t] / mass if mass > 0.0 else 0.0
                out[a, t, s] = out[a, s, t]
