"""Closed forms of a density's answers against numerical integrals of its own values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.integrate import cubature

import kernelmean as km
from benchmarks.measuring import Row

ROWS = 2000
PLACES = 40  # of each density where it is asked
BOXES = 20
REACH = 10.0  # standard deviations of the widest component, beyond which nothing is integrated
CORE = 6.0  # standard deviations of the data, where integration begins to divide
GOAL = "≤ 1e-10"
Integrand = Callable[[np.ndarray], np.ndarray]


def sample(d: int) -> np.ndarray:
    """Two tilted normal clusters."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(ROWS, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)))
    X[: ROWS // 3] += 2.0 * rng.normal(size=d)
    return X


def densities(d: int) -> dict[str, km.SparseKDE]:
    """The default, and copies with round, turned and full atoms."""
    made = {
        "the likeliest": km.SparseKDE(random_state=0),
        "round atoms": km.SparseKDE(bandwidth=0.3, k=60, spread="scalar", random_state=0),
        "turned round atoms": km.SparseKDE(
            bandwidth=0.3, k=60, spread="scalar", scale="cov", random_state=0
        ),
        "full atoms": km.SparseKDE(bandwidth=0.3, k=60, spread="full", random_state=0),
    }
    return {name: density.fit(sample(d)) for name, density in made.items()}


def values(density: km.SparseKDE) -> Integrand:
    """f itself."""
    return lambda Z: np.exp(density.score_samples(Z))


def integral(f: Integrand, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """∫ f over a box by SciPy's adaptive cubature."""
    inside = [
        corner * np.ones(len(lower))
        for corner in (-CORE, 0.0, CORE)
        if ((lower < corner) & (corner < upper)).all()
    ]
    found = cubature(f, lower, upper, rtol=1e-12, atol=1e-13, points=inside)
    return np.asarray(found.estimate)


def reach(density: km.SparseKDE) -> np.ndarray:
    """Half the width of a box about zero that holds the density."""
    mixture = density.to_gaussian_mixture()
    widths = np.sqrt(np.diagonal(mixture.covariances_, axis1=1, axis2=2))
    return np.max(np.abs(mixture.means_) + REACH * widths, axis=0)


def marginal(density: km.SparseKDE) -> float:
    """Largest relative error of f(x) = ∫ f(x, y) dy."""
    x = sample(2)[:PLACES, :1]
    exact = _first_column(density, x)
    return _largest(values(density.marginal(0))(x) / exact - 1.0)


def conditional(density: km.SparseKDE) -> float:
    """Largest relative error of f(y | x) = f(x, y)/∫ f(x, y) dy."""
    X = sample(2)[:PLACES]
    exact = values(density)(X) / _first_column(density, X[:, :1])
    found = [values(density.conditional({0: x}))([[y]])[0] for x, y in X]
    return _largest(found / exact - 1.0)


def _first_column(density: km.SparseKDE, x: np.ndarray) -> np.ndarray:
    """∫ f(x, y) dy at (m, 1) places."""

    def along(y: np.ndarray) -> np.ndarray:
        pairs = np.stack(np.broadcast_arrays(x[:, 0], y), axis=-1)
        return values(density)(pairs.reshape(-1, 2)).reshape(pairs.shape[:2])

    end = reach(density)[1:]
    return integral(along, -end, end)


def cdf(density: km.SparseKDE) -> float:
    """Largest error of P(x ≤ q), by the density of one column."""
    column = density.marginal(0)
    low = -reach(column)
    places = sample(2)[:PLACES, :1]
    exact = np.array([integral(values(column), low, x) for x in places])
    return _largest(density.cdf(places[:, 0], column=0) - exact)


def quantile(density: km.SparseKDE) -> float:
    """Largest error of P(x ≤ q) at the quantiles q of many levels."""
    p = np.linspace(1e-6, 1.0 - 1e-6, 10_001)
    return _largest(density.cdf(density.quantile(p, column=0), column=0) - p)


def moments(density: km.SparseKDE) -> tuple[float, float]:
    """Largest errors of the expectation and of the covariance, the latter relative to the sizes."""

    def powers(Z: np.ndarray) -> np.ndarray:
        products = Z[:, :, None] * Z[:, None, :]
        terms = np.concatenate([Z, products.reshape(len(Z), -1)], axis=1)
        return terms * values(density)(Z)[:, None]

    end = reach(density)
    found = integral(powers, -end, end)
    center, second = found[:2], found[2:].reshape(2, 2)
    covariance = density.covariance()
    sizes = np.sqrt(np.diag(covariance))
    missed = (second - np.outer(center, center) - covariance) / np.outer(sizes, sizes)
    return _largest((center - density.expectation()) / sizes), _largest(missed)


def entropy(density: km.SparseKDE) -> float:
    """Error of −∫ f log f in one dimension."""

    def term(x: np.ndarray) -> np.ndarray:
        logs = density.score_samples(x)
        return -np.exp(logs) * logs

    end = reach(density)
    return abs(float(density.entropy() - integral(term, -end, end)))


def _largest(errors: np.ndarray) -> float:
    return float(np.max(np.abs(errors)))


def boxes(d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Bounds of boxes between pairs of rows, so that many hold much of the density."""
    X = sample(d)
    for first, second in zip(X[:BOXES], X[BOXES : 2 * BOXES], strict=True):
        yield np.minimum(first, second), np.maximum(first, second)


def box_errors(density: km.SparseKDE, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Error and standard error of the probability of each box."""
    errors = []
    for seed, (lower, upper) in enumerate(boxes(d)):
        found = density.probability(lower, upper, random_state=seed)
        exact = float(integral(values(density), lower, upper))
        errors.append((found - exact, found.standard_error))
    missed, standard = np.array(errors).T
    return missed, standard


def against_quadrature() -> Iterator[Row]:
    """The largest error of each closed form, over densities and places."""
    planes, lines = densities(2), densities(1)
    both = [moments(density) for density in planes.values()]
    found = {
        "marginal": (max(map(marginal, planes.values())), "relative, of the density"),
        "conditional": (max(map(conditional, planes.values())), "relative, of the density"),
        "cdf": (max(map(cdf, planes.values())), "of the probability"),
        "quantile": (
            max(map(quantile, planes.values())),
            "of the probability, at 10 001 levels, by cdf",
        ),
        "expectation": (max(first for first, _ in both), "in standard deviations"),
        "covariance": (max(second for _, second in both), "in products of standard deviations"),
        "entropy, d = 1": (max(map(entropy, lines.values())), "nats"),
    }
    for name, (error, unit) in found.items():
        yield Row(name, f"{error:.1e}", GOAL, unit)
    for d in (2, 3):
        missed, _ = box_errors(densities(d)["round atoms"], d)
        detail = f"of the probability; round atoms, {BOXES} boxes"
        yield Row(f"aligned box, d = {d}", f"{_largest(missed):.1e}", GOAL, detail)


def lattice() -> Iterator[Row]:
    """Errors of boxes without a closed form, in units of the standard errors that are told."""
    for d in (2, 3):
        for name, density in densities(d).items():
            missed, standard = box_errors(density, d)
            some = standard > 0.0
            if some.any():
                ratios = missed[some] / standard[some]
                detail = (
                    f"root mean square over {some.sum()} boxes, largest {_largest(ratios):.1f}; "
                    f"standard errors up to {standard.max():.1e}"
                )
                figure = f"{np.sqrt(np.mean(ratios**2)):.2f}"
                yield Row(f"{name}, d = {d}", figure, "about 1", detail)
