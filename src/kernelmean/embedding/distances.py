"""Samples to distances: MMD, L2 distance of densities, symmetrised Kullback–Leibler divergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import Matrix, Vector
from kernelmean.fitting.recipe import Recipe, halves
from kernelmean.mean.compare import distance_matrix
from kernelmean.mean.divergence import Divergences, divergences
from kernelmean.mean.expansion import AnyMean
from kernelmean.samples import Sample

METRICS = ("mmd", "l2", "kl")


@dataclass(frozen=True)
class Comparison:
    """The means of all samples and how they are compared; what a new sample needs to join."""

    metric: str
    recipe: Recipe
    means: list[AnyMean]
    # Second halves, which the Kullback–Leibler divergence is averaged over.
    held_out: list[Sample] | None

    def distances(self) -> tuple[Matrix, Divergences | None]:
        """(N, N) distances between the samples, and the divergences they are made of, if so."""
        if self.held_out is None:
            return distance_matrix(self.means), None
        found = divergences(self.means, self.held_out)
        # d(p, q) = D(p|q) + D(q|p), which chance can take below 0 for near-equal laws.
        return np.maximum(found.values + found.values.T, 0.0), found

    def distances_from(self, new: Comparison) -> Matrix:
        """(M, N) distances of new samples to these, none of which is fitted again."""
        if self.held_out is None or new.held_out is None:
            return distance_matrix(new.means, self.means)
        there = divergences(new.means, new.held_out, self.means).values
        back = divergences(self.means, self.held_out, new.means).values
        return np.maximum(there + back.T, 0.0)

    def add(self, samples: Sequence[Sample], names: Sequence[Any]) -> Comparison:
        """New samples by the same recipe."""
        return compare(self.metric, self.recipe, samples, names)

    def errors(self, samples: Sequence[Sample]) -> Vector:
        """Certified ‖z̄_l − z_l‖: |D_ab − D0_ab| is at most the sum of two (not for "kl").

        That is the triangle inequality.
        """
        return self.recipe.certified_errors(samples, self.means)


def compare(
    metric: str, recipe: Recipe, samples: Sequence[Sample], names: Sequence[Any]
) -> Comparison:
    """Fit a mean to every sample, in the space that the metric asks for."""
    if _checks.choice(metric, "metric", METRICS) != "kl":
        suited = replace(recipe, space="rkhs" if metric == "mmd" else "l2")
        return Comparison(metric, suited, suited.means(samples), None)
    suited = recipe.for_densities()
    pairs = [
        halves(X, suited.streams, f"sample {name!r}")
        for X, name in zip(samples, names, strict=True)
    ]
    return Comparison(
        metric, suited, suited.means([first for first, _ in pairs]), [second for _, second in pairs]
    )
