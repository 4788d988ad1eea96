"""Longitude and latitude as a picture: a map of plain degrees, with the area that each step has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.domains import Sphere
from kernelmean.mean import sphere
from kernelmean.mean.on_domain import DomainMean
from kernelmean.pictures.ranges import ALMOST_ALL
from kernelmean.pictures.sides import QUARTERS, Seen
from kernelmean.pictures.view import Side

GLOBE = 0.5  # of all longitudes: places that take up more show the whole globe
POLAR = 0.9  # of a right angle: places beyond show the pole, and so the whole globe
WIDE = 0.5  # of a right angle: components beyond stand for what no row has shown, far from all
FEW = 0.1  # of all mass: wider components of no more mass do not set the range
REACH = 3.0  # standard deviations about a place that are shown
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0)
LABELS = 5  # steps between labels along a side at most
TURN = np.linspace(0.0, 2.0 * np.pi, 97)


class Globe(NamedTuple):
    """The centres of a mean on one of its spheres; angles are in the unit of the columns."""

    places: Points  # (k, 2) longitudes and latitudes
    vectors: Points  # (k, 3) the same as unit vectors
    angles: Vector  # (k,) the standard deviation of each along one direction
    weights: Vector  # (k,)
    quarter: float  # a right angle

    @classmethod
    def of(cls, mean: DomainMean, i: int) -> Globe:
        """The i-th sphere of a mean."""
        domain = mean.domain
        kind = domain.kinds[domain.spheres[i][1]]
        assert isinstance(kind, Sphere)
        centers, variances = sphere.sphere_part(mean.base.expansion, domain, i)
        lengths = np.maximum(np.linalg.norm(centers, axis=1), 1e-12)
        radians = np.minimum(np.sqrt(variances / lengths), 0.5 * np.pi)
        unit = kind.right_angle / (0.5 * np.pi)
        vectors = centers / lengths[:, None]
        places = unit * _places(vectors)
        return cls(places, vectors, unit * radians, mean.weights, kind.right_angle)

    def sides(self, rows: Points | None, size: int) -> tuple[Seen, Seen]:
        """The sides of the part of the globe where the density is, or of all of it."""
        (west, east), (south, north) = self._window(rows)
        across = np.linspace(west, east, size)
        up = np.linspace(south, north, size)
        stretch = np.maximum(np.cos(0.5 * np.pi * up / self.quarter), 0.0)
        return (
            Seen(across, Side((west, east), self._ticks(west, east))),
            Seen(up, Side((south, north), self._ticks(south, north), stretch=stretch)),
        )

    def outlines(self, first: float) -> NDArray[np.float64]:
        """(k, points, 2): the circle of one standard deviation about each centre, on a map whose
        longitudes begin at ``first``; nothing for those that are spread over the whole globe.
        """
        pole = np.array([0.0, 0.0, 1.0])
        east = np.cross(pole, self.vectors)
        still = np.linalg.norm(east, axis=1) < 1e-9
        east[still] = [0.0, 1.0, 0.0]
        east /= np.linalg.norm(east, axis=1, keepdims=True)
        north = np.cross(self.vectors, east)
        radians = (self.angles * 0.5 * np.pi / self.quarter)[:, None, None]
        about = np.cos(TURN)[:, None] * east[:, None] + np.sin(TURN)[:, None] * north[:, None]
        circles = np.cos(radians) * self.vectors[:, None] + np.sin(radians) * about
        found = _places(circles) * self.quarter / (0.5 * np.pi)
        found[..., 0] = first + np.mod(found[..., 0] - first, 4.0 * self.quarter)
        found[self.angles > WIDE * self.quarter] = np.nan
        return with_gaps(found, 0, 4.0 * self.quarter)

    def _window(self, rows: Points | None) -> tuple[tuple[float, float], tuple[float, float]]:
        """The longitudes and the latitudes that are shown."""
        narrow = self.angles <= WIDE * self.quarter
        if self.weights[narrow].sum() < (1.0 - FEW) * self.weights.sum():
            narrow[:] = True
        weights = self.weights[narrow] / self.weights[narrow].sum()
        angles = self.angles[narrow]
        places = self.places[narrow]
        reach = REACH * angles
        if rows is not None:
            places = rows
            reach = np.full(len(rows), REACH * float(weights @ angles))
            weights = np.full(len(rows), 1.0 / len(rows))
        south, north = _ends(places[:, 1], reach, weights)
        wide = 2.0 * self.quarter
        whole = (-wide, wide), (-self.quarter, self.quarter)
        if max(-south, north) > POLAR * self.quarter:
            return whole
        cut = _widest_gap(places[:, 0], 2.0 * wide)
        turned = cut + np.mod(places[:, 0] - cut, 2.0 * wide)
        cosine = float(np.cos(0.5 * np.pi * max(-south, north) / self.quarter))
        west, east = _ends(turned, reach / cosine, weights)
        if east - west > GLOBE * 2.0 * wide:
            return whole
        turns = 2.0 * wide * np.floor((0.5 * (west + east) + wide) / (2.0 * wide))
        return (west - turns, east - turns), (south, north)

    def _ticks(self, low: float, high: float) -> tuple[tuple[float, str], ...]:
        """Labels at even angles, told as longitudes are beyond half a turn."""
        if self.quarter != 90.0:
            return _radians(low, high)
        step = next((s for s in STEPS if (high - low) / s <= LABELS), STEPS[-1])
        places = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
        return tuple((float(place), f"{_turned(place):.6g}°".replace("-", "−")) for place in places)


def with_gaps(paths: NDArray[np.float64], axis: int, period: float) -> NDArray[np.float64]:
    """Paths (k, points, 2) that are broken by NaN where they leap over more than half a period."""
    leaps = np.abs(np.diff(paths[..., axis], axis=1)) > 0.5 * period
    found = np.array(paths)
    found[:, 1:][leaps] = np.nan
    return found


def _places(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(…, 2): longitudes and latitudes of unit vectors (…, 3), in radians."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=-1)


def _ends(values: Vector, reach: Vector, weights: Vector) -> tuple[float, float]:
    """Far quantiles of values, of which each goes on a little further."""
    ends = []
    for sign, level in zip((-1.0, 1.0), ALMOST_ALL, strict=True):
        moved = values + sign * reach
        order = np.argsort(moved)
        below = np.cumsum(weights[order])
        ends.append(float(moved[order[min(int(np.searchsorted(below, level)), len(below) - 1)]]))
    return ends[0], ends[1]


def _widest_gap(longitudes: Vector, turn: float) -> float:
    """The middle of the widest range of longitudes without any place."""
    found = np.sort(np.mod(longitudes, turn))
    gaps = np.diff(np.append(found, found[0] + turn))
    widest = int(gaps.argmax())
    return float(found[widest] + 0.5 * gaps[widest])


def _turned(degrees: float) -> float:
    """A longitude from −180 to 180 degrees."""
    return degrees if -180.0 <= degrees <= 180.0 else (degrees + 180.0) % 360.0 - 180.0


def _radians(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Labels at quarters of a turn, where two of them are in view."""
    half = 0.5 * np.pi
    first = int(np.ceil(low / half - 1e-9))
    last = int(np.floor(high / half + 1e-9))
    if last <= first:
        return ()
    return tuple(
        (n * half, f"{'−' if n < 0 else ''}{QUARTERS[abs(n) % len(QUARTERS)]}")
        for n in range(first, last + 1)
    )
