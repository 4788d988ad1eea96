"""Nearest centres by boxes, and draws by the batch: the same bits as the plain way."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean import engines
from kernelmean.engines.cpu import neighbours

naive, cpu = engines.open("naive"), engines.open("cpu")


@pytest.mark.parametrize("boxes", [True, False])
@pytest.mark.parametrize(("d", "digits"), [(1, 1), (2, 1), (3, 6), (5, 6), (10, 6)])
def test_boxes_change_no_distance_and_no_label(d, digits, boxes, monkeypatch):
    """5000 points, enough for a tree; rounded to tenths most of them tie. Centres at once, in two
    parts, and repeated.
    """
    monkeypatch.setattr(neighbours, "worthwhile", lambda points, dimension, centers: boxes)
    X = np.round(np.random.default_rng(d).normal(size=(5000, d)), digits)
    for centers in (X[:150], X[:40] + 0.01, np.concatenate([X[:30], X[:30]])):
        expected = naive.load(X).nearest(centers)
        at_once, in_parts = cpu.load(X).nearest(centers), cpu.load(X).nearest(centers[:9])
        in_parts.add(centers[9:])
        for found in (at_once, in_parts):
            np.testing.assert_array_equal(found.distances().values(), expected.distances().values())
            np.testing.assert_array_equal(found.masses(), expected.masses())


def test_boxes_are_for_low_dimension_and_for_many_points():
    assert neighbours.worthwhile(5000, 3, 8)
    assert not neighbours.worthwhile(5000, 3, 7)
    assert not neighbours.worthwhile(5000, 4, 500)
    assert neighbours.worthwhile(50_000, 5, 500)
    assert not neighbours.worthwhile(50_000, 10, 500)


def test_draws_by_the_batch_are_single_draws():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    distances = naive.load(X).nearest(X[:3]).distances()
    u = np.random.default_rng(1).random(200)
    assert distances.draws(u).tolist() == [distances.draw(float(v)) for v in u]
    assert len(naive.load(X[:3]).nearest(X[:3]).distances().draws(u)) == 0
