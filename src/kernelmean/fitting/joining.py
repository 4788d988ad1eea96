"""Densities near to no kernel mean as one: atoms side by side, and fewer where they are too many.

They are fitted by likelihood, or parts of others, so there is no L2 error for a merge to keep
small, and in many dimensions no inner product of such narrow and such wide atoms that would fit a
float.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import IntVector, StopReason, Vector
from kernelmean.engines import Engine
from kernelmean.kernels import Atoms
from kernelmean.kernels.atoms import merged
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.selection.kmeans import lloyd

LLOYD_ITERATIONS = 5


def side_by_side(
    union: KernelMean, limit: int, engine: Engine, reason: StopReason
) -> SparseKernelMean:
    """All atoms by weight, or as many as allowed.

    Groups of atoms near one another then become one each, with the mass, the mean and the
    covariance of the group.
    """
    atoms = union.atoms
    weights = union.weights
    if len(atoms) > limit:
        weights, atoms = _grouped(weights, atoms, limit, engine)
    order = np.argsort(-weights, kind="stable")
    atoms = atoms[order]
    k = len(atoms)
    return SparseKernelMean(
        centers=scaling.undo(union.scale, atoms.centers, union.centers[0]),
        spreads=atoms.spreads,
        weights=weights[order],
        kernel=union.kernel,
        space=union.space,
        scale=union.scale,
        indices=None,
        radii=np.full(k, np.inf),
        cover=float("nan"),
        incoherence=0.0,
        kappa=None,
        indicator=None,
        jitter=0.0,
        stop_reason=reason,
        n_points=union.n_points,
        constraint="simplex",
        engine=union.engine,
        selection="merged",
    )


def _grouped(weights: Vector, atoms: Atoms, limit: int, engine: Engine) -> tuple[Vector, Atoms]:
    """The cells of k-means on the centres, from the heaviest of them."""
    heaviest = np.argsort(-weights, kind="stable")[:limit]
    cloud = engine.load(atoms.centers, weights)
    centroids = lloyd(cloud, atoms.centers[heaviest], LLOYD_ITERATIONS)
    label: IntVector = np.argmin(cdist(atoms.centers, centroids), axis=1)
    groups = [np.flatnonzero(label == a) for a in np.unique(label)]
    return merged([(weights[rows], atoms[rows]) for rows in groups])
