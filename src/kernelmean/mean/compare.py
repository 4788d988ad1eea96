"""All distances between many means in one batched pass."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kernelmean import engines
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.kernels import Spreads
from kernelmean.linalg.gram import weighted_products
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, KernelMean, expansion_of
from kernelmean.mean.on_domain import DomainMean

# Of ‖z_a‖² + ‖z_b‖²: below this a difference of products keeps fewer than ten digits.
CANCELLED_SHARE = 1e-6


def distance_matrix(
    means: Sequence[AnyMean | DomainMean], others: Sequence[AnyMean | DomainMean] | None = None
) -> Matrix:
    """The distances ‖z_a − z_b‖ between all pairs of means, in one batched pass.

    D_ab = √(G_aa + G_bb − 2G_ab) with G_ab = ⟨z_a, z_b⟩. It takes one kernel sum per mean over the
    centres of all, O((Σk)²·d), and half of it by symmetry. Means that nearly coincide are compared
    again term by term, since that difference then has no digits left.

    Parameters
    ----------
    means : sequence of SparseKernelMean, KernelMean or DomainMean
        N means of one space and scale, sparse or full; or all on one domain, which are compared
        pair by pair.
    others : sequence of SparseKernelMean or KernelMean, or None, default=None
        M further means. With them, the distances of each mean to each other one are found.

    Returns
    -------
    ndarray of shape (N, N) or (N, M)
        The distances: symmetric with a zero diagonal, or (N, M) with ``others``. Memory O(Σk·d +
        N·M).

    Raises
    ------
    ValueError
        If there are no means, or if they live in different spaces or use different scales.

    See Also
    --------
    SparseKernelMean.distance : The distance of two means.
    DistributionEmbedding : Samples as points by these distances.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng, kernel = np.random.default_rng(0), km.Gaussian(1.0)
    >>> samples = [rng.normal(m, 1.0, (200, 2)) for m in (0, 0, 3)]
    >>> means = [km.sparse_kernel_mean(X, kernel=kernel, k=20, random_state=0) for X in samples]
    >>> D = km.distance_matrix(means)
    >>> D.shape, bool(D[0, 1] < D[0, 2])
    ((3, 3), True)
    """
    if _any_on_domain(means) or _any_on_domain(others):
        return _one_by_one(means, others)
    rows = expansions(means)
    if others is None:
        G, log_unit = _products(rows, rows, symmetric=True)
        return _distances(rows, rows, G, (np.diag(G), np.diag(G)), log_unit)
    columns = expansions(others)
    G, log_unit = _products(rows, columns)
    # The norm of a narrow kernel, in units of a wide one.
    top = max(log_unit, *(mean.log_unit for mean in (*rows, *columns)))
    own = [_squared_norms(side, top) for side in (rows, columns)]
    return _distances(rows, columns, G * np.exp(log_unit - top), (own[0], own[1]), top)


def _any_on_domain(means: Any) -> bool:
    return isinstance(means, Sequence) and any(isinstance(mean, DomainMean) for mean in means)


def _one_by_one(means: Sequence[Any], others: Sequence[Any] | None) -> Matrix:
    """The distances of means on one domain; a TypeError where another mean is among them."""
    for mean in (*means, *(others or ())):
        if not isinstance(mean, DomainMean):
            raise TypeError(f"a DomainMean is needed beside others, got {type(mean).__name__}.")
    if others is not None:
        return np.array([[mean.distance(other) for other in others] for mean in means])
    found = np.zeros((len(means), len(means)))
    for a, mean in enumerate(means):
        found[a, :a] = [mean.distance(other) for other in means[:a]]
    return found + found.T


def expansions(means: Sequence[Any]) -> list[KernelMean]:
    """The sums over centres behind a list of means that is not empty."""
    if not isinstance(means, Sequence):
        raise TypeError(f"give a list of SparseKernelMean, got {means!r}.")
    if not means:
        raise ValueError("give a list of at least one SparseKernelMean, got none.")
    return [expansion_of(mean) for mean in means]


class _Batch(NamedTuple):
    """Means of one kernel, their centres end to end."""

    members: IntVector  # positions in the list
    first: KernelMean
    centers: Points
    spreads: Spreads | None  # of the centres
    weights: Vector
    starts: IntVector  # of each mean's centres, and the end of the last

    def products(self, other: KernelMean, skip: int) -> tuple[Vector, float]:
        """⟨z_a, z⟩ = Σ_c α_c z(c) for each mean but the first few, and the log of its unit."""
        radial, log_unit = self.first.pairing(other)
        rows = slice(self.starts[skip], None)
        if self.spreads is None:
            places = other.map(self.centers[rows])
            values = other.cloud.kernel_sum(radial, places, other.weights)
        else:
            mine = replace(self.first, centers=self.centers, spreads=self.spreads)
            atoms = mine.atoms_in(other)[rows]
            values = weighted_products(radial, atoms, other.atoms, other.weights)
        return np.add.reduceat(
            self.weights[rows] * values, self.starts[skip:-1] - self.starts[skip]
        ), log_unit


def _batches(means: list[KernelMean]) -> list[_Batch]:
    kinds: dict[object, list[int]] = {}
    for position, mean in enumerate(means):
        means[0].pairing(mean)  # the same space, dimension and scale for all
        kinds.setdefault((mean.kernel, mean.atoms.kind), []).append(position)
    return [_batch(members, [means[a] for a in members]) for members in kinds.values()]


def _batch(members: list[int], means: list[KernelMean]) -> _Batch:
    centers = np.concatenate([mean.centers for mean in means])
    own = [mean.atoms_in(means[0]).spreads for mean in means]
    spreads = (
        np.concatenate([part for part in own if part is not None]) if own[0] is not None else None
    )
    weights = np.concatenate([mean.weights for mean in means])
    starts = np.cumsum([0, *(mean.k for mean in means)])
    return _Batch(np.array(members), means[0], centers, spreads, weights, starts)


def _products(
    rows: list[KernelMean], columns: list[KernelMean], symmetric: bool = False
) -> tuple[Matrix, float]:
    """G_ab = ⟨z_a, z_b⟩ in one unit for all, and the logarithm of that unit."""
    G = np.zeros((len(rows), len(columns)))
    log_units = np.full((len(rows), len(columns)), -np.inf)
    batches = _batches(rows)

    def fill(b: int) -> None:
        for batch in batches:
            skip = int(np.searchsorted(batch.members, b)) if symmetric else 0
            if skip < len(batch.members):
                later = batch.members[skip:]
                G[later, b], log_units[later, b] = batch.products(columns[b], skip)

    # One column is too little work for an engine to share among its threads; each fills its own
    # part.
    with ThreadPoolExecutor(engines.thread_count(engines.open(rows[0].engine))) as pool:
        list(pool.map(fill, range(len(columns))))
    top = float(log_units.max())  # squared norms need not fit a float for distances to
    G *= np.exp(log_units - top)
    return np.tril(G) + np.tril(G, -1).T if symmetric else G, top


def _squared_norms(means: list[KernelMean], log_unit: float) -> Vector:
    """‖z‖² of each mean in that unit."""
    products = [mean.inner_in_units(mean) for mean in means]
    return np.array([float(scaling.times_exp(value, own - log_unit)) for value, own in products])


def _distances(
    rows: list[KernelMean],
    columns: list[KernelMean],
    G: Matrix,
    own: tuple[Vector, Vector],
    log_unit: float,
) -> Matrix:
    total = own[0][:, None] + own[1][None, :]
    squared = total - 2 * G
    D: Matrix = scaling.times_exp(np.sqrt(np.maximum(squared, 0.0)), 0.5 * log_unit)
    for a, b in np.argwhere(squared < CANCELLED_SHARE * total):
        if rows is not columns or a < b:
            D[a, b] = rows[a].distance(columns[b])
    if rows is columns:
        D = np.triu(D, 1)
        D += D.T
    return D
