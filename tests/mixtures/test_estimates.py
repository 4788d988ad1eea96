"""Kernel density estimates among the trials of a search, and beside its stack on a domain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean.domains import Group
from kernelmean.mixtures import (
    Layout,
    Limits,
    ProductFamily,
    Rows,
    ends,
    gaussian_family,
    likeliest,
    likeliest_of,
    product_family,
    search,
)
from kernelmean.mixtures.gaussian_family import GaussianFamily
from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.product_family import ESTIMATE_CELLS, FACTORS
from kernelmean.mixtures.stacking import Stack

HALF = Group(np.zeros(1), np.full(1, np.inf), np.zeros(1, dtype=bool))
UNIT = Group(np.zeros(1), np.ones(1), np.zeros(1, dtype=bool))
NUMBERS = Layout(HALF)
FAMILY = ProductFamily(NUMBERS, np.full(1, 1e-6))


def exponential(n: int = 600, seed: int = 0) -> Rows:
    """Rows of a law that falls from its bound on: its slope there is not 0, as that of folds is."""
    return Rows(np.random.default_rng(seed).exponential(size=(n, 1)), np.ones(n))


def found(rows: Rows, k_max: int = 400, family=FAMILY, k: int | None = None):
    limits = Limits(k, k_max, "full")
    return likeliest_of(family, rows, rows, limits, engines.open("naive"), Streams(0))


def estimate(rows: Rows, number: int, family=FAMILY):
    cloud = engines.open("naive").load(rows.points, rows.masses)
    return family.estimate(cloud, rows, number, np.random.default_rng(0))


# Estimates by themselves


@pytest.mark.parametrize("number", range(len(FACTORS)))
def test_an_estimate_is_a_density_of_the_domain(number):
    mixed = estimate(exponential(), number)
    assert len(mixed) == FAMILY.estimate_size(600) == ESTIMATE_CELLS
    assert mixed.weights.sum() == pytest.approx(1.0)
    assert (mixed.means >= 0.0).all()
    x = np.linspace(0.0, 40.0, 200_001)
    assert np.trapezoid(np.exp(mixed.log_density(x[:, None])), x) == pytest.approx(1.0, abs=1e-5)


def test_later_estimates_are_wider():
    numbers = range(len(FACTORS))
    widths = [np.median(estimate(exponential(), number).deviations) for number in numbers]
    assert (np.diff(widths) > 0.0).all()


def test_an_estimate_has_the_moments_of_the_rows_but_for_its_width():
    """Where nothing is folded: Σ_a w_a (c_a cᵀ_a + V_a) = (1/n)Σxxᵀ + h²Σ + floor."""
    rows = Rows(exponential().points + 100.0, np.ones(600))
    mixed = estimate(rows, len(FACTORS) - 1)
    x = rows.points[:, 0]
    assert mixed.weights @ mixed.means[:, 0] == pytest.approx(x.mean(), rel=1e-9)
    blur = (FACTORS[-1] * 600**-0.2) ** 2 * x.var() + 1e-6
    variance = mixed.weights @ (mixed.means[:, 0] ** 2 + mixed.covariances[:, 0, 0])
    assert variance == pytest.approx((x**2).mean() + blur, rel=1e-9)


@pytest.mark.parametrize("kind", range(4))
def test_an_estimate_that_is_cut_off_is_a_density_of_the_domain(kind):
    """It is folded at the bounds whose bits are not set, and cut off at the others."""
    rows = Rows(np.random.default_rng(0).random((600, 1)), np.ones(600))
    family = ProductFamily(Layout(UNIT), np.full(1, 1e-6))
    assert family.bends == 2
    mixed = estimate(rows, kind * len(FACTORS) + 1, family)
    folded = estimate(rows, 1, family)
    x = np.linspace(0.0, 1.0, 20_001)[:, None]
    values = np.exp(mixed.log_density(x))
    assert np.trapezoid(values, x[:, 0]) == pytest.approx(1.0, abs=1e-6)
    ends = values[[0, -1]] / np.exp(folded.log_density(x))[[0, -1]]
    raised = np.exp(mixed.log_density(x[10_000:10_001]) - folded.log_density(x[10_000:10_001]))
    expected = raised * np.where([kind & 1, kind & 2], 0.5, 1.0)
    np.testing.assert_allclose(ends, expected, rtol=1e-3)


def test_what_is_cut_off_is_the_plain_estimate_within_the_bounds():
    """Divided by what it has there, in as many coordinates as there are: without correlations."""
    V = np.array([[[0.04, 0.01], [0.01, 0.09]], [[0.04, 0.0], [0.0, 0.04]]])
    means = np.array([[0.1, 0.0], [3.0, 0.0]])
    group = Group(np.array([0.0, -np.inf]), np.full(2, np.inf), np.zeros(2, dtype=bool))
    found, cut = ends.without_what_is_beyond(Gaussians(np.full(2, 0.5), means, V), group, 1)
    np.testing.assert_array_equal(cut, [[True, False], [False, False]])  # the other is far from 0
    np.testing.assert_array_equal(found.covariances[0], np.diag([0.04, 0.09]))
    inside = norm.cdf(0.5)
    np.testing.assert_allclose(found.weights, np.array([inside, 1.0]) / (1.0 + inside))


def test_estimates_are_cut_off_where_a_law_falls_to_zero_and_folded_where_it_ends_high():
    """Half beta(2, 6), which falls to zero at 0, and half beta(6, 1), which is highest at 1."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.beta(2.0, 6.0, 2000), rng.beta(6.0, 1.0, 2000)])
    rows = Rows(x[:, None], np.ones(4000))
    mixed = found(rows, family=ProductFamily(Layout(UNIT), np.full(1, 1e-6)))
    narrow = mixed.deviations[:, 0] < 0.1
    low = narrow & (mixed.means[:, 0] < 0.05)
    high = narrow & (mixed.means[:, 0] > 0.95)
    assert low.any()
    assert high.any()
    assert mixed.cut[low].mean() > 0.9
    assert mixed.cut[high].mean() < 0.1


