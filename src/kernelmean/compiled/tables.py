"""Many values of a tabulated radial function at once, ten times faster than by NumPy."""

from __future__ import annotations

from numba import types

from kernelmean._types import Matrix
from kernelmean.compiled.compiling import compile_function
from kernelmean.compiled.radial import CompiledRadial, compiled, kept
from kernelmean.compiled.signatures import NUMBERS, Loop, write
from kernelmean.kernels import Table

STRETCH = 512  # values that are looked up at a time, so that they stay in the fastest cache


def look_up(radial: Table, r2: Matrix) -> Matrix:
    """g(r²), elementwise; ``r2`` is used up."""
    function, numbers = compiled(radial)
    _profile_loop(function)(r2.reshape(-1), *numbers)
    return r2


@kept(256)
def _profile_loop(radial: CompiledRadial) -> Loop:
    """g(r²) in place of every r²."""
    whole = radial.whole
    g = radial.rest

    def profile_loop(r2, rate, shape, table):
        for first in range(0, len(r2), STRETCH):
            part_of_it = r2[first : first + STRETCH]
            whole(part_of_it, rate, shape, table)
            for j in range(len(part_of_it)):
                part_of_it[j] = g(part_of_it[j], rate, shape, table)

    name = None if radial.name is None else (radial.name, 0)
    return compile_function(profile_loop, types.void(write(1), *NUMBERS), name)
