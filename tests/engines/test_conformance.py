"""Every engine, door by door, against the naive one; and the naive one against formulas in longer
arithmetic.

Tolerance. Two engines round the same formula in different orders. Each term is within a few units
of its last place times the size of its exponent, which the clouds below keep moderate (|log g| ≤ 20
or so, scale ∝ √d); sums are then held to 1e-14 of the sum of the absolute terms. Where a door
compares or selects, engines agree bit for bit.

Compiled loops are made for one radial and one dimension, so all pairs of (dimension, formula) that
are made differently are covered, not the full product: every radial in 3 (unrolled) and 17 (strips)
dimensions, every dimension with a formula and with a table.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import kernelmean as km
from kernelmean import _checks
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu import truncated_sums as narrow
from kernelmean.engines.cpu.blocks import width

THREADS = (1, 2, 3, 5)
DIMENSIONS = (1, 2, 3, 5, 8, 9, 16, 17, 24, 50)
SIZES = (
    1,
    2,
    255,
    256,
    257,
    4095,
    4096,
    5000,
)  # from 4096 points on, low dimensions are sorted into a tree
TOLERANCE = 1e-14

naive = km.engines.open("naive")
engines = {f"cpu-{count}": km.engines.open("cpu", threads=count) for count in THREADS}


def own_profile(s):
    return 1.0 / (1.0 + s + 0.5 * s * s)


OWN = km.Radial(own_profile, 1.5)

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
    "users-own": lambda d: OWN.rescaled(1.5 * math.sqrt(d), d).radial(d, "rkhs"),
}
PAIRS = [(name, d) for name in RADIALS for d in (3, 17)]
PAIRS += [
    (name, d) for name in ("gaussian-rkhs", "laplacian-l2") for d in DIMENSIONS if d not in (3, 17)
]


def sizes(d):
    """The seams of a block and, last, more than one chunk of blocks."""
    B = width(d)
    return sorted({*SIZES, B - 1, B, B + 1, loops.CHUNK * B + 57})


def cloud(n, d, seed=0):
    """Points, 7 queries of which three are points, and positive weights."""
    rng = np.random.default_rng((seed, n, d))
    X = rng.normal(size=(n, d))
    Q = np.concatenate([X[: min(3, n)], rng.normal(size=(4, d))])
    return X, Q, rng.uniform(0.1, 2.0, n)


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check(door, X, w, terms, expected=None):
    """One door in every engine: within TOLERANCE·terms of the naive result, bitwise equal for any
    number of threads.
    """
    expected = np.asarray(door(naive.load(X, w)) if expected is None else expected)
    results = {name: np.asarray(door(engine.load(X, w))) for name, engine in engines.items()}
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


# --- kernel sums
# --------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("engine", [naive, *engines.values()], ids=["naive", *engines])
def test_kernel_moments_far_from_the_origin(engine):
    """Differences are from the query: an offset of 1e6 costs only what the data lost by it."""
    X, Q, w = cloud(300, 3)
    X, Q = np.round(X * 2**20) / 2**20, np.round(Q * 2**20) / 2**20  # so that the shift is exact
    radial = RADIALS["gaussian-rkhs"](3)
    near, far = (
        engine.load(X, w).kernel_moments(radial, Q),
        engine.load(X + 2.0**20, w).kernel_moments(radial, Q + 2.0**20),
    )
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-15)


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


@pytest.mark.parametrize("q", [1, 63, 64, 65, 1023, 1024, 1500])
def test_kernel_sum_for_any_number_of_queries(q):
    """Tiles of 64 queries; from 1024 on the queries are shared out instead of the points."""
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
    monkeypatch.setattr(narrow, "LEAST_WORK", 0)  # look, however little the work
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


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18,
    reason="this platform's long double is no longer than a double",
)
@pytest.mark.parametrize("engine", ["naive", "cpu"])
@pytest.mark.parametrize(("offset", "signed"), [(0.0, False), (0.0, True), (1e8, False)])
def test_kernel_sum_is_exact_to_1e_14_of_its_absolute_terms(engine, offset, signed):
    """n = 100000 terms in 64-bit mantissas, added without error by fsum."""
    rng = np.random.default_rng(5)
    n, sigma = 100_000, 1.1
    X = rng.normal(size=(n, 3)) + offset
    Q = rng.normal(size=(4, 3)) + offset
    v = rng.normal(size=n) if signed else rng.uniform(size=n)
    actual = km.engines.open(engine).load(X).kernel_sum(km.Gaussian(sigma).radial(3, "rkhs"), Q, v)
    for i, q in enumerate(Q.astype(np.longdouble)):
        s = ((X.astype(np.longdouble) - q) ** 2).sum(axis=1) / (2 * np.longdouble(sigma) ** 2)
        terms = v * np.exp(-s)
        high = terms.astype(np.float64)
        low = (terms - high).astype(np.float64)
        exact = math.fsum(np.concatenate([high, low]))
        assert abs(actual[i] - exact) <= TOLERANCE * math.fsum(np.abs(high))


@pytest.mark.parametrize("name", RADIALS)
def test_points_whose_squared_distance_overflows_add_nothing(name):
    """1e200 is a finite coordinate: g there is zero, not a crash."""
    X = np.array([[0.0, 0.0, 0.0], [1e200, 0.0, 0.0], [1.0, 1.0, 1.0]])
    radial = RADIALS[name](3)
    for engine in (naive, *engines.values()):
        with np.errstate(over="ignore"):
            values = engine.load(X).kernel_sum(radial, X[:2])
        at_itself, near = radial(np.array([0.0, 3.0]))
        np.testing.assert_allclose(values, [(at_itself + near) / 3, at_itself / 3], rtol=1e-13)


# --- log kernel sums
# --------------------------------------------------------------------------------------------------


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


FAR = {  # log g at 1e3, 1e5 and 1e6 away from a single point at the origin
    "gaussian": (km.Gaussian(1.0), lambda r: -0.5 * r * r),
    "laplacian": (km.Laplacian(1.0), lambda r: -r),
    "student": (km.Student(700.0, 1.0), lambda r: -700.0 * np.log1p(r * r)),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_log_kernel_sum_reaches_far_beyond_the_plain_sum(name, engine):
    """Two equal points, far away: the plain sum is 0, its logarithm log g, whatever the weights."""
    kernel, log_g = FAR[name]
    X, Q = np.zeros((2, 2)), np.array([[1e3, 0.0], [0.0, 1e5], [-1e6, 0.0]])
    loaded = km.engines.open(engine).load(X)
    assert (loaded.kernel_sum(kernel.radial(2, "rkhs"), Q) == 0.0).all()
    expected = log_g(np.array([1e3, 1e5, 1e6]))
    np.testing.assert_allclose(
        loaded.log_kernel_sum(kernel.radial(2, "rkhs"), Q), expected, rtol=1e-14
    )
    weighted = loaded.log_kernel_sum(kernel.radial(2, "rkhs"), Q, np.array([0.0, 1e-300]))
    np.testing.assert_allclose(weighted, expected + math.log(1e-300), rtol=1e-14)


@pytest.mark.parametrize("n", [1, 300, 17_000])
def test_log_kernel_sum_of_nothing_is_minus_infinity(n):
    """Zero weights everywhere; and zero weights in every block but one."""
    X, Q, _ = cloud(n, 3)
    radial = RADIALS["gaussian-rkhs"](3)
    lonely = np.zeros(n)
    lonely[n // 2] = 0.25
    expected = radial.log(((Q - X[n // 2]) ** 2).sum(axis=1)) + math.log(0.25)
    for engine in (naive, *engines.values()):
        assert (engine.load(X).log_kernel_sum(radial, Q, np.zeros(n)) == -np.inf).all()
        np.testing.assert_allclose(
            engine.load(X).log_kernel_sum(radial, Q, lonely), expected, rtol=1e-14
        )


def test_log_kernel_sum_of_the_laplacians_decay_at_its_kink():
    """The decay is 0 at a point itself: −inf for one point, the other point's term for two."""
    radial = km.Laplacian(1.0).decay(2)
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    for engine in (naive, *engines.values()):
        assert engine.load(X[:1]).log_kernel_sum(radial, X[:1])[0] == -np.inf
        assert engine.load(X).log_kernel_sum(radial, X[:1])[0] == pytest.approx(
            math.log(0.5 * 0.1) - 5.0, rel=1e-14
        )


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


