"""Pairs of samples to test: drawn ones with a known difference, and pairs of real rows.

The design of ``kernelmean.mmd_test``, its bandwidths, ridges and how they are aggregated, was tuned
on normals in 5 and 20 dimensions that differ in mean, spread, the spread of one column, a
correlation or a cluster of 3 %, and on tilted blobs, with 2048 rows each. Here dimensions, sizes
and strengths are others, and no real rows were used before. How strong a difference is was set by
the power of ours alone, on other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchmarks import tables
from benchmarks.measuring import DATA
from benchmarks.tables import AbsentError

Samples = tuple[np.ndarray, np.ndarray]
Draw = Callable[[int, float, np.random.Generator], Samples]


class Alternative(NamedTuple):
    """A way two samples differ, with the difference that is hard at each n."""

    name: str
    draw: Draw
    differences: dict[int, float]


# --- drawn samples


def shifted(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Normal in ten dimensions; B is moved along the first coordinate."""
    A, B = rng.normal(size=(2, n, 10))
    B[:, 0] += difference
    return A, B


def stretched(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Normal in ten dimensions; B has a larger spread in every coordinate."""
    A, B = rng.normal(size=(2, n, 10))
    return A, B * (1.0 + difference)


def correlated(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Normal in five dimensions; two columns of B are correlated."""
    A, B = rng.normal(size=(2, n, 5))
    B[:, 1] = difference * B[:, 0] + np.sqrt(1.0 - difference**2) * B[:, 1]
    return A, B


def with_cluster(n: int, difference: float, rng: np.random.Generator, sd: float = 0.1) -> Samples:
    """Normal in five dimensions; a share of B lies in a tight ball off the middle."""
    A, B = rng.normal(size=(2, n, 5))
    inside = rng.random(n) < difference
    B[inside] = np.array([1.0, 1.0, 0.0, 0.0, 0.0]) + sd * B[inside]
    return A, B


def with_wider_cluster(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """The same with a ball three times as wide."""
    return with_cluster(n, difference, rng, 0.3)


# --- real rows


@cache
def waters() -> list[np.ndarray]:
    """The rows of each of twelve waters, their replicates together, on the usual scale."""
    with np.load(_present("flow_lakes36/flow_lakes36.npz")) as file:
        X, offsets, names = np.arcsinh(file["X"].astype(float)), file["offsets"], file["water"]
    parts = [X[a:b] for a, b in pairwise(offsets)]
    return [
        np.concatenate([parts[i] for i in np.flatnonzero(names == w)]) for w in np.unique(names)
    ]


@cache
def patients() -> list[np.ndarray]:
    """The rows of each of fifteen patients, markers on a logarithmic scale."""
    with np.load(_present("flow_itn15/flow_itn15.npz")) as file:
        X, offsets = file["X"].astype(float), file["offsets"]
    X = np.column_stack([X[:, :2], np.log10(X[:, 2:])])
    return [X[a:b] for a, b in pairwise(offsets)]


@cache
def forests() -> Samples:
    """Forest cover: two kinds of trees."""
    with np.load(_present("large/cover.npz")) as file:
        return two_classes(file["X"].astype(float), file["y"])


@cache
def showers() -> Samples:
    """The table magic: gamma rays and hadrons seen by a telescope."""
    table = tables.load("magic")
    return two_classes(table.X, table.y)


@cache
def classes_of(name: str) -> Samples:
    """The two classes of a table of the benchmark of eleven."""
    with np.load(_present(f"benchmark11/{name}.npz")) as file:
        return two_classes(file["X"].astype(float), file["y"].ravel())


def two_classes(X: np.ndarray, y: np.ndarray) -> Samples:
    """Rows of the more frequent class, and of the next one."""
    labels, counts = np.unique(y, return_counts=True)
    first, second = labels[np.argsort(-counts)][:2]
    return X[y == first], X[y == second]


def _present(path: str):
    if not (DATA / path).exists():
        raise AbsentError(f"no data at {DATA}")
    return DATA / path


def mixed(load: Callable[[], Samples]) -> Draw:
    """Both samples from the first rows, but a share of B from the second ones."""

    def draw(n: int, difference: float, rng: np.random.Generator) -> Samples:
        most, others = load()
        foreign = rng.binomial(n, difference)
        own = most[rng.choice(len(most), 2 * n - foreign, replace=False)]
        other = others[rng.choice(len(others), foreign, replace=False)]
        return own[:n], rng.permutation(np.concatenate([own[n:], other]))

    return draw


def pair_of(load: Callable[[], list[np.ndarray]], i: int, j: int) -> Draw:
    return mixed(lambda: (load()[i], load()[j]))


def classes(name: str) -> Draw:
    return mixed(lambda: classes_of(name))


ALTERNATIVES = [
    Alternative("mean, d = 10", shifted, {4096: 0.095, 16384: 0.055}),
    Alternative("spread, d = 10", stretched, {4096: 0.022, 16384: 0.01}),
    Alternative("correlation, d = 5", correlated, {4096: 0.11, 16384: 0.055}),
    Alternative("small cluster, d = 5", with_cluster, {4096: 0.014, 16384: 0.007}),
    Alternative("wider cluster, d = 5", with_wider_cluster, {4096: 0.02, 16384: 0.01}),
    Alternative("lakes: another water, d = 4", pair_of(waters, 0, 1), {4096: 0.26, 16384: 0.125}),
    Alternative("cover: other trees, d = 10", mixed(forests), {4096: 0.0135, 16384: 0.007}),
    Alternative("magic: hadrons, d = 10", mixed(showers), {4096: 0.028}),
]
# A share of 1 leaves the second rows as they are: one class, water or patient against another.
SMALL_PAIRS = [
    Alternative("banana, classes", classes("banana"), {200: 0.22}),
    Alternative("breast-cancer, classes", classes("breast-cancer"), {25: 1.0}),
    Alternative("diabetes, classes", classes("diabetes"), {150: 0.34}),
    Alternative("german, classes", classes("german"), {40: 1.0}),
    Alternative("image, classes", classes("image"), {200: 0.2}),
    Alternative("ringnorm, classes", classes("ringnorm"), {200: 0.13}),
    Alternative("waveform, classes", classes("waveform"), {200: 0.2}),
    Alternative("lakes, waters 1 and 2", pair_of(waters, 0, 1), {200: 1.0}),
    Alternative("lakes, waters 5 and 6", pair_of(waters, 4, 5), {200: 1.0}),
    Alternative("lakes, waters 9 and 10", pair_of(waters, 8, 9), {160: 1.0}),
    Alternative("patients 1 and 2", pair_of(patients, 0, 1), {200: 0.2}),
    Alternative("patients 6 and 7", pair_of(patients, 5, 6), {200: 0.29}),
    Alternative("patients 11 and 12", pair_of(patients, 10, 11), {200: 0.2}),
]
