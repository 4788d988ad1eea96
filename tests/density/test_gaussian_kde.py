"""``gaussian_kde`` against SciPy's: its own tests, its values, and the sparse density beyond."""

import inspect
import pickle
import re
import types
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from scipy import linalg

import kernelmean as km
from kernelmean.density import gaussian_integrals, gaussian_values, sparse_copy

# Not imported: pytest refuses SciPy's mark for slow tests, which run here as all others do.
SCIPYS_TESTS = Path(scipy.stats.__file__).parent / "tests" / "test_kdeoth.py"
# Tests of SciPy that are known to fail here, by identifier, and why.
DIFFERENCES: dict[str, str] = {}


class Stats(types.ModuleType):
    """``scipy.stats`` with our class in the place of its own."""

    gaussian_kde = km.gaussian_kde

    def __getattr__(self, name):
        return getattr(scipy.stats, name)


def scipys_tests():
    """SciPy's tests of its class as functions of ours: classes there subclass it as they load."""
    fresh = types.ModuleType("scipys_tests_of_ours")
    fresh.stats = Stats("stats")
    code = SCIPYS_TESTS.read_text()
    for old, new in (
        ("from scipy import stats, linalg, integrate\n", "from scipy import linalg, integrate\n"),
        (", marks=[pytest.mark.xslow]", ""),
        ("@pytest.mark.xslow\n", "\n"),
    ):
        assert old in code
        code = code.replace(old, new)
    exec(compile(code, str(SCIPYS_TESTS), "exec"), vars(fresh))
    return fresh


def cases():
    """Every test and every set of its parameters, slow ones too."""
    for name, function in vars(scipys_tests()).items():
        if not (name.startswith("test_") and inspect.isfunction(function)):
            continue
        marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
        values = [[(mark.args[0], plain(value)) for value in mark.args[1]] for mark in marks]
        for chosen in product(*values):
            identifier = "-".join([name, *(str(value) for _, value in chosen)])
            yield pytest.param(function, dict(chosen), id=identifier, marks=marks_of(identifier))


def plain(value):
    """A parameter without the marks that it may have."""
    return value.values[0] if hasattr(value, "values") else value


def marks_of(identifier):
    reason = DIFFERENCES.get(identifier)
    return [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]


@pytest.mark.parametrize(("function", "arguments"), list(cases()))
def test_scipys_own_test(function, arguments):
    function(**arguments)


def test_scipys_tests_are_all_there():
    """A loader that finds nothing would pass."""
    names = {case.values[0].__name__ for case in cases()}
    written = set(re.findall(r"^def (test_\w+)", SCIPYS_TESTS.read_text(), flags=re.MULTILINE))
    assert names == written
    assert len(list(cases())) >= 70
    assert set(DIFFERENCES) <= {case.id for case in cases()}
    assert scipys_tests()._kde_subclass4.__mro__[1] is km.gaussian_kde


def data(d, n=400, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d)) + 2.0 * np.eye(d)
    return root @ rng.normal(size=(d, n)) + 10.0, rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5])