# --- quadratic forms and characteristic functions
# ---------------------------------------------------------------------


@pytest.mark.parametrize("name", RADIALS)
def test_quadratic(name):
    """Σ_ij p_i p_j g over half of the pairs; each chunk with itself, and twice with later ones."""
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


def test_quadratic_by_hand():
    for engine in (naive, *engines.values()):
        loaded = engine.load(np.array([[0.0], [1.0]]), np.array([3.0, 1.0]))
        expected = (9 + 1 + 6 * math.exp(-0.5)) / 16
        assert loaded.quadratic(km.Gaussian(1.0).radial(1, "rkhs")) == pytest.approx(
            expected, rel=1e-14
        )


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


def test_fourier_sum_by_hand_and_at_frequency_zero():
    X, w = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1.0, 3.0])
    omega, origin = np.array([[0.3, -0.7], [0.0, 0.0]]), np.array([0.5, 0.5])
    phase = (X - origin) @ omega[0]
    expected = [[np.cos(phase) @ w / 4, np.sin(phase) @ w / 4], [1.0, 0.0]]
    for engine in (naive, *engines.values()):
        np.testing.assert_allclose(
            engine.load(X, w).fourier_sum(omega, origin), expected, rtol=1e-14
        )


def test_fourier_sum_far_from_the_origin_loses_nothing():
    """Data about 1e8, origin there: the same bits as with the whole picture moved by a multiple of
    their spacing.
    """
    X = np.round(np.random.default_rng(0).normal(size=(1000, 3)) * 2**10) / 2**10
    omega = np.random.default_rng(1).normal(size=(20, 3))
    offset = np.full(3, 1e8)
    for engine in (naive, *engines.values()):
        here, there = engine.load(X), engine.load(X + offset)
        assert same_bits(here.fourier_sum(omega, np.zeros(3)), there.fourier_sum(omega, offset))


