"""The mean and the covariance of a density on a domain of numbers.

A folded normal is a sum of truncated ones: of each image the part within the domain, whose moments
are closed forms. With z = (x − c)/s and the ends a, b of the domain in these units,

    p = Φ(b) − Φ(a),  E[z; D] = φ(a) − φ(b),  E[z²; D] = p + aφ(a) − bφ(b).

Of a component that ends at the bounds there is only that part, divided by p.

Where two columns are bounded and correlated, one is integrated by Gauss and Legendre over the
conditional mean of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Bounds, Group, Periodic, truncated
from kernelmean.domains.truncated import between
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.on_domain.products import Products, refuse_no_numbers

GAUSS_POINTS = 16  # in each panel, which is no wider than a standard deviation
REACH = 9.0  # standard deviations on either side
MOST_PANELS = 2048  # of one image: for columns that all but determine each other
BLOCK = 2**16  # places at once


def expectation(products: Products, columns: Columns) -> Vector:
    """The mean of every column; of a period the circular mean, from where the period starts."""
    refuse_no_numbers(products.domain, columns, "expectation")
    kinds = products.domain.kinds
    return np.array(
        [
            _circular(products, t, kind) if isinstance(kind, Periodic) else _mean(products, t)
            for t, kind in enumerate(kinds)
        ]
    )


def covariance(products: Products, columns: Columns) -> Matrix:
    """Σ_a α_a (C_a + m_a m_aᵀ) − μμᵀ, C_a and m_a those of component a."""
    refuse_no_numbers(products.domain, columns, "covariance")
    for t, kind in enumerate(products.domain.kinds):
        if isinstance(kind, Periodic):
            raise ValueError(
                f"covariance needs columns without a period, and column {columns.label(t)} has "
                "one: ask marginal(...) of the others, or hdr() of this one."
            )
    d = len(products.domain.kinds)
    weights = products.mixture.weights
    lines = [_Line.of(products, t) for t in range(d)]
    V = products.mixture.covariances(np.arange(d))
    found = np.empty((d, d))
    for i in range(d):
        mu_i = float(weights @ lines[i].first)
        found[i, i] = weights @ lines[i].second - mu_i**2
        for j in range(i):
            mu_j = float(weights @ lines[j].first)
            found[i, j] = weights @ _products(lines[i], lines[j], V[:, i, j]) - mu_i * mu_j
            found[j, i] = found[i, j]
    return found


def _mean(products: Products, column: int) -> float:
    line = _Line.of(products, column)
    return line.origin + float(products.mixture.weights @ line.first)


def _circular(products: Products, column: int, kind: Periodic) -> float:
    """The angle of Σ_a α_a e^{iωc_a − ½ω²s_a²}, ω = 2π/period."""
    turn = 2.0 * np.pi / kind.period
    c = products.mixture.means[:, column]
    s = products.mixture.deviations(np.array([column]))[:, 0]
    total = products.mixture.weights @ np.exp(1j * turn * (c - kind.start) - 0.5 * (turn * s) ** 2)
    return kind.start + float(np.angle(total)) % (2.0 * np.pi) / turn


class Truncated(NamedTuple):
    """Images of normal distributions, and the moments of what of each lies within two ends."""

    owner: IntVector  # (K,)
    signs: Vector  # (K,)
    places: Vector  # (K,)
    mass: Vector  # (K,) p
    once: Vector  # (K,) s·E[z; D]
    twice: Vector  # (K,) s²·E[z²; D]

    @classmethod
    def of(
        cls, group: Group, means: Vector, deviations: Vector, cut: NDArray[np.bool_] | None = None
    ) -> Truncated:
        """The images of (k,) components under the group of one coordinate.

        ``cut`` says which of them end at its bounds.
        """
        cut = np.zeros(len(means), dtype=bool) if cut is None else cut
        images = group.images(means[:, None], deviations[:, None], cut=cut[:, None])
        places = images.places(means[:, None])[:, 0]
        s = deviations[images.owner]
        a = (group.lower[0] - places) / s
        b = (group.upper[0] - places) / s
        mass = between(a, b)
        once = s * (_normal(a) - _normal(b))
        twice = s**2 * (mass + _times(a) - _times(b))
        ended = cut[images.owner]
        if ended.any():
            whole = truncated.TruncatedNormals.of(a[ended], b[ended])
            mass[ended] = 1.0
            once[ended] = s[ended] * whole.first
            twice[ended] = s[ended] ** 2 * whole.second
        return cls(images.owner, images.signs[:, 0], places, mass, once, twice)

    def means(self, origin: float, count: int) -> Vector:
        """(k,): the mean of each component, folded, from the origin."""
        terms = (self.places - origin) * self.mass + self.once
        return sums(self.owner, terms, count)


def sums(owner: IntVector, terms: Vector, count: int) -> Vector:
    """(count,): the sum of the terms of each owner."""
    found: Vector = np.bincount(owner, terms, count).astype(np.float64)
    return found


class _Line(NamedTuple):
    """One column of all components, with the moments of each about an origin."""

    group: Group
    means: Vector  # (k,) unfolded
    deviations: Vector  # (k,)
    origin: float
    first: Vector  # (k,) E[x − o]
    second: Vector  # (k,) E[(x − o)²]
    images: Truncated | None  # None where the column has no bounds

    @classmethod
    def of(cls, products: Products, column: int) -> _Line:
        coordinate = np.array([column])
        c = products.mixture.means[:, column]
        s = products.mixture.deviations(coordinate)[:, 0]
        group = products.domain.group.of(coordinate)
        origin = float(np.median(c))  # keeps digits far from zero
        if not isinstance(products.domain.kinds[column], Bounds):
            return cls(group, c, s, origin, c - origin, (c - origin) ** 2 + s**2, None)
        images = Truncated.of(group, c, s, products.cut[:, column])
        offset = images.places - origin
        terms = offset**2 * images.mass + 2.0 * offset * images.once + images.twice
        second = sums(images.owner, terms, len(c))
        return cls(group, c, s, origin, images.means(origin, len(c)), second, images)


def _products(x: _Line, y: _Line, V: Vector) -> Vector:
    """(k,): E[(x − o)(y − o′)] of each component, whose covariance before folding is V."""
    if x.images is not None and y.images is None:
        return _products(y, x, V)
    found = x.first * y.first
    if y.images is None:
        return found + V
    if x.images is None:
        # x = c + β(y′ − c′) + noise, y′ − c′ = ±(y − place) before it is folded
        images = y.images
        terms = images.signs * (images.twice + (images.places - y.origin) * images.once)
        return found + V / y.deviations**2 * sums(images.owner, terms, len(V))
    for a in np.flatnonzero(np.abs(V) > 1e-15 * x.deviations * y.deviations):
        found[a] = _both_folded(x, y, int(a), float(V[a]))
    return found


def _both_folded(x: _Line, y: _Line, a: int, V: float) -> float:
    """Σ_images ∫_D (x − o)·N(x)·E[y − o′ | x] dx for one component."""
    assert x.images is not None
    s = float(x.deviations[a])
    slope = V / s**2
    left = np.sqrt(max(y.deviations[a] ** 2 - slope * V, 0.0))
    step = min(s, left / abs(slope))
    own = x.images.owner == a
    total = 0.0
    for sign, place in zip(x.images.signs[own], x.images.places[own], strict=True):
        low = max(x.group.lower[0], place - REACH * s)
        high = min(x.group.upper[0], place + REACH * s)
        if low >= high:
            continue
        places, w = _panels(low, high, step)
        heights = w * _normal((places - place) / s) / s * (places - x.origin)
        seen = y.means[a] + slope * sign * (places - place)
        for first in range(0, len(places), BLOCK):
            some = slice(first, first + BLOCK)
            count = len(seen[some])
            folded = Truncated.of(y.group, seen[some], np.full(count, left))
            total += float(heights[some] @ folded.means(y.origin, count))
    return total


def _panels(low: float, high: float, step: float) -> tuple[Vector, Vector]:
    """Places and weights of Gauss and Legendre on panels of about this width."""
    count = int(min(np.ceil((high - low) / step), MOST_PANELS)) if step > 0.0 else MOST_PANELS
    ends = np.linspace(low, high, count + 1)
    t, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    half = 0.5 * (high - low) / count
    centers = 0.5 * (ends[1:] + ends[:-1])
    return (centers[:, None] + half * t).ravel(), np.tile(half * w, count)


def _normal(z: Points) -> Points:
    """φ(z), 0 at ±∞."""
    height: Points = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    return height


def _times(z: Points) -> Points:
    """z·φ(z), 0 at ±∞."""
    return np.where(np.isfinite(z), z, 0.0) * _normal(z)
