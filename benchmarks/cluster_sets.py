"""Points with known clusters: those to choose rules by, those to report, and samples of one
cluster.

No set for tuning shares its rows with a reported one: KEEL's optdigits hold scikit-learn's digits,
its segment is the table image and its wdbc breast-cancer, so they are in neither list. Every
method gets the same columns, of mean 0 and variance 1, rows in random order.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets as bundled
from sklearn.decomposition import PCA

from benchmarks import tables
from benchmarks.measuring import DATA

SKIN_ROWS = 20_000  # of 245 057; about half of them are copies of others


class Labelled(NamedTuple):
    """Rows, and the class of each."""

    X: np.ndarray
    y: np.ndarray


@cache
def load(name: str) -> Labelled:
    """A set of any list by its name, in columns of unit variance.

    :class:`benchmarks.tables.AbsentError` says why a set cannot be had here.
    """
    makers = REPORT | TUNING
    if name not in makers:
        raise KeyError(f"no set {name!r}; choose from {', '.join(makers)}")
    X, y = makers[name]()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], np.unique(y, return_inverse=True)[1][order]
    X = X[:, np.ptp(X, axis=0) > 0.0]
    return Labelled((X - X.mean(axis=0)) / X.std(axis=0), y)


# --- drawn points


def gaussians(
    n: int,
    centers: np.ndarray,
    seed: int,
    widths: tuple[float, ...] | float = 1.0,
    shares: tuple[float, ...] | None = None,
) -> Labelled:
    """Round normal clusters of given centres, standard deviations and shares of the rows."""
    rng = np.random.default_rng(seed)
    k, d = centers.shape
    y = rng.choice(k, size=n, p=shares)
    sizes = np.broadcast_to(widths, k)
    return Labelled(centers[y] + sizes[y, None] * rng.normal(size=(n, d)), y)


def polygon(corners: int, side: float) -> np.ndarray:
    """Corners of a regular polygon in the plane, neighbours ``side`` apart."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    radius = side / (2.0 * np.sin(np.pi / corners))
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def scattered(count: int, d: int, distance: float, seed: int) -> np.ndarray:
    """Normal centres whose root mean square distance is ``distance``."""
    return distance / np.sqrt(2.0 * d) * np.random.default_rng(seed).normal(size=(count, d))


def sheared() -> Labelled:
    """Three long clusters side by side, as in scikit-learn's comparison of clusterings."""
    X, y = bundled.make_blobs(3000, random_state=170)
    return Labelled(X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y)


def moons(n: int, noise: float, seed: int) -> Labelled:
    return Labelled(*bundled.make_moons(n, noise=noise, random_state=seed))


def rings() -> Labelled:
    """Two circles around one centre, one of half the other's radius."""
    return Labelled(*bundled.make_circles(2000, factor=0.5, noise=0.05, random_state=3))


def ring_around_a_blob() -> Labelled:
    rng = np.random.default_rng(11)
    angle = rng.uniform(0.0, 2.0 * np.pi, 1500)
    ring = 6.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.concatenate([ring, np.zeros((1000, 2))]) + rng.normal(size=(2500, 2)) * 0.6
    return Labelled(X, np.repeat([0, 1], [1500, 1000]))


def spirals() -> Labelled:
    """Two arms that wind once and a half around each other."""
    rng = np.random.default_rng(12)
    t, y = np.sqrt(rng.uniform(0.1, 1.0, 3000)), rng.integers(2, size=3000)
    angle = 3.0 * np.pi * t + np.pi * y
    X = t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Labelled(X + 0.02 * rng.normal(size=X.shape), y)


def heavy_tails() -> Labelled:
    """Clusters of Student's t with three degrees of freedom."""
    rng = np.random.default_rng(13)
    y = rng.integers(5, size=4000)
    X = scattered(5, 4, 14.0, 13)[y] + rng.standard_t(3, size=(4000, 4))
    return Labelled(X, y)


def with_noise() -> Labelled:
    """Six normal clusters in three dimensions and a twentieth of uniform rows, a class of its
    own.
    """
    X, y = gaussians(5700, scattered(6, 3, 10.0, 14), 14)
    low, high = X.min(axis=0), X.max(axis=0)
    noise = np.random.default_rng(15).uniform(low, high, size=(300, 3))
    return Labelled(np.concatenate([X, noise]), np.concatenate([y, np.full(300, 6)]))


# --- real rows


def of_scikit_learn(name: str) -> Labelled:
    found = tables.BUNDLED[name]()
    return Labelled(found["data"], found["target"])


def principal(full: Labelled, components: int) -> Labelled:
    return Labelled(PCA(components, random_state=0).fit_transform(full.X), full.y)


