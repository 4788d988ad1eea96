"""SparseKDE on a domain: what users give, what they get back, and that it is a density."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kernelmean as km
from tests.mean.on_domain.densities import brute, nodes

# A density by likelihood with few atoms, and the two kinds of copies.
WAYS = {
    "likelihood": {"target": "likelihood", "k": 3},
    "copy": {"target": "kde", "k": 12},
    "error": {"error": 0.1},
    "full": {"sparse": False},
}
WORDS = np.array(["cat", "dog", "eel"], dtype=object)


def draws(kind: str, n: int = 60, seed: int = 0) -> np.ndarray:
    """A column of numbers that reaches its bounds."""
    rng = np.random.default_rng([seed, len(kind)])
    return {
        "half": rng.exponential(size=n),
        "below": 1.0 - rng.exponential(size=n),
        "interval": rng.beta(0.8, 2.0, size=n),
        "period": rng.normal(0.0, 4.0, size=n) % 24.0,
        "any": rng.normal(size=n),
        "names": rng.choice(3, size=n, p=[0.6, 0.3, 0.1]).astype(float),
    }[kind]


DOMAINS = {
    "half": (0, None),
    "below": (None, 1),
    "interval": (0, 1),
    "period": km.Periodic(24),
    "any": (None, None),
    "names": km.Categorical(),
}
RANGES = {
    "half": (0.0, 40.0),
    "below": (-40.0, 1.0),
    "interval": (0.0, 1.0),
    "period": (0.0, 24.0),
    "any": (-15.0, 15.0),
}


def sample(*kinds: str, n: int = 60) -> np.ndarray:
    return np.column_stack([draws(kind, n, t) for t, kind in enumerate(kinds)])


def fitted(*kinds: str, way: str = "copy", n: int = 60, **options) -> km.SparseKDE:
    domain = {t: DOMAINS[kind] for t, kind in enumerate(kinds)}
    options = {"domain": domain, "random_state": 0, **WAYS[way], **options}
    return km.SparseKDE(**options).fit(sample(*kinds, n=n))


def grid(kind: str, panels: int) -> tuple[np.ndarray, np.ndarray]:
    if kind == "names":
        return np.arange(3.0), np.ones(3)
    return nodes(*RANGES[kind], panels=panels, points=8)


@pytest.fixture
def frame() -> pd.DataFrame:
    """A mixed table in which all columns hang together."""
    rng = np.random.default_rng(3)
    which = rng.integers(0, 3, 90)
    return pd.DataFrame(
        {
            "age": rng.exponential(1.0 + which),
            "kind": WORDS[which],
            "hour": rng.normal(8.0 * which, 2.0) % 24.0,
        }
    )


NAMED = {"age": (0, None), "kind": km.Categorical(), "hour": km.Periodic(24)}
COPY = km.SparseKDE(domain=NAMED, k=20, random_state=0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", DOMAINS)
def test_one_column_has_the_integral_one(kind, way):
    density = fitted(kind, way=way)
    x, w = grid(kind, 600)
    assert w @ np.exp(density.score_samples(x[:, None])) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("way", ["likelihood", "copy"])
@pytest.mark.parametrize(
    "kinds", [("half", "interval"), ("period", "names"), ("any", "below"), ("names", "interval")]
)
def test_two_columns_have_the_integral_one(kinds, way):
    density = fitted(*kinds, way=way, n=200)
    (x, u), (y, v) = (grid(kind, 40) for kind in kinds)
    rows = np.array(list(itertools.product(x, y)))
    total = np.exp(density.score_samples(rows)) @ np.outer(u, v).ravel()
    assert total == pytest.approx(1.0, abs=1e-4)  # of the quadrature


@pytest.mark.parametrize("way", WAYS)
def test_places_on_a_sphere_have_the_integral_one(way):
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.normal(170.0, 20.0, 60), 90.0 - rng.exponential(10.0, 60)])
    places[:, 0] = (places[:, 0] + 180.0) % 360.0 - 180.0
    places[0] = 0.0, 90.0
    options = {"domain": {(0, 1): km.Sphere()}, "bandwidth": 0.1, "random_state": 0}
    density = km.SparseKDE(**options, **WAYS[way]).fit(places)
    (lon, u), (lat, v) = nodes(-180.0, 180.0, 20, 6), nodes(-90.0, 90.0, 60, 6)
    rows = np.array(list(itertools.product(lon, lat)))
    areas = np.outer(np.radians(u), np.radians(v) * np.cos(np.radians(lat))).ravel()
    total = np.exp(density.score_samples(rows)) @ areas
    assert total == pytest.approx(1.0, abs=1e-4)
    poles = density.score_samples([[-180.0, 90.0], [0.0, 90.0], [77.0, 90.0]])
    np.testing.assert_allclose(poles, poles[0], rtol=1e-12)
    np.testing.assert_array_equal(density.score_samples([[0.0, 90.1]]), -np.inf)


@pytest.mark.parametrize("way", WAYS)
def test_probabilities_of_categories_sum_to_one(way):
    density = fitted("names", "names", way=way)
    every = np.array(list(itertools.product(range(3), repeat=2)), dtype=float)
    assert np.exp(density.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("bandwidth", [0.5, "scott"])
def test_a_bandwidth_is_nothing_to_categories(bandwidth):
    """Where there are no numbers, the kernel is there for nothing, and its height would count."""
    density = fitted("names", bandwidth=bandwidth, way="likelihood")
    total = np.exp(density.score_samples([[0], [1], [2]])).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["half", "below", "interval"])
def test_zero_outside_and_finite_at_the_bounds(kind, way):
    density = fitted(kind, way=way)
    ends = [end for end in DOMAINS[kind] if end is not None]
    assert np.isfinite(density.score_samples(np.array(ends, dtype=float)[:, None])).all()
    beyond = np.array([end + (1e-9 if end else -1e-9) for end in ends])[:, None]
    np.testing.assert_array_equal(density.score_samples(beyond), -np.inf)
    np.testing.assert_array_equal(density.mean_(beyond), 0.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kinds", [("half",), ("interval", "names"), ("period", "below", "any")])
def test_the_folded_sum_by_brute_force(kinds, way):
    density = fitted(*kinds, way=way)
    rows = sample(*kinds, n=60)[:25]
    expected = brute(density.mean_, rows)
    np.testing.assert_allclose(np.exp(density.score_samples(rows)), expected, rtol=1e-10)


def test_a_full_copy_is_the_product_kernel_of_the_textbooks():
    """(1/n) Σ_i Π_t K_t: folded normals for numbers, Aitchison and Aitken's for categories."""
    n, h, share = 40, 0.3, 0.2
    X = sample("half", "names", n=n)
    domain = {0: (0, None), 1: km.Categorical(smoothing=share)}
    density = km.SparseKDE(domain=domain, bandwidth=h, sparse=False).fit(X)
    x, c = X[:15, :1], X[:15, 1:]

    def normal(t):
        return np.exp(-0.5 * (t / h) ** 2) / (h * np.sqrt(2.0 * np.pi))

    numbers = normal(x - X[:, 0]) + normal(x + X[:, 0])
    names = np.where(c == X[:, 1], 1.0 - share, share / 2.0)
    expected = (numbers * names).mean(axis=1)
    np.testing.assert_allclose(np.exp(density.score_samples(X[:15])), expected, rtol=1e-10)


