"""The evaluator of the comparison with peers agrees with the library's own exact error, and its
parts fit together.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import (
    baselines,
    classification,
    contenders,
    datasets,
    likelihood,
    page,
    peers,
    tables,
)
from benchmarks.exact import Exact, squared

import kernelmean as km


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(200, 3))


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("d", [2, 3])
def test_the_evaluator_agrees_with_the_exact_certificate(sample, kernel, space, d):
    case = contenders.Case(sample[:, :d], kernel, 0.7, space, 25)
    mean = contenders.own(case, "simplex", 0).result
    error = Exact(case.X, kernel, case.length, space).error_of(mean)
    assert error == pytest.approx(mean.certificate(case.X, method="exact").relative_error, rel=1e-7)
    points = contenders.own(case, "simplex", 0, spread=None).result
    (error,) = Exact(case.X, kernel, case.length, space).errors(points.centers, [points.weights])
    assert error == pytest.approx(
        points.certificate(case.X, method="exact").relative_error, rel=1e-8
    )


def test_extended_precision_sees_below_the_floor_of_float64(sample):
    X = sample
    mean = km.sparse_kernel_mean(X, bandwidth=4.0, k=120, random_state=0)
    (error,) = Exact(X, "gaussian", 4.0, "rkhs").errors(mean.centers, [mean.weights])
    K = lambda A, B: np.exp(-squared(A, B) / 32)  # noqa: E731
    p, alpha = np.full(len(X), 1 / np.longdouble(len(X))), mean.weights.astype(np.longdouble)
    naive = (
        p @ K(X, X) @ p
        - 2 * p @ K(X, mean.centers) @ alpha
        + alpha @ K(mean.centers, mean.centers) @ alpha
    )
    assert 0.0 < error < 1e-6
    assert error == pytest.approx(float(np.sqrt(naive / (p @ K(X, X) @ p))), rel=1e-2)


@pytest.mark.parametrize("name", datasets.MIXTURES)
def test_samples_are_standardised(name):
    X = datasets.load(name, 300)
    assert X.shape[0] == 300
    np.testing.assert_allclose(
        [X.mean(axis=0), X.std(axis=0)], [np.zeros(X.shape[1]), np.ones(X.shape[1])], atol=1e-12
    )


def test_a_cell_is_judged_and_shown(sample, monkeypatch):
    X = sample
    monkeypatch.setattr(contenders, "PEERS", {"random": contenders.uniform})
    monkeypatch.setattr(contenders, "STEPS", 3)
    case = contenders.Case(X, "gaussian", 1.0, "rkhs", 25)
    exact = Exact(X, "gaussian", 1.0, "rkhs")
    facts = {
        "data": "X",
        "n": 200,
        "d": 3,
        "kernel": "gaussian",
        "width": "wide",
        "space": "rkhs",
        "k": 25,
    }
    cells = [
        facts | cell
        for cell in peers.compared(case, exact, peers.defaultdict(float), own_weights=False)
    ]
    assert [cell["weights"] for cell in cells] == ["signed", "simplex"]
    assert page.best_peer(cells[0]) == ("random", cells[0]["error"]["random"])
    assert page.auto_met(cells[0]) is True
    assert page.summary(cells)[4][1:3] == (2, 2)
    assert "| gaussian, wide, rkhs, signed | 0." in page.ratios(cells)


def test_a_missed_goal_is_said():
    cell = {
        "data": "X",
        "n": 9,
        "d": 1,
        "kernel": "laplacian",
        "width": "wide",
        "space": "l2",
        "k": 2,
        "weights": "signed",
    }
    cell |= {"error": {"auto": 0.2, "random": 0.1}, "time": {"auto": 2.0}, "selecting": {}}
    assert (page.auto_met(cell), page.laplacian_met(cell), page.refine_goal(cell)) == (
        False,
        False,
        None,
    )
    assert page.summary([cell])[2].missed == "2.00: X, laplacian, wide, l2, signed, k = 2"
    assert "2.00 ✗" in page.ratios([cell])


def test_a_run_that_was_interrupted_goes_on_and_says_what_failed(tmp_path, monkeypatch):
    ran, broken = [], [True]

    def second() -> None:
        ran.append("b")
        if broken[0]:
            raise RuntimeError("no luck\nat all")

    steps = [("a", lambda: ran.append("a")), ("b", second), ("c", lambda: ran.append("c"))]
    monkeypatch.setattr(peers, "_steps", lambda quick, results, extra: iter(steps))
    peers.measure(True, 1e9, tmp_path)
    saved = peers.json.loads((tmp_path / "benchmarks.json").read_text())
    assert (saved["done"], saved["failed"]) == (["a", "c"], ["b: RuntimeError: no luck"])
    assert page.failures(saved) == saved["failed"]
    broken[0] = False
    peers.measure(True, 1e9, tmp_path, resume=True)
    again = peers.json.loads((tmp_path / "benchmarks.json").read_text())
    assert (ran, again["failed"]) == (["a", "b", "c", "b"], [])
    assert again["seconds"] >= saved["seconds"]
    with pytest.raises(SystemExit, match="without --resume"):
        peers.measure(False, 1e9, tmp_path, resume=True)


def test_a_peer_that_fails_is_a_line_on_the_page(sample, monkeypatch):
    def fails(case: contenders.Case) -> np.ndarray:
        raise ValueError("too few points")

    monkeypatch.setattr(contenders, "PEERS", {"random": contenders.uniform, "k-means++": fails})
    case, exact = (
        contenders.Case(sample, "laplacian", 1.0, "rkhs", 25),
        Exact(sample, "laplacian", 1.0, "rkhs"),
    )
    facts = {
        "data": "X",
        "n": 200,
        "d": 3,
        "kernel": "laplacian",
        "width": "wide",
        "space": "rkhs",
        "k": 25,
    }
    cells = [
        facts | cell
        for cell in peers.compared(case, exact, peers.defaultdict(float), own_weights=False)
    ]
    assert "k-means++" not in cells[0]["error"]
    lines = page.failures({"failed": [], "cells": cells})
    assert (
        lines[0]
        == "k-means++, X, laplacian, wide, rkhs, signed, k = 25: ValueError: too few points"
    )


def test_a_table_is_scaled_by_its_training_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5.0, 3.0, size=(400, 2)), np.full(400, 7.0)])
    split = tables.Table("X", X, "here", rng.integers(2, size=400)).split(200)
    assert (split.train.shape, split.test.shape) == ((200, 2), (100, 2))  # a constant column less
    assert (len(split.y_train), len(split.y_test)) == (200, 100)
    np.testing.assert_allclose(split.train.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.train.std(axis=0), 1.0, atol=1e-12)


def test_tables_for_tuning_and_for_figures_differ():
    assert not set(tables.TUNING) & set(tables.REPORT)
    with pytest.raises(KeyError, match="no table 'nowhere'"):
        tables.load("nowhere")


def test_a_text_file_gives_numbers_without_gaps(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    lines = ["@relation x", "1.5, a, 2, yes", "?, a, 3, no", "2.5, b, 4, no", "2.5, b, 4, no"]
    (tmp_path / "data" / "x.dat").write_text("\n".join(lines))
    monkeypatch.setattr(tables, "folder", lambda package: tmp_path)
    found = tables.TextFile("some_package", "x.dat", labelled=True).load("x")
    np.testing.assert_array_equal(found.X, [[1.5, 2.0], [2.5, 4.0]])
    assert list(found.y) == ["yes", "no"]


def test_a_table_whose_package_is_absent_says_so(monkeypatch):
    missing = tables.TextFile("no_such_package", "x.dat")
    monkeypatch.setitem(tables.FILES, "missing", missing)
    (row,) = likelihood.held_out(["missing"])
    assert row.detail == "skipped: the package no-such-package is not installed"


@pytest.fixture(scope="module")
def split() -> tables.Split:
    X = np.random.default_rng(1).normal(size=(300, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
    return tables.Table("normal", X, "here").split()


def test_the_exact_contestant_is_the_density_it_says(split):
    found = baselines.exact(split)
    assert found["scale"] == "cov"
    W = baselines.whitening(split.train)
    kde = km.SparseKDE(sparse=False, bandwidth=found["sigma"], scale=None).fit(split.train @ W)
    expected = kde.score_samples(split.test @ W) + np.linalg.slogdet(W)[1]
    np.testing.assert_allclose(found["scores"], expected, rtol=1e-10)
    scott = km.SparseKDE(sparse=False, bandwidth="scott", scale=None).fit(split.train)
    np.testing.assert_allclose(
        baselines.scott(split)["scores"], scott.score_samples(split.test), rtol=1e-10
    )


@pytest.mark.parametrize("scale", ["std", "cov"])
def test_the_chosen_bandwidth_is_the_best_of_the_folds(split, scale):
    chosen = baselines.best_sigma(split.train, scale)
    sigmas, scores = baselines._cross_validated(
        split.train, scale, baselines.WIDEST, baselines.OCTAVES
    )
    assert chosen.score == pytest.approx(scores.max())
    assert chosen.sigma == pytest.approx(sigmas[np.argmax(scores)])


def test_contestants_are_computed_once(split, tmp_path, monkeypatch):
    first = baselines.of("normal", split, tmp_path / "kept.json")
    assert first["diverges"] == ""
    monkeypatch.setattr(baselines, "compute", None)
    assert baselines.of("normal", split, tmp_path / "kept.json") == first


def test_a_value_that_many_rows_share_makes_a_likelihood_diverge():
    rng = np.random.default_rng(2)
    X = rng.normal([0.0, 5.0], 1.0, size=(800, 2))
    X[::2, 1] = 0.0
    found = baselines.compute(tables.Table("X", X, "here").split())
    assert "mixture" in found["degenerate"]
    assert found["diverges"] == "components of the mixture are as flat as their floor"
    doubled = np.column_stack([X[:, 0], 2 * X[:, 0] + 1])
    found = baselines.compute(tables.Table("X", doubled, "here").split())
    assert found["diverges"] == "columns are linearly dependent"


def test_ours_is_compared_with_the_best(split, tmp_path, monkeypatch):
    whole = tables.Table("normal", np.vstack([split.train, split.test]), "here")
    monkeypatch.setattr(tables, "load", lambda name: whole)
    summary, row = likelihood.held_out(["normal"], tmp_path / "kept.json")
    assert summary.case == "median of 1 tables"
    assert row.case == "normal, 225 × 2"
    assert float(str(row.ratio).split()[0]) > -1.0


def test_accuracies_are_in_per_cent():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    row = classification.row(
        tables.Table("apart", rng.normal(size=(80, 2)) + 9 * y[:, None], "", y)
    )
    assert row.detail.startswith("100.00 % against 100.00 %")
