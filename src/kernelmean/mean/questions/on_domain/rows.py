"""Rows of a domain: drawn at random, or with values that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.domains import truncated
from kernelmean.mean import sampling, sphere
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.on_domain import parts
from kernelmean.mean.unfolding import deviations_of

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean


def draw(mean: DomainMean, size: int, rng: np.random.Generator) -> Points:
    """(size, d) coded rows: a component by its weight, then each of its factors.

    Numbers are drawn as if there were no bounds, and folded; where a component ends at bounds, from
    what of it lies between them.
    """
    base = mean.base.expansion
    domain = mean.domain
    components = sampling.draw_components(base.weights, size, rng)
    coordinates = sampling.draw_from(base, components, rng)
    if mean.cut is not None:
        _draw_ended(mean, components, coordinates, rng)
    for i in range(len(domain.spheres)):
        first = len(domain.lines) + 3 * i
        centers, variances = sphere.sphere_part(base, domain, i)
        found = sphere.draw(centers[components], variances[components], rng)
        coordinates[:, first : first + 3] = found
    codes = np.zeros((size, len(domain.categories)), dtype=np.intp)
    for i in range(len(domain.categories)):
        cumulative = np.cumsum(np.exp(mean.shares_of(i)), axis=1)
        codes[:, i] = _drawn(cumulative, components, rng.random(size))
    return domain.rows(coordinates, codes)


def _draw_ended(
    mean: DomainMean, components: IntVector, coordinates: Points, rng: np.random.Generator
) -> None:
    """Draw, in place, the numbers in which components end at bounds."""
    assert mean.cut is not None
    group = mean.domain.group
    deviations = deviations_of(mean.base.expansion, np.arange(len(group)))
    for t in np.flatnonzero(mean.cut.any(axis=0)):
        some = np.flatnonzero(mean.cut[components, t])
        c = mean.base.centers[components[some], t]
        s = deviations[components[some], t]
        low = (group.lower[t] - c) / s
        high = (group.upper[t] - c) / s
        drawn = c + s * truncated.drawn(low, high, rng.random(len(some)))
        coordinates[some, t] = np.clip(drawn, group.lower[t], group.upper[t])


def _drawn(cumulative: Points, components: IntVector, u: Vector) -> IntVector:
    """The category below whose cumulative probability each u lies first."""
    found = np.empty(len(u), dtype=np.intp)
    order = np.argsort(components, kind="stable")
    ends = np.cumsum(np.bincount(components, minlength=len(cumulative)))
    for a in np.unique(components):
        some = order[ends[a - 1] if a else 0 : ends[a]]
        line = cumulative[a]
        found[some] = np.searchsorted(line, u[some] * line[-1], side="right")
    codes: IntVector = np.minimum(found, cumulative.shape[1] - 1)
    return codes


def log_with_missing(mean: DomainMean, rows: Points) -> Vector:
    """log of the marginal density of what is known of each coded row; 0 where nothing is.

    Rows that miss the same columns are evaluated together.
    """
    found = np.zeros(len(rows))
    patterns, which = np.unique(np.isnan(rows), axis=0, return_inverse=True)
    for number, missing in enumerate(patterns):
        some = np.flatnonzero(np.ravel(which) == number)
        known = np.flatnonzero(~missing)
        if len(known) == mean.dimension:
            found[some] = mean.log_coded(rows[some])
        elif len(known):
            part = parts.marginal(mean, known)
            values = rows[np.ix_(some, known)]
            log = part.log if isinstance(part, KernelMean) else part.log_coded
            found[some] = log(values)
    return found


def draw_given(
    mean: DomainMean,
    columns: Columns,
    given: Mapping[Any, Any],
    size: int,
    rng: np.random.Generator,
) -> Points:
    """(size, d) coded rows with the given values in their columns."""
    known = parts.coded(mean.domain, columns, given)
    part = parts.conditional(mean, columns, given).density
    found = np.repeat(known.row, size, axis=0)
    plain = isinstance(part, KernelMean)
    found[:, known.free] = sampling.draw(part, size, rng) if plain else draw(part, size, rng)
    return found
