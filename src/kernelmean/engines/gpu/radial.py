"""A kernel's formula as device code: the Python function that defines it is run once on symbols,
and leaves a program.

The program is a list of assignments that reads the same to Triton and to torch, so one formula
serves every engine and a user's own profile needs nothing more than arithmetic, comparisons,
branches, and functions of ``math`` or ``numpy``.
"""

from __future__ import annotations

import builtins
import functools
import math
import types
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kernelmean.kernels.radials import Factor, Formula, LogFormula
from kernelmean.kernels.user_functions import CompiledByNumba, ScalarFunction, in_python

FUNCTIONS = (
    *(
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
    ),
    *(
        "asinh",
        "acosh",
        "atanh",
        "asin",
        "acos",
        "atan",
        "erf",
        "erfc",
        "lgamma",
        "floor",
        "ceil",
        "fabs",
        "pow",
    ),
)
MOST_STEPS = 4000  # assignments that a profile may take: beyond, it does not end


class Program(NamedTuple):
    """``lines`` compute ``result`` from s and shape; the result may also be a plain number."""

    lines: tuple[str, ...]
    result: str


class Tape:
    """The assignments so far, and the branches taken on this run."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.decided: tuple[bool, ...] = ()
        self.conditions: list[str] = []

    def write(self, code: str) -> Term:
        """A new name for the value of ``code``."""
        if len(self.lines) >= MOST_STEPS:
            raise ValueError(f"it takes more than {MOST_STEPS} steps")
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {code}")
        return Term(name, self)

    def decide(self, condition: str) -> bool:
        """The outcome of a branch on this run: as decided before, else true."""
        self.conditions.append(condition)
        return (*self.decided, *(True for _ in self.conditions))[len(self.conditions) - 1]


class Term:
    """A symbol that records what is done with it."""

    def __init__(self, code: str, tape: Tape) -> None:
        self.code = code
        self.tape = tape

    def __bool__(self) -> bool:
        return self.tape.decide(self.code)

    def __pow__(self, power: Any) -> Term:
        if isinstance(power, int) and 0 < power <= 64:
            return _product_power(self, power)
        return self.tape.write(f"pow({_operand(self, self)}, {_operand(power, self)})")

    def __rpow__(self, base: Any) -> Term:
        return self.tape.write(f"pow({_operand(base, self)}, {self.code})")

    def __neg__(self) -> Term:
        return self.tape.write(f"-{self.code}")

    def __pos__(self) -> Term:
        return self

    def __abs__(self) -> Term:
        return self.tape.write(f"fabs({self.code})")

    def __float__(self) -> float:
        raise TypeError("it turns the squared distance into a Python number")

    __array_ufunc__ = None  # arrays leave arithmetic with symbols to them


def _binary(symbol: str, reflected: bool = False) -> Callable[[Term, Any], Term]:
    def apply(self: Term, other: Any) -> Term:
        a, b = (_literal(other), self.code) if reflected else (self.code, _literal(other))
        return self.tape.write(f"{a} {symbol} {b}")

    return apply


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    setattr(Term, f"__{_name}__", _binary(_symbol))
    setattr(Term, f"__r{_name}__", _binary(_symbol, reflected=True))
for _name, _symbol in {
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}.items():
    setattr(Term, f"__{_name}__", _binary(_symbol))
Term.__hash__ = object.__hash__  # type: ignore[method-assign]


def _literal(value: Any) -> str:
    if isinstance(value, Term):
        return value.code
    number = float(value)
    return repr(number) if math.isfinite(number) else f'float("{number}")'


def _operand(value: Any, like: Term) -> str:
    """A value where a function expects an array."""
    return value.code if isinstance(value, Term) else f"(zeros_like(s) + {_literal(value)})"


def _product_power(base: Any, power: int) -> Any:
    """x^m by squaring."""
    result: Any = None
    while power:
        if power % 2:
            result = base if result is None else result * base
        power //= 2
        base = base * base if power else base
    return result


def _recorded(name: str) -> Callable[..., Any]:
    """A function of math that records itself on symbols and computes on numbers."""

    def call(*values: Any) -> Any:
        term = next((v for v in values if isinstance(v, Term)), None)
        if term is None:
            return getattr(math, name)(*values)
        return term.tape.write(f"{name}({', '.join(_operand(v, term) for v in values)})")

    return call


RECORDED = {name: _recorded(name) for name in FUNCTIONS}
RECORDED |= {"power": RECORDED["pow"], "abs": builtins.abs, "absolute": builtins.abs}
RECORDED |= {"maximum": lambda a, b: a if a > b else b, "minimum": lambda a, b: a if a < b else b}
RECORDED |= {"where": lambda condition, a, b: a if condition else b}


class _Module:
    """``math`` or ``numpy`` as a user's profile sees it."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return RECORDED.get(name) or getattr(self._module, name)


