"""The compiled loops of :mod:`kernelmean.coefficients.atom_slopes`, one pair of atoms at a time."""

from __future__ import annotations

import functools

import numpy as np
from numba import types

from kernelmean._types import Matrix, Points
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import compile_function, part
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.kernels import Atoms, Spreads


def slopes(variance: float, atoms: Atoms, weights: Matrix) -> tuple[Points, Spreads]:
    """Σ_b α_b ∂K_ab/∂c_a and Σ_b α_b ∂K_ab/∂S_a for weights α_b K_ab; those of 0 cost nothing."""
    assert atoms.spreads is not None
    k, d = atoms.centers.shape
    of_centers = np.zeros((k, d))
    of_spreads = np.zeros((k, d, d))
    given = (
        np.ascontiguousarray(atoms.centers),
        np.ascontiguousarray(atoms.spreads),
        variance,
        np.ascontiguousarray(weights),
    )
    tasks = [(*given, some.start, some.stop, of_centers, of_spreads) for some in threads.pieces(k)]
    threads.run(_slopes_loop(), tasks, threads.default_count())
    return of_centers, of_spreads


@part()
def _inverted(Sa, Sb, variance, L, P):
    """P = (τ²I + S_a + S_b)⁻¹ by a Cholesky factor, whose pivots are at least τ²."""
    d = len(L)
    for i in range(d):
        for j in range(i + 1):
            t = Sa[i, j] + Sb[i, j]
            if i == j:
                t += variance
            for m in range(j):
                t -= L[i, m] * L[j, m]
            L[i, j] = np.sqrt(max(t, variance)) if i == j else t / L[j, j]
    for i in range(d):  # L⁻¹ in place of L, row by row: the rows above are inverted already
        inverse = 1.0 / L[i, i]
        for j in range(i):
            t = 0.0
            for m in range(j, i):
                t -= L[i, m] * L[m, j]
            L[i, j] = t * inverse
        L[i, i] = inverse
    for i in range(d):
        for j in range(i + 1):
            t = 0.0
            for m in range(i, d):
                t += L[m, i] * L[m, j]
            P[i, j] = t
            P[j, i] = t


@part()
def _add(weight, P, u, w, of_center, of_spread):
    """weight·w and weight·½(wwᵀ − P), w = Pu."""
    d = len(u)
    for i in range(d):
        t = 0.0
        for m in range(d):
            t += P[i, m] * u[m]
        w[i] = t
        of_center[i] += weight * t
    for i in range(d):
        for j in range(d):
            of_spread[i, j] += 0.5 * weight * (w[i] * w[j] - P[i, j])


@functools.lru_cache(maxsize=1)
def _slopes_loop() -> Loop:
    def slopes_loop(C, S, variance, weights, start, stop, of_centers, of_spreads):
        d = C.shape[1]
        L = np.zeros((d, d))
        P = np.empty((d, d))
        u = np.empty(d)
        w = np.empty(d)
        for a in range(start, stop):
            for b in range(len(C)):
                if weights[a, b] == 0.0:
                    continue
                _inverted(S[a], S[b], variance, L, P)
                for i in range(d):
                    u[i] = C[b, i] - C[a, i]
                _add(weights[a, b], P, u, w, of_centers[a], of_spreads[a])

    signature = types.void(
        read(2),
        read(3),
        types.float64,
        read(2),
        types.int64,
        types.int64,
        write(2),
        write(3),
    )
    return compile_function(slopes_loop, signature, ("slopes",))
