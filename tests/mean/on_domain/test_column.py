"""Distribution functions, quantiles and boxes within a domain, against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import kernelmean as km
from kernelmean.domains import Bounds, Domain, Periodic
from tests.mean.on_domain.densities import FLAT, KINDS, brute, flat, mixed, nodes, ranges

LINES = [name for name in FLAT if len(FLAT[name]) == 1]


def mass(mean, low, high, panels=80):
    """∫ f over an interval of a density of one column."""
    x, w = nodes(low, high, panels)
    return w @ brute(mean, x[:, None])


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", LINES)
def test_the_distribution_function_is_the_integral_from_the_lower_end(name, spread):
    mean = flat(name, spread)
    low, high = ranges(FLAT[name][0])
    for x in np.linspace(max(low, -3.0), min(high, 3.0), 5):
        np.testing.assert_allclose(mean.cdf(x)[0], mass(mean, low, x), atol=1e-10)


@pytest.mark.parametrize("name", LINES)
def test_it_is_exactly_zero_and_one_at_the_ends_and_beyond(name):
    mean = flat(name)
    kind = FLAT[name][0]
    low, high = ranges(kind)
    if isinstance(kind, Bounds):
        low, high = kind.lower, kind.upper
    np.testing.assert_array_equal(mean.cdf([low, low - 1.0]), 0.0)
    np.testing.assert_array_equal(mean.cdf([high, high + 1.0]), 1.0)
    np.testing.assert_array_equal(mean.quantile([0.0, 1.0]), [low, high])


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", LINES)
def test_quantiles_are_its_inverse_within_the_domain(name, spread):
    mean = flat(name, spread)
    p = np.array([1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6])
    x = mean.quantile(p)
    assert (np.diff(x) > 0.0).all()
    np.testing.assert_allclose(mean.cdf(x), p, atol=1e-11)
    kind = FLAT[name][0]
    low, high = (kind.lower, kind.upper) if isinstance(kind, Bounds) else ranges(kind)
    assert ((x >= low) & (x <= high)).all()


def test_columns_of_several_are_those_of_their_marginals():
    mean = flat("three")
    p = np.array([0.1, 0.7])
    found = mean.quantile(p)
    assert found.shape == (2, 3)
    for t in range(3):
        np.testing.assert_allclose(found[:, t], mean.marginal(t).quantile(p), rtol=1e-10)
        np.testing.assert_allclose(mean.cdf(found)[:, t], p, atol=1e-11)
    other = mixed()
    np.testing.assert_allclose(
        other.quantile(p, "hour"), other.marginal("hour").quantile(p), rtol=1e-10
    )


@pytest.mark.parametrize("question", ["cdf", "quantile"])
def test_columns_without_numbers_are_refused(question):
    mean = mixed()
    ask = getattr(mean, question)
    with pytest.raises(ValueError, match=r"column 'colour' holds categories.*marginal\('colour'\)"):
        ask([0.5], "colour")
    with pytest.raises(ValueError, match=r"'lat' is part of a place.*marginal\(\['lon', 'lat'\]\)"):
        ask([0.5], "lat")
    with pytest.raises(ValueError, match="'colour' holds categories"):
        ask(np.full((1, 7), 0.5) if question == "cdf" else [0.5])


# Boxes


@pytest.mark.parametrize("spread", ["points", "full"])
@pytest.mark.parametrize("name", LINES)
def test_a_box_holds_the_integral_over_it(name, spread):
    mean = flat(name, spread)
    low, high = ranges(FLAT[name][0])
    low, high = max(low, -2.0), min(high, 2.0)
    a, b = low + 0.2 * (high - low), low + 0.7 * (high - low)
    np.testing.assert_allclose(mean.probability([a], [b]), mass(mean, a, b), atol=1e-10)
    assert mean.probability([a], [b]).standard_error == 0.0
    assert mean.probability() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(mean.probability(upper=[b]), mean.cdf(b)[0], atol=1e-12)


def test_a_box_beyond_the_domain_has_what_of_it_is_inside():
    mean = flat("interval")
    assert mean.probability([-9.0], [9.0]) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(mean.probability([-9.0], [0.3]), mean.cdf(0.3)[0], atol=1e-12)
    assert mean.probability([2.5], [3.0]) == 0.0
    with pytest.raises(ValueError, match="exceeds its upper bound"):
        mean.probability([1.0], [0.5])


@pytest.mark.parametrize("spread", ["points", "scalar"])
@pytest.mark.parametrize("name", ["three", "box"])
def test_boxes_of_several_columns(name, spread):
    mean = flat(name, spread)
    low = np.array([0.3, 0.4, -0.5])
    high = np.array([1.7, 1.4, 1.0])
    axes = [nodes(a, b, 8, 10) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*(x for x, _ in axes), indexing="ij"), axis=-1).reshape(-1, 3)
    w = np.einsum("i,j,k->ijk", *(w for _, w in axes)).ravel()
    np.testing.assert_allclose(mean.probability(low, high), w @ mean(grid), rtol=1e-9)
    some = mean.probability({0: 0.3, 1: 0.4}, {0: 1.7, 1: 1.4})
    np.testing.assert_allclose(
        mean.marginal([0, 1]).probability(low[:2], high[:2]), some, rtol=1e-10
    )


def test_correlated_columns_are_integrated_to_their_error():
    mean = flat("box", "full")
    low = np.array([0.0, -1.0, -0.5])
    high = np.array([1.7, 0.6, 1.0])
    axes = [nodes(a, b, 8, 10) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*(x for x, _ in axes), indexing="ij"), axis=-1).reshape(-1, 3)
    w = np.einsum("i,j,k->ijk", *(w for _, w in axes)).ravel()
    found = mean.probability(low, high, random_state=0)
    assert 0.0 < found.standard_error < 1.1e-5
    assert abs(found - w @ mean(grid)) < 5.0 * found.standard_error


def test_a_period_has_intervals_across_its_end():
    mean = flat("period")  # from -1 to 2
    across = mean.probability([1.5], [-0.4])
    np.testing.assert_allclose(across, mass(mean, 1.5, 2.0) + mass(mean, -1.0, -0.4), atol=1e-10)
    for low, high in [(1.5, 2.6), (-1.5, -0.4), (4.5, -0.4), (1.5, -3.4)]:
        np.testing.assert_allclose(mean.probability([low], [high]), across, atol=1e-12)
    assert mean.probability([0.0], [3.5]) == pytest.approx(1.0, abs=1e-14)
    assert mean.probability([0.5], [0.5]) == 0.0
    np.testing.assert_allclose(mean.probability([1.5]), mass(mean, 1.5, 2.0), atol=1e-10)
    np.testing.assert_allclose(mean.probability([4.5]), mass(mean, 1.5, 2.0), atol=1e-10)
    np.testing.assert_allclose(mean.probability(upper=[2.0]), 1.0, atol=1e-12)
    np.testing.assert_allclose(mean.probability(upper=[3.0]), mass(mean, -1.0, 0.0), atol=1e-10)
    assert mean.probability(upper=[-1.0]) == 0.0


@pytest.mark.parametrize("spread", ["points", "scalar"])
def test_categories_by_equality_and_numbers_by_bounds(spread):
    mean = mixed(spread)
    found = mean.probability({"colour": "red", "x": 0.0, "hour": 22}, {"x": 1.0, "hour": 2})
    part = mean.conditional({"colour": "red"})
    share = mean.marginal("colour")([["red"]])[0]
    inside = part.probability({"x": 0.0, "hour": 22}, {"x": 1.0, "hour": 2})
    np.testing.assert_allclose(found, share * inside, rtol=1e-10)
    x, wx = nodes(0.0, 1.0, 10)
    hour, wh = nodes(22.0, 26.0, 20)
    grid = np.column_stack([np.repeat(x, len(hour)), np.tile(hour, len(x))])
    two = part.marginal(["x", "hour"])
    np.testing.assert_allclose(inside, np.outer(wx, wh).ravel() @ two(grid), rtol=1e-10)
    both = {"colour": "green", "kind": 1}
    expected = mean.marginal(["colour", "kind"])([["green", 1]])[0]
    for lower, upper in [(both, None), (None, both), (both, both)]:
        np.testing.assert_allclose(mean.probability(lower, upper), expected, rtol=1e-12)
    row = ["green", None, None, None, None, None, 1]
    np.testing.assert_allclose(mean.probability(row), expected, rtol=1e-12)


WRONG = [
    ({"lat": 0.0}, None, "a bound needs numbers, and column 'lat' is part of a place"),
    ({"colour": "red"}, {"colour": "blue"}, "have no order"),
    ({"colour": "pink"}, None, "has no category 'pink'"),
    ({"age": float("nan")}, None, "a bound is NaN"),
]


@pytest.mark.parametrize(("lower", "upper", "message"), WRONG)
def test_what_is_no_box_is_refused(lower, upper, message):
    with pytest.raises(ValueError, match=message):
        mixed().probability(lower, upper)


def test_a_far_component_is_not_lost():
    """A centre far beyond a bound has all of its mass on the other side."""
    inner = km.KernelMean(np.array([[-30.0]]), np.ones(1), km.Gaussian(1.0), "l2", None, 1, "naive")
    mean = km.DomainMean(inner, Domain((Bounds(0.0, np.inf),)))
    np.testing.assert_allclose(mean([[30.0]]), norm.pdf(0.0), rtol=1e-12)
    np.testing.assert_allclose(mean.quantile([0.5]), 30.0, rtol=1e-12)


def test_a_period_is_told_from_where_it_starts_wherever_it_is_cut():
    X = np.array([[0.5], [5.0], [11.5]])
    inner = km.KernelMean(X, np.full(3, 1 / 3), km.Gaussian(0.8), "l2", None, 3, "naive")
    means = [km.DomainMean(inner, Domain((Periodic(12.0),), cuts=(cut,))) for cut in (0.0, 7.3)]
    x = np.linspace(0.0, 12.0, 7)
    np.testing.assert_allclose(means[0].cdf(x), means[1].cdf(x), atol=1e-13)
    np.testing.assert_allclose(means[0].quantile([0.1, 0.6]), means[1].quantile([0.1, 0.6]))
