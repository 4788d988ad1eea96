"""The fewest centres that are enough."""

import pytest

from kernelmean.fitting.searching import CLOSE_ENOUGH, fewest


@pytest.mark.parametrize("least", [1, 2, 5, 15, 16, 17, 100, 333, 999, 1000])
def test_the_number_found_is_enough_and_one_a_tenth_smaller_is_not(least):
    tried = []

    def at(k, last):
        tried.append(k)
        return k

    found, reached = fewest(at, lambda k: k >= least, 1000)
    assert reached
    assert least <= found <= max(CLOSE_ENOUGH * least, 1)
    assert len(tried) == len(set(tried)) < 16


def test_the_limit_is_what_is_left_where_nothing_is_enough():
    assert fewest(lambda k, last: k, lambda k: False, 75) == (75, False)
    assert fewest(lambda k, last: k, lambda k: False, 3) == (3, False)


def test_the_last_number_is_announced_and_others_may_fail():
    told = []

    def at(k, last):
        told.append((k, last))
        return k if k > 40 else None

    assert fewest(at, lambda k: True, 50) == (42, True)
    assert told[2] == (50, True)
    assert [last for k, last in told if k != 50] == [False] * (len(told) - 1)