class TestAgainstSciPy:
    def pair(self, d, weighted, **options):
        X, w = data(d)
        given = w if weighted else None
        ours = km.gaussian_kde(X, weights=given, **options)
        return ours, scipy.stats.gaussian_kde(X, weights=given)

    def test_values(self, d, weighted):
        ours, theirs = self.pair(d, weighted)
        Q = np.hstack([data(d, 300, seed=1)[0], 3.0 * data(d, 20, seed=2)[0]])
        for name in ("evaluate", "pdf", "__call__"):
            np.testing.assert_allclose(
                getattr(ours, name)(Q), getattr(theirs, name)(Q), rtol=1e-10, atol=1e-300
            )
        np.testing.assert_allclose(ours.logpdf(Q), theirs.logpdf(Q), rtol=1e-10)
        assert ours.method == "exact"
        assert ours.relative_error == 0.0
        assert ours.sparse_ is None
        assert ours.certificate_ is None

    def test_integrals(self, d, weighted):
        ours, theirs = self.pair(d, weighted)
        other = data(d, 90, seed=3)[0] + 1.0
        mean, cov = np.full(d, 9.0), 0.5 * np.eye(d) + 0.1
        assert ours.integrate_gaussian(mean, cov) == pytest.approx(
            theirs.integrate_gaussian(mean, cov), rel=1e-10
        )
        expected = theirs.integrate_kde(scipy.stats.gaussian_kde(other, 0.7))
        for second in (km.gaussian_kde(other, 0.7), scipy.stats.gaussian_kde(other, 0.7)):
            assert ours.integrate_kde(second) == pytest.approx(expected, rel=1e-10)
        assert km.gaussian_kde(other, 0.7).integrate_kde(ours) == pytest.approx(expected, rel=1e-10)
        low, high = np.full(d, 8.0), np.full(d, 12.0)
        assert ours.integrate_box(low, high, rng=0) == pytest.approx(
            theirs.integrate_box(low, high, rng=0), rel=1e-10
        )
        if d == 1:
            assert ours.integrate_box_1d(8.0, np.inf) == pytest.approx(
                theirs.integrate_box_1d(8.0, np.inf), rel=1e-10
            )

    def test_what_is_known_of_the_data(self, d, weighted):
        ours, theirs = self.pair(d, weighted)
        for rule in (None, "silverman", 0.3, lambda kde: 2.0 * kde.scotts_factor()):
            ours.set_bandwidth(rule)
            theirs.set_bandwidth(rule)
            for name in ("dataset", "covariance", "inv_cov", "cho_cov", "weights"):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
            for name in ("d", "n", "neff", "factor", "log_det"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-12)

    def test_resampling_draws_the_same_points(self, d, weighted):
        ours, theirs = self.pair(d, weighted)
        for seed in (7, np.random.RandomState(7), np.random.default_rng(7)):
            again = pickle.loads(pickle.dumps(seed))
            np.testing.assert_array_equal(
                ours.resample(20, seed=seed), theirs.resample(20, seed=again)
            )

    def test_every_engine(self, d, weighted):
        ours, theirs = self.pair(d, weighted, engine="naive")
        Q = data(d, 50, seed=1)[0]
        np.testing.assert_allclose(ours(Q), theirs(Q), rtol=1e-10)


def test_an_exact_call_sums_every_point_whatever_was_summed_before(monkeypatch):
    X, _ = data(2, 3000)
    kde = km.gaussian_kde(X)
    before = kde(X[:, :50])
    monkeypatch.setattr(gaussian_values, "EXACT_WORK", 3000 * 2 * 100)
    kde(X)
    assert kde.method == "sparse"
    np.testing.assert_array_equal(kde(X[:, :50]), before)
    assert (kde.method, kde.relative_error) == ("exact", 0.0)


@pytest.fixture
def no_exact_calls(monkeypatch):
    monkeypatch.setattr(gaussian_values, "EXACT_WORK", 0.0)
    monkeypatch.setattr(gaussian_integrals, "BOX_POINTS", 0)
    monkeypatch.setattr(sparse_copy, "FIRST_ATOMS", 16)  # so that a search is needed


def error_of(kde, X, weights=None):
    """‖f − f̃‖/‖f‖ by all pairs of points."""
    return kde.sparse_.certificate(X.T, sample_weight=weights, method="exact").relative_error


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("error", [1e-2, 1e-3])
def test_a_large_call_is_within_its_error_and_says_so(no_exact_calls, d, weighted, error):
    X, w = data(d, 8000)
    given = w if weighted else None
    kde = km.gaussian_kde(X, weights=given, error=error)
    exact = scipy.stats.gaussian_kde(X, weights=given)(X)
    values = kde(X)
    measured = error_of(kde, X, given)
    assert kde.method == "sparse"
    assert kde.sparse_.k < 8000 / sparse_copy.POINTS_PER_ATOM
    assert measured <= error
    spread = kde.certificate_.standard_error / kde.certificate_.error
    assert kde.relative_error == kde.certificate_.relative_error <= error
    assert kde.relative_error == pytest.approx(measured, rel=5.0 * spread)
    # L2(f) is not L2, but of one size with it where most points are.
    assert np.sqrt(np.average((values - exact) ** 2, weights=given)) <= 3.0 * error * exact.max()
    np.testing.assert_allclose(np.exp(kde.logpdf(X)), values, rtol=1e-10)


