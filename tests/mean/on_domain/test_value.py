"""A mean on a domain as a value: evaluation against brute force, its rows, its words."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import kernelmean as km
from kernelmean.domains import Bounds, Domain
from tests.mean.on_domain.densities import FLAT, KINDS, brute, flat, mixed, rows_of

MIXED = ("colour", "age", "lon", "x", "lat", "hour", "kind")


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", FLAT)
def test_numbers_agree_with_a_brute_force_sum_over_images(name, spread):
    mean = flat(name, spread)
    rows = rows_of(mean)
    expected = brute(mean, rows)
    np.testing.assert_allclose(mean(rows), expected, rtol=1e-10)
    np.testing.assert_allclose(mean.log(rows), np.log(expected), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("spread", KINDS)
def test_all_kinds_of_columns_together_do_so_too(spread):
    mean = mixed(spread)
    rows = rows_of(mean)
    written = mean.written(rows)
    assert written.dtype == object
    np.testing.assert_allclose(mean(written), brute(mean, rows), rtol=1e-10)
    np.testing.assert_allclose(mean.log(written), np.log(brute(mean, rows)), atol=1e-10)
    np.testing.assert_array_equal(mean(written.tolist()), mean(written))


@pytest.mark.parametrize("name", FLAT)
def test_signed_weights_are_summed_and_have_no_logarithm(name):
    mean = flat(name, "scalar", signed=True)
    rows = rows_of(mean)
    np.testing.assert_allclose(mean(rows), brute(mean, rows), rtol=1e-9, atol=1e-14)
    with pytest.raises(ValueError, match="log needs nonnegative weights"):
        mean.log(rows)
    with pytest.raises(ValueError, match="needs a density, with nonnegative weights"):
        mean.sample(1)


def test_rows_outside_have_no_density():
    mean = flat("box")
    inside = np.array([[0.0, 2.0, 0.0]])
    assert mean(inside)[0] > 0.0
    outside = np.array([[-1e-9, 0.0, 0.0], [1.0, 2.1, 0.0], [1.0, -1.1, 0.0]])
    np.testing.assert_array_equal(mean(outside), 0.0)
    np.testing.assert_array_equal(mean.log(outside), -np.inf)


def test_a_period_goes_on():
    mean = flat("period")
    x = np.array([[-0.9], [0.0], [1.7]])
    np.testing.assert_allclose(mean(x + 9.0), mean(x), rtol=1e-12)


def test_unknown_categories_have_no_density_and_missing_ones_are_refused():
    mean = mixed().marginal(["colour", "x"])
    np.testing.assert_array_equal(mean([["pink", 0.0]]), 0.0)
    with pytest.raises(ValueError, match=r"missing values in colour.*missing='marginal'"):
        mean([[None, 0.0]])


def test_frames_go_by_their_names():
    pandas = pytest.importorskip("pandas")
    mean = mixed()
    written = mean.written(rows_of(mean))
    frame = pandas.DataFrame(written, columns=MIXED).infer_objects()
    np.testing.assert_array_equal(mean(frame), mean(written))
    with pytest.raises(ValueError, match="give them in this order"):
        mean(frame[list(MIXED[::-1])])
    with pytest.raises(ValueError, match="column"):
        mean(written[:, :3])


def test_the_marginal_of_what_is_known_stands_for_rows_with_gaps():
    mean = mixed()
    rows = mean.written(rows_of(mean, 8))
    known = [[0, 3], [1, 2, 4, 5], list(range(7)), [], [6], [3]]
    gaps = [np.setdiff1d(np.arange(7), columns) for columns in known]
    for i, lost in enumerate(gaps):
        rows[i, lost] = None if i % 2 else np.nan
    found = mean.log(rows, missing="marginal")
    for i, columns in enumerate(known):
        if not columns:
            assert found[i] == 0.0
            continue
        part = mean.marginal(columns)
        some = rows[i : i + 1, columns]
        expected = part.log(some if columns != [3] else some.astype(float))
        np.testing.assert_allclose(found[i], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[6:], mean.log(rows[6:]), rtol=1e-12)
    rows[0, 2] = 5.0
    rows[0, 4] = None
    with pytest.raises(ValueError, match="longitude and latitude belong together"):
        mean.log(rows, missing="marginal")


@pytest.mark.parametrize("method", ["gradient", "log_gradient"])
@pytest.mark.parametrize("name", FLAT)
def test_gradients_are_those_of_the_folded_sum(name, method):
    mean = flat(name)
    rows = rows_of(mean, 4)
    step = 1e-5
    values = mean if method == "gradient" else mean.log
    for t in range(mean.dimension):
        move = step * np.eye(mean.dimension)[t]
        kind = mean.domain.kinds[t]
        if isinstance(kind, Bounds):
            rows[:, t] = np.clip(rows[:, t], kind.lower + 1e-3, kind.upper - 1e-3)
        slope = (values(rows + move) - values(rows - move)) / (2.0 * step)
        np.testing.assert_allclose(getattr(mean, method)(rows)[:, t], slope, rtol=1e-5, atol=1e-7)


def test_gradients_are_zero_outside_and_refused_where_there_are_no_numbers():
    mean = flat("half-line")
    np.testing.assert_array_equal(mean.gradient([[-1.0]]), [[0.0]])
    np.testing.assert_array_equal(mean.log_gradient([[-1.0]]), [[0.0]])
    other = mixed()
    with pytest.raises(ValueError, match=r"needs columns of numbers.*colour.*conditional"):
        other.gradient(other.sample(1))


def test_centres_are_rows_of_the_domain():
    mean = mixed()
    centers = mean.centers
    assert centers.shape == (6, 7)
    assert np.isfinite(mean.log(centers)).all()
    first = np.exp(mean.shares_of(0)).argmax(axis=1)
    assert centers[:, 0].tolist() == [("red", "green", "blue")[i] for i in first]
    np.testing.assert_allclose(centers[:, 5].astype(float), mean.base.centers[:, 2] % 24.0)
    numbers = mean.marginal(["age", "hour"]).centers
    assert numbers.dtype == np.float64
    np.testing.assert_allclose(numbers[:, 0], mean.base.centers[:, 0])


def test_it_is_frozen_and_pickled():
    mean = mixed()
    with pytest.raises(FrozenInstanceError):
        mean.columns = None
    with pytest.raises(ValueError, match="read-only"):
        mean.log_shares[0, 0] = 1.0
    again = pickle.loads(pickle.dumps(mean))
    rows = mean.sample(3, random_state=0)
    np.testing.assert_array_equal(again(rows), mean(rows))
    assert repr(again) == repr(mean)


def test_it_says_what_it_is():
    text = repr(mixed())
    assert text.startswith("DomainMean(6 full atoms for 6 points in 7 columns, ")
    for word in (
        "colour: 3 categories",
        "age ≥ 0",
        "lon/lat on a sphere",
        "hour modulo 24",
        "kind: 2 categories",
    ):
        assert word in text
    assert "-1 ≤ column 0 ≤ 2" in repr(flat("interval"))
    assert "column 0 ≤ 1" in repr(flat("below"))


def test_what_is_known_of_a_fit_is_that_of_the_mean_inside():
    X = np.abs(np.random.default_rng(0).normal(size=(200, 1)))
    inner = km.sparse_kernel_mean(
        X, bandwidth=0.4, space="l2", constraint="simplex", k=12, random_state=0
    )
    mean = km.DomainMean(inner, Domain((Bounds(0.0, np.inf),)))
    for name in ("k", "space", "stop_reason", "selection", "constraint", "n_points", "engine"):
        assert getattr(mean, name) == getattr(inner, name)
    assert mean.estimated_error == inner.estimated_error > 0.0
    assert mean.kernel is inner.kernel
    assert mean.kappa is inner.kappa
    assert mean.is_density
    assert flat("half-line").stop_reason is None
