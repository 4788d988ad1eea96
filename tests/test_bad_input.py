"""Bad and odd input: it works as the theory says, or one sentence tells what was wrong and what
would be right.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import kernelmean as km
from tests import brute

GOOD = np.random.default_rng(0).normal(size=(30, 2))


def fit(X, **options):
    return km.sparse_kernel_mean(X, **{"bandwidth": 0.7, "random_state": 0, **options})


def one_sentence(caught):
    """A message a user can act on: one sentence, not a traceback from elsewhere."""
    message = str(caught.value)
    assert 15 < len(message) < 350
    assert "\n" not in message
    return message


BAD_ARRAYS = {
    "NaN": (np.array([[0.0, np.nan], [1, 2]]), ValueError, "NaN"),
    "inf": (np.array([[0.0, np.inf], [1, 2]]), ValueError, "infinite"),
    "-inf": (np.array([[0.0, -np.inf], [1, 2]]), ValueError, "infinite"),
    "empty": (np.empty((0, 2)), ValueError, "at least one point"),
    "no columns": (np.empty((3, 0)), ValueError, "column"),
    "empty list": ([], ValueError, "points|shape"),
    "one dimension": (np.arange(5.0), ValueError, "reshape"),
    "a number": (3.0, ValueError, "table"),
    "three dimensions": (np.zeros((4, 3, 2)), ValueError, "3 dimensions"),
    "strings": (np.array([["a", "b"]]), TypeError, "strings"),
    "numbers as strings": ([["1", "2"]], TypeError, "strings"),
    "bytes": (np.array([[b"a", b"b"]]), TypeError, "bytes"),
    "complex": (np.array([[1 + 2j, 0]]), TypeError, "complex"),
    "objects": (np.array([[object(), 1]], dtype=object), TypeError, "object"),
    "None": (np.array([[None, 1.0]], dtype=object), TypeError, "None"),
    "nothing": (None, (TypeError, ValueError), "X"),
    "dates": (np.array([["2020-01-01", "2021-01-01"]], dtype="datetime64[D]"), TypeError, "dates"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "differ in length"),
    "sparse matrix": (sparse.csr_matrix(np.eye(3)), TypeError, "toarray"),
    "sparse array": (sparse.coo_array(np.eye(3)), TypeError, "toarray"),
    "structured": (np.zeros(3, dtype=[("a", float), ("b", float)]), (TypeError, ValueError), "X"),
    "beyond squares": (np.array([[1e200, 0.0], [0.0, 0.0]]), ValueError, "overflow"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
@pytest.mark.parametrize("door", ["fit", "k_center", "rule", "evaluate", "certificate", "refit"])
def test_arrays_that_are_no_points_are_refused_at_every_door(case, door):
    X, kind, word = BAD_ARRAYS[case]
    if X is None and door == "refit":
        X = [None]  # without data refit() is sound
    mean = fit(GOOD, k=3)
    doors = {
        "fit": lambda: fit(X),
        "k_center": lambda: km.k_center(X, 2),
        "rule": lambda: km.bandwidth.scott(X),
        "evaluate": lambda: mean(X),
        "certificate": lambda: mean.certificate(X),
        "refit": lambda: mean.refit(X),
    }
    word = "Q|X" if word == "X" else word
    with pytest.raises(kind, match=word) as caught:
        doors[door]()
    one_sentence(caught)


@pytest.mark.parametrize("method", ["__call__", "log", "gradient", "certificate", "refit"])
@pytest.mark.parametrize("columns", [1, 3])
def test_another_number_of_columns_is_named(method, columns):
    mean = fit(GOOD, k=3, constraint="simplex")
    with pytest.raises(ValueError, match=f"{columns} columns, but 2") as caught:
        getattr(mean, method)(np.zeros((4, columns)))
    one_sentence(caught)


BAD_WEIGHTS = {
    "negative": ([-1.0] + [1.0] * 29, ValueError, "nonnegative"),
    "all zero": ([0.0] * 30, ValueError, "zero everywhere"),
    "NaN": ([np.nan] * 30, ValueError, "NaN"),
    "inf": ([np.inf] * 30, ValueError, "infinite"),
    "too few": ([1.0] * 29, ValueError, r"\(30,\)"),
    "a column": (np.ones((30, 1)), ValueError, r"\(30,\)"),
    "a number": (2.0, ValueError, r"\(30,\)"),
    "empty": ([], ValueError, r"\(30,\)"),
    "strings": (["1"] * 30, TypeError, "strings"),
    "complex": (np.ones(30) * 1j, TypeError, "complex"),
    "objects": (np.array([None] * 30), TypeError, "None"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_weights_that_are_none_are_refused_at_every_door(case):
    w, kind, word = BAD_WEIGHTS[case]
    mean = fit(GOOD, k=3)
    for door in (
        lambda: fit(GOOD, sample_weight=w),
        lambda: km.k_center(GOOD, 2, sample_weight=w),
        lambda: km.bandwidth.iqr(GOOD, w),
        lambda: mean.certificate(GOOD, sample_weight=w),
        lambda: mean.refit(GOOD, sample_weight=w),
    ):
        with pytest.raises(kind, match=word) as caught:
            door()
        one_sentence(caught)


BAD_OPTIONS = {
    "k zero": ({"k": 0}, ValueError, "at least 1"),
    "k negative": ({"k": -3}, ValueError, "at least 1"),
    "k fractional": ({"k": 2.5}, TypeError, "whole number"),
    "k true": ({"k": True}, TypeError, "whole number"),
    "k nothing": ({"k": None}, TypeError, "whole number"),
    "k word": ({"k": "many"}, ValueError, "'auto'"),
    "k_max zero": ({"k_max": 0}, ValueError, "k_max"),
    "tol negative": ({"tol": -1e-3}, ValueError, "tol"),
    "tol NaN": ({"tol": np.nan}, ValueError, "tol"),
    "tol word": ({"tol": "small"}, TypeError, "tol"),
    "patience zero": ({"patience": 0}, ValueError, "patience"),
    "bandwidth zero": ({"bandwidth": 0.0}, ValueError, "bandwidth"),
    "bandwidth negative": ({"bandwidth": -1.0}, ValueError, "bandwidth"),
    "bandwidth NaN": ({"bandwidth": np.nan}, ValueError, "bandwidth"),
    "bandwidth inf": ({"bandwidth": np.inf}, ValueError, "bandwidth"),
    "bandwidth list": ({"bandwidth": [1.0]}, TypeError, "bandwidth"),
    "bandwidth true": ({"bandwidth": True}, TypeError, "bandwidth"),
    "bandwidth nothing": ({"bandwidth": None}, TypeError, "bandwidth"),
    "unknown rule": ({"bandwidth": "scotty"}, ValueError, "'scott', 'silverman', 'iqr', 'median'"),
    "unknown kernel": ({"kernel": "quartic"}, ValueError, "'gaussian', 'laplacian', .*'cauchy'"),
    "student by name": ({"kernel": "student"}, ValueError, "km.Student"),
    "kernel class": ({"kernel": km.Gaussian}, TypeError, "km.Gaussian"),
    "kernel with a bandwidth": (
        {"kernel": km.Gaussian(1.0), "bandwidth": 2.0},
        ValueError,
        "own scale",
    ),
    "unknown space": ({"space": "L3"}, ValueError, "'rkhs', 'l2'"),
    "unknown selection": (
        {"selection": "kcentre"},
        ValueError,
        "'kcenter', 'greedy', 'kmeans\\+\\+', 'kmeans', 'random'",
    ),
    "unknown constraint": (
        {"constraint": "positive"},
        ValueError,
        "'simplex', 'simplex-projection', 'sum-to-one'",
    ),
    "unknown solver": ({"solver": "lu"}, ValueError, "'cholesky', 'cg'"),
    "unknown engine": ({"engine": "gpus"}, ValueError, "'naive', 'cpu'"),
    "engine number": ({"engine": 3}, TypeError, "'naive', 'cpu'"),
    "unknown scale": ({"scale": "mad"}, ValueError, "'std', 'cov'"),
    "scale of other size": ({"scale": np.eye(3)}, ValueError, r"\(2, 2\)"),
    "scale singular": ({"scale": [[1.0, 2.0], [2.0, 4.0]]}, ValueError, "singular"),
    "scale singular up to rounding": (
        {"scale": [[0.1, 0.3], [0.2, 0.1 * 6]]},
        ValueError,
        "singular",
    ),
    "scale NaN": ({"scale": [[np.nan, 0.0], [0.0, 1.0]]}, ValueError, "NaN"),
    "rows out of range": ({"selection": [0, 30]}, ValueError, "0 to 29"),
    "rows negative": ({"selection": [-1, 3]}, ValueError, "0 to 29"),
    "rows twice": ({"selection": [3, 3]}, ValueError, "more than once"),
    "rows none": ({"selection": []}, ValueError, "non-empty"),
    "rows fractional": ({"selection": [0.5, 1.0]}, ValueError, "integer"),
    "rows as table": ({"selection": [[0, 1]]}, ValueError, "one-dimensional"),
    "seed word": ({"random_state": "lucky"}, TypeError, "random_state"),
    "seed negative": ({"random_state": -1}, ValueError, "random_state"),
    "seed fractional": ({"random_state": 0.5}, TypeError, "random_state"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_mean_nothing_are_refused_with_what_would(case):
    options, kind, word = BAD_OPTIONS[case]
    with pytest.raises(kind, match=word) as caught:
        fit(GOOD, **options)
    one_sentence(caught)


BAD_DOMAINS = {
    "a list": ([(0, 1)], TypeError, "maps columns to a pair"),
    "a number": ({0: 1.0}, TypeError, "maps columns to a pair"),
    "a word": ({0: "periodic"}, TypeError, "maps columns to a pair"),
    "a bound that is a word": ({0: ("low", None)}, TypeError, "number"),
    "a bound that is NaN": ({0: (np.nan, None)}, ValueError, "NaN"),
    "bounds the wrong way": ({0: (9, -9)}, ValueError, "must lie below"),
    "equal bounds": ({0: (1, 1)}, ValueError, "must lie below"),
    "a column by name": ({"age": (0, None)}, ValueError, "the columns have no names"),
    "no such column": ({2: (-9, None)}, ValueError, "no column 2"),
    "a column that is true": ({True: (-9, None)}, TypeError, "a name or a position"),
    "a column twice": ({0: (-9, None), -2: (-9, None)}, ValueError, "names column 0 twice"),
    "a sphere of one column": ({0: km.Sphere()}, ValueError, "needs two columns"),
    "two bounded columns": ({(0, 1): (-9, 9)}, ValueError, "one by one"),
    "rows outside": ({0: (9, None)}, ValueError, "30 of 30 values outside"),
}


@pytest.mark.parametrize("door", ["SparseKDE", "SparseKDEOutlierDetector", "mean"])
@pytest.mark.parametrize("case", BAD_DOMAINS)
def test_domains_that_mean_nothing_are_refused_with_what_would(case, door):
    domain, kind, word = BAD_DOMAINS[case]
    doors = {
        "SparseKDE": lambda: km.SparseKDE(domain=domain).fit(GOOD),
        "SparseKDEOutlierDetector": lambda: km.SparseKDEOutlierDetector(domain=domain).fit(GOOD),
        "mean": lambda: fit(GOOD, space="l2", domain=domain),
    }
    with pytest.raises(kind, match=word) as caught:
        doors[door]()
    one_sentence(caught)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_periods_that_are_none_are_refused(value):
    with pytest.raises(ValueError, match="period"):
        km.Periodic(value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_kernels_of_impossible_scale_are_refused(value):
    for make in (
        km.Gaussian,
        km.Laplacian,
        km.Cauchy,
        lambda v: km.Student(v, 1.0),
        lambda v: km.Student(2.0, v),
    ):
        with pytest.raises(ValueError, match="must be") as caught:
            make(value)
        one_sentence(caught)


@pytest.mark.parametrize("value", ["wide", None, [1.0], True, 1j])
def test_kernels_whose_scale_is_no_number_are_refused(value):
    for make in (
        km.Gaussian,
        km.Laplacian,
        km.Cauchy,
        lambda v: km.Student(v, 1.0),
        lambda v: km.Student(2.0, v),
    ):
        with pytest.raises(TypeError, match="number") as caught:
            make(value)
        one_sentence(caught)


@pytest.mark.parametrize(
    ("first", "kind"),
    [(30, ValueError), (-1, ValueError), (1.0, TypeError), (True, TypeError), ("0", TypeError)],
)
def test_a_first_centre_that_is_no_row_is_refused(first, kind):
    with pytest.raises(kind, match="first") as caught:
        km.k_center(GOOD, 3, first=first)
    one_sentence(caught)


def test_an_unknown_certificate_lists_the_methods():
    with pytest.raises(ValueError, match="'auto', 'exact', 'rows', 'spectral'") as caught:
        fit(GOOD, k=3).certificate(GOOD, method="precise")
    one_sentence(caught)


def test_a_student_kernel_without_an_integral_is_refused_in_l2_only():
    kernel = km.Student(0.5, 1.0)
    assert fit(GOOD, kernel=kernel, bandwidth="scott", k=3).k == 3
    with pytest.raises(ValueError, match="alpha > 1") as caught:
        fit(GOOD, kernel=kernel, bandwidth="scott", k=3, space="l2")
    one_sentence(caught)


MISMATCHES = {
    "kernel families": ({}, {"kernel": "laplacian"}),
    "bandwidths in the RKHS": ({}, {"bandwidth": 0.8}),
    "spaces": ({}, {"space": "l2"}),
    "scales": ({}, {"scale": "std"}),
    "families in L2": ({"space": "l2"}, {"space": "l2", "kernel": "laplacian"}),
    "bandwidths of a Laplacian in L2": (
        {"space": "l2", "kernel": "laplacian"},
        {"space": "l2", "kernel": "laplacian", "bandwidth": 1.0},
    ),
}


@pytest.mark.parametrize("case", MISMATCHES)
@pytest.mark.parametrize("verb", ["inner", "distance"])
def test_means_that_do_not_match_have_no_inner_product(case, verb):
    a, b = (fit(GOOD, k=3, **options) for options in MISMATCHES[case])
    with pytest.raises(ValueError, match="differ") as caught:
        getattr(a, verb)(b)
    one_sentence(caught)
    with pytest.raises(ValueError, match="differ"):
        km.distance_matrix([a, b])
    with pytest.raises(ValueError, match="differ"):
        km.merge([a, b])


@pytest.mark.parametrize("verb", ["inner", "distance"])
@pytest.mark.parametrize(
    "other", [3, None, GOOD, "mean"], ids=["number", "nothing", "array", "text"]
)
def test_an_inner_product_needs_a_mean(verb, other):
    with pytest.raises(TypeError, match="SparseKernelMean") as caught:
        getattr(fit(GOOD, k=3), verb)(other)
    one_sentence(caught)


def test_means_of_other_dimension_have_no_inner_product():
    with pytest.raises(ValueError, match=r"2-D .* 1-D") as caught:
        fit(GOOD, k=3).inner(fit(GOOD[:, :1], k=3))
    one_sentence(caught)


@pytest.mark.parametrize("means", [[], None, 3, ["mean"]])
def test_merging_and_comparing_need_a_list_of_means(means):
    for verb in (km.merge, km.distance_matrix):
        with pytest.raises((ValueError, TypeError), match="SparseKernelMean") as caught:
            verb(means)
        one_sentence(caught)


def test_merging_takes_any_iterable_count_of_centres_that_makes_sense():
    mean = fit(GOOD, k=3)
    for k, kind in ((0, ValueError), (2.0, TypeError), ("auto", TypeError)):
        with pytest.raises(kind, match="k must"):
            km.merge([mean, mean], k=k)


# What is odd but sound


def test_one_point_is_its_own_mean():
    mean = fit([[1.0, 2.0]])
    assert (mean.k, mean.weights[0], mean.cover, mean.bound) == (
        1,
        pytest.approx(1.0, rel=1e-14),
        0.0,
        pytest.approx(0.0, abs=1e-7),
    )
    assert mean([[1.0, 2.0]])[0] == pytest.approx(1.0, rel=1e-14)
    assert fit([[1.0, 2.0]], k=5).stop_reason == "distinct"


def test_one_column_works():
    X = GOOD[:, :1]
    mean = fit(X, k=30)
    assert mean.certificate(X, random_state=0).relative_error < 1e-6
    np.testing.assert_allclose(
        mean(X), brute.gram(brute.gaussian(0.7), X, X) @ brute.uniform(X), atol=1e-6
    )


@pytest.mark.parametrize("selection", ["kcenter", "random", "kmeans++", "kmeans"])
def test_points_that_are_all_equal_give_one_centre_of_weight_one(selection):
    mean = fit(np.full((40, 3), 7.5), selection=selection)
    assert (mean.k, mean.stop_reason) == (1, "distinct")
    assert mean.weights[0] == pytest.approx(1.0, rel=1e-13)
    np.testing.assert_array_equal(mean.centers, [[7.5, 7.5, 7.5]])
    with pytest.raises(ValueError, match="positive number"):
        km.sparse_kernel_mean(np.full((40, 3), 7.5))


def test_a_constant_column_is_no_obstacle_but_for_scaling_by_it():
    X = np.column_stack([GOOD, np.full(30, 3.0)])
    wider, plain = (fit(data, k=9, spread=None) for data in (X, GOOD))
    np.testing.assert_array_equal(wider.indices, plain.indices)
    np.testing.assert_allclose(wider.weights, plain.weights, rtol=1e-9)
    assert fit(X, k=9).certificate(X).relative_error < 0.5  # a spread is the same in every column
    for scale in ("std", "cov"):
        with pytest.raises(ValueError, match="column 2 is constant"):
            fit(X, k=9, scale=scale)
    with pytest.raises(ValueError, match="linear combinations"):
        fit(np.column_stack([GOOD, GOOD.sum(axis=1)]), k=9, scale="cov")


@pytest.mark.parametrize("k", [21, 10**6, 10**12, 10**17])
def test_more_centres_than_distinct_points_give_the_distinct_points_at_full_accuracy(k):
    """What was asked for beyond the distinct points must not enter the jitter."""
    X = np.repeat(GOOD[:20], 2, axis=0)
    mean = fit(X, k=k)
    assert (mean.k, mean.stop_reason) == (20, "distinct")
    assert mean.jitter < 1e-12
    assert mean.certificate(X, method="exact").below_floor
    limited = fit(X, k_max=k, tol=0.0)
    assert limited.k == 20
    assert limited.jitter < 1e-12


def test_object_arrays_of_numbers_are_numbers():
    np.testing.assert_array_equal(fit(GOOD.astype(object), k=5).weights, fit(GOOD, k=5).weights)


def as_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", GOOD)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


def read_only(_):
    X = GOOD.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "read-only": read_only,
    "Fortran": lambda _: np.asfortranarray(GOOD),
    "strided": lambda _: np.repeat(np.repeat(GOOD, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda _: GOOD[::-1].copy()[::-1],
    "transposed": lambda _: np.ascontiguousarray(GOOD.T).T,
    "memory-mapped": as_memory_map,
    "list": lambda _: GOOD.tolist(),
    "big-endian": lambda _: GOOD.astype(">f8"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_the_same_numbers_in_any_form_give_the_same_answer(tmp_path, form, engine):
    X = FORMS[form](tmp_path)
    mean, expected = (
        fit(Y, bandwidth="median", scale="cov", k=9, engine=engine, selection="kcenter")
        for Y in (X, GOOD)
    )
    for name in ("centers", "weights", "indices", "radii", "kappa", "indicator"):
        np.testing.assert_allclose(
            getattr(mean, name), getattr(expected, name), rtol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(mean(X), expected(GOOD), rtol=1e-12)
    np.testing.assert_allclose(mean.gradient(X), expected.gradient(GOOD), rtol=1e-9, atol=1e-12)
    assert mean.certificate(X, method="exact").error == pytest.approx(
        expected.certificate(GOOD, method="exact").error, rel=1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint8, bool])
def test_narrow_numbers_are_computed_in_float64(dtype):
    """Not merely close: the same bits as the same values given as float64."""
    X = (np.random.default_rng(1).integers(0, 9, size=(30, 2)) * 0.5).astype(dtype)
    wide = X.astype(np.float64)
    a, b = (fit(Y, k=5, bandwidth=0.9) for Y in (X, wide))
    assert a.centers.dtype == np.float64
    np.testing.assert_array_equal(a.weights, b.weights)
    np.testing.assert_array_equal(a(X), b(wide))


def test_no_input_is_ever_modified():
    X, Q, w, A, rows = (
        GOOD.copy(),
        GOOD[:5].copy(),
        np.arange(30.0),
        np.array([[2.0, 0.1], [0.0, 1.0]]),
        np.array([4, 2, 9]),
    )
    before = [a.copy() for a in (X, Q, w, A, rows)]
    for selection in ("kcenter", "random", "kmeans++", "kmeans", rows):
        for engine in ("naive", "cpu"):
            mean = fit(
                X,
                k=3,
                scale=A,
                sample_weight=w,
                selection=selection,
                engine=engine,
                constraint="simplex",
            )
            (
                mean(Q),
                mean.log(Q),
                mean.gradient(Q),
                mean.refit(X, sample_weight=w, bandwidth="median"),
            )
            (
                mean.certificate(X, sample_weight=w, method="exact"),
                mean.certificate(X, sample_weight=w, method="spectral"),
            )
    km.k_center(X, 3, sample_weight=w)
    for rule in (km.bandwidth.scott, km.bandwidth.silverman, km.bandwidth.iqr, km.bandwidth.median):
        rule(X, w)
    for now, then in zip((X, Q, w, A, rows), before, strict=True):
        np.testing.assert_array_equal(now, then)


# Far from the origin, and on wildly different scales


@pytest.mark.parametrize("engine", ["naive", "cpu"])
@pytest.mark.parametrize("scale", [None, "std", "cov"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_an_offset_of_1e8_loses_no_accuracy(engine, scale, space):
    """far − 1e8 is exact, so both clouds have the same differences to the last bit: all else must
    agree to rounding.
    """
    far = np.random.default_rng(2).normal(size=(150, 2)) + 1e8
    near = far - 1e8
    assert np.array_equal(near + 1e8, far)
    a, b = (
        fit(X, scale=scale, space=space, k=25, engine=engine, selection="kcenter")
        for X in (far, near)
    )
    np.testing.assert_array_equal(a.indices, b.indices)
    for name in ("weights", "radii", "kappa", "indicator", "cover"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, err_msg=name)
    assert a.jitter == b.jitter
    np.testing.assert_allclose(a(far), b(near), rtol=1e-11)
    np.testing.assert_allclose(a.gradient(far), b.gradient(near), rtol=1e-9, atol=1e-11)
    for method in ("exact", "rows", "spectral"):
        found, expected = (
            a.certificate(far, method=method, random_state=0),
            b.certificate(near, method=method, random_state=0),
        )
        assert found.error == pytest.approx(expected.error, rel=1e-6)
    assert a.bound == pytest.approx(b.bound, rel=1e-11)
    again = a.refit(far, bandwidth=0.4)
    np.testing.assert_allclose(again.weights, b.refit(near, bandwidth=0.4).weights, rtol=1e-9)
    merged = km.merge([a, a], k=25)
    assert merged.distance(a) <= 1e-7 * np.sqrt(a.inner(a))


@pytest.mark.parametrize("selection", ["random", "kmeans++", "kmeans"])
def test_every_selection_is_the_same_at_an_offset_of_1e8(selection):
    far = np.random.default_rng(3).normal(size=(150, 2)) + 1e8
    a, b = (fit(X, selection=selection, k=10) for X in (far, far - 1e8))
    np.testing.assert_allclose(
        a.centers - 1e8, b.centers, atol=2e-8
    )  # one unit in the last place of 1e8
    # Centroids themselves are rounded at 1.5e-8 there; rows are not.
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-5 if selection == "kmeans" else 1e-10)


@pytest.mark.parametrize("scale", ["std", "cov"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_columns_of_wildly_different_scale_are_as_good_as_standardised_ones(scale, space):
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(150, 3))
    units = np.array([1e-60, 1.0, 2.0**200])
    a = km.sparse_kernel_mean(
        Z * units, bandwidth=0.7, scale=scale, space=space, k=25, random_state=0
    )
    b = km.sparse_kernel_mean(Z, bandwidth=0.7, scale=scale, space=space, k=25, random_state=0)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-8)
    shift = -np.log(units).sum() if space == "l2" else 0.0
    simple, other = a.refit(constraint="simplex"), b.refit(constraint="simplex")
    np.testing.assert_allclose(simple.log(Z[:5] * units), other.log(Z[:5]) + shift, atol=1e-8)
    assert a.certificate(Z * units, method="exact").relative_error == pytest.approx(
        b.certificate(Z, method="exact").relative_error, rel=1e-8
    )


@pytest.mark.parametrize("factor", [1e-100, 1e-8, 1e8, 1e100])
def test_units_of_measurement_do_not_matter(factor):
    a, b = (
        km.sparse_kernel_mean(X, bandwidth="scott", k=9, random_state=0)
        for X in (GOOD * factor, GOOD)
    )
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-7)
    np.testing.assert_allclose(a(GOOD * factor), b(GOOD), rtol=1e-9)
    assert a.cover == pytest.approx(b.cover * factor, rel=1e-12)
