"""Where two samples differ: the value, its witness, typical rows, groups, files and bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.comparison import witness
from kernelmean.comparison.groups import holm
from kernelmean.comparison.pairs import check_pair
from kernelmean.comparison.witness import CLEAR, fit_densities


def planted(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal in three dimensions; a tenth of B is a small cluster at (3, 3, 0)."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, n, 3))
    B[: n // 10] = np.array([3.0, 3.0, 0.0]) + 0.3 * rng.normal(size=(n // 10, 3))
    return A, B


@pytest.fixture(scope="module")
def found():
    return km.difference(*planted(), random_state=0)


# What is found


def test_a_planted_cluster_is_found_where_it_is(found):
    A, B = planted()
    assert found.test.p_value == 0.001
    region = found.regions[0]
    assert region.more == 1
    np.testing.assert_allclose(region.center[:2], 3.0, atol=0.3)
    assert set(region.columns[:2]) == {0, 1}
    labels = found.region_labels(B)
    assert (labels[:60] == 0).mean() > 0.9
    assert (labels[60:] == 0).mean() < 0.05
    assert region.shares[1] == pytest.approx(np.mean(labels == 0), abs=1e-12)
    assert region.shares[0] == pytest.approx(np.mean(found.region_labels(A) == 0), abs=1e-12)
    assert region.low <= region.difference <= region.high
    assert "B has" in found.describe()


def test_nothing_is_found_where_nothing_is():
    A, B = np.random.default_rng(3).normal(size=(2, 500, 3))
    found = km.difference(A, B, random_state=0)
    assert found.test.p_value > 0.05
    assert len(found.regions) == 0
    assert (found.region_labels(A) == -1).all()
    assert found.describe().startswith("No difference was found")


def test_a_column_that_was_shifted_explains_most(found):
    A, B = np.random.default_rng(1).normal(size=(2, 500, 4))
    names = ["age", "income", "height", "weight"]
    frames = [pd.DataFrame(X, columns=names) for X in (A, B + np.array([0.0, 0.6, 0.0, 0.0]))]
    found = km.difference(*frames, names=("before", "after"), random_state=0)
    assert found.column_names == tuple(names)
    assert found.columns[0].columns == ("income",)
    assert found.columns[0].share > 0.5
    assert {effect.columns for effect in found.columns} == {(name,) for name in names}
    assert len(pd.DataFrame(found.columns)) == 4
    assert "income" in found.describe()
    assert "after" in repr(found)


def test_columns_of_frames_are_matched_by_name(found):
    A, B = planted()
    frames = pd.DataFrame(A, columns=list("xyz")), pd.DataFrame(B[:, ::-1], columns=list("zyx"))
    same = km.difference(*frames, random_state=0)
    assert same.test.p_value == found.test.p_value
    np.testing.assert_array_equal(same.mean_b.weights, found.mean_b.weights)


def test_intervals_of_regions_hold_although_regions_are_chosen():
    """A shift makes large regions of many claims; the truth is that of 20 000 further rows."""
    missed, total = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A, B, X, Y = (rng.normal(size=(n, 3)) for n in (800, 800, 20_000, 20_000))
        B[:, 0] += 0.5
        Y[:, 0] += 0.5
        found = km.difference(A, B, permutations=1, engine="naive", random_state=0)
        a, b = (found.region_labels(S) for S in (X, Y))
        for i, region in enumerate(found.regions):
            truth = np.mean(b == i) - np.mean(a == i)
            missed += not region.low <= truth <= region.high
            total += 1
    assert total >= 15
    assert missed <= 0.1 * total


# The witness


def test_the_witness_is_the_difference_of_two_mixtures(found):
    Q = np.random.default_rng(5).normal(size=(4, 3))
    for mean, other in ((found.mean_a, found.mean_b), (found.mean_b, found.mean_a)):
        assert np.array_equal(mean.centers, other.centers)
        assert mean.weights.min() >= 0.0
        assert mean.weights.sum() == pytest.approx(1.0)
    mean = found.mean_a
    widths = 1.0 / np.diagonal(mean.scale)
    spreads = mean.spreads if mean.spreads.ndim == 3 else mean.spreads[:, None, None] * np.eye(3)
    expected = np.zeros(4)
    for c, S, w in zip(mean.centers, spreads, mean.weights - found.mean_b.weights, strict=True):
        V = (S + mean.kernel.bandwidth**2 * np.eye(3)) * np.outer(widths, widths)
        expected += w * multivariate_normal(c, V).pdf(Q)
    np.testing.assert_allclose(found(Q), expected, rtol=1e-9, atol=1e-15)


def test_the_gradient_is_that_of_the_witness(found):
    Q = np.random.default_rng(6).normal(size=(5, 3))
    h = 1e-5
    slopes = [(found(Q + h * e) - found(Q - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found.gradient(Q), np.transpose(slopes), rtol=1e-5, atol=1e-9)


def test_a_marginal_integrates_the_other_columns_out(found):
    line = np.linspace(-12.0, 12.0, 4001)
    plane = found.marginal([0, 1])
    at = np.column_stack([np.full(4001, 0.4), line])
    integral = np.sum(plane(at)) * (line[1] - line[0])
    assert integral == pytest.approx(float(found.marginal(["x1"])([[0.4]])[0]), rel=1e-9)


def test_peaks_are_extremes_that_exceed_chance(found):
    peaks = found.peaks()
    assert peaks.values[0] < 0.0
    np.testing.assert_allclose(peaks.points[0, :2], 3.0, atol=0.4)
    assert np.abs(found.gradient(peaks.points)).max() <= 1e-3 * np.abs(peaks.values).max()
    assert (np.abs(peaks.values) > CLEAR * peaks.standard_errors).all()
    assert (np.diff(np.abs(peaks.values)) <= 0.0).all()


def test_the_standard_error_is_that_of_new_samples():
    """Over 60 draws of both samples, the values of densities with one bandwidth scatter as said."""
    Q = np.array([[0.0, 0.0], [1.0, -1.0], [2.0, 1.0]])
    values, errors = [], []
    engine = km.engines.open("naive")
    for seed in range(60):
        pair = check_pair(*np.random.default_rng(seed).normal(size=(2, 400, 2)), None, engine)
        found = fit_densities(pair, None, 0.5, engine, Streams(0))
        values.append(found.witness(Q))
        errors.append(found.standard_errors(Q))
    ratio = np.std(values, axis=0) / np.mean(errors, axis=0)
    assert (ratio > 0.7).all()
    assert (ratio < 1.3).all()


def test_errors_are_those_of_the_rows_that_were_drawn(monkeypatch):
    """Of two samples of one law nothing is clear, however many rows were left out."""
    monkeypatch.setattr(witness, "MAX_ROWS", 500)
    A, B = np.random.default_rng(0).normal(size=(2, 20_000, 1))
    found = km.difference(A, B, random_state=0)
    assert found.mean_a.n_points == 500
    assert len(found.peaks().values) == 0
    assert len(found.typical_a.indices) == 0


def test_frames_are_evaluated_by_name(found):
    A, _ = planted()
    frame = pd.DataFrame(A, columns=["x1", "x2", "x3"])
    turned = frame[["x3", "x1", "x2"]]
    assert np.array_equal(found(turned), found(A))
    assert np.array_equal(found.gradient(turned), found.gradient(A))
    assert np.array_equal(found.region_labels(turned), found.region_labels(A))
    with pytest.raises(ValueError, match="the samples have a column 'x1' that X has not"):
        found.region_labels(frame.rename(columns={"x1": "y"}))


# Typical rows


def test_typical_rows_are_rows_of_the_cluster_and_not_all_alike(found):
    _, B = planted()
    typical = found.typical_b
    assert np.array_equal(typical.points, B[typical.indices])
    assert typical.indices[0] < 60
    assert (typical.values < 0.0).all()
    np.testing.assert_allclose(typical.values, found(typical.points), rtol=1e-9)
    assert len(np.unique(typical.indices)) == len(typical.indices) <= 10


def test_rows_of_weight_zero_are_not_typical():
    A, B = planted()
    w = np.ones(len(B))
    w[:30] = 0.0
    found = km.difference(A, B, sample_weight=(None, w), random_state=0)
    assert found.n_points == (600, 570)
    assert np.array_equal(found.typical_b.points, B[found.typical_b.indices])
    assert found.typical_b.indices.min() >= 30


# Weights, seeds, engines


def test_integer_weights_are_repeated_rows():
    A, B = planted(200)
    w = np.random.default_rng(2).integers(1, 4, 200)
    weighted = km.difference(A, B, sample_weight=(w, None), random_state=0)
    repeated = km.difference(np.repeat(A, w, axis=0), B, random_state=0)
    assert weighted.test.p_value == repeated.test.p_value
    assert weighted.columns == repeated.columns
    np.testing.assert_array_equal(weighted.mean_a.weights, repeated.mean_a.weights)
    assert [r.counts for r in weighted.regions] == [r.counts for r in repeated.regions]


def test_a_seed_fixes_everything(found):
    again = km.difference(*planted(), random_state=0)
    assert again.test.p_value == found.test.p_value
    assert again.columns == found.columns
    assert np.array_equal(again.mean_a.weights, found.mean_a.weights)
    assert np.array_equal(again.regions.cell_labels, found.regions.cell_labels)


def test_the_naive_engine_finds_the_same(found):
    naive = km.difference(*planted(), engine="naive", random_state=0)
    assert naive.test.p_value == found.test.p_value
    assert np.array_equal(naive.regions.cell_labels, found.regions.cell_labels)
    Q = planted()[1][:50]
    np.testing.assert_allclose(naive(Q), found(Q), rtol=1e-6, atol=1e-12)


def test_inputs_are_left_alone():
    A, B = planted(100)
    A.flags.writeable = B.flags.writeable = False
    found = km.difference(A, B, random_state=0)
    with pytest.raises(AttributeError):
        found.level = 0.5


# Groups


def test_each_of_several_groups_is_compared_with_the_rest(tmp_path):
    A, B = planted()
    sites = np.repeat(["Oslo", "Rome", "Turin"], [300, 300, 600])
    found = km.difference(np.concatenate([A, B]), groups=sites, random_state=0)
    assert found.names == ("Oslo", "Rome", "Turin")
    assert [each.names for each in found.differences] == [(n, "the rest") for n in found.names]
    assert [each.n_points for each in found.differences] == [(300, 900), (300, 900), (600, 600)]
    assert found.names[found.order[0]] == "Turin"
    assert found.p_values[2] <= 0.003
    assert "Turin" in found.describe()
    found.save(tmp_path / "groups.km")
    again = km.load(tmp_path / "groups.km")
    assert (again.names, again.p_values) == (found.names, found.p_values)
    assert np.array_equal(again.order, found.order)
    assert again.describe() == found.describe()
    assert np.array_equal(again.differences[2](A), found.differences[2](A))


def test_many_tests_have_permutations_enough_to_be_found():
    """Holm's rule multiplies the least p-value by the number of groups."""
    X = np.random.default_rng(0).normal(size=(90, 1))
    sites = np.repeat(["a", "b", "c"], 30)
    found = km.difference(X, groups=sites, permutations=9, random_state=0)
    assert all(3 / (1 + len(each.test.null)) <= 0.05 for each in found.differences)


