"""Densities on a domain against sums that are written out, and against statsmodels."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import kernelmean as km
from benchmarks.measuring import Row

ROWS = 300
PLACES = 500
STEPS = np.arange(-60, 61)  # of a period, or of twice the distance of two bounds
NODES, CELLS = 20, 60  # of Gauss and Legendre, and cells
FAR = np.geomspace(1.0, 1e8, 60)  # of what follows in a half-line: some components are very wide
LAST = 60.0  # where these begin
Values = Callable[[np.ndarray], np.ndarray]


class Column(NamedTuple):
    """What one column can hold, and rows of it."""

    domain: Any
    rows: np.ndarray
    ends: tuple[float, float]
    images: Callable[[np.ndarray], np.ndarray] = lambda x: x[None]  # of places, along axis 0


def columns(n: int = ROWS) -> dict[str, Column]:
    """One of each kind, with many rows at bounds and about the beginning of a period."""
    rng = np.random.default_rng(0)
    return {
        "half-line": Column(
            (0.0, None), rng.exponential(size=n), (0.0, np.inf), lambda x: np.stack([x, -x])
        ),
        "interval": Column(
            (-1.0, 2.0), 3.0 * rng.beta(1, 2, n) - 1.0, (-1.0, 2.0), lambda x: _folds(x, -1.0, 2.0)
        ),
        "period": Column(
            km.Periodic(24.0),
            rng.normal(0.0, 3.0, n) % 24.0,
            (0.0, 24.0),
            lambda x: x + 24.0 * STEPS[:, None],
        ),
    }


def _folds(x: np.ndarray, low: float, high: float) -> np.ndarray:
    shifts = 2.0 * (high - low) * STEPS[:, None]
    return np.concatenate([x + shifts, 2.0 * low - x + shifts])


CASES = {
    "half-line": (("half-line",), 0.2),
    "interval": (("interval",), 0.1),
    "interval of half a bandwidth": (("interval",), 6.0),
    "period": (("period",), 0.7),
    "period of half a bandwidth": (("period",), 48.0),
    "half-line × period": (("half-line", "period"), 0.5),
    "interval × period": (("interval", "period"), 1.5),
}


def written_out(parts: list[Column], h: float) -> Values:
    """The mean over rows of products of Gaussians, each summed over all images of a place."""

    def values(Q: np.ndarray) -> np.ndarray:
        kernels = np.ones((len(Q), len(parts[0].rows)))
        for t, part in enumerate(parts):
            s = (part.images(Q[:, t])[:, :, None] - part.rows) / h
            kernels *= np.exp(-0.5 * s**2).sum(axis=0) / (np.sqrt(2.0 * np.pi) * h)
        return kernels.mean(axis=1)

    return values


def nodes(ends: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights of a composite rule by Gauss and Legendre."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(ends[0], min(ends[1], LAST), CELLS + 1)
    if np.isinf(ends[1]):
        edges = np.concatenate([edges, LAST * FAR[1:]])
    half = 0.5 * (edges[1:] - edges[:-1])
    middles = 0.5 * (edges[1:] + edges[:-1])
    return (middles[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def integral(f: Values, ends: list[tuple[float, float]]) -> float:
    """∫ f over a box of one or two columns."""
    rules = [nodes(end) for end in ends]
    places = np.stack(np.meshgrid(*(x for x, _ in rules), indexing="ij"), axis=-1)
    weights = np.prod(np.meshgrid(*(w for _, w in rules), indexing="ij"), axis=0)
    return float(weights.ravel() @ f(places.reshape(-1, len(ends))))


def fitted(parts: list[Column], **settings: object) -> Values:
    """A density of ours of these columns."""
    domain = {t: part.domain for t, part in enumerate(parts)}
    rows = np.column_stack([part.rows for part in parts])
    density = km.SparseKDE(domain=domain, random_state=0, **settings).fit(rows)
    return lambda Q: np.exp(density.score_samples(Q))


def sums(names: tuple[str, ...] = tuple(CASES)) -> Iterator[Row]:
    """The largest relative error of the sum over all rows, and of integrals."""
    kinds = columns()
    rng = np.random.default_rng(1)
    for name in names:
        chosen, h = CASES[name]
        parts = [kinds[kind] for kind in chosen]
        exact = fitted(parts, bandwidth=h, scale=None, sparse=False)
        Q = np.column_stack([part.rows[rng.integers(ROWS, size=PLACES)] for part in parts])
        Q[0] = [part.ends[0] for part in parts]
        missed = np.abs(exact(Q) / written_out(parts, h)(Q) - 1.0).max()
        detail = f"relative, at {PLACES} places, of the sum over {ROWS} rows; bandwidth {h:g}"
        yield Row(f"{name}: values", f"{missed:.1e}", "≤ 1e-10", detail)
        ends = [part.ends for part in parts]
        found = {
            "all rows": exact,
            "default": fitted(parts),
            "copy": fitted(parts, target="kde"),
        }
        off = {who: abs(integral(f, ends) - 1.0) for who, f in found.items()}
        detail = ", ".join(f"{who} {error:.0e}" for who, error in off.items())
        yield Row(f"{name}: integral", f"{max(off.values()):.1e}", "≤ 1e-10", f"off by: {detail}")


def sphere() -> Iterator[Row]:
    """The same on the globe, by the formula of von Mises and Fisher."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=(ROWS, 3)) + np.array([0.0, 0.0, 2.0])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    rows = places(u)
    for h in (0.05, 0.5):
        exact = km.SparseKDE(
            domain={(0, 1): km.Sphere()}, bandwidth=h, scale=None, sparse=False
        ).fit(rows)
        kappa = h**-2.0
        kernels = np.exp(kappa * (u @ u.T - 1.0)).mean(axis=1)
        expected = kernels * kappa / (-2.0 * np.pi * np.expm1(-2.0 * kappa))
        found = np.exp(exact.score_samples(rows))
        missed = np.abs(found / expected - 1.0).max()
        yield Row(
            f"sphere, bandwidth {h}: values", f"{missed:.1e}", "≤ 1e-10", "relative, at the rows"
        )
        off = abs(_over_the_globe(exact) - 1.0)
        yield Row(f"sphere, bandwidth {h}: integral", f"{off:.1e}", "≤ 1e-10", "off by")


