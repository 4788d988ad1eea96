"""Proportions by likelihood: how well each class explains each row, and what follows for all.

ℓ_c(x), the likelihood of class c at a row, is wanted up to a factor that all classes share. The
calibrated posteriors give p(c | x)/p(c); the kernel means over posteriors give a density of each
class, which mends what calibration left wrong. They are stacked by how well they explain rows that
they have not seen, and one that is not missed is left out.

A sample then has Π_i Σ_c π_c ℓ_c(x_i). Instead of the maximum, the mean of π under a flat prior is
taken, by expectation propagation [1]: where classes overlap, the maximum lies on the border of the
simplex too often, and the mean is nearer to the truth. What is asked for is the share of the rows
of the sample, not of a population that they come from; since π given the labels has the mean
(n_c + 1)/(n + C), the expected share is (π̄_c(n + C) − 1)/n.

[1] T. Minka and J. Lafferty, "Expectation-Propagation for the Generative Aspect Model", UAI 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean._work import compiling_pays
from kernelmean.proportions.simplex_means import SimplexMeans

STEPS_OF_ROW = 2e4  # of NumPy, for one row in one round of a few
FEW_ROUNDS = 20
ROUNDS = 100  # of expectation propagation
TOLERANCE = 1e-7  # change of a row's exponents, on average
STACK_ROUNDS = 200  # of EM
# Rows that speak for the calibrated posteriors before any row is seen, and for each density.
TRUST = 10.0
CURIOSITY = 0.5
MISSED = 2.0  # nats of all rows, by which a density must be missed to stay


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of the classes, stacked of calibrated posteriors and densities."""

    prior: Vector  # (C,) shares of the training rows
    trust: float  # weight of the calibrated posteriors
    weights: Vector  # (m,) weights of the densities
    densities: tuple[SimplexMeans, ...]

    def __call__(self, posteriors: Matrix) -> Matrix:
        """(n, C) likelihoods of the rows; those of a row sum to one."""
        total = self.trust * normalized(posteriors / self.prior)
        for weight, means in zip(self.weights, self.densities, strict=True):
            total = total + weight * normalized(means.values(posteriors))
        return total


def normalized(values: Matrix) -> Matrix:
    """Rows that sum to one."""
    shares: Matrix = values / values.sum(axis=1, keepdims=True)
    return shares


def stack_weights(members: Sequence[Matrix], y: IntVector) -> Vector:
    """Weights of likelihoods (n, C) that explain the classes y of rows they have not seen best.

    The first member are the calibrated posteriors, which always stay. Of the others, the one that
    is missed least goes until each is missed. Classes count alike, since any may be the most of a
    sample.
    """
    own = np.column_stack([member[np.arange(len(y)), y] for member in members])
    masses = len(y) / (len(np.bincount(y)) * np.bincount(y))[y]
    kept = list(range(len(members)))
    weights, value = _stacked(own, masses, kept)
    while len(kept) > 1:
        without = [(_stacked(own, masses, [m for m in kept if m != one]), one) for one in kept[1:]]
        (fewer, less), one = max(without, key=lambda trial: trial[0][1])
        if value - less >= MISSED:
            break
        kept.remove(one)
        weights = fewer
        value = less
    return weights


def _stacked(own: Matrix, masses: Vector, kept: list[int]) -> tuple[Vector, float]:
    """Weights by EM with a few rows that speak for each member, and the log-likelihood."""
    f = own[:, kept]
    before = np.full(len(kept), CURIOSITY)
    before[0] = TRUST
    s = before / before.sum()
    for _ in range(STACK_ROUNDS):
        shares = f * s
        shares /= shares.sum(axis=1, keepdims=True)
        s = masses @ shares + before
        s /= s.sum()
    weights = np.zeros(own.shape[1])
    weights[kept] = s
    return weights, float(masses @ np.log(f @ s))


def expected_shares(likelihoods: Matrix) -> Vector:
    """(C,) the expected share of each class among the rows, under a flat prior. Time O(n·C)."""
    n, C = likelihoods.shape
    gamma = _exponents(likelihoods, np.ones(C))
    shares = np.maximum(gamma / gamma.sum() * (n + C) - 1.0, 0.0)
    found: Vector = shares / shares.sum()
    return found


def _exponents(likelihoods: Matrix, prior: Vector) -> Vector:
    """(C,) exponents γ of the Dirichlet density nearest to the posterior of π."""
    if not compiling_pays(STEPS_OF_ROW * FEW_ROUNDS * len(likelihoods)):
        return plain_propagate(likelihoods, prior, ROUNDS, TOLERANCE)
    from kernelmean.compiled.mixture_weights import propagate

    gamma: Vector = propagate(likelihoods, prior, ROUNDS, TOLERANCE)
    return gamma


def plain_propagate(likelihoods: Matrix, prior: Vector, rounds: int, tol: float) -> Vector:
    """The loop of :mod:`kernelmean.compiled.mixture_weights` in NumPy, one row after another."""
    sites = np.zeros(likelihoods.shape)
    gamma = prior.copy()
    for _ in range(rounds):
        moved = 0.0
        for row, site in zip(likelihoods, sites, strict=True):
            cavity = gamma - site  # δ
            q = row * cavity
            mass = q.sum()
            if not (cavity.min() > 0.0 and mass > 0.0):
                continue
            q /= mass
            total = cavity.sum()
            mean = (cavity + q) / (total + 1.0)
            square = (cavity + 1.0) * (cavity + 2.0 * q) / ((total + 1.0) * (total + 2.0))
            size = (mean - square).sum() / (square - mean * mean).sum()
            gamma = size * mean
            moved += np.abs(gamma - cavity - site).sum()
            site[:] = gamma - cavity
        if moved <= tol * len(likelihoods):
            break
    return gamma
