"""Radial functions as the engines see them: a formula that is compiled, or a table that is
interpolated.

Each formula is written once, in terms of s = rate · r², and serves every engine: an engine passes
its own ``sqrt`` and ``log1p``. Values are kept as logarithms, so that 784 dimensions neither
underflow nor overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kernelmean._types import Matrix, Vector

LogFormula: TypeAlias = Callable[[Any, float, Any, Any], Any]  # (s, shape, sqrt, log1p) -> log g
Factor: TypeAlias = Callable[[Any, float, Any], Any]  # (s, shape, sqrt) -> factor


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


def gaussian_decay(s: Any, shape: float, sqrt: Any) -> Any:
    """−d log φ/ds = 1."""
    return 1.0


def laplacian_decay(s: Any, shape: float, sqrt: Any) -> Any:
    """−d log φ/ds = 1/(2√s); 0 at the kink, where the direction of descent is undefined."""
    return (s > 0.0) * 0.5 / sqrt(s + (s <= 0.0))


def student_decay(s: Any, shape: float, sqrt: Any) -> Any:
    """−d log φ/ds = α/(1 + s)."""
    return shape / (1.0 + s)


def apart(s: Any, shape: float, sqrt: Any) -> Any:
    """1 for s > 0, else 0: a factor that leaves out the points equal to the query."""
    return (s > 0.0) * 1.0


@dataclass(frozen=True)
class Formula:
    """g(r²) = factor(s) · exp(log_value(s)),  s = rate · r²; without a factor, exp(log_value(s))."""

    log_value: LogFormula
    rate: float
    shape: float = 0.0
    factor: Factor | None = None
    decreasing: bool = True  # in r: then boxes bound it

    def log(self, r2: Vector) -> Vector:
        """log g, elementwise."""
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
    """

    coefficients: Matrix  # (cells, 6), lowest power first, in the fraction of a cell
    step: float
    rate: float

    def log(self, r2: Vector) -> Vector:
        """log g, elementwise."""
        x = np.log1p(np.sqrt(self.rate * r2)) / self.step
        inside = np.fmin(
            x, len(self.coefficients)
        )  # NaN stays one by the last line, and never becomes an index
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

    @property
    def decreasing(self) -> bool:
        """Inner products of densities that decrease do so too."""
        return True

    def __call__(self, r2: Vector) -> Vector:
        """g, elementwise."""
        return np.exp(self.log(r2))


RadialFunction: TypeAlias = Formula | Table


class Slope(NamedTuple):
    """−dg/d(r²) = rate · radial(r²): what moves centres. A radial equal to g itself says that one
    sum serves both.
    """

    rate: float
    radial: RadialFunction