@pytest.mark.parametrize("reach", [1e6, 1e15, 1e18, 1e30])
def test_a_characteristic_function_is_at_most_one(reach):
    """Heavy-tailed spectra (Laplacian) on outlying points give phases of any size."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    omega = np.random.default_rng(1).normal(size=(50, 2)) * reach
    for engine in (naive, *engines.values()):
        assert np.abs(engine.load(X).fourier_sum(omega, np.zeros(2))).max() <= 1.0 + 1e-12


# --- farthest-first traversal
# -----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", CLOUDS)
def test_traversals_agree_index_for_index_and_bit_for_bit(name):
    X, k = CLOUDS[name]
    for first in sorted({0, len(X) // 2, len(X) - 1}) if len(X) < 1000 else (0, len(X) - 1):
        expected = naive.load(X).traverse(first)
        picks = expected.take(k)
        for engine in engines.values():
            traversal = engine.load(X).traverse(first)
            actual = traversal.take(k)
            np.testing.assert_array_equal(actual.indices, picks.indices)
            assert same_bits(actual.radii, picks.radii)
            assert same_bits(traversal.distances().squared, expected.distances().squared)


@pytest.mark.parametrize(
    ("n", "d"), [(5000, 2), (1000, 17), (300, 2)], ids=["tree", "batches", "few points"]
)
def test_traversals_survive_the_largest_coordinates_that_the_door_lets_in(n, d):
    """Two clouds 1e150 apart, with squares near the end of float64; beyond, `_checks.points`
    refuses.
    """
    X = np.random.default_rng(0).normal(size=(n, d))
    X[n // 2 :] += _checks.LARGEST * (1 - 1e-15)
    X = _checks.points(X)
    expected = naive.load(X).traverse(0).take(8)
    assert len(set(expected.indices.tolist())) == len(expected.indices) >= 2
    for engine in engines.values():
        actual = engine.load(X).traverse(0).take(8)
        np.testing.assert_array_equal(actual.indices, expected.indices)
        assert same_bits(actual.radii, expected.radii)


@pytest.mark.parametrize(
    "name", ["lattice 2-D", "lattice of steps 0.1", "duplicates", "normal 2-D", "binary 64-D"]
)
def test_the_naive_traversal_is_gonzalez(name):
    """THEORY §2.1 written out in Python floats, coordinate by coordinate: lowest index on ties."""
    X, k = CLOUDS[name]
    X, k = X[:400], min(k, 60)
    rows = X.tolist()

    def squared(a, b):
        total = 0.0
        for s, t in zip(a, b, strict=True):
            total += (s - t) * (s - t)
        return total

    order, radii = [0], [math.inf]
    nearest = [squared(rows[0], row) for row in rows]
    while len(order) < k and max(nearest) > 0:
        j = nearest.index(max(nearest))
        order.append(j)
        radii.append(math.sqrt(nearest[j]))
        nearest = [min(old, squared(rows[j], row)) for old, row in zip(nearest, rows, strict=True)]
    picks = naive.load(X).traverse(0).take(k)
    assert picks.indices.tolist() == order
    assert picks.radii.tolist() == radii


@pytest.mark.parametrize("pieces", [(40,), (1,) * 40, (13, 1, 26), (0, 39, 1), (7, 0, 0, 33)])
def test_how_a_traversal_is_asked_changes_nothing(pieces):
    for name in ("normal 2-D", "lattice of steps 0.1", "binary 64-D"):
        X, _ = CLOUDS[name]
        whole = naive.load(X).traverse(5).take(40)
        for engine in (naive, *engines.values()):
            traversal = engine.load(X).traverse(5)
            parts = [traversal.take(m) for m in pieces]
            assert [len(part.indices) for part in parts] == list(pieces)
            np.testing.assert_array_equal(
                np.concatenate([part.indices for part in parts]), whole.indices
            )
            assert same_bits(np.concatenate([part.radii for part in parts]), whole.radii)


@pytest.mark.parametrize(
    "name",
    [
        "tree of a lattice",
        "tree 2-D, more than 256 centres",
        "batches of binary rows",
        "lattice 2-D",
    ],
)
def test_looking_at_the_distances_changes_nothing(name):
    """distances() between two takes, twice, and before the first."""
    X, _ = CLOUDS[name]
    whole = naive.load(X).traverse(3).take(90)
    for engine in engines.values():
        traversal = engine.load(X).traverse(3)
        parts = [traversal.take(1)]
        for m in (30, 59):
            seen = traversal.distances().squared
            assert same_bits(seen, traversal.distances().squared)
            centers = X[np.concatenate([part.indices for part in parts])]
            assert same_bits(seen, naive.load(X).nearest(centers).distances().squared)
            parts.append(traversal.take(m))
        np.testing.assert_array_equal(
            np.concatenate([part.indices for part in parts]), whole.indices
        )


@pytest.mark.parametrize("seed", range(6))
def test_traversals_agree_on_coarse_random_lattices(seed):
    """A few values per column: nearly every pick is a tie, decided by the row alone."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 3, 6, 10, 11, 20]))
    X = rng.integers(
        0, int(rng.integers(2, 40)), size=(int(rng.integers(500, 6000)), d)
    ) * rng.choice([1.0, 0.1, 1 / 3])
    first = int(rng.integers(len(X)))
    expected = naive.load(X).traverse(first).take(280)
    for engine in engines.values():
        actual = engine.load(X).traverse(first).take(280)
        np.testing.assert_array_equal(actual.indices, expected.indices)
        assert same_bits(actual.radii, expected.radii)


