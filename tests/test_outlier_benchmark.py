"""The tables of outlier detectors are made on little data, so that their script does not rot."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import outlier_sets, outliers
from benchmarks.outlier_sets import Labelled


def table(seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(200, 3)), 4.0 + rng.normal(size=(50, 3))])
    return Labelled(np.column_stack([X, np.ones(250)]), np.repeat([0, 1], [200, 50]))


@pytest.fixture
def made_up(monkeypatch):
    """Four small sets instead of the real ones."""
    sets = {name: lambda seed=i: table(seed) for i, name in enumerate("abcd")}
    monkeypatch.setattr(outlier_sets, "SETS", sets)


def test_outliers_are_a_tenth_of_a_set_and_constant_columns_are_none(made_up):
    X, outlier = outlier_sets.load("a")
    assert X.shape == (222, 3)
    assert outlier.sum() == 22
    np.testing.assert_array_equal(outlier_sets.load("a").X, X)
    assert outlier_sets.tuning() == ["a", "c"]
    assert outlier_sets.reported() == ["b", "d"]


def test_a_table_has_its_numbers_and_its_rare_class():
    X, outlier = outlier_sets._table(
        "@note\nM, 1.5, 2, positive\nF, 2.5, 3,negative\n", ("positive",)
    )
    np.testing.assert_array_equal(X, [[1.5, 2.0], [2.5, 3.0]])
    np.testing.assert_array_equal(outlier, [1, 0])


def test_ranking(made_up, monkeypatch):
    monkeypatch.setattr(outliers, "peers", lambda: {"norm": lambda X: np.linalg.norm(X, axis=1)})
    rows = outliers.ranking()
    assert len(rows) == 2 + 3
    assert all(float(row.ratio) > 0.9 for row in rows[:3])
    assert rows[3].ratio == "0"


def test_false_alarms(made_up, monkeypatch):
    for name, value in {
        "TRAINED": 100,
        "NEW": 100,
        "DRAWS": 2,
        "DIMENSIONS": (2,),
        "LARGE": ("a",),
    }.items():
        monkeypatch.setattr(outliers, name, value)
    rows = outliers.false_alarms()
    assert len(rows) == 4 * len(outliers.LEVELS)
    assert all(0.0 <= float(row.ratio) < 5.0 for row in rows)
