"""Every engine, operation by operation, against the naive one and against formulas by hand.

Sums are held to the engine's tolerance times the sum of the absolute terms, since engines round the
same formula in different orders. Where an operation compares or selects, engines agree bit for bit.
Each engine's own seams (blocks, pools, batches, threads) are tested beside it.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _checks
from tests.engines.cases import (
    CLOUDS,
    KERNELS,
    LEVELS,
    RADIALS,
    cloud,
    cloud_with_gaps,
    lattice,
    same_bits,
)

naive = km.engines.open("naive")

SHAPES = [(1, 3), (2, 17), (257, 3), (900, 17), (4500, 2)]  # in 2-D enough for a tree


def close(actual, expected, terms):
    """Within this part of the sum of absolute terms; −inf may meet −inf."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert actual.dtype == np.float64
    with np.errstate(invalid="ignore"):
        difference = np.where(actual == expected, 0.0, np.abs(actual - expected))
    assert (difference <= terms).all()


def reduced(subject, actual, expected):
    """Sums over groups of points, by the engine's own promise."""
    if subject.reductions == 0.0:
        assert same_bits(actual, expected)
    np.testing.assert_allclose(actual, expected, rtol=subject.reductions, atol=1e-14)


# --- kernel sums


@pytest.mark.parametrize("name", RADIALS)
def test_kernel_sums(subject, name):
    """Own weights, signed weights with zeros among them, columns of which one is zero; sums with
    pull; logarithms.
    """
    for n, d in ((257, 3), (300, 17)):
        X, Q, w = cloud(n, d)
        radial, W = RADIALS[name](d), np.random.default_rng(n).normal(size=(n, 3))
        W[:, 1], W[::5] = 0.0, 0.0
        loaded, plain = subject.load(X, w), naive.load(X, w)
        sums = plain.kernel_sum(radial, Q)
        close(loaded.kernel_sum(radial, Q), sums, subject.tolerance * sums)
        terms = plain.kernel_sum(radial, Q, np.abs(W))
        columns = loaded.kernel_sum(radial, Q, W)
        close(columns, plain.kernel_sum(radial, Q, W), subject.tolerance * terms)
        assert (columns[:, 1] == 0.0).all()
        single = loaded.kernel_sum(radial, Q, np.ascontiguousarray(W[:, 0]))
        close(single, columns[:, 0], 2 * subject.tolerance * terms[:, 0])
        pulls = np.abs(X[None] - Q[:, None])
        values = radial(((Q[:, None] - X[None]) ** 2).sum(axis=2)) * (w / w.sum())
        bounds = np.column_stack([sums, np.einsum("ij,ijt->it", values, pulls)])
        moments = plain.kernel_moments(radial, Q)
        close(loaded.kernel_moments(radial, Q), moments, subject.tolerance * bounds)
        with np.errstate(divide="ignore"):
            close(loaded.log_kernel_sum(radial, Q), np.log(sums), subject.tolerance)


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_clouds_of_any_size(subject, n, d, weighted):
    """Kernel sums, quadratic forms and characteristic functions of one point and of many."""
    X, Q, w = cloud(n, d)
    weights = w if weighted else None
    loaded, plain = subject.load(X, weights), naive.load(X, weights)
    radial = RADIALS["gaussian-rkhs"](d)
    sums = plain.kernel_sum(radial, Q)
    close(loaded.kernel_sum(radial, Q), sums, subject.tolerance * sums)
    close(loaded.log_kernel_sum(radial, Q, w), np.log(plain.kernel_sum(radial, Q, w)), 1e-13)
    if n < 1000:
        total = plain.quadratic(radial)
        close(loaded.quadratic(radial), total, subject.tolerance * total)
    frequencies, origin = np.random.default_rng(d).normal(size=(9, d)), np.linspace(-1, 1, d)
    expected = plain.fourier_sum(frequencies, origin)
    close(loaded.fourier_sum(frequencies, origin), expected, 10 * subject.tolerance)


@pytest.mark.parametrize("q", [0, 65, 1100])
def test_any_number_of_queries(subject, q):
    X, _, w = cloud(300, 3)
    Q = np.random.default_rng(q).normal(size=(q, 3))
    radial = RADIALS["gaussian-rkhs"](3)
    sums = naive.load(X, w).kernel_sum(radial, Q)
    loaded = subject.load(X, w)
    close(loaded.kernel_sum(radial, Q), sums, subject.tolerance * sums)
    close(loaded.log_kernel_sum(radial, Q), np.log(sums), subject.tolerance)