def test_an_exhausted_traversal_hands_out_each_distinct_point_once():
    rng = np.random.default_rng(2)
    distinct = rng.normal(size=(70, 3))
    X = np.concatenate([distinct] * 4)[rng.permutation(280)]
    for engine in (naive, *engines.values()):
        traversal = engine.load(X).traverse(3)
        picks = traversal.take(1000)
        assert len(picks.indices) == 70
        assert len(np.unique(X[picks.indices], axis=0)) == 70
        assert traversal.distances().cover == 0.0
        assert len(traversal.take(5).indices) == 0
        rows, weights = traversal.distances().coincident()
        np.testing.assert_array_equal(rows, np.arange(280))
        assert weights.sum() == pytest.approx(1.0, rel=1e-13)


# --- nearest centres
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", DIMENSIONS)
def test_nearest(d):
    """Masses, means and squared distances, the centres given at once or in two parts."""
    for n in sizes(d):
        X, Q, w = cloud(n, d)
        for weights in (None, w):
            expected = naive.load(X, weights).nearest(Q)
            for engine in engines.values():
                at_once, in_parts = (
                    engine.load(X, weights).nearest(Q),
                    engine.load(X, weights).nearest(Q[:2]),
                )
                in_parts.add(Q[2:])
                for nearest in (at_once, in_parts):
                    assert same_bits(nearest.distances().squared, expected.distances().squared)
                    assert same_bits(nearest.masses(), expected.masses())
                    assert same_bits(nearest.means(), expected.means())


