"""The components of a density on a domain, and what of them is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.domains import Categorical, Cuts, Domain, Group, Periodic, Sphere
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.column import Column
from kernelmean.mean.questions.mixture import Mixture
from kernelmean.mean.questions.on_domain.ended_column import Ended, EndedColumn

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean


class Unfolded(NamedTuple):
    """Some coordinates of the components and of their images, which mean something in D alone."""

    mixture: Mixture  # of K components, whose weights are those of their owners
    owner: IntVector  # (K,)
    cut: Cuts  # (K, m) in which a component ends at the bounds


@dataclass(frozen=True, eq=False)
class Products:
    """Components of positive weight: a Gaussian, and probabilities of categories.

    Parameters
    ----------
    mixture : Mixture
        The Gaussians in the coordinates that engines see, with weights of sum one.
    log_shares : ndarray of shape (k, levels) or None
        The logarithms of the probabilities.
    domain : Domain
        What the columns can hold.
    cut : ndarray of bool of shape (k, numbers)
        In which numbers a component ends at the bounds.
    """

    mixture: Mixture
    log_shares: Matrix | None
    domain: Domain
    cut: Cuts

    @classmethod
    def of(cls, mean: DomainMean, question: str) -> Products:
        """The components of a density; a ValueError where it is none."""
        base = mean.base.expansion
        mixture = Mixture.of(base, question)
        live = np.flatnonzero(base.weights)
        log_shares = None if mean.log_shares is None else mean.log_shares[live]
        none = np.zeros((base.k, len(mean.domain.lines)), dtype=bool)
        cut = none if mean.cut is None else mean.cut
        return cls(mixture, log_shares, mean.domain, cut[live])

    def shares(self, column: int) -> Matrix:
        """(k, levels): the probabilities of a column of categories."""
        assert self.log_shares is not None
        i = self.domain.categories.tolist().index(column)
        first = sum(self.domain.sizes[:i])
        return np.exp(self.log_shares[:, first : first + self.domain.sizes[i]])

    def unfolded(self, coordinates: IntVector, group: Group) -> Unfolded:
        """Some coordinates of the components and their images under a group of these.

        Components that end at bounds have their weight without what they are raised by.
        """
        means = self.mixture.means[:, coordinates]
        cut = self.cut[:, coordinates]
        images = group.images(means, self.mixture.deviations(coordinates), cut=cut)
        V = images.covariances(self.mixture.covariances(coordinates))
        weights = self.mixture.weights[images.owner]
        mixture = Mixture(weights, images.places(means), V, np.eye(len(coordinates)), 0.0)
        return Unfolded(mixture, images.owner, cut[images.owner])

    def column(self, column: int) -> FoldedColumn | EndedColumn:
        """The distribution of one column of numbers, a period from where it starts."""
        coordinate = np.array([self.coordinate(column)])
        group = from_start(self.domain, coordinate)
        means = self.mixture.means[:, coordinate]
        deviations = self.mixture.deviations(coordinate)
        low = float(group.lower[0])
        high = float(group.upper[0])
        cut = self.cut[:, coordinate[0]]
        images = group.images(means[~cut], deviations[~cut])
        weights = self.mixture.weights[~cut][images.owner]
        places = images.places(means[~cut])[:, 0]
        line = Column(weights, places, deviations[~cut][images.owner, 0])
        if not cut.any():
            copies = float(weights.sum())
            return FoldedColumn(line._replace(weights=weights / copies), copies, low, high)
        own = self.mixture.weights[cut], means[cut, 0], deviations[cut, 0]
        return EndedColumn(Ended(*own, low, high), None if cut.all() else line, low, high)

    def coordinate(self, column: int) -> int:
        """The coordinate of a column of numbers."""
        return int(np.searchsorted(self.domain.lines, column))


class FoldedColumn(NamedTuple):
    """A column of numbers between two ends, as the part of a mixture that lies there."""

    line: Column  # the images, with weights of sum one
    copies: float  # what these were divided by
    low: float
    high: float

    def cdf(self, x: Vector) -> Vector:
        """F_D(x) = F(x) − F(low), exactly 0 and 1 at the ends."""
        found = self.copies * (self.line.cdf(x) - self._below())
        inside: Vector = np.clip(found, 0.0, 1.0)
        return np.where(x <= self.low, 0.0, np.where(x >= self.high, 1.0, inside))

    def quantile(self, p: Vector) -> Vector:
        """The x with F_D(x) = p; the ends for p = 0 and p = 1."""
        level = np.clip(self._below() + p / self.copies, 0.0, 1.0)
        inside = np.clip(self.line.quantile(level), self.low, self.high)
        return np.where(p <= 0.0, self.low, np.where(p >= 1.0, self.high, inside))

    def nodes(self, per_deviation: int, reach: float) -> Vector:
        """Increasing places from one end to the other, dense beside every component there."""
        x = self.line.nodes(per_deviation, reach)
        ends = np.array([end for end in (self.low, self.high) if np.isfinite(end)])
        return np.unique(np.concatenate([x[(x > self.low) & (x < self.high)], ends]))

    def _below(self) -> float:
        return 0.0 if np.isinf(self.low) else float(self.line.cdf(np.array([self.low]))[0])


def from_start(domain: Domain, coordinates: IntVector) -> Group:
    """The group of some coordinates, with periods from where users begin them."""
    group = domain.group.of(coordinates)
    lower = np.array(group.lower)
    upper = np.array(group.upper)
    for i, t in enumerate(domain.lines[coordinates]):
        kind = domain.kinds[t]
        if isinstance(kind, Periodic):
            lower[i] = kind.start
            upper[i] = kind.start + kind.period
    return replace(group, lower=lower, upper=upper)


def coordinates_of(domain: Domain, positions: IntVector) -> IntVector:
    """The coordinates of the numbers and of the spheres among some columns.

    They come in the order in which the domain of these columns has them.
    """
    lines = domain.lines.tolist()
    found = [lines.index(t) for t in positions.tolist() if t in lines]
    for i, (longitude, _) in enumerate(domain.spheres):
        if longitude in positions:
            first = len(lines) + 3 * i
            found += [first, first + 1, first + 2]
    return np.array(found, dtype=np.intp)


def refuse_no_numbers(domain: Domain, columns: Columns, question: str) -> None:
    """A ValueError that names the first column without numbers, and says what to ask of it."""
    for t in range(domain.dimension):
        refuse_no_number(domain, columns, t, question)


def refuse_no_number(domain: Domain, columns: Columns, column: int, question: str) -> None:
    """A ValueError for a column of categories or on a sphere."""
    name = columns.label(column)
    if isinstance(domain.kinds[column], Categorical):
        raise ValueError(
            f"{question} needs numbers, and column {name} holds categories: ask "
            f"marginal({name}) for their probabilities, or probability({{{name}: ...}}) for one."
        )
    if isinstance(domain.kinds[column], Sphere):
        pair = next(pair for pair in domain.spheres if column in pair)
        names = ", ".join(columns.label(t) for t in pair)
        raise ValueError(
            f"{question} needs numbers, and column {name} is part of a place on a sphere: ask "
            f"marginal([{names}]) for the density of places, or points drawn by sample()."
        )
