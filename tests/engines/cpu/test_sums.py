"""Kernel sums of the cpu engine against the naive ones, at every seam of its layout.

Tolerance. Two engines round the same formula in different orders. Each term is within a few units
of its last place times the size of its exponent, which the clouds below keep moderate (|log g| ≤ 20
or so, scale ∝ √d); sums are then held to 1e-14 of the sum of the absolute terms, and are bitwise
equal for any number of threads.

Compiled loops are made for one radial and one dimension, so all pairs of (dimension, formula) that
are made differently are covered, not the full product: every radial in 3 (unrolled) and 17 (strips)
dimensions, every dimension with a formula and with a table.
"""

import math

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu import truncated_sums as narrow
from kernelmean.engines.cpu.blocks import width
from kernelmean.engines.cpu.tiles import TILE
from tests.engines import cases
from tests.engines.cases import DIMENSIONS, cloud, same_bits
from tests.engines.cpu.seams import engines, naive, sizes

TOLERANCE = 1e-14


def own_profile(s):
    return 1.0 / (1.0 + s + 0.5 * s * s)


OWN = km.Radial(own_profile, 1.5)

RADIALS = cases.RADIALS | {
    "users-own": lambda d: OWN.rescaled(1.5 * math.sqrt(d), d).radial(d, "rkhs")
}
PAIRS = [(name, d) for name in RADIALS for d in (3, 17)]
PAIRS += [
    (name, d) for name in ("gaussian-rkhs", "laplacian-l2") for d in DIMENSIONS if d not in (3, 17)
]


def check(operation, X, w, terms, expected=None):
    """One operation: within TOLERANCE·terms of the naive result, bitwise equal for any number of
    threads.
    """
    expected = np.asarray(operation(naive.load(X, w)) if expected is None else expected)
    results = {name: np.asarray(operation(engine.load(X, w))) for name, engine in engines.items()}
    first = results["cpu-1"]
    for name, result in results.items():
        assert same_bits(result, first), f"{name} differs from cpu-1"
    assert first.shape == expected.shape
    assert first.dtype == np.float64
    with np.errstate(invalid="ignore"):
        difference = np.where(
            first == expected, 0.0, np.abs(first - expected)
        )  # −inf may meet −inf
    assert np.max(difference / np.maximum(terms, np.finfo(float).tiny)) <= TOLERANCE


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_kernel_sum(name, d):
    """Own weights, and signed weights with zeros among them."""
    radial = RADIALS[name](d)
    for n in sizes(d):
        X, Q, w = cloud(n, d)
        check(
            lambda loaded, radial=radial, Q=Q: loaded.kernel_sum(radial, Q),
            X,
            w,
            naive.load(X, w).kernel_sum(radial, Q),
        )
        signed = np.random.default_rng(n).normal(size=n)
        signed[::3] = 0.0
        terms = naive.load(X).kernel_sum(radial, Q, np.abs(signed))
        check(
            lambda loaded, radial=radial, Q=Q, v=signed: loaded.kernel_sum(radial, Q, v),
            X,
            None,
            terms,
        )


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_kernel_moments(name, d):
    """Σ p g and Σ p g (x − q): the mean is that of kernel_sum, the pull within rounding of its
    absolute terms.
    """
    radial = RADIALS[name](d)
    for n in sizes(d):
        X, Q, w = cloud(n, d)
        p, values = w / w.sum(), radial(((Q[:, None] - X[None]) ** 2).sum(axis=2))
        pulls = np.stack([np.abs(X[None, :, t] - Q[:, None, t]) for t in range(d)], axis=2)
        terms = np.column_stack([values @ p, np.einsum("ij,ijt->it", values * p, pulls)])
        check(lambda loaded, radial=radial, Q=Q: loaded.kernel_moments(radial, Q), X, w, terms)
        single = naive.load(X, w).kernel_sum(radial, Q)
        np.testing.assert_allclose(
            naive.load(X, w).kernel_moments(radial, Q)[:, 0], single, rtol=1e-13
        )


@pytest.mark.parametrize(
    ("name", "d"), [(name, 3) for name in RADIALS] + [("gaussian-rkhs", 9), ("gaussian-rkhs", 17)]
)
def test_kernel_sum_with_several_columns(name, d):
    """Columns of signed weights, one of them zero: the same as column by column."""
    radial = RADIALS[name](d)
    for n in sizes(d):
        X, Q, _ = cloud(n, d)
        W = np.random.default_rng(n).normal(size=(n, 4))
        W[:, 2] = 0.0
        W[::5] = 0.0
        terms = naive.load(X).kernel_sum(radial, Q, np.abs(W))
        check(
            lambda loaded, radial=radial, Q=Q, W=W: loaded.kernel_sum(radial, Q, W), X, None, terms
        )
        for engine in engines.values():
            columns = engine.load(X).kernel_sum(radial, Q, W)
            assert (columns[:, 2] == 0.0).all()
            single = np.stack(
                [engine.load(X).kernel_sum(radial, Q, np.ascontiguousarray(v)) for v in W.T], axis=1
            )
            assert (np.abs(columns - single) <= TOLERANCE * terms).all()