def test_two_groups_are_two_samples(found):
    A, B = planted()
    frame = pd.DataFrame(np.concatenate([A, B]), columns=["x1", "x2", "x3"])
    both = km.difference(frame, groups=np.repeat([1, 2], 600), random_state=0)
    assert both.names == ("1", "2")
    assert both.test.p_value == found.test.p_value
    assert both.columns == found.columns


def test_p_values_are_adjusted_by_holm():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.5])), [0.04, 0.09, 0.09, 0.5])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])


# Files


def test_a_file_brings_everything_back(found, tmp_path):
    found.save(tmp_path / "difference.km")
    again = km.load(tmp_path / "difference.km")
    assert isinstance(again, km.Difference)
    _, B = planted()
    assert np.array_equal(again(B), found(B))
    assert np.array_equal(again.region_labels(B), found.region_labels(B))
    assert again.describe() == found.describe()
    assert (again.columns, again.pairs) == (found.columns, found.pairs)
    assert again.test.components == found.test.components
    assert np.array_equal(again.test.null, found.test.null)
    assert again.test.threshold(0.05) == found.test.threshold(0.05)
    for name in ("typical_a", "typical_b"):
        for one, other in zip(getattr(again, name), getattr(found, name), strict=True):
            assert np.array_equal(one, other)
    for one, other in zip(again.histograms.edges, found.histograms.edges, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(again.peaks().values, found.peaks().values)


def test_a_file_keeps_what_weights_mean(tmp_path):
    A, B = planted(200)
    w = np.random.default_rng(1).exponential(size=(2, 200))
    found = km.difference(A, B, sample_weight=(w[0], w[1]), random_state=0)
    found.save(tmp_path / "weighted.km")
    again = km.load(tmp_path / "weighted.km")
    assert again.mean_a.n_points == found.mean_a.n_points < 150
    assert np.array_equal(again.peaks().standard_errors, found.peaks().standard_errors)


def test_pickles_and_copies_are_equal(found):
    _, B = planted()
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert np.array_equal(twin(B), found(B))
        assert twin.describe() == found.describe()


def test_a_difference_is_no_density(found, tmp_path):
    path = tmp_path / "difference.km"
    found.save(path)
    with pytest.raises(ValueError, match="holds a difference of samples, not a kernel mean"):
        km.SparseKDE.load(path)
    damaged = path.read_bytes()[:-40]
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        km.load(path)


def test_a_file_with_the_wrong_contents_is_refused(found, tmp_path):
    from kernelmean.mean import storage

    path = tmp_path / "difference.km"
    found.save(path)
    header, arrays = storage.read(path)
    for broken in (
        ({**header, "columns": ["x"]}, arrays),
        (header, {**arrays, "weights_a": arrays["weights_a"][1:]}),
        ({name: value for name, value in header.items() if name != "test"}, arrays),
        (header, {name: array for name, array in arrays.items() if name != "edges_1"}),
    ):
        storage.write(path, *broken)
        with pytest.raises(ValueError, match="does not hold a difference that can be read"):
            km.load(path)


# Bad and strange input

GOOD = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "sentence"),
    [
        ((GOOD,), {}, ValueError, "give a second sample B"),
        ((GOOD, GOOD[:, :1]), {}, ValueError, "A has 2 columns and B has 1"),
        ((GOOD[:1], GOOD), {}, ValueError, "A has one point only"),
        ((GOOD, np.where(GOOD > 1, np.nan, GOOD)), {}, ValueError, "B holds NaN"),
        ((GOOD, GOOD), {"groups": np.ones(20)}, ValueError, "not both"),
        ((GOOD,), {"groups": np.ones(20)}, ValueError, "one group only"),
        ((GOOD,), {"groups": np.ones(3)}, ValueError, "each of the 20 rows"),
        ((GOOD,), {"groups": [None] + ["a"] * 19}, ValueError, "missing values"),
        ((GOOD,), {"groups": ["b"] + ["a"] * 19}, ValueError, "group 'b' has one row only"),
        ((GOOD, GOOD), {"level": 1.5}, ValueError, "false-discovery rate below 1"),
        ((GOOD, GOOD), {"level": "5 %"}, TypeError, "level must be a number"),
        ((GOOD, GOOD), {"scale": "cov"}, ValueError, "unknown scale"),
        ((GOOD, GOOD), {"names": ["one"]}, ValueError, "names must be two words"),
        ((GOOD, GOOD), {"names": ["one", "one"]}, ValueError, "names must differ"),
        ((GOOD,), {"groups": ["a", "b"] * 10, "names": ["a", "b"]}, ValueError, "names= is for"),
        ((GOOD,), {"groups": np.array(["a", 1] * 10, dtype=object)}, ValueError, "several kinds"),
        (
            (GOOD,),
            {"groups": pd.array(["a", None] * 10, dtype="string")},
            ValueError,
            "missing values",
        ),
        (
            (pd.DataFrame(GOOD, columns=["x", "x"]), GOOD),
            {},
            ValueError,
            "A has more than one column 'x'",
        ),
        ((GOOD, GOOD), {"columns": ["x", "x"]}, ValueError, "2 different names"),
        ((GOOD, GOOD), {"bandwidth": "wide"}, ValueError, "unknown bandwidth rule"),
        ((GOOD, GOOD), {"permutations": 0}, ValueError, "permutations must be at least 1"),
    ],
)
def test_bad_input_gets_one_clear_sentence(arguments, options, error, sentence):
    with pytest.raises(error, match=sentence):
        km.difference(*arguments, **options)


