"""Means over the sample of what atoms are blurred to, and their derivatives: atoms are the queries.

Threads share the points where atoms are few, else the atoms.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Matrix, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.signatures import Loop
from kernelmean.engines.cpu import component_loops as loops
from kernelmean.engines.cpu import sums
from kernelmean.engines.cpu.blocks import Blocks, padded_dimension, queries
from kernelmean.engines.cpu.component_reach import cells_that_matter
from kernelmean.kernels import Components, SpreadKind

FARTHER = 2.0**-12  # of what sums may lose, for sums of squares: far points count for more there


def atom_sum(blocks: Blocks, components: Components, p: Vector, count: int) -> Vector:
    """Σ_j p_j g_a(x_j)."""
    loop = loops.sums(blocks.d, kind_of(components))
    return _sums(blocks, components, p, loop, (), (), count)


def atom_moments(blocks: Blocks, components: Components, p: Vector, count: int) -> Matrix:
    """Σ_j p_j g_a(x_j)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a."""
    kind = kind_of(components)
    d = blocks.d
    columns = 1 + d + (1 if kind == "scalar" else d * d)
    found = _sums(blocks, components, p, loops.moments(d, kind), (d,), (columns,), count)
    if kind == "full":
        products = found[:, 1 + d :].reshape(-1, d, d)
        products += np.swapaxes(np.triu(products, 1), 1, 2)
    return found


def _sums(
    blocks: Blocks,
    components: Components,
    p: Vector,
    loop: Loop,
    constants: tuple[int, ...],
    columns: tuple[int, ...],
    count: int,
) -> Matrix:
    """(k, columns): h_a times the sums of a loop over the cells that matter to each atom."""
    spread = blocks.spread(p)
    centers = queries(components.centers)
    factors = packed(components)
    kind = kind_of(components)
    lost = FARTHER if columns else 1.0
    reach = cells_that_matter(blocks, spread, kind, centers, factors, lost, count)
    pieces, across = sums.shares(blocks, centers)
    parts = np.zeros((len(pieces), len(centers), *columns))

    def add(c: int, i: slice) -> None:
        b = pieces[c]
        own = (blocks.points[b], spread[b], reach(b, i), centers[i], factors[i])
        loop(*own, *constants, parts[c, i])

    threads.run(add, [(c, i) for c in range(len(pieces)) for i in across], count)
    total = sums.ordered_sum(parts)
    heights = np.exp(components.log_heights)
    found: Matrix = (total.T * heights).T
    return np.ascontiguousarray(found)


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