def test_integrals_by_the_sparse_density(no_exact_calls):
    X, w = data(2, 6000)
    Y = data(2, 2000, seed=1)[0] + 1.0
    kde, exact = km.gaussian_kde(X, weights=w), scipy.stats.gaussian_kde(X, weights=w)
    other = km.gaussian_kde(Y)
    theirs = scipy.stats.gaussian_kde(Y)
    norms = np.sqrt(exact.integrate_kde(exact) * theirs.integrate_kde(theirs))
    expected = exact.integrate_kde(theirs)
    for first, second in ((kde, other), (other, kde)):
        assert abs(first.integrate_kde(second) - expected) <= 1e-3 * norms
        assert first.method == "sparse"
        assert 0.0 < first.relative_error <= 1e-3
    low, high = [9.0, 8.0], [12.0, 10.0]
    expected = exact.integrate_box(low, high)
    assert kde.integrate_box(low, high, rng=0) == pytest.approx(expected, abs=2e-3)
    assert kde.method == "sparse"
    reversed_low = exact.integrate_box([12.0, 8.0], [9.0, 10.0])
    assert kde.integrate_box([12.0, 8.0], [9.0, 10.0], rng=0) == pytest.approx(
        reversed_low, abs=2e-3
    )
    assert reversed_low < 0.0


def test_another_bandwidth_discards_the_sparse_density(no_exact_calls):
    X, _ = data(2, 3000)
    kde = km.gaussian_kde(X)
    wide = kde(X)
    first = kde.sparse_
    kde(X)
    assert kde.sparse_ is first
    assert kde.method == "sparse"
    kde.set_bandwidth(0.4)
    assert kde.method == "exact"
    assert kde.sparse_ is None
    assert (kde.method, kde.relative_error) == ("exact", 0.0)
    assert not np.allclose(kde(X), wide, rtol=0.1)
    assert kde.sparse_.kernel.length == 0.4


@pytest.mark.parametrize(
    "call", [lambda kde: kde.integrate_gaussian(0.0, 1.0), lambda kde: kde.integrate_box_1d(0, 1)]
)
def test_what_is_always_exact_says_so_after_a_sparse_call(no_exact_calls, call):
    X, _ = data(1, 3000)
    kde = km.gaussian_kde(X)
    kde(X)
    assert kde.method == "sparse"
    call(kde)
    assert (kde.method, kde.relative_error) == ("exact", 0.0)


def test_another_data_set_discards_it_too(no_exact_calls):
    X, _ = data(2, 3000)
    kde = km.gaussian_kde(X, 0.5)
    values = kde(X)
    kde.dataset = X + 5.0
    assert kde.sparse_ is None
    np.testing.assert_allclose(kde(X + 5.0), values, rtol=1e-2)


def test_logarithms_are_exact_unless_an_error_is_asked_for(no_exact_calls):
    X, _ = data(2, 3000)
    far = np.concatenate([X, X.mean(axis=1, keepdims=True) + 20.0], axis=1)
    exact = scipy.stats.gaussian_kde(X).logpdf(far)
    kde = km.gaussian_kde(X)
    kde(X)
    np.testing.assert_allclose(kde.logpdf(far), exact, rtol=1e-10)
    assert (kde.method, kde.relative_error) == ("exact", 0.0)
    asked = km.gaussian_kde(X, error=1e-3)
    asked.logpdf(far)
    assert asked.method == "sparse"
    assert km.gaussian_kde(X, error=kde.error).error == kde.marginal(0).error == "auto"


@pytest.mark.parametrize("name", ["error", "engine"])
def test_another_error_or_engine_discards_it_too(no_exact_calls, name):
    X, _ = data(2, 3000)
    kde = km.gaussian_kde(X)
    kde(X)
    first = kde.sparse_
    setattr(kde, name, {"error": 1e-2, "engine": "naive"}[name])
    assert kde.method == "exact"
    kde(X)
    assert kde.sparse_ is not first
    assert (kde.sparse_.k < first.k) == (name == "error")
    assert kde.sparse_.engine == ("naive" if name == "engine" else first.engine)


