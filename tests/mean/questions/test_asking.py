"""Questions by name, on estimators, on means, on files; and what is refused."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelmean as km
from tests.mean.questions.mixtures import density


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    return pd.DataFrame(
        {"x": x, "y": x + 0.3 * rng.normal(size=400), "z": rng.exponential(size=400)}
    )


@pytest.fixture(scope="module", params=["likelihood", "kde", "full"])
def fitted(request, frame):
    if request.param == "full":
        return km.SparseKDE(sparse=False, bandwidth=0.3).fit(frame)
    k = 30 if request.param == "kde" else "auto"
    return km.SparseKDE(k=k, target=request.param, random_state=0).fit(frame)


def test_a_part_of_an_estimator_is_a_fitted_estimator_with_names(fitted, frame):
    part = fitted.marginal(["z", "x"])
    assert list(part.feature_names_in_) == ["z", "x"]
    assert part.n_features_in_ == 2
    assert part.target_ == fitted.target_
    assert np.isfinite(part.score_samples(frame[["z", "x"]])).all()
    rest = fitted.conditional({"y": 0.5})
    assert list(rest.feature_names_in_) == ["x", "z"]
    joint = fitted.score_samples(pd.DataFrame({"x": [0.4], "y": [0.5], "z": [1.0]}))
    known = fitted.marginal("y").score_samples(pd.DataFrame({"y": [0.5]}))
    found = rest.score_samples(pd.DataFrame({"x": [0.4], "z": [1.0]}))
    np.testing.assert_allclose(found, joint - known, rtol=1e-9)
    assert rest.sample(2, random_state=0).shape == (2, 2)


def test_names_and_positions_mean_the_same(fitted):
    assert fitted.cdf(0.3, "y") == fitted.cdf(0.3, 1) == fitted.cdf(0.3, -2)
    assert fitted.quantile(0.3, "y") == fitted.quantile(0.3, 1)
    named = fitted.probability({"x": 0.0}, {"z": 1.0}, random_state=0)
    assert named == fitted.probability([0.0, None, None], [None, None, 1.0], random_state=0)
    assert named == fitted.probability({0: 0.0}, {2: 1.0}, random_state=0)


def test_frames_and_series_go_by_name(fitted, frame):
    turned = ["z", "x", "y"]
    rows = frame.head(3)
    np.testing.assert_array_equal(fitted.cdf(rows), fitted.cdf(rows.to_numpy()))
    region = fitted.hdr(0.5, random_state=0)
    np.testing.assert_array_equal(region.contains(rows), region.contains(rows.to_numpy()))
    for other in (rows[turned], pl.from_pandas(rows[turned])):
        for question in (fitted.cdf, region.contains, fitted.probability):
            with pytest.raises(ValueError, match="order"):
                question(other)
    low = frame.quantile(0.3)
    expected = fitted.probability(low.to_dict(), random_state=0)
    assert fitted.probability(low, random_state=0) == expected
    assert fitted.probability(low[turned], random_state=0) == expected
    assert fitted.probability(low.to_numpy(), random_state=0) == expected
    np.testing.assert_array_equal(
        fitted.conditional(low[["z", "x"]]).expectation(),
        fitted.conditional(low[["x", "z"]].to_dict()).expectation(),
    )


def test_a_row_of_a_frame_goes_by_name(fitted, frame):
    row = frame.iloc[0]
    expected = fitted.cdf(row.to_numpy())
    np.testing.assert_array_equal(fitted.cdf(row), expected)
    np.testing.assert_array_equal(fitted.cdf(row[["z", "x", "y"]]), expected)
    with pytest.raises(ValueError, match="each of 3 columns"):
        fitted.cdf(row[["z", "x"]])
    places = frame["y"].sort_values()  # of one column: as many rows, whatever they are called
    np.testing.assert_array_equal(fitted.cdf(places, "y"), fitted.cdf(places.to_numpy(), "y"))


def test_series_of_numbered_columns_go_by_number():
    mean = density("points", None)
    turned = pd.Series({2: 1.0, 0: -0.5, 1: 0.25})
    in_order = turned.sort_index().to_numpy()
    assert mean.probability(upper=turned) == mean.probability(upper=in_order)
    assert mean.probability(upper=turned[[1]]) == mean.probability(upper={1: 0.25})
    np.testing.assert_array_equal(mean.cdf(turned), mean.cdf(in_order))
    np.testing.assert_array_equal(
        mean.conditional(turned[[2, 0]]).expectation(),
        mean.conditional({0: -0.5, 2: 1.0}).expectation(),
    )
    with pytest.raises(ValueError, match="twice"):
        mean.conditional(pd.Series([1.0, 2.0], index=[0, 0]))


def test_arrays_without_axes_are_numbers():
    mean = density("points", None)
    one = np.array(1)
    assert mean.quantile(0.3, one) == mean.quantile(0.3, 1)
    np.testing.assert_array_equal(mean.marginal(one).centers, mean.marginal(1).centers)
    assert mean.probability({one.item(): np.array(0.5)}) == mean.probability({1: 0.5})
    with pytest.raises(TypeError, match=r"got 1\.5"):
        mean.marginal(np.array(1.5))


def test_a_mean_refuses_frames_in_another_order(frame, tmp_path):
    km.SparseKDE(k=20, random_state=0).fit(frame).save(tmp_path / "density.km")
    mean = km.load(tmp_path / "density.km")
    rows = frame.head(3)
    for evaluate in (mean, mean.log, mean.gradient, mean.log_gradient):
        np.testing.assert_array_equal(evaluate(rows), evaluate(rows.to_numpy()))
        with pytest.raises(ValueError, match="in this order"):
            evaluate(rows[["z", "x", "y"]])
    for compare in (mean.certificate, mean.refit):
        with pytest.raises(ValueError, match="in this order"):
            compare(frame[["z", "x", "y"]])


def test_frames_go_by_position_where_columns_have_no_names(frame):
    mean = density("points", None)
    np.testing.assert_array_equal(mean.cdf(frame), mean.cdf(frame.to_numpy()))
    assert mean.probability(frame.mean()) == mean.probability(frame.mean().to_numpy())


def test_a_part_can_be_cloned_copied_and_fitted_anew(frame, fitted):
    from sklearn.base import clone

    part = fitted.marginal(["x", "y"])
    again = clone(part).fit(frame[["x", "y"]])
    assert again.n_features_in_ == 2
    for copied in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        np.testing.assert_array_equal(copied.quantile([0.2], "x"), part.quantile([0.2], "x"))


def test_a_saved_density_answers_the_same(frame, tmp_path):
    fitted = km.SparseKDE(random_state=0).fit(frame)
    fitted.save(tmp_path / "density.km")
    mean, again = km.load(tmp_path / "density.km"), km.SparseKDE.load(tmp_path / "density.km")
    for other in (mean, again):
        np.testing.assert_array_equal(
            other.quantile([0.1, 0.9], "z"), fitted.quantile([0.1, 0.9], "z")
        )
        np.testing.assert_array_equal(
            other.conditional({"x": 1.0}).expectation(),
            fitted.conditional({"x": 1.0}).expectation(),
        )
    part = mean.conditional({"x": 1.0})
    assert part.columns == ("y", "z")
    assert part.stop_reason == "derived"
    part.save(tmp_path / "part.km")
    loaded = km.load(tmp_path / "part.km")
    assert loaded.columns == ("y", "z")
    np.testing.assert_array_equal(loaded.log([[1.0, 0.5]]), part.log([[1.0, 0.5]]))


@pytest.mark.parametrize("target", ["kde", "likelihood"])
@pytest.mark.parametrize("batches", [1, 2])
def test_a_saved_part_has_the_target_of_the_whole(frame, tmp_path, target, batches):
    fitted = km.SparseKDE(k=20, target=target, spread="scalar", random_state=0).fit(frame)
    if batches == 2:
        fitted.partial_fit(frame)
    assert fitted.target_ == target
    part = fitted.marginal(["x", "y"]).conditional({"x": 0.5})
    assert part.target_ == target
    part.save(tmp_path / "part.km")
    loaded = km.SparseKDE.load(tmp_path / "part.km")
    assert (loaded.target, loaded.target_) == (target, target)
    assert loaded.partial_fit(frame[["y"]]).target_ == target


class Calm(km.SparseKDE):
    """A subclass with a parameter of its own, and without those of its parent."""

    def __init__(self, calm=1.0):
        super().__init__(k=20, random_state=0)
        self.calm = calm


def test_a_part_of_a_subclass_is_of_the_subclass(frame):
    fitted = Calm(2.0).fit(frame)
    for part in (fitted.marginal("x"), fitted.conditional({"y": 0.0, "z": 1.0})):
        assert isinstance(part, Calm)
        assert part.calm == 2.0
        assert part.quantile(0.5, "x") == part.mean_.quantile(0.5, "x")
        assert part.fit(frame[["x"]]).n_features_in_ == 1


def test_a_part_of_points_can_be_loaded_and_go_on(frame, tmp_path):
    fitted = km.SparseKDE(k=20, spread=None, random_state=0).fit(frame)
    fitted.marginal(["x", "y"]).save(tmp_path / "part.km")
    loaded = km.SparseKDE.load(tmp_path / "part.km")
    assert loaded.partial_fit(frame[["x", "y"]]).mean_.n_points == 2 * len(frame)


@pytest.mark.parametrize("target", ["kde", "likelihood"])
@pytest.mark.parametrize("k", [None, 10])
def test_merged_parts_have_the_target_of_the_whole(frame, tmp_path, target, k):
    fitted = km.SparseKDE(k=30, target=target, bandwidth=0.5, random_state=0).fit(frame)
    part = fitted.mean_.marginal(["x", "y"])
    merged = km.merge([part, part], k=k)
    assert merged.stop_reason == ("likelihood" if target == "likelihood" else "derived")
    merged.save(tmp_path / "merged.km")
    assert km.SparseKDE.load(tmp_path / "merged.km").target_ == target


@pytest.mark.parametrize("method", ["certificate", "refit"])
def test_a_part_says_that_nothing_is_known_of_its_fit(frame, method):
    part = km.SparseKDE(k=20, random_state=0).fit(frame).mean_.marginal("x")
    assert part.bound is None
    assert part.estimated_error is None
    with pytest.raises(ValueError, match="part of another"):
        getattr(part, method)(frame[["x"]].to_numpy())
    assert "derived" in repr(part)


def test_missing_values_of_frames(fitted, frame):
    holes = frame.iloc[:4].copy()
    holes.iloc[1, 0] = np.nan
    found = fitted.score_samples(holes, missing="marginal")
    assert found[0] == fitted.score_samples(frame.iloc[:1])[0]
    part = fitted.marginal(["y", "z"]).score_samples(frame.iloc[1:2][["y", "z"]])
    np.testing.assert_allclose(found[1], part[0], rtol=1e-12)
    polars = fitted.score_samples(pl.from_pandas(holes), missing="marginal")
    np.testing.assert_array_equal(polars, found)
    with pytest.raises(ValueError, match="NaN"):
        fitted.score_samples(holes)
    with pytest.raises(ValueError, match="missing"):
        fitted.score_samples(holes, missing="impute")


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_rows_with_gaps_stand_in_the_order_of_the_columns(fitted, frame, tmp_path, kind):
    holes = frame.iloc[:4].copy()
    holes.iloc[1, 0] = np.nan

    def given(table):
        if kind == "frame":
            return table
        table.to_csv(tmp_path / "holes.csv", index=False)
        return km.read(tmp_path / "holes.csv")

    np.testing.assert_array_equal(
        fitted.score_samples(given(holes), missing="marginal"),
        fitted.score_samples(holes, missing="marginal"),
    )
    for table in (holes, holes.fillna(0.0)):
        with pytest.raises(ValueError, match="order"):
            fitted.score_samples(given(table[["z", "x", "y"]]), missing="marginal")


def test_gaps_are_what_frames_take_for_them(fitted, frame):
    holes = frame.iloc[:4].copy()
    holes.iloc[1, 0] = np.nan
    expected = fitted.score_samples(holes, missing="marginal")
    for gap in (None, pd.NA):
        table = holes.astype(object)
        table.iloc[1, 0] = gap
        for ask in (fitted.score_samples, fitted.mean_.log):
            np.testing.assert_array_equal(ask(table, missing="marginal"), expected)
            np.testing.assert_array_equal(ask(table.to_numpy(), missing="marginal"), expected)
    nullable = holes.astype("Float64")
    np.testing.assert_array_equal(fitted.mean_.log(nullable, missing="marginal"), expected)
    table.iloc[1, 0] = "nothing"
    with pytest.raises(TypeError, match="nothing"):
        fitted.score_samples(table, missing="marginal")


def test_an_unfitted_estimator_says_so():
    from sklearn.exceptions import NotFittedError

    for question in ("modes", "expectation", "covariance", "entropy", "hdr", "sample"):
        with pytest.raises(NotFittedError):
            getattr(km.SparseKDE(), question)()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.marginal("w"), "unknown column 'w'"),
        (lambda f: f.marginal(3), "no column 3"),
        (lambda f: f.marginal([]), "at least one"),
        (lambda f: f.marginal(["x", 0]), "twice"),
        (lambda f: f.probability({"x": 0.0, 0: 1.0}), "twice"),
        (lambda f: f.probability({"x": 1.0}, {"x": 0.0}), "column 'x' exceeds"),
        (lambda f: f.conditional({"x": 0.0, "y": 0.0, "z": 0.0}), "left free"),
        (lambda f: f.conditional({"x": np.nan}), "finite"),
        (lambda f: f.quantile(1.2), "between 0 and 1"),
        (lambda f: f.quantile("x", [0.1, 0.9]), "between 0 and 1"),
        (lambda f: f.quantile([[0.1]]), "between 0 and 1"),
        (lambda f: f.quantile(np.nan), "between 0 and 1"),
        (lambda f: f.cdf([0.1, 0.2]), "column="),
        (lambda f: f.cdf(np.nan, "x"), "NaN"),
    ],
)
def test_what_cannot_be_answered_is_said(fitted, call, message):
    with pytest.raises(ValueError, match=message):
        call(fitted)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f.marginal(True),
        lambda f: f.marginal(1.5),
        lambda f: f.marginal(None),
        lambda f: f.conditional([0.1]),
        lambda f: f.conditional({}),
        lambda f: f.conditional({"x": "big"}),
        lambda f: f.sample(2, given=3.0),
        lambda f: f.quantile(True),
        lambda f: f.quantile([True, False]),
    ],
)
def test_what_is_no_question_is_a_type_error(fitted, call):
    with pytest.raises(TypeError):
        call(fitted)


QUESTIONS = {
    "cdf": (0.0, 0),
    "quantile": (0.5, 0),
    "probability": (),
    "marginal": (0,),
    "conditional": ({0: 0.0},),
    "expectation": (),
    "covariance": (),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_other_kernels_say_that_they_have_no_closed_form(question):
    X = np.random.default_rng(0).normal(size=(20, 2))
    mean = km.kernel_mean(X, kernel=km.Laplacian(1.0), space="l2")
    with pytest.raises(ValueError, match="needs a Gaussian kernel"):
        getattr(mean, question)(*QUESTIONS[question])


@pytest.mark.parametrize("question", [*QUESTIONS, "entropy", "hdr", "modes", "sample"])
def test_what_is_no_density_says_so(question):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="needs a density"):
        getattr(km.kernel_mean(X, bandwidth=1.0), question)(*QUESTIONS.get(question, ()))


def test_weights_that_do_not_sum_to_one_say_so():
    mean = density("points", None)
    half = km.KernelMean(mean.centers, 0.5 * mean.weights, mean.kernel, "l2", None, 6)
    with pytest.raises(ValueError, match=r"sum to 0\.5"):
        half.cdf(0.0, 0)


@pytest.mark.parametrize("kernel", [km.Gaussian(1.0), km.Laplacian(1.0)])
@pytest.mark.parametrize("question", ["entropy", "hdr"])
def test_what_is_asked_of_drawn_points_needs_an_integral_of_one(kernel, question):
    X = np.random.default_rng(0).normal(size=(20, 2))
    half = km.KernelMean(X, np.full(20, 0.025), kernel, "l2", None, 20)
    with pytest.raises(ValueError, match=r"sum to 0\.5"):
        getattr(half, question)()


def test_an_estimate_is_a_float_with_an_error():
    found = km.Estimate(0.123456, 0.0012)
    assert isinstance(found, float)
    assert found == 0.123456
    assert repr(found) == "0.1235 ± 0.0012"
    assert repr(km.Estimate(0.5)) == "0.5"
    assert repr(km.Estimate(0.28130921)) == "0.2813"
    assert repr(km.Estimate(0.28130921, 1e-9)) == "0.2813"  # an error that no digit feels
    assert repr(km.Estimate(0.0, 1e-9)) == "0.0 ± 1e-09"
    assert repr(km.Estimate(0.5, float("nan"))) == "0.5 ± nan"
    assert f"{found:.2f}" == "0.12"
    assert json.loads(json.dumps(found)) == 0.123456
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.standard_error) == (found, found.standard_error)
    with pytest.raises(ValueError, match="negative"):
        km.Estimate(1.0, -1.0)


def test_inputs_are_not_changed(fitted):
    p = np.array([0.1, 0.5])
    p.flags.writeable = False
    fitted.quantile(p)
    x = np.zeros((2, 3))
    x.flags.writeable = False
    fitted.cdf(x)