def test_every_column_with_rows_outside_is_told():
    X = np.full((4, 7), 0.5)
    X[2, 1] = X[3, 4] = 2.0
    fitted = km.SparseKDE(domain=dict.fromkeys(range(7), (0, 1)))
    both = r"column 1 has 1 of 4 .* row 2 with 2; column 4 has 1 of 4 .* row 3 with 2; drop these"
    with pytest.raises(ValueError, match=both):
        fitted.fit(X)
    with pytest.raises(ValueError, match=r"column 4 has .*; and so have 2 more; drop these rows"):
        fitted.fit(X + 1.0)


def test_rows_outside_are_refused_with_their_count_and_column(frame):
    frame.loc[[3, 7], "age"] = -1.0
    with pytest.raises(ValueError, match=r"column 'age' has 2 of 90 values .* row 3 with -1"):
        COPY.fit(frame)
    with pytest.raises(ValueError, match=r"column 1 has 1 of 2 values outside of 0 to 1"):
        km.SparseKDE(domain={1: (0, 1)}).fit([[5.0, 0.5], [5.0, 1.5]])
    with pytest.raises(ValueError, match=r"column 1 has 1 of 2 values that are no latitude"):
        km.SparseKDE(domain={(0, 1): km.Sphere()}).fit([[5.0, 0.5], [5.0, 91.0]])
    with pytest.raises(ValueError, match=r"column 0 has 1 of 2 values that are none of the categ"):
        km.SparseKDE(domain={0: km.Categorical(["a", "b"])}).fit([["a"], ["c"]])


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_missing_categories_are_refused(frame, dtype):
    """Among them NA, which is not equal to itself, nor different."""
    frame = frame.astype({"kind": dtype})
    density = clone(COPY).fit(frame)
    frame.loc[5, "kind"] = None
    with pytest.raises(ValueError, match="column 'kind' has 1 missing values"):
        clone(COPY).fit(frame)
    with pytest.raises(ValueError, match="column 'kind' has 1 missing values"):
        density.score_samples(frame)
    logs = density.score_samples(frame, missing="marginal")
    expected = density.marginal(["age", "hour"]).score_samples(frame[["age", "hour"]])
    np.testing.assert_allclose(logs[5], expected[5])


