"""Compiled code that can go: what is made of one user's function has an LLVM engine of its own.

Numba's own engine keeps all code for ever, 9 MB for each function that a user passes. This module
leans on what Numba and llvmlite do not promise to keep (as they are in Numba 0.68); where it is not
there any more, code stays, and all else works.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import newpassmanagers
from numba.core.codegen import JITCPUCodegen
from numba.core.registry import CPUTarget, cpu_target
from numba.core.runtime.nrt import rtsys

from kernelmean.compiled.compiling import compile_lock, current_target

_left: deque[Any] = (
    deque()
)  # engines that nobody holds: freed under the lock, or a fork might copy LLVM amid that


class _ModulePasses(newpassmanagers.ModulePassManager):  # type: ignore[misc]
    """Passes that are freed after use: llvmlite's own inherit a method that frees nothing, half a
    megabyte for each.
    """

    _dispose = newpassmanagers.NewPassManager._dispose


class _FunctionPasses(newpassmanagers.FunctionPassManager):  # type: ignore[misc]
    """The same for functions."""

    _dispose = newpassmanagers.NewPassManager._dispose


class _OwnEngine(JITCPUCodegen):
    """An LLVM engine beside Numba's, which keeps all code for ever: this one goes, and its code
    with it.
    """

    def _module_pass_manager(self, **options: Any) -> tuple[Any, Any]:
        passes, builder = super()._module_pass_manager(**options)
        passes.__class__ = _ModulePasses
        return passes, builder

    def _function_pass_manager(self, **options: Any) -> tuple[Any, Any]:
        passes, builder = super()._function_pass_manager(**options)
        passes.__class__ = _FunctionPasses
        return passes, builder


class PrivateTarget(CPUTarget):
    """Where all that is made of one user's function is compiled; the code lives as long as any part
    of it is held.

    Each compiled function holds its target, so no code vanishes while a thread runs it.
    """

    def __init__(self) -> None:
        super().__init__("cpu")
        with compile_lock():
            _left.clear()
            rtsys.initialize(
                cpu_target.target_context
            )  # what all private targets share is made outside of them
            engine = _OwnEngine("kernelmean")
            self._context = cpu_target.target_context.subtarget(_internal_codegen=engine)
        weakref.finalize(self, _left.append, engine).atexit = False

    @property
    def target_context(self) -> Any:
        return self._context

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context

    def adopt(self, dispatcher: Any) -> None:
        """Let a function be compiled here."""
        dispatcher.targetdescr = dispatcher._compiler.targetdescr = self
        dispatcher.targetctx = self._context

    @contextmanager
    def open(self) -> Iterator[None]:
        """Functions made inside, in this thread, are compiled here."""
        token = current_target.set(self)
        try:
            yield
        finally:
            current_target.reset(token)
