"""Reflections and shifts: they cover the line once, and few of them matter."""

import numpy as np
import pytest
from scipy.stats import norm

from kernelmean.domains.images import Group, unbounded

CASES = {
    "half-line": (0.0, np.inf, False),
    "half-line from above": (-np.inf, 2.0, False),
    "interval": (-1.0, 1.5, False),
    "period": (3.0, 27.0, True),
}


def group(*names):
    low, high, periodic = zip(*(CASES[name] for name in names), strict=True)
    return Group(np.array(low), np.array(high), np.array(periodic))


def naive_images(low, high, periodic, count=400):
    """Every map of the group with few steps, as (sign, shift)."""
    if np.isinf(low) or np.isinf(high):
        bound = low if np.isfinite(low) else high
        return [(1.0, 0.0), (-1.0, 2.0 * bound)]
    step = (high - low) * (1.0 if periodic else 2.0)
    shifts = [(1.0, j * step) for j in range(-count, count + 1)]
    if periodic:
        return shifts
    return shifts + [(-1.0, 2.0 * low + j * step) for j in range(-count, count + 1)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("deviation", [1e-6, 0.3, 5.0, 40.0])
@pytest.mark.parametrize("mean", [-0.9, 0.0, 1.4, 26.9])
def test_images_have_the_density_of_all_of_them(name, deviation, mean):
    low, high, periodic = CASES[name]
    images = group(name).images(np.array([[mean]]), np.array([[deviation]]))
    places = images.places(np.array([[mean]]))[:, 0]
    inside = np.linspace(max(low, -30.0), min(high, 30.0), 401)
    found = norm.pdf(inside[:, None], places, deviation).sum(axis=1)
    every = [sign * mean + shift for sign, shift in naive_images(low, high, periodic)]
    expected = norm.pdf(inside[:, None], every, deviation).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-18 / deviation)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("deviation", [1e-3, 1.0, 30.0])
def test_the_mass_inside_is_one_wherever_a_component_stands(name, deviation):
    low, high, _ = CASES[name]
    means = np.array([[-60.0], [-1.0], [0.0], [1.5], [100.0]])
    images = group(name).images(means, np.full((5, 1), deviation))
    places = images.places(means)[:, 0]
    masses = norm.cdf((high - places) / deviation) - norm.cdf((low - places) / deviation)
    found = np.bincount(images.owner, masses, minlength=5)
    np.testing.assert_allclose(found, 1.0, rtol=1e-12)


def test_owners_ascend_and_each_component_is_its_own_first_image():
    rng = np.random.default_rng(0)
    images = group(*CASES).images(rng.normal(size=(20, 4)), rng.random((20, 4)) + 0.01)
    assert (np.diff(images.owner) >= 0).all()
    firsts = np.searchsorted(images.owner, np.arange(20))
    assert (images.signs[firsts] == 1.0).all()
    assert (images.shifts[firsts] == 0.0).all()


def test_coordinates_without_bounds_have_no_images():
    images = unbounded(3).images(np.zeros((4, 3)), np.ones((4, 3)))
    np.testing.assert_array_equal(images.owner, np.arange(4))
    assert not unbounded(3).moves.any()


def test_far_components_need_no_images():
    images = group("half-line").images(np.array([[100.0]]), np.array([[1.0]]))
    assert len(images.owner) == 1


@pytest.mark.parametrize("name", CASES)
def test_folding_gives_the_image_inside(name):
    low, high, periodic = CASES[name]
    values = np.random.default_rng(0).normal(0.0, 60.0, size=(500, 1))
    before = values.copy()
    folded = group(name).folded(values)
    np.testing.assert_array_equal(values, before)
    assert group(name).inside(folded).all()
    assert ((folded >= low) & (folded <= high)).all()
    every = [sign * values[:, 0] + shift for sign, shift in naive_images(low, high, periodic)]
    nearest = np.abs(np.array(every) - folded[:, 0]).min(axis=0)
    np.testing.assert_allclose(nearest, 0.0, atol=1e-12 * 60.0)
    inside = values[:, 0][(values[:, 0] >= low) & (values[:, 0] < high)]
    np.testing.assert_allclose(group(name).folded(inside[:, None])[:, 0], inside, atol=1e-13)


def test_covariances_turn_with_the_signs():
    g = group("half-line", "period")
    means = np.array([[0.1, 15.0]])
    V = np.array([[[1.0, 0.3], [0.3, 2.0]]])
    images = g.images(means, np.sqrt(np.diagonal(V, axis1=1, axis2=2)))
    turned = images.covariances(V)
    for sign, found in zip(images.signs, turned, strict=True):
        np.testing.assert_array_equal(found, np.outer(sign, sign) * V[0])
    np.testing.assert_array_equal(images.covariances(np.array([2.0])), 2.0)


def test_a_group_is_mapped_with_its_coordinates():
    g = group("half-line", "interval", "period").mapped(np.array([2.0, 0.5, 3.0]), np.ones(3))
    np.testing.assert_allclose(g.lower, [-2.0, -1.0, 6.0])
    np.testing.assert_allclose(g.upper, [np.inf, 0.25, 78.0])
    np.testing.assert_allclose(g.of(np.array([2, 1])).widths, [72.0, 1.25])


