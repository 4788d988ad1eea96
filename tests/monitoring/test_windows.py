"""Windows are what they are said to be, and the compiled scan is the formula."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.compiled import window_scan
from kernelmean.monitoring import windows
from kernelmean.monitoring.windows import Windows
from tests.monitoring import brute


def any_judge(longest, seed=0):
    rng = np.random.default_rng(seed)
    many = len(windows.lengths(longest))
    starts = np.array([0, 3, 5, 7, 10])
    component = np.array([0, 1, 1, 2])
    centers = rng.uniform(0.7, 1.0, (many, 3))
    return windows.judged_by(
        starts, component, centers, rng.uniform(0.1, 0.3, (many, 3)), np.array([-2.0, -1.0, -3.0])
    )


def test_lengths_are_those_of_two_to_eight_blocks_of_two_rows_and_of_five_to_eight_larger_ones():
    assert windows.lengths(70).tolist() == [
        4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64,
    ]  # fmt: skip
    assert windows.lengths(1).tolist() == [4]
    assert windows.longest(any_judge(70)) == 64


@pytest.mark.parametrize("longest", [4, 10, 16, 100, 300])
def test_the_scan_is_the_evidence_by_all_windows(longest):
    judge = any_judge(longest)
    Z = np.random.default_rng(1).normal(size=(700, 10)) + 0.1
    found = Windows.empty(judge).add(Z, judge, np.inf)
    np.testing.assert_allclose(found.evidence, brute.evidence(Z, judge), rtol=1e-8, atol=1e-9)
    assert not found.alarmed
    assert found.used == len(Z)


def test_a_tail_beyond_what_floats_hold_is_still_told_apart():
    judge = any_judge(10)
    small, large = (
        Windows.empty(judge).add(np.full((4, 10), size), judge, np.inf).evidence[-1]
        for size in (1e3, 1e4)
    )
    assert 1e3 < small < large < np.inf


def test_the_scan_stops_with_the_row_that_reaches_the_threshold():
    judge = any_judge(64)
    Z = np.random.default_rng(2).normal(size=(500, 10))
    Z[200:] += 1.0
    whole = brute.evidence(Z, judge)
    threshold = whole[:200].max() + 1.0
    first = int(np.argmax(whole >= threshold))
    found = Windows.empty(judge).add(Z, judge, threshold)
    assert found.alarmed
    assert found.used == first + 1 > 200


def test_first_passages_restart_where_a_run_ends():
    judge = any_judge(32)
    rng = np.random.default_rng(3)
    table = rng.normal(size=(50, 10))
    rows = rng.integers(50, size=4000)
    levels = np.array([2.0, 3.0, 4.0])
    times = np.zeros((2001, 3), dtype=np.int64)
    none = np.zeros((1, 10))
    run, left = window_scan.first_passages(
        table, rows, none, levels, judge, windows.empty_blocks(judge), times
    )
    at = 0
    for own in times[:run]:
        course = brute.evidence(table[rows[at : at + own[-1]]], judge)
        reached = [int(np.argmax(course >= level)) + 1 for level in levels]
        assert own.tolist() == reached
        at += own[-1]
    assert run > 3
    assert at + left == len(rows)


def test_offsets_are_taken_from_every_row_of_a_run():
    judge = any_judge(32)
    rng = np.random.default_rng(4)
    table = rng.normal(size=(50, 10))
    rows = rng.integers(50, size=500)
    offset = np.full((1, 10), 0.3)
    levels = np.array([3.0])
    shifted, plain = np.zeros((251, 1), dtype=np.int64), np.zeros((251, 1), dtype=np.int64)
    blocks = windows.empty_blocks(judge)
    window_scan.first_passages(table, rows, offset, levels, judge, blocks, shifted)
    blocks = windows.empty_blocks(judge)
    window_scan.first_passages(table - 0.3, rows, 0.0 * offset, levels, judge, blocks, plain)
    np.testing.assert_array_equal(shifted, plain)


def test_roots_of_components_take_the_largest_group():
    judge = any_judge(16)
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 10))
    rows = rng.integers(40, size=(6, 9))
    out = np.zeros((6, 3))
    window_scan.component_roots(table, rows, judge, out)
    total = table[rows].sum(axis=1)
    q = [
        (total[:, a:b] ** 2).sum(axis=1) / (9 * (b - a))
        for a, b in ((0, 3), (3, 5), (5, 7), (7, 10))
    ]
    expected = np.cbrt(np.stack([q[0], np.maximum(q[1], q[2]), q[3]], axis=1))
    np.testing.assert_allclose(out, expected, rtol=1e-12)
