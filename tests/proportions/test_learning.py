"""The way by posteriors: what is asked for, what is chosen on simulated mixtures, the default."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.proportions import choosing, counting, learning
from kernelmean.proportions.choosing import Candidate
from kernelmean.samples import ArraySample

CENTERS = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
LOGISTIC = LogisticRegression()


def drawn(counts, seed):
    rng = np.random.default_rng(seed)
    parts = [c + rng.normal(size=(n, 2)) for c, n in zip(CENTERS, counts, strict=False)]
    return np.concatenate(parts), np.repeat(np.arange(len(counts)), counts)


@pytest.fixture(scope="module")
def fitted():
    X, y = drawn([150, 100, 60], 0)
    return km.ClassProportions(random_state=0).fit(X, np.array(["u", "v", "w"])[y])


# --- which way


@pytest.mark.parametrize(
    ("representation", "options", "expected"),
    [
        ("auto", {}, "posteriors"),
        ("auto", {"solver": "likelihood"}, "posteriors"),
        ("auto", {"bandwidth": 1.0}, "features"),
        ("auto", {"kernel": km.Gaussian(1.0)}, "features"),
        ("auto", {"k": 5}, "features"),
        ("auto", {"solver": "paper"}, "features"),
        ("auto", {"scale": np.eye(2)}, "features"),
        ("auto", {"sparse": False}, "features"),
        ("raw", {}, "features"),
        (None, {}, "features"),
        (LOGISTIC, {}, "posteriors"),
        (LOGISTIC, {"solver": "moments"}, "scores"),
        (LOGISTIC, {"bandwidth": "median"}, "scores"),
    ],
    ids=str,
)
def test_the_options_say_which_way(representation, options, expected):
    settings = km.ClassProportions(**options)._settings()
    assert learning.way(settings, representation, np.array([5, 5]), ["a", "b"]) == expected


def test_the_likelihood_needs_posteriors_and_no_bandwidth():
    X, y = drawn([20, 20], 0)
    with pytest.raises(ValueError, match="solver='likelihood' needs posteriors"):
        km.ClassProportions(solver="likelihood", representation="raw").fit(X, y)
    with pytest.raises(ValueError, match="bandwidth= is for the solvers that compare kernel means"):
        km.ClassProportions(solver="likelihood", bandwidth=1.0).fit(X, y)


def test_raw_and_none_are_the_same_and_compare_by_distance():
    X, y = drawn([60, 60], 0)
    one, two = (
        km.ClassProportions(representation=name, random_state=0).fit(X, y) for name in ("raw", None)
    )
    new = drawn([30, 10], 1)[0]
    np.testing.assert_array_equal(one.predict(new), two.predict(new))
    assert (one.solver_, one.classifier_, one.choice_) == ("qp", None, None)
    assert one.search_ is not None


# --- the default


def test_proportions_are_recovered(fitted):
    for counts in ([300, 150, 50], [0, 100, 400], [200, 0, 0]):
        found = fitted.predict(drawn(counts, 5)[0])
        assert found.sum() == pytest.approx(1.0)
        assert np.abs(found - np.array(counts) / sum(counts)).sum() < 0.12


def test_what_was_fitted_is_there_to_see(fitted):
    assert fitted.classifier_.classes_.tolist() == ["u", "v", "w"]
    assert set(fitted.classifier_.predict(CENTERS)) == {"u", "v", "w"}
    assert len(fitted.means_) == 3
    assert fitted.kernel_ == fitted.means_[0].kernel
    assert fitted.search_ is None
    assert fitted.choice_.chosen.solver == fitted.solver_
    assert len(fitted.choice_.errors) == len(fitted.choice_.candidates) == 12
    assert fitted.choice_.candidates[-1] == Candidate("features")
    assert fitted.classifier_.out_of_fold_.shape == (310, 3)


def test_several_samples_are_as_each_alone(fitted):
    several = [drawn(counts, seed)[0] for seed, counts in enumerate(([50, 20, 5], [1, 0, 9]))]
    together = fitted.predict(several)
    assert together.shape == (2, 3)
    for sample, row in zip(several, together, strict=True):
        np.testing.assert_allclose(fitted.predict(sample), row, atol=1e-9)
    np.testing.assert_array_equal(fitted.predict(tuple(several)), together)
    cube = np.stack([several[0], several[0]])
    np.testing.assert_allclose(fitted.predict(cube), together[[0, 0]], atol=1e-9)
    assert fitted.predict([]).shape == (0, 3)
    assert fitted.predict(several[0].tolist()).shape == (3,)


def test_several_intervals(fitted):
    several = [drawn([50, 20, 5], 3)[0], drawn([10, 0, 9], 4)[0]]
    found = fitted.predict_interval(several)
    assert [len(each.lower) for each in found] == [3, 3]
    alone = fitted.predict_interval(several[1])
    np.testing.assert_allclose(found[1].upper, alone.upper, atol=1e-9)
    assert (alone.lower <= alone.proportions).all()
    assert (alone.proportions <= alone.upper).all()
    assert alone.lower[1] == 0.0
    with pytest.raises(ValueError, match="at least two points"):
        fitted.predict_interval([several[0], several[0][:1]])


def test_a_wrong_one_of_several_is_named(fitted):
    good = drawn([5, 5, 5], 0)[0]
    with pytest.raises(ValueError, match=r"in sample 1: .*NaN"):
        fitted.predict([good, np.full((3, 2), np.nan)])
    with pytest.raises(ValueError, match=r"in sample 2: .*features"):
        fitted.predict_interval([good, good, good[:, :1]])
    with pytest.raises(ValueError, match="in sample 0: "):
        fitted.goodness_of_fit([good[:0]])


def test_several_samples_are_explained_one_by_one(fitted):
    several = [drawn([50, 20, 5], 3)[0], drawn([10, 0, 9], 4)[0] + 5.0]
    first, second = fitted.goodness_of_fit(several)
    assert first.p_value == fitted.goodness_of_fit(several[0]).p_value > 0.01
    assert second.p_value < 0.01


def test_several_samples_by_kernel_means():
    X, y = drawn([60, 60], 0)
    model = km.ClassProportions(bandwidth=1.0, random_state=0).fit(X, y)
    several = [drawn([30, 10], 1)[0], drawn([5, 10], 2)[0]]
    np.testing.assert_array_equal(model.predict(several), [model.predict(X) for X in several])
    assert len(model.predict_interval(several, n_bootstrap=50)) == 2


def test_coverage_of_intervals():
    """Over training sets and samples, about nineteen of twenty intervals hold the truth."""
    covered = []
    for seed in range(30):
        X, y = drawn([60] * 3, seed)
        model = km.ClassProportions(
            representation=LOGISTIC, solver="likelihood", random_state=0
        ).fit(X, y)
        for sample in range(4):
            rng = np.random.default_rng((seed, sample))
            truth = rng.dirichlet(np.ones(3))
            new = drawn(rng.multinomial(120, truth), (seed, sample, 1))[0]
            found = model.predict_interval(new)
            covered.append((found.lower <= truth) & (truth <= found.upper))
    assert 0.92 <= np.mean(covered) <= 0.985


def test_the_same_seed_gives_the_same_and_the_model_travels():
    X, y = drawn([40, 40], 0)
    new = drawn([10, 30], 1)[0]
    one, two = (km.ClassProportions(random_state=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(new), two.predict(new))
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(new), one.predict(new))
    assert clone(one).get_params()["representation"] == "auto"


def test_classes_of_ten_rows():
    X, y = drawn([200, 10, 10], 0)
    model = km.ClassProportions(random_state=0).fit(X, y)
    found = model.predict_interval(drawn([100, 60, 40], 1)[0])
    truth = np.array([0.5, 0.3, 0.2])
    assert ((found.lower <= truth) & (truth <= found.upper)).all()
    assert np.abs(found.proportions - truth).sum() < 0.4


def test_digits_beat_kernel_means_of_pixels():
    X, y = load_digits(n_class=5, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    errors = {}
    for name in ("auto", "raw"):
        model = km.ClassProportions(representation=name, random_state=0).fit(X[:450], y[:450])
        rng, errors[name] = np.random.default_rng(1), []
        for _ in range(12):
            weights = rng.dirichlet(np.ones(5))[y[450:]]
            rows = 450 + rng.choice(len(y) - 450, 200, p=weights / weights.sum())
            truth = np.bincount(y[rows], minlength=5) / 200
            errors[name].append(np.abs(model.predict(X[rows]) - truth).mean())
    assert np.mean(errors["auto"]) < 0.4 * np.mean(errors["raw"])


def test_a_classifier_that_knows_nothing_says_so():
    X, y = drawn([50, 50], 0)
    with pytest.warns(UserWarning, match="no classifier tells the classes apart"):
        km.ClassProportions(representation=DummyClassifier(), random_state=0).fit(X, y)


def test_all_points_equal():
    with pytest.raises(ValueError, match="no spread in the data"):
        km.ClassProportions().fit(np.ones((20, 2)), np.arange(20) % 2)


def test_features_are_taken_where_they_are_better(monkeypatch):
    X, y = drawn([60, 60], 0)
    monkeypatch.setattr(learning, "BETTER", np.inf)
    model = km.ClassProportions(random_state=0).fit(X, y)
    assert (model.classifier_, model.representation_) == (None, None)
    assert model.solver_ == "moments"
    assert model.choice_.chosen == Candidate("features")
    assert all(hasattr(mean, "kappa") for mean in model.means_)  # sparse, whatever was tried
    assert model.predict(drawn([90, 10], 1)[0])[0] == pytest.approx(0.9, abs=0.1)


def test_few_rows_of_many_are_learned_from(monkeypatch):
    X, y = drawn([300, 40], 0)
    monkeypatch.setattr(learning, "LEARNED_ROWS", 100)
    monkeypatch.setattr(counting, "MOST_ROWS", 70)
    model = km.ClassProportions(random_state=0).fit(X, y)
    assert len(model.classifier_.out_of_fold_) == 100
    assert len(model._fitted.y) == 70
    assert model.predict(drawn([50, 50], 1)[0])[0] == pytest.approx(0.5, abs=0.12)


def test_rows_are_balanced():
    y = np.repeat([0, 1, 2], [500, 30, 10])
    rows = choosing.balanced(y, 100, np.random.default_rng(0))
    assert np.bincount(y[rows]).tolist() == [60, 30, 10]
    assert len(np.unique(rows)) == 100
    np.testing.assert_array_equal(choosing.balanced(y, 540, np.random.default_rng(0)), range(540))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "classes"), [(60, 6), (200, 10), (40, 2)])
def test_classes_that_can_hardly_be_told_apart(seed, n, classes):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = km.ClassProportions(representation=LOGISTIC, random_state=seed).fit(
            X, np.arange(n) % classes
        )
    found = model.predict_interval(X)
    assert found.proportions.sum() == pytest.approx(1.0)
    assert np.mean(found.upper - found.lower) > 0.3


def test_decision_values_of_pairs_are_refused():
    X, y = drawn([30, 30, 30], 0)
    with pytest.raises(ValueError, match="take decision_function_shape='ovr'"):
        km.ClassProportions(representation=SVC(decision_function_shape="ovo")).fit(X, y)
    model = km.ClassProportions(representation=SVC(), random_state=0).fit(X, y)
    assert model.predict(drawn([60, 20, 20], 1)[0])[0] == pytest.approx(0.6, abs=0.12)


def test_a_classifier_with_other_shares_than_the_data_is_mended():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [2000, 12])
    X = rng.normal(size=(2012, 2)) + 2.0 * y[:, None]
    even = LogisticRegression(class_weight="balanced")
    P = learning.CalibratedPool(even).fit(X, y).out_of_fold_
    assert P[:, 1].sum() == pytest.approx(12.0, rel=0.1)


def test_few_rows_of_a_class_leave_no_choice():
    model = km.ClassProportions(representation=LOGISTIC, random_state=0).fit(*drawn([40, 4], 0))
    assert (model.choice_, model.solver_) == (None, "likelihood")


def test_huge_values():
    X, y = drawn([40, 40], 0)
    model = km.ClassProportions(random_state=0).fit(X * 1e100, y)
    assert model.predict(drawn([80, 20], 1)[0] * 1e100)[0] == pytest.approx(0.8, abs=0.15)


def test_one_row_and_a_likelihood_that_needs_more():
    X, y = drawn([10, 1], 0)
    with pytest.raises(ValueError, match=r"class 1 has one row.*solver='likelihood' needs one"):
        km.ClassProportions(solver="likelihood").fit(X, y)


# --- simulated mixtures


def test_halves_and_mixtures_are_what_they_say():
    y = np.repeat([0, 1], [9, 30])
    half = choosing.halves(y, np.random.default_rng(0))
    assert np.bincount(half[y == 0]).tolist() == [5, 4]
    pool = np.flatnonzero(half == 1)
    found = choosing.mixtures(y, pool, np.random.default_rng(1))
    for rows, truth in zip(found.rows, found.truth, strict=True):
        assert set(rows) <= set(pool)
        np.testing.assert_allclose(np.bincount(y[rows], minlength=2) / len(rows), truth)


def test_another_is_chosen_only_where_it_is_clearly_better():
    assert choosing._best(np.array([[0.10, 0.08, 0.09], [0.10, 0.07, 0.09]])) == 0
    assert choosing._best(np.array([[0.10, 0.05, 0.09], [0.10, 0.07, 0.09]])) == 0
    assert choosing._best(np.array([[0.10, 0.05, 0.09], [0.10, 0.04, 0.09]])) == 1


@pytest.mark.parametrize(("which", "solver"), [(3, "qp"), (4, "moments")])
def test_what_was_chosen_counts_by_its_means(monkeypatch, which, solver):
    """Posteriors of the wrong class: what compares kernel means does not mind."""
    P = np.random.default_rng(0).dirichlet([1.0, 1.0], 600)
    y = (np.random.default_rng(1).random(600) < P[:, 1]).astype(int)
    turned = P[:, ::-1].copy()
    monkeypatch.setattr(choosing, "_best", lambda errors: which)
    found = counting.counter(turned, y, "auto", 60, "cpu", Streams(0))
    assert found.choice.chosen == Candidate(solver, 0.07)
    assert found.solver == solver
    rows = np.concatenate([np.flatnonzero(y == 0)[:40], np.flatnonzero(y == 1)[:160]])
    sample = ArraySample(turned[rows])
    assert found.proportions(sample)[1] == pytest.approx(0.8, abs=0.15)
    interval = found.intervals(sample, 0.95, 200, Streams(1))
    assert interval.lower[1] <= 0.8 <= interval.upper[1]


def test_the_solver_that_was_asked_for_is_not_chosen():
    P = np.random.default_rng(0).dirichlet([1.0, 1.0], 60)
    found = counting.counter(P, np.arange(60) % 2, "likelihood", 10, "cpu", Streams(0))
    assert found.choice is None
    assert found.solver == "likelihood"


def test_nothing_is_said_on_good_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        km.ClassProportions(random_state=0).fit(*drawn([40, 40], 0))
