"""Compile what is needed, when it is needed, and keep it on disk.

A specialisation is a plain function made by a factory from constants (the dimension, the radial). Numba's own cache
keeps one index for all specialisations of a function and numbers its files, which several processes can confuse. Here
each specialisation has its own file, named by a hash of everything it depends on: whoever writes it writes the same.
"""

from __future__ import annotations

import functools
import hashlib
import os
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite.binding import newpassmanagers
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUTarget, cpu_target
from numba.core.runtime.nrt import rtsys

SAFE_MATH = {"reassoc", "contract", "arcp", "nsz"}  # NaN and inf keep their meaning
EXACT_MATH: set[str] = set()  # bit for bit what NumPy computes
ORDERED_MATH = {"contract"}  # fused multiply-add, but every sum in the order written

T = TypeVar("T")

_lock = threading.RLock()


def _before_fork() -> None:
    """Wait for compilations of other threads: a child forked amid one would wait for it for ever."""
    _lock.acquire()
    global_compiler_lock.acquire()  # type: ignore[no-untyped-call]


def _after_fork() -> None:
    global_compiler_lock.release()  # type: ignore[no-untyped-call]
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class _ModulePasses(newpassmanagers.ModulePassManager):  # type: ignore[misc]
    """Passes that are freed after use: llvmlite's own inherit a method that frees nothing, half a megabyte for each."""

    _dispose = newpassmanagers.NewPassManager._dispose


class _FunctionPasses(newpassmanagers.FunctionPassManager):  # type: ignore[misc]
    """The same for functions."""

    _dispose = newpassmanagers.NewPassManager._dispose


class _OwnEngine(JITCPUCodegen):
    """An LLVM engine beside Numba's, which keeps all code for ever: this one goes, and its code with it."""

    def _module_pass_manager(self, **options: Any) -> tuple[Any, Any]:
        passes, builder = super()._module_pass_manager(**options)  # type: ignore[no-untyped-call]
        passes.__class__ = _ModulePasses
        return passes, builder

    def _function_pass_manager(self, **options: Any) -> tuple[Any, Any]:
        passes, builder = super()._function_pass_manager(**options)  # type: ignore[no-untyped-call]
        passes.__class__ = _FunctionPasses
        return passes, builder


class Workshop(CPUTarget):
    """Where all that is made of one user's function is compiled; the code lives as long as any part of it is held.

    Each compiled function holds its workshop, so no code vanishes while a thread runs it.
    """

    def __init__(self) -> None:
        super().__init__("cpu")  # type: ignore[no-untyped-call]
        with _lock:
            _left.clear()
            rtsys.initialize(cpu_target.target_context)  # what all workshops share is made outside of them
            engine = _OwnEngine("kernelmean")  # type: ignore[no-untyped-call]
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
        token = _workshop.set(self)
        try:
            yield
        finally:
            _workshop.reset(token)


_workshop: ContextVar[Workshop | None] = ContextVar("_workshop", default=None)
_left: deque[Any] = deque()  # engines that nobody holds: freed under the lock, or a fork might copy LLVM amid that


def alone() -> threading.RLock:
    """The lock of everything that compiles, for a ``with``: what two threads ask for at once is then made once."""
    return _lock


def shared(maxsize: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``lru_cache`` for what serves every kernel: made outside of workshops, whoever asks first."""

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        def outside(*constants: Hashable) -> T:
            token = _workshop.set(None)
            try:
                return make(*constants)
            finally:
                _workshop.reset(token)

        return functools.wraps(make)(functools.lru_cache(maxsize=maxsize)(outside))

    return decorate


def part(fastmath: set[str] = SAFE_MATH) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a small function that compiled loops call: division as in NumPy, since a check stops vectorisation."""

    def decorate(function: Callable[..., Any]) -> Any:
        return _jitted(_named(function, *sorted(fastmath)), fastmath=fastmath or False, error_model="numpy")

    return decorate


def _jitted(function: Callable[..., Any], **options: Any) -> Any:
    return _adopted(numba.njit(**options)(function))


def _adopted(dispatcher: Any) -> Any:
    """The function itself, to be compiled in the workshop that is open, if one is."""
    if (workshop := _workshop.get()) is not None:
        workshop.adopt(dispatcher)
    return dispatcher


def users_part(scalar: Any) -> Any:
    """A user's function for compiled loops to call: a twin of it, so that they do not hold the function itself."""
    if isinstance(scalar, Dispatcher):
        how: Any = scalar._compiler  # type: ignore[attr-defined]
        return _adopted(type(scalar)(_named(scalar.py_func), how.locals, how.targetoptions, how.pipeline_class))
    return scalar if hasattr(scalar, "py_func") else part()(scalar)


def _named(function: Callable[..., Any], *constants: object) -> Callable[..., Any]:
    """A twin of the function whose symbol says what it is made of.

    Numba tells the versions of a function apart by counting them within a process; machine code of two processes then
    meets under one symbol, and the linker takes either.
    """
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = [getattr(getattr(part, "py_func", part), "__qualname__", repr(part)) for part in contents]
    digest = hashlib.sha256(repr((function.__module__, function.__qualname__, parts, constants)).encode()).hexdigest()
    twin = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__module__, twin.__doc__ = function.__module__, function.__doc__
    twin.__qualname__ = f"{function.__qualname__}_{digest[:16]}"
    return twin


class _OwnFileCache(FunctionCache):
    """Numba's cache with one file per specialisation and signature, and a key that is equal in every process."""

    def __init__(self, function: Callable[..., Any], key: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._key = key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._open_file(sig, target_context.codegen())
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._open_file(sig, data.codegen)
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _open_file(self, sig: Any, codegen: Any) -> None:
        name = hashlib.sha256(f"{self._key} {sig} {codegen.magic_tuple()}".encode()).hexdigest()
        self._cache_file = type(self._cache_file)(
            cache_path=self._cache_path, filename_base=f"{self._impl.filename_base}-{name[:20]}", source_stamp=name
        )

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (sig, codegen.magic_tuple(), self._key)


def entry(fastmath: set[str] = SAFE_MATH, constants: tuple[object, ...] | None = ()) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a loop called from Python; ``constants`` name what it closes over (None: not cached on disk)."""

    def decorate(function: Callable[..., Any]) -> Any:
        twin = _named(function, *sorted(fastmath), constants)
        dispatcher = _jitted(twin, nogil=True, fastmath=fastmath or False, error_model="numpy")
        if constants is not None:
            _attach_cache(dispatcher, (function.__qualname__, sorted(fastmath), *constants))
        return dispatcher

    return decorate


def compile_function(
    function: Callable[..., Any], signature: Any, constants: tuple[object, ...] | None, fastmath: set[str] = SAFE_MATH
) -> Callable[..., Any]:
    """``function`` compiled for one signature, now."""
    with _lock:
        dispatcher = entry(fastmath, constants)(function)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    compiled: Callable[..., Any] = dispatcher
    return compiled


def _attach_cache(dispatcher: Any, parts: tuple[object, ...]) -> None:
    key = hashlib.sha256(repr((_source_hash(), numba.__version__, parts)).encode()).hexdigest()
    try:
        dispatcher._cache = _OwnFileCache(dispatcher.py_func, key)
    except RuntimeError:  # no directory that can be written to: compile in every process
        return


@functools.cache
def _source_hash() -> str:
    """Hash of every source file whose code ends up in compiled loops."""
    here = Path(__file__).parent
    files = sorted(here.glob("*.py")) + sorted((here.parents[1] / "kernels").glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