@pytest.mark.parametrize("q", [1, 2, 3, TILE - 1, TILE, TILE + 1, 1023, 1024, 1500])
def test_kernel_sum_for_any_number_of_queries(q):
    """Tiles of queries, in groups of three; from 1024 on the queries are shared out instead of the
    points.
    """
    d = 17
    Q = np.random.default_rng(q).normal(size=(q, d))
    radial = RADIALS["gaussian-rkhs"](d)
    for n in (100, loops.CHUNK * width(d) + 57):
        X, _, w = cloud(n, d)
        terms = naive.load(X, w).kernel_sum(radial, Q)
        check(lambda loaded: loaded.kernel_sum(radial, Q), X, w, terms, expected=terms)
        columns = np.stack([terms, -terms], axis=1)
        p = w / w.sum()
        check(
            lambda loaded, p=p: loaded.kernel_sum(radial, Q, np.stack([p, -p], axis=1)),
            X,
            w,
            np.abs(columns),
            expected=columns,
        )
        check(lambda loaded: loaded.log_kernel_sum(radial, Q), X, w, 1.0, expected=np.log(terms))


NARROW = {
    "gaussian-rkhs": lambda d, h: km.Gaussian(h).radial(d, "rkhs"),
    "laplacian-rkhs": lambda d, h: km.Laplacian(h).radial(d, "rkhs"),
    "laplacian-l2": lambda d, h: km.Laplacian(h).radial(d, "l2"),
    "student-rkhs": lambda d, h: km.Student(12.0, h * h).radial(d, "rkhs"),
    "student-l2": lambda d, h: km.Student(d / 2 + 20.0, h * h).radial(d, "l2"),
    "gaussian-decay": lambda d, h: km.Gaussian(h).decay(d),
    "laplacian-decay": lambda d, h: km.Laplacian(h).decay(d),
    "student-decay": lambda d, h: km.Student(12.0, h * h).decay(d),
    "users-own": lambda d, h: OWN.rescaled(h, d).radial(d, "rkhs"),
}


NARROW_PAIRS = [(name, 2) for name in NARROW] + [("laplacian-decay", 1)]
NARROW_PAIRS += [(name, d) for name in ("gaussian-rkhs", "laplacian-l2") for d in (1, 3, 9)]


@pytest.mark.parametrize(("name", "d"), NARROW_PAIRS)
def test_kernel_sum_of_narrow_kernels(name, d, monkeypatch):
    """Most points are out of reach and may be left out, but only what float64 cannot see in the sum
    of absolute terms.

    Queries on points, between them, at the edge, and so far that only the nearest of tiny terms
    count; weights equal, signed, and nearly all on one far point. Exponents of |log Σ| units in the
    last place widen the bound.
    """
    monkeypatch.setattr(narrow, "LEAST_VALUES", 0)  # look, however little the work
    rng = np.random.default_rng(d)
    n = loops.CHUNK * width(d) + 57
    X = rng.normal(size=(n, d))
    Q = np.concatenate(
        [
            X[:5],
            rng.normal(size=(5, d)),
            np.full((1, d), 3.0),
            np.full((1, d), 6.0),
            np.full((1, d), -40.0),
        ]
    )
    lopsided = np.full(n, 1e-12)
    lopsided[np.argmax(X[:, 0])] = 1.0
    signed = rng.normal(size=n) * (rng.random(n) < 0.5)
    loaded = naive.load(X)
    for h in (0.005, 0.02, 0.1):
        radial = NARROW[name](d, h)
        for v in (np.full(n, 1 / n), signed, lopsided):
            terms = loaded.kernel_sum(radial, Q, np.abs(v))
            depth = 1.0 + np.abs(np.log(np.maximum(terms / np.abs(v).sum(), 1e-300)))
            seen = terms > 1e-290
            expected = loaded.kernel_sum(radial, Q, v)
            check(
                lambda loaded, radial=radial, v=v, seen=seen: loaded.kernel_sum(radial, Q[seen], v),
                X,
                None,
                (terms * depth)[seen],
                expected[seen],
            )