@pytest.mark.parametrize(
    "X", [lattice(20, 2), lattice(20, 2, 0.1), lattice(7, 3)], ids=["2-D", "steps 0.1", "3-D"]
)
def test_ties_go_to_the_lowest_centre(X):
    """Against argmin over all distances, on lattices where most points tie; a repeated centre gets
    nothing.
    """
    centers = np.concatenate([X[::17], X[:1]])
    squared = sum((X[:, None, t] - centers[None, :, t]) ** 2 for t in range(X.shape[1]))
    labels = squared.argmin(axis=1)
    assert (
        (squared == squared.min(axis=1)[:, None]).sum(axis=1) > 1
    ).sum() > 10  # the test sees ties
    w = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    masses = np.array([w[labels == a].sum() for a in range(len(centers))]) / w.sum()
    means = centers.copy()
    for a in np.flatnonzero(masses):
        means[a] = np.average(X[labels == a], axis=0, weights=w[labels == a])
    for engine in (naive, *engines.values()):
        nearest = engine.load(X, w).nearest(centers)
        np.testing.assert_allclose(nearest.masses(), masses, rtol=1e-13, atol=1e-17)
        np.testing.assert_allclose(nearest.means(), means, rtol=1e-12, atol=1e-12)
        assert nearest.masses()[-1] == 0.0
        np.testing.assert_array_equal(nearest.means()[-1], centers[-1])
        assert nearest.distances().cover == math.sqrt(squared.min(axis=1).max())


def test_means_far_from_the_origin_keep_their_digits():
    """Group means about their centres: 1e8 away, still within a few units of 1e8's last place."""
    X = np.random.default_rng(3).normal(size=(1000, 2))
    X = np.round(X * 2**20) / 2**20
    for engine in (naive, *engines.values()):
        here, there = (
            engine.load(X).nearest(X[:5]).means(),
            engine.load(X + 2.0**26).nearest(X[:5] + 2.0**26).means(),
        )
        np.testing.assert_allclose(there - 2.0**26, here, atol=3e-8, rtol=0)


