"""Which atoms become one when means are merged: Ward's clustering of atoms of the same sign.

Two atoms are as far apart as their centres and the roots of their covariances,
‖c_a − c_b‖² + ‖S_a^{½} − S_b^{½}‖², for scalar spreads the squared Wasserstein distance. To merge
groups of masses m and m′ whose means in these coordinates are r apart raises the sum of squares by
mm′/(m + m′)·r²; the pair that costs least is merged until few enough are left (Ward 1963).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine
from kernelmean.kernels import Atoms
from kernelmean.kernels.atoms import merged
from kernelmean.selection.kmeans import lloyd

# Atoms for each group of the result that Ward's rule looks at, which takes time that is quadratic
# in their number; of more, centroids are taken first.
ATOMS_PER_GROUP = 4
BLOCK_COSTS = 2**20  # costs of pairs that are held in memory at a time: 8 MiB


def merged_by_moments(engine: Engine, atoms: Atoms, w: Vector, k: int) -> Atoms:
    """At most k atoms for many, each with the mass, mean and covariance of a group of one sign.

    The heaviest comes first. Time O(P·k·d + k²·d) and memory O(P·d) for P atoms.
    """
    live = np.flatnonzero(w)
    if not len(live):
        return atoms[:1]
    atoms = atoms[live]
    w = w[live]
    if len(w) > ATOMS_PER_GROUP * k:
        w, atoms = _grouped(atoms, w, _centroid_labels(engine, atoms, w, ATOMS_PER_GROUP * k))
    w, atoms = _grouped(atoms, w, ward(coordinates(atoms), np.abs(w), w > 0.0, k))
    heaviest: IntVector = np.argsort(-np.abs(w), kind="stable")[:k]
    return atoms[heaviest]


def coordinates(atoms: Atoms) -> Points:
    """(k, d + 1) or (k, d + d²): centres and the roots of covariances, in which Ward measures."""
    if atoms.spreads is None:
        return atoms.centers
    if atoms.spreads.ndim == 1:
        roots = np.sqrt(atoms.dimension * atoms.spreads)[:, None]
    else:
        values, vectors = np.linalg.eigh(atoms.spreads)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        roots = (scaled @ np.swapaxes(vectors, 1, 2)).reshape(len(atoms), -1)
    return np.column_stack([atoms.centers, roots])


def _grouped(atoms: Atoms, w: Vector, labels: IntVector) -> tuple[Vector, Atoms]:
    """Weights and atoms of the groups that the labels name, in the order of their first atoms."""
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    members = sorted(np.split(order, ends), key=lambda rows: int(rows[0]))
    return merged([(w[rows], atoms[rows]) for rows in members])


def _centroid_labels(engine: Engine, atoms: Atoms, w: Vector, count: int) -> IntVector:
    """Groups by the nearest of ``count`` centroids, positive and negative atoms apart.

    The centroids start at atoms that lie evenly in the cumulative mass: no chance is involved.
    """
    places = coordinates(atoms)
    mass = np.abs(w)
    cloud = engine.load(places, mass)
    start = np.unique(cloud.locate((np.arange(count) + 0.5) / count))
    centroids = lloyd(cloud, places[start])
    rows = max(1, BLOCK_COSTS // len(centroids))
    nearest = [
        cdist(places[i : i + rows], centroids, "sqeuclidean").argmin(axis=1)
        for i in range(0, len(places), rows)
    ]
    return 2 * np.concatenate(nearest) + (w > 0.0)


def ward(places: Points, mass: Vector, side: np.ndarray, count: int) -> IntVector:
    """The group of each point, at most ``count`` of them, where no group has points of both sides.

    There are more groups only where ``count`` is 1 and both sides have points. Each point knows the
    partner that would cost it least; a merge changes that of few others. Time O(P²·d), memory
    O(P·d) and a block.
    """
    search = _Search(places.copy(), mass.copy(), side)
    labels = np.arange(len(places))
    for _ in range(len(places) - count):
        first = int(np.argmin(search.costs))
        if np.isinf(search.costs[first]):
            break
        second = int(search.partners[first])
        labels[labels == second] = first
        search.merge(first, second)
    return labels


class _Search:
    """Groups that are left, and for each the partner of least cost."""

    def __init__(self, places: Points, mass: Vector, side: np.ndarray) -> None:
        self._places = places
        self._mass = mass
        self._side = side
        self._live = np.ones(len(mass), dtype=bool)
        self.partners = np.zeros(len(mass), dtype=np.intp)
        self.costs = np.full(len(mass), np.inf)
        rows = max(1, BLOCK_COSTS // len(mass))
        for i in range(0, len(mass), rows):
            self._look_up(np.arange(i, min(i + rows, len(mass))))

    def merge(self, first: int, second: int) -> None:
        """The second group becomes part of the first, at their mean."""
        mass = self._mass[first] + self._mass[second]
        share = self._mass[second] / mass
        self._places[first] += share * (self._places[second] - self._places[first])
        self._mass[first] = mass
        self._live[second] = False
        self.costs[second] = np.inf
        stale = self._live & ((self.partners == first) | (self.partners == second))
        stale[first] = False
        self._look_up(np.array([first]))
        costs = self._costs(np.array([first]))[0]
        closer = costs < self.costs
        self.partners[closer] = first
        self.costs[closer] = costs[closer]
        self._look_up(np.flatnonzero(stale & ~closer))

    def _look_up(self, rows: IntVector) -> None:
        costs = self._costs(rows)
        self.partners[rows] = costs.argmin(axis=1)
        self.costs[rows] = costs[np.arange(len(rows)), self.partners[rows]]

    def _costs(self, rows: IntVector) -> Matrix:
        """mm′/(m + m′)·r², infinite for what is no partner."""
        squared = cdist(self._places[rows], self._places, "sqeuclidean")
        mine = self._mass[rows, None]
        costs = squared * (mine * (self._mass / (mine + self._mass)))
        costs[:, ~self._live] = np.inf
        costs[self._side[rows, None] != self._side] = np.inf
        costs[np.arange(len(rows)), rows] = np.inf
        return costs
