"""Which estimator counts best: those of the family are tried on simulated mixtures.

The training rows are divided in halves. What one half says of the classes is asked for the
proportions of mixtures drawn from the other, whose truth is known, and then the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean import _shown
from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.proportions import solving
from kernelmean.proportions.likelihood import expected_shares
from kernelmean.proportions.solving import System

MIXTURES = 100  # simulated for each half
MIXTURE_ROWS = 500  # in a simulated mixture, at most
# Of the error of the likelihood, which another must stay below, whichever half is judged. All
# mixtures are of the same rows, few of them of a rare class: a quarter less is chance still.
CLEARLY = 0.6


LEAST_EIGENVALUE = 1e-6  # of a Gram matrix that is measured, in units of the largest


class Candidate(NamedTuple):
    """A way to estimate proportions: a solver, and the bandwidth of its kernel means."""

    solver: str
    bandwidth: float | None = None

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


class Choice(NamedTuple):
    """What was tried on simulated mixtures, and the mean absolute error of each."""

    chosen: Candidate
    candidates: list[Candidate]
    errors: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Rows drawn with known proportions from one half of the training rows."""

    rows: list[IntVector]
    truth: Matrix  # (s, C)

    def errors(self, estimates: Matrix) -> Vector:
        """(s,) the mean absolute error of each mixture's proportions."""
        error: Vector = np.abs(estimates - self.truth).mean(axis=1)
        return error


def balanced(y: IntVector, most: int, rng: np.random.Generator) -> IntVector:
    """All rows, or at most so many, of which classes with many rows give up the most."""
    if len(y) <= most:
        return np.arange(len(y))
    counts = np.bincount(y)
    share = most // len(counts)
    for _ in counts:  # what small classes leave goes to the others
        small = counts <= share
        share = (most - int(counts[small].sum())) // max(1, int((~small).sum()))
    kept = [rng.permutation(np.flatnonzero(y == c))[:share] for c in range(len(counts))]
    return np.sort(np.concatenate(kept))


def halves(y: IntVector, rng: np.random.Generator) -> IntVector:
    """0 or 1 for every row, so that each half has half of each class; a single row is in half 0."""
    half = np.empty(len(y), dtype=np.intp)
    for c in range(int(y.max()) + 1):
        members = rng.permutation(np.flatnonzero(y == c))
        half[members] = np.arange(len(members)) % 2
    return half


def mixtures(y: IntVector, pool: IntVector, rng: np.random.Generator) -> Mixtures:
    """Mixtures of rows of the pool with Dirichlet(1) proportions."""
    C = int(y.max()) + 1
    members = [pool[y[pool] == c] for c in range(C)]
    size = min(len(pool), MIXTURE_ROWS)
    counts = rng.multinomial(size, rng.dirichlet(np.ones(C), MIXTURES))
    rows = [
        np.concatenate([rng.choice(rows, m) for rows, m in zip(members, drawn, strict=True)])
        for drawn in counts
    ]
    return Mixtures(rows, counts / size)


def choose(
    likelihoods: Matrix,
    values: dict[float, Matrix],
    y: IntVector,
    half: IntVector,
    rng: np.random.Generator,
) -> Choice:
    """The candidate of the least error; the likelihood, unless another is clearly better.

    ``likelihoods`` (n, C) and ``values`` (n, C) of the class means at each bandwidth are those of
    rows that were not seen when they were made.
    """
    candidates = [Candidate("likelihood")]
    candidates += [Candidate(solver, h) for h in values for solver in ("qp", "moments")]
    errors = []
    for side in (0, 1):
        drawn = mixtures(y, np.flatnonzero(half == side), rng)
        found = [drawn.errors(np.stack([expected_shares(likelihoods[r]) for r in drawn.rows]))]
        for F in values.values():
            found += by_values(F, y, half, side, drawn)
        errors.append(np.stack(found))
    means = np.stack([found.mean(axis=1) for found in errors])
    return Choice(candidates[_best(means)], candidates, means.mean(axis=0))


def by_values(
    F: Matrix, y: IntVector, half: IntVector, side: int, drawn: Mixtures
) -> Sequence[Vector]:
    """Errors of the distance and of the moments, with the means of one half."""
    kappa = np.stack([F[rows].mean(axis=0) for rows in drawn.rows])
    system = system_of(F, y, np.flatnonzero(half != side))
    return [drawn.errors(solving.solve(system, kappa, name)) for name in ("qp", "moments")]


def system_of(F: Matrix, y: IntVector, rows: IntVector) -> System:
    """Moments of the class means over the rows, whose values F are those of unseen rows.

    M_cc′ is the mean of z_c over class c′. It is ⟨z_c, z_c′⟩ on average, so its symmetric part
    serves as the Gram matrix, with what chance makes small or negative raised to a floor.
    """
    groups = [F[rows[y[rows] == c]] for c in range(F.shape[1])]
    M = np.column_stack([group.mean(axis=0) for group in groups])
    covariances = [
        np.cov(group.T) / len(group) if len(group) > 1 else np.zeros_like(M) for group in groups
    ]
    eigenvalues, vectors = np.linalg.eigh(0.5 * (M + M.T))
    G = (vectors * np.maximum(eigenvalues, LEAST_EIGENVALUE * eigenvalues.max())) @ vectors.T
    return System(0.5 * (G + G.T), M, np.stack(covariances))


def _best(errors: Matrix) -> int:
    """The column of the least mean over halves; the first, unless it is clearly worse in both."""
    best = int(np.argmin(errors.mean(axis=0)))
    return best if (errors[:, best] < CLEARLY * errors[:, 0]).all() else 0