def log_of(sums):
    with np.errstate(divide="ignore"):
        return np.log(sums)


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_log_kernel_sum(name, d):
    """Exponents are moderate, so the logarithm of the naive plain sum is the reference: an error ε
    of the logarithm is a relative error ε of the sum. The naive logarithm itself adds up to 4096
    terms one by one, half a unit each.
    """
    radial = RADIALS[name](d)
    for n in sizes(d):
        X, Q, w = cloud(n, d)
        v = w / w.sum()
        v[1::3] = 0.0
        for weights in (None, v):
            expected = log_of(naive.load(X, w).kernel_sum(radial, Q, weights))
            check(
                lambda loaded, radial=radial, Q=Q, v=weights: loaded.log_kernel_sum(radial, Q, v),
                X,
                w,
                1.0,
                expected,
            )
            own = naive.load(X, w).log_kernel_sum(radial, Q, weights)
            np.testing.assert_allclose(own, expected, rtol=0, atol=4096 * 2.0**-53)


def test_log_kernel_sum_meets_peaks_that_rise_from_block_to_block():
    """Points that come ever nearer: the running peak is raised in every block, by more than exp can
    hold.
    """
    x = np.linspace(500.0, 0.0, 3000)[:, None]
    radial = km.Gaussian(1.0).radial(1, "rkhs")
    Q = np.array([[0.0], [-40.0], [250.0], [900.0]])
    for points in (x, x[::-1]):
        terms = -0.5 * (Q - points.T) ** 2 - math.log(3000)
        expected = terms.max(axis=1) + np.log(
            np.exp(terms - terms.max(axis=1, keepdims=True)).sum(axis=1)
        )
        check(
            lambda loaded: loaded.log_kernel_sum(radial, Q),
            points,
            None,
            np.abs(expected),
            expected,
        )


@pytest.mark.parametrize("name", RADIALS)
def test_quadratic(name):
    """Σ_ij p_i p_j g over half of the pairs: each chunk with itself, and twice with later ones."""
    for d, n in ((3, 1), (3, 2), (3, 257), (3, 1000), (17, 257)):
        X, _, w = cloud(n, d)
        radial = RADIALS[name](d)
        terms = naive.load(X, w).quadratic(radial)
        check(lambda loaded, radial=radial: loaded.quadratic(radial), X, w, terms)


@pytest.mark.parametrize(("n", "d"), [(4097, 17), (8200, 17), (17_000, 1)])
def test_quadratic_over_several_chunks(n, d):
    """Against p·kernel_sum, which other tests hold to the naive one: naive n² terms would take too
    long.
    """
    X, _, w = cloud(n, d)
    radial = RADIALS["gaussian-rkhs"](d)
    expected = math.fsum(w / w.sum() * engines["cpu-2"].load(X, w).kernel_sum(radial, X))
    check(lambda loaded: loaded.quadratic(radial), X, w, expected, expected)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_fourier_sum(d):
    """Phases to about 100: an error of one unit in a phase is 100 units of a cosine, so 1e-14 × 10
    here.
    """
    for n in sizes(d):
        X, _, w = cloud(n, d)
        frequencies = (
            np.random.default_rng(d).normal(size=(300 if n == 257 else 5, d)) * 10 / math.sqrt(d)
        )
        origin = np.linspace(-1, 1, d)
        check(lambda loaded, F=frequencies, o=origin: loaded.fourier_sum(F, o), X, w, 10.0)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 511, 512, 513, 600, 1100])
@pytest.mark.parametrize("d", [1, 5, 8])
def test_the_last_block_is_cut_to_its_points(n, d):
    rng = np.random.default_rng(n)
    X, Q, w = rng.normal(size=(n, d)), rng.normal(size=(30, d)), rng.uniform(0.1, 1.0, n)
    radial = km.Gaussian(1.3).radial(d, "rkhs")
    expected = w @ radial(((X[:, None] - Q[None]) ** 2).sum(-1))
    loaded = km.engines.open("cpu").load(X)
    np.testing.assert_allclose(loaded.kernel_sum(radial, Q, w), expected, rtol=1e-13)
    np.testing.assert_allclose(
        loaded.log_kernel_sum(radial, Q, w), np.log(expected), rtol=1e-12, atol=1e-13
    )


def test_points_out_of_reach_of_a_users_own_kernel_add_nothing():
    """1e200 is a finite coordinate: g there is zero, not a crash."""
    X = np.array([[0.0, 0.0, 0.0], [1e200, 0.0, 0.0], [1.0, 1.0, 1.0]])
    radial = RADIALS["users-own"](3)
    at_itself, near = radial(np.array([0.0, 3.0]))
    for engine in engines.values():
        values = engine.load(X).kernel_sum(radial, X[:2])
        np.testing.assert_allclose(values, [(at_itself + near) / 3, at_itself / 3], rtol=1e-13)
