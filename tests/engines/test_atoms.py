"""Atoms in every engine: against the naive one, against formulas by hand, quadrature and chance.

Sums are held to the engine's tolerance times the sum of the absolute terms, each with 1 + its
exponent: rounding of an exponent is part of it.
"""

import math

import numpy as np
import pytest

import kernelmean as km
from kernelmean.kernels import Atoms
from tests.engines.cases import RADIALS, cloud, cloud_with_gaps

naive = km.engines.open("naive")
KINDS = ("scalar", "full")
DIMENSIONS = (1, 2, 3, 20, 60)


def gaussian(d, width=0.7):
    """A kernel about as wide as the atoms lie apart, and its decay for mean shift."""
    kernel = km.Gaussian(width * math.sqrt(d))
    return kernel.radial(d, "rkhs"), kernel.decay(d)


def some_atoms(k, d, kind, seed=0, scale=1.0):
    """Spreads from 0 on: the first atom is a point, the second has a spread of rank one."""
    rng = np.random.default_rng((seed, k, d))
    centers = rng.normal(size=(k, d))
    roots = rng.normal(size=(k, d, d)) * rng.uniform(0.1, 1.0, (k, 1, 1))
    roots[:1], roots[1:2, :, 1:] = 0.0, 0.0
    covariances = scale * roots @ np.swapaxes(roots, 1, 2)
    if kind == "full":
        return Atoms(centers, covariances)
    return Atoms(centers, np.trace(covariances, axis1=1, axis2=2) / d)


def by_hand(radial, atoms, Q):
    """(q, k): g_a(q) by determinants and linear systems."""
    tau2, d = 0.5 / radial.rate, atoms.dimension
    found = np.empty((len(Q), len(atoms)))
    for a, (c, S) in enumerate(zip(atoms.centers, atoms.as_kind("full").spreads, strict=True)):
        V = tau2 * np.eye(d) + S
        u = Q - c
        exponent = 0.5 * (u * np.linalg.solve(V, u.T).T).sum(axis=1)
        found[:, a] = np.exp(-exponent - 0.5 * np.linalg.slogdet(V / tau2)[1])
    return found


def sizes_of_terms(radial, atoms, Q, W):
    """Σ_a |W_ac| g_a(q_i)(1 + exponent)."""
    components = atoms.blurred(0.5 / radial.rate)
    logs = components.log_values(Q)
    return (np.exp(logs) * (1.0 + components.log_heights - logs)) @ np.abs(W)


def within(actual, expected, bound):
    assert np.shape(actual) == np.shape(expected)
    assert np.asarray(actual).dtype == np.float64
    assert (np.abs(actual - expected) <= bound).all()


# --- sums over atoms


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_atoms_by_determinants(subject, kind, d):
    radial, _ = gaussian(d)
    atoms = some_atoms(9, d, kind)
    Q = np.concatenate([atoms.centers[:3], np.random.default_rng(d).normal(size=(5, d))])
    W = np.random.default_rng(1).normal(size=(9, 2))
    values = by_hand(radial, atoms, Q)
    loaded = subject.load_atoms(atoms)
    np.testing.assert_allclose(
        loaded.kernel_sum(radial, Q, W), values @ W, rtol=0, atol=1e-11 * values.sum()
    )
    np.testing.assert_allclose(
        loaded.log_kernel_sum(radial, Q, np.ones(9)), np.log(values.sum(axis=1)), atol=1e-10
    )


