"""Inner products and distances in L2 of a flat domain.

A folded function is f(x) = Σ_g z(g(x)) on D, and the images of D cover the whole space once, so

    ∫_D f f′ = Σ_h ∫ z(y) z′(h(y)) dy = Σ_h ⟨z, z′∘h⟩,

over all reflections and shifts h: of these only few bring z′ to where z is, within D or not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernelmean._types import Vector
from kernelmean.domains import Group, Kind, Periodic
from kernelmean.domains.images import REACH
from kernelmean.linalg.gram import weighted_products
from kernelmean.mean import ended_products, scaling
from kernelmean.mean.unfolding import deviations_of, imaged

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean
    from kernelmean.mean.on_domain import DomainMean

Ends = tuple[Vector, Vector]


def inner(one: DomainMean, other: DomainMean) -> float:
    """∫_D f f′."""
    group = shared_group(one, other, "inner")
    z = one.base.expansion
    found = _product(one, group, other, support(z))
    return float(scaling.times_exp(float(z.weights @ found.values), found.log_unit))


def distance(one: DomainMean, other: DomainMean) -> float:
    """The root of ∫_D (f − f′)²."""
    group = shared_group(one, other, "distance")
    squared, _, log_unit = _squared(one, other, group)
    return float(scaling.times_exp(math.sqrt(max(squared, 0.0)), 0.5 * log_unit))


def squared_error(one: DomainMean, other: DomainMean) -> tuple[float, float, float]:
    """∫_D (f − f′)², ∫_D f², and the unit of such products."""
    squared, own, log_unit = _squared(one, other, one.domain.group)
    unit = math.exp(log_unit)
    return squared * unit, own * unit, unit


def _squared(one: DomainMean, other: DomainMean, group: Group) -> tuple[float, float, float]:
    """∫_D (f − f′)² and ∫_D f² in a unit, and the logarithm of that.

    With r = f − f′ the former is Σ α_a ⟨φ_a, r⟩ − Σ α′_b ⟨φ′_b, r⟩: equal means cancel term by
    term.
    """
    ends = [support(mean.base.expansion) for mean in (one, other)]
    onto = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    products = [[_product(a, group, b, onto) for b in (one, other)] for a in (one, other)]
    top = max(p.log_unit for pair in products for p in pair)
    at = [[p.in_unit(top) for p in pair] for pair in products]
    squared = float(one.weights @ (at[0][0] - at[0][1]))
    squared -= float(other.weights @ (at[1][0] - at[1][1]))
    return squared, float(one.weights @ at[0][0]), top


class Products(NamedTuple):
    """⟨φ_a, z′ folded⟩ for every centre a, in units of e^log_unit."""

    values: Vector
    log_unit: float

    def in_unit(self, log_unit: float) -> Vector:
        """The same in another unit."""
        return scaling.times_exp(self.values, self.log_unit - log_unit)


def _product(one: DomainMean, group: Group, far: DomainMean, onto: Ends) -> Products:
    """⟨φ_a, Σ_h z′∘h⟩ for the centres a of z, with the images of z′ that reach into a box."""
    if one.ended is not None or far.ended is not None:
        return Products(ended_products.products(one, far), 0.0)
    z = one.base.expansion
    other = far.base.expansion
    radial, log_unit = z.pairing(other)
    lines = np.arange(len(group))
    images = group.images(other.centers[:, lines], deviations_of(other, lines), onto=onto)
    unfolded = imaged(other, images, lines)
    if z.spreads is None and other.spreads is None:
        places = unfolded.map(z.centers)
        return Products(unfolded.cloud.kernel_sum(radial, places, unfolded.weights), log_unit)
    atoms = unfolded.atoms_in(other)
    return Products(weighted_products(radial, z.atoms_in(other), atoms, unfolded.weights), log_unit)


def support(z: KernelMean) -> Ends:
    """The box beyond which no centre has anything."""
    far = REACH * deviations_of(z, np.arange(z.dimension))
    return (z.centers - far).min(axis=0), (z.centers + far).max(axis=0)


def shared_group(one: DomainMean, other: DomainMean, question: str) -> Group:
    """The group of two means; a ValueError where they have no flat domain in common."""
    for mean in (one, other):
        refuse_others(mean, question)
    kinds = [[_without_start(kind) for kind in mean.domain.kinds] for mean in (one, other)]
    if kinds[0] != kinds[1]:
        raise ValueError(f"{question} needs two means on the same domain: fit both with the same.")
    return one.domain.group


def _without_start(kind: Kind | None) -> Kind | None:
    """A kind, of whose period it does not matter where it is told from."""
    return Periodic(kind.period) if isinstance(kind, Periodic) else kind


def refuse_others(mean: DomainMean, question: str) -> None:
    """A ValueError where a column holds no numbers, or the space is not L2."""
    if not mean.domain.is_flat:
        raise ValueError(
            f"{question} needs columns of numbers, and this domain has a sphere or categories: "
            "compare marginal(...) densities of the numbers."
        )
    if mean.space != "l2":
        raise ValueError(f"{question} on a domain is taken in L2: fit with space='l2'.")


def copies(one: DomainMean, full: DomainMean) -> float:
    """N: how many images of a point can lie where the difference of two means is not nothing.

    At a bound there are two, and one where nothing reaches beyond it; of an interval or a period as
    many as there are copies of it that the centres reach, 12 standard deviations beyond them.
    """
    supports = [support(mean.base.expansion) for mean in (one, full)]
    first = np.minimum(supports[0][0], supports[1][0])
    last = np.maximum(supports[0][1], supports[1][1])
    group = one.domain.group
    count = 1.0
    for t in np.flatnonzero(group.moves):
        low = group.lower[t]
        high = group.upper[t]
        if np.isinf(group.widths[t]):
            count *= 2.0 if first[t] < low or last[t] > high else 1.0
        elif group.periodic[t]:
            count *= np.floor((last[t] - first[t]) / (high - low)) + 1.0
        else:
            cells = np.floor((np.array([first[t], last[t]]) - low) / (high - low))
            count *= cells[1] - cells[0] + 1.0
    return float(count)
