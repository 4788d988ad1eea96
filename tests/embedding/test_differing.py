"""The test of many samples: right as often as it says, and powerful where they differ."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.embedding.differing import samples_test


def test_like_samples_are_rejected_as_rarely_as_the_level_says():
    """60 tests at 20 %: more than 23 or fewer than 3 has a chance below one in ten thousand."""
    rng = np.random.default_rng(0)
    p = [
        samples_test(
            [rng.normal(size=(n, 2)) for n in (15, 30, 40)], permutations=49, random_state=i
        ).p_value
        for i in range(60)
    ]
    assert 3 <= np.sum(np.array(p) <= 0.2) <= 23


@pytest.mark.parametrize(
    "change",
    [lambda X: X + 0.8, lambda X: X * 1.8, lambda X: np.sign(X) * np.abs(X) ** 0.3],
    ids=["place", "width", "shape"],
)
def test_samples_that_differ_in_any_way_are_told_apart(change):
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=(120, 2)) for _ in range(6)]
    samples[::2] = map(change, samples[::2])
    found = samples_test(samples, permutations=99, random_state=0)
    assert found.p_value == pytest.approx(0.01)
    assert found.rows == 720


def test_units_and_constant_columns_do_not_matter():
    rng = np.random.default_rng(2)
    samples = [rng.normal(size=(50, 2)) + i % 2 for i in range(4)]
    there = samples_test(samples, permutations=49, random_state=0)
    moved = [np.c_[1e-9 * X[:, 0], 1e9 * X[:, 1] + 7.0, np.full(50, 3.0)] for X in samples]
    assert samples_test(moved, permutations=49, random_state=0).p_value == there.p_value == 0.02
    same = samples_test([np.ones((9, 1)), np.ones((7, 1))], permutations=19, random_state=0)
    assert same.p_value == 1.0


def test_large_samples_are_thinned_alike_and_a_seed_repeats():
    rng = np.random.default_rng(3)
    samples = [rng.normal(size=(n, 1)) for n in (9000, 3000)]
    first, again = (samples_test(samples, permutations=9, random_state=4) for _ in range(2))
    assert first == again
    assert first.rows == 4000


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="give at least two"):
        samples_test([np.zeros((4, 2))])
