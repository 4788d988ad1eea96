"""Radial functions as the engines see them: a formula that is compiled, or a table that is
interpolated.

Each formula is written once, in terms of s = rate · r², and serves every engine: an engine passes
its own ``sqrt`` and ``log1p``. Values are kept as logarithms, so that 784 dimensions neither
underflow nor overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kernelmean._types import Matrix, Vector
from kernelmean.kernels.traits import NOTHING_DECLARED, RadialTraits
from kernelmean.kernels.user_functions import ScalarFunction, UserFactor

LogFormula: TypeAlias = Callable[[Any, float, Any, Any], Any]  # (s, shape, sqrt, log1p) -> log φ
Factor: TypeAlias = Callable[[Any, float, Any], Any]  # (s, shape, sqrt) -> factor

LOGARITHMIC = RadialTraits(logarithmic=True)  # of any table: it holds logarithms


def log_gaussian(s: Any, shape: float, sqrt: Any, log1p: Any) -> Any:
    """log φ = −s,  s = r²/2σ²."""
    return -s


def log_laplacian(s: Any, shape: float, sqrt: Any, log1p: Any) -> Any:
    """log φ = −√s,  s = r²/γ²."""
    return -sqrt(s)


def log_student(s: Any, shape: float, sqrt: Any, log1p: Any) -> Any:
    """log φ = −α log(1 + s),  s = r²/β."""
    return -shape * log1p(s)


def log_one(s: Any, shape: float, sqrt: Any, log1p: Any) -> Any:
    """log 1 = 0: for radials that are given by their factor alone."""
    return 0.0


def laplacian_decay(s: Any, shape: float, sqrt: Any) -> Any:
    """−d log φ/ds = 1/(2√s); 0 at the kink, where the direction of descent is undefined."""
    return (s > 0.0) * 0.5 / sqrt(s + (s <= 0.0))


def student_decay(s: Any, shape: float, sqrt: Any) -> Any:
    """−d log φ/ds = α/(1 + s)."""
    return shape / (1.0 + s)


def apart(s: Any, shape: float, sqrt: Any) -> Any:
    """1 for s > 0, else 0: a factor that leaves out the points equal to the query."""
    return (s > 0.0) * 1.0


def touching(s: Any, shape: float, sqrt: Any) -> Any:
    """1 for s = 0, else 0: a factor that leaves out all points but those equal to the query."""
    return (s <= 0.0) * 1.0


@dataclass(frozen=True)
class Formula:
    """g(r²) = factor(s) · φ(s),  φ = exp(log_value),  s = rate · r²; without a factor, φ.

    Parameters
    ----------
    log_value : callable
        ``log_value(s, shape, sqrt, log1p)`` is log φ.
    rate : float
        s per squared distance.
    shape : float
        A second number for both functions, such as the exponent of a Student kernel.
    factor : callable or None
        ``factor(s, shape, sqrt)``; None where g = φ.
    traits : RadialTraits
        What is known of g; nothing, unless it is declared.

    See Also
    --------
    Table : A function without a formula.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.kernels import Formula, radials
    >>> Formula(radials.log_gaussian, 0.5)(np.array([0.0, 4.0])).round(4)
    array([1.    , 0.1353])
    """

    log_value: LogFormula
    rate: float
    shape: float = 0.0
    factor: Factor | None = None
    traits: RadialTraits = NOTHING_DECLARED

    def times(self, factor: Factor | None) -> Formula:
        """φ with this factor in place of its own.

        What was declared of φ stays declared; of the product nothing is claimed.

        Parameters
        ----------
        factor : callable or None
            ``factor(s, shape, sqrt)``; None leaves φ alone.

        Returns
        -------
        Formula
            factor · φ.
        """
        traits = replace(self.traits, decreasing=False, convex=False)
        return replace(self, factor=factor, traits=traits)

    @property
    def exponential(self) -> bool:
        """Whether g itself is exp(−s)."""
        return self.traits.exponential and self.factor is None

    @property
    def half_powers(self) -> int | None:
        """2·shape where g is a power of 1/√(1 + s) by a whole number, else None."""
        halves = 2.0 * self.shape
        plain = self.traits.power and self.factor is None
        return int(halves) if plain and halves.is_integer() else None

    @property
    def scalar(self) -> ScalarFunction | None:
        """The user's own function of s where the factor is one, else None."""
        return self.factor.scalar if isinstance(self.factor, UserFactor) else None

    def log(self, r2: Vector) -> Vector:
        """log g, elementwise.

        Parameters
        ----------
        r2 : ndarray
            Squared distances.

        Returns
        -------
        ndarray
            log g at each of them; −∞ where g is 0.
        """
        s = self.rate * r2
        value: Vector = self.log_value(s, self.shape, np.sqrt, np.log1p)
        if self.factor is not None:
            with np.errstate(divide="ignore"):
                value = value + np.log(self.factor(s, self.shape, np.sqrt))
        return value

    def __call__(self, r2: Vector) -> Vector:
        """g, elementwise."""
        s = self.rate * r2
        value: Vector = np.exp(self.log_value(s, self.shape, np.sqrt, np.log1p))
        return value if self.factor is None else value * self.factor(s, self.shape, np.sqrt)


