"""Compile what is needed, when it is needed, and keep it on disk.

A specialisation is a plain function made by a factory from constants (the dimension, the radial).
Numba's own cache keeps one index for all specialisations of a function and numbers its files, which
several processes can confuse. Here each specialisation has its own file, named by a hash of
everything it depends on: whoever writes it writes the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading
import time
import types
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite.binding.ffi import lib as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from kernelmean.compiled import caching
from kernelmean.compiled.pipelines import LoopCompiler, part_compiler

SAFE_MATH = {"reassoc", "contract", "arcp", "nsz"}  # NaN and inf keep their meaning
EXACT_MATH: set[str] = set()  # bit for bit what NumPy computes
ORDERED_MATH = {"contract"}  # fused multiply-add, but every sum in the order written
COMPILED_FOLDERS = ("compiled", "engines/cpu", "kernels")  # whose code ends up in compiled loops

T = TypeVar("T")

_lock = threading.RLock()


def _before_fork() -> None:
    """Wait for compilations of other threads: a child forked amid one would wait for ever.

    LLVM's lock too: what is thrown away after a compilation is given back to LLVM by whichever
    thread drops it, without the locks of those who compile.
    """
    _lock.acquire()
    global_compiler_lock.acquire()
    llvm._lock.__enter__()


def _after_fork() -> None:
    llvm._lock.__exit__()
    global_compiler_lock.release()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


current_target: ContextVar[Any] = ContextVar(
    "current_target", default=None
)  # a PrivateTarget that functions are made in


def compile_lock() -> threading.RLock:
    """The lock of everything that compiles, for a ``with``: what two threads ask for at once is
    then made once.
    """
    return _lock


def shared(maxsize: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``lru_cache`` for what serves every kernel: made outside of private targets, whoever asks
    first.
    """

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        def outside(*constants: Hashable) -> T:
            token = current_target.set(None)
            try:
                return make(*constants)
            finally:
                current_target.reset(token)

        return functools.wraps(make)(functools.lru_cache(maxsize=maxsize)(outside))

    return decorate


def part(fastmath: set[str] = SAFE_MATH) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a small function that compiled loops call: division as in NumPy, since a check
    stops vectorisation.

    It is always inlined. Else two loops would bring one symbol, each optimised in its own
    surroundings, and the linker would take that of the loop which happened to come first: other
    bits where a loop is compiled than where it is loaded.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        named = _named(function, *sorted(fastmath))
        return _jitted(
            named,
            fastmath=fastmath or False,
            error_model="numpy",
            forceinline=True,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            pipeline_class=part_compiler(),
        )

    return decorate


def _jitted(function: Callable[..., Any], **options: Any) -> Any:
    return _adopted(numba.njit(**options)(function))


def _adopted(dispatcher: Any) -> Any:
    """The function itself, to be compiled in the target that is open, if one is."""
    if (target := current_target.get()) is not None:
        target.adopt(dispatcher)
    return dispatcher


def user_function(scalar: Any) -> Any:
    """A user's function for compiled loops to call: a twin of it, so that they do not hold the
    function itself.
    """
    if isinstance(scalar, Dispatcher):
        how: Any = scalar._compiler  # type: ignore[attr-defined]
        return _adopted(
            type(scalar)(_named(scalar.py_func), how.locals, how.targetoptions, how.pipeline_class)
        )
    return scalar if hasattr(scalar, "py_func") else part()(scalar)


def _named(function: Callable[..., Any], *constants: object) -> Callable[..., Any]:
    """A twin of the function whose symbol says what it is made of.

    Numba tells the versions of a function apart by counting them within a process; machine code of
    two processes then meets under one symbol, and the linker takes either.
    """
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = [
        getattr(getattr(part, "py_func", part), "__qualname__", repr(part)) for part in contents
    ]
    digest = hashlib.sha256(
        repr((function.__module__, function.__qualname__, parts, constants)).encode()
    ).hexdigest()
    twin = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    twin.__qualname__ = f"{function.__qualname__}_{digest[:16]}"
    return twin