def test_missing_categories_are_refused_by_classifier_and_detector(frame):
    y = np.arange(len(frame)) % 2
    options = {"domain": NAMED, "random_state": 0, "k": 10}
    classifier = km.SparseKDEClassifier(**options).fit(frame, y)
    detector = km.SparseKDEOutlierDetector(**options).fit(frame)
    frame.loc[5, "kind"] = None
    for ask in (classifier.predict, classifier.predict_proba, detector.predict):
        with pytest.raises(ValueError, match="column 'kind' has 1 missing values"):
            ask(frame)


@pytest.mark.parametrize("way", WAYS)
def test_unseen_categories_have_no_density(frame, way):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    some = frame.head(3).copy()
    some.loc[1, "kind"] = "fox"
    logs = density.score_samples(some)
    np.testing.assert_array_equal(np.isneginf(logs), [False, True, False])


@pytest.mark.parametrize("way", WAYS)
def test_periods_do_not_count(frame, way):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    turned = frame.assign(hour=frame["hour"] + 24.0 * np.arange(-45, 45))
    expected = density.score_samples(frame)
    np.testing.assert_allclose(density.score_samples(turned), expected, rtol=1e-10)
    again = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(turned)
    np.testing.assert_allclose(again.score_samples(frame), expected, rtol=1e-6)


def test_names_of_columns_are_compared(frame):
    density = clone(COPY).fit(frame)
    with pytest.raises(ValueError, match="in this order"):
        density.score_samples(frame[["kind", "age", "hour"]])
    with pytest.raises(ValueError, match="expecting 3 features"):
        density.score_samples(frame[["age", "kind"]].to_numpy())
    with pytest.raises(ValueError, match="unknown column 'weight'"):
        km.SparseKDE(domain={"weight": (0, None)}).fit(frame)