def _rebound(function: Any) -> Any:
    """The user's function, with the functions it calls replaced by those that record themselves."""
    plain = in_python(function)
    if not isinstance(plain, types.FunctionType):
        return plain
    seen = {
        name: _replacement(plain.__globals__[name])
        for name in plain.__code__.co_names
        if name in plain.__globals__
    }
    cells = tuple(
        types.CellType(_replacement(cell.cell_contents)) for cell in plain.__closure__ or ()
    )
    return types.FunctionType(
        plain.__code__, plain.__globals__ | seen, plain.__name__, plain.__defaults__, cells
    )


def _replacement(value: Any) -> Any:
    if value is math or value is np:
        return _Module(value)
    if isinstance(value, (np.ufunc, types.BuiltinFunctionType)):
        return RECORDED.get(value.__name__, value)
    return _rebound(value) if isinstance(value, types.FunctionType | CompiledByNumba) else value


def _explored(run: Callable[[], Any], tape: Tape, decided: tuple[bool, ...] = ()) -> Any:
    """The value on every path through the function's branches, chosen by their conditions."""
    tape.decided = decided
    tape.conditions = []
    value = run()
    conditions = tape.conditions
    outcome = decided + (True,) * (len(conditions) - len(decided))
    for i in reversed(range(len(decided), len(conditions))):
        other = _explored(run, tape, (*outcome[:i], False))
        like = Term("s", tape)
        value = tape.write(
            f"where({conditions[i]}, {_operand(value, like)}, {_operand(other, like)})"
        )
    return value


def _traced(run: Callable[[Term, Term], Any]) -> Program:
    tape = Tape()
    s = Term("s", tape)
    shape = Term("shape", tape)
    result = _explored(lambda: run(s, shape), tape)
    return Program(tuple(tape.lines), _literal(result))


@functools.lru_cache(maxsize=256)
def log_program(log_value: LogFormula) -> Program:
    """log g without its factor."""
    return _traced(lambda s, shape: log_value(s, shape, RECORDED["sqrt"], RECORDED["log1p"]))  # type: ignore[arg-type]


def factor_program(formula: Formula) -> Program | None:
    """The factor of a formula, None without one; a user's own profile is one, and its program is
    kept as long as the profile is.
    """
    users = formula.scalar
    if users is None:
        return None if formula.factor is None else _factor_program(formula.factor)
    if (found := _users.get(users)) is None:
        found = _users[users] = _users_program(users)
    return found


@functools.lru_cache(maxsize=256)
def _factor_program(factor: Factor) -> Program:
    return _traced(lambda s, shape: factor(s, shape, RECORDED["sqrt"]))  # type: ignore[arg-type]


_users: WeakKeyDictionary[ScalarFunction, Program] = WeakKeyDictionary()


def _users_program(users: ScalarFunction) -> Program:
    try:
        return _traced(lambda s, shape: _rebound(users)(s))
    except Exception as error:
        raise ValueError(
            f"engine='gpu' cannot compile the profile of this Radial kernel: {error}; write it "
            "with arithmetic, comparisons "
            "and functions of math or numpy, or use engine='cpu'."
        ) from error


class Code(NamedTuple):
    """Source of ``value(s, shape, …)`` and ``log_value(s, shape, …)``, for whoever provides the
    functions they call.
    """

    value: str
    log_value: str


def source(formula: Formula) -> Code:
    """g and log g as functions of s: value = factor · exp(log_value)."""
    return _source(formula.log_value, factor_program(formula))


@functools.lru_cache(maxsize=256)
def _source(log_value: LogFormula, f: Program | None) -> Code:
    log_g = log_program(log_value)
    body = [*log_g.lines, f"log_g = {_as_array(log_g)}"]
    if f is None:
        return Code(
            _function("value", [*body, "return exp(log_g)"]),
            _function("log_value", [*body, "return log_g"]),
        )
    body += [*f.lines, f"factor = {_as_array(f)}"]
    value = (
        "return factor" if log_g.result == repr(0.0) else "return factor * exp(log_g)"
    )  # a user's profile is a factor alone
    positive = "log(where(factor > 0.0, factor, zeros_like(s) + 1.0))"
    logarithm = f'return log_g + where(factor > 0.0, {positive}, zeros_like(s) + float("-inf"))'
    return Code(_function("value", [*body, value]), _function("log_value", [*body, logarithm]))


def _as_array(program: Program) -> str:
    return program.result if program.result.isidentifier() else f"zeros_like(s) + {program.result}"


def _function(name: str, body: list[str]) -> str:
    return "\n    ".join([f"def {name}(s, shape):", *body]) + "\n"