def test_kernel_moments_far_from_the_origin(subject):
    """Differences are taken from the query: an offset costs only what the data lost by it."""
    X, Q, w = cloud(300, 3)
    X, Q = np.round(X * 2**20) / 2**20, np.round(Q * 2**20) / 2**20  # so that the shift is exact
    radial = RADIALS["gaussian-rkhs"](3)
    near = subject.load(X, w).kernel_moments(radial, Q)
    far = subject.load(X + 2.0**20, w).kernel_moments(radial, Q + 2.0**20)
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-15)


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18,
    reason="this platform's long double is no longer than a double",
)
@pytest.mark.parametrize(("offset", "signed"), [(0.0, False), (0.0, True), (1e8, False)])
def test_kernel_sums_against_longer_arithmetic(subject, offset, signed):
    """n = 100000 terms in 64-bit mantissas, added without error by fsum."""
    rng = np.random.default_rng(5)
    n, sigma = 100_000, 1.1
    X = rng.normal(size=(n, 3)) + offset
    Q = rng.normal(size=(2, 3)) + offset
    v = rng.normal(size=n) if signed else rng.uniform(size=n)
    actual = subject.load(X).kernel_sum(km.Gaussian(sigma).radial(3, "rkhs"), Q, v)
    for i, q in enumerate(Q.astype(np.longdouble)):
        s = ((X.astype(np.longdouble) - q) ** 2).sum(axis=1) / (2 * np.longdouble(sigma) ** 2)
        terms = v * np.exp(-s)
        high = terms.astype(np.float64)
        low = (terms - high).astype(np.float64)
        exact = math.fsum(np.concatenate([high, low]))
        assert abs(actual[i] - exact) <= subject.tolerance * math.fsum(np.abs(high))


@pytest.mark.parametrize("name", RADIALS)
def test_points_whose_squared_distance_overflows_add_nothing(subject, name):
    """The largest coordinates that are let in: g there is zero, not a crash."""
    X = np.array([[0.0, 0.0, 0.0], [_checks.LARGEST, 0.0, 0.0], [1.0, 1.0, 1.0]])
    radial = RADIALS[name](3)
    with np.errstate(over="ignore"):
        values = subject.load(X).kernel_sum(radial, X[:2])
    at_itself, near = radial(np.array([0.0, 3.0]))
    np.testing.assert_allclose(values, [(at_itself + near) / 3, at_itself / 3], rtol=1e-13)


FAR = {  # log g at 1e3, 1e5 and 1e6 away from a single point at the origin
    "gaussian": (km.Gaussian(1.0), lambda r: -0.5 * r * r),
    "laplacian": (km.Laplacian(1.0), lambda r: -r),
    "student": (km.Student(700.0, 1.0), lambda r: -700.0 * np.log1p(r * r)),
}


@pytest.mark.parametrize("name", FAR)
def test_log_kernel_sum_reaches_far_beyond_the_plain_sum(subject, name):
    """Two equal points, far away: the plain sum is 0, its logarithm log g, whatever the weights."""
    kernel, log_g = FAR[name]
    X, Q = np.zeros((2, 2)), np.array([[1e3, 0.0], [0.0, 1e5], [-1e6, 0.0]])
    loaded, radial = subject.load(X), kernel.radial(2, "rkhs")
    assert (loaded.kernel_sum(radial, Q) == 0.0).all()
    expected = log_g(np.array([1e3, 1e5, 1e6]))
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q), expected, rtol=1e-14)
    weighted = loaded.log_kernel_sum(radial, Q, np.array([0.0, 1e-300]))
    np.testing.assert_allclose(weighted, expected + math.log(1e-300), rtol=1e-14)


