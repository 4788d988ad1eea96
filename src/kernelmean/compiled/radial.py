"""The kernel's formula, or its table, as one compiled function of r²."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from kernelmean._types import Matrix, Vector
from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import compile_lock, part, user_function
from kernelmean.kernels.radials import Factor, Formula, LogFormula, RadialFunction, Table
from kernelmean.kernels.user_functions import ScalarFunction

NO_TABLE = np.zeros((1, 6))  # what a formula is given in the place of a table
# The shape up to which what rounding takes from 1 + s may be left out of its power.
SMALL_SHAPE = 8.0
FUSED = 8  # coordinates up to which distance and radial share one loop
FUSED_POWER = 2  # the same for powers, whose coefficients fill the registers
MOST_HALVES = 64  # half powers up to which products do not underflow before their logarithm does

T = TypeVar("T")


class Phi(NamedTuple):
    """Which code computes φ = exp(log_formula(s))."""

    log_formula: LogFormula
    power: bool  # the trait: φ = (1 + s)^{−shape}
    precise: bool  # a power to the last digit, for large shapes

    @classmethod
    def of(cls, formula: Formula) -> Phi:
        """The code for φ of a formula, by its traits."""
        return cls(formula.log_value, formula.traits.power, formula.shape > SMALL_SHAPE)

    @property
    def name(self) -> str:
        """For the disk cache."""
        return f"{_name(self.log_formula)}·{self.power}·{self.precise}"

    @property
    def fused(self) -> int:
        """Coordinates up to which distance and radial share one loop."""
        return FUSED_POWER if self.power else FUSED


_users: WeakKeyDictionary[ScalarFunction, dict[Phi, CompiledRadial]] = WeakKeyDictionary()


@part()
def nothing(r2: Vector, rate: float, shape: float, table: Matrix) -> None:
    """What a formula does to a buffer beforehand."""


@dataclass(frozen=True)
class CompiledRadial:
    """``value(r2, rate, shape, table)`` and ``log_value(…)`` for loops to call, with a name for the
    disk cache.

    Loops with a buffer of r² call ``whole(buffer, rate, shape, table)`` and then ``rest`` or
    ``log_rest`` for each entry: together the same, but a table is then looked up between two loops
    that vectorise, several times faster.
    """

    value: Any
    log_value: Any
    name: str | None  # None: made of a user's function, compiled anew in each process
    fused: int
    whole: Any
    rest: Any
    log_rest: Any
    target: Any = None  # of a user's function: the PrivateTarget that it is compiled in
    made: dict[tuple[Hashable, ...], Any] = field(
        default_factory=dict, repr=False
    )  # loops of a user's function

    @property
    def in_steps(self) -> bool:
        """Whether ``whole`` does anything."""
        return self.whole is not nothing

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompiledRadial) and self.value is other.value


def kept(maxsize: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``lru_cache`` for what is made of a compiled radial; what is made of a user's function goes
    with that function.
    """

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        ordinary = functools.lru_cache(maxsize=maxsize)(make)

        def get(radial: CompiledRadial, *constants: Hashable) -> T:
            return (
                ordinary(radial, *constants)
                if radial.target is None
                else _made_once(make, radial, constants)
            )

        return functools.wraps(make)(get)

    return decorate


def _made_once(
    make: Callable[..., T], radial: CompiledRadial, constants: tuple[Hashable, ...]
) -> T:
    assert radial.target is not None, "only a user's function has a target"
    key = (make, *constants)
    if key not in radial.made:
        with compile_lock(), radial.target.open():
            if key not in radial.made:  # another thread may have been at it
                radial.made[key] = make(radial, *constants)
    made: T = radial.made[key]
    return made