def keel(name: str) -> Labelled:
    """A table of :mod:`benchmarks.tables`, whose rows are distinct."""
    found = tables.load(name)
    assert found.y is not None
    return Labelled(found.X, found.y)


def in_folder(path: str, most: int | None = None) -> Labelled:
    """Rows of a file in the folder of data, copies among them; some at random if it has more."""
    with np.load(_present(path), allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"].ravel()
    kept = np.random.default_rng(0).permutation(len(X))[:most]
    return Labelled(X[kept], y[kept])


def mnist() -> Labelled:
    """The 10 000 test images, 784 pixels each."""
    with gzip.open(_present("mnist/t10k-images-idx3-ubyte.gz")) as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(_present("mnist/t10k-labels-idx1-ubyte.gz")) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return Labelled(X.astype(float), y)


def _present(path: str) -> Path:
    if not (DATA / path).exists():
        raise tables.AbsentError(f"no data at {DATA}")
    return DATA / path


UNEQUAL = (0.55, 0.2, 0.12, 0.08, 0.05)

# Figures are reported on these ...
REPORT: dict[str, Callable[[], Labelled]] = {
    "blobs, 2-D, apart": lambda: gaussians(3000, polygon(5, 8.0), 1),
    "blobs, 2-D, overlapping": lambda: gaussians(3000, polygon(5, 3.5), 2),
    "blobs, 5-D": lambda: gaussians(5000, scattered(6, 5, 8.0, 3), 3),
    "blobs, 10-D": lambda: gaussians(5000, scattered(8, 10, 9.0, 4), 4),
    "blobs of unequal size": lambda: gaussians(4000, polygon(5, 6.0), 5, shares=UNEQUAL),
    "blobs of unequal width": lambda: gaussians(
        4000, polygon(5, 7.0), 6, widths=(0.4, 0.8, 1.2, 1.6, 2.0)
    ),
    "sheared blobs": sheared,
    "moons": partial(moons, 2000, 0.08, 7),
    "rings": rings,
    "iris": partial(of_scikit_learn, "iris"),
    "wine": partial(of_scikit_learn, "wine"),
    "breast cancer": partial(of_scikit_learn, "wdbc"),
    "digits, PCA 10": lambda: principal(of_scikit_learn("digits"), 10),
    "thyroid": partial(in_folder, "benchmark11/thyroid.npz"),
    "image": partial(in_folder, "benchmark11/image.npz"),
    "waveform": partial(in_folder, "benchmark11/waveform.npz"),
    "banana": partial(in_folder, "benchmark11/banana.npz"),
    "twonorm": partial(in_folder, "benchmark11/twonorm.npz"),
    "MNIST, PCA 10": lambda: principal(mnist(), 10),
    "skin": partial(in_folder, "large/skin.npz", SKIN_ROWS),
}
# ... and rules are chosen on these.
TUNING: dict[str, Callable[[], Labelled]] = {
    "unequal Gaussians, 3-D": lambda: gaussians(
        4000, scattered(7, 3, 9.0, 21), 21, widths=(0.5, 0.7, 0.9, 1.1, 1.3, 0.6, 0.8)
    ),
    "triangle of overlapping blobs": lambda: gaussians(1500, polygon(3, 3.0), 22),
    "blobs, 20-D": lambda: gaussians(3000, scattered(6, 20, 10.0, 23), 23),
    "noisy moons": partial(moons, 1000, 0.15, 24),
    "ring around a blob": ring_around_a_blob,
    "spirals": spirals,
    "heavy tails": heavy_tails,
    "blobs and noise": with_noise,
    "ecoli": partial(keel, "ecoli"),
    "glass": partial(keel, "glass"),
    "vehicle": partial(keel, "vehicle"),
    "vowel": partial(keel, "vowel"),
    "texture": partial(keel, "texture"),
    "satimage": partial(keel, "satimage"),
    "penbased": partial(keel, "penbased"),
}


# --- one cluster

DIMENSIONS = (1, 2, 5, 10)
SIZES = (1000, 10_000, 100_000)
SEEDS = 10
FIRST_SEED = 1000  # seeds 0 to 9 served to choose by how many bandwidths the level is shared


def normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def cube(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.random((n, d))


def student(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent coordinates of Student's t with three degrees of freedom."""
    return rng.standard_t(3, size=(n, d))


NULLS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "one Gaussian": normal,
    "uniform cube": cube,
    "Student's t(3)": student,
}


def null(family: str, n: int, d: int, seed: int) -> np.ndarray:
    """A sample of one cluster, as drawn: its columns are not scaled."""
    return NULLS[family](np.random.default_rng((FIRST_SEED + seed, n, d)), n, d)