@pytest.mark.parametrize("n", [1, 300, 17_000])
def test_log_kernel_sum_of_nothing_is_minus_infinity(subject, n):
    """Zero weights everywhere; and zero weights for every point but one."""
    X, Q, _ = cloud(n, 3)
    radial = RADIALS["gaussian-rkhs"](3)
    lonely = np.zeros(n)
    lonely[n // 2] = 0.25
    expected = radial.log(((Q - X[n // 2]) ** 2).sum(axis=1)) + math.log(0.25)
    loaded = subject.load(X)
    assert (loaded.log_kernel_sum(radial, Q, np.zeros(n)) == -np.inf).all()
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, lonely), expected, rtol=1e-14)


def test_log_kernel_sum_of_the_laplacians_decay_at_its_kink(subject):
    """The decay is 0 at a point itself: −inf for one point, the other point's term for two."""
    radial = km.Laplacian(1.0).decay(2)
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert subject.load(X[:1]).log_kernel_sum(radial, X[:1])[0] == -np.inf
    expected = math.log(0.5 * 0.1) - 5.0
    assert subject.load(X).log_kernel_sum(radial, X[:1])[0] == pytest.approx(expected, rel=1e-14)


# --- steps of mean shift


@pytest.mark.parametrize(("name", "d"), [(name, 3) for name in KERNELS] + [("gaussian", 17)])
def test_steps_of_mean_shift(subject, name, d):
    """Own weights, and others with zeros among them; at points, and between them."""
    decay = KERNELS[name](d).decay(d)
    X, Q, w = cloud_with_gaps(300, d)
    for weights in (None, w):
        found = subject.load(X).shift(decay, Q, weights)
        expected = naive.load(X).shift(decay, Q, weights)
        assert found.direction is None  # apart from the step: only covariances bring one
        for a, b in zip(found[:-1], expected[:-1], strict=True):
            close(a, b, 1e-12 * (1.0 + np.abs(np.where(np.isfinite(b), b, 0.0))))


@pytest.mark.parametrize("name", KERNELS)
def test_a_query_far_from_every_point_goes_to_the_nearest(subject, name):
    """Where the plain sums are 0/0: beyond e^−700 for the Gaussian; Student's tails weigh all
    points alike.
    """
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Q = np.array([[1e5, 0.0], [1e9, 1.0]])
    found = subject.load(X).shift(KERNELS[name](2).decay(2), Q)
    assert np.isfinite(found.log_value).all()
    end = Q + found.step
    if name == "gaussian":
        np.testing.assert_allclose(end, [[1.0, 0.0], [1.0, 0.0]], atol=1e-6)
    assert (np.abs(end) <= 1.0 + 1e-6).all()


def test_nothing_pulls_where_there_is_no_weight_or_no_density(subject):
    X = np.array([[0.0], [1.0]])
    overflowing = np.array([[1e149], [-1e149]])
    for found in (
        subject.load(X).shift(km.Gaussian(1.0).decay(1), X, np.zeros(2)),
        subject.load(X).shift(km.Gaussian(1e-140).decay(1), overflowing),
    ):
        assert np.isneginf(found.log_value).all()
        assert (found.step == 0.0).all()


def test_a_far_origin_costs_a_step_no_digits(subject):
    """Offsets that float64 holds exactly move everything and change nothing."""
    X = np.random.default_rng(0).integers(-64, 65, size=(300, 3)) / 16
    Q, decay = X[:5] + 0.25, km.Student(4.0, 2.0).decay(3)
    near = subject.load(X).shift(decay, Q)
    far = subject.load(X + 2.0**20).shift(decay, Q + 2.0**20)
    assert all((a == b).all() for a, b in zip(near[:-1], far[:-1], strict=True))


# --- quadratic forms and characteristic functions


def test_quadratic_by_hand(subject):
    loaded = subject.load(np.array([[0.0], [1.0]]), np.array([3.0, 1.0]))
    expected = (9 + 1 + 6 * math.exp(-0.5)) / 16
    radial = km.Gaussian(1.0).radial(1, "rkhs")
    assert loaded.quadratic(radial) == pytest.approx(expected, rel=1e-14)


def test_fourier_sum_by_hand_and_at_frequency_zero(subject):
    X, w = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1.0, 3.0])
    omega, origin = np.array([[0.3, -0.7], [0.0, 0.0]]), np.array([0.5, 0.5])
    phase = (X - origin) @ omega[0]
    expected = [[np.cos(phase) @ w / 4, np.sin(phase) @ w / 4], [1.0, 0.0]]
    np.testing.assert_allclose(subject.load(X, w).fourier_sum(omega, origin), expected, rtol=1e-14)


def test_fourier_sum_far_from_the_origin_loses_nothing(subject):
    """Data about 1e8, origin there: the same bits as with the whole picture moved by a multiple of
    their spacing.
    """
    X = np.round(np.random.default_rng(0).normal(size=(1000, 3)) * 2**10) / 2**10
    omega = np.random.default_rng(1).normal(size=(20, 3))
    offset = np.full(3, 1e8)
    here, there = subject.load(X), subject.load(X + offset)
    assert same_bits(here.fourier_sum(omega, np.zeros(3)), there.fourier_sum(omega, offset))


@pytest.mark.parametrize("reach", [1e6, 1e15, 1e18, 1e30])
def test_a_characteristic_function_is_at_most_one(subject, reach):
    """Heavy-tailed spectra (Laplacian) on outlying points give phases of any size."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    omega = np.random.default_rng(1).normal(size=(50, 2)) * reach
    assert np.abs(subject.load(X).fourier_sum(omega, np.zeros(2))).max() <= 1.0 + 1e-12


# --- farthest-first traversal


@pytest.mark.parametrize(
    "name",
    [
        "lattice 3-D, shuffled",
        "lattice of steps 0.1",
        "duplicates",
        "binary 64-D",
        "offset 1e8, lattice",
        "column scales in 20-D",
        "tree 2-D, more than 256 centres",
        "tree of a shuffled lattice of steps 0.1",
        "tree of few values",
        "tree, one value in most rows",
        "batches of a lattice",
        "batches of duplicates",
        "all equal",
        "one point",
        "squares that underflow",
        "large",
        "large, 17-D",
    ],
)
def test_traversals_agree_index_for_index_and_bit_for_bit(subject, name):
    """Ties included, asked for in two pieces, with all distances at the end."""
    X, k = CLOUDS[name]
    if np.abs(X).max() > _checks.LARGEST:
        X = X / (np.abs(X).max() / _checks.LARGEST)
    first = len(X) // 2
    expected, actual = naive.load(X).traverse(first), subject.load(X).traverse(first)
    for m in (k // 3, k):
        mine, theirs = expected.take(m), actual.take(m)
        np.testing.assert_array_equal(theirs.indices, mine.indices)
        assert theirs.indices.dtype == np.intp
        assert same_bits(theirs.radii, mine.radii)
    assert same_bits(actual.distances().values(), expected.distances().values())


@pytest.mark.parametrize(
    ("n", "d"), [(5000, 2), (1000, 17), (300, 2)], ids=["tree", "batches", "few points"]
)
def test_traversals_survive_the_largest_coordinates_that_are_let_in(subject, n, d):
    """Two clouds 1e150 apart, with squares near the end of float64; beyond, `_checks.points`
    refuses.
    """
    X = np.random.default_rng(0).normal(size=(n, d))
    X[n // 2 :] += _checks.LARGEST * (1 - 1e-15)
    X = _checks.points(X)
    expected = naive.load(X).traverse(0).take(8)
    assert len(set(expected.indices.tolist())) == len(expected.indices) >= 2
    actual = subject.load(X).traverse(0).take(8)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    assert same_bits(actual.radii, expected.radii)


@pytest.mark.parametrize("pieces", [(1,) * 40, (13, 1, 26), (0, 39, 1), (7, 0, 0, 33)])
@pytest.mark.parametrize("name", ["normal 2-D", "lattice of steps 0.1", "binary 64-D"])
def test_how_a_traversal_is_asked_changes_nothing(subject, name, pieces):
    X, _ = CLOUDS[name]
    whole = naive.load(X).traverse(5).take(40)
    traversal = subject.load(X).traverse(5)
    parts = [traversal.take(m) for m in pieces]
    assert [len(part.indices) for part in parts] == list(pieces)
    np.testing.assert_array_equal(np.concatenate([part.indices for part in parts]), whole.indices)
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
def test_looking_at_the_distances_changes_nothing(subject, name):
    """distances() between two takes, twice; what was seen early stays what it was."""
    X, _ = CLOUDS[name]
    whole = naive.load(X).traverse(3).take(90)
    traversal = subject.load(X).traverse(3)
    parts = [traversal.take(1)]
    for m in (30, 59):
        early = traversal.distances()
        seen = early.values().copy()
        assert same_bits(seen, traversal.distances().values())
        centers = X[np.concatenate([part.indices for part in parts])]
        assert same_bits(seen, naive.load(X).nearest(centers).distances().values())
        parts.append(traversal.take(m))
        assert same_bits(seen, early.values())
    np.testing.assert_array_equal(np.concatenate([part.indices for part in parts]), whole.indices)


def test_an_exhausted_traversal_hands_out_each_distinct_point_once(subject):
    rng = np.random.default_rng(2)
    distinct = rng.normal(size=(70, 3))
    X = np.concatenate([distinct] * 4)[rng.permutation(280)]
    traversal = subject.load(X).traverse(3)
    picks = traversal.take(1000)
    assert len(picks.indices) == 70
    assert len(np.unique(X[picks.indices], axis=0)) == 70
    assert traversal.distances().cover == 0.0
    assert len(traversal.take(5).indices) == 0
    rows, weights = traversal.distances().coincident()
    np.testing.assert_array_equal(rows, np.arange(280))
    assert weights.sum() == pytest.approx(1.0, rel=1e-13)


# --- nearest centres


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_centres(subject, n, d, weighted):
    """Masses, means and squared distances, the centres given at once or in two parts."""
    X, Q, w = cloud(n, d)
    weights = w if weighted else None
    loaded = subject.load(X, weights)
    expected = naive.load(X, weights).nearest(Q)
    at_once, in_two = loaded.nearest(Q), loaded.nearest(Q[:2])
    in_two.add(Q[2:])
    for nearest in (at_once, in_two):
        assert same_bits(nearest.distances().values(), expected.distances().values())
        reduced(subject, nearest.masses(), expected.masses())
        reduced(subject, nearest.means(), expected.means())


@pytest.mark.parametrize(
    "X", [lattice(20, 2), lattice(20, 2, 0.1), lattice(7, 3)], ids=["2-D", "steps 0.1", "3-D"]
)
def test_ties_go_to_the_lowest_centre(subject, X):
    """Against argmin over all distances, on lattices where most points tie; a repeated centre gets
    nothing.
    """
    centers = np.concatenate([X[::17], X[:1]])
    squared = sum((X[:, None, t] - centers[None, :, t]) ** 2 for t in range(X.shape[1]))
    labels = squared.argmin(axis=1)
    ties = (squared == squared.min(axis=1)[:, None]).sum(axis=1) > 1
    assert ties.sum() > 10  # the test sees ties
    w = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    w[0] = 1.0  # a part of one point must weigh something
    masses = np.array([w[labels == a].sum() for a in range(len(centers))]) / w.sum()
    means = centers.copy()
    for a in np.flatnonzero(masses):
        means[a] = np.average(X[labels == a], axis=0, weights=w[labels == a])
    nearest = subject.load(X, w).nearest(centers)
    np.testing.assert_allclose(nearest.masses(), masses, rtol=1e-13, atol=1e-17)
    np.testing.assert_allclose(nearest.means(), means, rtol=1e-12, atol=1e-12)
    assert nearest.masses()[-1] == 0.0
    np.testing.assert_array_equal(nearest.means()[-1], centers[-1])
    assert nearest.distances().cover == math.sqrt(squared.min(axis=1).max())


def test_means_far_from_the_origin_keep_their_digits(subject):
    """Group means about their centres: 1e8 away, still within a few units of 1e8's last place."""
    X = np.random.default_rng(3).normal(size=(1000, 2))
    X = np.round(X * 2**20) / 2**20
    here = subject.load(X).nearest(X[:5]).means()
    there = subject.load(X + 2.0**26).nearest(X[:5] + 2.0**26).means()
    np.testing.assert_allclose(there - 2.0**26, here, atol=3e-8, rtol=0)


# --- distances behind reductions; chance, drawn outside


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_follow_weight_times_squared_distance(subject, weighted):
    """Integer points, weights with a power of two for a sum: every product is exact, so every draw
    can be foretold.
    """
    rng = np.random.default_rng(4)
    n = 8192  # two blocks of the cumulative sum
    X = rng.integers(-8, 9, size=(n, 2)).astype(float)
    w = rng.integers(0, 3, n).astype(float)
    w[0] = 1.0  # a part of one point must weigh something
    w[-1] += 2 ** math.ceil(math.log2(w.sum())) - w.sum()
    center = X[:1]
    mass = (w if weighted else np.ones(n)) * ((X - center) ** 2).sum(axis=1)
    cumulative = np.cumsum(mass)
    edges = cumulative[[100, 4095, 4096, -2]] / cumulative[-1]
    positions = np.concatenate([rng.random(200), [0.0, 0.5, 1 - 2.0**-53], edges])
    distances = subject.load(X, w if weighted else None).nearest(center).distances()
    drawn = distances.draws(positions)
    for u, j in zip(positions, drawn, strict=True):
        target = Fraction(float(u)) * Fraction(int(cumulative[-1]))
        low = np.searchsorted(cumulative, float(target) * (1 - 1e-12), side="right")
        high = np.searchsorted(cumulative, float(target) * (1 + 1e-12), side="right")
        assert low <= j <= min(high, n - 1)
        assert mass[j] > 0
    assert [distances.draw(float(u)) for u in positions[:5]] == drawn[:5].tolist()


def test_draws_end_when_every_point_is_a_centre(subject):
    X = np.array([[0.0], [1.0], [1.0]])
    nearest = subject.load(X).nearest(X[:1])
    assert nearest.distances().draw(0.3) == 1
    assert nearest.distances().draw(0.999) == 2
    nearest.add(X[1:2])
    assert nearest.distances().draw(0.5) is None
    assert len(nearest.distances().draws(np.array([0.1, 0.5]))) == 0


def test_draws_have_the_right_frequencies(subject):
    """χ² of 20000 draws over ten points: below its 1 − 1e-6 quantile with 9 degrees of freedom."""
    rng = np.random.default_rng(6)
    X, w = rng.normal(size=(10, 2)), rng.uniform(0.5, 2, 10)
    center = np.array([[0.1, 0.2]])
    drawn = subject.load(X, w).nearest(center).distances().draws(rng.random(20_000))
    counts = np.bincount(drawn, minlength=10)
    p = w * ((X - center) ** 2).sum(axis=1)
    expected = 20_000 * p / p.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 45.1


def test_reductions_of_the_distances(subject):
    """Cover, values, coincident rows with their weights, and the average of any function."""
    X, Q, w = cloud(3000, 3)
    X[2500:2510] = X[5]
    squared = ((X[:, None] - Q) ** 2).sum(axis=2).min(axis=1)
    distances = subject.load(X, w).nearest(np.concatenate([Q, X[5:6]])).distances()
    plain = naive.load(X, w).nearest(np.concatenate([Q, X[5:6]])).distances()
    assert distances.cover == plain.cover
    assert same_bits(distances.values(), plain.values())
    np.testing.assert_array_equal(distances.coincident()[0], [0, 1, 2, 5, *range(2500, 2510)])
    np.testing.assert_allclose(distances.coincident()[1], plain.coincident()[1], rtol=1e-13)
    average = subject.load(X, w).nearest(Q).distances().mean(np.sqrt)
    assert average == pytest.approx(np.average(np.sqrt(squared), weights=w), rel=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_locate_counts_along_the_cumulative_weight(subject, weighted):
    """Integer weights: the same rows as among the repeated points, a row of weight zero never."""
    rng = np.random.default_rng(7)
    w = rng.integers(0, 5, 60).astype(float)
    w[[0, -1]] = 0.0
    X = rng.normal(size=(60, 2))
    repeated = np.repeat(np.arange(60), w.astype(int) if weighted else 1)
    positions = (np.arange(len(repeated)) + 0.5) / len(repeated)
    extremes = np.array([0.0, 1 - 2.0**-53])
    loaded = subject.load(X, w if weighted else None)
    np.testing.assert_array_equal(loaded.locate(positions), repeated)
    np.testing.assert_array_equal(loaded.locate(extremes), repeated[[0, -1]])


def test_rows_are_copies_of_the_points(subject):
    X, _, _ = cloud(300, 3)
    rows = subject.load(X).rows(np.array([5, 5, 299, 0]))
    np.testing.assert_array_equal(rows, X[[5, 5, 299, 0]])
    rows[:] = 0.0
    assert X[5].any()


# --- summaries


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_summary_with_integer_weights_is_that_of_the_repeated_rows(subject, offset, weighted):
    """Mean, deviation, covariance and quantiles, against NumPy on the repeated rows (about the
    offset, for its digits).
    """
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(500, 3)) * 2**12) / 2**12  # the offset loses no digit of these
    X[100:150] = X[50:100]
    w = rng.integers(0, 4, 500).astype(float)
    w[0] = 1.0  # a part of one point must weigh something
    rows = np.repeat(X, w.astype(int), axis=0) if weighted else X
    summary = subject.load(X + offset, w if weighted else None).summary
    assert (summary.size, summary.counted) == (len(rows), True)
    assert (summary.count, summary.dimension) == (500, 3)
    unit = np.spacing(offset) if offset else 1e-15
    np.testing.assert_allclose(summary.mean - offset, rows.mean(axis=0), atol=2 * unit, rtol=0)
    # A mean rounded by δ adds δ² to the variance: nothing. Means of parts, rounded by δ, add δ.
    rounded = unit if subject.reductions else 0.0
    np.testing.assert_allclose(summary.std, rows.std(axis=0, ddof=1), rtol=1e-12 + rounded)
    np.testing.assert_allclose(summary.covariance, np.cov(rows.T), rtol=1e-11, atol=1e-13)
    quantiles = np.quantile(rows + offset, LEVELS, axis=0)
    np.testing.assert_allclose(summary.quantiles(LEVELS), quantiles, rtol=1e-15, atol=2e-15)
    low, high = np.quantile(rows + offset, [0.25, 0.75], axis=0)
    found = summary.quantile_range(0.25, 0.75)
    np.testing.assert_allclose(found, high - low, rtol=1e-12, atol=2 * unit)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3, 1 / 41])