def compiled(radial: RadialFunction) -> tuple[CompiledRadial, tuple[float, float, Matrix]]:
    """The compiled functions, and the numbers they take."""
    if isinstance(radial, Table):
        return _compiled_table(), (radial.rate, 1.0 / radial.step, radial.coefficients)
    phi = Phi.of(radial)
    numbers = (radial.rate, radial.shape, NO_TABLE)
    if radial.scalar is not None:
        return _compiled_users(radial.scalar, phi), numbers
    return _compiled_formula(phi, radial.factor, _few_half_powers(radial)), numbers


def _compiled_users(scalar: ScalarFunction, phi: Phi) -> CompiledRadial:
    """The same of a user's function, kept as long as the function is."""
    made = _users.get(scalar)
    if made is None or phi not in made:
        with compile_lock():
            made = _users.setdefault(scalar, {})
            if phi not in made:  # another thread may have been at it
                made[phi] = _compiled_privately(scalar, phi)
    return made[phi]


def _compiled_privately(scalar: ScalarFunction, phi: Phi) -> CompiledRadial:
    """In a target of its own, which is let go with the function."""
    target = _private_target()
    with nullcontext() if target is None else target.open():
        users = user_function(scalar)
        product = _compiled_product(phi, part()(lambda s, shape, sqrt: users(s)), None)
        return replace(product, target=target)


def _private_target() -> Any:
    """A target of its own for one function; None where Numba has changed so that there can be none:
    then code is kept.
    """
    try:
        from kernelmean.compiled.private_target import PrivateTarget

        return PrivateTarget()
    except (ImportError, AttributeError, TypeError):
        return None


@dataclass(frozen=True)
class CompiledDecay:
    """φ and ψ/φ = −d log φ/ds of one kernel: ``log_phi(s, shape)``, ``ratio(s, shape)``."""

    log_phi: Any
    ratio: Any
    kink: bool  # the trait: ψ has no value at distance zero, and is 0 there by convention
    name: str


def compiled_decay(decay: Formula) -> CompiledDecay:
    """The two parts of a decay, each compiled."""
    assert decay.traits.logarithmic, "φ is the part of its decay that is no factor"
    return _compiled_decay(decay.log_value, decay.factor or _one, decay.traits.kink)


def _one(s: Any, shape: float, sqrt: Any) -> Any:
    """ψ/φ of a kernel that is its own decay."""
    return 1.0


@functools.lru_cache(maxsize=64)
def _compiled_decay(log_formula: LogFormula, factor: Factor, kink: bool) -> CompiledDecay:
    log_g = part()(log_formula)
    factor_g = part()(factor)
    sqrt = elementary.sqrt
    log1p = elementary.log1p

    def log_phi(s: float, shape: float) -> Any:
        return log_g(s, shape, sqrt, log1p)

    def ratio(s: float, shape: float) -> Any:
        return factor_g(s, shape, sqrt)

    name = f"{_name(log_formula)}·{_name(factor)}·{kink}"
    return CompiledDecay(part()(log_phi), part()(ratio), kink, name)


def _few_half_powers(radial: Formula) -> int | None:
    """2α, where (1 + s)^{−α} is a few products and at most one root: three times faster than by
    logarithms.
    """
    halves = radial.half_powers
    return halves if halves is not None and halves <= MOST_HALVES else None


@functools.lru_cache(maxsize=64)
def _compiled_formula(phi: Phi, factor: Factor | None, halves: int | None) -> CompiledRadial:
    """g = factor(s) · φ(s), s = rate · r²."""
    if factor is not None:
        return _compiled_product(phi, part()(factor), _name(factor))
    log_g = part()(phi.log_formula)
    if halves is not None:
        return _compiled_power(log_g, halves, _name(phi.log_formula))
    profile = _compiled_profile(phi)
    sqrt = elementary.sqrt
    log1p = elementary.log1p

    def value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return profile(rate * r2, shape)

    def log_value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return log_g(rate * r2, shape, sqrt, log1p)

    return _radial(value, log_value, phi.name, phi.fused)