def test_a_group_that_moves_some_coordinates_leaves_the_others_alone():
    rng = np.random.default_rng(0)
    means, deviations = rng.uniform(-1.0, 2.0, (20, 4)), rng.uniform(0.5, 5.0, (20, 4))
    g = group(*CASES)
    which = np.array([False, True, False, True])
    some = g.moving(which)
    np.testing.assert_array_equal(some.moves, which)
    np.testing.assert_array_equal(some.periodic, [False, False, False, True])
    found = some.images(means, deviations)
    assert (found.signs[:, ~which] == 1.0).all()
    assert (found.shifts[:, ~which] == 0.0).all()
    alone = g.of(np.flatnonzero(which)).images(means[:, which], deviations[:, which])
    np.testing.assert_array_equal(found.owner, alone.owner)
    np.testing.assert_array_equal(found.signs[:, which], alone.signs)
    np.testing.assert_array_equal(found.shifts[:, which], alone.shifts)
    assert g.moves.all()
    far = rng.normal(0.0, 60.0, (20, 4))
    np.testing.assert_array_equal(some.folded(far)[:, ~which], far[:, ~which])


def some_cut(k, seed=0):
    """Components of which some lie far beyond the bounds at which they end."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(-1.0, 2.0, (k, 4))
    deviations = rng.uniform(0.3, 1.5, (k, 4))
    cut = rng.random((k, 4)) < 0.4
    cut[0] = False
    means[:, :3] += np.where(cut[:, :3], 12.0 * rng.uniform(-1.0, 1.0, (k, 3)), 0.0)
    return means, deviations, cut


def test_components_have_no_images_in_coordinates_in_which_they_end():
    means, deviations, cut = some_cut(30)
    g = group(*CASES)
    found = g.images(means, deviations, cut=cut)
    ends = cut[found.owner]
    assert (found.signs[ends] == 1.0).all()
    assert (found.shifts[ends] == 0.0).all()
    for a in range(30):
        others = np.flatnonzero(~cut[a])
        alone = g.of(others).images(means[[a]][:, others], deviations[[a]][:, others])
        own = found.owner == a
        np.testing.assert_array_equal(found.signs[own][:, others], alone.signs)
        np.testing.assert_array_equal(found.shifts[own][:, others], alone.shifts)


def test_components_that_end_are_raised_by_what_they_lose():
    means, deviations, cut = some_cut(30)
    g = group(*CASES)
    low, high = (g.lower - means) / deviations, (g.upper - means) / deviations
    flipped = low > 0.0
    a, b = np.where(flipped, -high, low), np.where(flipped, -low, high)
    with np.errstate(divide="ignore"):
        lost = norm.logcdf(b) + np.log1p(-np.exp(norm.logcdf(a) - norm.logcdf(b)))
    expected = -np.where(cut, lost, 0.0).sum(axis=1)
    found = g.images(means, deviations, cut=cut)
    np.testing.assert_allclose(found.log_factors, expected[found.owner], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(g.log_masses(means, deviations, cut), -expected, 1e-12, 1e-13)
    assert expected.max() > 50.0
    assert (found.log_factors[found.owner == 0] == 0.0).all()


def test_the_mass_inside_is_one_where_components_end_too():
    means, deviations, cut = some_cut(30)
    g = group(*CASES)
    images = g.images(means, deviations, cut=cut)
    places, s = images.places(means), deviations[images.owner]
    a, b = (g.lower - places) / s, (g.upper - places) / s
    shares = np.where(a > 0.0, norm.sf(a) - norm.sf(b), norm.cdf(b) - norm.cdf(a)).prod(axis=1)
    found = np.bincount(images.owner, shares * np.exp(images.log_factors))
    np.testing.assert_allclose(found, 1.0, rtol=1e-11)


def test_images_have_no_factors_where_none_ends():
    means, deviations, cut = some_cut(10)
    plain = group(*CASES).images(means, deviations)
    none = group(*CASES).images(means, deviations, cut=np.zeros_like(cut))
    assert not plain.log_factors.any()
    for left, right in zip(plain, none, strict=True):
        np.testing.assert_array_equal(left, right)


def test_nothing_ends_where_there_is_no_bound():
    ending = np.ones((4, 3), dtype=bool)
    images = unbounded(3).images(np.zeros((4, 3)), np.ones((4, 3)), cut=ending)
    np.testing.assert_array_equal(images.owner, np.arange(4))
    assert not images.log_factors.any()


def test_components_that_end_have_no_images_in_a_wider_box_either():
    box = np.array([-20.0]), np.array([20.0])
    means, deviations = np.array([[0.4], [0.4]]), np.ones((2, 1))
    for name in CASES:
        cut = np.array([[True], [False]])
        images = group(name).images(means, deviations, onto=box, cut=cut)
        assert (images.owner == 0).sum() == 1
        assert (images.owner == 1).sum() > 1
