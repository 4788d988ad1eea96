"""Streams for the drift monitor: laws without a change, and changes of four kinds.

The monitor was tuned on normals in 2, 10 and 50 dimensions, Student's t with 3 degrees of freedom
in 5, a mixture of three normals of different scale in 3, rounded normals in 4 and lognormals in 5.
Laws whose run lengths are reported are others, and real rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import DATA
from benchmarks.tables import AbsentError

Draw = Callable[[int, np.random.Generator], np.ndarray]
SHAPE_SEED = 13  # of matrices, which are the same in every stream


class Law(NamedTuple):
    """Where a reference and the rows after it come from."""

    name: str
    split: Callable[[int, np.random.Generator], tuple[np.ndarray, Draw]]


# --- laws without a change


def drawn(draw: Draw) -> Callable[[int, np.random.Generator], tuple[np.ndarray, Draw]]:
    """Reference and new rows are drawn from one law."""
    return lambda n, rng: (draw(n, rng), draw)


def uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 1))


def exponential(n: int, rng: np.random.Generator) -> np.ndarray:
    """Eight columns, each a weighted sum of eight exponentials."""
    mixing = np.random.default_rng(SHAPE_SEED).random((8, 8)) ** 3
    return rng.exponential(size=(n, 8)) @ mixing


def laplace(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.laplace(size=(n, 20))


def codes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Counts, a rare flag, two codes that depend on each other, and a share of zeros."""
    code = rng.choice(5, p=(0.5, 0.25, 0.15, 0.07, 0.03), size=n)
    columns = [
        rng.poisson(3.0, n),
        rng.random(n) < 0.05,
        code,
        np.where(rng.random(n) < 0.6, code, rng.integers(4, size=n)),
        np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n)),
    ]
    return np.column_stack(columns).astype(float)


def moons(n: int, rng: np.random.Generator) -> np.ndarray:
    """Two half circles that reach into each other."""
    angle, upper = np.pi * rng.random(n), rng.random(n) < 0.5
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + 0.1 * rng.normal(size=(n, 2))


def of_table(load: Callable[[], np.ndarray]) -> Callable:
    """The reference are rows of a table; new rows are drawn, with replacement, from the others."""

    def split(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Draw]:
        X = load()
        order = rng.permutation(len(X))
        others = X[order[n:]]
        return X[order[:n]], lambda m, rng: others[rng.integers(len(others), size=m)]

    return split


@cache
def lakes() -> np.ndarray:
    """Flow cytometry of waters, on its usual scale."""
    return np.arcsinh(_array("flow_lakes36/flow_lakes36.npz"))


@cache
def patients() -> np.ndarray:
    """Flow cytometry of blood, markers on a logarithmic scale."""
    X = _array("flow_itn15/flow_itn15.npz")
    return np.column_stack([X[:, :2], np.log10(X[:, 2:])])


@cache
def cover() -> np.ndarray:
    """Forest cover: whole numbers."""
    return _array("large/cover.npz")


def _array(path: str) -> np.ndarray:
    if not (DATA / path).exists():
        raise AbsentError(f"no data at {DATA}")
    with np.load(DATA / path, allow_pickle=False) as file:
        return file["X"].astype(float)


LAWS = {
    "uniform": Law("uniform, d = 1", drawn(uniform)),
    "exponential": Law("sums of exponentials, d = 8", drawn(exponential)),
    "laplace": Law("Laplace, d = 20", drawn(laplace)),
    "codes": Law("counts and codes, d = 5", drawn(codes)),
    "moons": Law("two moons, d = 2", drawn(moons)),
    "lakes": Law("lakes, d = 4", of_table(lakes)),
    "patients": Law("blood, d = 7", of_table(patients)),
    "cover": Law("cover, d = 10", of_table(cover)),
}


# --- changes


def normal(d: int) -> Draw:
    return lambda n, rng: rng.normal(size=(n, d))


def tilted(d: int) -> Draw:
    """Normal; principal variances fall from 1 to 1/20, axes are random, columns of variance 1."""
    axes = np.linalg.qr(np.random.default_rng(SHAPE_SEED).normal(size=(d, d)))[0]
    factor = axes * np.geomspace(1.0, 0.05, d) ** 0.5
    factor /= np.linalg.norm(factor, axis=1)[:, None]
    return lambda n, rng: rng.normal(size=(n, d)) @ factor.T