def _compiled_profile(phi: Phi) -> Any:
    """φ(s); of a power, (1 + s)^{−α}, the logarithm and the exponential are one function."""
    if phi.power:
        power = elementary.power_of_one_plus if phi.precise else elementary.small_power_of_one_plus
        return part()(lambda s, shape: power(s, -shape))
    log_g = part()(phi.log_formula)
    exp = elementary.exp
    sqrt = elementary.sqrt
    log1p = elementary.log1p
    return part()(lambda s, shape: exp(log_g(s, shape, sqrt, log1p)))


def _compiled_power(log_g: Any, halves: int, name: str) -> CompiledRadial:
    sqrt = elementary.sqrt
    log1p = elementary.log1p

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


def _compiled_product(phi: Phi, factor_g: Any, factor_name: str | None) -> CompiledRadial:
    """factor · φ; without a name where the factor is a user's function."""
    log_g = part()(phi.log_formula)
    profile = _compiled_profile(phi)
    log = elementary.log
    sqrt = elementary.sqrt
    log1p = elementary.log1p

    def value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        return factor_g(rate * r2, shape, sqrt) * profile(rate * r2, shape)

    def log_value(r2: float, rate: float, shape: float, table: Matrix) -> Any:
        f = factor_g(rate * r2, shape, sqrt)
        return (log(f) if f > 0.0 else -np.inf) + log_g(rate * r2, shape, sqrt, log1p)

    name = None if factor_name is None else f"{phi.name}·{factor_name}"
    return _radial(value, log_value, name, phi.fused)


@functools.lru_cache(maxsize=1)
def _compiled_table() -> CompiledRadial:
    exp = elementary.exp
    sqrt = elementary.sqrt
    log1p = elementary.log1p

    def position(r2: float, rate: float, per_step: float) -> Any:
        """Cells from the start of the table."""
        return log1p(sqrt(rate * r2)) * per_step

    def looked_up(x: float, table: Matrix) -> Any:
        """The quintic of the cell of x, in an order that leaves the processor little to wait for; a
        straight line beyond.
        """
        cells = np.uint64(len(table))
        inside = min(x, float(cells))
        i = min(np.uint64(inside), cells - np.uint64(1))
        f = inside - i
        low = table[i, 0] + f * table[i, 1]
        middle = table[i, 2] + f * table[i, 3]
        high = table[i, 4] + f * table[i, 5]
        value = low + f * f * (middle + f * f * high)
        if x > inside:
            slope = (
                table[i, 1]
                + 2.0 * table[i, 2]
                + 3.0 * table[i, 3]
                + 4.0 * table[i, 4]
                + 5.0 * table[i, 5]
            )
            value += (x - inside) * slope
        return value

    where = part()(position)
    look_up = part()(looked_up)

    def whole(r2: Vector, rate: float, per_step: float, table: Matrix) -> None:
        for j in range(len(r2)):
            r2[j] = where(r2[j], rate, per_step)
        for j in range(len(r2)):
            r2[j] = look_up(r2[j], table)

    def log_value(r2: float, rate: float, per_step: float, table: Matrix) -> Any:
        return look_up(where(r2, rate, per_step), table)

    def value(r2: float, rate: float, per_step: float, table: Matrix) -> Any:
        return exp(look_up(where(r2, rate, per_step), table))

    def rest(log_g: float, rate: float, per_step: float, table: Matrix) -> Any:
        return exp(log_g)

    def log_rest(log_g: float, rate: float, per_step: float, table: Matrix) -> Any:
        return log_g

    of_one = (part()(value), part()(log_value))
    steps = (part()(whole), part()(rest), part()(log_rest))
    return CompiledRadial(*of_one, "Table", FUSED, *steps)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _radial(
    value: Callable[..., Any], log_value: Callable[..., Any], name: str | None, fused: int = FUSED
) -> CompiledRadial:
    """Of a formula: r² by r²."""
    g = part()(value)
    log_g = part()(log_value)
    return CompiledRadial(g, log_g, name, fused, nothing, g, log_g)
