"""Shares of several densities by rows they have not seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernelmean.mixtures.stacking import Stack


def logs(n: int = 300, m: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, m))


def test_two_shares_are_the_optimum_of_the_likelihood():
    L = logs(m=2)
    p = np.random.default_rng(1).random(len(L))
    stack = Stack(L, p)

    def loss(s):
        return -float(p @ np.log(np.exp(L) @ [s, 1 - s])) / p.sum()

    best = minimize_scalar(loss, bounds=(0, 1)).x
    assert stack.shares(rounds=2000)[0] == pytest.approx(best, abs=1e-3)
    assert stack.value(np.array([best, 1 - best])) == pytest.approx(-loss(best))


def test_a_stack_is_at_least_as_likely_as_its_best_member():
    stack = Stack(logs(m=5), np.ones(300))
    shares = stack.shares()
    assert shares.sum() == pytest.approx(1.0)
    assert stack.value(shares) >= max(stack.value(one) for one in np.eye(5)) - 1e-9


def test_few_members_have_few_atoms():
    stack = Stack(logs(m=6), np.ones(300))
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    shares = stack.few(sizes, 3, 20.0)
    kept = shares > 0.0
    assert kept.sum() <= 3
    assert sizes[kept].sum() <= 20.0
    assert shares.sum() == pytest.approx(1.0)
    assert (stack.few(sizes, 9, 1e9) > 0.0).sum() == 6


def test_members_that_explain_no_row_still_have_shares():
    L = np.array([[0.0, -5000.0, -9000.0]] * 20)
    shares = Stack(L, np.ones(20)).few(np.array([50.0, 2.0, 2.0]), 2, 4.0)
    assert shares[0] == 0.0
    assert shares.sum() == pytest.approx(1.0)


def test_a_member_that_is_hardly_missed_goes_with_its_atoms():
    L = logs(m=3)
    L[:, 2] = L[:, 0] + 1e-4
    shares = Stack(L, np.ones(300)).few(np.array([4.0, 4.0, 500.0]), 8, 1e9)
    assert shares[2] == 0.0
    assert (shares[:2] > 0.0).all()
