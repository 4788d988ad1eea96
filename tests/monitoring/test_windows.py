"""Windows are what they are said to be, and the scan is the formula, compiled or in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.compiled import window_scan
from kernelmean.compiled.window_evidence import BLOCK
from kernelmean.monitoring import plain_scan, windows
from kernelmean.monitoring.windows import Windows
from tests.monitoring import brute


@pytest.fixture(params=[False, True], ids=["plain", "compiled"])
def compiled(request):
    return request.param


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
def test_the_scan_is_the_evidence_by_all_windows(longest, compiled):
    judge = any_judge(longest)
    Z = np.random.default_rng(1).normal(size=(700, 10)) + 0.1
    found = Windows.empty(judge).add(Z, judge, np.inf, compiled)
    np.testing.assert_allclose(found.evidence, brute.evidence(Z, judge), rtol=1e-8, atol=1e-9)
    assert not found.alarmed
    assert found.used == len(Z)


def test_a_tail_beyond_what_floats_hold_is_still_told_apart(compiled):
    judge = any_judge(10)
    small, large = (
        Windows.empty(judge).add(np.full((4, 10), size), judge, np.inf, compiled).evidence[-1]
        for size in (1e3, 1e4)
    )
    assert 1e3 < small < large < np.inf


def test_the_scan_stops_with_the_row_that_reaches_the_threshold(compiled):
    judge = any_judge(64)
    Z = np.random.default_rng(2).normal(size=(500, 10))
    Z[200:] += 1.0
    whole = brute.evidence(Z, judge)
    threshold = whole[:200].max() + 1.0
    first = int(np.argmax(whole >= threshold))
    found = Windows.empty(judge).add(Z, judge, threshold, compiled)
    assert found.alarmed
    assert found.used == first + 1 > 200


@pytest.mark.parametrize("longest", [10, 100])
@pytest.mark.parametrize("batch", [1, 2, 3, 50, 256])
def test_batches_change_no_bit(longest, batch, compiled):
    judge = any_judge(longest)
    Z = np.random.default_rng(6).normal(size=(600, 10)) + 0.2
    whole = Windows.empty(judge)
    expected = whole.add(Z, judge, np.inf, compiled)
    cut = Windows.empty(judge)
    found = [cut.add(Z[i : i + batch], judge, np.inf, compiled) for i in range(0, len(Z), batch)]
    np.testing.assert_array_equal(
        np.concatenate([own.evidence for own in found]), expected.evidence
    )
    assert found[-1][2:] == expected[2:]
    assert cut.seen == whole.seen
    np.testing.assert_array_equal(cut.current, whole.current)
    np.testing.assert_array_equal(cut.blocks, whole.blocks)


@pytest.mark.parametrize("longest", [4, 16, 300])
@pytest.mark.parametrize("threshold", [0.5, 4.0, np.inf])
def test_both_scans_find_the_same(longest, threshold):
    judge = any_judge(longest)
    Z = np.random.default_rng(7).normal(size=(301, 10)) + 0.1
    at = 0
    states = [Windows.empty(judge), Windows.empty(judge)]
    while at < len(Z):
        plain, compiled = (
            own.add(Z[at : at + 77], judge, threshold, how)
            for own, how in zip(states, (False, True), strict=True)
        )
        assert (plain.used, *plain[2:]) == (compiled.used, *compiled[2:])
        np.testing.assert_allclose(plain.evidence, compiled.evidence, rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(states[0].blocks, states[1].blocks)
        np.testing.assert_array_equal(states[0].current, states[1].current)
        at += plain.used


def compiled_passages(table, rows, offsets, levels, judge, depth):
    found = []
    for own, shifts in zip(rows, offsets, strict=True):
        times = np.zeros((len(own) // BLOCK + 1, len(levels)), dtype=np.int64)
        no_courses = np.zeros((0, len(judge.bonus)))
        run, left = window_scan.first_passages(
            table, own, shifts, levels, judge, windows.empty_blocks(judge), times, no_courses
        )
        found.append((times[: run + 1], left))
    return found


@pytest.fixture
def first_passages(compiled):
    return compiled_passages if compiled else plain_scan.first_passages


def test_first_passages_restart_where_a_run_ends(first_passages):
    judge = any_judge(32)
    rng = np.random.default_rng(3)
    table = rng.normal(size=(50, 10))
    rows = rng.integers(50, size=(2, 4001))
    levels = np.array([2.0, 3.0, 4.0])
    none = np.zeros((2, 1, 10))
    passages = first_passages(table, rows, none, levels, judge, windows.levels(judge))
    for stream, (times, left) in zip(rows, passages, strict=True):
        at = 0
        for own in times[:-1]:
            course = brute.evidence(table[stream[at : at + own[-1]]], judge)
            reached = [int(np.argmax(course >= level)) + 1 for level in levels]
            assert own.tolist() == reached
            at += own[-1]
        assert len(times) > 4
        assert times[-1][-1] == 0
        assert at + left == len(stream)


def test_offsets_are_taken_from_every_row_of_a_run(first_passages):
    judge = any_judge(32)
    rng = np.random.default_rng(4)
    table = rng.normal(size=(50, 10))
    rows = rng.integers(50, size=(1, 500))
    offset = np.full((1, 1, 10), 0.3)
    levels = np.array([3.0])
    depth = windows.levels(judge)
    ((shifted, left),) = first_passages(table, rows, offset, levels, judge, depth)
    ((plain, as_well),) = first_passages(table - 0.3, rows, 0.0 * offset, levels, judge, depth)
    np.testing.assert_array_equal(shifted, plain)
    assert left == as_well


@pytest.mark.parametrize("longest", [4, 32, 1000])
def test_first_passages_and_evidence_in_numpy_are_those_of_the_loops(longest):
    judge = any_judge(longest)
    rng = np.random.default_rng(8)
    table = rng.normal(size=(60, 10))
    rows = rng.integers(60, size=(3, 5003))
    offsets = 0.1 * rng.normal(size=(3, 4, 10))
    levels = np.array([1.0, 2.0, 3.0, 3.5])
    depth = windows.levels(judge)
    for higher in (judge, windows.above(judge, levels[0])):
        plain = plain_scan.first_passages(table, rows, offsets, levels, higher, depth)
        loops = compiled_passages(table, rows, offsets, levels, judge, depth)
        for (times, left), (expected, expected_left) in zip(plain, loops, strict=True):
            np.testing.assert_array_equal(times, expected)
            assert left == expected_left
    found = plain_scan.component_evidence(table, rows, judge, depth)
    for s, own in enumerate(rows):
        out = np.zeros((len(own) // BLOCK, 3))
        never, none, times = np.array([np.inf]), np.zeros((1, 10)), np.zeros((1, 1), dtype=np.int64)
        window_scan.first_passages(
            table, own, none, never, judge, windows.empty_blocks(judge), times, out
        )
        np.testing.assert_allclose(found[:, s].T, out, rtol=1e-11, atol=1e-11)


def test_evidence_above_a_level_is_the_same_without_what_is_below():
    judge = any_judge(64)
    Z = np.random.default_rng(9).normal(size=(400, 10)) + 0.1
    whole, high = (
        Windows.empty(own).add(Z, own, np.inf, compiled=False).evidence[1::2]
        for own in (judge, windows.above(judge, 2.0))
    )
    assert (whole >= 2.0).any()
    np.testing.assert_array_equal(high[whole >= 2.0], whole[whole >= 2.0])
    assert (high[whole < 2.0] < 2.0).all()


def test_roots_of_components_take_the_largest_group(compiled):
    judge = any_judge(16)
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 10))
    rows = rng.integers(40, size=(6, 9))
    out = np.zeros((6, 3))
    if compiled:
        window_scan.component_roots(table, rows, judge, out)
    else:
        out = plain_scan.component_roots(table, rows, judge)
    total = table[rows].sum(axis=1)
    q = [
        (total[:, a:b] ** 2).sum(axis=1) / (9 * (b - a))
        for a, b in ((0, 3), (3, 5), (5, 7), (7, 10))
    ]
    expected = np.cbrt(np.stack([q[0], np.maximum(q[1], q[2]), q[3]], axis=1))
    np.testing.assert_allclose(out, expected, rtol=1e-12)
