"""Kullback–Leibler divergences between many densities, in the log domain throughout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelmean._types import ArrayLike, Matrix, Vector
from kernelmean.mean.expansion import AnyMean, expansion_of
from kernelmean.samples import Queries, Sample


class Divergences(NamedTuple):
    """D(p_a|q_b) for many pairs, (A, B) each."""

    values: Matrix
    standard_errors: Matrix
    largest_terms: Matrix


def divergences(
    models: Sequence[AnyMean], held_out: Sequence[Sample], others: Sequence[AnyMean] | None = None
) -> Divergences:
    """D(f_a|f_b) ≈ mean over the held-out points of a of log f_a − log f_b.

    f_b are the ``others``, or all of them. There is one pass per f_b over the held-out points of
    all. Time O(Σm·Σk·d).
    """
    against = models if others is None else others
    everything = list(held_out)
    if all(X.resident for X in held_out):  # one pass over all of them
        everything = [held_out[0].join(held_out[1:])]
    sizes = np.array([len(X) for X in held_out])
    starts = np.cumsum(sizes) - sizes
    own = np.concatenate([log_density(model, X) for model, X in zip(models, held_out, strict=True)])
    values, errors, largest = (np.zeros((len(models), len(against))) for _ in range(3))
    for b, other in enumerate(against):
        terms = own - np.concatenate([log_density(other, Q) for Q in everything])
        values[:, b] = np.add.reduceat(terms, starts) / sizes
        spread = np.add.reduceat((terms - np.repeat(values[:, b], sizes)) ** 2, starts)
        errors[:, b] = np.sqrt(spread / np.maximum(sizes - 1, 1) / sizes)
        largest[:, b] = np.maximum.reduceat(terms, starts)
    if others is None:
        for matrix in (values, errors, largest):
            np.fill_diagonal(matrix, 0.0)
    return Divergences(values, errors, largest)


def log_density(model: AnyMean, Q: ArrayLike | Queries) -> Vector:
    """log f at Q; centres of weight 0, of which a density on the simplex has many, are left out."""
    mean = expansion_of(model)
    live = np.flatnonzero(mean.weights)
    if 0 < len(live) < mean.k:
        mean = mean.restricted(live)
    return mean.log(Q)