def test_few_rows_have_as_many_components():
    assert FAMILY.estimate_size(5) == 5
    assert len(estimate(exponential(5), 0)) == 5


@pytest.mark.parametrize(
    ("layout", "tried"),
    [
        (NUMBERS, len(FACTORS)),
        (Layout(HALF.of(np.zeros(3, dtype=int))), len(FACTORS)),
        (Layout(HALF.of(np.zeros(4, dtype=int))), 0),  # cells are too wide
        (Layout(HALF, kind="scalar"), 0),
        (Layout(HALF, 1), 0),  # a sphere
        (Layout(HALF, 0, (2,)), 0),  # categories
    ],
)
def test_estimates_are_tried_of_few_numbers_alone(layout, tried):
    assert ProductFamily(layout, np.zeros(layout.lines)).estimates(600, 600) == tried


def test_estimates_of_very_many_rows_are_not_tried():
    most = product_family.MAX_ESTIMATE_ROWS
    assert [FAMILY.estimates(n, n) for n in (most, most + 1)] == [len(FACTORS), 0]


# Beside the stack


def test_a_law_that_slopes_at_its_bound_takes_estimates(monkeypatch):
    """2 − 2x between 0 and 1, which is steep where folded densities are level."""
    rows = Rows(1.0 - np.sqrt(np.random.default_rng(1).random((600, 1))), np.ones(600))
    family = ProductFamily(Layout(UNIT), np.full(1, 1e-6))
    mixed = found(rows, family=family)
    assert len(mixed) > ESTIMATE_CELLS
    assert mixed.weights.sum() == pytest.approx(1.0)
    monkeypatch.setattr(product_family, "MAX_ESTIMATE_LINES", 0)
    alone = found(rows, family=family)
    assert len(alone) < ESTIMATE_CELLS
    x = np.linspace(0.0, 1.0, 2001)
    errors = [
        np.trapezoid((np.exp(one.log_density(x[:, None])) - (2.0 - 2.0 * x)) ** 2, x)
        for one in (mixed, alone)
    ]
    assert errors[0] < 0.6 * errors[1]


@pytest.mark.parametrize(("k_max", "most"), [(20, 0), (64, 0), (80, 1), (150, 2)])
def test_estimates_take_no_more_than_the_room_that_is_left(k_max, most):
    mixed = found(exponential(), k_max)
    assert len(mixed) <= k_max
    assert len(mixed) // ESTIMATE_CELLS == most
    assert mixed.weights.sum() == pytest.approx(1.0)


def test_estimates_with_a_small_share_are_left_out(monkeypatch):
    monkeypatch.setattr(search, "LEAST_SHARE", 1.0)
    assert len(found(exponential())) < ESTIMATE_CELLS


def test_a_number_of_components_that_is_given_is_kept():
    assert len(found(exponential(), k=3)) == 3


def test_members_beside_a_stack_share_with_it_as_a_whole():
    logs = np.random.default_rng(0).normal(size=(300, 4))
    stack = Stack(logs, np.ones(300))
    own = stack.shares(np.array([0, 1]))
    together = stack.beside(own, np.array([2, 3]))
    assert together.sum() == pytest.approx(1.0)
    assert (together >= 0.0).all()
    assert together[0] / together[1] == pytest.approx(own[0] / own[1])
    assert stack.value(together) >= stack.value(own)


def test_shares_beside_a_stack_are_the_likeliest_with_half_a_row_for_each():
    logs = np.random.default_rng(0).normal(size=(300, 3))
    stack = Stack(logs, np.ones(300))
    own = np.array([1.0, 0.0, 0.0])
    shares = stack.beside(own, np.array([1, 2]))

    def value(some):
        return 300 * stack.value(some) + 0.5 * np.log(some).sum()

    for step in np.eye(3) - shares:
        assert value(shares) >= value(shares + 1e-3 * step)


def test_a_stack_without_others_stays_as_it_is():
    stack = Stack(np.random.default_rng(0).normal(size=(300, 2)), np.ones(300))
    own = stack.shares()
    np.testing.assert_allclose(stack.beside(own, np.zeros(0, dtype=np.intp)), own)


# Plain Gaussians


def test_plain_gaussians_try_a_component_for_each_of_few_rows():
    family = GaussianFamily(2, np.full(2, 1e-4), "full")
    assert family.estimates_first
    most = gaussian_family.MAX_ROWS_EACH
    assert [family.estimates(n, 10_000) for n in (1, most, most + 1)] == [1, 1, 0]
    assert family.estimates(100, 99) == 0
    assert family.estimate_size(100) == 100
    assert GaussianFamily(2, np.full(2, 1e-4), "scalar").estimates(100, 1000) == 0


def test_plain_gaussians_have_no_estimates_beside_their_stack(monkeypatch):
    monkeypatch.setattr(gaussian_family, "MAX_ROWS_EACH", 0)
    rows = exponential()
    limits = Limits(None, 400, "full")
    mixed = likeliest(rows, rows, np.full(1, 1e-6), limits, engines.open("naive"), Streams(0))
    sizes = 8 * 600 / 4  # members of a stack, and the most components of each
    assert len(mixed) <= sizes
    monkeypatch.setattr(Stack, "beside", None)
    same = likeliest(rows, rows, np.full(1, 1e-6), limits, engines.open("naive"), Streams(0))
    np.testing.assert_array_equal(mixed.means, same.means)
