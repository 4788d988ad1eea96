"""Means over the sample of what atoms are blurred to, and their derivatives: atoms are the queries.

Threads share the points where atoms are few, else the atoms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Vector
from kernelmean.compiled import threads
from kernelmean.engines.cpu import component_loops as loops
from kernelmean.engines.cpu import sums
from kernelmean.engines.cpu.blocks import CELL, Blocks, padded_dimension, queries
from kernelmean.kernels import Components, SpreadKind


def atom_sum(blocks: Blocks, components: Components, p: Vector, count: int) -> Vector:
    """Σ_j p_j g_a(x_j)."""
    loop = loops.sums(blocks.d, kind_of(components))
    spread = blocks.spread(p)
    centers = queries(components.centers)
    factors = packed(components)
    pieces, across = sums.shares(blocks, centers)
    parts = np.zeros((len(pieces), len(centers)))

    def add(c: int, i: slice) -> None:
        reach = _everything(blocks, pieces[c], len(centers[i]))
        X = blocks.points[pieces[c]]
        loop(X, spread[pieces[c]], reach, centers[i], factors[i], parts[c, i])

    threads.run(add, [(c, i) for c in range(len(pieces)) for i in across], count)
    total: Vector = np.exp(components.log_heights) * sums.ordered_sum(parts)
    return total


def atom_moments(blocks: Blocks, components: Components, p: Vector, count: int) -> Matrix:
    """Σ_j p_j g_a(x_j)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a."""
    kind = kind_of(components)
    d = blocks.d
    loop = loops.moments(d, kind)
    spread = blocks.spread(p)
    centers = queries(components.centers)
    factors = packed(components)
    pieces, across = sums.shares(blocks, centers)
    parts = np.zeros((len(pieces), len(centers), 1 + d + (1 if kind == "scalar" else d * d)))

    def add(c: int, i: slice) -> None:
        reach = _everything(blocks, pieces[c], len(centers[i]))
        X = blocks.points[pieces[c]]
        loop(X, spread[pieces[c]], reach, centers[i], factors[i], d, parts[c, i])

    threads.run(add, [(c, i) for c in range(len(pieces)) for i in across], count)
    total = sums.ordered_sum(parts)
    if kind == "full":
        products = total[:, 1 + d :].reshape(-1, d, d)
        products += np.swapaxes(np.triu(products, 1), 1, 2)
    total *= np.exp(components.log_heights)[:, None]
    return total


def kind_of(components: Components) -> SpreadKind:
    """What F is: a number for each atom, or a matrix."""
    return "scalar" if components.factors.ndim == 1 else "full"


def packed(components: Components) -> Matrix:
    """(k, 1) rates, or (k, d²) rows of F end to end, padded to whole strips like the blocks."""
    factors = components.factors
    if factors.ndim == 1:
        return np.ascontiguousarray(factors[:, None])
    k, d, _ = factors.shape
    padded = np.zeros((k, padded_dimension(d), padded_dimension(d)))
    padded[:, :d, :d] = factors
    return padded.reshape(k, -1)


def _everything(blocks: Blocks, piece: slice, atoms: int) -> NDArray[np.uint8]:
    """(blocks, atoms, 2): every cell is within reach."""
    rows = len(range(*piece.indices(len(blocks.points))))
    reach = np.zeros((rows, atoms, 2), dtype=np.uint8)
    reach[:, :, 1] = blocks.shape[1] // CELL
    return reach
