"""The door of mean shift: every engine against the naive one, and the naive one against plain
quotients.
"""

import math

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu.blocks import width
from tests import brute

THREADS = (1, 2, 5)
naive = km.engines.open("naive")
engines = {count: km.engines.open("cpu", threads=count) for count in THREADS}

KERNELS = {
    "gaussian": lambda d: km.Gaussian(math.sqrt(d)),
    "laplacian": lambda d: km.Laplacian(math.sqrt(d)),
    "student": lambda d: km.Student(d / 2 + 1.3, float(d)),
    "cauchy": lambda d: km.Cauchy(float(d)),
}
PAIRS = [(name, d) for name in KERNELS for d in (3, 17)] + [
    ("gaussian", d) for d in (1, 2, 5, 8, 9, 16, 24)
]


def cloud(n, d):
    """Points, queries of which some are points, and weights with zeros among them."""
    rng = np.random.default_rng((n, d))
    X = rng.normal(size=(n, d))
    w = rng.uniform(0.1, 2.0, n)
    w[1::4] = 0.0
    return X, np.concatenate([X[: min(3, n)], rng.normal(size=(4, d))]), w


def close(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == np.float64
        with np.errstate(invalid="ignore"):
            difference = np.where(a == b, 0.0, np.abs(a - b))  # −inf may meet −inf
        assert (difference <= 1e-13 * (1.0 + np.abs(np.where(np.isfinite(b), b, 0.0)))).all()


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_every_engine_agrees_with_the_naive_one(name, d):
    """At the seams of blocks and of chunks, with own weights and with others; the same bits for any
    number of threads.
    """
    decay, B = KERNELS[name](d).decay(d), width(d)
    for n in (1, 2, 63, 64, 65, B - 1, B, B + 1, 5000, loops.CHUNK * B + 57):
        X, Q, w = cloud(n, d)
        for weights in (None, w):
            expected = naive.load(X).shift(decay, Q, weights)
            found = [engine.load(X).shift(decay, Q, weights) for engine in engines.values()]
            close(found[0], expected)
            for other in found[1:]:
                assert all(a.tobytes() == b.tobytes() for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize("q", [0, 1, 64, 65, 1023, 1024, 1500])
def test_any_number_of_queries(q):
    """Few queries share the points between threads, many are shared out themselves."""
    X = np.random.default_rng(0).normal(size=(loops.CHUNK * width(17) + 57, 17))
    Q = np.random.default_rng(q).normal(size=(q, 17))
    decay = km.Gaussian(4.0).decay(17)
    close(engines[2].load(X).shift(decay, Q), naive.load(X).shift(decay, Q))


@pytest.mark.parametrize("name", KERNELS)
def test_the_naive_door_is_the_quotient_of_two_sums(name):
    """Σ wψ(x − q)/Σ wψ and log Σ wφ, written plainly; at a kink the point itself is held apart."""
    d = 3
    X, Q, w = cloud(40, d)
    kernel = KERNELS[name](d)
    found = naive.load(X).shift(kernel.decay(d), Q, w)
    r2 = brute.squared_distances(Q, X)
    pulls = kernel.decay(d)(r2) * w
    np.testing.assert_allclose(found.log_value, np.log(kernel.profile(r2, d) @ w), rtol=1e-13)
    np.testing.assert_allclose(found.log_pull, np.log(pulls.sum(axis=1)), rtol=1e-13)
    np.testing.assert_allclose(found.step, pulls @ X / pulls.sum(axis=1)[:, None] - Q, atol=1e-14)
    at_a_point = np.log(np.array([w[0], w[2]]))
    held = np.full(7, -np.inf)
    if name == "laplacian":
        held[[0, 2]] = at_a_point  # the weight of the second point is zero
    np.testing.assert_allclose(found.log_held, held)


@pytest.mark.parametrize("engine", [naive, engines[2]], ids=["naive", "cpu"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_query_far_from_every_point_goes_to_the_nearest(engine, name):
    """Where the plain sums are 0/0: beyond e^−700 for the Gaussian; Student's tails weigh all
    points alike.
    """
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Q = np.array([[1e5, 0.0], [1e9, 1.0]])
    found = engine.load(X).shift(KERNELS[name](2).decay(2), Q)
    assert np.isfinite(found.log_value).all()
    end = Q + found.step
    if name == "gaussian":
        np.testing.assert_allclose(end, [[1.0, 0.0], [1.0, 0.0]], atol=1e-6)
    assert (np.abs(end) <= 1.0 + 1e-6).all()


@pytest.mark.parametrize("engine", [naive, engines[2]], ids=["naive", "cpu"])
def test_nothing_pulls_where_there_is_no_weight_or_no_density(engine):
    X = np.array([[0.0], [1.0]])
    for found in (
        engine.load(X).shift(km.Gaussian(1.0).decay(1), X, np.zeros(2)),
        engine.load(X).shift(
            km.Gaussian(1e-140).decay(1), np.array([[1e149], [-1e149]])
        ),  # s overflows
    ):
        assert np.isneginf(found.log_value).all()
        assert (found.step == 0.0).all()


@pytest.mark.parametrize("engine", [naive, engines[2]], ids=["naive", "cpu"])
def test_a_far_origin_costs_no_digits(engine):
    """Offsets that float64 holds exactly move everything and change nothing."""
    X = np.random.default_rng(0).integers(-64, 65, size=(300, 3)) / 16
    Q, decay = X[:5] + 0.25, km.Student(4.0, 2.0).decay(3)
    near, far = engine.load(X).shift(decay, Q), engine.load(X + 2.0**20).shift(decay, Q + 2.0**20)
    assert all((a == b).all() for a, b in zip(near, far, strict=True))
