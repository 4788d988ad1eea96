"""Marginals, conditionals and samples of a density on a domain, against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

import kernelmean as km
from kernelmean.domains import Bounds, Domain
from tests.mean.on_domain.densities import (
    FLAT,
    KINDS,
    brute,
    flat,
    mixed,
    nodes,
    ranges,
    rows_of,
)


def integral(mean, rows, column, panels=60):
    """∫ f over one column of numbers, the others as in each row."""
    x, w = nodes(*ranges(mean.domain.kinds[column]), panels)
    found = np.empty(len(rows))
    for i, row in enumerate(rows):
        some = np.repeat(row[None], len(x), axis=0)
        some[:, column] = x
        found[i] = w @ brute(mean, some)
    return found


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("name", ["three", "box"])
def test_a_marginal_integrates_over_the_other_columns(name, spread, column):
    mean = flat(name, spread)
    rows = rows_of(mean, 3)
    kept = [t for t in (2, 1, 0) if t != column]
    found = mean.marginal(kept)(rows[:, kept])
    np.testing.assert_allclose(found, integral(mean, rows, column), rtol=1e-10)


@pytest.mark.parametrize("spread", KINDS)
def test_a_marginal_of_all_kinds_sums_over_categories(spread):
    mean = mixed(spread)
    rows = rows_of(mean, 4)
    without = [6, 5, 4, 3, 2, 1]  # the colour
    total = 0.0
    for code in range(3):
        rows[:, 0] = code
        total = total + brute(mean, rows)
    part = mean.marginal(without)
    np.testing.assert_allclose(part.values_coded(rows[:, without]), total, rtol=1e-10)
    assert part.columns == ("kind", "hour", "lat", "x", "lon", "age")


def test_a_marginal_without_a_place_integrates_over_the_sphere():
    mean = mixed()
    row = rows_of(mean, 1)
    lon, wl = nodes(-180.0, 180.0, 30, 10)
    lat, wb = nodes(-90.0, 90.0, 30, 10)
    grid = np.repeat(row, len(lon) * len(lat), axis=0)
    grid[:, 2] = np.repeat(lon, len(lat))
    grid[:, 4] = np.tile(lat, len(lon))
    area = np.outer(np.radians(wl), np.radians(wb) * np.cos(np.radians(lat))).ravel()
    kept = [0, 1, 3, 5, 6]
    found = mean.marginal(kept).values_coded(row[:, kept])
    np.testing.assert_allclose(found, area @ brute(mean, grid), rtol=1e-9)


def test_a_marginal_of_categories_alone_has_probabilities():
    mean = mixed()
    weights = mean.weights
    part = mean.marginal("colour")
    expected = weights @ np.exp(mean.shares_of(0))
    np.testing.assert_allclose(part([["red"], ["green"], ["blue"]]), expected, rtol=1e-12)
    both = mean.marginal(["kind", "colour"])
    joint = np.exp(mean.shares_of(1)).T @ (weights[:, None] * np.exp(mean.shares_of(0)))
    for i, name in enumerate(("red", "green", "blue")):
        np.testing.assert_allclose(both([[0, name], [1, name]]), joint[:, i], rtol=1e-12)
    np.testing.assert_array_equal(part([["pink"]]), 0.0)


def test_where_nothing_is_left_of_the_domain_the_mean_is_plain():
    mean = mixed()
    assert type(mean.marginal("x")) is km.KernelMean
    assert type(flat("box").conditional({0: 1.0, 1: 0.0})) is km.KernelMean
    X = np.abs(np.random.default_rng(0).normal(size=(100, 2)))
    inner = km.sparse_kernel_mean(
        X, bandwidth=0.4, space="l2", constraint="simplex", k=12, random_state=0
    )
    outer = km.DomainMean(inner, Domain((Bounds(0.0, np.inf), None)), columns=("a", "b"))
    part = outer.marginal("b")
    assert type(part) is km.SparseKernelMean
    assert (part.columns, part.stop_reason) == (("b",), "derived")
    kept = outer.conditional({"b": 1.0})
    assert type(kept) is km.DomainMean
    assert type(kept.base) is km.SparseKernelMean
    assert (kept.columns, kept.stop_reason, kept.kappa) == (("a",), "derived", None)


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("given", [[0], [1], [2], [0, 1], [1, 2], [2, 0]])
@pytest.mark.parametrize("name", ["three", "box"])
def test_a_conditional_is_the_ratio_of_two_densities(name, given, spread):
    mean = flat(name, spread)
    rows = rows_of(mean, 3)
    free = [t for t in range(3) if t not in given]
    rows[:, given] = rows[0, given]
    found = mean.conditional({t: rows[0, t] for t in given})(rows[:, free])
    expected = mean(rows) / mean.marginal(given)(rows[:, given])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


GIVEN = [
    ["colour"],
    ["hour", "kind"],
    ["lon", "lat"],
    ["age", "x"],
    ["age", "x", "hour", "lon", "lat"],
    ["colour", "kind", "lon", "lat", "hour"],
    ["colour", "age", "x", "hour", "kind"],
    ["age", "lon", "x", "lat", "hour", "kind"],
]


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("given", GIVEN, ids="-".join)
def test_a_conditional_of_all_kinds_is_so_too(given, spread):
    mean = mixed(spread)
    positions = [mean.columns.index(name) for name in given]
    free = [t for t in range(7) if t not in positions]
    rows = rows_of(mean, 4)
    rows[:, positions] = rows[0, positions]
    written = mean.written(rows)
    part = mean.conditional(
        {name: written[0, t] for name, t in zip(given, positions, strict=False)}
    )
    assert part.columns == tuple(mean.columns[t] for t in free)
    found = part.values_coded(rows[:, free])
    known = mean.marginal(given).values_coded(rows[:, positions])
    np.testing.assert_allclose(found, brute(mean, rows) / known, rtol=1e-9)


def test_any_representative_of_a_period_is_the_same_value():
    mean = mixed()
    row = {"age": 1.0, "hour": 23.5}
    part = mean.conditional(row)
    rows = part.sample(4, random_state=0)
    for turned in (-0.5, 47.5, 23.5 + 240.0):
        again = mean.conditional({**row, "hour": turned})
        np.testing.assert_allclose(again(rows), part(rows), rtol=1e-10)


def test_a_value_far_from_everything_is_still_given():
    mean = flat("box")
    part = mean.conditional({0: 60.0})
    np.testing.assert_allclose(part.probability(), 1.0)
    assert np.isfinite(part.log([[0.0, 0.0]])).all()


WRONG = [
    ({"age": -1.0}, "-1 lies outside of the domain of column 'age', which is at least 0"),
    ({"colour": "pink"}, "column 'colour' has no category 'pink'; there are 'red', 'green'"),
    ({"kind": 2}, "column 'kind' has no category 2"),
    ({"lon": 3.0}, "longitude and latitude belong together"),
    ({"lon": 3.0, "lat": 91.0}, "91 is no latitude"),
    ({"age": float("nan")}, "must be finite"),
    ({"size": 1.0}, "unknown column 'size'"),
    (dict.fromkeys(("colour", "age", "lon", "x", "lat", "hour", "kind"), 1.0), "every column"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=lambda value: str(value)[:30])
def test_given_values_that_cannot_be_are_told(given, message):
    with pytest.raises(ValueError, match=message):
        mixed().conditional(given)
    with pytest.raises(ValueError, match=message):
        mixed().sample(2, given=given)


def test_a_number_must_be_one():
    with pytest.raises(TypeError, match="must be a number"):
        mixed().conditional({"age": "old"})
    with pytest.raises(ValueError, match="longitude and latitude belong together"):
        mixed().marginal(["lon", "x"])


def test_categories_that_never_occur_cannot_be_given():
    mean = mixed().marginal(["colour", "x"])
    shares = np.log(np.tile([0.5, 0.5, 1e-300], (6, 1)))
    shares[:, 2] = -np.inf
    never = km.DomainMean(mean.base, mean.domain, shares, mean.columns)
    assert np.isneginf(never.log([["blue", 0.0]])).all()
    with pytest.raises(ValueError, match="have no probability at all"):
        never.conditional({"colour": "blue"})


# Samples


@pytest.mark.parametrize("name", [name for name in FLAT if len(FLAT[name]) == 1])
def test_draws_have_the_distribution_of_their_column(name):
    mean = flat(name)
    X = mean.sample(4000, random_state=1)
    kind = mean.domain.kinds[0]
    low, high = ranges(kind)
    assert X.min() >= low
    assert X.max() <= high
    assert kstest(X[:, 0], mean.cdf).pvalue > 1e-3


def test_draws_of_all_kinds_have_the_moments_of_the_density():
    mean = mixed()
    rows = mean.sample(20000, random_state=0)
    assert rows.shape == (20000, 7)
    shares = mean.marginal("colour")([["red"], ["green"], ["blue"]])
    drawn = [(rows[:, 0] == name).mean() for name in ("red", "green", "blue")]
    np.testing.assert_allclose(drawn, shares, atol=0.015)
    for t in (1, 3, 5):
        column = rows[:, t].astype(float)
        assert kstest(column, lambda x, t=t: mean.cdf(x, t)).pvalue > 1e-3
    # the place and the category go together: E[u; green] by the components
    chosen = rows[:, 0] == "green"
    u = mean.domain.vectors(mean.coded(rows))[0]
    found = (u * chosen[:, None]).mean(axis=0)
    centers = mean.base.centers[:, 3:]
    lengths = np.linalg.norm(centers, axis=1)
    spreads = mean.base.spreads[:, 3, 3] + 0.25
    kappa = lengths / (spreads / 1.1**2)
    resultant = (1.0 / np.tanh(kappa) - 1.0 / kappa)[:, None] * centers / lengths[:, None]
    share = mean.weights * np.exp(mean.shares_of(0)[:, 1])
    np.testing.assert_allclose(found, share @ resultant, atol=0.015)


def test_draws_with_given_values_are_those_of_the_conditional():
    mean = mixed()
    given = {"colour": "blue", "hour": 23.0, "lon": 20.0, "lat": -10.0}
    rows = mean.sample(5000, random_state=3, given=given)
    for name, value in given.items():
        assert (rows[:, mean.columns.index(name)] == value).all()
    part = mean.conditional(given)
    for name in ("age", "x"):
        column = rows[:, mean.columns.index(name)].astype(float)
        assert kstest(column, lambda x, name=name: part.cdf(x, name)).pvalue > 1e-3
    np.testing.assert_array_equal(mean.sample(3, 5, given=given), mean.sample(3, 5, given=given))
    plain = flat("box").sample(3, given={0: 1.0, 1: 0.5})
    np.testing.assert_array_equal(plain[:, :2], [[1.0, 0.5]] * 3)
