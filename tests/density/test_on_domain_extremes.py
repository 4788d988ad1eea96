"""Densities on a domain of few rows, or equal ones, odd units, weights, many columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.domains import Bounds
from tests.mean.on_domain.densities import nodes

COPY = {"target": "kde", "random_state": 0}
LIKELIHOOD = {"target": "likelihood", "k": 2, "random_state": 0}
BOTH = pytest.mark.parametrize("options", [COPY, LIKELIHOOD], ids=["copy", "likelihood"])
HALF = {0: (0, None)}
NAMED = {"share": (0, 1), "kind": km.Categorical(), "hour": km.Periodic(24)}


def table(n: int = 80, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "share": rng.beta(1.0 + 2.0 * which, 2.0),
            "kind": np.array(["u", "v"], dtype=object)[which],
            "hour": rng.normal(10.0 * which, 2.0, n) % 24.0,
        }
    )


def scores(domain, X, Q, options, **fit):
    return km.SparseKDE(domain=domain, **options).fit(X, **fit).score_samples(Q)


@BOTH
def test_ten_rows(options):
    X = np.random.default_rng(0).exponential(size=(10, 1))
    density = km.SparseKDE(domain=HALF, bandwidth=0.2, **options).fit(X)
    x, w = nodes(0.0, 60.0, 800, 6)
    assert w @ np.exp(density.score_samples(x[:, None])) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("domain", "row"),
    [
        (HALF, [0.0]),
        ({0: (0, 1)}, [1.0]),
        ({0: km.Periodic(3)}, [3.0]),
        ({0: km.Categorical()}, ["a"]),
        ({(0, 1): km.Sphere()}, [10.0, 90.0]),
        ({0: km.Categorical(), 1: (0, None)}, ["a", 0.0]),
    ],
    ids=str,
)
@BOTH
def test_one_row_has_the_density_of_its_kernel(domain, row, options):
    density = km.SparseKDE(domain=domain, bandwidth=0.5, **options).fit([row])
    assert np.isfinite(density.score_samples([row])).all()
    assert np.isfinite(density.score_samples(density.sample(9, random_state=0))).all()
    with pytest.raises(ValueError, match="1 rows, but at least 2"):
        km.SparseKDE(domain=domain).fit([row])


@BOTH
def test_a_single_category_is_certain(options):
    X = np.full((1, 1), "a", dtype=object)
    density = km.SparseKDE(domain={0: km.Categorical()}, bandwidth=0.5, **options).fit(X)
    np.testing.assert_allclose(density.score_samples([["a"], ["b"]]), [0.0, -np.inf], atol=1e-12)


@pytest.mark.parametrize("domain", [HALF, {0: (0, 2)}, {0: km.Periodic(2)}], ids=str)
@pytest.mark.parametrize("value", [0.0, 1.0])
@BOTH
def test_a_column_that_is_constant_needs_a_bandwidth(domain, value, options):
    X = np.full((20, 1), value)
    with pytest.raises(ValueError, match="finds no spread"):
        km.SparseKDE(domain=domain, **options).fit(X)
    density = km.SparseKDE(domain=domain, bandwidth=0.1, **COPY).fit(X)
    expected = np.log(1.0 / (0.1 * np.sqrt(2.0 * np.pi)))
    if value == 0.0 and not isinstance(domain[0], km.Periodic):
        expected += np.log(2.0)  # what was beyond the bound
    np.testing.assert_allclose(density.score_samples(X[:1]), expected)


@BOTH
def test_all_rows_in_one_category(options):
    rng = np.random.default_rng(0)
    x = rng.exponential(size=(40, 1))
    X = np.hstack([x, np.full((40, 1), 7.0)])
    density = km.SparseKDE(domain={0: (0, None), 1: km.Categorical()}, **options).fit(X)
    assert np.isfinite(density.score_samples(X)).all()
    rows = density.sample(30, random_state=0)
    np.testing.assert_array_equal(rows[:, 1], 7.0)


def test_a_category_that_no_row_has_is_possible_where_it_was_named():
    kinds = {0: km.Categorical(["a", "b", "c"])}
    X = np.array([["a"], ["b"]] * 10, dtype=object)
    for options in (COPY, LIKELIHOOD):
        shares = np.exp(scores(kinds, X, [["a"], ["b"], ["c"]], options))
        assert shares.sum() == pytest.approx(1.0)
        assert 0.0 < shares[2] < shares[0]


@BOTH
def test_many_zeros_at_a_bound(options):
    rng = np.random.default_rng(0)
    X = np.where(rng.random(150) < 0.6, 0.0, rng.exponential(size=150))[:, None]
    density = km.SparseKDE(domain=HALF, **options).fit(X)
    at, behind, beyond = density.score_samples([[0.0], [1.0], [-1e-12]])
    assert np.isfinite(at)
    assert at > behind
    assert np.isneginf(beyond)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@BOTH
def test_foreign_units(unit, options):
    """The density is one over the unit, to what the unit does to the rounding of the rows."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.exponential(size=60), rng.random(60)])
    expected = scores({0: (0, None), 1: (0, 1)}, X, X, options)
    units = np.array([unit, 1.0])
    found = scores({0: (0, None), 1: (0, 1)}, X * units, X * units, options)
    np.testing.assert_allclose(found + np.log(unit), expected, atol=1e-4)


