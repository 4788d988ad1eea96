"""Climbing a density that may slope at the bounds of its domain, where a peak can then lie."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.mean.climbing import DensityToClimb, Iterate

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean

SLACK = 1e-9  # kernel lengths: as far as rounding leads beyond a bound


@dataclass(frozen=True)
class BoundedHill(DensityToClimb):
    """A density between bounds, in the coordinates of its kernel.

    A step ends at the bound that it meets. What is folded is level there, and components that end
    there lean on no other coordinate: so the rest of the step is what it would be along the bound.
    """

    lower: Vector
    upper: Vector

    def at(self, x: Points) -> Iterate:
        """The same, with −∞ beyond the bounds, where leaps may lead."""
        found = super().at(x)
        step = np.clip(x + found.step, self.lower, self.upper) - x
        slack = SLACK * self.length
        outside = ((x < self.lower - slack) | (x > self.upper + slack)).any(axis=1)
        log_value = np.where(outside, -np.inf, found.log_value)
        return Iterate(x, log_value, step, np.sqrt(np.einsum("ij,ij->i", step, step)))


def bounded_hill(mean: DomainMean, hill: DensityToClimb) -> DensityToClimb:
    """The hill of a mean on a domain of numbers; as it is where no component ends at bounds."""
    if mean.ended is None:
        return hill
    group = mean.domain.group
    lower, upper = (
        _mapped(mean, np.where(group.periodic, far, bound))
        for bound, far in ((group.lower, -np.inf), (group.upper, np.inf))
    )
    whole = {entry.name: getattr(hill, entry.name) for entry in fields(DensityToClimb)}
    return BoundedHill(**whole, lower=lower, upper=upper)


def _mapped(mean: DomainMean, bound: Vector) -> Vector:
    """Bounds in the coordinates of the kernel, in which each has an axis of its own."""
    known = np.isfinite(bound)
    mapped = mean.unfolded.map(np.where(known, bound, mean.unfolded.centers[0])[None])[0]
    return np.where(known, mapped, bound)
