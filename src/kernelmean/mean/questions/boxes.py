"""The probability of a box under a mixture.

Where the covariances of the bounded columns are diagonal it is a sum of products of differences of
Φ. Else each component is integrated by Genz's separation of variables (Genz 1992): with V = LLᵀ the
box becomes the unit cube in one dimension less, over which a lattice, shifted at random several
times, averages. The shifts tell the error.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains.truncated import between
from kernelmean.mean.questions.mixture import Mixture
from kernelmean.mean.questions.values import Estimate

SHIFTS = 12  # of the lattice, from which the error comes
FIRST_POINTS = 256  # of the lattice, in each shift
MOST_POINTS = 2**15  # where the error that is asked for is not reached before
# Of the largest bound of a component: those that have less in the box are left out.
NEGLIGIBLE = 1e-14
BLOCK = 2**20  # values in memory at once


class Box(NamedTuple):
    """Bounds of those columns that have any."""

    columns: IntVector  # (m,)
    lower: Points  # (m,), or (k, m) for each component; −∞ where there is none
    upper: Points

    @classmethod
    def of(cls, lower: Vector, upper: Vector) -> Box:
        """The bounds of all columns, without those that exclude nothing."""
        columns = np.flatnonzero((lower > -np.inf) | (upper < np.inf))
        return cls(columns, lower[columns], upper[columns])


def probability(mixture: Mixture, box: Box, error: float, rng: np.random.Generator) -> Estimate:
    """P(lower ≤ x ≤ upper): Columns without bounds are integrated out first.

    Time O(k·m) for diagonal covariances of m bounded columns, O(k·m²·points) otherwise.
    """
    if not len(box.columns):
        return Estimate(1.0)
    means = mixture.means[:, box.columns]
    sizes = mixture.deviations(box.columns)
    # Π_t [Φ((u_t − c_t)/s_t) − Φ((l_t − c_t)/s_t)]
    sides = between((box.lower - means) / sizes, (box.upper - means) / sizes)
    if mixture.aligned(box.columns):
        return Estimate(min(float(mixture.weights @ sides.prod(axis=1)), 1.0))
    bounds = mixture.weights * sides.min(axis=1)
    large = bounds > NEGLIGIBLE * bounds.max()
    inside = np.flatnonzero(large)
    if not len(inside):
        return Estimate(0.0)
    # The narrowest side first: what is left for the later ones then varies least.
    order = np.argsort(sides[inside], axis=1, kind="stable")
    if box.lower.ndim == 2:
        box = Box(box.columns, box.lower[inside], box.upper[inside])
    found = Components.of(mixture.restricted(inside), box, order).integrated(error, rng)
    return Estimate(found, found.standard_error + float(bounds[~large].sum()))


class Components(NamedTuple):
    """Gaussians N(0, LLᵀ), each with a box of its own."""

    weights: Vector  # (k,)
    L: NDArray[np.float64]  # (k, m, m)
    lower: Points  # (k, m)
    upper: Points  # (k, m)

    @classmethod
    def of(cls, mixture: Mixture, box: Box, order: IntVector) -> Components:
        """The components of a mixture about the box, the columns of each in an order of its own."""
        V = mixture.covariances(box.columns)
        turned = np.take_along_axis(
            np.take_along_axis(V, order[:, :, None], axis=1), order[:, None, :], axis=2
        )
        means = mixture.means[:, box.columns]
        return cls(
            mixture.weights,
            np.asarray(np.linalg.cholesky(turned), dtype=np.float64),
            np.take_along_axis(box.lower - means, order, axis=1),
            np.take_along_axis(box.upper - means, order, axis=1),
        )

    def integrated(self, error: float, rng: np.random.Generator) -> Estimate:
        """The sum of their probabilities, by lattices that double until the error is small."""
        m = self.L.shape[1]
        shifts = rng.random((SHIFTS, m - 1))
        count = FIRST_POINTS
        while True:
            found = np.array([self._average(_lattice(count, shift)) for shift in shifts])
            estimate = Estimate(
                float(np.clip(found.mean(), 0.0, 1.0)), found.std(ddof=1) / np.sqrt(SHIFTS)
            )
            if estimate.standard_error <= error:
                return estimate
            if count >= MOST_POINTS:
                warnings.warn(
                    f"the standard error is {estimate.standard_error:.2g}, above error={error:g}: "
                    f"the most points, {SHIFTS} × {MOST_POINTS}, do not reach that.",
                    RuntimeWarning,
                    stacklevel=4,
                )
                return estimate
            count *= 2

    def each(self, shifts: int, count: int, rng: np.random.Generator) -> Vector:
        """(k,): the probability of each, by so many shifted lattices of so many points."""
        found = np.zeros(len(self.weights))
        size = max(BLOCK // count, 1)
        for shift in rng.random((shifts, self.L.shape[1] - 1)):
            U = _lattice(count, shift)
            for first in range(0, len(found), size):
                some = slice(first, first + size)
                part = Components(*(field[some] for field in self))
                found[some] += part._separated(U).mean(axis=1)
        return found / shifts

    def _average(self, U: Matrix) -> float:
        """The mean over the points of the lattice, a block of components at a time."""
        size = max(BLOCK // len(U), 1)
        total = 0.0
        for first in range(0, len(self.weights), size):
            some = slice(first, first + size)
            part = Components(*(field[some] for field in self))
            total += float(part.weights @ part._separated(U).mean(axis=1))
        return total

    def _separated(self, U: Matrix) -> Matrix:
        """(k, points): Π_t (e_t − d_t), y_t = Φ⁻¹(d_t + u_t(e_t − d_t)).

        Here d_t, e_t = Φ((bound_t − Σ_{s<t} L_ts y_s)/L_tt) for the lower and the upper bound.
        """
        k, m, _ = self.L.shape
        y = np.zeros((k, m, len(U)))
        product = np.ones((k, len(U)))
        for t in range(m):
            known = np.einsum("as,asn->an", self.L[:, t, :t], y[:, :t])
            pivot = self.L[:, t, t, None]
            low = (self.lower[:, t, None] - known) / pivot
            high = (self.upper[:, t, None] - known) / pivot
            width = between(low, high)
            product *= width
            if t < m - 1:
                y[:, t] = _within(low, high, width, U[:, t])
        return product


def _within(low: Matrix, high: Matrix, width: Matrix, u: Vector) -> Matrix:
    """The place between ``low`` and ``high`` below which the share u of their mass lies."""
    flip = low > 0.0
    # Beyond zero by the upper tail: Φ⁻¹ of a number near 1 has no digits left.
    start = np.where(flip, ndtr(-high), ndtr(low))
    share = np.where(flip, 1.0 - u, u)
    place = ndtri(np.clip(start + share * width, 1e-300, 1.0 - 1e-16))
    return np.clip(np.where(flip, -place, place), low, high)


def _lattice(count: int, shift: Vector) -> Matrix:
    """(count, m) points of Richtmyer's lattice, folded so that the integrand is periodic."""
    steps = np.sqrt(_primes(len(shift)))
    points = (np.arange(1, count + 1)[:, None] * steps + shift) % 1.0
    folded: Matrix = np.abs(2.0 * points - 1.0)
    return folded


def _primes(count: int) -> Vector:
    """The first primes."""
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return np.array(found, dtype=np.float64)
