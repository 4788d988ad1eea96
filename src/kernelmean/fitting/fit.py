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
    """The kernel mean (1/n)Σφ(·, x_j) of a sample by k ≪ n centres with optimal weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row. A mapped file or a source of batches (:func:`read`) need not fit
        memory; a Dask array or frame is fitted where it is.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name ("gaussian", "laplacian", "cauchy") that
        goes with ``bandwidth``.
    bandwidth : float or str, default='scott'
        The kernel's own length (σ, γ, √β), or a rule that reads it from the data: "scott",
        "silverman", "iqr", "median", "mode" or "likelihood".
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first: one that gives the coordinates unit
        variance, one that also makes them uncorrelated, or a matrix.
    space : {'rkhs', 'l2'}, default='rkhs'
        "rkhs" is the kernel mean embedding, with kernels of height 1. "l2" is a density, with
        kernels of integral one, and the mean integrates to Σα.
    k : int or 'auto', default='auto'
        The number of centres.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take. By default it is the largest integer below 3√n,
        or the number of rows that are given as ``selection``.
    tol : float, default=1e-10
        With ``k="auto"``, centres are added until the error indicator falls by at most ``tol`` of
        its total for ``patience`` steps in a row.
    patience : int, default=10
        How many such steps end the growth; 1 is the rule of [1]_.
    selection : str or array-like of int, default='auto'
        How centres are found: "auto", "kcenter", "greedy", "kmeans++", "kmeans" or "random".
        "kcenter" is the farthest-first traversal [2]_ that [1]_ uses; "greedy" is orthogonal greedy
        selection from a pool of rows; "kmeans" gives centroids; an array names rows of X. "auto"
        takes the best of several by what they achieve, with a given k also off the data
        (``indices`` is then None); such centres take a few steps of ``refine``.
    refine : int, default=0
        How many steps of L-BFGS move the selected centres off the data, down the error itself. The
        mean is never worse for it, and says "+refined" in its ``selection`` where centres moved.
        They are then no rows of X (``indices`` is None, there is no ``bound``), and stand in the
        order in which each lowers the error most, so that truncating is sensible. A step costs
        about as much as κ with 1 + d columns. Smooth kernels gain much, a Laplacian little.
    constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None, default=None
        The constraint on the weights. "simplex" finds the exact optimum over α ≥ 0, Σα = 1;
        "simplex-projection" projects onto that set, as [1]_ does.
    solver : {'cholesky', 'cg'}, default='cholesky'
        What solves for the weights; "cg" are conjugate gradients, as [1]_ used them.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes. With "gpu" X may be on the device; "cluster" spreads an array over the
        workers of the current Dask client.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of the first centre, and whatever else a selection draws.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    SparseKernelMean
        The mean. Time O(n·k·d + k³), memory O(n·d + k²) for the k finally used.

    Raises
    ------
    ValueError
        If the data are no table of finite numbers, or an option is unknown.

    See Also
    --------
    kernel_mean : The full mean that this approximates.
    SparseKDE : A density estimate with the interface of scikit-learn.
    merge : The mean of several samples from theirs.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.
    .. [2] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical
       Computer Science 38, 1985.

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