TABLES = {
    "pandas": lambda frame: frame,
    "string": lambda frame: frame.astype({"kind": "string"}),
    "category": lambda frame: frame.astype({"kind": "category"}),
    "polars": lambda frame: pl.from_dict(frame.to_dict("list")),
    "polars categorical": lambda frame: pl.from_dict(frame.to_dict("list")).with_columns(
        pl.col("kind").cast(pl.Categorical)
    ),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "lists": lambda frame: frame.to_numpy(dtype=object).tolist(),
    "tuples": lambda frame: list(map(tuple, frame.to_numpy(dtype=object).tolist())),
}


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_every_make(frame, table):
    given = TABLES[table](frame)
    domain = NAMED if hasattr(given, "columns") else dict(enumerate(NAMED.values()))
    density = km.SparseKDE(domain=domain, k=20, random_state=0).fit(given)
    expected = clone(COPY).fit(frame).score_samples(frame)
    np.testing.assert_array_equal(density.score_samples(given), expected)
    np.testing.assert_array_equal(density.score_samples(frame.to_numpy(dtype=object)), expected)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (np.array([True, False]), (False, True)),
        (np.array([True, False], dtype=object), (False, True)),
        (np.array([np.True_, np.False_], dtype=object), (False, True)),
        (np.array([2.0, 1.5]), (1.5, 2)),
        (np.array([3, 1], dtype=np.int8), (1, 3)),
        (pd.array([3, 1], dtype="Int64"), (1, 3)),
        (pd.to_datetime(["2020-01-02", "2020-01-01"]), None),
        (np.array(["1", 1], dtype=object), (1, "1")),
    ],
    ids=str,
)
def test_categories_of_every_type(values, levels):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": values, "x": [1.0, 2.0]}).loc[rng.integers(0, 2, 40)]
    domain = {"kind": km.Categorical(smoothing=0.01), "x": (0, None)}
    density = km.SparseKDE(domain=domain, k=2, bandwidth=0.3, random_state=0).fit(frame)
    assert levels is None or density.mean_.domain.levels == (levels,)
    crossed = pd.DataFrame({"kind": values[::-1], "x": [1.0, 2.0]})
    assert density.score_samples(frame).min() > density.score_samples(crossed).max()
    rows = density.sample(9, random_state=0)
    assert np.isfinite(density.score_samples(rows)).all()


def test_false_is_no_gap():
    density = fitted("half", "names")
    row = np.array([[0.5, np.False_]], dtype=object)
    expected = density.score_samples([[0.5, 0.0]])
    np.testing.assert_array_equal(density.score_samples(row), expected)
    np.testing.assert_array_equal(density.score_samples(row, missing="marginal"), expected)
    with pytest.raises(TypeError, match="holds np"):
        density.score_samples(row[:, ::-1], missing="marginal")