# --- chance, drawn outside
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_follow_weight_times_squared_distance(weighted):
    """Integer points, weights with a power of two for a sum: every product is exact, so every draw
    can be foretold.
    """
    rng = np.random.default_rng(4)
    n = 8192  # two blocks of the cumulative sum
    X = rng.integers(-8, 9, size=(n, 2)).astype(float)
    w = rng.integers(0, 3, n).astype(float)
    w[-1] += 2 ** math.ceil(math.log2(w.sum())) - w.sum()
    center = X[:1]
    mass = (w if weighted else np.ones(n)) * ((X - center) ** 2).sum(axis=1)
    cumulative = np.cumsum(mass)
    for engine in (naive, *engines.values()):
        distances = engine.load(X, w if weighted else None).nearest(center).distances()
        positions = np.concatenate(
            [
                rng.random(200),
                [0.0, 0.5, 1 - 2.0**-53],
                cumulative[[100, 4095, 4096, -2]] / cumulative[-1],
            ]
        )
        for u in positions:
            target = Fraction(float(u)) * Fraction(int(cumulative[-1]))
            low = np.searchsorted(cumulative, float(target) * (1 - 1e-12), side="right")
            high = np.searchsorted(cumulative, float(target) * (1 + 1e-12), side="right")
            j = distances.draw(float(u))
            assert low <= j <= min(high, n - 1)
            assert mass[j] > 0


def test_draws_end_when_every_point_is_a_centre():
    X = np.array([[0.0], [1.0], [1.0]])
    for engine in (naive, *engines.values()):
        nearest = engine.load(X).nearest(X[:1])
        assert nearest.distances().draw(0.3) == 1
        assert nearest.distances().draw(0.999) == 2
        nearest.add(X[1:2])
        assert nearest.distances().draw(0.5) is None


def test_draws_have_the_right_frequencies():
    """χ² of 20000 draws over ten points: below its 1 − 1e-6 quantile with 9 degrees of freedom."""
    rng = np.random.default_rng(6)
    X, w = rng.normal(size=(10, 2)), rng.uniform(0.5, 2, 10)
    center = np.array([[0.1, 0.2]])
    distances = engines["cpu-2"].load(X, w).nearest(center).distances()
    counts = np.bincount([distances.draw(float(u)) for u in rng.random(20_000)], minlength=10)
    p = w * ((X - center) ** 2).sum(axis=1)
    expected = 20_000 * p / p.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 45.1


@pytest.mark.parametrize("weighted", [False, True])
def test_locate_counts_along_the_cumulative_weight(weighted):
    """Integer weights: the same rows as among the repeated points, a row of weight zero never."""
    rng = np.random.default_rng(7)
    w = rng.integers(0, 5, 60).astype(float)
    w[[0, -1]] = 0.0
    X = rng.normal(size=(60, 2))
    repeated = np.repeat(np.arange(60), w.astype(int) if weighted else 1)
    positions = (np.arange(len(repeated)) + 0.5) / len(repeated)
    extremes = np.array([0.0, 1 - 2.0**-53])
    for engine in (naive, *engines.values()):
        loaded = engine.load(X, w if weighted else None)
        np.testing.assert_array_equal(loaded.locate(positions), repeated)
        np.testing.assert_array_equal(loaded.locate(extremes), repeated[[0, -1]])


def test_rows_are_copies_of_the_points():
    X, _, _ = cloud(300, 3)
    for engine in (naive, *engines.values()):
        rows = engine.load(X).rows(np.array([5, 5, 299]))
        np.testing.assert_array_equal(rows, X[[5, 5, 299]])
        rows[:] = 0.0
        assert X[5].any()


def test_distances_average_any_function_of_themselves():
    X, Q, w = cloud(3000, 3)
    squared = ((X[:, None] - Q) ** 2).sum(axis=2).min(axis=1)
    for engine in (naive, *engines.values()):
        mean = engine.load(X, w).nearest(Q).distances().mean(np.sqrt)
        assert mean == pytest.approx(np.average(np.sqrt(squared), weights=w), rel=1e-13)


# --- summaries
# --------------------------------------------------------------------------------------------------

LEVELS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


