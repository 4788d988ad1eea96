"""The measured error of a mean on a flat domain: exactly for few points, else a bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import EPS, ArrayLike, RandomState, Vector
from kernelmean.domains import outside_error
from kernelmean.mean import domain_space
from kernelmean.mean.certificate import MAX_EXACT_POINTS, METHODS, Certificate
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean


def certified(
    mean: DomainMean,
    X: Any,
    method: str,
    sample_weight: ArrayLike | None,
    chance: tuple[int | None, RandomState],
) -> Certificate:
    """The error, or √N times that of the mean inside."""
    _checks.choice(method, "method", METHODS)
    base = _copy_inside(mean)
    rows = mean.coded(X)
    error = outside_error(mean.domain, rows, mean.columns)
    if error is not None:
        raise error
    weights = _checks.weights(sample_weight, len(rows))
    coordinates = mean.domain.embed(rows).coordinates
    full = _full(mean, coordinates, weights)
    if method == "exact" or (method == "auto" and len(rows) <= MAX_EXACT_POINTS):
        exact = _exact(mean, full)
        if method == "exact" or not exact.below_floor:
            return exact
    size, random_state = chance
    found = base.certificate(
        coordinates,
        method="spectral" if method == "auto" else method,
        sample_weight=weights,
        size=size,
        random_state=random_state,
    )
    factor = math.sqrt(domain_space.copies(mean, full))
    return found._replace(
        error=factor * found.error,
        # ‖f̄‖ on the domain is at least that of the whole space: no inner product is negative
        relative_error=factor * found.relative_error,
        standard_error=factor * found.standard_error,
    )


def _copy_inside(mean: DomainMean) -> SparseKernelMean:
    """The sum over few centres that is near to one over all rows; an error for others."""
    domain_space.refuse_others(mean, "certificate")
    if not isinstance(mean.base, SparseKernelMean):
        raise ValueError("every row is a centre of this mean, which has no error to be certified.")
    mean.base._required_kappa("certificate")
    return mean.base


def _full(mean: DomainMean, coordinates: Any, weights: Vector | None) -> DomainMean:
    """The kernel density of the rows, on the same domain."""
    live = np.arange(len(coordinates)) if weights is None else np.flatnonzero(weights)
    w = np.ones(len(live)) if weights is None else weights[live]
    base = mean.base.expansion
    full = KernelMean(
        coordinates[live],
        w / w.sum(),
        base.kernel,
        base.space,
        base.scale,
        float(len(live)),
        base.engine,
    )
    return replace(mean, base=full, log_quantiles=None)


def _exact(mean: DomainMean, full: DomainMean) -> Certificate:
    """The distance of the two, and the floor below which rounding hides it."""
    squared, own, unit = domain_space.squared_error(full, mean)
    floor = 8 * EPS * (own + unit * float(mean.weights @ mean.weights))
    below = squared < floor
    error = math.sqrt(floor if below else squared)
    return Certificate(error, error / math.sqrt(own), 0.0, "exact", below)
