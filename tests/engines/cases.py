"""Clouds and radial functions that the tests of several engines share."""

import math

import numpy as np

import kernelmean as km

DIMENSIONS = (1, 2, 3, 5, 8, 9, 16, 17, 24, 50)
LEVELS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])

RADIALS = {
    "gaussian-rkhs": lambda d: km.Gaussian(math.sqrt(d)).radial(d, "rkhs"),
    "gaussian-l2": lambda d: km.Gaussian(math.sqrt(d)).radial(d, "l2"),
    "laplacian-rkhs": lambda d: km.Laplacian(math.sqrt(d)).radial(d, "rkhs"),
    "laplacian-l2": lambda d: km.Laplacian(math.sqrt(d)).radial(d, "l2"),
    "student-rkhs": lambda d: km.Student(2.2, float(d)).radial(d, "rkhs"),
    "student-l2": lambda d: km.Student(d / 2 + 1, float(d * d)).radial(d, "l2"),
    "cauchy-rkhs": lambda d: km.Cauchy(float(d * d)).radial(d, "rkhs"),
    "cauchy-l2": lambda d: km.Cauchy(float(d * d)).radial(d, "l2"),
    "gaussian-decay": lambda d: km.Gaussian(math.sqrt(d)).decay(d),
    "laplacian-decay": lambda d: km.Laplacian(math.sqrt(d)).decay(d),
    "student-decay": lambda d: km.Student(2.2, float(d)).decay(d),
}

KERNELS = {
    "gaussian": lambda d: km.Gaussian(math.sqrt(d)),
    "laplacian": lambda d: km.Laplacian(math.sqrt(d)),
    "student": lambda d: km.Student(d / 2 + 1.3, float(d)),
    "cauchy": lambda d: km.Cauchy(float(d)),
}


def cloud(n, d, seed=0):
    """Points, 7 queries of which three are points, and positive weights."""
    rng = np.random.default_rng((seed, n, d))
    X = rng.normal(size=(n, d))
    Q = np.concatenate([X[: min(3, n)], rng.normal(size=(4, d))])
    return X, Q, rng.uniform(0.1, 2.0, n)


def cloud_with_gaps(n, d):
    """Points, queries of which some are points, and weights with zeros among them."""
    rng = np.random.default_rng((n, d))
    X = rng.normal(size=(n, d))
    w = rng.uniform(0.1, 2.0, n)
    w[1::4] = 0.0
    return X, np.concatenate([X[: min(3, n)], rng.normal(size=(4, d))]), w


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def lattice(side, d, step=1.0):
    axes = np.meshgrid(*[np.arange(side) * step] * d, indexing="ij")
    return np.stack([a.ravel() for a in axes], axis=1)


def _clouds():
    rng = np.random.default_rng(11)
    yield "normal 2-D", rng.normal(size=(3000, 2)), 200
    yield "normal 10-D", rng.normal(size=(2000, 10)), 100
    yield "normal 50-D", rng.normal(size=(700, 50)), 60
    yield "more than one task", rng.normal(size=(30_000, 9)), 6
    yield "lattice 2-D", lattice(30, 2), 300
    yield "lattice 3-D, shuffled", rng.permutation(lattice(9, 3)), 200
    yield "lattice of steps 0.1", lattice(25, 2, 0.1), 200
    yield "lattice of steps 0.1 in 5-D", rng.permutation(lattice(4, 5, 0.1)), 200
    yield "duplicates", np.repeat(rng.normal(size=(50, 3)), 4, axis=0)[rng.permutation(200)], 60
    yield "binary 64-D", rng.integers(0, 2, size=(800, 64)).astype(float), 150
    yield "offset 1e8", rng.normal(size=(2000, 3)) + 1e8, 150
    yield "offset 1e8, lattice", lattice(20, 2, 0.1) + 1e8, 200
    yield (
        "column scales 1e-12 to 1e12",
        rng.normal(size=(1500, 4)) * np.array([1e-12, 1.0, 1e6, 1e12]),
        150,
    )
    yield "column scales in 20-D", rng.normal(size=(1500, 20)) * 10.0 ** rng.uniform(-8, 8, 20), 300
    yield "one column", rng.normal(size=(1000, 1)), 150
    yield "tree 1-D", rng.normal(size=(5000, 1)), 400
    yield "tree 2-D, more than 256 centres", rng.normal(size=(6000, 2)), 600
    yield "tree of a lattice", lattice(70, 2), 400
    yield "tree of a shuffled lattice of steps 0.1", rng.permutation(lattice(70, 2, 0.1)), 400
    yield "tree of a lattice in 4-D", rng.permutation(lattice(9, 4)), 300
    yield "tree of few values", rng.integers(0, 6, size=(9000, 3)).astype(float), 300
    yield (
        "tree of duplicates",
        np.repeat(rng.normal(size=(60, 3)), 100, axis=0)[rng.permutation(6000)],
        80,
    )
    yield (
        "tree, one value in most rows",
        np.concatenate([np.zeros((6000, 2)), rng.normal(size=(50, 2))]),
        60,
    )
    yield "tree, offset 1e8", rng.normal(size=(5000, 3)) + 1e8, 300
    yield "tree, column scales", rng.normal(size=(5000, 4)) * np.array([1e-12, 1.0, 1e6, 1e12]), 300
    yield "tree, heavy tails", rng.standard_t(0.7, size=(5000, 2)), 300
    yield "tree, all equal", np.full((5000, 2), 0.3), 3
    yield "batches, more than 512 points and 256 centres", rng.normal(size=(2500, 12)), 520
    yield "batches of a lattice", rng.permutation(lattice(2, 11)), 400
    yield "batches of a lattice of steps 0.1", rng.permutation(lattice(2, 11, 0.1)), 400
    yield "batches of binary rows", rng.integers(0, 2, size=(2500, 64)).astype(float), 300
    yield (
        "batches of duplicates",
        np.repeat(rng.normal(size=(300, 17)), 4, axis=0)[rng.permutation(1200)],
        310,
    )
    yield "batches, offset 1e8", rng.normal(size=(1500, 17)) + 1e8, 300
    yield "batches, heavy tails", rng.standard_t(0.7, size=(1500, 17)), 300
    yield "batches, all equal", np.full((1000, 17), 0.3), 3
    yield "all equal", np.full((300, 3), 0.1), 5
    yield "one point", np.array([[1.0, 2.0]]), 3
    yield "sizes of a block", rng.normal(size=(256, 3)), 256
    yield "squares that underflow", rng.normal(size=(100, 2)) * 1e-170, 10
    yield "squares that underflow, tree", rng.normal(size=(5000, 2)) * 1e-160, 50
    yield "squares that underflow, 17-D", rng.normal(size=(600, 17)) * 1e-160, 50
    yield "large", rng.normal(size=(5000, 2)) * 1e150, 50
    yield "large, 17-D", rng.normal(size=(600, 17)) * 1e150, 50


CLOUDS = {name: (X, k) for name, X, k in _clouds()}
