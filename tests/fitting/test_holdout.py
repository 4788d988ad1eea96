"""Rows to fit on and rows to judge by are not the same."""

from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.fitting import holdout
from kernelmean.selection import Task
from kernelmean.selection.criterion import Criterion


def criterion(X, weights=None):
    engine = km.engines.open("cpu")
    radial = km.Gaussian(0.5).radial(X.shape[1], "l2")
    task = Task(engine.load(X, weights), engine, radial, 10, True, True, True, Streams(0))
    return Criterion(task, "simplex", "cholesky", km.Gaussian(0.5), "l2")


@pytest.mark.parametrize("n", [20, 3000, 60_000])
def test_no_row_is_in_both_and_none_is_lost_where_all_take_part(n):
    X = np.arange(float(n))[:, None]
    found = holdout.held_out(criterion(X), 10)
    fitted = found.task.cloud.rows(np.arange(found.task.cloud.summary.count)).ravel()
    judged = found.judges.ravel()
    assert not set(fitted) & set(judged)
    assert len(judged) == min(5000, round(0.2 * min(n, 55_000)))
    if n <= 55_000:
        assert sorted([*fitted, *judged]) == list(X.ravel())


def test_rows_without_weight_take_no_part():
    X = np.arange(1000.0)[:, None]
    weights = np.where(X.ravel() < 500, 2.0, 1e-12)
    found = holdout.held_out(criterion(X, weights), 10)
    rows = found.task.cloud.rows(np.arange(found.task.cloud.summary.count))
    assert (rows < 500).mean() > 0.99


def test_the_rest_of_the_criterion_stays():
    original = criterion(np.random.default_rng(0).normal(size=(100, 2)))
    found = holdout.held_out(original, 10)
    assert replace(found, task=original.task, judges=None, judge_weights=None) == original


def test_a_row_that_counts_often_is_on_one_side_with_all_of_its_weight():
    X = np.arange(300.0)[:, None]
    found = holdout.held_out(criterion(X, np.full(300, 20.0)), 10)
    summary = found.task.cloud.summary
    assert 0.75 * 300 <= summary.count <= 0.85 * 300
    assert summary.size + found.judge_weights.sum() == 6000
