"""What the values of a column can be: bounded, periodic, on a sphere, or one of some categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kernelmean import _checks


@dataclass(frozen=True)
class Bounds:
    """Numbers between two bounds, which belong to them; written as a pair ``(lower, upper)``."""

    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(
                f"a lower bound must lie below the upper one, got ({self.lower:g}, {self.upper:g})."
            )
        if math.isinf(self.lower) and math.isinf(self.upper):
            raise ValueError("bounds need a lower or an upper number; leave the column out if any.")


@dataclass(frozen=True)
class Periodic:
    """Numbers that repeat, such as hours of the day or angles.

    Parameters
    ----------
    period : float
        After which the values begin again.
    start : float, default=0.0
        Where a period begins: values are told from ``start`` to ``start + period``.

    See Also
    --------
    Sphere : Two columns that are longitude and latitude.
    SparseKDE : Takes it as a part of ``domain``.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> hours = np.random.default_rng(0).normal(0.0, 1.0, size=(1000, 1)) % 24
    >>> density = km.SparseKDE(domain={0: km.Periodic(24)}, random_state=0).fit(hours)
    >>> before, after = density.score_samples([[23.9], [0.1]])
    >>> bool(abs(before - after) < 0.1)
    True
    """

    period: float
    start: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", _checks.number(self.period, "period", above=0.0))
        object.__setattr__(self, "start", _checks.number(self.start, "start"))


@dataclass(frozen=True)
class Sphere:
    """Two columns that are the longitude and the latitude of a place on a sphere.

    Densities are those of the area on the unit sphere, in steradians: where rows are spread evenly
    over the globe, the density is 1/4π everywhere, at the poles too.

    Parameters
    ----------
    unit : {'degrees', 'radians'}, default='degrees'
        The unit of both columns.

    See Also
    --------
    Periodic : One column that repeats.
    SparseKDE : Takes it as a part of ``domain``.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> places = np.column_stack([rng.uniform(-180, 180, 500), rng.normal(85.0, 2.0, 500)])
    >>> places[:, 1] = np.minimum(places[:, 1], 90.0)
    >>> density = km.SparseKDE(domain={(0, 1): km.Sphere()}, random_state=0).fit(places)
    >>> here, there = density.score_samples([[-180.0, 85.0], [180.0, 85.0]])
    >>> bool(np.isclose(here, there))
    True
    """

    unit: Literal["degrees", "radians"] = "degrees"

    def __post_init__(self) -> None:
        _checks.choice(self.unit, "unit", ("degrees", "radians"))

    @property
    def right_angle(self) -> float:
        """A quarter of a turn, which no latitude exceeds."""
        return 90.0 if self.unit == "degrees" else 0.5 * math.pi


@dataclass(frozen=True)
class Categorical:
    """Values that are names, numbers or truths without an order, such as species.

    A density gives each category a probability, so that it sums to one over them.

    Parameters
    ----------
    categories : sequence or None, default=None
        All values that can occur; None for those that occur in the rows that are fitted.
    smoothing : float or None, default=None
        For copies of a kernel density estimate, the share λ of a row that goes to the other
        categories: its kernel is 1 − λ at its own category and λ/(L − 1) at each of the others, of
        L in all [1]_. None chooses it by leaving rows out. Densities by likelihood learn the
        probabilities of each component, and do not use it.

    See Also
    --------
    SparseKDE : Takes it as a part of ``domain``.

    References
    ----------
    .. [1] J. Aitchison and C. Aitken, "Multivariate binary discrimination by the kernel method",
       Biometrika 63, 1976.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 2, 1000)
    >>> rows = np.column_stack([rng.normal(4.0 * kind), kind])
    >>> density = km.SparseKDE(domain={1: km.Categorical()}, random_state=0).fit(rows)
    >>> density.conditional({0: 4.0}).marginal(0).score_samples([[1]]).round(1) + 0.0
    array([0.])
    """

    categories: tuple[Any, ...] | None = None
    smoothing: float | None = None

    def __post_init__(self) -> None:
        if self.categories is not None:
            _check_categories(self.categories)
            object.__setattr__(self, "categories", tuple(self.categories))
        if self.smoothing is not None:
            share = _checks.number(self.smoothing, "smoothing", least=0.0)
            if share >= 1.0:
                raise ValueError(f"smoothing is a share below 1, got {self.smoothing!r}.")


Kind: TypeAlias = Bounds | Periodic | Sphere | Categorical


def _check_categories(categories: Sequence[Any]) -> None:
    """Several values, none of them twice."""
    if isinstance(categories, str) or not len(categories):
        raise ValueError(f"categories are a list of at least one value, got {categories!r}.")
    if len(set(categories)) < len(categories):
        raise ValueError(f"a category is named twice in {list(categories)}.")