def test_equal_weights_give_the_quantiles_of_no_weights(subject, scale):
    X = np.random.default_rng(9).normal(size=(41, 2))
    summary = subject.load(X, np.full(41, scale)).summary
    assert summary.size == pytest.approx(41, rel=1e-14)
    np.testing.assert_allclose(summary.std, X.std(axis=0, ddof=1), rtol=1e-12)
    quantiles = np.quantile(X, LEVELS, axis=0)
    np.testing.assert_allclose(summary.quantiles(LEVELS), quantiles, rtol=1e-12, atol=1e-12)


def test_fractional_weights_have_kishs_size(subject):
    summary = subject.load(np.eye(3), np.array([0.5, 1.5, 2.0])).summary
    assert summary.size == pytest.approx(16 / 6.5, rel=1e-15)
    assert not summary.counted


def test_one_point_has_no_deviation(subject):
    summary = subject.load(np.ones((1, 2))).summary
    assert np.isnan(summary.std).all()
    np.testing.assert_array_equal(summary.mean, [1.0, 1.0])


# --- any array, never modified


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


def _results(loaded, radial, Q, W, w):
    return [
        loaded.kernel_sum(radial, Q),
        loaded.kernel_sum(radial, Q, W),
        loaded.log_kernel_sum(radial, Q, w),
        np.array(loaded.quadratic(radial)),
        loaded.fourier_sum(Q, Q[0]),
        loaded.nearest(Q).means(),
        loaded.traverse(1).take(20).indices,
        loaded.rows(np.array([3, 1])),
        loaded.summary.covariance,
    ]


