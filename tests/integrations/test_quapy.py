"""Class proportions in QuaPy's protocols, by themselves and as a quantifier of QuaPy."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import kernelmean as km
from tests.proportions.test_estimator import sample, training

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantification_with_quapy.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("quantification_with_quapy", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def quapy():
    return pytest.importorskip("quapy", reason="needs quapy: pip install 'kernelmean[quapy]'")


@pytest.fixture
def pool(quapy):
    """Three hundred rows of each of three classes."""
    return quapy.data.LabelledCollection(
        sample([300, 300, 300], 5), np.repeat([0, 1, 2], 300), classes=[0, 1, 2]
    )


@pytest.fixture
def quantifier(quapy):
    from kernelmean.integrations.quapy import KernelMeanQuantifier

    return KernelMeanQuantifier


def test_the_example_says_what_it_needs(example, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "quapy", None)  # as if it were not installed
    assert example.main() == 1
    assert "pip install quapy" in capsys.readouterr().err


def test_quapys_protocol(quapy, pool):
    """QuaPy draws the samples and calls predict."""
    X, y = training(100)
    protocol = quapy.protocol.APP(pool, sample_size=100, n_prevalences=4, repeats=1, random_state=0)
    model = km.ClassProportions(random_state=0).fit(X, y)
    assert quapy.evaluation.evaluate(model, protocol, error_metric="mae") < 0.1


@pytest.mark.parametrize("name", ["APP", "UPP", "NPP"])
def test_the_quantifier_in_quapys_protocols(example, quantifier, quapy, name, monkeypatch):
    """Estimates are those of the estimator, and errors are small."""
    X, y = training(100)
    monkeypatch.setitem(quapy.environ, "SAMPLE_SIZE", 100)
    for constant, value in {"CLASSES": 3, "GRID": 3, "REPEATS": 5}.items():
        monkeypatch.setattr(example, constant, value)
    protocol = example.protocols(quapy, sample([300, 300, 300], 5), np.repeat([0, 1, 2], 300))[name]
    options = {"representation": example.classifier(), "random_state": 0}
    model = quantifier(**options).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    absolute, relative = example.errors(quapy, model, protocol)
    assert absolute < 0.1
    assert absolute < relative
    truth, found = quapy.evaluation.prediction(model, protocol)
    plain = km.ClassProportions(**options).fit(X, y)
    again = [plain.predict(X) for X, _ in protocol()]
    np.testing.assert_array_equal(found, again)
    assert absolute == pytest.approx(np.abs(truth - found).mean())


def test_quapys_search_takes_the_quantifier(example, quantifier, quapy, pool):
    """GridSearchQ copies the quantifier, sets its parameters and keeps the best."""
    X, y = training(60)
    protocol = quapy.protocol.UPP(pool, sample_size=100, repeats=5, random_state=0)
    search = quapy.model_selection.GridSearchQ(
        quantifier(representation=example.classifier(), random_state=0),
        {"solver": ["qp", "moments"]},
        protocol,
        error="mae",
        refit=False,
    ).fit(X, y)
    assert search.best_params_["solver"] in {"qp", "moments"}
    assert search.best_score_ < 0.1


def test_it_is_a_quantifier_with_all_parameters(quantifier, quapy):
    model = quantifier(spread=None, random_state=0)
    assert isinstance(model, quapy.method.base.BaseQuantifier)
    assert model.get_params() == km.ClassProportions(spread=None, random_state=0).get_params()
    X, y = training(60)
    again = pickle.loads(pickle.dumps(clone(model).set_params(bandwidth="median").fit(X, y)))
    np.testing.assert_array_equal(again.quantify(X), again.predict(X))


def test_the_example_prints_a_line_for_each_method(example, quapy, monkeypatch, capsys):
    monkeypatch.setattr(example, "CLASSES", 3)
    monkeypatch.setattr(example, "GRID", 2)
    monkeypatch.setattr(example, "REPEATS", 2)
    few = example.methods(quapy.method.aggregative)
    kept = {name: few[name] for name in ("kernelmean, logistic regression", "QuaPy EMQ")}
    monkeypatch.setattr(example, "methods", lambda aggregative: kept)
    assert example.main() == 0
    heading, columns, *lines = capsys.readouterr().out.splitlines()
    assert "3 by APP, 2 by UPP, 2 by NPP" in heading
    assert columns.split()[:3] == ["method", "APP", "mae"]
    assert [line[:32].strip() for line in lines] == list(kept)
    assert all(float(figure) < 0.5 for line in lines for figure in line[32:].split()[:-1:2])
