"""Means of several samples as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from kernelmean import _checks, coefficients, engines
from kernelmean._types import Constraint, IntVector, Points, StopReason, Vector
from kernelmean.coefficients import Path, Stopping
from kernelmean.coefficients.sources import Source
from kernelmean.engines import Engine, PointCloud
from kernelmean.fitting.fit import path_facts
from kernelmean.fitting.grouping import merged_by_moments
from kernelmean.fitting.joining import side_by_side
from kernelmean.fitting.moving import Target, moved
from kernelmean.fitting.settings import default_limit
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.kernels.atoms import joined
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram, squared_norms, weighted_products
from kernelmean.linalg.pursuit import GreedyPursuit
from kernelmean.mean import scaling
from kernelmean.mean.compare import expansions
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood
from kernelmean.selection import KCenter, Listed
from kernelmean.selection.auto import Selected
from kernelmean.selection.kmeans import OffData
from kernelmean.selection.listed import distinct_rows

# Candidates for each centre of the merged mean, those of largest weight: its algebra then takes
# O(k³), whatever is merged.
CANDIDATES_PER_CENTER = 4
# Of L-BFGS over merged atoms. After ten batches of 10 000 rows of mixtures in 3 and 5 dimensions
# five steps left .56 and .62 of the error that moments alone had, and twenty .55 of it.
MOVING_STEPS = 5
LEAST_NEW = 1e-12  # of ‖a‖²: an atom that adds less to those taken adds rounding
TINY = float(np.finfo(np.float64).tiny)


def merge(
    means: Sequence[SparseKernelMean], k: int | None = None, *, constraint: Constraint = None
) -> SparseKernelMean:
    """The mean of the union of several samples, Σ_l (n_l/N) z_l, on k of the centres of all.

    The weights are optimal and the target is exact: signed weights stay signed. With k at least the
    number of distinct centres the merged mean equals the target. Otherwise the centres are those of
    a greedy selection among them, or farthest-first where that reaches a smaller error.

    Densities that were fitted by likelihood keep their atoms while they are few enough. Where the
    centres of other means have spreads, as atoms N(c, S), groups of atoms of the same sign become
    one atom each, with the mass, the mean and the covariance of the group; scalar spreads then take
    a few steps down the exact error. A greedy selection is kept where that is better. Spreads of
    different kinds give the kind that holds all.

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
        the number of centres of all means; with covariances O(P·k·d³ + k³) and O(P·d² + k²).

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
    union = _union(means)
    _checks.choice(constraint, "constraint", coefficients.CONSTRAINTS)
    limit = default_limit(union.n_points) if k is None else _checks.count(k, "k")
    engine = engines.precise(engines.open(union.engine))
    if all(mean.kappa is None for mean in means):
        reason: StopReason = "likelihood" if any(map(is_by_likelihood, means)) else "derived"
        return side_by_side(union, limit, engine, reason)
    cloud = engine.load(union.mapped_centers)
    radial = union.kernel.radial(union.dimension, union.space)
    if union.spreads is None:
        choice = _best(
            _Union(cloud, radial, union.mapped_centers, union.weights), limit, constraint
        )
        assert choice.path.indices is not None
        centers = union.centers[choice.path.indices]
    else:
        target = Target(radial, union.atoms, union.weights, constraint)
        choice = _best_atoms(target, cloud, engine, limit)
        centers = scaling.undo(union.scale, choice.path.centers, union.centers[0])
    facts = path_facts(choice.path, cloud, engine)
    return SparseKernelMean(
        centers=centers,
        spreads=choice.path.atoms.spreads,
        weights=choice.weights,
        kernel=union.kernel,
        space=union.space,
        scale=union.scale,
        indices=None,
        n_points=union.n_points,
        constraint=constraint,
        engine=union.engine,
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


def _best_atoms(target: Target, cloud: PointCloud, engine: Engine, limit: int) -> Selected:
    """Groups as atoms, or a greedy selection of atoms, whichever is better, after a few steps."""
    distinct = _distinct(target)
    reason: StopReason = "distinct" if len(distinct.atoms) < limit else "fixed"
    if len(distinct.atoms) <= limit:
        found = _Candidate.of(distinct.factor(distinct.atoms), distinct)
    else:
        found = _Candidate.of(distinct.factor(_greedy(distinct, limit)), distinct)
        groups = merged_by_moments(engine, distinct.atoms, distinct.weights, limit)
        found = _after_steps(_with_groups(found, groups, distinct), distinct)
    factor = found.factor
    source = OffData("merged", cloud, factor.centers, factor.kappa)
    return Selected(Path(factor.size, reason, factor, None, source), found.weights)


def _with_groups(best: _Candidate, groups: Atoms, target: Target) -> _Candidate:
    """The better of a candidate and these atoms.

    Groups are wider than what they consist of; in hundreds of dimensions their norms may be no
    floats any more.
    """
    try:
        return _better(best, _Candidate.of(target.factor(groups), target))
    except LinAlgError:
        return best


class _Candidate(NamedTuple):
    """Atoms with their best weights, and αᵀKα − 2κᵀα that these reach."""

    objective: float
    factor: Factor
    weights: Vector

    @classmethod
    def of(cls, factor: Factor, target: Target) -> _Candidate:
        """The atoms of a factor."""
        alpha = target.solve(factor)
        return cls(factor.objective(alpha), factor, alpha)


def _after_steps(start: _Candidate, target: Target) -> _Candidate:
    """The same atoms a few steps down the error; as they were where that is no better.

    Projected weights are no minimum: their atoms follow those of free weights.
    """
    projected = target.constraint == "simplex-projection"
    steering = replace(target, constraint=None) if projected else target
    factor = moved(steering, start.factor.atoms, MOVING_STEPS)
    if factor is None:
        return start
    return _better(start, _Candidate.of(factor, target))


def _better(first: _Candidate, second: _Candidate) -> _Candidate:
    return second if second.objective < first.objective else first


def _distinct(target: Target) -> Target:
    """The same target with equal atoms taken together, in the order in which they first came."""
    atoms = target.atoms
    assert atoms.spreads is not None
    numbers = np.column_stack([atoms.centers, atoms.spreads.reshape(len(atoms), -1)])
    _, first, group = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    weights = np.zeros(len(first))
    np.add.at(weights, np.ravel(group), target.weights)
    return replace(target, atoms=atoms[first[order]], weights=weights[order])


def _greedy(target: Target, k: int) -> Atoms:
    """k of the heaviest atoms, each next the one that lowers the error of free weights most."""
    most = CANDIDATES_PER_CENTER * k
    rows = np.sort(np.argsort(-np.abs(target.weights), kind="stable")[:most])
    atoms = target.atoms[rows]
    residual = weighted_products(target.radial, atoms, target.atoms, target.weights)
    norms = squared_norms(target.radial, atoms)
    left = norms.copy()  # ‖a − Pa‖², P the projection on the atoms that are taken
    directions = np.zeros((k, len(atoms)))  # their products with all atoms
    taken = []
    for m in range(k):
        gains = np.where(left > LEAST_NEW * norms, residual**2 / np.maximum(left, TINY), -1.0)
        best = int(np.argmax(gains))
        if gains[best] < 0.0:
            break
        row = gram(target.radial, atoms[[best]], atoms)[0] - directions[:m, best] @ directions[:m]
        directions[m] = row / np.sqrt(left[best])
        residual = residual - directions[m] * (residual[best] / np.sqrt(left[best]))
        left = left - directions[m] ** 2
        taken.append(best)
    return atoms[taken]


def merging_error(means: Sequence[SparseKernelMean], merged: SparseKernelMean) -> float:
    """‖Σ_l (n_l/N) z_l − z‖: what merging has cost, exactly."""
    return _union(means).distance(merged)


def _union(means: Sequence[SparseKernelMean]) -> KernelMean:
    """Σ(n_l/N)z_l as one sum over the centres of all."""
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
    atoms = joined([mean.expansion.atoms_in(first.expansion) for mean in means])
    return KernelMean(
        centers=np.concatenate([mean.centers for mean in means]),
        weights=np.concatenate([mean.weights * (mean.n_points / total) for mean in means]),
        kernel=first.kernel,
        space=first.space,
        scale=first.scale,
        n_points=total,
        engine=first.engine,
        spreads=atoms.spreads,
    )
