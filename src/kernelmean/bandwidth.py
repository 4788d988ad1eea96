"""Rules for the scale. Each follows the data's scale and gives the σ of an isotropic Gaussian."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist

from kernelmean import _checks, engines
from kernelmean._types import ArrayLike, RandomState, Vector
from kernelmean.engines import Room

MEDIAN_POINTS = 1000

__all__ = ["RULES", "by_rule", "iqr", "median", "mode", "scott", "silverman"]


def scott(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """s·n^{−1/(d+4)}, s the mean over coordinates of the standard deviation (ddof = 1)."""
    return by_rule("scott", _room(X, sample_weight))


def silverman(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """s·(4/((d+2)n))^{1/(d+4)}; in one dimension .9·min(s, IQR/1.349)·n^{−1/5}."""
    return by_rule("silverman", _room(X, sample_weight))


def iqr(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean over coordinates of IQR/1.35, the paper's rule for flow cytometry: a scale, without a factor in n."""
    return by_rule("iqr", _room(X, sample_weight))


def mode(X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """s·(4/(d+4))^{1/(d+6)}·n^{−1/(d+6)}: for modes rather than densities (Chen, Genovese & Wasserman 2016, Eq. 18)."""
    return by_rule("mode", _room(X, sample_weight))


def median(X: ArrayLike, sample_weight: ArrayLike | None = None, *, random_state: RandomState = 0) -> float:
    """Median of the nonzero pairwise distances, over 1000 points drawn by weight where there are more."""
    return _positive("median", _median(_room(X, sample_weight), _checks.generator(random_state)))


def by_rule(rule: str, room: Room) -> float:
    """The bandwidth that a named rule gives for the points of a room."""
    return _positive(rule, RULES[_checks.choice(rule, "bandwidth rule", RULES)](room))


def _scott(room: Room) -> float:
    summary = room.summary
    return float(np.mean(summary.std) * summary.size ** (-1 / (summary.dimension + 4)))


def _silverman(room: Room) -> float:
    summary, d = room.summary, room.summary.dimension
    if d == 1:
        spread = min(float(summary.std[0]), float(_quartile_spread(room, 1.349)[0]))
        return float(0.9 * spread * summary.size**-0.2)
    return float(np.mean(summary.std) * (4 / ((d + 2) * summary.size)) ** (1 / (d + 4)))


def _iqr(room: Room) -> float:
    return float(np.mean(_quartile_spread(room, 1.35)))


def _mode(room: Room) -> float:
    summary, d = room.summary, room.summary.dimension
    return float(np.mean(summary.std) * (4 / ((d + 4) * summary.size)) ** (1 / (d + 6)))


def _quartile_spread(room: Room, divisor: float) -> Vector:
    """IQR/divisor per coordinate; the standard deviation where the IQR is 0."""
    quartiles = room.summary.quantile_range(0.25, 0.75)
    spread: Vector = np.where(quartiles > 0.0, quartiles / divisor, room.summary.std)
    return spread


def _median(room: Room, rng: np.random.Generator) -> float:
    size = room.summary.size
    if size <= MEDIAN_POINTS and size == int(size):
        positions: Vector = (np.arange(int(size), dtype=np.float64) + 0.5) / size  # every row, as often as it counts
    else:
        positions = rng.random(MEDIAN_POINTS)
    distances = pdist(room.rows(room.locate(positions)))
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 0.0


def _positive(rule: str, sigma: float) -> float:
    if not (np.isfinite(sigma) and sigma > 0):
        raise ValueError(
            f"bandwidth rule {rule!r} finds no spread in the data (all points equal, or one point only); "
            "give the bandwidth as a positive number."
        )
    return sigma


def _room(X: ArrayLike, sample_weight: ArrayLike | None) -> Room:
    checked = _checks.points(X)
    return engines.open("naive").load(checked, _checks.weights(sample_weight, len(checked)))


RULES: dict[str, Callable[[Room], float]] = {
    "scott": _scott,
    "silverman": _silverman,
    "iqr": _iqr,
    "mode": _mode,
    "median": lambda room: _median(room, np.random.default_rng(0)),
}
