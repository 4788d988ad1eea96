"""The log-density on a domain at training rows, each left out of the atom that stands for it.

On a domain a row raises the density by the images of its atom too. Its own atom loses the share of
the row in its cell, the rows that have the same own atom; it stays where it is.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.density.left_out import WHOLE, ScoredRows
from kernelmean.kernels.atoms import variance
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean

BLOCK = 2**21  # values of components that are held in memory at a time: 16 MiB


def left_out_logs_on_domain(density: DomainMean, rows: ScoredRows) -> Vector:
    """(n,): log f₋ᵢ(xᵢ), the density at each row without that row. Time O(n·k·d)."""
    embedded = density.domain.embed(rows.X)
    labels = np.zeros(len(rows.X), dtype=np.intp)
    for codes, some in embedded.by_codes():
        for block in _blocks(some, len(rows.X), density.unfolded.k):
            values = _atom_logs(density, codes, embedded.coordinates[block])
            labels[block] = _own_atoms(density, values)
    if _is_full(density, rows):
        labels[:] = np.arange(len(rows.X))
    shares = np.minimum(_shares(density, rows, labels), 1.0)
    found = np.full(len(rows.X), -np.inf)
    others = np.log1p(-np.minimum(rows.taken, WHOLE))  # what is left of the mass without a row
    with np.errstate(divide="ignore"):
        left = np.where(shares > WHOLE, -np.inf, np.log1p(-np.minimum(shares, WHOLE)))
        for codes, some in embedded.by_codes():
            for block in _blocks(some, len(rows.X), density.unfolded.k):
                values = _atom_logs(density, codes, embedded.coordinates[block])
                values[np.arange(len(block)), labels[block]] += left[block]
                found[block] = np.logaddexp.reduce(values, axis=1) - others[block]
    return found


def _own_atoms(density: DomainMean, values: Matrix) -> IntVector:
    """(n,): the nearest centre of each row; where atoms differ in width, the one that adds most.

    A heavy centre that is not the nearest can add more, of another category for one.
    """
    if density.spreads is None:
        live = density.weights > 0.0
        log_weights = np.log(np.where(live, density.weights, 1.0))
        values = np.where(live, values - log_weights, -np.inf)
    return np.asarray(values.argmax(axis=1), dtype=np.intp)


def _is_full(density: DomainMean, rows: ScoredRows) -> bool:
    """Whether every row is a centre, in order."""
    return isinstance(density.base, KernelMean) and density.k == len(rows.X)


def _shares(density: DomainMean, rows: ScoredRows, labels: IntVector) -> Vector:
    """(n,) the share of each row in the mass of its cell."""
    if _is_full(density, rows) or not rows.complete:
        return np.asarray(rows.taken / density.weights[labels])
    masses = np.bincount(labels, rows.mass, minlength=density.k)
    return np.asarray(rows.taken / masses[labels])


def _atom_logs(density: DomainMean, codes: IntVector, coordinates: Matrix) -> Matrix:
    """(n, k): the logarithm of what each atom, with its images, adds to the density."""
    mean = density.unfolded
    formula = mean.kernel.formula(mean.dimension)
    weights, log_factor = density.weights_at(codes)
    components = mean.atoms.blurred(variance(formula))
    with np.errstate(divide="ignore"):
        logs = components.log_values(mean.map(coordinates)) + np.log(weights)
    starts = np.searchsorted(density.images.owner, np.arange(density.k))
    found: Matrix = np.logaddexp.reduceat(logs, starts, axis=1)
    return found + (mean.log_constant + log_factor)


def _blocks(rows: IntVector | slice, n: int, width: int) -> list[IntVector]:
    """Those of n rows, as many at a time as memory allows for."""
    rows = np.arange(n)[rows]
    size = max(1, BLOCK // width)
    return [rows[first : first + size] for first in range(0, len(rows), size)]
