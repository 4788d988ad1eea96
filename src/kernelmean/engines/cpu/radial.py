"""The kernel's formula, or its table, as one compiled function of r²."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean._types import Matrix
from kernelmean.engines.cpu import elementary
from kernelmean.engines.cpu.compiling import part
from kernelmean.kernels.radials import Factor, Formula, LogFormula, RadialFunction, Table, log_student

NO_TABLE = np.zeros((1, 6))
SMALL_SHAPE = 8.0  # up to this α, what rounding takes from 1 + s may be left out of its power
FUSED = 8  # coordinates up to which distance and radial share one loop
FUSED_POWER = 2  # the same for powers, whose coefficients fill the registers
MOST_HALVES = 64  # beyond, products underflow before their logarithm does


@dataclass(frozen=True)
class CompiledRadial:
    """``value(r2, rate, shape, table)`` and ``log_value(…)`` for loops to call, with a name for the disk cache."""

    value: Any
    log_value: Any
    name: str | None  # None: made of a user's function, compiled anew in each process
    fused: int = FUSED

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompiledRadial) and self.value is other.value


def compiled(radial: RadialFunction) -> tuple[CompiledRadial, tuple[float, float, Matrix]]:
    """The compiled functions, and the numbers they take."""
    if isinstance(radial, Table):
        return _compiled_table(), (radial.rate, 1.0 / radial.step, radial.coefficients)
    compiled_radial = _compiled_formula(radial.log_value, radial.factor, _half_powers(radial), radial.shape > SMALL_SHAPE)
    return compiled_radial, (radial.rate, radial.shape, NO_TABLE)


@dataclass(frozen=True)
class CompiledDecay:
    """φ and ψ/φ = −d log φ/ds of one kernel: ``log_phi(s, shape)``, ``ratio(s, shape)``."""

    log_phi: Any
    ratio: Any
    kink: bool  # ψ has no value at distance zero, and is 0 there by convention
    name: str


@functools.lru_cache(maxsize=64)
def compiled_decay(log_formula: LogFormula, factor: Factor) -> CompiledDecay:
    """The two parts of a decay, each compiled."""
    log_g, factor_g = part()(log_formula), part()(factor)
    sqrt, log1p = elementary.sqrt, elementary.log1p

    def log_phi(s: float, shape: float) -> Any:
        return log_g(s, shape, sqrt, log1p)

    def ratio(s: float, shape: float) -> Any:
        return factor_g(s, shape, sqrt)

    kink = not factor(0.0, 1.0, np.sqrt) > 0.0
    return CompiledDecay(part()(log_phi), part()(ratio), kink, f"{_name(log_formula)}·{_name(factor)}")


def _half_powers(radial: Formula) -> int | None:
    """2α, where (1 + s)^{−α} is a few products and at most one root: three times faster than by logarithms."""
    halves = 2.0 * radial.shape
    plain = radial.log_value is log_student and radial.factor is None
    return int(halves) if plain and halves.is_integer() and halves <= MOST_HALVES else None


@functools.lru_cache(maxsize=64)
def _compiled_formula(log_formula: LogFormula, factor: Factor | None, halves: int | None, precise: bool) -> CompiledRadial:
    """g = factor(s) · exp(log_formula(s)), s = rate · r²."""
    if factor is not None:
        return _compiled_product(log_formula, factor, precise)
    log_g = part()(log_formula)
    if halves is not None:
        return _compiled_power(log_g, halves, _name(log_formula))
    profile, sqrt, log1p = _compiled_profile(log_formula, precise), elementary.sqrt, elementary.log1p

    def value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return profile(rate * r2, shape)

    def log_value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return log_g(rate * r2, shape, sqrt, log1p)

    return _radial(value, log_value, f"{_name(log_formula)}·{precise}", _fused(log_formula))


def _compiled_profile(log_formula: LogFormula, precise: bool) -> Any:
    """exp(log_formula(s)); for the Student kernel, (1 + s)^{−α}, the logarithm and the exponential are one function."""
    if log_formula is log_student:
        power = elementary.power_of_one_plus if precise else elementary.small_power_of_one_plus
        return part()(lambda s, shape: power(s, -shape))
    log_g, exp, sqrt, log1p = part()(log_formula), elementary.exp, elementary.sqrt, elementary.log1p
    return part()(lambda s, shape: exp(log_g(s, shape, sqrt, log1p)))


def _compiled_power(log_g: Any, halves: int, name: str) -> CompiledRadial:
    sqrt, log1p = elementary.sqrt, elementary.log1p

    def value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        """(1 + s)^{−halves/2} by squaring."""
        base = 1.0 / (1.0 + rate * r2)
        power = sqrt(base) if halves % 2 else 1.0
        left = halves // 2
        while left:
            power = power * base if left % 2 else power
            base = base * base
            left //= 2
        return power

    def log_value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return log_g(rate * r2, shape, sqrt, log1p)

    return _radial(value, log_value, f"{name}·{halves}/2")


def _compiled_product(log_formula: LogFormula, factor: Factor, precise: bool) -> CompiledRadial:
    log_g, factor_g, profile = part()(log_formula), _compiled_factor(factor), _compiled_profile(log_formula, precise)
    log, sqrt, log1p = elementary.log, elementary.sqrt, elementary.log1p

    def value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return factor_g(rate * r2, shape, sqrt) * profile(rate * r2, shape)

    def log_value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        f = factor_g(rate * r2, shape, sqrt)
        return (log(f) if f > 0.0 else -np.inf) + log_g(rate * r2, shape, sqrt, log1p)

    name = None if hasattr(factor, "scalar") else f"{_name(log_formula)}·{_name(factor)}·{precise}"
    return _radial(value, log_value, name, _fused(log_formula))


@functools.lru_cache(maxsize=1)
def _compiled_table() -> CompiledRadial:
    exp, sqrt, log1p = elementary.exp, elementary.sqrt, elementary.log1p

    def log_value(r2: float, rate: float, per_step: float, table: Matrix) -> Any:
        x = log1p(sqrt(rate * r2)) * per_step
        cells = len(table)
        inside = min(x, float(cells))
        cell = min(int(inside), cells - 1)
        f, c = inside - cell, table[cell]
        slope = c[1] + 2.0 * c[2] + 3.0 * c[3] + 4.0 * c[4] + 5.0 * c[5]
        return c[0] + f * (c[1] + f * (c[2] + f * (c[3] + f * (c[4] + f * c[5])))) + (x - inside) * slope

    log_g = part()(log_value)

    def value(r2: float, rate: float, per_step: float, table: Matrix) -> Any:
        return exp(log_g(r2, rate, per_step, table))

    return _radial(value, log_value, "Table")


def _compiled_factor(factor: Factor) -> Any:
    scalar = getattr(factor, "scalar", None)
    if scalar is None:
        return part()(factor)
    users = scalar if hasattr(scalar, "py_func") else part()(scalar)
    return part()(lambda s, shape, sqrt: users(s))


def _fused(log_formula: LogFormula) -> int:
    return FUSED_POWER if log_formula is log_student else FUSED


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _radial(value: Callable[..., Any], log_value: Callable[..., Any], name: str | None, fused: int = FUSED) -> CompiledRadial:
    return CompiledRadial(part()(value), part()(log_value), name, fused)
