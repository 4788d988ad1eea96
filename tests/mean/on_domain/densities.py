"""Small densities on domains of every kind, and the same by brute force: the oracle."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
from scipy.stats import multivariate_normal

import kernelmean as km
from kernelmean.domains import Bounds, Categorical, Domain, Periodic, Sphere
from kernelmean.mean.on_domain import DomainMean

KINDS = ("points", "scalar", "full")
LEVELS = ("red", "green", "blue")
FAR = 6  # images of each coordinate on either side, for the brute-force sum

# No number, the kind of each column of numbers, and the place of a component before it is folded.
FLAT = {
    "half-line": (Bounds(0.0, np.inf),),
    "below": (Bounds(-np.inf, 1.0),),
    "interval": (Bounds(-1.0, 2.0),),
    "narrow": (Bounds(0.0, 0.7),),
    "period": (Periodic(3.0, start=-1.0),),
    "three": (Bounds(0.0, np.inf), Periodic(4.0), None),
    "box": (Bounds(0.0, np.inf), Bounds(-1.0, 2.0), None),
    "half-line, ended": (Bounds(0.0, np.inf),),
    "below, ended": (Bounds(-np.inf, 1.0),),
    "interval, ended": (Bounds(-1.0, 2.0),),
    "narrow, ended": (Bounds(0.0, 0.7),),
    "box, ended": (Bounds(0.0, np.inf), Bounds(-1.0, 2.0), None),
}
BEYOND = 3.0  # as far as a component that ends at a bound may lie from it, on the other side


def ranges(kind) -> tuple[float, float]:
    """Where a column has its mass, for quadrature."""
    if isinstance(kind, Bounds):
        return max(kind.lower, -15.0), min(kind.upper, 15.0)
    if isinstance(kind, Periodic):
        return kind.start, kind.start + kind.period
    return -15.0, 15.0


def _centers(kinds, k: int, rng: np.random.Generator) -> np.ndarray:
    found = []
    for kind in kinds:
        low, high = (-2.0, 2.0) if kind is None else ranges(kind)
        found.append(rng.uniform(max(low, -3.0), min(high, 3.0), k))
    return np.column_stack(found)


def flat(name: str, spread: str = "full", seed: int = 0, k: int = 5, signed: bool = False):
    """A density of numbers alone; "ended" ones have components that end at the bounds."""
    kinds = FLAT[name]
    d = len(kinds)
    rng = np.random.default_rng([seed, d, k])
    weights = rng.dirichlet(np.ones(k))
    weights[2] = -0.1 if signed else 0.0
    weights /= weights.sum()
    spreads = None
    if spread == "scalar":
        spreads = rng.uniform(0.0, 0.4, k)
    if spread == "full":
        roots = rng.normal(size=(k, d, d)) * 0.5
        spreads = roots @ np.swapaxes(roots, 1, 2)
        spreads = 0.5 * (spreads + np.swapaxes(spreads, 1, 2))
    scale = np.diag(rng.uniform(0.8, 1.6, d))
    centers = _centers(kinds, k, rng)
    cut = None
    if "ended" in name:
        cut = _ended(kinds, k, rng)
        centers += np.where(cut, rng.uniform(-BEYOND, BEYOND, (k, d)), 0.0)
        spreads = _without_leaning(spreads, cut)
    inner = km.KernelMean(centers, weights, km.Gaussian(0.5), "l2", scale, k, "naive", spreads)
    cuts = tuple(kind.start + 0.3 for kind in kinds if isinstance(kind, Periodic))
    return DomainMean(inner, Domain(kinds, cuts=cuts), cut=cut)


def _ended(kinds, k: int, rng: np.random.Generator) -> np.ndarray:
    """(k, d) a component that ends wherever it can, one that is folded, and others by chance."""
    cut = rng.random((k, len(kinds))) < 0.5
    cut[0] = True
    cut[1] = False
    cut[:, [kind is None for kind in kinds]] = False
    return cut


def _without_leaning(spreads, cut: np.ndarray):
    """What ends at a bound is independent of all other columns."""
    if spreads is None or spreads.ndim == 1:
        return spreads
    apart = ~(cut[:, :, None] | cut[:, None, :]) | np.eye(cut.shape[1], dtype=bool)
    return spreads * apart


def mixed(spread: str = "full", seed: int = 0, k: int = 6) -> DomainMean:
    """Columns: a category, a bounded number, longitude, any number, latitude, a period, a truth."""
    rng = np.random.default_rng([seed, k])
    kinds = (
        Categorical(),
        Bounds(0.0, np.inf),
        Sphere(),
        None,
        Sphere(),
        Periodic(24.0, start=0.0),
        Categorical(),
    )
    domain = Domain(kinds, ((2, 4),), (LEVELS, (0, 1)), (3.5,))
    lines = np.column_stack(
        [rng.uniform(0.0, 2.0, k), rng.normal(size=k), rng.uniform(0.0, 24.0, k)]
    )
    directions = rng.normal(size=(k, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    centers = np.hstack([lines, directions * rng.uniform(0.3, 1.0, (k, 1))])
    weights = rng.dirichlet(np.ones(k))
    spreads = None
    if spread == "scalar":
        spreads = rng.uniform(0.0, 0.3, k)
    if spread == "full":
        roots = rng.normal(size=(k, 3, 3)) * 0.5
        spreads = np.zeros((k, 6, 6))
        spreads[:, :3, :3] = roots @ np.swapaxes(roots, 1, 2)
        spreads[:, 3:, 3:] = rng.uniform(0.0, 0.4, (k, 1, 1)) * np.eye(3)
        spreads = 0.5 * (spreads + np.swapaxes(spreads, 1, 2))
    scale = np.diag([1.0, 1.3, 0.3, 1.1, 1.1, 1.1])
    inner = km.KernelMean(centers, weights, km.Gaussian(0.5), "l2", scale, k, "naive", spreads)
    shares = np.hstack([rng.dirichlet(np.ones(3), k), rng.dirichlet(np.ones(2), k)])
    names = ("colour", "age", "lon", "x", "lat", "hour", "kind")
    return DomainMean(inner, domain, np.log(shares), names)


def components(mean: DomainMean):
    """Weight, mean and covariance of each component in the coordinates engines see."""
    base = mean.base.expansion
    d = base.dimension
    T = np.eye(d) if base.scale is None else np.linalg.inv(base.scale)
    for a in range(base.k):
        S = np.zeros((d, d))
        if base.spreads is not None:
            S = base.spreads[a] * np.eye(d) if base.spreads.ndim == 1 else base.spreads[a]
        yield base.weights[a], base.centers[a], T @ (S + base.kernel.length**2 * np.eye(d)) @ T.T


def images_of_points(kind, x: np.ndarray) -> list[np.ndarray]:
    """All images of values of one column, some periods or widths to either side."""
    if kind is None:
        return [x]
    steps = range(-FAR * 3, FAR * 3 + 1)
    if isinstance(kind, Periodic):
        return [x + kind.period * j for j in steps]
    low, high = kind.lower, kind.upper
    if np.isinf(low) or np.isinf(high):
        bound = high if np.isinf(low) else low
        return [x, 2.0 * bound - x]
    shifts = [2.0 * (high - low) * j for j in steps]
    return [s + y for s in shifts for y in (x, 2.0 * low - x)]


def brute(mean: DomainMean, rows: np.ndarray) -> np.ndarray:
    """f at coded rows inside: a sum over all components and all images of the rows."""
    domain = mean.domain
    m = len(domain.lines)
    total = np.zeros(len(rows))
    for a, (weight, c, V) in enumerate(components(mean)):
        value = np.full(len(rows), weight)
        if m:
            normal = multivariate_normal(c[:m], V[:m, :m])
            cut = np.zeros(m, dtype=bool) if mean.cut is None else mean.cut[a]
            each = [
                [rows[:, t]] if cut[i] else images_of_points(domain.kinds[t], rows[:, t])
                for i, t in enumerate(domain.lines)
            ]
            value = value * sum(
                normal.pdf(np.column_stack(image)) for image in itertools.product(*each)
            )
            for i in np.flatnonzero(cut):
                value = value / mass_within(domain.kinds[domain.lines[i]], c[i], V[i, i] ** 0.5)
        for i, (lon, lat) in enumerate(domain.spheres):
            value = value * von_mises_fisher(
                c[m + 3 * i :][:3], V[m + 3 * i, m + 3 * i], rows[:, lon], rows[:, lat]
            )
        for i, t in enumerate(domain.categories):
            value = value * np.exp(mean.shares_of(i)[a, rows[:, t].astype(int)])
        total += value
    return total


def mass_within(kind: Bounds, c: float, s: float) -> float:
    """The mass of N(c, s²) between the ends of a column, in high precision."""
    with mpmath.workdps(60):
        return float(mpmath.ncdf((kind.upper - c) / s) - mpmath.ncdf((kind.lower - c) / s))


def von_mises_fisher(c, v, longitude, latitude):
    """κ e^{κ(w − 1)} / (2π(1 − e^{−2κ})), by the definition; degrees."""
    lon, lat = np.radians(longitude), np.radians(latitude)
    u = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    kappa = np.linalg.norm(c) / v
    w = u @ (c / np.linalg.norm(c))
    return kappa * np.exp(kappa * (w - 1.0)) / (2.0 * np.pi * (1.0 - np.exp(-2.0 * kappa)))


def rows_of(mean: DomainMean, n: int = 12, seed: int = 1) -> np.ndarray:
    """Coded rows spread over the domain."""
    rng = np.random.default_rng(seed)
    found = np.empty((n, mean.dimension))
    for t, kind in enumerate(mean.domain.kinds):
        low, high = (-2.5, 2.5) if kind is None or isinstance(kind, Categorical) else (0.0, 0.0)
        if isinstance(kind, Bounds | Periodic):
            low, high = ranges(kind)
            low, high = max(low, -4.0), min(high, 30.0 if isinstance(kind, Periodic) else 4.0)
        found[:, t] = rng.uniform(low, high, n)
    for lon, lat in mean.domain.spheres:
        found[:, lon] = rng.uniform(-180.0, 180.0, n)
        found[:, lat] = rng.uniform(-90.0, 90.0, n)
    for i, t in enumerate(mean.domain.categories):
        found[:, t] = rng.integers(0, mean.domain.sizes[i], n)
    return found


def nodes(low: float, high: float, panels: int = 60, points: int = 12):
    """Places and weights of Gauss and Legendre."""
    ends = np.linspace(low, high, panels + 1)
    t, w = np.polynomial.legendre.leggauss(points)
    half = 0.5 * np.diff(ends)[:, None]
    return ((0.5 * (ends[1:] + ends[:-1]))[:, None] + half * t).ravel(), (half * w).ravel()