def test_files_with_categories(frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    source = km.read(tmp_path / "rows.csv", categories=["kind"])
    density = clone(COPY).fit(source)
    expected = clone(COPY).fit(frame)
    np.testing.assert_allclose(density.score_samples(source), expected.score_samples(frame))
    np.testing.assert_allclose(density.score_samples(frame), expected.score_samples(frame))
    assert density.mean_.domain.levels == (tuple(WORDS),)


@pytest.mark.parametrize("way", WAYS)
def test_samples_stay_inside_and_come_back_as_users_have_them(frame, way):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    rows = density.sample(500, random_state=1)
    assert rows.dtype == object
    assert set(rows[:, 1]) == set(WORDS)
    numbers = rows[:, [0, 2]].astype(float)
    assert (numbers >= 0.0).all()
    assert (numbers[:, 1] < 24.0).all()
    assert np.isfinite(density.score_samples(rows)).all()
    shares = [np.mean(frame["kind"] == word) for word in WORDS]
    drawn = [np.mean(rows[:, 1] == word) for word in WORDS]
    np.testing.assert_allclose(drawn, shares, atol=0.12)


def test_samples_of_numbers_are_numbers():
    density = fitted("interval", "names")
    rows = density.sample(50, random_state=0)
    assert rows.dtype == np.float64
    assert set(rows[:, 1]) <= {0.0, 1.0, 2.0}
    assert (density.sample(50, random_state=0) == rows).all()


@pytest.mark.parametrize("way", ["likelihood", "copy"])
def test_questions_agree_with_draws(frame, way):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    rows = density.sample(20_000, random_state=0)
    age, hour = rows[:, 0].astype(float), rows[:, 2].astype(float)
    far = 0.02  # five standard deviations of a share
    for q in (0.3, 2.0):
        assert density.cdf([q], column="age")[0] == pytest.approx((age <= q).mean(), abs=far)
    middle = density.quantile(0.5, column="age")
    assert (age <= middle).mean() == pytest.approx(0.5, abs=far)
    box = density.probability({"age": 0.5, "kind": "dog", "hour": 22.0}, {"hour": 14.0})
    inside = (age >= 0.5) & (rows[:, 1] == "dog") & ((hour >= 22.0) | (hour <= 14.0))
    assert box == pytest.approx(inside.mean(), abs=far)
    part = density.marginal("kind")
    shares = np.exp(part.score_samples([[word] for word in WORDS]))
    np.testing.assert_allclose(shares, [(rows[:, 1] == w).mean() for w in WORDS], atol=far)
    given = density.conditional({"kind": "eel"})
    eels = age[rows[:, 1] == "eel"]
    assert given.cdf([1.0], column="age")[0] == pytest.approx((eels <= 1.0).mean(), abs=2 * far)


@pytest.mark.parametrize("way", ["likelihood", "copy"])
def test_a_conditional_is_the_joint_divided_by_the_marginal(frame, way):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    row = frame.iloc[[4]]
    given = density.conditional({"kind": row["kind"].item(), "hour": row["hour"].item() + 24.0})
    expected = density.score_samples(row)
    expected = expected - density.marginal(["kind", "hour"]).score_samples(row[["kind", "hour"]])
    np.testing.assert_allclose(given.score_samples(row[["age"]]), expected, rtol=1e-9)


@pytest.mark.parametrize("way", ["likelihood", "copy"])
def test_files_and_pickles_keep_everything(frame, way, tmp_path):
    density = km.SparseKDE(domain=NAMED, random_state=0, **WAYS[way]).fit(frame)
    expected = density.score_samples(frame)
    density.save(tmp_path / "density.km")
    read = km.SparseKDE.load(tmp_path / "density.km")
    for other in (read, pickle.loads(pickle.dumps(density))):
        np.testing.assert_array_equal(other.score_samples(frame), expected)
        assert other.feature_names_in_.tolist() == list(frame.columns)
        assert (other.sample(5, random_state=0) == density.sample(5, random_state=0)).all()
    refitted = clone(read).fit(frame)  # with the same bounds and levels
    assert refitted.mean_.domain.levels == density.mean_.domain.levels


def test_clones_searches_and_pipelines(frame):
    density = clone(COPY).set_params(domain=NAMED, k=10)
    assert density.get_params()["domain"] == NAMED
    search = GridSearchCV(density, {"bandwidth": [0.3, 1.0]}, cv=3).fit(frame)
    assert search.best_params_["bandwidth"] in {0.3, 1.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    steps = make_pipeline(FunctionTransformer(), density).fit(frame)
    np.testing.assert_array_equal(
        steps.score_samples(frame), clone(density).fit(frame).score_samples(frame)
    )


def test_a_mean_is_what_the_estimator_fits(frame):
    mean = km.sparse_kernel_mean(frame, k=20, space="l2", domain=NAMED, random_state=0)
    assert isinstance(mean, km.DomainMean)
    assert np.isfinite(mean.log(frame)).all()
    with pytest.raises(ValueError, match="space='l2'"):
        km.sparse_kernel_mean(frame, k=20, domain=NAMED)


def test_what_is_not_offered_is_refused(frame):
    with pytest.raises(ValueError, match="Gaussian kernel"):
        km.SparseKDE(domain=NAMED, kernel="laplacian").fit(frame)
    with pytest.raises(ValueError, match="has a domain"):
        clone(COPY).partial_fit(frame)
    with pytest.raises(ValueError, match="scale= mixes"):
        km.SparseKDE(domain={0: (0, None)}, scale="cov").fit(sample("half", "half"))
