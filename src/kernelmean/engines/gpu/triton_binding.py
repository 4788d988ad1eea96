"""Triton's loops with a radial function bound into them: a kernel's own formula, or a table."""

from __future__ import annotations

import functools
import hashlib
import linecache
import types
from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from kernelmean.engines.gpu import triton_code as code
from kernelmean.engines.gpu.plan import Plan
from kernelmean.engines.gpu.radial import FUNCTIONS, source
from kernelmean.kernels.radials import Formula


def bound_loop(loop: str, plan: Plan, double: bool, logarithm: bool) -> tuple[Any, float]:
    """The loop with its radial bound, and the rate it takes."""
    function = plan.function
    if not isinstance(function, Formula):
        return _bound(loop, None, double, logarithm), plan.rate
    binary = not double and not logarithm and plan.binary
    key = (source(function).value, source(function).log_value)
    return _bound(loop, key, double, logarithm, binary), plan.rate


@functools.lru_cache(maxsize=512)
def _bound(
    loop: str, key: tuple[str, str] | None, double: bool, logarithm: bool, binary: bool = False
) -> Any:
    """``binary``: r² is in units in which g = 2^(−r²)."""
    exp = tl.exp if double else code.exp_single
    if key is None:
        value = _bind(code.table_value, EXP=exp)
        log_value = _bind(code.table_log_value)
    else:
        value, log_value = (
            _bind(code.formula_value, FUNCTION=_compiled(text, exp)) for text in key
        )
        value = _bind(code.binary_value) if binary else value
    term = (
        _bind(code.shifted_term, EXP=exp, LOG_VALUE=log_value)
        if logarithm
        else _bind(code.plain_term, VALUE=value)
    )
    return _bind(getattr(code, loop), TERM=term, VALUE=value, LOG_VALUE=log_value)


def _bind(function: Callable[..., Any], **names: Any) -> Any:
    """A Triton function in which ``names`` are known."""
    known = function.__globals__ | names
    twin = types.FunctionType(
        function.__code__, known, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__annotations__ = function.__annotations__
    twin.__module__ = function.__module__
    return triton.jit(twin)


def _compiled(text: str, exp: Any) -> Any:
    """Generated source as a Triton function; kept in linecache, where Triton reads it."""
    file = f"<kernelmean radial {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {name: getattr(libdevice, name) for name in FUNCTIONS if name != "fabs"}
    names |= {
        "exp": exp,
        "log": tl.log,
        "sqrt": tl.sqrt,
        "fabs": code.fabs,
        "where": tl.where,
        "zeros_like": tl.zeros_like,
    }
    names["__name__"] = __name__
    exec(compile(text, file, "exec"), names)  # noqa: S102
    return triton.jit(names[text.split("(", 1)[0].removeprefix("def ")])
