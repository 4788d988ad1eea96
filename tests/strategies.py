"""Hypothesis clouds: normal, lattice, duplicated, constant, far from the origin, one point, one
column.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = ("normal", "lattice", "duplicates", "constant", "offset", "line")


def _cloud(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "lattice":  # every distance is shared by many pairs: ties decide
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "duplicates":
        return rng.normal(size=(n // 3 + 1, d))[rng.integers(n // 3 + 1, size=n)]
    if kind == "constant":
        return np.full((n, d), rng.normal())
    if kind == "offset":
        return rng.normal(size=(n, d)) + rng.choice([-1e6, 1e6], size=d)
    if kind == "line":
        return np.outer(rng.normal(size=n), rng.normal(size=d))
    return rng.normal(size=(n, d))


def clouds(
    max_points: int = 30, min_points: int = 1, kinds: tuple[str, ...] = KINDS, max_columns: int = 3
) -> st.SearchStrategy:
    """(n, d) arrays."""
    return st.builds(
        _cloud,
        st.sampled_from(kinds),
        st.integers(min_points, max_points),
        st.integers(1, max_columns),
        st.integers(0, 10**6),
    )


def spread_clouds(
    max_points: int = 30, min_points: int = 2, max_columns: int = 3
) -> st.SearchStrategy:
    """Clouds with some spread, for rules and kernels that need it."""
    return clouds(max_points, min_points, ("normal", "lattice", "duplicates", "offset")).filter(
        lambda X: bool((X[0] != X).any())
    )


@st.composite
def weighted_clouds(
    draw: st.DrawFn, max_points: int = 20, min_points: int = 2, least: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A cloud and integer weights, not all zero."""
    X = draw(spread_clouds(max_points, min_points))
    w = draw(st.lists(st.integers(least, 4), min_size=len(X), max_size=len(X)).filter(any))
    return X, np.array(w)


def vectors(max_size: int = 12, size: float = 5.0) -> st.SearchStrategy:
    """Vectors of moderate numbers, whose squares are numbers too."""
    numbers = st.floats(-size, size, allow_nan=False).map(lambda v: v if abs(v) > 1e-100 else 0.0)
    return st.lists(numbers, min_size=1, max_size=max_size).map(np.array)
