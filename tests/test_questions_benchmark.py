"""The page of questions to a density: its references are right, its tables are made on little."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from benchmarks import closed_forms, conditionals, questions
from benchmarks.measuring import Row
from scipy.stats import gaussian_kde, norm

import kernelmean as km


@pytest.fixture(scope="module")
def plane() -> km.SparseKDE:
    return km.SparseKDE(bandwidth=0.3, k=20, spread="full", random_state=0).fit(
        closed_forms.sample(2)
    )


def test_integrals_are_those_of_a_known_density():
    def standard(Z: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * (Z**2).sum(axis=1)) / (2.0 * np.pi)

    whole = closed_forms.integral(standard, np.full(2, -600.0), np.full(2, 600.0))
    assert float(whole) == pytest.approx(1.0, abs=1e-12)
    lower, upper = np.array([-1.0, 0.5]), np.array([0.3, 2.0])
    part = closed_forms.integral(standard, lower, upper)
    assert float(part) == pytest.approx(np.prod(norm.cdf(upper) - norm.cdf(lower)), abs=1e-13)


def test_a_wrong_answer_is_seen(plane, monkeypatch):
    assert closed_forms.marginal(plane) < 1e-10
    assert closed_forms.conditional(plane) < 1e-10
    assert closed_forms.cdf(plane) < 1e-10
    other = km.SparseKDE(bandwidth=0.31, k=20, spread="full", random_state=0)
    other.fit(closed_forms.sample(2))
    monkeypatch.setattr(plane, "marginal", other.marginal)
    monkeypatch.setattr(plane, "conditional", other.conditional)
    monkeypatch.setattr(plane, "cdf", lambda x, column: other.cdf(x, column) + 1e-9)
    assert closed_forms.marginal(plane) > 1e-4
    assert closed_forms.conditional(plane) > 1e-4
    assert closed_forms.cdf(plane) > 1e-10


def test_boxes_lie_between_rows():
    for lower, upper in closed_forms.boxes(3):
        assert (lower < upper).all()


def test_a_conditional_likelihood_is_that_of_the_conditional_density(plane):
    rows = closed_forms.sample(2)[:5]
    found = conditionals.log_likelihoods(plane, rows)
    expected = [plane.conditional({0: x}).score_samples([[y]])[0] for x, y in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_held_out_rows_are_none_of_those_fitted(monkeypatch):
    monkeypatch.setattr(conditionals, "HELD_OUT", 100)
    X = np.random.default_rng(0).normal(5.0, 3.0, size=(400, 2))
    found = conditionals.part(X, 250)
    assert (found.train.shape, found.test.shape) == ((250, 2), (100, 2))
    np.testing.assert_allclose(found.train.std(axis=0), 1.0)
    center, size = X[100:350].mean(axis=0), X[100:350].std(axis=0)
    np.testing.assert_allclose(found.test, (X[:100] - center) / size)


def test_without_the_peer_a_row_says_so(monkeypatch):
    monkeypatch.setattr(conditionals.importlib.util, "find_spec", lambda name: None)
    (row,) = conditionals.against_statsmodels()
    assert row.detail == "statsmodels is not installed"


def test_the_peer_has_its_own_density(monkeypatch):
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'kernelmean[bench]'")
    monkeypatch.setattr(conditionals, "HELD_OUT", 60)
    monkeypatch.setattr(conditionals, "ASKED", 50)
    X = np.random.default_rng(0).normal(size=(360, 2))
    rows = conditionals.part(X, 300)
    bandwidths = np.array([0.3, 0.5])  # of the column in question first
    theirs, spent = conditionals._statsmodels(rows, bandwidths)
    kernels = norm.pdf(rows.test[:50, None], rows.train[None], bandwidths[::-1])
    expected = kernels.prod(axis=2).sum(axis=1) / kernels[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(theirs, np.log(expected), rtol=1e-9)
    assert spent > 0.0


def test_scipy_inverts_its_own_distribution_function():
    x = np.random.default_rng(0).normal(size=(200, 1))
    p = np.array([0.1, 0.7])
    spent, found = questions._by_scipy(x, p)
    kde = gaussian_kde(x.T)
    reached = [kde.integrate_box_1d(-np.inf, place) for place in found]
    np.testing.assert_allclose(reached, p, atol=1e-9)
    assert spent > 0.0


def test_the_page_keeps_what_is_not_measured_anew(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"

    def shown(figure: str):
        rows = lambda name: lambda: iter([Row(name, figure, "–", "d")])  # noqa: E731
        return lambda quick: {name: rows(name) for name in ("Quantiles", "Closed forms")}

    monkeypatch.setattr(questions, "tables", shown("one"))
    monkeypatch.setattr(sys, "argv", ["questions", "--output", str(page)])
    questions.main()
    monkeypatch.setattr(questions, "tables", shown("two"))
    monkeypatch.setattr(sys, "argv", ["questions", "Closed forms", "--output", str(page)])
    questions.main()
    text = page.read_text()
    assert text.startswith("# Questions to a density")
    assert "| Quantiles | one |" in text
    assert "| Closed forms | two |" in text
    monkeypatch.setattr(sys, "argv", ["questions", "nothing"])
    with pytest.raises(SystemExit):
        questions.main()
    assert "no table 'nothing'" in capsys.readouterr().err
