"""Marginals and conditionals of a density on a domain: densities on the domain that is left.

To fold and to integrate over some columns can change places, so that a marginal is the marginal of
the mean inside, folded. Where columns are given, all images of the given values count: the
components are unfolded in these columns, and conditioned; the others are folded as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Bounds, Categorical, Cuts, Domain, Sphere, tables, words
from kernelmean.kernels import Gaussian
from kernelmean.mean import sphere
from kernelmean.mean.questions import parts
from kernelmean.mean.questions.answers import Part
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.mixture import refuse_others
from kernelmean.mean.questions.on_domain.products import coordinates_of
from kernelmean.mean.unfolding import imaged, images_of

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean
    from kernelmean.mean.on_domain import DomainMean


class Given(NamedTuple):
    """Values of some columns."""

    positions: IntVector  # (g,)
    row: Points  # (1, d) a coded row, with NaN where nothing is given
    free: IntVector  # the other columns
    domain: Domain  # of these


def marginal(mean: DomainMean, positions: IntVector) -> Any:
    """The density of some columns, in the order given."""
    domain = mean.domain.of(positions)
    base = mean.base.expansion
    refuse_others(base, "marginal")
    inner = _of_coordinates(base, coordinates_of(mean.domain, positions))
    return _on(mean, inner, domain, _shares(mean, positions), _cut(mean, positions))


def conditional(mean: DomainMean, columns: Columns, given: Mapping[Any, Any]) -> Part:
    """The density of the other columns where some have known values."""
    known = coded(mean.domain, columns, given)
    base = mean.base.expansion
    refuse_others(base, "conditional")
    log_factors = _log_factors(mean, known)
    if np.isneginf(log_factors[base.weights > 0.0]).all():
        raise ValueError(
            "the given categories have no probability at all, so that nothing can be said of the "
            "other columns."
        )
    inner, rows = _conditioned(mean, known, log_factors)
    shares = _shares(mean, known.free)
    left = None if shares is None else shares[rows]
    cut = _cut(mean, known.free)
    return Part(
        _on(mean, inner, known.domain, left, None if cut is None else cut[rows]), known.free
    )


def coded(domain: Domain, columns: Columns, given: Mapping[Any, Any]) -> Given:
    """What is given, as a coded row; a ValueError where it lies outside of the domain."""
    positions, values = columns.given(given)
    free = np.setdiff1d(np.arange(domain.dimension), positions)
    row = np.full((1, domain.dimension), np.nan)
    for t, value in zip(positions.tolist(), values, strict=True):
        row[0, t] = code(domain, columns, t, value)
    return Given(positions, row, free, domain.of(free))


def code(domain: Domain, columns: Columns, column: int, value: Any) -> float:
    """The number that stands for a value of a column."""
    kind = domain.kinds[column]
    name = columns.label(column)
    if isinstance(kind, Categorical):
        levels = domain.levels[domain.categories.tolist().index(column)]
        found = tables.code_of(value, levels)
        if found is None:
            shown = ", ".join(map(repr, levels[:10])) + (", …" if len(levels) > 10 else "")
            raise ValueError(f"column {name} has no category {value!r}; there are {shown}.")
        return float(found)
    number = columns.finite(value, column)
    if isinstance(kind, Bounds) and not kind.lower <= number <= kind.upper:
        raise ValueError(
            f"{number:g} lies outside of the domain of column {name}, which is "
            f"{words.range_of(kind)}."
        )
    is_latitude = any(column == latitude for _, latitude in domain.spheres)
    if isinstance(kind, Sphere) and is_latitude and abs(number) > kind.right_angle:
        raise ValueError(
            f"{number:g} is no latitude: column {name} lies between {-kind.right_angle:g} and "
            f"{kind.right_angle:g}."
        )
    return number


def _log_factors(mean: DomainMean, known: Given) -> Vector:
    """(k,): log of what categories and places on spheres say of each component."""
    found = np.zeros(mean.k)
    for i, t in enumerate(mean.domain.categories.tolist()):
        if t in known.positions:
            found = found + mean.shares_of(i)[:, int(known.row[0, t])]
    base = mean.base.expansion
    vectors = mean.domain.vectors(known.row)
    for i, (longitude, _) in enumerate(mean.domain.spheres):
        if longitude in known.positions:
            found = found + sphere.log_density(base, mean.domain, i, vectors[i])
    return found


def _conditioned(
    mean: DomainMean, known: Given, log_factors: Vector
) -> tuple[KernelMean, IntVector]:
    """The mean inside of the columns that are left, and the component that each part is from."""
    base = mean.base.expansion
    free = coordinates_of(mean.domain, known.free)
    lines = np.array([t for t in known.positions if t in mean.domain.lines], dtype=np.intp)
    if not len(lines):
        with np.errstate(divide="ignore"):
            weights = parts.weights_of(np.log(base.weights) + log_factors)
        rows = np.flatnonzero(weights)
        kept = replace(base.restricted(rows), weights=weights[rows])
        return _of_coordinates(kept, free), rows
    given = coordinates_of(mean.domain, lines)
    group = mean.domain.group.of(given)
    values = group.folded(known.row[:, lines])[0]
    images = images_of(base, group, given, mean.cut)
    unfolded = imaged(base, images, given)
    unfolded = replace(unfolded, weights=unfolded.weights / unfolded.weights.sum())
    live = np.flatnonzero(unfolded.weights)
    part = parts.marginal(unfolded, np.concatenate([free, given]))
    places = len(free) + np.arange(len(given))
    found = parts.conditioned(part, places, values, log_factors[images.owner[live]])
    inner = found.mean if len(free) else nowhere(found.mean)
    return inner, images.owner[live[found.rows]]


def _of_coordinates(base: KernelMean, coordinates: IntVector) -> KernelMean:
    return parts.marginal(base, coordinates) if len(coordinates) else nowhere(base)


def nowhere(base: KernelMean) -> KernelMean:
    """A mean with one coordinate that is always 0, where the density of every component is 1."""
    return replace(
        base,
        centers=np.zeros((base.k, 1)),
        kernel=Gaussian(1.0 / np.sqrt(2.0 * np.pi)),
        scale=None,
        spreads=None,
    )


def _shares(mean: DomainMean, positions: IntVector) -> Matrix | None:
    """The logarithms of the probabilities of those of the columns that hold categories."""
    categories = mean.domain.categories.tolist()
    found = [mean.shares_of(categories.index(t)) for t in positions.tolist() if t in categories]
    return np.concatenate(found, axis=1) if found else None


def _cut(mean: DomainMean, positions: IntVector) -> Cuts | None:
    """In which of those of the columns that are numbers components end at bounds."""
    if mean.cut is None:
        return None
    lines = mean.domain.lines.tolist()
    return mean.cut[:, [lines.index(t) for t in positions.tolist() if t in lines]]


def _on(
    mean: DomainMean,
    inner: KernelMean,
    domain: Domain,
    log_shares: Matrix | None,
    cut: Cuts | None,
) -> Any:
    """A mean on what is left of the domain; a plain one where nothing is left of it."""
    if domain.is_plain:
        return inner
    return replace(
        mean,
        base=inner,
        domain=domain,
        log_shares=log_shares,
        columns=None,
        log_quantiles=None,
        cut=cut,
    )