@pytest.mark.parametrize("engine", ["naive", "cpu"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_a_summary_with_integer_weights_is_that_of_the_repeated_rows(engine, offset):
    """Mean, deviation, covariance and quantiles, against NumPy on the repeated rows (about the
    offset, for its digits).
    """
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(500, 3)) * 2**12) / 2**12  # the offset loses no digit of these
    X[100:150] = X[50:100]
    w = rng.integers(0, 4, 500).astype(float)
    repeated = np.repeat(X, w.astype(int), axis=0)
    opened = km.engines.open(engine)
    for loaded, rows in ((opened.load(X + offset, w), repeated), (opened.load(X + offset), X)):
        summary = loaded.summary
        assert summary.size == len(rows)
        assert (summary.count, summary.dimension) == (500, 3)
        unit = np.spacing(offset) if offset else 1e-15
        np.testing.assert_allclose(summary.mean - offset, rows.mean(axis=0), atol=2 * unit, rtol=0)
        # A mean rounded by δ adds δ² to the variance: nothing.
        np.testing.assert_allclose(summary.std, rows.std(axis=0, ddof=1), rtol=1e-12)
        np.testing.assert_allclose(summary.covariance, np.cov(rows.T), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(
            summary.quantiles(LEVELS),
            np.quantile(rows + offset, LEVELS, axis=0),
            rtol=1e-15,
            atol=2e-15,
        )


def test_equal_weights_give_the_quantiles_of_no_weights():
    X = np.random.default_rng(9).normal(size=(41, 2))
    for scale in (1.0, 0.5, 0.3, 1 / 41):
        summary = naive.load(X, np.full(41, scale)).summary
        assert summary.size == pytest.approx(41, rel=1e-14)
        np.testing.assert_allclose(summary.std, X.std(axis=0, ddof=1), rtol=1e-12)
        np.testing.assert_allclose(
            summary.quantiles(LEVELS), np.quantile(X, LEVELS, axis=0), rtol=1e-12, atol=1e-12
        )


def test_fractional_weights_have_kishs_size():
    w = np.array([0.5, 1.5, 2.0])
    for engine in (naive, *engines.values()):
        assert engine.load(np.eye(3), w).summary.size == pytest.approx(16 / 6.5, rel=1e-15)


def test_one_point_has_no_deviation():
    summary = naive.load(np.ones((1, 2))).summary
    assert np.isnan(summary.std).all()
    np.testing.assert_array_equal(summary.mean, [1.0, 1.0])


# --- any array, never modified; any number of threads
# -----------------------------------------------------------------


def _views():
    rng = np.random.default_rng(10)
    base = rng.normal(size=(1200, 6))
    read_only = base[:600, :3].copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    yield "Fortran order", np.asfortranarray(base[:600, :3])
    yield "every other row", base[::2, :3]
    yield "columns in reverse", base[:600, 5:2:-1]
    yield "rows in reverse", base[600:, :3][::-1]
    yield "one row, broadcast", np.broadcast_to(base[0, :3], (600, 3))


VIEWS = dict(_views())


@pytest.mark.parametrize("name", VIEWS)
def test_any_layout_gives_the_same_bits_and_is_left_as_it_was(name):
    """Points, queries and weights, none of which may change; the reference is a plain copy."""
    X = VIEWS[name]
    w = np.random.default_rng(1).uniform(size=1200)[::2]
    w.flags.writeable = False
    Q = X[::100]
    before = X.tobytes(), w.tobytes()
    plain, plain_w, plain_Q = X.copy(order="C"), w.copy(), Q.copy(order="C")
    radial = RADIALS["gaussian-rkhs"](3)
    W = np.stack([w, 1 - w])  # columns of its transpose are strided
    for engine in (naive, engines["cpu-1"], engines["cpu-3"]):
        loaded, reference = engine.load(X, w), engine.load(plain, plain_w)
        pairs = [
            (loaded.kernel_sum(radial, Q), reference.kernel_sum(radial, plain_Q)),
            (
                loaded.kernel_sum(radial, Q, W.T),
                reference.kernel_sum(radial, plain_Q, np.ascontiguousarray(W.T)),
            ),
            (
                loaded.log_kernel_sum(radial, Q, w),
                reference.log_kernel_sum(radial, plain_Q, plain_w),
            ),
            (np.array(loaded.quadratic(radial)), np.array(reference.quadratic(radial))),
            (loaded.fourier_sum(Q, Q[0]), reference.fourier_sum(plain_Q, plain_Q[0])),
            (loaded.nearest(Q).means(), reference.nearest(plain_Q).means()),
            (loaded.traverse(1).take(20).indices, reference.traverse(1).take(20).indices),
            (loaded.rows(np.array([3, 1])), reference.rows(np.array([3, 1]))),
        ]
        for position, (actual, expected) in enumerate(pairs):
            if engine is naive:  # BLAS may add a strided vector in another order
                np.testing.assert_allclose(
                    actual, expected, rtol=1e-13, atol=1e-16, err_msg=str(position)
                )
            else:
                assert same_bits(actual, expected), position
    assert (X.tobytes(), w.tobytes()) == before


def test_memory_mapped_points(tmp_path):
    X, Q, w = cloud(3000, 3)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for engine in (naive, engines["cpu-2"]):
        radial = RADIALS["laplacian-rkhs"](3)
        assert same_bits(
            engine.load(mapped, w).kernel_sum(radial, Q), engine.load(X, w).kernel_sum(radial, Q)
        )
        assert same_bits(
            engine.load(mapped).traverse(0).take(9).radii, engine.load(X).traverse(0).take(9).radii
        )


def through_every_door(engine, n, d):
    """One result per door, each of several pieces of work."""
    X, Q, w = cloud(n, d)
    many = np.random.default_rng(0).normal(size=(1500, d))
    radial = RADIALS["gaussian-rkhs"](d)
    loaded = engine.load(X, w)
    traversal, nearest = loaded.traverse(7), loaded.nearest(Q)
    return {
        "kernel_sum": loaded.kernel_sum(radial, Q),
        "kernel_sum of many": loaded.kernel_sum(radial, many),
        "columns": loaded.kernel_sum(radial, Q, np.stack([w, -w], axis=1)),
        "log_kernel_sum": loaded.log_kernel_sum(radial, Q),
        "log_kernel_sum of many": loaded.log_kernel_sum(radial, many),
        "quadratic": np.array(loaded.quadratic(radial) if d == 17 else 0.0),
        "fourier_sum": loaded.fourier_sum(many[:300], X[0]),
        "picks": traversal.take(12).radii,
        "cover": np.array(traversal.distances().cover),
        "masses": nearest.masses(),
        "means": nearest.means(),
        "draw": np.array(nearest.distances().draw(0.37)),
        "average": np.array(nearest.distances().mean(np.sqrt)),
        "mean": loaded.summary.mean,
        "std": loaded.summary.std,
        "covariance": loaded.summary.covariance,
        "quantiles": loaded.summary.quantiles(LEVELS),
    }


def differing(actual, expected):
    return [door for door, value in actual.items() if not same_bits(value, expected[door])]


@pytest.mark.parametrize(("n", "d"), [(90_000, 3), (8200, 17)])
def test_no_door_depends_on_the_number_of_threads(n, d):
    expected = through_every_door(engines["cpu-1"], n, d)
    for name in ("cpu-2", "cpu-3", "cpu-5"):
        assert differing(through_every_door(engines[name], n, d), expected) == [], name


@pytest.mark.parametrize(("n", "d"), [(90_000, 3), (8200, 17)])
def test_no_door_depends_on_the_threads_of_the_linear_algebra_library(n, d):
    """BLAS splits long dot products by its own number of threads, that is by the cores."""
    with threadpool_limits(1):
        expected = through_every_door(engines["cpu-2"], n, d)
    for limit in (2, 3):
        with threadpool_limits(limit):
            assert differing(through_every_door(engines["cpu-2"], n, d), expected) == [], (
                f"BLAS on {limit} threads"
            )


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_must_be_positive(threads):
    with pytest.raises(ValueError, match="threads must be at least 1"):
        km.engines.open("cpu", threads=threads)


@pytest.mark.parametrize("threads", [1.5, "2", None, True])
def test_threads_must_be_whole(threads):
    with pytest.raises(TypeError, match="threads must be a whole number"):
        km.engines.open("cpu", threads=threads)


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
