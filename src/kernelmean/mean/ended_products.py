"""∫_D f f′ of means on a flat domain in which components end at bounds.

The product of two Gaussians is one again, of another height:

    N(x; c, V)·N(x; c′, V′) = N(c; c′, V + V′)·N(x; m, W),  W = V(V + V′)⁻¹V′.

In coordinates in which either of two components ends at the bounds, the other has its images in D,
and N(m, W) is integrated over D; in all others the images of the second go wherever the first one
is, as in :mod:`kernelmean.mean.domain_space`, and the integral is over the whole line. Components
that end in the same coordinates go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Cuts, Group, Images
from kernelmean.domains.images import REACH
from kernelmean.domains.truncated import log_mass
from kernelmean.mean.questions import boxes
from kernelmean.mean.questions.mixture import DIAGONAL
from kernelmean.mean.unfolding import mixture_of

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean

SEED = 0  # of lattices: the same two means have the same product each time
SHIFTS = 12  # of the lattice over a box in which a product leans
POINTS = 2**9  # of a lattice in each shift
BLOCK = 2**20  # entries of covariances of pairs in memory at once
NOTHING = 40.0  # nats below the most that a pair has


class Side(NamedTuple):
    """Components with all that their products need."""

    means: Points  # (k, m)
    covariances: NDArray[np.float64]  # (k, m, m)
    cut: Cuts  # (k, m)

    @classmethod
    def of(cls, mean: DomainMean) -> Side:
        """The components of a mean."""
        mixture = mixture_of(mean.base.expansion)
        m = mixture.dimension
        cut = np.zeros((mean.k, m), dtype=bool) if mean.cut is None else mean.cut
        return cls(mixture.means, mixture.covariances(np.arange(m)), cut)

    def some(self, rows: IntVector) -> Side:
        """Some of them."""
        return Side(self.means[rows], self.covariances[rows], self.cut[rows])

    def imaged(self, images: Images) -> Side:
        """Their images."""
        V = images.covariances(self.covariances)
        return Side(images.places(self.means), V, self.cut[images.owner])

    @property
    def deviations(self) -> Points:
        """(k, m)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))


def products(one: DomainMean, other: DomainMean) -> Vector:
    """(k,) ∫_D φ_a f′ for each component φ_a of one mean, and f′ the other."""
    group = one.domain.group
    mine = Side.of(one)
    theirs = Side.of(other)
    found = np.zeros(one.k)
    for own in _patterns(mine.cut):
        for far in _patterns(theirs.cut):
            found[own] += _of_patterns(group, mine.some(own), theirs.some(far), other.weights[far])
    return found


def _patterns(cut: Cuts) -> list[IntVector]:
    """Rows that end in the same coordinates."""
    _, which = np.unique(cut, axis=0, return_inverse=True)
    which = np.ravel(which)
    return [np.flatnonzero(which == number) for number in range(which.max() + 1)]


def _of_patterns(group: Group, mine: Side, theirs: Side, weights: Vector) -> Vector:
    """(k,) for components that end in the same coordinates on either side."""
    raised = -group.log_masses(mine.means, mine.deviations, mine.cut)
    own = group.moving(theirs.cut[0] & ~mine.cut[0]).images(mine.means, mine.deviations)
    unfolded = mine.imaged(own)
    ending = mine.cut[0] | theirs.cut[0]
    far = REACH * mine.deviations
    lower = np.where(ending, group.lower, (mine.means - far).min(axis=0))
    upper = np.where(ending, group.upper, (mine.means + far).max(axis=0))
    images = group.images(theirs.means, theirs.deviations, onto=(lower, upper), cut=theirs.cut)
    size = max(1, BLOCK // (len(images.owner) * len(group) ** 2))
    found = np.zeros(len(mine.means))
    for start in range(0, len(own.owner), size):
        some = np.arange(start, min(start + size, len(own.owner)))
        pairs = Pairs.of(unfolded.some(some), theirs, images)
        logs = pairs.log_heights + images.log_factors + raised[own.owner[some], None]
        if ending.any():
            logs += pairs.log_boxes(group, np.flatnonzero(ending), logs)
        np.add.at(found, own.owner[some], np.exp(logs) @ weights[images.owner])
    return found


class Pairs(NamedTuple):
    """The products of components with images."""

    log_heights: Matrix  # (k, K) log N(c; c′, V + V′)
    means: NDArray[np.float64]  # (k, K, m)
    covariances: NDArray[np.float64]  # (k, K, m, m) W

    @classmethod
    def of(cls, mine: Side, theirs: Side, images: Images) -> Pairs:
        """Of each component with each image."""
        V = mine.covariances[:, None]
        U = images.covariances(theirs.covariances)[None]
        total = V + U
        offsets = mine.means[:, None] - images.places(theirs.means)
        solved = np.linalg.solve(total, offsets[..., None])[..., 0]
        m = offsets.shape[2]
        logs = -0.5 * ((offsets * solved).sum(axis=2) + m * np.log(2.0 * np.pi))
        logs -= 0.5 * np.linalg.slogdet(total)[1]
        # m = c − V(V + V′)⁻¹(c − c′)
        means = mine.means[:, None] - np.einsum("aij,abj->abi", mine.covariances, solved)
        return cls(logs, means, V @ np.linalg.solve(total, np.broadcast_to(U, total.shape)))

    def log_boxes(self, group: Group, ending: IntVector, others: Matrix) -> Matrix:
        """(k, K) log P(D) in some coordinates; ``others`` are the logarithms of all other factors.

        Where a product leans, that of its sides is a bound for what its box can have.
        """
        V = self.covariances[..., ending[:, None], ending]
        s = np.sqrt(np.diagonal(V, axis1=2, axis2=3))
        low = group.lower[ending] - self.means[..., ending]
        high = group.upper[ending] - self.means[..., ending]
        sides = log_mass((low / s).ravel(), (high / s).ravel()).reshape(s.shape)
        found = np.asarray(sides.sum(axis=2))
        bounds = others + sides.min(axis=2)
        leaning = _leaning(V, s) & (bounds > bounds.max() - NOTHING)
        if leaning.any():
            L = np.linalg.cholesky(V[leaning])
            parts = boxes.Components(np.ones(len(L)), L, low[leaning], high[leaning])
            found[leaning] = np.log(parts.each(SHIFTS, POINTS, np.random.default_rng(SEED)))
        return found


def _leaning(W: NDArray[np.float64], s: Points) -> NDArray[np.bool_]:
    """Which covariances have anything but rounding beside their diagonal."""
    correlations = np.abs(W) / (s[..., :, None] * s[..., None, :])
    every = np.arange(W.shape[-1])
    correlations[..., every, every] = 0.0
    return np.asarray(correlations.max(axis=(-1, -2)) > DIAGONAL)