@pytest.mark.parametrize("s2", [0.0, 0.3, 7.0])
def test_an_atom_is_the_mean_of_the_kernel_over_a_normal_law(subject, s2):
    """In one dimension by Gauss and Hermite."""
    radial, _ = gaussian(1, 1.3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    Q = np.linspace(-3.0, 5.0, 9)[:, None]
    places = 0.4 + math.sqrt(s2) * nodes
    expected = radial((Q - places) ** 2) @ weights / weights.sum()
    for spreads in (np.array([s2]), np.array([[[s2]]])):
        loaded = subject.load_atoms(Atoms(np.array([[0.4]]), spreads))
        found = loaded.kernel_sum(radial, Q, np.ones(1))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_an_atom_is_the_mean_of_the_kernel_over_draws(subject, kind):
    """In three dimensions by chance, within five standard errors."""
    radial, _ = gaussian(3)
    atoms = some_atoms(4, 3, kind)[3:]
    rng = np.random.default_rng(5)
    draws = rng.multivariate_normal(atoms.centers[0], atoms.as_kind("full").spreads[0], 20_000)
    Q = rng.normal(size=(6, 3))
    values = radial(((Q[:, None] - draws) ** 2).sum(axis=2))
    found = subject.load_atoms(atoms).kernel_sum(radial, Q, np.ones(1))
    errors = values.std(axis=1) / math.sqrt(len(draws))
    assert (np.abs(found - values.mean(axis=1)) <= 5.0 * errors).all()
    assert (errors < 0.02 * found).all()


@pytest.mark.parametrize(("k", "q"), [(1, 1), (65, 3), (600, 600), (3, 1100), (7, 0)])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_atoms_and_queries(subject, kind, k, q):
    """One column, several of which one is zero, signed weights with zeros among them."""
    radial, _ = gaussian(3)
    atoms = some_atoms(k, 3, kind)
    rng = np.random.default_rng((k, q))
    Q = rng.normal(size=(q, 3))
    W = rng.normal(size=(k, 3))
    W[:, 1], W[::5] = 0.0, 0.0
    loaded, plain = subject.load_atoms(atoms), naive.load_atoms(atoms)
    terms = 4.0 * subject.tolerance * sizes_of_terms(radial, atoms, Q, W)
    columns = loaded.kernel_sum(radial, Q, W)
    within(columns, plain.kernel_sum(radial, Q, W), terms)
    assert (columns[:, 1] == 0.0).all()
    single = loaded.kernel_sum(radial, Q, np.ascontiguousarray(W[:, 0]))
    within(single, plain.kernel_sum(radial, Q, W[:, 0]), terms[:, 0])
    w = np.abs(W[:, 2])
    logs = plain.log_kernel_sum(radial, Q, w)
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, w), logs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_logarithms_far_beyond_the_plain_sum(subject, kind, d):
    """Exponents of −10⁴ and more, where every plain term is 0."""
    radial, _ = gaussian(d)
    atoms = some_atoms(40, d, kind)
    Q = 1e3 * np.random.default_rng(2).normal(size=(5, d))
    Q[np.abs(Q) < 400.0] += 800.0
    loaded, w = subject.load_atoms(atoms), np.random.default_rng(3).uniform(0.1, 1.0, 40)
    expected = naive.load_atoms(atoms).log_kernel_sum(radial, Q, w)
    assert (expected < -1e4).all()
    assert (loaded.kernel_sum(radial, Q, w) == 0.0).all()
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, w), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_logarithms_of_weights_that_are_zero(subject, kind):
    radial, decay = gaussian(3)
    atoms = some_atoms(30, 3, kind)
    Q = np.random.default_rng(0).normal(size=(4, 3))
    loaded = subject.load_atoms(atoms)
    assert (loaded.log_kernel_sum(radial, Q, np.zeros(30)) == -np.inf).all()
    moved = loaded.shift(decay, Q, np.zeros(30))
    assert (moved.log_value == -np.inf).all()
    assert (moved.step == 0.0).all()
    assert (moved.pull == 0.0).all()
    lonely = np.zeros(30)
    lonely[17] = 1e-300
    expected = np.log(by_hand(radial, atoms[[17]], Q)[:, 0]) + math.log(1e-300)
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, lonely), expected, rtol=1e-12)


