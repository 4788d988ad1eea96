"""What the paper's Table 3, Table 5 and Figure 6 are made with, on small samples."""

import numpy as np
import pytest
from paper import error_indicator, kl_table, mixtures, proportions, proportions_rows
from scipy.spatial.distance import cdist

import kernelmean as km
from kernelmean.linalg import simplex


@pytest.fixture(scope="module")
def half():
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.normal(size=(mixtures.CLASSES, 4))
    y, labels = (np.repeat(np.arange(mixtures.CLASSES), n) for n in (60, 40))
    X, pool = (centers[which] + rng.normal(size=(len(which), 4)) for which in (y, labels))
    return mixtures.Half(X, y, pool, labels)


def test_a_mixture_has_the_proportions_it_is_said_to_have(half):
    rows, truth = half.mixture(0.5, np.random.default_rng(1))
    assert len(rows) == len(set(rows)) == half.largest == 40
    np.testing.assert_allclose(
        np.bincount(half.labels[rows], minlength=mixtures.CLASSES) / 40, truth
    )


def test_halves_share_no_point():
    X = np.arange(40.0)[:, None]
    y = np.tile(np.arange(10), 4)
    first, second = mixtures.halves(X, y, X, y)
    assert set(first.y) <= set(range(mixtures.CLASSES))
    assert not set(first.X.ravel()) & set(second.X.ravel())
    assert not set(first.pool.ravel()) & set(second.pool.ravel())
    assert len(first.X) + len(second.X) == 20


def test_full_proportions_solve_the_papers_system(half):
    rows, _ = half.mixture(1.0, np.random.default_rng(2))
    groups = [*half.groups, half.pool[rows]]
    G = np.array(
        [[np.exp(-cdist(A, B, "sqeuclidean") / 8.0).mean() for A in groups] for B in groups]
    )
    differences = np.column_stack([np.eye(4), -np.ones(4)])
    D, e = differences @ G[:5, :5] @ differences.T, differences @ (G[:5, 5] - G[:5, 4])
    first = np.linalg.solve(D, e)
    expected = simplex.project(np.append(first, 1.0 - first.sum()))
    found = proportions.task(
        proportions.classes_of(half, "full", 0), half, rows, "full", 0
    ).proportions(2.0)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_pool_gives_what_its_mixtures_give(half):
    classes = proportions.classes_of(half, "full", 0)
    drawn = [rows for rows, _ in proportions.tests(half, 5)[:3]]
    expected = [proportions.task(classes, half, rows, "full", 0).proportions(2.0) for rows in drawn]
    np.testing.assert_allclose(
        mixtures.Pool(classes, half.pool).proportions(2.0, drawn), expected, atol=1e-10
    )


@pytest.mark.parametrize("method", ["full", "cholesky"])
def test_proportions_agree_with_the_estimator(half, method):
    rows, _ = half.mixture(1.0, np.random.default_rng(3))
    k = (
        {"k": 23, "selection": "kcenter", "sparse_test": True}
        if method == "cholesky"
        else {"sparse": False}
    )
    estimator = km.ClassProportions(
        representation="raw", solver="paper", bandwidth=2.0, random_state=0, **k
    ).fit(half.X, half.y)
    found = proportions.task(
        proportions.classes_of(half, method, 0), half, rows, method, 0
    ).proportions(2.0)
    np.testing.assert_allclose(
        found, estimator.predict(half.pool[rows]), atol=0.05 if method == "cholesky" else 1e-9
    )


def test_the_search_finds_a_bandwidth_that_serves_its_mixture(half):
    rows, truth = half.mixture(1.0, np.random.default_rng(4))
    task = proportions.task(proportions.classes_of(half, "cholesky", 0), half, rows, "cholesky", 0)
    sigma, count = task.best_bandwidth(truth, (0.5, 8.0), 30)
    error = [float(np.abs(task.proportions(s) - truth).sum()) for s in (sigma, 0.5, 8.0)]
    assert 3 <= count <= 30
    assert error[0] <= min(error)


