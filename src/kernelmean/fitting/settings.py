"""Everything that says how a sample becomes a mean, as one value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kernelmean import _checks, coefficients, kernels
from kernelmean._types import ArrayLike, Constraint, IntVector, Solver, Space
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.coefficients import Stopping
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel
from kernelmean.samples import WeightedSample

SPREADS = ("auto", None, "scalar", "full")  # names as users write them
FEWEST_DENSITY_CENTERS = 600  # that "auto" may take however few the points


@dataclass(frozen=True)
class FitSettings:
    """How a mean is fitted; the fields mean what they mean in ``sparse_kernel_mean``.

    Nothing is checked when a value is made: estimators store what they are given.
    """

    kernel: str | Kernel = "gaussian"
    bandwidth: float | str = DEFAULT_RULE
    scale: str | ArrayLike | None = None
    space: Space = "rkhs"
    k: int | str = "auto"
    k_max: int | None = None
    tol: float = 1e-10
    patience: int = 10
    error: float | None = None
    selection: str | ArrayLike = "auto"
    refine: int = 0
    spread: str | None = "auto"
    constraint: Constraint = None
    solver: Solver = "cholesky"
    engine: str | Engine = "cpu"
    target: Literal["kde", "likelihood"] = "kde"  # what a density is to be near to
    is_density: bool = False  # "auto" compares the mean log-density of rows, not the error

    @classmethod
    def density(cls, **options: Any) -> FitSettings:
        """Settings of a density: α ≥ 0, Σα = 1, optimal in L2.

        Here ``selection="auto"`` compares the mean log-density of some rows, and "greedy" takes
        the fringe first: the L2 error, by which a mean with the same space and constraint is
        chosen, hardly sees the tails, and likelihoods live by them.
        """
        return cls(space="l2", constraint="simplex", is_density=True, **options)

    @property
    def is_auto(self) -> bool:
        """Whether the best of several selections is to be found."""
        return isinstance(self.selection, str) and self.selection == "auto"

    def check_names(self) -> None:
        """Raise a ValueError where a word is none that is known, before any work is done."""
        _checks.choice(self.space, "space", kernels.SPACES)
        _checks.choice(self.constraint, "constraint", coefficients.CONSTRAINTS)
        _checks.choice(self.solver, "solver", coefficients.SOLVERS)
        _checks.choice(self.spread, "spread", SPREADS)
        _checks.count(self.refine, "refine", least=0)
        self._check_error()

    def _check_error(self) -> None:
        if self.error is None:
            return
        if _checks.number(self.error, "error", above=0.0) >= 1.0:
            raise ValueError(
                f"error is relative to the norm of the mean, and so below 1, got {self.error!r}."
            )
        if not (isinstance(self.k, str) and self.k == "auto"):
            raise ValueError(
                f"error={self.error!r} asks for as many centres as it takes, and k={self.k!r} for "
                "so many; give one of the two."
            )

    def given_selection(self, sample: WeightedSample) -> str | IntVector:
        """The name of a selection, or the user's rows as positions among those that count."""
        if isinstance(self.selection, str):
            return self.selection
        given = _checks.row_indices(self.selection, sample.total)
        positions = sample.positions(given)
        if positions is None:
            raise ValueError("selection names rows whose sample_weight is zero; leave them out.")
        return positions

    def stopping(self, size: float) -> Stopping:
        """The rule by which a sample of so many points stops taking centres."""
        if isinstance(self.k, str):
            _checks.choice(self.k, "k", ("auto",))
        fixed = None if isinstance(self.k, str) else _checks.count(self.k, "k")
        limit = self._default_limit(size) if self.k_max is None else self.k_max
        return Stopping(
            fixed,
            _checks.count(limit, "k_max"),
            _checks.number(self.tol, "tol", least=0.0),
            _checks.count(self.patience, "patience"),
        )

    def _default_limit(self, size: float) -> int:
        if not isinstance(self.selection, str):
            return np.size(self.selection)
        return default_limit(size) if self.error is None else largest_limit(size)


def default_limit(n: float) -> int:
    """The largest integer below 3√n."""
    return max(1, math.ceil(3 * math.sqrt(n)) - 1)


def density_limit(n: float) -> int:
    """The same for a density, which few points may give more: fewer centres save no time."""
    return max(default_limit(n), FEWEST_DENSITY_CENTERS)


def largest_limit(n: float) -> int:
    """As many centres as there are points, or as their k² numbers fit memory."""
    return max(1, min(int(n), math.isqrt(_checks.numbers_in_memory())))


def is_auto(scale: Any) -> bool:
    """Whether the scale is left to us."""
    return isinstance(scale, str) and scale == "auto"


def in_own_units(kernel: Any, width: Any) -> bool:
    """Whether a length is given, which is one in the coordinates that the data have."""
    return isinstance(kernel, Kernel) or not isinstance(width, str)
