"""The evaluator of the comparison with peers agrees with the library's own exact error, and its
parts fit together.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import contenders, datasets, page, peers
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
