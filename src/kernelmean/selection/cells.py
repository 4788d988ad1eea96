"""Atoms from the cells of centres: each stands for the points nearest to its centre.

The mean and the covariance of a cell are its second-order quadrature: replaced by N(c, S), the
points of the cell keep their mass, their mean and their covariance (scalar spreads: its trace).
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, StopReason, Vector
from kernelmean.coefficients import Path
from kernelmean.engines import PointCloud
from kernelmean.kernels import Atoms, SpreadKind
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import squared_norms
from kernelmean.selection.base import Task
from kernelmean.selection.kmeans import OffData

TRIMMED = (
    0.3  # squared distance to the centre, in units of d·τ², up to which a point counts as near
)
LEAST_NORM = 1e-250  # of an atom, squared and in units of g(0): algebra needs some room below


class TooWideError(ValueError):
    """Atoms whose inner products do not fit a float."""


def cell_atoms(cloud: PointCloud, centers: Points, kind: SpreadKind) -> Atoms:
    """The cells of these centres as atoms, without empty ones: one pass over the points."""
    nearest = cloud.nearest(centers)
    if kind == "scalar":
        spreads = nearest.variances()
    else:
        moments = nearest.covariances()
        spreads = 0.5 * (moments + np.swapaxes(moments, 1, 2))  # symmetric to the last bit
    return Atoms(nearest.means(), spreads)[nearest.masses() > 0.0]


def trimmed_atoms(task: Task, centers: Points, weights: Vector | None) -> Atoms:
    """Scalar atoms of the near part of each cell; a centre with nothing near stays a point.

    Where rows were chosen for what they add to the mean, a few of them stand for a far fringe,
    whose variance would make one wide atom of much that is empty. ``weights`` are those of the
    rows. For samples so small that all rows may be held.
    """
    cloud = task.cloud
    reach = TRIMMED * cloud.summary.dimension * variance(task.radial)
    near = cloud.nearest(centers).distances().values() <= reach
    if not near.any():
        return Atoms(centers, np.zeros(len(centers)))
    part = cloud
    if not near.all():
        rows = cloud.rows(np.flatnonzero(near))
        part = task.engine.load(rows, None if weights is None else weights[near])
    nearest = part.nearest(centers)
    return Atoms(nearest.means(), nearest.variances())


def path_of(task: Task, atoms: Atoms, name: str, reason: StopReason) -> Path:
    """The atoms with their κ and their factor, in their order.

    A ValueError where their inner products do not fit a float.
    """
    if squared_norms(task.radial, atoms).min() < LEAST_NORM:
        raise TooWideError(
            "the cells are so much wider than the kernel that inner products of their atoms "
            f"underflow in {atoms.dimension} dimensions; use a larger bandwidth or spread=None."
        )
    kappa = task.cloud.atom_sum(task.radial, atoms)
    factor = Factor(task.radial)
    factor.append(atoms, kappa)
    return Path(len(atoms), reason, factor, None, OffData(name, task.cloud, atoms.centers, kappa))
