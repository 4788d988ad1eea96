"""Inner products, distances and certificates in L2 of a domain, against quadrature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.domains import Bounds, Domain, Periodic
from kernelmean.mean.domain_space import copies
from tests.mean.on_domain.densities import FLAT, KINDS, brute, flat, mixed, nodes, ranges

LINES = [name for name in FLAT if len(FLAT[name]) == 1]


def pair(name, spread, other_spread=None, signed=False):
    """Two means of one scale on one domain."""
    one = flat(name, spread, seed=0)
    other = flat(name, other_spread or spread, seed=1, k=4, signed=signed)
    return one, replace(other, base=replace(other.base, scale=one.base.scale))


def integral(name, function, panels=(150, 30)):
    kinds = FLAT[name]
    axes = [nodes(*ranges(kind), panels[min(len(kinds) - 1, 1)], 8) for kind in kinds]
    grid = np.stack(np.meshgrid(*(x for x, _ in axes), indexing="ij"), axis=-1)
    w = axes[0][1]
    for _, more in axes[1:]:
        w = np.multiply.outer(w, more)
    return float(w.ravel() @ function(grid.reshape(-1, len(kinds))))


@pytest.mark.parametrize("other_spread", KINDS)
@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", LINES)
def test_products_and_distances_are_integrals_over_the_domain(name, spread, other_spread):
    one, other = pair(name, spread, other_spread, signed=True)
    expected = integral(name, lambda x: brute(one, x) * brute(other, x))
    np.testing.assert_allclose(one.inner(other), expected, rtol=1e-10)
    np.testing.assert_allclose(other.inner(one), expected, rtol=1e-10)
    squared = integral(name, lambda x: (brute(one, x) - brute(other, x)) ** 2)
    np.testing.assert_allclose(one.distance(other), np.sqrt(squared), rtol=1e-9)


@pytest.mark.parametrize("spread", KINDS)
def test_in_several_columns_too(spread):
    one, other = pair("box", spread)
    pairs = [(one.marginal([0, 1]), other.marginal([0, 1]))]
    for a, b in pairs:
        kinds = FLAT["box"][:2]
        axes = [nodes(*ranges(kind), 40, 10) for kind in kinds]
        grid = np.stack(np.meshgrid(axes[0][0], axes[1][0], indexing="ij"), -1).reshape(-1, 2)
        w = np.outer(axes[0][1], axes[1][1]).ravel()
        fa, fb = a(grid), b(grid)
        np.testing.assert_allclose(a.inner(b), w @ (fa * fb), rtol=1e-10)
        np.testing.assert_allclose(a.distance(b), np.sqrt(w @ (fa - fb) ** 2), rtol=1e-9)


def test_other_bandwidths_are_compared():
    one, other = pair("interval", "points")
    other = replace(other, base=replace(other.base, kernel=km.Gaussian(0.2)))
    squared = integral("interval", lambda x: (brute(one, x) - brute(other, x)) ** 2)
    np.testing.assert_allclose(one.distance(other), np.sqrt(squared), rtol=1e-9)


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", FLAT)
def test_equal_means_have_no_distance(name, spread):
    assert flat(name, spread).distance(flat(name, spread)) == 0.0


def test_a_period_may_be_cut_and_told_from_elsewhere():
    one, other = pair("period", "full")
    domain = Domain((Periodic(3.0, start=0.5),), cuts=(1.0,))
    turned = replace(other, domain=domain)
    np.testing.assert_allclose(one.distance(turned), one.distance(other), rtol=1e-10)


def test_a_matrix_of_distances():
    means = [flat("interval", seed=s) for s in range(3)]
    scale = means[0].base.scale
    means = [replace(m, base=replace(m.base, scale=scale)) for m in means]
    D = km.distance_matrix(means)
    np.testing.assert_array_equal(D, D.T)
    assert D[0, 2] == pytest.approx(means[0].distance(means[2]), rel=1e-14)
    np.testing.assert_allclose(km.distance_matrix(means[:1], means[1:]), D[:1, 1:], rtol=1e-14)
    with pytest.raises(TypeError, match="a DomainMean is needed beside others, got KernelMean"):
        km.distance_matrix([means[0], means[1].base])


def test_what_cannot_be_compared_is_told():
    one = flat("interval")
    with pytest.raises(ValueError, match="distance needs two means on the same domain"):
        one.distance(replace(one, domain=Domain((Bounds(-1.0, 3.0),))))
    with pytest.raises(ValueError, match="inner needs columns of numbers"):
        mixed().inner(mixed())
    with pytest.raises(TypeError, match="a DomainMean is needed, got KernelMean"):
        one.distance(one.base)
    inner = replace(one.base, scale=2.0 * one.base.scale)
    with pytest.raises(ValueError, match="different scales"):
        one.distance(replace(one, base=inner))


# Certificates


def fitted(X, kind, bandwidth, k=6, **options):
    """A sparse copy of the kernel density of embedded rows, and the rows as a density."""
    domain = Domain((kind,), cuts=(kind.start,) if isinstance(kind, Periodic) else ())
    settings = {"kernel": km.Gaussian(bandwidth), "k": k, "space": "l2", "constraint": "simplex"}
    inner = km.sparse_kernel_mean(X, random_state=0, **settings, **options)
    w = np.full(len(X), 1.0 / len(X))
    rows = km.KernelMean(X, w, km.Gaussian(bandwidth), "l2", None, len(X), "naive")
    return km.DomainMean(inner, domain), km.DomainMean(rows, domain)


CASES = {
    "half-line": (Bounds(0.0, np.inf), 0.3, 2.0),
    "far from its bound": (Bounds(-100.0, np.inf), 0.3, 1.0),
    "interval": (Bounds(0.0, 1.0), 0.2, 4.0),
    "narrow": (Bounds(0.0, 1.0), 2.0, 9.0),
    "period": (Periodic(1.0), 0.2, 4.0),
}


def error_by_quadrature(mean, full):
    low, high = ranges(mean.domain.kinds[0])
    x, w = nodes(low, high, 300, 10)
    r = full(x[:, None]) - mean(x[:, None])
    f = full(x[:, None])
    return np.sqrt(w @ r**2), np.sqrt(w @ f**2)


@pytest.mark.parametrize("name", CASES)
def test_the_exact_certificate_is_the_error_on_the_domain(name):
    kind, bandwidth, _ = CASES[name]
    X = np.random.default_rng(0).beta(0.7, 2.0, size=(200, 1))
    mean, full = fitted(X, kind, bandwidth, k=3)
    found = mean.certificate(X)
    error, norm = error_by_quadrature(mean, full)
    if name == "narrow":  # so smooth a density leaves nothing to measure but rounding
        assert mean.certificate(X, method="exact").below_floor
        assert found.method == "spectral"
        assert found.error >= error
        return
    assert found.method == "exact"
    np.testing.assert_allclose(found.error, error, rtol=1e-6)
    np.testing.assert_allclose(found.relative_error, error / norm, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_one(name):
    kind, bandwidth, least = CASES[name]
    X = np.random.default_rng(0).beta(0.7, 2.0, size=(200, 1))
    mean, full = fitted(X, kind, bandwidth, k=3)
    factor = copies(mean, full)
    assert factor >= least
    if name == "far from its bound":
        assert factor == 1.0
    error, norm = error_by_quadrature(mean, full)
    found = mean.certificate(X, method="rows", size=200, random_state=0)
    assert found.method == "rows"
    assert found.error >= (1.0 - 1e-9) * error
    assert found.relative_error >= (1.0 - 1e-9) * error / norm


def test_in_an_interval_narrower_than_the_bandwidth_errors_add_up():
    """A mean whose weights do not sum to one is off by a constant, which every image repeats."""
    X = np.random.default_rng(0).uniform(size=(200, 1))
    mean, full = fitted(X, Bounds(0.0, 1.0), 2.0, k=3)
    less = replace(mean.base, weights=0.9 * mean.base.weights)
    mean = replace(mean, base=less)
    error, _ = error_by_quadrature(mean, full)
    plain = less.certificate(X).error
    assert error > 2.0 * plain
    np.testing.assert_allclose(mean.certificate(X).error, error, rtol=1e-9)
    bound = np.sqrt(copies(mean, full)) * plain
    assert error <= bound
    assert mean.certificate(X, method="rows").error >= error


def test_weights_of_rows_count():
    X = np.random.default_rng(0).exponential(size=(60, 1))
    w = np.arange(60.0) % 4
    mean, _ = fitted(X, Bounds(0.0, np.inf), 0.3)
    repeated = np.repeat(X, w.astype(int), axis=0)
    found = mean.certificate(X, sample_weight=w)
    np.testing.assert_allclose(found.error, mean.certificate(repeated).error, rtol=1e-9)


def test_rows_without_weight_may_lie_outside():
    X = np.random.default_rng(0).exponential(size=(60, 1))
    mean, _ = fitted(X, Bounds(0.0, np.inf), 0.3)
    w = np.append(np.ones(60), 0.0)
    assert mean.certificate(np.append(X, [[-1.0]], axis=0), sample_weight=w) == mean.certificate(X)


def test_what_has_no_certificate_is_told():
    X = np.random.default_rng(0).exponential(size=(60, 1))
    mean, full = fitted(X, Bounds(0.0, np.inf), 0.3)
    with pytest.raises(ValueError, match="1 of 1 values outside of 0 to inf"):
        mean.certificate([[-1.0]])
    with pytest.raises(ValueError, match="every row is a centre"):
        full.certificate(X)
    likely = replace(mean, base=replace(mean.base, kappa=None, stop_reason="likelihood"))
    with pytest.raises(ValueError, match="fitted by likelihood"):
        likely.certificate(X)
    with pytest.raises(ValueError, match="certificate needs columns of numbers"):
        mixed().certificate(X)
    with pytest.raises(ValueError, match="method"):
        mean.certificate(X, method="none")
