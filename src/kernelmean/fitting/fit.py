"""From points to a sparse kernel mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernelmean import _checks, coefficients, engines, kernels
from kernelmean._types import (
    ArrayLike,
    Constraint,
    IntVector,
    Matrix,
    Points,
    RandomState,
    Solver,
    Space,
)
from kernelmean.coefficients import Path, Stopping
from kernelmean.coefficients.sources import picking_radii
from kernelmean.engines import Engine, PointCloud
from kernelmean.fitting.prepare import prepare
from kernelmean.fitting.progress import progress_bar
from kernelmean.fitting.refine import POLISH, refined, worth_polishing
from kernelmean.kernels import Kernel
from kernelmean.mean import certificate as certificates
from kernelmean.mean import scaling
from kernelmean.mean.value import SparseKernelMean, incoherence
from kernelmean.selection import KCenter, Task
from kernelmean.selection.auto import Criterion, Selected, select


def sparse_kernel_mean(
    X: ArrayLike,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = "scott",
    scale: str | ArrayLike | None = None,
    space: Space = "rkhs",
    k: int | str = "auto",
    k_max: int | None = None,
    tol: float = 1e-10,
    patience: int = 10,
    selection: str | ArrayLike = "auto",
    refine: int = 0,
    constraint: Constraint = None,
    solver: Solver = "cholesky",
    sample_weight: ArrayLike | None = None,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
    verbose: bool = False,
    _likelihood: bool = False,  # "auto" compares the log-density of rows: see sparse_density
) -> SparseKernelMean:
    """The kernel mean (1/n)Σφ(·, x_j) by k ≪ n centres with optimal weights.

    Parameters
    ----------
    X : array of shape (n, d); also a mapped file or a source of batches (``km.read``), which need
        not fit memory, or a Dask array or frame, which is fitted where it is.
    kernel : a kernel such as ``km.Gaussian(0.5)``, or a name ("gaussian", "laplacian", "cauchy")
        with ``bandwidth``.
    bandwidth : the kernel's own length (σ, γ, √β), or a rule: "scott", "silverman", "iqr",
        "median", "mode", "likelihood".
    scale : None, "std", "cov" or a (d, d) matrix that maps the data first.
    space : "rkhs" (kernel mean embedding, c = 1) or "l2" (densities that integrate to Σα).
    k : "auto", or the number of centres.
    k_max : most centres that "auto" may take; by default the largest integer below 3√n, or all rows
        given as selection.
    tol, patience : stop when the indicator falls by at most ``tol`` of its total for ``patience``
        steps in a row; ``patience=1`` is the paper's rule.
    selection : "kcenter" (farthest-first, the paper's), "greedy" (orthogonal greedy from a pool of
        rows), "kmeans++", "kmeans" (centroids), "random", an array of rows, or "auto": the best of
        several, compared by what they achieve; with a given k also off the data, where ``indices``
        is None; such centres then take a few steps of ``refine``.
    refine : steps of L-BFGS that move the selected centres off the data, down the error itself;
        none by default. The mean is never worse for it, and says "+refined" in its ``selection``
        where centres moved: they are then no rows of X (``indices`` is None, no ``bound``), in the
        order in which each lowers the error most, so that truncating is sensible. Each step costs
        about as much as κ with 1 + d columns. Smooth kernels gain much, a Laplacian little.
    constraint : None, "simplex" (exact: α ≥ 0, Σα = 1), "simplex-projection" (the paper's),
        "sum-to-one".
    solver : "cholesky", or "cg" as the paper used it.
    sample_weight : nonnegative; integer weights mean repeated rows.
    engine : "cpu", "gpu" (X may then be on the device), "cluster" (spreads an array over the
        workers of the current Dask client), "auto", "naive", or an engine instance.
    random_state : the first centre, and whatever else a selection draws.
    verbose : show a progress bar.

    Returns
    -------
    SparseKernelMean
        Time O(n·k·d + k³), memory O(n·d + k²) for the k finally used.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(0.5), k=60, random_state=0)
    >>> mean.k, mean.stop_reason
    (60, 'fixed')
    >>> bool(mean.certificate(X).relative_error < 0.05)
    True
    """
    _check_names(space, constraint, solver)
    steps = _checks.count(refine, "refine", least=0)
    sample, _, rows, total, A, cloud, chosen, opened = prepare(
        X, sample_weight, scale, kernel, bandwidth, engine
    )
    which = selection if isinstance(selection, str) else _given_rows(selection, rows, total)
    most = default_limit(cloud.summary.size) if isinstance(which, str) else len(which)
    rule = _stopping(k, most if k_max is None else k_max, tol, patience)
    radial = chosen.radial(sample.shape[1], space)
    formula = chosen.formula(sample.shape[1])
    fixed = rule.k is not None
    valid = constraint is not None
    task = Task(
        cloud, opened, radial, rule.limit, fixed, valid, _likelihood, _checks.streams(random_state)
    )
    criterion = Criterion(task, constraint, solver, formula)
    if steps:
        chosen.slope(sample.shape[1], space)  # a kernel that has none says so before the work
    with progress_bar(verbose) as progress:
        choice = select(which, criterion, rule, progress)
        path, alpha = _refined(
            choice, criterion, chosen, space, max(steps, _polish(which, choice, criterion, chosen))
        )
    return SparseKernelMean(
        centers=_original_centers(path, sample, A),
        weights=alpha,
        kernel=chosen,
        space=space,
        scale=A,
        indices=path.indices if rows is None or path.indices is None else rows[path.indices],
        n_points=cloud.summary.size,
        constraint=constraint,
        solver=solver,
        engine=engine,
        selection=path.source.name,
        **path_facts(path, cloud, opened),
    )


def _polish(which: str | IntVector, choice: Selected, criterion: Criterion, kernel: Kernel) -> int:
    """The few steps that "auto" adds by itself."""
    return (
        POLISH
        if isinstance(which, str) and which == "auto" and worth_polishing(choice, criterion, kernel)
        else 0
    )


def _refined(
    choice: Selected, criterion: Criterion, kernel: Kernel, space: Space, steps: int
) -> Selected:
    """Centres moved off the data by so many steps."""
    if not steps:
        return choice
    return refined(
        choice, criterion, kernel.slope(criterion.task.cloud.summary.dimension, space), steps
    )


def sparse_density(X: ArrayLike, **options: Any) -> SparseKernelMean:
    """A density on k centres: α ≥ 0, Σα = 1, optimal in L2; ``options`` as in
    :func:`sparse_kernel_mean`.

    Here ``selection="auto"`` compares the mean log-density of some rows, and "greedy" takes the
    fringe first: the L2 error, by which a mean with the same space and constraint is chosen, hardly
    sees the tails, and likelihoods live by them.
    """
    return sparse_kernel_mean(X, space="l2", constraint="simplex", _likelihood=True, **options)


def path_facts(path: Path, cloud: PointCloud, engine: Engine) -> dict[str, Any]:
    """What a path says of the mean it ends in."""
    k = path.k
    factor = path.factor
    radial = path.factor.radial
    cover = path.distances.cover
    return {
        "radii": picking_radii(path.centers),
        "cover": cover,
        "incoherence": incoherence(radial, cover),
        "kappa": factor.kappa[:k],
        "indicator": factor.indicator[:k],
        "jitter": factor.jitter,
        "stop_reason": path.reason,
        "center_mass": None
        if path.indices is None
        else certificates.coincident_mass(cloud, engine, path.distances, path.centers),
        "nested": path.source.name == KCenter.name,
        "nearest_bound": certificates.nearest_bound(path.distances, radial),
    }


def _check_names(space: str, constraint: object, solver: str) -> None:
    _checks.choice(space, "space", kernels.SPACES)
    _checks.choice(constraint, "constraint", coefficients.CONSTRAINTS)
    _checks.choice(solver, "solver", coefficients.SOLVERS)


def default_limit(n: float) -> int:
    """The largest integer below 3√n."""
    return max(1, math.ceil(3 * math.sqrt(n)) - 1)


def _stopping(k: Any, k_max: Any, tol: Any, patience: Any) -> Stopping:
    if isinstance(k, str):
        _checks.choice(k, "k", ("auto",))
    fixed = None if isinstance(k, str) else _checks.count(k, "k")
    limit = _checks.count(k_max, "k_max")
    return Stopping(
        fixed, limit, _checks.number(tol, "tol", least=0.0), _checks.count(patience, "patience")
    )


def _given_rows(selection: ArrayLike, rows: IntVector | None, n: int) -> IntVector:
    """The user's rows as positions among the rows of positive weight."""
    given = _checks.row_indices(selection, n)
    if rows is None:
        return given
    if not np.isin(given, rows).all():
        raise ValueError("selection names rows whose sample_weight is zero; leave them out.")
    return np.searchsorted(rows, given)


def _original_centers(path: Path, sample: Points, A: Matrix | None) -> Points:
    """The centres themselves where nothing was mapped; rows of X where they are rows, else mapped
    back.
    """
    if A is None:
        return np.array(path.centers)
    if path.indices is not None:
        return np.array(engines.host(sample[path.indices]))
    return scaling.undo(A, path.centers, engines.host(sample[:1])[0])
