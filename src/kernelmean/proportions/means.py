"""The mean of every class, and what its training points say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelmean._random import Streams
from kernelmean._types import Matrix, Points, Space, Vector
from kernelmean._work import compiling_pays
from kernelmean.engines import Engine
from kernelmean.fitting import spreads
from kernelmean.fitting.fit import fit_mean
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FitSettings, default_limit
from kernelmean.kernels import Kernel
from kernelmean.linalg.factor import Factor, solve_lower
from kernelmean.linalg.gram import gram
from kernelmean.mean.expansion import AnyMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.proportions.solving import System
from kernelmean.samples import Sample, WeightedSample

MEASURED_ROWS = 10_000  # training points per class at which the means are evaluated
LEVERAGE_ROWS = 500  # training points per class at which the leverage is averaged


@dataclass(frozen=True)
class Plan:
    """How class means are made."""

    kernel: Kernel
    scale: Matrix | None
    space: Space
    sparse: bool
    engine: str | Engine
    streams: Streams  # the same for every class, so that equal samples have equal means
    options: dict[str, Any]  # k, k_max, tol, selection, spread of a sparse mean

    def settings(self) -> FitSettings:
        """The same as settings of a fit."""
        return FitSettings(
            kernel=self.kernel,
            scale=self.scale,
            space=self.space,
            engine=self.engine,
            **self.options,
        )


def fit(groups: Sequence[Sample], plan: Plan) -> list[AnyMean]:
    """One mean per class, all with one kernel and one scale."""
    settings = plan.settings()
    whole = [WeightedSample.of(X) for X in groups]
    if not plan.sparse:
        return [full_mean(sample, settings) for sample in whole]
    return [fit_mean(sample, settings, plan.streams) for sample in whole]


def may_spread(groups: Sequence[Sample], plan: Plan) -> bool:
    """Whether the plan lets centres of any class have a width of their own."""
    settings = plan.settings()
    settings.check_names()
    limits = [settings.stopping(len(X)).limit for X in groups]
    return any(spreads.kinds(settings, plan.kernel, groups[0].dimension, max(limits)))


def select(groups: Sequence[Sample], plan: Plan) -> list[SparseKernelMean]:
    """Sparse means with all the points that may be centres, whatever the kernel of the plan."""
    options = plan.options
    found = []
    for X in groups:
        most = default_limit(len(X)) if options["k_max"] is None else options["k_max"]
        k = most if options["k"] == "auto" else options["k"]
        fixed = {**options, "k": k, "spread": None}
        made = fit([X], replace(plan, sparse=True, options=fixed))[0]
        assert isinstance(made, SparseKernelMean)
        found.append(made)
    return found


def refit(
    selected: Sequence[SparseKernelMean], groups: Sequence[Sample], plan: Plan
) -> list[AnyMean]:
    """The selected centres, or as many as ``k="auto"`` asks for, with the kernel of the plan.

    Off the data, all centres are taken.
    """
    found: list[AnyMean] = []
    for mean, X in zip(selected, groups, strict=True):
        if mean.indices is None:
            found.append(mean.refit(X, kernel=plan.kernel))
            continue
        given = {**plan.options, "k_max": None, "selection": mean.indices}
        found.append(replace(fit([X], replace(plan, options=given))[0], selection=mean.selection))  # type: ignore[type-var]
    return found


def values(means: Sequence[AnyMean], X: Points) -> Matrix:
    """(n, C): z_c(x) = ⟨z_c, φ(·, x)⟩ in units of g(0), by one kernel sum per class.

    Time O(n·Σk·d).
    """
    columns = []
    for mean in means:
        f = mean.expansion
        radial, _ = f.pairing(f)
        columns.append(f.cloud.kernel_sum(radial, f.map(X), f.weights))
    return np.column_stack(columns)


def averages(means: Sequence[AnyMean], X: Sample) -> Vector:
    """(C,): the mean of z_c over the rows of X."""
    if X.resident:
        return np.asarray(values(means, X.array()).mean(axis=0))
    sums: Matrix = X.apply(lambda rows: values(means, rows).sum(axis=0)[None])
    average: Vector = sums.sum(axis=0) / len(X)
    return average


def inner_products(means: Sequence[AnyMean], mean: AnyMean) -> Vector:
    """(C,): ⟨z_c, z⟩ in units of g(0)."""
    return np.array([other.expansion.inner_in_units(mean.expansion)[0] for other in means])


def measure(means: Sequence[AnyMean], groups: Sequence[Sample], streams: Streams) -> System:
    """Gram matrix and class-wise moments of the means.

    They are read from up to 10 000 training points of each class.
    """
    rows = [_measured(X, streams.of("class rows", c)) for c, X in enumerate(groups)]
    F = [values(means, X) for X in rows]
    orders = [streams.of("class leverages", c).permutation(len(X)) for c, X in enumerate(rows)]
    pairs = zip(means, rows, orders, strict=True)
    shares = np.array([leverage(mean, X[order[:LEVERAGE_ROWS]]) for mean, X, order in pairs])
    if all(
        len(some) == len(X) and not isinstance(mean, SparseKernelMean)
        for mean, some, X in zip(means, rows, groups, strict=True)
    ):
        V = np.column_stack([f.mean(axis=0) for f in F])
        G = 0.5 * (V + V.T)  # the full mean of class c′ is the mean over its points
    else:
        G = np.stack([inner_products(means, mean) for mean in means])
        G = 0.5 * (G + G.T)
    return system(G, F, np.array([len(X) for X in groups]), shares)


def _measured(X: Sample, rng: np.random.Generator) -> Points:
    """All rows, or 10 000 of them."""
    if len(X) <= MEASURED_ROWS:
        return X.array() if X.resident else X.rows(np.arange(len(X)))
    return X.rows(rng.choice(len(X), MEASURED_ROWS, replace=False))


def system(G: Matrix, F: Sequence[Matrix], sizes: Vector, shares: Vector) -> System:
    """M_cc′ = mean over class c′ of z_c(x), and its covariance.

    For c = c′ the point itself is left out: (n·z_c(x) − h̄)/(n − 1).
    """
    M = np.column_stack([f.mean(axis=0) for f in F])
    several = sizes > 1
    own = (sizes * np.diag(M) - shares) / np.maximum(sizes - 1, 1)
    np.fill_diagonal(M, np.where(several, own, np.diag(M)))
    covariances = [np.cov(f.T) / len(f) if len(f) > 1 else np.zeros_like(M) for f in F]
    return System(G, M, np.stack(covariances))


def leverage(mean: AnyMean, X: Points) -> float:
    """h̄: n·(a point's share in z at itself), on average over X; 1 for the full mean."""
    if not isinstance(mean, SparseKernelMean):
        return 1.0
    f = mean.expansion
    assert mean.kappa is not None  # class means are no densities by likelihood
    factor = Factor(f.pairing(f)[0])
    factor.append(f.atoms, mean.kappa)
    return mean_leverage(factor.lower(mean.k), gram(factor.radial, f.atoms, f.map(X)))


def mean_leverage(L: Matrix, V: Matrix) -> float:
    """Mean over the columns v of V = K(centres, X) of vᵀK⁻¹v = ‖Pφ(·, x)‖².

    P projects on the span of the centres, and K = LLᵀ.
    """
    if not compiling_pays(float(L.size) * V.shape[1]):
        half = solve_lower(L, V)
        return float(np.einsum("ij,ij->j", half, half).mean())
    from kernelmean.compiled.triangular import forward

    return float(np.mean([forward(L, len(L), column.copy()) for column in V.T]))
