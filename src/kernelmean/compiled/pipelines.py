"""How loops and their parts go through Numba, without what takes time and serves nobody here.

A part is only ever inlined: by itself it needs no machine code, no way in from Python and C, and no
optimisation before that of the loop around it. That takes two fifths off the time to compile. What
the pipelines lean on is not promised by Numba (as it is in 0.68); where it has gone, parts go the
ordinary way.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

SKIPPED = ("_optimize_final_module", "_finalize_final_module")  # methods of Numba's libraries


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """A compilation makes a million objects and few of them are garbage: looking takes a tenth of
    its time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class LoopCompiler(Compiler):
    """For a loop called from Python."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        with _no_garbage_collected():
            return super().compile_extra(func)


class _Uncompiled(JITCodeLibrary):
    """The code of a part, which ends up in that of a loop: never optimised or made into machine
    code by itself.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        state = self.state
        state.library = _Uncompiled(state.targetctx.codegen(), func.__qualname__)
        state.library.enable_object_caching()
        state.targetctx.get_executable = _no_executable  # the context is this compilation's own
        return super().compile_extra(func)


def _no_executable(*_: Any) -> Callable[[], Any]:
    """What stands for the part where Numba asks for what Python would call: some builtin function,
    each another, which can only raise.
    """
    nothing: dict[Any, Any] = {}
    return nothing.popitem


def part_compiler() -> type[Compiler]:
    """The pipeline of a part; Numba's own where libraries have become something else."""
    known = all(hasattr(JITCodeLibrary, method) for method in SKIPPED)
    return _PartCompiler if known else Compiler