def test_the_points_are_a_copy():
    X, w = data(2)
    given = X.copy()
    kde = km.gaussian_kde(given, weights=w)
    expected = scipy.stats.gaussian_kde(X, 0.4, w)(X)
    given += 5.0
    kde.set_bandwidth(0.4)
    np.testing.assert_allclose(kde(X), expected, rtol=1e-10)


def test_intervals_keep_their_digits_in_both_tails():
    kde = km.gaussian_kde([-1.0, 0.0, 1.0], 0.5)
    for low, high in ((8.0, 9.0), (9.0, np.inf), (12.0, 13.0)):
        below = kde.integrate_box_1d(-high, -low)
        assert below > 0.0
        assert kde.integrate_box_1d(low, high) == pytest.approx(below, rel=1e-12, abs=0.0)
        assert kde.integrate_box_1d(high, low) == -kde.integrate_box_1d(low, high)


@pytest.mark.parametrize("error", [None, 0])
def test_without_an_error_every_call_is_exact(no_exact_calls, error):
    X, _ = data(2, 2000)
    kde = km.gaussian_kde(X, error=error)
    np.testing.assert_allclose(kde(X), scipy.stats.gaussian_kde(X)(X), rtol=1e-10)
    assert kde.method == "exact"
    assert kde.sparse_ is None


def test_what_no_few_atoms_reach_is_summed_exactly(no_exact_calls):
    X, _ = data(5, 2000)
    kde = km.gaussian_kde(X, 0.2, error=1e-4)
    with pytest.warns(km.FitWarning, match=r"no sparse density is within error=0\.0001") as caught:
        values = kde(X)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(values, scipy.stats.gaussian_kde(X, 0.2)(X), rtol=1e-10)
    kde(X)  # it is said once
    assert (kde.method, kde.relative_error, kde.sparse_) == ("exact", 0.0, None)


def test_two_equal_objects_have_equal_values(no_exact_calls):
    X, _ = data(2, 3000)
    first, second = km.gaussian_kde(X), km.gaussian_kde(X)
    np.testing.assert_array_equal(first(X), second(X))
    other = km.gaussian_kde(X, random_state=1)
    assert not np.array_equal(first(X), other(X))


def test_a_marginal_keeps_the_options():
    X, w = data(3)
    kde = km.gaussian_kde(X, 0.4, w, error=0.02, engine="naive", random_state=5)
    part = kde.marginal([0, 2])
    assert (part.error, part.engine, part.factor) == (0.02, "naive", 0.4)
    theirs = scipy.stats.gaussian_kde(X, 0.4, w).marginal([0, 2])
    np.testing.assert_allclose(part(X[[0, 2]]), theirs(X[[0, 2]]), rtol=1e-10)


def test_it_can_be_pickled():
    X, _ = data(2)
    kde = km.gaussian_kde(X, 0.4)
    values = kde(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kde))(X), values)


def test_no_points_have_no_values():
    kde = km.gaussian_kde(data(2)[0])
    assert kde(np.empty((2, 0))).shape == kde.logpdf(np.empty((2, 0))).shape == (0,)


def test_rows_of_weight_zero_are_as_absent():
    X, w = data(2)
    w[::3] = 0.0
    present = km.gaussian_kde(X[:, w > 0.0], weights=w[w > 0.0])
    np.testing.assert_allclose(km.gaussian_kde(X, weights=w)(X), present(X), rtol=1e-12)


def test_inputs_are_left_alone():
    X, w = data(2)
    given = X.copy(), w.copy()
    kde = km.gaussian_kde(X, weights=w)
    kde(X)
    np.testing.assert_array_equal(X, given[0])
    np.testing.assert_array_equal(w, given[1])


LINE = np.arange(20.0)
PLANE = np.vstack([LINE, LINE**2])