class _NoPlace(_CacheLocator):
    """Where no folder can be written: loops are read, and compiled, but not kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _NoPlace:
        return cls(py_func)

    def get_cache_path(self) -> str:
        return ""

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)


class _AnyPlace(CompileResultCacheImpl):
    _locator_classes: list[Any] = [  # noqa: RUF012
        *CompileResultCacheImpl._locator_classes,
        _NoPlace,
    ]


class _OwnFileCache(FunctionCache):
    """Numba's cache with one file per specialisation and signature, and a key that is equal in
    every process.
    """

    _impl_class = _AnyPlace

    def __init__(self, function: Callable[..., Any], parts: tuple[object, ...]) -> None:
        super().__init__(function)
        source = _source_hash()
        self._key = hashlib.sha256(repr((source, numba.__version__, parts)).encode()).hexdigest()
        self._facts = (source, repr(parts))  # for those who list what is there
        written = None if isinstance(self._impl.locator, _NoPlace) else self._cache_path
        self._places = caching.readable(function.__code__.co_filename, written)
        self._began = 0.0

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load_from_places(sig, target_context)
        if found is None and caching.begin(self._name_of(sig, target_context.codegen())):
            found = self._load_from_places(sig, target_context)
            if found is not None:
                caching.end(self._name_of(sig, target_context.codegen()))
        self._began = time.perf_counter()
        return found

    def _load_from_places(self, sig: Any, target_context: Any) -> Any:
        for place in self._places:
            self._open_file(place, sig, target_context.codegen())
            with contextlib.suppress(Exception):
                found = super().load_overload(sig, target_context)
                if found is not None:
                    return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        seconds = time.perf_counter() - self._began
        if not self._cache_path:
            caching.not_kept(self._places)
            return
        self._open_file(self._cache_path, sig, data.codegen)
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a disk that is full, or a folder that is not ours any more
            caching.not_kept([self._cache_path], error)
        else:
            caching.kept(seconds, self._cache_path)
        finally:
            caching.end(self._name_of(sig, data.codegen))

    def _name_of(self, sig: Any, codegen: Any) -> str:
        return hashlib.sha256(f"{self._key} {sig} {codegen.magic_tuple()}".encode()).hexdigest()

    def _open_file(self, place: str, sig: Any, codegen: Any) -> None:
        name = self._name_of(sig, codegen)
        self._cache_file = type(self._cache_file)(
            cache_path=place,
            filename_base=f"{self._impl.filename_base}-{name[:20]}",
            source_stamp=(name, *self._facts),
        )

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (sig, codegen.magic_tuple(), self._key)


def entry(
    fastmath: set[str] = SAFE_MATH, constants: tuple[object, ...] | None = ()
) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a loop called from Python; ``constants`` name what it closes over (None: not
    cached on disk).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        twin = _named(function, *sorted(fastmath), constants)
        dispatcher = _jitted(
            twin,
            nogil=True,
            fastmath=fastmath or False,
            error_model="numpy",
            no_cfunc_wrapper=True,
            pipeline_class=LoopCompiler,
        )
        if constants is not None:
            _attach_cache(dispatcher, (function.__qualname__, sorted(fastmath), *constants))
        return dispatcher

    return decorate


def compile_function(
    function: Callable[..., Any],
    signature: Any,
    constants: tuple[object, ...] | None,
    fastmath: set[str] = SAFE_MATH,
) -> Callable[..., Any]:
    """``function`` compiled for one signature, now."""
    with _lock:
        dispatcher = entry(fastmath, constants)(function)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    compiled: Callable[..., Any] = dispatcher
    return compiled


def _attach_cache(dispatcher: Any, parts: tuple[object, ...]) -> None:
    with contextlib.suppress(RuntimeError):  # Numba was told of places of its own, and has none
        dispatcher._cache = _OwnFileCache(dispatcher.py_func, parts)


@functools.cache
def _source_hash() -> str:
    """Hash of every source file whose code ends up in compiled loops."""
    package = Path(__file__).parents[1]
    files = [
        file for folder in COMPILED_FOLDERS for file in sorted((package / folder).glob("*.py"))
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
