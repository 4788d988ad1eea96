"""Moments, entropy, level sets and peaks within a domain, against quadrature."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.domains import Bounds, Categorical, Domain, Periodic
from tests.mean.on_domain.densities import FLAT, KINDS, brute, flat, mixed, nodes, ranges

LINES = [name for name in FLAT if len(FLAT[name]) == 1]


def single(centers, kinds, h=0.5, spreads=None, scale=None, weights=None, cuts=()):
    centers = np.asarray(centers, dtype=float)
    k = len(centers)
    weights = np.full(k, 1.0 / k) if weights is None else np.asarray(weights)
    inner = km.KernelMean(centers, weights, km.Gaussian(h), "l2", scale, k, "naive", spreads)
    return km.DomainMean(inner, Domain(tuple(kinds), cuts=cuts))


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", ["half-line", "below", "interval", "narrow"])
def test_moments_of_one_bounded_column(name, spread):
    mean = flat(name, spread)
    x, w = nodes(*ranges(FLAT[name][0]), 120)
    f = w * brute(mean, x[:, None])
    mu = f @ x
    np.testing.assert_allclose(mean.expectation(), [mu], rtol=1e-10)
    np.testing.assert_allclose(mean.covariance(), [[f @ (x - mu) ** 2]], rtol=1e-10)


@pytest.mark.parametrize("spread", KINDS)
def test_moments_of_correlated_columns(spread):
    mean = flat("box", spread)
    mu = mean.expectation()
    found = mean.covariance()
    np.testing.assert_array_equal(found, found.T)
    for i in range(3):
        for j in range(i):
            axes = [nodes(*ranges(FLAT["box"][t]), 40, 10) for t in (i, j)]
            grid = np.stack(np.meshgrid(axes[0][0], axes[1][0], indexing="ij"), -1).reshape(-1, 2)
            f = np.outer(axes[0][1], axes[1][1]).ravel() * mean.marginal([i, j])(grid)
            np.testing.assert_allclose(f @ grid, mu[[i, j]], rtol=1e-10)
            expected = f @ np.prod(grid - mu[[i, j]], axis=1)
            np.testing.assert_allclose(found[i, j], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rho", [0.9, -0.99])
def test_moments_of_columns_that_all_but_determine_each_other(rho):
    S = np.array([[[1.0, rho], [rho, 1.0]]])
    kinds = (Bounds(0.0, 0.8), Bounds(-0.5, 1.0))
    mean = single([[0.3, 0.2]], kinds, h=0.1, spreads=S)
    found = mean.covariance()
    mu = mean.expectation()
    rows = mean.sample(400_000, random_state=0)
    np.testing.assert_allclose(mu, rows.mean(axis=0), atol=2e-3)
    np.testing.assert_allclose(found, np.cov(rows.T), atol=1e-3)
    axes = [nodes(0.0, 0.8, 16, 8), nodes(-0.5, 1.0, 24, 8)]
    grid = np.stack(np.meshgrid(axes[0][0], axes[1][0], indexing="ij"), -1).reshape(-1, 2)
    f = np.outer(axes[0][1], axes[1][1]).ravel() * mean(grid)
    np.testing.assert_allclose(found[0, 1], f @ np.prod(grid - mu, axis=1), atol=1e-10)


def test_moments_far_from_zero_keep_their_digits():
    near = single([[0.2], [0.9]], (Bounds(0.0, 1.0),)).covariance()
    far = single([[1e6 + 0.2], [1e6 + 0.9]], (Bounds(1e6, 1e6 + 1.0),)).covariance()
    np.testing.assert_allclose(far, near, rtol=1e-8)


def test_the_mean_of_a_period_is_circular():
    hours = single([[23.0], [2.0]], (Periodic(24.0),), cuts=(12.0,))
    np.testing.assert_allclose(hours.expectation(), [0.5], rtol=1e-12)
    mean = flat("period")
    x, w = nodes(-1.0, 2.0, 60)
    angle = np.angle((w * brute(mean, x[:, None])) @ np.exp(2j * np.pi * (x + 1.0) / 3.0))
    expected = -1.0 + angle % (2.0 * np.pi) * 3.0 / (2.0 * np.pi)
    np.testing.assert_allclose(mean.expectation(), [expected], rtol=1e-10)
    with pytest.raises(ValueError, match=r"column 0 has one: ask marginal"):
        mean.covariance()


@pytest.mark.parametrize("question", ["expectation", "covariance"])
def test_moments_of_what_has_none_are_refused(question):
    mean = mixed()
    with pytest.raises(ValueError, match=f"{question} needs numbers, and column 'colour'"):
        getattr(mean, question)()
    with pytest.raises(ValueError, match=f"{question} needs numbers, and column 'lon'"):
        getattr(mean.marginal(["lon", "lat"]), question)()
    numbers = mean.marginal(["age", "x"])
    assert np.isfinite(getattr(numbers, question)()).all()


# Entropy


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", LINES)
def test_the_entropy_of_one_column_is_an_integral(name, spread):
    mean = flat(name, spread)
    x, w = nodes(*ranges(FLAT[name][0]), 200)
    f = brute(mean, x[:, None])
    log_f = np.log(np.maximum(f, 1e-300))
    found = mean.entropy()
    np.testing.assert_allclose(found, -(w @ (f * log_f)), atol=1e-9)
    assert found.standard_error == 0.0


def test_the_entropy_of_a_uniform_density_is_the_log_of_its_width():
    mean = single([[0.5]], (Bounds(0.0, 2.0),), h=30.0)
    np.testing.assert_allclose(mean.entropy(), np.log(2.0), atol=1e-10)


def test_the_entropy_of_categories_is_a_sum():
    part = mixed().marginal(["colour", "kind"])
    p = part([[a, b] for a in ("red", "green", "blue") for b in (0, 1)])
    found = part.entropy()
    np.testing.assert_allclose(found, -(p @ np.log(p)), rtol=1e-12)
    assert found.standard_error == 0.0


def test_the_entropy_of_all_kinds_is_estimated():
    mean = mixed().marginal(["colour", "x"])
    x, w = nodes(-15.0, 15.0, 120)
    total = 0.0
    for name in ("red", "green", "blue"):
        f = mean(np.array([[name, v] for v in x], dtype=object))
        total -= w @ (f * np.log(np.maximum(f, 1e-300)))
    found = mean.entropy(random_state=0)
    assert 0.0 < found.standard_error < 0.01
    assert abs(found - total) < 4.0 * found.standard_error


# Level sets


@pytest.mark.parametrize("name", LINES)
def test_a_level_set_lies_in_the_domain_and_holds_its_level(name):
    mean = flat(name)
    region = mean.hdr(0.8)
    low, high = ranges(FLAT[name][0])
    assert region.intervals.min() >= low
    assert region.intervals.max() <= high
    held = sum(mean.probability([a], [b]) for a, b in region.intervals)
    np.testing.assert_allclose(held, 0.8, atol=1e-9)
    for end in region.intervals.ravel():
        if low < end < high:
            np.testing.assert_allclose(mean.log([[end]])[0], region.log_threshold, atol=1e-6)
    assert not region.contains([[high + 1.0]])[0] or name == "period"


def test_a_level_set_of_an_exponential_starts_at_its_bound():
    mean = single([[0.0], [0.3]], (Bounds(0.0, np.inf),))
    (interval,) = mean.hdr(0.5).intervals
    assert interval[0] == 0.0
    np.testing.assert_allclose(interval[1], mean.quantile([0.5])[0], rtol=1e-9)


def test_level_sets_of_all_kinds_are_estimated():
    mean = mixed()
    region = mean.hdr(0.7, random_state=0)
    assert region.intervals is None
    assert region.columns == mean.columns
    inside = region.contains(mean.sample(20_000, random_state=1)).mean()
    assert abs(inside - 0.7) < 0.02


@pytest.mark.parametrize("question", ["entropy", "hdr", "modes"])
def test_what_is_no_density_has_none_of_these(question):
    with pytest.raises(ValueError, match="needs a density"):
        getattr(flat("interval", signed=True), question)()


# Peaks


def test_a_peak_may_be_at_a_bound():
    mean = single([[0.1], [0.2], [4.0]], (Bounds(0.0, np.inf),))
    found = mean.modes()
    np.testing.assert_allclose(found.points, [[0.0], [4.0]], atol=1e-6)
    np.testing.assert_allclose(found.log_densities, mean.log(found.points), atol=1e-12)


def test_a_peak_at_the_cut_of_a_period_is_one():
    mean = single([[0.05], [11.95], [5.0]], (Periodic(12.0),), cuts=(0.0,))
    found = mean.modes().points
    assert len(found) == 2
    first = (found[0, 0] + 6.0) % 12.0 - 6.0
    np.testing.assert_allclose(first, 0.0, atol=1e-6)
    np.testing.assert_allclose(found[1], 5.0, atol=1e-6)


@pytest.mark.parametrize("name", LINES)
def test_peaks_are_those_of_a_fine_grid(name):
    mean = flat(name, seed=3)
    kind = FLAT[name][0]
    low, high = ranges(kind)
    x = np.linspace(max(low, -6.0), min(high, 6.0), 20_001)
    f = brute(mean, x[:, None])
    ends = (f[-2], f[1]) if isinstance(kind, Periodic) else (-np.inf, -np.inf)
    around = np.concatenate([[ends[0]], f, [ends[1]]])
    top = np.flatnonzero((around[1:-1] > around[:-2]) & (around[1:-1] >= around[2:]) & (f > 1e-8))
    expected = np.sort(f[top])[::-1]
    found = np.exp(mean.modes().log_densities)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_peaks_need_numbers():
    mean = mixed()
    with pytest.raises(ValueError, match=r"'colour', 'lon', 'lat', 'kind'.*ask conditional"):
        mean.modes()
    given = {"colour": "red", "kind": 1, "lon": 0.0, "lat": 0.0}
    assert len(mean.conditional(given).modes().points) > 0


def test_one_category_is_certain():
    inner = km.KernelMean(np.zeros((1, 1)), np.ones(1), km.Gaussian(1.0), "l2", None, 1, "naive")
    domain = Domain((None, Categorical()), (), (("only",),))
    mean = km.DomainMean(inner, domain, np.zeros((1, 1)))
    assert mean.marginal(1).entropy() == 0.0
    assert mean.marginal(1)([["only"]])[0] == pytest.approx(1.0, abs=1e-15)