def places(u: np.ndarray) -> np.ndarray:
    """Longitude and latitude in degrees of unit vectors."""
    level = np.hypot(u[:, 0], u[:, 1])
    return np.degrees(np.column_stack([np.arctan2(u[:, 1], u[:, 0]), np.arctan2(u[:, 2], level)]))


def _over_the_globe(density: km.SparseKDE) -> float:
    """∫ f over the sphere: Gauss and Legendre in the sine of the latitude, a mean of longitudes."""
    sines, weights = np.polynomial.legendre.leggauss(200)
    longitudes = np.arange(-180.0, 180.0, 1.0)
    grid = np.stack(np.meshgrid(longitudes, np.degrees(np.arcsin(sines))), axis=-1)
    values = np.exp(density.score_samples(grid.reshape(-1, 2))).reshape(len(sines), -1)
    return float(2.0 * np.pi * (weights @ values.mean(axis=1)))


def mixed(n: int) -> np.ndarray:
    """Two numbers and two columns of codes, all of which go together."""
    rng = np.random.default_rng(2)
    kind, size = rng.integers(3, size=n), rng.integers(4, size=n)
    size = np.where((rng.random(n) < 0.7) & (kind == 1), 0, size)
    return np.column_stack([rng.normal(2.0 * kind), rng.gamma(1.0 + size), kind, size])


def against_statsmodels(n: int = ROWS, rules: tuple[str, ...] = ("normal_reference", "cv_ml")):
    """The largest relative difference to its mixed densities, at the same bandwidths."""
    if importlib.util.find_spec("statsmodels") is None:
        yield Row("KDEMultivariate", None, "–", "statsmodels is not installed")
        return
    from statsmodels.nonparametric.kernel_density import KDEMultivariate

    rows, asked = mixed(n), mixed(n + 100)[n:]
    for rule in rules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = KDEMultivariate(rows, "ccuu", bw=rule)
        own = as_ours(peer.bw, rows)
        missed = np.abs(np.exp(own.score_samples(asked)) / peer.pdf(asked) - 1.0).max()
        shown = ", ".join(f"{width:.2g}" for width in peer.bw)
        detail = f"relative, at {len(asked)} new rows, {n} fitted; bandwidths {shown}"
        yield Row(f"two numbers, two categories, {rule}", f"{missed:.1e}", "≤ 1e-6", detail)


def as_ours(bandwidths: np.ndarray, rows: np.ndarray) -> km.SparseKDE:
    """The density that statsmodels has with these bandwidths of "ccuu"."""
    domain = {t: km.Categorical(smoothing=float(bandwidths[t])) for t in (2, 3)}
    return km.SparseKDE(
        domain=domain, bandwidth=1.0, scale=np.diag(1.0 / bandwidths[:2]), sparse=False
    ).fit(rows)
