"""Steps of mean shift of the cpu engine against the naive ones, at the seams of its blocks."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu.blocks import width
from tests.engines.cases import KERNELS, cloud_with_gaps

THREADS = (1, 2, 5)
naive = km.engines.open("naive")
engines = {count: km.engines.open("cpu", threads=count) for count in THREADS}


PAIRS = [(name, d) for name in KERNELS for d in (3, 17)] + [
    ("gaussian", d) for d in (1, 2, 5, 8, 9, 16, 24)
]


def numbers(shift):
    """What a step over points has; it has no direction of its own."""
    assert shift.direction is None
    return shift[:-1]


def close(found, expected):
    for a, b in zip(numbers(found), numbers(expected), strict=True):
        assert a.shape == b.shape
        assert a.dtype == np.float64
        with np.errstate(invalid="ignore"):
            difference = np.where(a == b, 0.0, np.abs(a - b))  # −inf may meet −inf
        assert (difference <= 1e-13 * (1.0 + np.abs(np.where(np.isfinite(b), b, 0.0)))).all()


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_steps_agree_with_the_naive_ones(name, d):
    """At the seams of blocks and of chunks, with own weights and with others; the same bits for any
    number of threads.
    """
    decay, B = KERNELS[name](d).decay(d), width(d)
    for n in (1, 2, 63, 64, 65, B - 1, B, B + 1, 5000, loops.CHUNK * B + 57):
        X, Q, w = cloud_with_gaps(n, d)
        for weights in (None, w):
            expected = naive.load(X).shift(decay, Q, weights)
            found = [engine.load(X).shift(decay, Q, weights) for engine in engines.values()]
            close(found[0], expected)
            for other in found[1:]:
                pairs = zip(numbers(found[0]), numbers(other), strict=True)
                assert all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize("q", [0, 1, 64, 65, 1023, 1024, 1500])
def test_any_number_of_queries(q):
    """Few queries share the points between threads, many are shared out themselves."""
    X = np.random.default_rng(0).normal(size=(loops.CHUNK * width(17) + 57, 17))
    Q = np.random.default_rng(q).normal(size=(q, 17))
    decay = km.Gaussian(4.0).decay(17)
    close(engines[2].load(X).shift(decay, Q), naive.load(X).shift(decay, Q))