@BOTH
def test_an_interval_that_is_narrow_and_far_away(options):
    X = 1e6 + np.random.default_rng(0).random((60, 1)) * 1e-3
    ends = 1e6, 1e6 + 1e-3
    density = km.SparseKDE(domain={0: ends}, **options).fit(np.clip(X, *ends))
    x, w = nodes(0.0, 1.0, 100, 6)
    logs = density.score_samples(np.clip(1e6 + 1e-3 * x, *ends)[:, None])
    assert w @ np.exp(logs + np.log(1e-3)) == pytest.approx(1.0, abs=1e-4)


@BOTH
def test_single_precision(options):
    X = np.random.default_rng(0).random((60, 2)).astype(np.float32)
    X[0] = 0.0, 1.0
    domain = {0: (0, 1), 1: (0, 1)}
    expected = scores(domain, X.astype(np.float64), X.astype(np.float64), options)
    np.testing.assert_array_equal(scores(domain, X, X, options), expected)


@BOTH
def test_integer_weights_are_repeated_rows(options):
    X = table(60)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    repeated = X.loc[np.repeat(np.arange(len(X)), weights)]
    found = scores(NAMED, X, X, options, sample_weight=weights)
    np.testing.assert_allclose(found, scores(NAMED, repeated, X, options), rtol=1e-6)


@BOTH
def test_absent_rows_do_not_matter(options):
    """Not even where they lie outside, or have a category of their own, or none."""
    X = table(60)
    absent = X.head(3).copy()
    absent["share"] = -5.0, 0.5, 0.5
    absent["kind"] = "u", "strange", None
    weights = np.repeat([0.0, 1.0], [3, len(X)])
    density = km.SparseKDE(domain=NAMED, **options)
    density.fit(pd.concat([absent, X], ignore_index=True), sample_weight=weights)
    assert density.mean_.domain.levels == (("u", "v"),)
    np.testing.assert_array_equal(density.score_samples(X), scores(NAMED, X, X, options))


@BOTH
def test_one_seed_gives_one_density(options):
    X = table(60)
    found = scores(NAMED, X, X, options)
    np.testing.assert_array_equal(scores(NAMED, X, X, options), found)


@BOTH
def test_the_number_of_threads_does_not_matter(options):
    X = table(60)
    one, two = (
        scores(NAMED, X, X, {**options, "engine": km.engines.open("cpu", threads=threads)})
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("d", range(1, 9))
def test_several_bounded_columns(d):
    """An image for each corner that a centre is near: few of them where the bandwidth is small."""
    rng = np.random.default_rng(d)
    X = rng.random((60, d))
    X[0] = 0.0
    density = km.SparseKDE(domain=dict.fromkeys(range(d), (0, 1)), bandwidth=0.05, k=8).fit(X)
    assert len(density.mean_.images.owner) <= 8 * 4.0**d
    corner, outside = density.score_samples([np.zeros(d), np.full(d, -1e-9)])
    assert np.isneginf(outside)
    rows = density.sample(200, random_state=0)
    assert ((rows >= 0.0) & (rows <= 1.0)).all()
    assert np.isfinite(density.score_samples(rows)).all()
    assert np.isfinite(corner)


def test_a_domain_that_was_learned_can_be_given_again():
    X = table(60)
    first = km.SparseKDE(domain=NAMED, **COPY).fit(X)
    again = km.SparseKDE(domain=first.mean_.domain, **COPY).fit(X)
    np.testing.assert_array_equal(again.score_samples(X), first.score_samples(X))
    assert first.mean_.domain.kinds[0] == Bounds(0.0, 1.0)
