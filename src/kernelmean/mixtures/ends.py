"""Components at the bounds of a domain: folded there, or cut off.

What is folded is level at a bound. What is cut off can slope there, and one such component is an
exponential, an even distribution or half of a normal one, of which folded ones take many. It is
independent of all other coordinates in the one in which it ends, so that each of its marginals and
conditionals is of the same kind; so where a correlation is worth more, a component is folded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Vector
from kernelmean.domains import Cuts, Group
from kernelmean.mixtures import truncation
from kernelmean.mixtures.expectation import Prior
from kernelmean.mixtures.gaussians import Gaussians

NEAR = 5.0  # standard deviations: with a bound beyond, a component has nothing there
WORTH = 0.05  # nats, for which a correlation is kept
EVEN = 0.499  # periods: a component that is so wide is even
MOST_IMAGES = 16  # of a component in D; each coordinate with a bound near doubles them


class Moments(NamedTuple):
    """What lies in D of the shares of components, in the coordinates with bounds or a period."""

    coordinates: NDArray[np.intp]  # (b,)
    masses: Vector  # (k,)
    sums: NDArray[np.float64]  # (k, b, 2) Σx and Σx²

    def means(self, b: int) -> Vector:
        """(k,)."""
        found: Vector = self.sums[:, b, 0] / self.masses
        return found

    def variances(self, b: int, prior: Prior) -> Vector:
        """(k,), drawn towards the common one."""
        scatters = np.maximum(self.sums[:, b, 1] - self.masses * self.means(b) ** 2, 0.0)
        return prior.covariances(self.masses, scatters, float(self.masses.sum()))


class Ending(NamedTuple):
    """The components that end at the bounds of one coordinate, with their Gaussians there."""

    which: NDArray[np.bool_]  # (k,)
    means: Vector
    variances: Vector


def cut_off(
    folded: Gaussians, group: Group, moments: Moments, prior: Prior
) -> tuple[Gaussians, Cuts]:
    """The components, cut off at bounds where that is worth more than their correlations."""
    cut = np.zeros(folded.means.shape, dtype=bool)
    if not len(moments.coordinates):
        return folded, cut
    c = np.array(folded.means)
    V = np.array(folded.covariances)
    worth = _worth_of_correlations(V)
    free = (worth < WORTH) | _too_many(folded, group, worth)
    for b, t in enumerate(moments.coordinates.tolist()):
        if group.periodic[t]:
            found = _even(group, t, free[:, t] & (np.sqrt(V[:, t, t]) >= EVEN * group.widths[t]))
        else:
            found = _at_bounds(group, t, moments, b, prior, free[:, t])
        cut[:, t] = found.which
        c[found.which, t] = found.means
        V[found.which, t, :] = 0.0
        V[found.which, :, t] = 0.0
        V[found.which, t, t] = found.variances
    return Gaussians(folded.weights, c, V), cut


def without_what_is_beyond(folded: Gaussians, group: Group, kind: int) -> tuple[Gaussians, Cuts]:
    """A sum that is cut off at some bounds, the others of whose components are folded.

    Bit b of ``kind`` is set for those at :attr:`Group.ends`[b]. What lies beyond is lost, and all
    that is left raised alike: so a component keeps its height in D, which folding raises, and its
    weight is what it has there. A component with both bounds of an interval near has the nearer.
    """
    cut = np.zeros(folded.means.shape, dtype=bool)
    V = np.array(folded.covariances)
    s = np.sqrt(np.diagonal(V, axis1=1, axis2=2))
    for b, (t, bound) in enumerate(group.ends):
        if kind >> b & 1:
            away = np.abs(folded.means[:, t] - bound)
            cut[:, t] |= (away < NEAR * s[:, t]) & (away <= 0.5 * group.widths[t])
    V = np.where(cut[:, :, None] | cut[:, None, :], V * np.eye(V.shape[1]), V)
    weights = folded.weights * np.exp(group.log_masses(folded.means, s, cut))
    return Gaussians(weights / weights.sum(), folded.means, V), cut


def _at_bounds(
    group: Group, t: int, moments: Moments, b: int, prior: Prior, free: NDArray[np.bool_]
) -> Ending:
    """Those that have something at a bound, as the likeliest Gaussians that end there."""
    floor = prior.floor[t : t + 1]
    mean = moments.means(b)
    variance = moments.variances(b, Prior(floor, prior.strength))
    near = NEAR * np.sqrt(variance)
    which = free & ((mean - near < group.lower[t]) | (mean + near > group.upper[t]))
    steepest = truncation.steepest(len(moments.coordinates))
    ends = truncation.Ends(group.lower[t], group.upper[t], steepest, float(np.sqrt(floor[0])))
    return Ending(which, *truncation.fitted(mean[which], variance[which], ends))


def _even(group: Group, t: int, which: NDArray[np.bool_]) -> Ending:
    """Components that are even over a period."""
    count = int(which.sum())
    middle = 0.5 * (group.lower[t] + group.upper[t])
    wide = (truncation.WIDEST * group.widths[t]) ** 2
    return Ending(which, np.full(count, middle), np.full(count, wide))


def _too_many(folded: Gaussians, group: Group, worth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(k, m) in which coordinates images would be too many, with those that lean most folded first.

    Images are a product over the coordinates: in a dozen of them they would be millions.
    """
    counts = _image_counts(folded, group)
    order = np.argsort(-worth, axis=1, kind="stable")
    together = np.cumprod(np.take_along_axis(counts, order, axis=1), axis=1)
    found = np.zeros(worth.shape, dtype=bool)
    np.put_along_axis(found, order, together > MOST_IMAGES, axis=1)
    return found


def _image_counts(folded: Gaussians, group: Group) -> NDArray[np.float64]:
    """(k, m) about how many images have something in D.

    Two where one bound is near, and else 1 + 2s/w, s what a component reaches to each side and w
    the width of an interval or a period: images are w apart in the mean.
    """
    reach = NEAR * np.sqrt(np.diagonal(folded.covariances, axis1=1, axis2=2))
    near = (folded.means - reach < group.lower) | (folded.means + reach > group.upper)
    whole = np.isfinite(group.widths)
    widths = np.where(whole, group.widths, 1.0)
    return np.where(whole, 1.0 + 2.0 * reach / widths, 1.0 + near)


def _worth_of_correlations(V: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k, m) ½ log(V_tt (V⁻¹)_tt): the nats that a coordinate tells of the others."""
    own = np.diagonal(V, axis1=1, axis2=2) * np.diagonal(np.linalg.inv(V), axis1=1, axis2=2)
    return np.asarray(0.5 * np.log(np.maximum(own, 1.0)))