def clusters(d: int) -> Draw:
    """Six round normal clusters of different size, columns of variance 1."""
    shape = np.random.default_rng(SHAPE_SEED)
    centers, sizes = 2.0 * shape.normal(size=(6, d)), shape.uniform(0.2, 0.6, 6)
    middle = centers.mean(axis=0)
    deviation = np.sqrt(centers.var(axis=0) + (sizes**2).mean())

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        part = rng.integers(6, size=n)
        X = centers[part] + sizes[part, None] * rng.normal(size=(n, d))
        return (X - middle) / deviation

    return draw


BASES: dict[str, Callable[[int], Draw]] = {
    "normal": normal,
    "tilted": tilted,
    "clusters": clusters,
}


class Change(NamedTuple):
    """Rows after a change: of what size it is, and how they are drawn."""

    kind: str
    size: float
    draw: Callable[[Draw, float, int, np.random.Generator, np.ndarray], np.ndarray]

    def rows(self, law: Draw, n: int, rng: np.random.Generator, way: np.ndarray) -> np.ndarray:
        """n rows; ``way`` is a unit vector, which says where to where that matters."""
        return self.draw(law, self.size, n, rng, way)


def shifted(law: Draw, size: float, n: int, rng: np.random.Generator, way: np.ndarray):
    """The mean moves by so much in a random direction."""
    return law(n, rng) + size * way


def stretched(law: Draw, size: float, n: int, rng: np.random.Generator, _: np.ndarray):
    """All standard deviations become larger by such a share."""
    return law(n, rng) * (1.0 + size)


def correlated(law: Draw, size: float, n: int, rng: np.random.Generator, _: np.ndarray):
    """Columns become correlated by so much, all with all; for columns that are independent."""
    X = law(n, rng)
    return np.sqrt(1.0 - size) * X + np.sqrt(size) * rng.normal(size=(n, 1))


def scrambled(law: Draw, size: float, n: int, rng: np.random.Generator, _: np.ndarray):
    """Of such a share of rows each column is from another row: columns alone stay as they are."""
    X = law(n, rng)
    some = rng.random(n) < size
    others = law(some.sum() * X.shape[1], rng).reshape(-1, X.shape[1], X.shape[1])
    X[some] = np.diagonal(others, axis1=1, axis2=2)
    return X


def mixed(law: Draw, size: float, n: int, rng: np.random.Generator, way: np.ndarray):
    """Such a share of rows is from a cluster, half as wide, two units from the middle."""
    X = law(n, rng)
    some = rng.random(n) < size
    X[some] = 2.0 * way + 0.5 * X[some]
    return X


# By dimension. Sizes were set by the delay of ours alone at a run length of 1000, on other seeds:
# about 200, 60 and 20 rows where rows are normal, 150 and 25 where they are not.
SIZES: dict[str, dict[str, dict[int, tuple[float, ...]]]] = {
    "normal": {
        "mean": {2: (0.2, 0.45, 0.9), 10: (0.3, 0.6, 1.1), 50: (0.45, 0.8, 1.4)},
        "variance": {2: (0.12, 0.25, 0.45), 10: (0.08, 0.14, 0.25), 50: (0.04, 0.06, 0.11)},
        "correlation": {2: (0.3, 0.6, 0.8), 10: (0.1, 0.18, 0.35), 50: (0.06, 0.11, 0.26)},
        "mixture": {2: (0.08, 0.18, 0.35), 10: (0.11, 0.22, 0.4), 50: (0.06, 0.12, 0.25)},
    },
    "tilted": {
        "mean": {2: (0.2, 0.6), 10: (0.27, 0.75), 50: (0.35, 1.0)},
        "variance": {2: (0.15, 0.4), 10: (0.09, 0.22), 50: (0.045, 0.1)},
        "correlation": {2: (0.07, 0.3), 10: (0.09, 0.3), 50: (0.08, 0.3)},
        "mixture": {2: (0.08, 0.25), 10: (0.12, 0.3), 50: (0.08, 0.23)},
    },
    "clusters": {
        "mean": {2: (0.1, 0.25), 10: (0.11, 0.3), 50: (0.15, 0.4)},
        "variance": {2: (0.05, 0.12), 10: (0.03, 0.07), 50: (0.02, 0.06)},
        "correlation": {2: (0.6, 1.0), 10: (0.04, 0.15), 50: (0.015, 0.05)},
        "mixture": {2: (0.08, 0.3), 10: (0.06, 0.18), 50: (0.1, 0.3)},
    },
}


def changes(base: str, d: int) -> list[Change]:
    """What may happen to rows of a law."""
    kinds = {
        "mean": shifted,
        "variance": stretched,
        "correlation": correlated if base == "normal" else scrambled,
        "mixture": mixed,
    }
    return [
        Change(kind, size, draw) for kind, draw in kinds.items() for size in SIZES[base][kind][d]
    ]
