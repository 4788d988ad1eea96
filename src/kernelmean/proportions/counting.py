"""From posteriors with known classes to what counts the classes of a sample by its posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.engines import Engine
from kernelmean.fitting.cells import Cells
from kernelmean.kernels import Kernel
from kernelmean.mean.expansion import AnyMean
from kernelmean.proportions import choosing, intervals, score_intervals, simplex_means, solving
from kernelmean.proportions.choosing import Choice, balanced
from kernelmean.proportions.intervals import ProportionIntervals
from kernelmean.proportions.likelihood import (
    Likelihood,
    expected_shares,
    normalized,
    stack_weights,
)
from kernelmean.proportions.simplex_means import BANDWIDTHS, SimplexMeans
from kernelmean.proportions.solving import System
from kernelmean.samples import Sample

FEWEST_ROWS = 10  # of a class, from which on simulated mixtures can tell estimators apart
MOST_ROWS = 10_000  # training rows whose values choose weights and estimator


@dataclass(frozen=True, eq=False)
class Counter:
    """What the training rows say of the classes' posteriors."""

    likelihood: Likelihood
    choice: Choice | None  # None: the likelihood was asked for, or a class has few rows
    simplex: SimplexMeans  # of the bandwidth that counts most
    system: System | None  # of these means, where a distance or moments were chosen
    unseen: Matrix  # (N, C) likelihoods of training rows that were not seen when they were made
    y: IntVector

    search: None = None  # for a bandwidth: there are a few, and they are stacked

    @property
    def means(self) -> list[AnyMean]:
        """The kernel mean of each class over square roots of posteriors."""
        return [*self.simplex.means]

    @property
    def kernel(self) -> Kernel:
        """The kernel of these means."""
        return self.simplex.joint.kernel

    @property
    def solver(self) -> str:
        """The name of the estimator that counts."""
        return "likelihood" if self.choice is None else self.choice.chosen.solver

    def proportions(self, X: Sample) -> Vector:
        """(C,) the shares of the classes among rows with the posteriors X."""
        if self.system is None:
            return expected_shares(self.likelihood(X.array()))
        kappa = self.simplex.values(X.array()).mean(axis=0)
        found: Vector = solving.solve(self.system, kappa[None], self.solver)[0]
        return found

    def intervals(
        self, X: Sample, level: float, n_bootstrap: int, streams: Streams
    ) -> ProportionIntervals:
        """The proportions with an interval for each class."""
        if self.system is None:
            likelihoods = self.likelihood(X.array())
            estimate = expected_shares(likelihoods)
            return score_intervals.intervals(likelihoods, self.unseen, self.y, estimate, level)
        estimate = self.proportions(X)
        F = self.simplex.values(X.array())
        return intervals.intervals(self.system, F, estimate, level, n_bootstrap, streams)


def counter(
    posteriors: Matrix,
    y: IntVector,
    solver: str,
    k: int,
    engine: str | Engine,
    streams: Streams,
) -> Counter:
    """Learn from posteriors (N, C), which must be out of fold, of rows with classes y."""
    prior = np.bincount(y) / len(y)  # of all rows, which the posteriors speak of
    some = balanced(y, MOST_ROWS, streams.of("counted rows"))
    P = posteriors[some]
    y = y[some]
    half = choosing.halves(y, streams.of("counted halves"))
    values = _unseen_values(P, y, half, k, engine, streams)
    members = [normalized(P / prior), *(normalized(F) for F in values.values())]
    weights = stack_weights(members, y)
    unseen = np.tensordot(weights, np.stack(members), 1)
    choice = None
    if solver == "auto" and np.bincount(y).min() >= FEWEST_ROWS:
        rng = streams.of("counted mixtures")
        choice = choosing.choose(unseen, values, y, half, rng)
    cells = simplex_means.class_cells(P, y, k, engine, streams.of("class cells"))
    likelihood = _likelihood(prior, weights, cells)
    bandwidth = _bandwidth(weights, choice)
    system = None
    if choice is not None and choice.chosen.solver != "likelihood":
        system = choosing.system_of(values[bandwidth], y, np.arange(len(y)))
    simplex = simplex_means.blurred(cells, bandwidth)
    return Counter(likelihood, choice, simplex, system, unseen, y)


def _likelihood(prior: Vector, weights: Vector, cells: Sequence[Cells]) -> Likelihood:
    """The stack of the members that have a weight."""
    kept = np.flatnonzero(weights[1:])
    densities = tuple(simplex_means.blurred(cells, BANDWIDTHS[i]) for i in kept)
    return Likelihood(prior, float(weights[0]), weights[1:][kept], densities)


def _bandwidth(weights: Vector, choice: Choice | None) -> float:
    """That of the chosen means, or of the density that counts most, or that in the middle."""
    if choice is not None and choice.chosen.bandwidth is not None:
        return choice.chosen.bandwidth
    most = int(np.argmax(weights[1:]))
    return BANDWIDTHS[most if weights[1 + most] > 0.0 else len(BANDWIDTHS) // 2]


def _unseen_values(
    P: Matrix,
    y: IntVector,
    half: IntVector,
    k: int,
    engine: str | Engine,
    streams: Streams,
) -> dict[float, Matrix]:
    """(N, C) values at each bandwidth, by means of the half that a row is not in."""
    values = {bandwidth: np.empty(P.shape) for bandwidth in BANDWIDTHS}
    for side in (0, 1):
        learned = half != side
        rng = streams.of("halved cells", side)
        cells = simplex_means.class_cells(P[learned], y[learned], k, engine, rng)
        for bandwidth, F in values.items():
            F[half == side] = simplex_means.blurred(cells, bandwidth).values(P[half == side])
    return values