@dataclass(frozen=True, eq=False)
class Table:
    """log g as a quintic spline in u = log(1 + √s), s = rate · r²; beyond the last cell a straight
    line in u.

    The root comes first because these functions are smooth in r, not in r²: with cells of 1/512 the
    spline is within 1e-12 of log g, which in log(1 + r²) it is not (L2 Laplacian in one and two
    dimensions).

    Parameters
    ----------
    coefficients : ndarray of shape (cells, 6)
        Those of each cell, lowest power first, in the fraction of a cell.
    step : float
        The width of a cell, in u.
    rate : float
        s per squared distance.
    traits : RadialTraits
        What is known of g; only that it is given by its logarithm, unless more is declared.

    See Also
    --------
    Formula : A function in closed form.
    """

    coefficients: Matrix
    step: float
    rate: float
    traits: RadialTraits = LOGARITHMIC

    @property
    def exponential(self) -> bool:
        """Whether g itself is exp(−s): never, since that has a formula."""
        return False

    def log(self, r2: Vector) -> Vector:
        """log g, elementwise.

        Parameters
        ----------
        r2 : ndarray
            Squared distances.

        Returns
        -------
        ndarray
            log g at each of them.
        """
        x = np.log1p(np.sqrt(self.rate * r2)) / self.step
        # NaN stays one by the last line, and never becomes an index.
        inside = np.fmin(x, len(self.coefficients))
        cell = np.minimum(inside.astype(np.intp), len(self.coefficients) - 1)
        f = inside - cell
        c = self.coefficients[cell]
        value: Vector = c[..., 5]
        for power in (4, 3, 2, 1, 0):
            value = value * f + c[..., power]
        return value + self.end_slope * (x - inside)

    @property
    def end_slope(self) -> float:
        """Slope of the last cell at its end, per cell."""
        return float(self.coefficients[-1] @ np.arange(6))

    def __call__(self, r2: Vector) -> Vector:
        """g, elementwise."""
        return np.exp(self.log(r2))


RadialFunction: TypeAlias = Formula | Table


class RadialDensity(NamedTuple):
    """A radial function that is exp(log_peak) · radial(r²), the peak apart because it may not fit a
    float.

    Attributes
    ----------
    radial : Formula or Table
        The function divided by its value at 0.
    log_peak : float
        The logarithm of that value.
    """

    radial: RadialFunction
    log_peak: float


class Slope(NamedTuple):
    """−dg/d(r²) = rate · radial(r²): what moves centres. A radial equal to g itself says that one
    sum serves both.

    Attributes
    ----------
    rate : float
        The constant.
    radial : Formula or Table
        The function.
    """

    rate: float
    radial: RadialFunction
