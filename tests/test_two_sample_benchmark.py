"""Peers of the two-sample test are what they say, and its tables are made on little data."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from benchmarks import difference, mmdagg, two_sample, two_sample_peers, two_sample_sets
from benchmarks.measuring import Row
from benchmarks.tables import AbsentError
from benchmarks.two_sample_sets import Alternative

KERNELS = 2 * mmdagg.BANDWIDTHS
FASTER = Alternative("moved", two_sample_sets.shifted, {64: 1.0})


def u_statistic(A, B, kernel, signs):
    """Σ_{i≠j} ε_i ε_j h(i, j), pair by pair."""
    total = 0.0
    for i, j in product(range(len(A)), repeat=2):
        if i != j:
            h = kernel(A[i], A[j]) + kernel(B[i], B[j]) - kernel(A[i], B[j]) - kernel(B[i], A[j])
            total += signs[i] * signs[j] * h
    return total


def test_mmdagg_sums_over_pairs():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 6, 3))
    signs = rng.choice([-1.0, 1.0], size=(6, 2))
    distances = {
        1: lambda x, y: np.abs(x - y).sum(),
        2: lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    }
    expected = []
    for power, distance in distances.items():
        between = np.array([distance(x, y) for x in A for y in B])
        for s in mmdagg.collection(between):
            kernel = lambda x, y: np.exp(-((distance(x, y) / s) ** power))  # noqa: B023, E731
            expected.append([u_statistic(A, B, kernel, own) for own in signs.T])
    found = [mmdagg.statistics(h, signs) for h in mmdagg.differences(A, B)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert len(found) == KERNELS


def test_bandwidths_of_mmdagg_go_from_half_the_least_to_twice_the_largest_distance():
    found = mmdagg.collection(np.array([0.5, 1.0, 4.0]))
    np.testing.assert_allclose([found[0], found[-1]], [0.25, 8.0])
    np.testing.assert_allclose(found[1:] / found[:-1], found[1] / found[0])
    near = mmdagg.collection(np.concatenate([[1e-9], np.linspace(1.0, 2.0, 99)]))
    assert near[0] > 0.05  # copies of rows do not count


def test_the_correction_of_mmdagg_is_the_largest_that_keeps_the_level():
    rng = np.random.default_rng(1)
    first, second = np.sort(rng.normal(size=(4, 100)), axis=1), rng.normal(size=(4, 400))
    u = mmdagg.corrected(first, second, 0.05)

    def share(u):
        ranks = [int(np.ceil(100 * (1 - u / 4))) - 1] * 4
        exceeded = [
            any(second[c, b] > first[c, rank] for c, rank in enumerate(ranks)) for b in range(400)
        ]
        return np.mean(exceeded)

    assert share(u) <= 0.05 < share(u + 4 / 100)


def test_mmdagg_has_its_level_and_some_power(monkeypatch):
    monkeypatch.setattr(mmdagg, "FIRST", 200)
    monkeypatch.setattr(mmdagg, "SECOND", 200)
    rng = np.random.default_rng(2)
    null = [mmdagg.rejects(*rng.normal(size=(2, 12, 2)), rng) for _ in range(200)]
    assert 0.01 <= np.mean(null) <= 0.11
    assert mmdagg.rejects(rng.normal(size=(30, 2)), rng.normal(2.0, 1.0, (30, 2)), rng)


@pytest.mark.parametrize("peer", [*two_sample_peers.BY_LEVEL, *two_sample_peers.BY_ROWS])
def test_a_peer_sees_what_is_there(peer):
    made = two_sample_peers.BY_LEVEL | two_sample_peers.BY_ROWS
    if peer in two_sample_peers.BY_LEVEL:
        pytest.importorskip("goodpoints", reason="goodpoints is not installed")
    test = made[peer](0 if peer in two_sample_peers.BY_LEVEL else 48)
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(64, 2)), rng.normal(3.0, 1.0, (64, 2))
    assert test(A, B, 1.5, 0) is True
    null = [test(*rng.normal(size=(2, 64, 2)), 1.5, seed) for seed in range(25)]
    assert np.mean(null) <= 0.25


def test_a_peer_that_takes_rows_gets_as_many_as_take_as_long(monkeypatch):
    def seconds(test, A, B, median, repeats=3):
        return test(A, B, median, 0) ** 2 * 1e-6

    monkeypatch.setattr(two_sample_peers, "clock", seconds)
    monkeypatch.setitem(two_sample_peers.BY_ROWS, "square", lambda m: lambda *_: m)
    X = np.zeros((1000, 1))
    found = two_sample_peers.by_rows("square", X, X, 1.0, 0.01)
    assert found.name == "square, 128 + 128 rows"  # 96² < 10⁴ ≤ 128²
    assert two_sample_peers.by_rows("square", X, X, 1.0, 99.0).name == "square, 1000 + 1000 rows"


def test_the_tables_are_made():
    (row,) = two_sample.level(2, two_sample.NULLS[:1])
    assert float(row.ratio) in (0.0, 0.5, 1.0)
    (row,) = two_sample.power(1, [FASTER])
    assert row.case == "moved, n = 64"
    assert "MMDAgg" in row.detail
    (row, *summary) = two_sample.single_bandwidths(1, [FASTER])
    assert all(name in row.detail for name in two_sample.BANDWIDTHS)
    assert len(summary) == len(two_sample.BANDWIDTHS)


def test_who_is_clearly_behind_is_not_run_to_the_end(monkeypatch):
    monkeypatch.setattr(two_sample, "FIRST", 2)
    contenders = [
        two_sample_peers.Timed(name, lambda *_, said=said: said, 1.0)
        for name, said in (("ours", True), ("equal", True), ("blind", False))
    ]
    found = two_sample.rejections(contenders, FASTER, 64, 5)
    assert [len(said) for said in found] == [5, 5, 2]


def test_real_rows_that_are_absent_are_said_to_be(monkeypatch, tmp_path):
    monkeypatch.setattr(two_sample_sets, "DATA", tmp_path)
    two_sample_sets.waters.cache_clear()
    with pytest.raises(AbsentError, match="no data"):
        two_sample_sets.waters()
    lakes = [case for case in two_sample.NULLS if case.draw is two_sample.lakes]
    (row,) = two_sample.level(1, lakes)
    assert row.detail.startswith("skipped")


def test_mixed_rows_are_drawn_without_replacement():
    most, others = np.arange(20.0)[:, None], np.arange(100.0, 110.0)[:, None]
    A, B = two_sample_sets.mixed(lambda: (most, others))(10, 0.3, np.random.default_rng(0))
    assert (len(A), len(B)) == (10, 10)
    assert len(np.unique(np.concatenate([A, B]))) == 20
    assert (A < 100).all()
    assert 0 < (B >= 100).sum() < 10


def test_the_page_has_its_tables(monkeypatch, tmp_path):
    shown = dict.fromkeys(difference.tables(1, 1), lambda: iter([Row("one", 1.0, "–", "")]))
    monkeypatch.setattr(difference, "tables", lambda trials, nulls: shown)
    monkeypatch.setattr(difference, "seconds", lambda: iter([Row("two", 2.0, "–", "")]))
    page = tmp_path / "difference.md"
    monkeypatch.setattr(sys, "argv", ["difference", "--output", str(page)])
    difference.main()
    text = page.read_text()
    assert all(f"### {name}" in text for name in [*shown, "Time"])
    monkeypatch.setattr(difference, "seconds", lambda: iter([Row("three", 3.0, "–", "")]))
    monkeypatch.setattr(sys, "argv", ["difference", "Time", "--output", str(page)])
    difference.main()
    assert page.read_text() == text.replace("| two | 2.00 |", "| three | 3.00 |")


def test_the_time_is_taken_of_test_and_difference(monkeypatch):
    monkeypatch.setattr(difference, "COLUMNS", 2)
    assert [row.case for row in difference.seconds(200)] == [
        "mmd_test, 200 + 200 rows",
        "difference, 200 + 200 rows",
    ]


def test_equal_time_lies_between_two_settings_of_a_peer():
    def timed(name, seconds, peer=""):
        return two_sample_peers.Timed(name, lambda *_: True, seconds, peer)

    contenders = [timed("ours", 2.0), timed("g = 1", 1.0, "CTT"), timed("g = 2", 4.0, "CTT")]
    found = [[True, True], [False, True], [True, True]]
    said = two_sample.in_equal_time([*contenders, timed("energy", 2.1)], [*found, [True, False]])
    np.testing.assert_allclose(said["CTT"], [0.5, 1.0])
    np.testing.assert_allclose(said["energy"], [1.0, 0.0])