def test_low_atoms_in_784_dimensions(subject):
    """Heights of 1e-200 and less: values underflow, logarithms do not."""
    d = 784
    radial, decay = gaussian(d)
    rng = np.random.default_rng(4)
    atoms = Atoms(rng.normal(size=(20, d)), rng.uniform(1000.0, 4000.0, 20))
    assert (atoms.blurred(0.5 / radial.rate).log_heights < -400.0).all()
    Q = np.concatenate([atoms.centers[:2], rng.normal(size=(3, d)), 50.0 + atoms.centers[:2]])
    w = rng.uniform(0.1, 1.0, 20)
    loaded, plain = subject.load_atoms(atoms), naive.load_atoms(atoms)
    expected = plain.log_kernel_sum(radial, Q, w)
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, w), expected, rtol=1e-12)
    found, moved = loaded.shift(decay, Q, w), plain.shift(decay, Q, w)
    np.testing.assert_allclose(found.log_value, moved.log_value, rtol=1e-12)
    np.testing.assert_allclose(found.log_pull, moved.log_pull, rtol=1e-12)
    np.testing.assert_allclose(found.step, moved.step, rtol=0, atol=1e-9 * np.abs(moved.step).max())


def test_a_sample_at_atoms_in_784_dimensions(subject):
    d = 784
    radial, _ = gaussian(d)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(70, d))
    atoms = Atoms(rng.normal(size=(9, d)), rng.uniform(0.0, 100.0, 9))
    expected = naive.load(X).atom_moments(radial, atoms)
    assert (expected[:, 0] > 0.0).all()
    loaded = subject.load(X)
    np.testing.assert_allclose(loaded.atom_sum(radial, atoms), expected[:, 0], rtol=1e-11)
    found = loaded.atom_moments(radial, atoms)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=1e-11)
    np.testing.assert_allclose(found[:, -1], expected[:, -1], rtol=1e-11)
    largest = expected[:, :1] * np.abs(X[:, None] - atoms.centers).max()
    assert (np.abs(found - expected)[:, 1:-1] <= 1e-11 * largest).all()


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_atoms_without_a_width_are_points(subject, kind, d):
    X, Q, w = cloud(70, d)
    radial, decay = gaussian(d)
    atoms = Atoms(X).as_kind(kind)
    loaded, points = subject.load_atoms(atoms), subject.load(X)
    np.testing.assert_allclose(
        loaded.kernel_sum(radial, Q, w), points.kernel_sum(radial, Q, w), rtol=1e-12
    )
    far = np.concatenate([Q, 300.0 + Q])
    np.testing.assert_allclose(
        loaded.log_kernel_sum(radial, far, w), points.log_kernel_sum(radial, far, w), rtol=1e-12
    )
    found, expected = loaded.shift(decay, Q, w), points.shift(decay, Q, w)
    np.testing.assert_allclose(found.log_value, expected.log_value, atol=1e-12)
    np.testing.assert_allclose(found.log_pull, expected.log_pull, atol=1e-12)
    np.testing.assert_allclose(found.step, expected.step, atol=1e-11)
    np.testing.assert_allclose(found.pull, expected.pull, atol=1e-11)
    np.testing.assert_allclose(
        points.atom_sum(radial, atoms), points.kernel_sum(radial, X), rtol=1e-12
    )
    moments = points.atom_moments(radial, atoms)
    np.testing.assert_allclose(
        moments[:, : 1 + d], points.kernel_moments(radial, X), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_points_without_spreads_are_taken_in_too(subject, kind):
    X, Q, w = cloud(70, 3)
    radial, _ = gaussian(3)
    np.testing.assert_allclose(
        subject.load_atoms(Atoms(X)).kernel_sum(radial, Q, w),
        subject.load_atoms(Atoms(X).as_kind(kind)).kernel_sum(radial, Q, w),
        rtol=1e-12,
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-8, 1e6, 1e12])
@pytest.mark.parametrize("kind", KINDS)
def test_huge_and_tiny_spreads(subject, kind, scale):
    radial, decay = gaussian(3)
    atoms = some_atoms(30, 3, kind, scale=scale)
    X, Q, w = cloud(70, 3)
    Q = np.concatenate([Q, math.sqrt(scale) * Q, 1e4 + Q])
    v = np.random.default_rng(0).uniform(0.1, 1.0, 30)
    loaded, plain = subject.load_atoms(atoms), naive.load_atoms(atoms)
    bound = 4.0 * subject.tolerance * sizes_of_terms(radial, atoms, Q, v)
    within(loaded.kernel_sum(radial, Q, v), plain.kernel_sum(radial, Q, v), bound + 1e-300)
    expected = plain.log_kernel_sum(radial, Q, v)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(loaded.log_kernel_sum(radial, Q, v), expected, rtol=1e-11)
    found, moved = loaded.shift(decay, Q, v), plain.shift(decay, Q, v)
    np.testing.assert_allclose(found.log_value, expected, rtol=1e-11)
    np.testing.assert_allclose(found.log_pull, moved.log_pull, rtol=1e-11)
    lengths = np.abs(moved.step).max(axis=1, keepdims=True)
    assert (np.abs(found.step - moved.step) <= 1e-7 * lengths).all()
    kappa = naive.load(X, w).atom_sum(radial, atoms)
    np.testing.assert_allclose(subject.load(X, w).atom_sum(radial, atoms), kappa, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_a_far_origin_costs_no_digits(subject, kind):
    radial, decay = gaussian(3)
    atoms = some_atoms(40, 3, kind)
    X, Q, w = cloud(300, 3)
    grid = [np.round(values * 2**20) / 2**20 for values in (X, Q, atoms.centers)]
    near = Atoms(grid[2], atoms.spreads)
    far = Atoms(grid[2] + 2.0**20, atoms.spreads)  # exact
    v = np.ones(40)
    here, there = subject.load_atoms(near), subject.load_atoms(far)
    np.testing.assert_allclose(
        there.kernel_sum(radial, grid[1] + 2.0**20, v),
        here.kernel_sum(radial, grid[1], v),
        rtol=1e-13,
    )
    moved, expected = there.shift(decay, grid[1] + 2.0**20, v), here.shift(decay, grid[1], v)
    np.testing.assert_allclose(moved.step, expected.step, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        subject.load(grid[0] + 2.0**20, w).atom_moments(radial, far),
        subject.load(grid[0], w).atom_moments(radial, near),
        rtol=0,
        atol=1e-13,
    )


def test_only_gaussians_blur_atoms(subject):
    loaded = subject.load_atoms(some_atoms(5, 2, "scalar"))
    with pytest.raises(ValueError, match="Gaussian"):
        loaded.kernel_sum(RADIALS["laplacian-rkhs"](2), np.zeros((1, 2)), np.ones(5))
    with pytest.raises(ValueError, match="Gaussian"):
        subject.load(np.eye(2)).atom_sum(RADIALS["student-rkhs"](2), some_atoms(5, 2, "full"))


# --- steps of mean shift


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_mean_shift(subject, kind, d):
    """At atoms, between them and far away."""
    _, decay = gaussian(d)
    atoms = some_atoms(50, d, kind)
    rng = np.random.default_rng(d)
    Q = np.concatenate([atoms.centers[:3], rng.normal(size=(70, d)), rng.normal(size=(3, d)) * 200])
    w = rng.uniform(0.1, 1.0, 50)
    w[::7] = 0.0
    found, expected = (e.shift(decay, Q, w) for e in (subject.load_atoms(atoms), _naive(atoms)))
    for name in ("log_value", "log_pull"):
        actual = getattr(found, name)
        np.testing.assert_allclose(actual, getattr(expected, name), rtol=1e-12, atol=1e-12)
    assert (found.log_held == -np.inf).all()
    lengths = 1.0 + np.abs(expected.step).max(axis=1, keepdims=True)
    assert (np.abs(found.step - expected.step) <= 1e-10 * lengths).all()
    assert (np.abs(found.pull - expected.pull) <= 1e-10 * lengths).all()
    assert (found.direction is None) == (kind == "scalar")


def _naive(atoms):
    return naive.load_atoms(atoms)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pull_is_the_gradient(subject, kind):
    """∇f = 2·rate·exp(log_pull)·pull, against differences of the sum itself."""
    radial, decay = gaussian(3)
    atoms = some_atoms(40, 3, kind)
    rng = np.random.default_rng(1)
    Q, w = rng.normal(size=(12, 3)), rng.uniform(0.1, 1.0, 40)
    loaded = subject.load_atoms(atoms)
    found = loaded.shift(decay, Q, w)
    gradient = 2.0 * decay.rate * np.exp(found.log_pull)[:, None] * found.pull
    step = 1e-5
    for t, axis in enumerate(np.eye(3)):
        up, down = (loaded.kernel_sum(radial, Q + sign * step * axis, w) for sign in (1, -1))
        np.testing.assert_allclose(gradient[:, t], (up - down) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_never_falls_along_steps(subject, kind):
    radial, decay = gaussian(2, 0.3)
    atoms = some_atoms(30, 2, kind)
    rng = np.random.default_rng(6)
    Q, w = 3.0 * rng.normal(size=(20, 2)), rng.uniform(0.1, 1.0, 30)
    loaded = subject.load_atoms(atoms)
    before = loaded.log_kernel_sum(radial, Q, w)
    first = before
    for _ in range(25):
        Q = Q + loaded.shift(decay, Q, w).step
        after = loaded.log_kernel_sum(radial, Q, w)
        assert (after >= before - 1e-11 * np.abs(before)).all()
        before = after
    assert (before > first).all()


# --- sums over a sample at atoms


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 20), (257, 3), (900, 20), (4500, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_summed_at_atoms(subject, kind, n, d):
    """κ and its derivatives; weights with zeros among them."""
    radial, _ = gaussian(d)
    atoms = some_atoms(13, d, kind)
    X, _, w = cloud(n, d) if n < 3 else cloud_with_gaps(n, d)  # no part may weigh nothing
    for weights in (None, w):
        loaded, plain = subject.load(X, weights), naive.load(X, weights)
        kappa = plain.atom_sum(radial, atoms)
        terms = sizes_of_terms(radial, atoms, X, np.ones(13))
        bound = 10.0 * subject.tolerance * max(terms.max(), 1e-300)
        within(loaded.atom_sum(radial, atoms), kappa, bound)
        moments = plain.atom_moments(radial, atoms)
        found = loaded.atom_moments(radial, atoms)
        reach = np.abs(X[:, None] - atoms.centers).max() ** 2
        within(found, moments, bound * max(1.0, reach))
        within(found[:, 0], kappa, bound)
        np.testing.assert_allclose(kappa, by_hand(radial, atoms, X).T @ plain.sample.p, rtol=1e-9)
        if kind == "full":
            products = found[:, 1 + d :].reshape(-1, d, d)
            assert (products == np.swapaxes(products, 1, 2)).all()


def test_moments_are_the_derivatives_of_a_sum(subject):
    """In the centre, 2·rate_a·Σ p g u; in the variance, Σ p g (‖u‖²/(2V²) − d/(2V))."""
    radial, _ = gaussian(3)
    X, _, w = cloud(200, 3)
    loaded = subject.load(X, w)
    atoms = some_atoms(5, 3, "scalar")[1:]
    moments = loaded.atom_moments(radial, atoms)
    V = 0.5 / radial.rate + atoms.spreads
    step = 1e-5
    for t, axis in enumerate(np.eye(3)):
        sums = [
            loaded.atom_sum(radial, Atoms(atoms.centers + sign * step * axis, atoms.spreads))
            for sign in (1, -1)
        ]
        expected = (sums[0] - sums[1]) / (2 * step)
        np.testing.assert_allclose(moments[:, 1 + t] / V, expected, atol=1e-8)
    sums = [
        loaded.atom_sum(radial, Atoms(atoms.centers, atoms.spreads + sign * step))
        for sign in (1, -1)
    ]
    slope = moments[:, 4] / (2 * V**2) - 1.5 * moments[:, 0] / V
    np.testing.assert_allclose(slope, (sums[0] - sums[1]) / (2 * step), atol=1e-8)


# --- spreads of cells


def cells_by_hand(X, w, centers):
    """(k, d, d) covariances of the cells, row by row."""
    p = np.ones(len(X)) if w is None else w
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    found = np.zeros((len(centers), X.shape[1], X.shape[1]))
    for a in range(len(centers)):
        own = p * (labels == a)
        if own.sum() > 0.0:
            u = X - own @ X / own.sum()
            found[a] = (own[:, None] * u).T @ u / own.sum()
    return found


def same_cells(subject, X, w, centers):
    nearest = subject.load(X, w).nearest(centers)
    expected = cells_by_hand(X, w, centers)
    scale = max(np.abs(expected).max(), 1e-300)
    found = nearest.covariances()
    within(found, expected, 1e-11 * scale)
    assert (found == np.swapaxes(found, 1, 2)).all()
    traces = np.trace(expected, axis1=1, axis2=2) / X.shape[1]
    within(nearest.variances(), traces, 1e-11 * scale)
    return nearest


@pytest.mark.parametrize(("n", "d"), [(1, 3), (30, 1), (300, 3), (900, 20), (4500, 2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_spreads_of_cells(subject, n, d, weighted):
    X, Q, _ = cloud(n, d)
    w = cloud_with_gaps(n, d)[2] if weighted else None
    same_cells(subject, X, w, Q)


def test_cells_of_few_points(subject):
    """None, one, two, collinear ones, duplicates, and points that weigh nothing."""
    line = np.array([[0.0, 10.0], [1.0, 12.0], [2.0, 14.0]])
    X = np.concatenate(
        [
            [[0.0, 0.0]],
            [[20.0, 0.0], [21.0, 1.0]],
            line,
            [[30.1, 30.7]] * 4,
            [[-20.0, 5.0], [-21.0, 6.0]],
        ]
    )
    w = np.ones(len(X))
    w[-2:] = 0.0
    centers = np.array(
        [[0.5, 0.0], [20.0, 0.0], [1.0, 12.5], [30.0, 30.0], [-20.0, 5.0], [1e3, 1e3]]
    )
    nearest = same_cells(subject, X, w, centers)
    covariances = nearest.covariances()
    for a in (0, 3, 4, 5):
        np.testing.assert_allclose(covariances[a], 0.0, atol=1e-28)
        assert nearest.variances()[a] <= 1e-28
    np.testing.assert_allclose(covariances[1], np.full((2, 2), 0.25), rtol=1e-13)
    np.testing.assert_allclose(covariances[2] * 1.5, [[1.0, 2.0], [2.0, 4.0]], rtol=1e-13)


def test_spreads_follow_centres_that_are_added(subject):
    X, Q, w = cloud(300, 3)
    nearest = subject.load(X, w).nearest(Q[:3])
    nearest.covariances()
    nearest.add(Q[3:])
    expected = cells_by_hand(X, w, Q)
    np.testing.assert_allclose(nearest.covariances(), expected, atol=1e-12)
    np.testing.assert_allclose(
        nearest.variances(), np.trace(expected, axis1=1, axis2=2) / 3, atol=1e-12
    )


def test_spreads_far_from_the_origin(subject):
    X, Q, w = cloud(300, 3)
    X, Q = np.round(X * 2**20) / 2**20, np.round(Q * 2**20) / 2**20
    near, far = (
        subject.load(X + shift, w).nearest(Q + shift).covariances() for shift in (0.0, 2.0**20)
    )
    rounded = 1e-9 if subject.reductions else 1e-12  # means of parts are rounded where they lie
    np.testing.assert_allclose(far, near, rtol=0, atol=rounded)


@pytest.mark.parametrize("weighted", [False, True])
def test_atoms_of_cells_have_the_mean_and_covariance_of_the_sample(subject, weighted):
    X, Q, w = cloud(500, 3)
    loaded = subject.load(X, w if weighted else None)
    nearest = loaded.nearest(Q)
    p = w / w.sum() if weighted else np.full(len(X), 1 / len(X))
    mean = p @ X
    total = (p[:, None] * (X - mean)).T @ (X - mean)
    masses, means = nearest.masses(), nearest.means()
    between = (masses[:, None] * (means - mean)).T @ (means - mean)
    inner = np.einsum("a,ast->st", masses, nearest.covariances())
    np.testing.assert_allclose(masses @ means, mean, atol=1e-13)
    np.testing.assert_allclose(inner + between, total, atol=1e-12)
    np.testing.assert_allclose(
        3.0 * masses @ nearest.variances() + np.trace(between), np.trace(total), rtol=1e-12
    )