REFUSED = {
    "one number": (lambda f: f([1.0]), ValueError, "multiple elements"),
    "nothing": (lambda f: f([]), ValueError, "multiple elements"),
    "a cube": (lambda f: f(np.ones((2, 2, 3))), ValueError, ""),
    "a constant": (lambda f: f(np.ones(5)), linalg.LinAlgError, "lower-dimensional subspace"),
    "a line in the plane": (
        lambda f: f(np.vstack([LINE, np.ones(20)])),
        linalg.LinAlgError,
        "lower-dimensional subspace",
    ),
    "more dimensions than points": (lambda f: f(np.eye(4)[:, :3]), ValueError, "transposing"),
    "NaN": (lambda f: f(np.append(LINE, np.nan)), ValueError, ""),
    "words": (lambda f: f(["a", "b", "c"]), TypeError, ""),
    "complex": (lambda f: f(LINE + 1j * LINE)(LINE), ValueError, ""),
    "complex points": (lambda f: f(LINE)(LINE + 1j), ValueError, ""),
    "words as points": (lambda f: f(LINE)(["a"]), TypeError, ""),
    "NaN as a point": (lambda f: f(LINE)([np.nan]), ValueError, ""),
    "infinite logarithm": (lambda f: f(LINE).logpdf([np.inf]), ValueError, ""),
    "points of another dimension": (
        lambda f: f(PLANE)(np.ones((3, 4))),
        ValueError,
        "points have dimension 3, dataset has dimension 2",
    ),
    "a cube of points": (lambda f: f(PLANE)(np.ones((2, 2, 2))), ValueError, ""),
    "negative weights": (lambda f: f(LINE, weights=LINE - 3.0), ValueError, "negative"),
    "weights all zero": (lambda f: f(LINE, weights=0.0 * LINE), ValueError, ""),
    "two-dimensional weights": (
        lambda f: f(LINE, weights=LINE[:, None]),
        ValueError,
        "one-dimensional",
    ),
    "too few weights": (lambda f: f(LINE, weights=[1.0, 2.0]), ValueError, "length n"),
    "an unknown rule": (lambda f: f(LINE, "rule"), ValueError, "bw_method"),
    "a list as a rule": (lambda f: f(LINE, [1.0]), ValueError, "bw_method"),
    "a NaN factor": (lambda f: f(LINE, np.nan)(LINE), ValueError, ""),
    "a Gaussian of another dimension": (
        lambda f: f(PLANE).integrate_gaussian([0.0], np.eye(2)),
        ValueError,
        "mean does not have dimension 2",
    ),
    "a covariance of another dimension": (
        lambda f: f(PLANE).integrate_gaussian([0.0, 0.0], 1.0),
        ValueError,
        "covariance does not have dimension 2",
    ),
    "a negative covariance": (
        lambda f: f(PLANE).integrate_gaussian([0.0, 0.0], -1e9 * np.eye(2)),
        linalg.LinAlgError,
        "",
    ),
    "densities of two dimensions": (
        lambda f: f(PLANE).integrate_kde(f(LINE)),
        ValueError,
        "same dimensionality",
    ),
    "an interval in the plane": (
        lambda f: f(PLANE).integrate_box_1d(0.0, 1.0),
        ValueError,
        "only handles 1D",
    ),
    "a box of another dimension": (
        lambda f: f(PLANE).integrate_box([0.0] * 3, [1.0] * 3),
        ValueError,
        "",
    ),
}


@pytest.mark.filterwarnings("ignore")  # SciPy warns of some of these before it refuses them
@pytest.mark.parametrize("make", [km.gaussian_kde, scipy.stats.gaussian_kde], ids=["km", "scipy"])
@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse(name, make):
    run, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        run(make)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"error": -1e-3}, "error"),
        ({"error": 1.0}, "below 1"),
        ({"error": "small"}, "error"),
        ({"engine": "steam"}, "steam"),
        ({"random_state": -1}, "random_state"),
        ({"bw_method": 0.0}, "positive"),
        ({"bw_method": -0.3}, "positive"),
        ({"weights": np.append(LINE[1:], np.nan)}, "finite"),
    ],
)
def test_what_only_we_refuse(options, text):
    with pytest.raises((TypeError, ValueError), match=text):
        km.gaussian_kde(LINE, **options)
