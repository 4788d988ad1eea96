"""From points to a sparse kernel mean."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from kernelmean import _blas, _checks, _progress
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, Constraint, RandomState, Solver, Space
from kernelmean.coefficients import Path, Stopping
from kernelmean.coefficients.sources import picking_radii
from kernelmean.engines import Engine, PointCloud
from kernelmean.fitting import spreads
from kernelmean.fitting.atoms import AtomFit
from kernelmean.fitting.honesty import told, told_on_domain
from kernelmean.fitting.on_domain import Copy
from kernelmean.fitting.points import PointFit
from kernelmean.fitting.prepare import Prepared, checked_sample, engine_name, prepare
from kernelmean.fitting.progress import progress_bar
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.mean import certificate as certificates
from kernelmean.mean.gauge import Candidate, Gauge
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean, incoherence
from kernelmean.samples import WeightedSample
from kernelmean.selection import KCenter, Task
from kernelmean.selection.auto import Criterion, Selected

# Centres from which their matrices are worth several threads of BLAS: below, these wait for one
# another about as long as they work, and where other programs run much longer.
MANY_CENTERS = 2048


def sparse_kernel_mean(
    X: Any,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = "scott",
    scale: str | ArrayLike | None = None,
    space: Space = "rkhs",
    k: int | str = "auto",
    k_max: int | None = None,
    tol: float = 1e-10,
    patience: int = 10,
    error: float | None = None,
    selection: str | ArrayLike = "auto",
    refine: int = 0,
    spread: str | None = "auto",
    constraint: Constraint = None,
    solver: Solver = "cholesky",
    domain: Any = None,
    sample_weight: ArrayLike | None = None,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
    verbose: bool = False,
) -> Any:
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
        How many such steps end the growth; 1 is the rule of [1]_. Unless it is 1, the growth goes
        on below ``k_max`` while the estimated relative error is above 10 %.
    error : float or None, default=None
        A relative error ‖z̄ − z‖/‖z̄‖ to reach, in the place of ``k`` and ``tol``: the fewest
        centres, to a tenth, whose estimated error and two standard errors are at most that. They
        are found by fits with ``k`` doubled and then narrowed down. ``k_max`` is then n by default,
        or as many as fit memory. A :class:`FitWarning` tells where ``k_max`` ends the search.
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
        Centres with spreads are moved together with them.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        What a centre is. None: a point, as in [1]_. "scalar": a Gaussian N(c, s²I) in the place of
        the points of its cell, which are those nearest to the centre; c is their mean, and s² their
        variance per coordinate. "full": a Gaussian N(c, S) with their covariance. The kernel must
        then be Gaussian. Selected rows move to the means of their cells, ``indices`` and ``bound``
        are None, and the ``certificate`` says the error. "auto" takes, for a Gaussian kernel with
        ``selection="auto"``, whichever of the three has the least error; "full" is tried from five
        coordinates on, and taken only where it wins at equal numbers stored too. Otherwise it
        takes points.
    constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None, default=None
        The constraint on the weights. "simplex" finds the exact optimum over α ≥ 0, Σα = 1;
        "simplex-projection" projects onto that set, as [1]_ does.
    solver : {'cholesky', 'cg'}, default='cholesky'
        What solves for the weights; "cg" are conjugate gradients, as [1]_ used them.
    domain : mapping or None, default=None
        Columns that are bounded, periodic, on a sphere or categories, as in :class:`SparseKDE`.
        Only with ``space="l2"``: a kernel mean embedding needs no domain.
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
    SparseKernelMean or DomainMean
        The mean; the latter with a ``domain``. Time O(n·k·d + k³), memory O(n·d + k²) for the k
        finally used.

    Raises
    ------
    ValueError
        If the data are no table of finite numbers, or an option is unknown.

    Warns
    -----
    FitWarning
        If the number of centres was open and the estimated relative error is above 10 %, or above
        ``error``.

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
    settings = FitSettings(
        kernel=kernel,
        bandwidth=bandwidth,
        scale=scale,
        space=space,
        k=k,
        k_max=k_max,
        tol=tol,
        patience=patience,
        error=error,
        selection=selection,
        refine=refine,
        spread=spread,
        constraint=constraint,
        solver=solver,
        engine=engine,
    )
    chance = _checks.streams(random_state)
    if domain is not None:
        return _mean_on_domain(X, domain, sample_weight, settings, chance, verbose)
    sample = checked_sample(X, sample_weight, engine)
    return told(fit_mean(sample, settings, chance, verbose), settings)


def _mean_on_domain(
    X: Any, domain: Any, sample_weight: Any, settings: FitSettings, chance: Streams, verbose: bool
) -> DomainMean:
    """The same in the coordinates of a domain."""
    if settings.space != "l2":
        raise ValueError(
            "domain= is for densities: give space='l2'. In the RKHS a kernel mean has no bounds to "
            "respect."
        )
    from kernelmean.samples import coded  # with scikit-learn, which no other fit needs

    checked = coded.on_domain(X, domain, sample_weight)

    def fit(sample: WeightedSample, own: FitSettings) -> SparseKernelMean:
        return fit_mean(sample, own, chance, verbose)

    found = told_on_domain(Copy.of(checked.rows, settings).mean(fit), settings, depth=2)
    return replace(found, columns=checked.names)


def sparse_density(
    X: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
    **options: Any,
) -> SparseKernelMean:
    """A density on k centres, with ``options`` as in :func:`sparse_kernel_mean`."""
    settings = FitSettings.density(**options)
    sample = checked_sample(X, sample_weight, settings.engine)
    return told(fit_mean(sample, settings, _checks.streams(random_state), verbose), settings)


def fit_mean(
    sample: WeightedSample, settings: FitSettings, streams: Streams, verbose: bool = False
) -> SparseKernelMean:
    """The sparse mean of a checked sample: prepare, then :func:`fit_prepared`."""
    settings.check_names()
    with _progress.shown(verbose or _progress.wanted()):
        prepared = prepare(sample, settings)
        return fit_prepared(prepared, settings, streams, verbose)


def fit_prepared(
    prepared: Prepared, settings: FitSettings, streams: Streams, verbose: bool = False
) -> SparseKernelMean:
    """The one fit: select centres, sum κ, solve for the weights, refine; points are loaded."""
    data = prepared.data
    which = settings.given_selection(data.sample)
    rule = settings.stopping(data.cloud.summary.size)
    criterion = _criterion(prepared, settings, rule, streams)
    d = data.sample.sample.dimension
    if settings.refine:
        prepared.kernel.slope(d, settings.space)  # a kernel that has none says so before the work
    kinds = spreads.kinds_of(settings, prepared.kernel, d, data.cloud.summary.size)
    rule = replace(rule, k_max=spreads.most_centers(kinds, rule.k_max, d))
    gauge = Gauge(data.cloud, data.engine, prepared.kernel, settings.space, streams)
    steps = settings.refine
    error = settings.error
    with _threads_of_blas(rule.limit), progress_bar(verbose) as progress:
        if kinds == (None,):
            selected = PointFit(criterion, which, rule, steps, gauge, progress, error).selected()
        else:
            weights = data.sample.weights
            fit = AtomFit(criterion, which, rule, kinds, steps, gauge, weights, progress, error)
            selected = fit.selected()
        estimated = gauge.estimate(Candidate.on(selected.path.factor, selected.weights))
    return _mean(selected, prepared, settings, estimated)


def _threads_of_blas(centers: int) -> AbstractContextManager[None]:
    """All of them for many centres, else one."""
    return nullcontext() if centers >= MANY_CENTERS else _blas.one_thread()


def _criterion(
    prepared: Prepared, settings: FitSettings, rule: Stopping, streams: Streams
) -> Criterion:
    """What the selections work on, and what makes one better than another."""
    data = prepared.data
    d = data.sample.sample.dimension
    task = Task(
        data.cloud,
        data.engine,
        prepared.kernel.radial(d, settings.space),
        rule.limit,
        fixed=rule.k is not None,
        unit_sum=settings.constraint is not None,
        density=settings.is_density,
        streams=streams,
    )
    return Criterion(task, settings.constraint, settings.solver, prepared.kernel, settings.space)


def _mean(
    selected: Selected, prepared: Prepared, settings: FitSettings, estimated: float | None
) -> SparseKernelMean:
    """The value that is returned, in the coordinates of the data."""
    path, alpha = selected
    data = prepared.data
    return SparseKernelMean(
        centers=data.original(path.centers, path.indices),
        spreads=path.atoms.spreads,
        weights=alpha,
        kernel=prepared.kernel,
        space=settings.space,
        scale=data.scale,
        indices=None if path.indices is None else data.sample.given_rows(path.indices),
        n_points=data.cloud.summary.size,
        constraint=settings.constraint,
        solver=settings.solver,
        engine=engine_name(settings.engine, data),
        selection=path.source.name,
        estimated_error=estimated,
        **path_facts(path, data.cloud, data.engine),
    )


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
        "nearest_bound": None
        if path.atoms.spreads is not None
        else certificates.nearest_bound(path.distances, radial),
    }