def test_a_column_that_there_is_not_is_said(found):
    with pytest.raises(ValueError, match="unknown column 'y'"):
        found.marginal(["y"])
    with pytest.raises(ValueError, match="no column 3"):
        found.marginal([3])


@pytest.mark.parametrize(
    ("A", "B"),
    [
        (np.ones((20, 2)), np.ones((30, 2))),
        (GOOD[:2], GOOD[2:4]),
        (GOOD, GOOD),
        (GOOD[:5], np.random.default_rng(1).normal(size=(300, 2))),
        (np.column_stack([GOOD[:, 0], np.ones(20)]), np.column_stack([-GOOD[:, 0], np.ones(20)])),
    ],
    ids=["equal", "four rows", "twice", "five rows", "a constant"],
)
def test_little_data_gives_little(A, B):
    found = km.difference(A, B, random_state=0)
    assert found.test.p_value > 0.05
    assert len(found.regions) == 0
    assert np.isfinite(found(A)).all()
    assert all(np.isfinite(effect[1:]).all() for effect in (*found.columns, *found.pairs))


def test_a_column_that_is_constant_in_one_sample_explains_the_difference():
    A, B = np.random.default_rng(1).normal(size=(2, 200, 2))
    B[:, 1] = 0.3
    found = km.difference(A, B, random_state=0)
    assert found.test.p_value == 0.001
    assert found.columns[0].columns == ("x2",)


def test_one_column_has_no_pairs():
    A, B = np.random.default_rng(1).normal(size=(2, 200, 1))
    found = km.difference(A, B + 1.0, random_state=0)
    assert found.pairs == ()
    assert {region.more for region in found.regions} == {0, 1}
