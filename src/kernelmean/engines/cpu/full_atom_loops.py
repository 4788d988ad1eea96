"""Compiled loops over atoms with a covariance each: blocks of queries, and a sum for every query.

Atoms come one after the other, so that the numbers of F_a serve all queries of a block; within
groups of atoms sums are kept apart, so that many atoms lose no digit. In the log domain the largest
term of a query is found first.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import types

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import compile_function
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines.cpu.component_loops import exponents
from kernelmean.engines.cpu.tiles import dimension_key

START = np.uint64(0)  # of the queries of a block: all of them take part
GROUP = 64  # atoms whose terms are added up before they join the sum
VALUE = 0  # columns of the sums of a step of mean shift: Σ e
TRACE = 1  # Σ e tr(P)/d; from PULL on Σ e P(c − q), and then the upper half of Σ e P, row by row
PULL = 2


@functools.lru_cache(maxsize=64)
def kernel_sum(d: int) -> Loop:
    """out_bcj += Σ_a V_ac exp(−‖F_a(q_bj − c_a)‖²)."""
    fill = exponents(d, "full")
    exp = elementary.exp

    def full_kernel_sum_loop(Q, C, factors, V, out):
        m = Q.shape[2]
        columns = V.shape[1]
        terms = np.empty(m)
        partial = np.empty((columns, m))
        for b in range(len(Q)):
            for first in range(0, len(C), GROUP):
                for c in range(columns):
                    for j in range(m):
                        partial[c, j] = 0.0
                for a in range(first, min(first + GROUP, len(C))):
                    fill(Q[b], C[a], factors[a], START, m, terms)
                    for j in range(m):
                        terms[j] = exp(-terms[j])
                    for c in range(columns):
                        v = V[a, c]
                        own = partial[c]
                        for j in range(m):
                            own[j] += v * terms[j]
                for c in range(columns):
                    for j in range(m):
                        out[b, c, j] += partial[c, j]

    signature = types.void(read(3), read(2), read(2), read(2), write(3))
    return compile_function(full_kernel_sum_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def peaks(d: int) -> Loop:
    """peak_bj ← max_a log v_a − ‖F_a(q_bj − c_a)‖²."""
    fill = exponents(d, "full")

    def full_peaks_loop(Q, C, factors, log_v, peak):
        m = Q.shape[2]
        terms = np.empty(m)
        for b in range(len(Q)):
            own = peak[b]
            for a in range(len(C)):
                if log_v[a] > -np.inf:
                    fill(Q[b], C[a], factors[a], START, m, terms)
                    for j in range(m):
                        own[j] = max(own[j], log_v[a] - terms[j])

    signature = types.void(read(3), read(2), read(2), read(1), write(2))
    return compile_function(full_peaks_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def totals(d: int) -> Loop:
    """out_bj += Σ_a exp(log v_a − ‖F_a(q_bj − c_a)‖² − peak_bj)."""
    fill = exponents(d, "full")
    exp = elementary.exp

    def full_totals_loop(Q, C, factors, log_v, peak, out):
        m = Q.shape[2]
        terms = np.empty(m)
        for b in range(len(Q)):
            own = out[b]
            level = peak[b]
            for a in range(len(C)):
                if log_v[a] > -np.inf:
                    fill(Q[b], C[a], factors[a], START, m, terms)
                    for j in range(m):
                        own[j] += exp(log_v[a] - terms[j] - level[j])

    signature = types.void(read(3), read(2), read(2), read(1), read(2), write(2))
    return compile_function(full_totals_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def shift(d: int) -> Loop:
    """Sums relative to the peak of each query: Σ e, Σ e tr(P)/d, Σ e P(c − q) and Σ e P.

    P is symmetric: (a, d, d), of which the upper half is added up.
    """
    fill = exponents(d, "full")
    exp = elementary.exp

    def full_shift_loop(Q, C, factors, log_v, P, traces, peak, out):
        m = Q.shape[2]
        dimension = P.shape[1]
        e = np.empty(m)
        pulled = np.empty(m)
        for b in range(len(Q)):
            own = out[b]
            level = peak[b]
            for a in range(len(C)):
                if log_v[a] == -np.inf:
                    continue
                fill(Q[b], C[a], factors[a], START, m, e)
                for j in range(m):
                    e[j] = exp(log_v[a] - e[j] - level[j])
                    own[VALUE, j] += e[j]
                    own[TRACE, j] += traces[a] * e[j]
                for t in range(dimension):
                    x = Q[b, t]
                    o = C[a, t]
                    for j in range(m):
                        pulled[j] = e[j] * (o - x[j])
                    for s in range(dimension):
                        p = P[a, s, t]
                        row = own[PULL + s]
                        for j in range(m):
                            row[j] += p * pulled[j]
                place = PULL + dimension
                for s in range(dimension):
                    for t in range(s, dimension):
                        p = P[a, s, t]
                        row = own[place]
                        for j in range(m):
                            row[j] += p * e[j]
                        place += 1

    signature = types.void(read(3), read(2), read(2), read(1), read(3), read(1), read(2), write(3))
    return compile_function(full_shift_loop, signature, (dimension_key(d),))