@pytest.mark.parametrize("name", VIEWS)
def test_any_layout_gives_the_same_numbers_and_is_left_as_it_was(subject, name):
    """Points, queries and weights, none of which may change; the reference is a plain copy."""
    X = VIEWS[name]
    w = np.random.default_rng(1).uniform(size=1200)[::2]
    w.flags.writeable = False
    Q = X[::100]
    before = X.tobytes(), w.tobytes()
    radial = RADIALS["gaussian-rkhs"](3)
    W = np.stack([w, 1 - w])  # columns of its transpose are strided
    found = _results(subject.load(X, w), radial, Q, W.T, w)
    plain = subject.load(X.copy(order="C"), w.copy())
    expected = _results(plain, radial, Q.copy(order="C"), np.ascontiguousarray(W.T), w.copy())
    for position, (a, b) in enumerate(zip(found, expected, strict=True)):
        if subject.by_blas:
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-16, err_msg=str(position))
        else:
            assert same_bits(a, b), position
    assert (X.tobytes(), w.tobytes()) == before


def test_memory_mapped_points(subject, tmp_path):
    X, Q, w = cloud(3000, 3)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    radial = RADIALS["laplacian-rkhs"](3)
    here, there = subject.load(X, w), subject.load(mapped, w)
    assert same_bits(there.kernel_sum(radial, Q), here.kernel_sum(radial, Q))
    assert same_bits(there.traverse(0).take(9).radii, here.traverse(0).take(9).radii)