def test_errors_at_once_are_those_of_the_estimator(half):
    model = km.ClassProportions(representation="raw", bandwidth=2.0, random_state=0)
    model.fit(half.X, half.y)
    found = proportions.tested_at_once(model, half, [9])[0]
    expected = [
        np.abs(model.predict(half.pool[rows]) - truth).sum()
        for rows, truth in proportions.tests(half, 9)
    ]
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_rows_of_proportions_compare_sparse_with_full():
    errors = np.full((31, 2), 0.1).tolist()
    side = {"sigma": 3.0, "k": [5], "errors": errors}
    parts = {
        "best_qp": {"full": side, "sparse": side | {"errors": np.full((31, 2), 0.12).tolist()}}
    }
    made = proportions_rows.rows(parts)
    assert made[-1].best == pytest.approx(1.2)
    assert made[-1].goal is not None
    assert not made[-1].goal.met


def test_the_papers_p_value_is_that_of_an_exact_signed_rank_test():
    paper = np.array(list(kl_table.PAPER.values()))
    for column in (0, 2):
        assert kl_table.p_value(paper[:, column], paper[:, column + 1]) == pytest.approx(
            0.018554688, abs=1e-9
        )


def test_divergences_vanish_where_every_point_is_a_centre():
    X = np.random.default_rng(0).normal(size=(30, 3))
    found = kl_table.table(X, 0.4, kl_table.Reading(0.0, False), 2)
    for selection in kl_table.SELECTIONS:
        assert found[selection]["k_0"] == [30, 30]
        assert np.max(np.abs(found[selection]["projection"])) < 1e-20


def test_rows_of_the_divergence_table_count_wins():
    runs = {way: [[0.1, 0.2]] * 3 for way in kl_table.CONSTRAINTS}
    closer = {way: [[0.01, 0.4]] * 3 for way in kl_table.CONSTRAINTS}
    reading = {"random": runs | {"k_0": [5]}, "k-centre": closer | {"k_0": [5]}}
    found = {str(r): reading for r in kl_table.READINGS} | {
        "n": 9,
        "best": {"k": 5, "selections": ["kcenter"], "runs": [[0.1, 0.2]]},
    }
    made = {
        (row.table, row.quantity): row for row in kl_table.rows({"banana": found, "iris": found})
    }
    head = f"Table 5: k-centre against random, {kl_table.PRIMARY}"
    assert made[head, "D(z̄‖z): sets (of 2) on which k-centre is closer"].ours == 2
    assert made[head, "D(z‖z̄): sets (of 2) on which k-centre is closer"].ours == 0


def test_curves_are_padded_with_their_last_value():
    found = error_indicator.padded([np.array([-1.0, -2.0]), np.array([-1.0, -3.0, -4.0])], 4)
    np.testing.assert_array_equal(found, [[-1, -2, -2, -2], [-1, -3, -4, -4]])


def test_the_indicator_and_the_squared_norm_give_the_error():
    X = np.random.default_rng(0).normal(size=(200, 2))
    run = error_indicator.curves(X, 0.5, error_indicator.METHODS["k-centre"], 1)[0]
    mean = km.sparse_kernel_mean(
        X, bandwidth=0.5, tol=1e-9, k_max=200, patience=1, selection="kcenter", random_state=0
    )
    error = error_indicator.relative(run[-1:], error_indicator.square_norm(X, 0.5))[0]
    assert error == pytest.approx(mean.certificate(X, method="exact").relative_error, rel=1e-4)


def test_overtaking_lists_every_change_of_the_lead():
    found = {
        "k-centre": {"indicator": [0.0, -1.0, -3.0, -3.0]},
        "random": {"indicator": [0.0, -2.0, -2.5, -4.0]},
    }
    assert error_indicator.overtaking(found) == [3, 4]
