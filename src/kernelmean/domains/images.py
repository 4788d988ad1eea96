"""Bounds and periods as a group of reflections and shifts: what is beyond them comes back.

A density f of the whole line becomes one of the domain D by Σ_g f(g(x)), over all g that leave D
alone as a whole: at a bound b the identity and x ↦ 2b − x, between two bounds also all shifts by
twice their distance, for a period all shifts by multiples of it. The images of D cover the line
once, so the integral over D is that of f over the line: exactly one. A sum over the images of x is
one over the images of the components of f, and few of these reach into D.

A component can also end at the bounds of a coordinate: it then has no images there, and is divided
by the mass that it has between them. Folded, a density is level at a bound; cut off, it can slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Points, Vector
from kernelmean.domains import truncated

REACH = 9.0  # standard deviations beyond which a component is nothing: e^{−40} of its peak
NEGLIGIBLE = 1e-18  # of the mass of a component, in D


Cuts = NDArray[np.bool_]  # (k, m) in which coordinates a component ends at the bounds


class Images(NamedTuple):
    """Components and their images: g(x) = s∘x + b for the component ``owner``."""

    owner: IntVector  # (K,), ascending
    signs: Points  # (K, m) s, each 1 or −1
    shifts: Points  # (K, m) b
    log_factors: Vector  # (K,) −log of the mass that components which end at bounds have in D

    def places(self, means: Points) -> Points:
        """(K, m): where the images of the means are."""
        found: Points = self.signs * means[self.owner] + self.shifts
        return found

    def covariances(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """(K, m, m) or (K,): ssᵀ∘V, which for round components is V."""
        if V.ndim == 1:
            return V[self.owner]
        return V[self.owner] * (self.signs[:, :, None] * self.signs[:, None, :])


@dataclass(frozen=True, eq=False)
class Group:
    """The reflections and shifts of m coordinates, each with bounds, a period or neither.

    Parameters
    ----------
    lower, upper : ndarray of shape (m,)
        The bounds, infinite where there are none. Of a coordinate with a period they are the ends
        of the period.
    periodic : ndarray of bool of shape (m,)
        Which coordinates have a period.
    """

    lower: Vector
    upper: Vector
    periodic: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Which coordinates have bounds or a period."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)

    @property
    def ends(self) -> list[tuple[int, float]]:
        """Each bound, with its coordinate before it."""
        return [
            (int(t), float(bound))
            for t in np.flatnonzero(self.moves & ~self.periodic)
            for bound in (self.lower[t], self.upper[t])
            if np.isfinite(bound)
        ]

    @property
    def widths(self) -> Vector:
        """(m,) upper − lower; infinite where a bound is missing."""
        return self.upper - self.lower

    def of(self, coordinates: IntVector) -> Group:
        """The group of some coordinates."""
        return Group(self.lower[coordinates], self.upper[coordinates], self.periodic[coordinates])

    def moving(self, which: NDArray[np.bool_]) -> Group:
        """The group that leaves all but some coordinates alone."""
        lower = np.where(which, self.lower, -np.inf)
        return Group(lower, np.where(which, self.upper, np.inf), self.periodic & which)

    def mapped(self, factors: Vector, origin: Vector) -> Group:
        """The same for y = factors∘(x − origin), with positive factors."""
        return Group(
            factors * (self.lower - origin), factors * (self.upper - origin), self.periodic
        )

    def inside(self, values: Points) -> NDArray[np.bool_]:
        """(n,): which rows respect the bounds."""
        beyond = (values < self.lower) | (values > self.upper)
        return np.asarray(~beyond[:, ~self.periodic].any(axis=1))

    def folded(self, Y: Points) -> Points:
        """(n, m): the image of each row that lies in D."""
        found = np.array(Y)
        for t in np.flatnonzero(self.moves):
            low = self.lower[t]
            high = self.upper[t]
            y = found[:, t]
            if self.periodic[t]:
                y = low + np.mod(y - low, high - low)
                y = np.where(y >= high, low, y)  # where a tiny negative number was rounded up
            elif np.isinf(high):
                y = low + np.abs(y - low)
            elif np.isinf(low):
                y = high - np.abs(high - y)
            else:
                width = high - low
                wrapped = np.mod(y - low, 2.0 * width)
                y = np.clip(low + width - np.abs(width - wrapped), low, high)
            found[:, t] = y
        return found

    def home(self, means: Points) -> Images:
        """The image of each component whose mean lies in D: all images have one density in D."""
        signs = np.ones(means.shape)
        low = self.lower
        high = self.upper
        for t in np.flatnonzero(self.moves & ~self.periodic):
            c = means[:, t]
            if np.isfinite(self.widths[t]):
                turned = np.mod(c - low[t], 2.0 * self.widths[t]) > self.widths[t]
            else:
                turned = (c < low[t]) | (c > high[t])
            signs[turned, t] = -1.0
        shifts = self.folded(means) - signs * means
        return Images(np.arange(len(means)), signs, shifts, np.zeros(len(means)))

    def images(
        self,
        means: Points,
        deviations: Points,
        reach: float = REACH,
        least: float = NEGLIGIBLE,
        onto: tuple[Vector, Vector] | None = None,
        cut: Cuts | None = None,
    ) -> Images:
        """The images that reach into D of components with these means and standard deviations.

        ``onto`` has the lower and the upper ends of another box that they are to reach into.

        ``least`` is the share of a component in D, by its coordinates as if they were independent,
        below which an image is left out; the components themselves stay.

        ``cut`` says in which coordinates a component ends at the bounds. It has no images there,
        and is raised by what it loses.
        """
        from scipy.special import log_ndtr  # slow to import, and no part of the command line

        k, m = means.shape
        cut = np.zeros((k, m), dtype=bool) if cut is None else cut
        first, last = (self.lower, self.upper) if onto is None else onto
        owner = np.arange(k)
        signs = np.ones((k, m))
        shifts = np.zeros((k, m))
        logs = np.zeros(k)
        for t in np.flatnonzero(self.moves & ~cut.all(axis=0)):
            c = means[owner, t]
            s = deviations[owner, t]
            far = np.where(cut[owner, t], -np.inf, reach * s)
            rows, sign, shift = self._of_coordinate(int(t), c, far, (first[t], last[t]))
            identity = (sign == 1.0) & (shift == 0.0)
            place = sign * c[rows] + shift
            away = np.maximum(np.maximum(first[t] - place, place - last[t]), 0.0)
            log_share = logs[rows] + np.where(away > 0.0, log_ndtr(-away / s[rows]), 0.0)
            kept = (log_share > np.log(least)) | identity
            rows = rows[kept]
            owner = owner[rows]
            signs = signs[rows]
            shifts = shifts[rows]
            signs[:, t] = sign[kept]
            shifts[:, t] = shift[kept]
            logs = np.where(identity[kept], logs[rows], log_share[kept])
        return Images(owner, signs, shifts, -self.log_masses(means, deviations, cut)[owner])

    def log_masses(self, means: Points, deviations: Points, cut: Cuts) -> Vector:
        """(k,) log of the mass in D of the coordinates in which components end at the bounds."""
        found = np.zeros(len(means))
        a, t = np.nonzero(cut & self.moves)
        if len(a):
            low = (self.lower[t] - means[a, t]) / deviations[a, t]
            high = (self.upper[t] - means[a, t]) / deviations[a, t]
            np.add.at(found, a, truncated.log_mass(low, high))
        return found

    def _of_coordinate(
        self, t: int, c: Vector, far: Vector, onto: tuple[float, float]
    ) -> tuple[IntVector, Vector, Vector]:
        """Rows of c with the sign and the shift of each image that is not too far from ``onto``.

        The identity comes first, wherever it leads.
        """
        low = self.lower[t]
        high = self.upper[t]
        every = np.arange(len(c))
        parts = [(every, np.ones(len(c)), np.zeros(len(c)))]
        if np.isinf(self.widths[t]):
            bound = low if np.isfinite(low) else high
            place = 2.0 * bound - c
            near = np.flatnonzero((place + far >= onto[0]) & (place - far <= onto[1]))
            parts.append((near, np.full(len(near), -1.0), np.full(len(near), 2.0 * bound)))
        elif self.periodic[t]:
            parts.append(_shifted(c, far, onto, high - low, skip_zero=True))
        else:
            step = 2.0 * (high - low)
            parts.append(_shifted(c, far, onto, step, skip_zero=True))
            rows, _, shift = _shifted(2.0 * low - c, far, onto, step, skip_zero=False)
            parts.append((rows, np.full(len(rows), -1.0), 2.0 * low + shift))
        rows, sign, shift = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(rows, kind="stable")
        return rows[order], sign[order], shift[order]


def _shifted(
    c: Vector, far: Vector, onto: tuple[float, float], step: float, *, skip_zero: bool
) -> tuple[IntVector, Vector, Vector]:
    """All shifts by multiples of ``step`` that bring c within ``far`` of the interval ``onto``."""
    first = np.ceil((onto[0] - far - c) / step)
    last = np.floor((onto[1] + far - c) / step)
    counts = np.maximum(last - first + 1, 0).astype(np.intp)
    rows = np.repeat(np.arange(len(c)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    multiple = first[rows] + within
    kept = (multiple != 0.0) | (not skip_zero)
    return rows[kept], np.ones(int(kept.sum())), (multiple * step)[kept]


def unbounded(m: int) -> Group:
    """The group of m coordinates without bounds or periods: the identity alone."""
    return Group(np.full(m, -np.inf), np.full(m, np.inf), np.zeros(m, dtype=bool))
