"""The sparse kernel mean as a value: evaluate, compare, truncate, refit, merge, weigh, scale."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import kernelmean as km
from kernelmean import _checks
from kernelmean.engines.arrays import mapped
from kernelmean.kernels import Kernel
from tests import brute
from tests.strategies import weighted_clouds

# The paper's selection throughout; the choice that is the default has tests of its own.
sparse_kernel_mean = functools.partial(km.sparse_kernel_mean, selection="kcenter")

KERNELS = [km.Gaussian(0.7), km.Laplacian(0.8), km.Student(2.5, 0.6), km.Cauchy(0.5)]
PROFILES = [
    brute.gaussian(0.7),
    brute.laplacian(0.8),
    brute.student(2.5, 0.6),
    brute.student(1.5, 0.5),
]  # d = 2
PAIRS = list(zip(KERNELS, PROFILES, strict=True))
NAMES = ["gaussian", "laplacian", "student", "cauchy"]
SPACES = ["rkhs", "l2"]


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(200, 2))


@pytest.fixture(scope="module")
def queries():
    return np.random.default_rng(1).normal(size=(17, 2)) * 1.5


def assert_same_mean(a, b, rtol=1e-9, skip=()):
    """Every field of two means, numbers to ``rtol``."""
    for entry in dataclasses.fields(a):
        if entry.name in skip:
            continue
        left, right = getattr(a, entry.name), getattr(b, entry.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * 1e-3, err_msg=entry.name)
        elif isinstance(left, float) and isinstance(right, float):
            np.testing.assert_allclose(left, right, rtol=rtol, err_msg=entry.name)
        elif isinstance(left, Kernel):
            np.testing.assert_allclose(
                left.profile([0.1, 2.0], 2),
                right.profile([0.1, 2.0], 2),
                rtol=rtol,
                err_msg="kernel",
            )
        else:
            assert left == right, entry.name


# Evaluation


@pytest.mark.parametrize(("kernel", "profile"), PAIRS, ids=NAMES)
@pytest.mark.parametrize("space", SPACES)
def test_a_mean_evaluates_to_the_weighted_sum_of_its_kernels(
    cloud, queries, kernel, profile, space
):
    mean = sparse_kernel_mean(cloud, kernel=kernel, k=15, space=space, random_state=0)
    constant = 1.0 if space == "rkhs" else np.exp(kernel.log_density_constant(2))
    expected = constant * brute.gram(profile, queries, mean.centers) @ mean.weights
    np.testing.assert_allclose(mean(queries), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("kernel", "profile"), PAIRS, ids=NAMES)
def test_weights_are_the_optimum_for_the_kernel(cloud, kernel, profile):
    mean = sparse_kernel_mean(cloud, kernel=kernel, k=12, random_state=0)
    K = brute.gram(profile, mean.centers, mean.centers)
    kappa = brute.gram(profile, mean.centers, cloud) @ brute.uniform(cloud)
    np.testing.assert_allclose(mean.kappa, kappa, rtol=1e-12)
    np.testing.assert_allclose(mean.weights, brute.direct_solve(K, kappa), rtol=1e-7)
    assert mean.indicator[-1] == pytest.approx(-kappa @ brute.direct_solve(K, kappa), rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
@pytest.mark.parametrize("space", SPACES)
def test_log_is_the_logarithm_and_survives_the_far_tail(cloud, queries, kernel, space):
    mean = sparse_kernel_mean(
        cloud, kernel=kernel, k=15, space=space, constraint="simplex", random_state=0
    )
    np.testing.assert_allclose(mean.log(queries), np.log(mean(queries)), rtol=1e-10, atol=1e-11)
    far = np.array([[1e4, -1e4]])
    log_terms = np.log(mean.weights[mean.weights > 0])
    r2 = brute.squared_distances(far, mean.centers[mean.weights > 0])[0]
    logs = {"gaussian": -r2 / (2 * 0.49), "laplacian": -np.sqrt(r2) / 0.8}
    logs |= {"student": -2.5 * np.log1p(r2 / 0.6), "cauchy": -1.5 * np.log1p(r2 / 0.5)}
    constant = 0.0 if space == "rkhs" else kernel.log_density_constant(2)
    assert mean.log(far)[0] == pytest.approx(
        logsumexp(log_terms + logs[kernel.name]) + constant, rel=1e-10
    )


def test_log_of_signed_weights_is_refused(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=1.5, k=30, random_state=0)
    assert (mean.weights < 0).any()
    with pytest.raises(ValueError, match="simplex"):
        mean.log(cloud)


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
@pytest.mark.parametrize("scale", [None, "std", "cov"])
@pytest.mark.parametrize("space", SPACES)
def test_the_gradient_agrees_with_central_differences(cloud, queries, kernel, scale, space):
    if kernel.name != "gaussian" and scale == "std":
        scale = np.array([[1.5, 0.4], [0.0, 0.8]])
    mean = sparse_kernel_mean(cloud, kernel=kernel, k=12, scale=scale, space=space, random_state=0)
    h = 1e-5
    steps = h * np.eye(2)
    differences = np.stack(
        [(mean(queries + e) - mean(queries - e)) / (2 * h) for e in steps], axis=1
    )
    # Truncation h²·f‴/6 ≈ 1e-9 and rounding eps/h ≈ 1e-11, relative to values of order one.
    np.testing.assert_allclose(
        mean.gradient(queries), differences, atol=1e-7 * np.abs(mean.gradient(queries)).max()
    )


def test_at_its_own_centre_a_kernel_has_no_gradient():
    """φ is even; for the kinked Laplacian the direction is undefined and taken as zero."""
    for kernel in KERNELS:
        mean = sparse_kernel_mean([[1.0, -2.0]], kernel=kernel, k=1)
        np.testing.assert_array_equal(mean.gradient([[1.0, -2.0]]), [[0.0, 0.0]])


def test_a_far_outlier_among_the_centres_does_not_spoil_the_gradient():
    """Differences c − q are small where the kernel is large; they must not go by way of a far
    origin.
    """
    X = np.concatenate([np.random.default_rng(2).normal(size=(50, 2)), [[1e8, 1e8]]])
    mean = sparse_kernel_mean(X, bandwidth=1.0, k=20, selection="kcenter", random_state=0)
    q = np.array([[0.3, -0.2]])
    near = brute.squared_distances(q, mean.centers)[0]
    expected = (mean.weights * np.exp(-near / 2)) @ (mean.centers - q)
    np.testing.assert_allclose(mean.gradient(q)[0], expected, rtol=1e-10)


def test_a_density_integrates_to_the_sum_of_its_weights(cloud):
    """On a grid that holds all the mass; the rectangle rule is exact to rounding for Gaussians this
    wide.
    """
    axis = np.arange(-9, 9, 0.1)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for scale in (None, "std", "cov", [[2.0, 0.3], [0.1, 0.7]]):
        mean = sparse_kernel_mean(
            cloud, bandwidth=0.5, k=20, space="l2", scale=scale, random_state=0
        )
        assert mean(grid).sum() * 0.01 == pytest.approx(mean.weights.sum(), rel=1e-9)


# Inner products and distances


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
@pytest.mark.parametrize("space", SPACES)
def test_inner_product_and_distance_are_their_double_sums(cloud, kernel, space):
    a = sparse_kernel_mean(cloud[:100], kernel=kernel, k=10, space=space, random_state=0)
    b = sparse_kernel_mean(cloud[100:] + 0.3, kernel=kernel, k=14, space=space, random_state=1)

    def inner(p, q):
        return (
            p.weights
            @ kernel.inner(brute.squared_distances(p.centers, q.centers), 2, space)
            @ q.weights
        )

    assert a.inner(b) == pytest.approx(inner(a, b), rel=1e-11)
    assert a.inner(b) == pytest.approx(b.inner(a), rel=1e-12)
    expected = np.sqrt(inner(a, a) + inner(b, b) - 2 * inner(a, b))
    assert a.distance(b) == pytest.approx(expected, rel=1e-9)
    assert a.distance(b) == pytest.approx(b.distance(a), rel=1e-12)


def test_l2_distance_is_that_of_the_functions(cloud):
    """∫(z − z′)² by the rectangle rule on a grid, different bandwidths included: σ² = σ₁² + σ₂²."""
    axis = np.arange(-9, 9, 0.1)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    a = sparse_kernel_mean(cloud[:100], bandwidth=0.5, k=10, space="l2", random_state=0)
    for bandwidth in (0.5, 0.8):
        b = sparse_kernel_mean(cloud[100:], bandwidth=bandwidth, k=10, space="l2", random_state=0)
        assert a.distance(b) == pytest.approx(
            np.sqrt(((a(grid) - b(grid)) ** 2).sum() * 0.01), rel=1e-8
        )
        assert a.inner(b) == pytest.approx((a(grid) * b(grid)).sum() * 0.01, rel=1e-9)


def test_a_mean_is_at_distance_zero_from_itself_and_its_copy(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.7, k=30, random_state=0)
    again = sparse_kernel_mean(cloud, bandwidth=0.7, k=30, random_state=0)
    assert mean.distance(mean) < 1e-15
    assert mean.distance(again) < 1e-15


def test_in_the_rkhs_the_norm_of_the_optimum_is_its_product_with_kappa(cloud):
    """‖z‖² = αᵀκ for the unconstrained optimum (THEORY §9.3), up to λ‖α‖²."""
    mean = sparse_kernel_mean(cloud, bandwidth=0.7, k=30, random_state=0)
    assert mean.inner(mean) == pytest.approx(mean.weights @ mean.kappa, rel=1e-11)
    assert mean.inner(mean) == pytest.approx(-mean.indicator[-1], rel=1e-11)


def test_the_distance_matrix_holds_all_pairs(cloud):
    means = [
        sparse_kernel_mean(part, bandwidth=0.7, k=10, random_state=0) for part in np.split(cloud, 4)
    ]
    D = km.distance_matrix(means)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0)
    for a in range(4):
        for b in range(a):
            assert D[a, b] == pytest.approx(means[a].distance(means[b]), rel=1e-7)


def test_distances_work_where_squared_norms_do_not_fit_a_float():
    """d = 784, σ = 0.05 in L2: ‖z‖² ≈ e^1350 overflows, ‖z‖ ≈ e^675 does not."""
    rng = np.random.default_rng(3)
    A, B = rng.uniform(size=(20, 784)), rng.uniform(size=(20, 784))
    a, b = (
        sparse_kernel_mean(part, bandwidth=0.05, k=5, space="l2", random_state=0) for part in (A, B)
    )
    assert a.kernel.log_peak(784, "l2") > 1000
    # Points in 784 dimensions are 11 apart: no two kernels overlap, so norms are those of the
    # weights alone.
    unit = np.exp(0.5 * a.kernel.log_peak(784, "l2"))
    expected = unit * np.sqrt(a.weights @ a.weights + b.weights @ b.weights)
    assert a.distance(b) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(km.distance_matrix([a, b])[0, 1], expected, rtol=1e-10)
    assert a.bound == pytest.approx(unit * 15 / 20, rel=1e-10)
    wider = sparse_kernel_mean(B, bandwidth=0.0500001, k=5, space="l2", random_state=0)
    assert a.distance(wider) == pytest.approx(expected, rel=2e-3)


# High dimension


def test_784_dimensions_live_in_the_log_domain():
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(60, 784))
    for sigma in (0.1, 1.0, 30.0):
        mean = sparse_kernel_mean(
            X, bandwidth=sigma, k=12, space="l2", constraint="simplex", random_state=0
        )
        terms = -brute.squared_distances(X, mean.centers) / (2 * sigma**2)
        log_constant = -784 * (np.log(sigma) + 0.5 * np.log(2 * np.pi))
        with np.errstate(divide="ignore"):
            expected = logsumexp(terms, b=mean.weights, axis=1) + log_constant
        np.testing.assert_allclose(mean.log(X), expected, rtol=1e-11)
        found = mean.certificate(X, method="exact")
        assert 0 < found.relative_error <= 2 + 1e-12  # 2 for centres that no point is near


def test_values_that_fit_a_float_are_right_though_their_constant_does_not():
    """d = 784, σ = 0.1: log c = 1085, and r² chosen so that log z is about 0 or 500."""
    x = np.zeros((1, 784))
    mean = sparse_kernel_mean(x, bandwidth=0.1, space="l2", k=1)
    log_constant = mean.kernel.log_density_constant(784)
    assert log_constant > 709.8
    for wanted in (500.0, 0.0, -300.0):
        q = np.full((1, 784), np.sqrt((log_constant - wanted) * 2 * 0.01 / 784))
        assert mean.log(q)[0] == pytest.approx(wanted, abs=1e-8)
        assert mean(q)[0] == pytest.approx(np.exp(mean.log(q)[0]), rel=1e-8)


# Truncate

NEED_DATA = {"nearest_bound", "estimated_error"}


@pytest.mark.parametrize("constraint", [None, "simplex", "simplex-projection", "sum-to-one"])
@pytest.mark.parametrize("space", SPACES)
def test_truncating_equals_a_fresh_fit_on_the_prefix(cloud, constraint, space):
    options = {"bandwidth": 0.6, "space": space, "constraint": constraint, "random_state": 3}
    mean = sparse_kernel_mean(cloud, k=30, **options)
    for m in (1, 2, 13, 29):
        fresh = sparse_kernel_mean(cloud, k=m, **options)
        short = mean.truncate(m)
        assert_same_mean(short, fresh, rtol=1e-8, skip=NEED_DATA)
        if constraint is None:
            assert short.bound == pytest.approx(fresh.bound, rel=1e-10)
        else:
            assert short.bound is None


def test_truncating_a_scaled_and_weighted_mean_equals_a_fresh_fit(cloud):
    w = np.random.default_rng(5).integers(0, 4, size=len(cloud))
    options = {"bandwidth": 0.6, "scale": "cov", "sample_weight": w, "random_state": 3}
    mean = sparse_kernel_mean(cloud, k=25, **options)
    fresh = sparse_kernel_mean(cloud, k=9, **options)
    assert_same_mean(mean.truncate(9), fresh, rtol=1e-8, skip=NEED_DATA)
    assert mean.truncate(9).bound == pytest.approx(fresh.bound, rel=1e-10)


@pytest.mark.parametrize("selection", ["random", "kmeans++"])
def test_truncating_other_selections_keeps_the_optimum_and_claims_no_stale_bound(cloud, selection):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, selection=selection, random_state=0)
    short = mean.truncate(7)
    fresh = sparse_kernel_mean(cloud, bandwidth=0.6, k=7, selection=mean.indices[:7])
    np.testing.assert_allclose(short.weights, fresh.weights, rtol=1e-9)
    error = short.certificate(cloud, method="exact").error
    assert short.bound is None or short.bound >= error


def test_truncating_to_all_centres_changes_nothing(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, random_state=0)
    assert_same_mean(mean.truncate(20), mean)


def test_truncating_twice_is_truncating_once(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=30, random_state=0)
    assert_same_mean(mean.truncate(20).truncate(8), mean.truncate(8), rtol=1e-8)


@pytest.mark.parametrize(
    ("m", "kind"), [(0, ValueError), (-1, ValueError), (31, ValueError), (2.0, TypeError)]
)
def test_truncating_to_an_impossible_size_is_refused(cloud, m, kind):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=30, random_state=0)
    with pytest.raises(kind, match="m must"):
        mean.truncate(m)


# Refit


@pytest.mark.parametrize("constraint", [None, "simplex", "simplex-projection", "sum-to-one"])
def test_a_new_constraint_needs_no_data(cloud, constraint):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, random_state=0)
    direct = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, constraint=constraint, random_state=0)
    changed = mean.refit(constraint=constraint)
    np.testing.assert_allclose(changed.weights, direct.weights, rtol=1e-8, atol=1e-12)
    assert changed.constraint == constraint
    back = changed.refit(constraint=None)
    np.testing.assert_allclose(back.weights, mean.weights, rtol=1e-9)
    assert back.bound == pytest.approx(mean.bound, rel=1e-10)


def test_a_new_bandwidth_reuses_the_centres(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, random_state=0)
    direct = sparse_kernel_mean(cloud, bandwidth=0.3, k=20, random_state=0)
    assert_same_mean(mean.refit(cloud, bandwidth=0.3), direct, skip={"selection", "stop_reason"})
    by_rule = mean.refit(cloud, bandwidth="median")
    assert by_rule.kernel == km.Gaussian(km.bandwidth.median(cloud))


def test_a_new_kernel_reuses_the_centres(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=20, random_state=0)
    direct = sparse_kernel_mean(cloud, kernel=km.Laplacian(0.9), k=20, random_state=0)
    changed = mean.refit(cloud, kernel=km.Laplacian(0.9))
    np.testing.assert_allclose(changed.weights, direct.weights, rtol=1e-9)
    assert changed.bound == pytest.approx(direct.bound, rel=1e-10)
    assert changed.tighter_bound == pytest.approx(direct.tighter_bound, rel=1e-10)
    named = mean.refit(cloud, kernel="laplacian", bandwidth=0.9)
    np.testing.assert_allclose(named.weights, direct.weights, rtol=1e-9)


def test_a_new_kernel_without_data_is_refused(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=5, random_state=0)
    for change in ({"bandwidth": 0.3}, {"kernel": km.Gaussian(1.0)}):
        with pytest.raises(ValueError, match="give the data"):
            mean.refit(**change)


def test_refitting_a_scaled_mean_to_the_same_data_changes_nothing(cloud):
    w = np.random.default_rng(6).integers(0, 3, size=len(cloud))
    mean = sparse_kernel_mean(
        cloud, bandwidth=0.6, k=20, scale="cov", sample_weight=w, random_state=0
    )
    assert_same_mean(mean.refit(cloud, sample_weight=w), mean, rtol=1e-8)


# Merge


def target_error(merged, means):
    """‖merged − Σ(n_l/N) z_l‖ by its double sum."""
    total = sum(mean.n_points for mean in means)
    points = np.concatenate([mean.centers for mean in means])
    weights = np.concatenate([mean.weights * mean.n_points / total for mean in means])
    return np.sqrt(
        max(
            brute.error_squared(
                brute.gaussian(1.0), points, weights, merged.centers, merged.weights
            ),
            0.0,
        )
    )


@pytest.fixture(scope="module")
def parts(cloud):
    return [
        sparse_kernel_mean(part, bandwidth=1.0, k=k, random_state=0)
        for part, k in ((cloud[:60], 12), (cloud[60:] + 0.2, 18))
    ]


def test_merging_with_all_centres_is_exact(parts):
    merged = km.merge(parts, k=30)
    assert merged.n_points == 200
    assert merged.k == 30
    assert merged.selection == "merged"
    assert merged.indices is None
    assert (
        np.concatenate([mean.weights for mean in parts]) < 0
    ).any()  # signed weights stay signed
    # The jitter λ = 4k·eps costs at most √λ·‖α‖.
    assert target_error(merged, parts) < 2 * np.sqrt(merged.jitter) * np.linalg.norm(merged.weights)


def test_merging_more_centres_than_exist_is_exact_too(parts):
    merged = km.merge(parts, k=10**9)
    assert merged.k == 30
    assert target_error(merged, parts) < 1e-6


def test_merging_re_sparsified_is_the_optimum_on_its_centres(parts, cloud):
    merged = km.merge(parts, k=10)
    g = brute.gaussian(1.0)
    points = np.concatenate([mean.centers for mean in parts])
    weights = np.concatenate([mean.weights * mean.n_points / 200 for mean in parts])
    kappa = brute.gram(g, merged.centers, points) @ weights
    np.testing.assert_allclose(merged.kappa, kappa, rtol=1e-10)
    np.testing.assert_allclose(
        merged.weights,
        brute.direct_solve(brute.gram(g, merged.centers, merged.centers), kappa),
        rtol=1e-7,
    )
    # By the triangle inequality the merged mean is near the mean of the union.
    union = np.concatenate([cloud[:60], cloud[60:] + 0.2])
    own = sum(
        mean.certificate(X, method="exact").error * len(X) / 200
        for mean, X in zip(parts, (union[:60], union[60:]), strict=True)
    )
    assert (
        merged.certificate(union, method="exact").error <= own + target_error(merged, parts) + 1e-9
    )


def test_merging_more_finely_never_hurts(parts):
    errors = [target_error(km.merge(parts, k=k), parts) for k in (3, 8, 15, 25, 30)]
    assert (np.diff(errors) <= 1e-9).all()


def test_merging_one_mean_gives_it_back(parts):
    assert km.merge(parts[:1], k=12).distance(parts[0]) < 1e-7


def test_merging_means_with_centres_in_common_counts_them_once(cloud):
    a = sparse_kernel_mean(cloud, bandwidth=0.6, k=10, random_state=0)
    merged = km.merge([a, a, a])
    assert merged.k == 10
    assert merged.n_points == 600
    assert merged.distance(a) < 1e-7


def test_merging_on_the_simplex(parts):
    merged = km.merge(parts, k=20, constraint="simplex")
    assert (merged.weights >= 0).all()
    assert merged.weights.sum() == pytest.approx(1.0, rel=1e-12)


def test_merging_different_kernels_is_refused(cloud, parts):
    other = sparse_kernel_mean(cloud, bandwidth=0.7, k=5, random_state=0)
    with pytest.raises(ValueError, match="kernel"):
        km.merge([parts[0], other])
    with pytest.raises(ValueError, match="at least one"):
        km.merge([])


# A frozen value


def test_a_mean_cannot_be_changed(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=5, scale="std", random_state=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mean.weights = np.ones(5)
    for name in (
        "centers",
        "weights",
        "indices",
        "radii",
        "kappa",
        "indicator",
        "scale",
        "center_mass",
    ):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mean, name)[0] = 1


def test_a_mean_keeps_nothing_of_the_callers_arrays():
    X = np.random.default_rng(7).normal(size=(20, 2))
    A = np.array([[2.0, 0.0], [0.0, 1.0]])
    mean = sparse_kernel_mean(X, bandwidth=0.6, k=20, scale=A, random_state=0)
    before = mean([[0.1, 0.2]])
    X[:] = 99.0
    A[:] = 99.0
    np.testing.assert_array_equal(mean([[0.1, 0.2]]), before)
    assert mean.centers.max() < 99


def test_copies_and_pickles_of_a_mean_are_equal_to_it(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.6, k=5, random_state=0)
    mean(cloud)  # so that whatever is cached is there
    for twin in (copy.copy(mean), copy.deepcopy(mean), pickle.loads(pickle.dumps(mean))):
        assert_same_mean(twin, mean, rtol=0)
        np.testing.assert_array_equal(twin(cloud), mean(cloud))


def test_the_text_of_a_mean_says_what_it_is(cloud):
    text = repr(sparse_kernel_mean(cloud, bandwidth=0.6, k=5, random_state=0))
    for word in ("5 centres", "200 points", "Gaussian", "rkhs", "kcenter", "fixed"):
        assert word in text


# Weights


def certificates_of(mean, X, w):
    return [
        mean.certificate(X, sample_weight=w, method=method, size=40, random_state=5)
        for method in ("exact", "rows", "spectral")
    ]


def assert_weights_are_repetitions(X, w, **options):
    copies = brute.repeated(X, w)
    weighted = sparse_kernel_mean(X, sample_weight=w, **options)
    repeated = sparse_kernel_mean(copies, **options)
    # The relative tolerance is eps times the condition of these well-spread centres, and more than
    # enough.
    assert_same_mean(weighted, repeated, rtol=1e-7, skip={"indices", "jitter"})
    if weighted.indices is not None:
        np.testing.assert_array_equal(
            weighted.indices, np.repeat(np.arange(len(X)), w)[repeated.indices]
        )
    for promise in ("bound", "tighter_bound"):
        a, b = getattr(weighted, promise), getattr(repeated, promise)
        assert (a is None) == (b is None)
        assert a is None or a == pytest.approx(b, rel=1e-9, abs=1e-12)
    for a, b in zip(
        certificates_of(weighted, X, w), certificates_of(repeated, copies, None), strict=True
    ):
        assert a.error**2 == pytest.approx(b.error**2, rel=1e-6, abs=1e-13)
        assert a.standard_error * a.error == pytest.approx(
            b.standard_error * b.error, rel=1e-6, abs=1e-13
        )
        assert (a.method, a.below_floor) == (b.method, b.below_floor)


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(8)
    return rng.normal(size=(60, 2)), rng.integers(0, 5, size=60)


@pytest.mark.parametrize("selection", ["kcenter", "random", "kmeans++", "kmeans"])
@pytest.mark.parametrize("bandwidth", ["scott", "silverman", "iqr", "median", 0.5])
def test_integer_weights_equal_repeated_rows_for_every_selection_and_rule(
    weighted, selection, bandwidth
):
    assert_weights_are_repetitions(
        *weighted, selection=selection, bandwidth=bandwidth, k=12, random_state=4
    )


@pytest.mark.parametrize("scale", ["std", "cov", [[1.0, 0.5], [0.0, 2.0]]])
@pytest.mark.parametrize("space", SPACES)
def test_integer_weights_equal_repeated_rows_under_every_scale(weighted, scale, space):
    assert_weights_are_repetitions(*weighted, scale=scale, space=space, k=12, random_state=4)


@pytest.mark.parametrize("constraint", ["simplex", "simplex-projection", "sum-to-one"])
def test_integer_weights_equal_repeated_rows_under_every_constraint(weighted, constraint):
    assert_weights_are_repetitions(
        *weighted, constraint=constraint, bandwidth=0.4, k=12, random_state=4
    )


@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_integer_weights_equal_repeated_rows_in_the_automatic_size(weighted, patience):
    assert_weights_are_repetitions(
        *weighted, bandwidth=0.8, tol=1e-4, patience=patience, random_state=4
    )
    assert_weights_are_repetitions(*weighted, bandwidth=0.3, tol=0.0, random_state=4)  # k_max by Σw


@given(weighted_clouds(15), st.integers(1, 4), st.integers(0, 20))
def test_integer_weights_equal_repeated_rows_on_any_cloud(cloud, k, seed):
    X, w = cloud
    weighted = sparse_kernel_mean(X, bandwidth=0.5, k=k, sample_weight=w, random_state=seed)
    repeated = sparse_kernel_mean(brute.repeated(X, w), bandwidth=0.5, k=k, random_state=seed)
    assert_same_mean(weighted, repeated, rtol=1e-7, skip={"indices"})


@pytest.mark.parametrize("selection", ["kcenter", "random", "kmeans++", "kmeans"])
@pytest.mark.parametrize("kind", ["integer", "fractional"])
def test_rows_of_weight_zero_are_absent(weighted, selection, kind):
    X, w = weighted
    w = w if kind == "integer" else w * 0.37
    kept = w > 0
    options = {
        "bandwidth": "scott",
        "scale": "std",
        "selection": selection,
        "k": 12,
        "random_state": 4,
    }
    with_zeros = sparse_kernel_mean(np.where(kept[:, None], X, 1e6), sample_weight=w, **options)
    without = sparse_kernel_mean(X[kept], sample_weight=w[kept], **options)
    assert_same_mean(with_zeros, without, rtol=1e-9, skip={"indices"})
    if without.indices is not None:
        np.testing.assert_array_equal(with_zeros.indices, np.flatnonzero(kept)[without.indices])


def test_equal_weights_are_no_weights(weighted):
    X = weighted[0]
    plain = sparse_kernel_mean(X, k=12, random_state=4)
    for w in (np.ones(60), np.full(60, 0.25), np.ones(60, dtype=int), np.ones(60, dtype=bool)):
        assert_same_mean(
            sparse_kernel_mean(X, sample_weight=w, k=12, random_state=4), plain, rtol=1e-7
        )


def test_fractional_weights_weigh(weighted):
    X = weighted[0]
    w = np.random.default_rng(9).uniform(size=60)
    mean = sparse_kernel_mean(X, bandwidth=0.5, k=12, sample_weight=w, random_state=4)
    kappa = brute.gram(brute.gaussian(0.5), mean.centers, X) @ brute.normalised(w)
    np.testing.assert_allclose(mean.kappa, kappa, rtol=1e-12)
    assert mean.n_points == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-12)


def test_large_counts_cost_no_accuracy():
    """A histogram of 1e12 points on 50 cells is still a problem of 50 points: the jitter follows
    the centres, not n.
    """
    X = np.random.default_rng(10).normal(size=(50, 2))
    one = sparse_kernel_mean(X, bandwidth=1.0, tol=0.0, random_state=4, k_max=50)
    many = sparse_kernel_mean(
        X, bandwidth=1.0, tol=0.0, random_state=4, sample_weight=np.full(50, 2 * 10**10)
    )
    assert many.n_points == 1e12
    assert many.jitter <= 10 * one.jitter
    assert many.certificate(X).error <= 2 * one.certificate(X).error + 1e-7


# Scale


@pytest.mark.parametrize("scale", ["std", "cov", "matrix"])
@pytest.mark.parametrize("space", SPACES)
def test_a_scale_is_a_map_of_the_data_with_its_jacobian(scale, space):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(150, 2)) @ np.array([[30.0, 5.0], [0.0, 0.02]]) + [1e3, -5]
    matrices = {
        "std": np.diag(1 / X.std(axis=0, ddof=1)),
        "cov": np.linalg.inv(np.linalg.cholesky(np.cov(X.T))),
        "matrix": np.array([[0.03, 1.0], [0.1, 40.0]]),
    }
    A = matrices[scale]
    mean = sparse_kernel_mean(
        X, scale=A if scale == "matrix" else scale, bandwidth=0.5, space=space, k=20, random_state=0
    )
    mapped = sparse_kernel_mean((X - X[0]) @ A.T, bandwidth=0.5, space=space, k=20, random_state=0)
    np.testing.assert_array_equal(mean.indices, mapped.indices)
    np.testing.assert_array_equal(mean.centers, X[mean.indices])
    np.testing.assert_allclose(mean.scale.T @ mean.scale, A.T @ A, rtol=1e-9)
    np.testing.assert_allclose(mean.weights, mapped.weights, rtol=1e-6)
    jacobian = abs(np.linalg.det(A)) if space == "l2" else 1.0
    np.testing.assert_allclose(mean(X[:9]), jacobian * mapped((X[:9] - X[0]) @ A.T), rtol=1e-8)
    assert mean.cover == pytest.approx(mapped.cover, rel=1e-9)
    # ∫z² carries one Jacobian, its root half of one.
    assert mean.bound == pytest.approx(mapped.bound * np.sqrt(jacobian), rel=1e-8)
    exact, expected = (
        mean.certificate(X, method="exact"),
        mapped.certificate((X - X[0]) @ A.T, method="exact"),
    )
    assert exact.error == pytest.approx(expected.error * np.sqrt(jacobian), rel=1e-6)
    assert mean.inner(mean) == pytest.approx(mapped.inner(mapped) * jacobian, rel=1e-8)
    simplex, mapped_simplex = mean.refit(constraint="simplex"), mapped.refit(constraint="simplex")
    np.testing.assert_allclose(
        simplex.log(X[:9]), mapped_simplex.log((X[:9] - X[0]) @ A.T) + np.log(jacobian), atol=1e-8
    )


def test_whitened_data_have_unit_covariance_and_standardised_ones_unit_variance():
    X = np.random.default_rng(12).normal(size=(100, 3)) @ np.random.default_rng(13).normal(
        size=(3, 3)
    )
    whitened = X @ sparse_kernel_mean(X, scale="cov", k=3, random_state=0).scale.T
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(3), atol=1e-10)
    standardised = X @ sparse_kernel_mean(X, scale="std", k=3, random_state=0).scale.T
    np.testing.assert_allclose(standardised.std(axis=0, ddof=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("factor", "shift"), [(1.0, 0.0), (0.3, 0.0), (0.3, 300.0), (1.0, 2.0**20)]
)
def test_three_points_in_three_columns_have_no_covariance_to_whiten_by(factor, shift):
    """The first two columns nearly agree: a small pivot, by which rounding in the last one is
    divided.
    """
    corners = np.array([[-1130, 955, -4800], [-3093, 4464, -768], [3944, -7336, 2268]]) / 4096
    with pytest.raises(ValueError, match="regular covariance"):
        sparse_kernel_mean(factor * corners[[0, 1, 0, 0, 1, 2]] + shift, scale="cov", bandwidth=0.5)


def test_kmeans_centroids_of_scaled_data_are_given_in_the_datas_own_units():
    X = np.random.default_rng(14).normal(size=(100, 2)) * [1.0, 1e3] + [0, 1e5]
    mean = sparse_kernel_mean(
        X, scale="std", selection="kmeans", bandwidth=0.5, k=4, random_state=0
    )
    labels = brute.squared_distances(X @ mean.scale.T, mean.centers @ mean.scale.T).argmin(axis=1)
    assert len(np.unique(labels)) == 4
    assert (np.abs(mean.centers - X.mean(axis=0)) < 4 * X.std(axis=0)).all()


# A kernel of one's own


def matern(s: float) -> float:
    """exp(−√s)(1 + √s): Matérn 3/2 at unit scale."""
    return float((1 + s**0.5) * np.exp(-(s**0.5)))


def test_a_users_own_radial_kernel_works_and_says_what_it_lacks(cloud, queries):
    kernel = km.Radial(matern, 0.8)
    mean = sparse_kernel_mean(cloud, kernel=kernel, k=15, random_state=0, engine="naive")

    def g(r2):
        t = np.sqrt(r2) / 0.8
        return (1 + t) * np.exp(-t)

    np.testing.assert_allclose(
        mean(queries), brute.gram(g, queries, mean.centers) @ mean.weights, rtol=1e-11
    )
    truth = np.sqrt(brute.error_squared(g, cloud, brute.uniform(cloud), mean.centers, mean.weights))
    assert mean.certificate(cloud, method="exact").error == pytest.approx(truth, rel=1e-8)
    with pytest.raises(ValueError, match="L2"):
        sparse_kernel_mean(cloud, kernel=kernel, space="l2", k=5, engine="naive")
    with pytest.raises(ValueError, match="gradient"):
        mean.gradient(queries)
    with pytest.raises(ValueError, match="spectral"):
        mean.certificate(cloud, method="spectral")


def test_verbose_shows_progress_on_stderr_only(cloud, capsys):
    sparse_kernel_mean(cloud, bandwidth=0.6, k=5, random_state=0, verbose=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("scale", [None, "std"])
def test_the_full_mean_is_the_plain_sum_over_all_points(space, scale):
    rng = np.random.default_rng(5)
    X, Q, w = (
        rng.normal(size=(60, 2)) * [1.0, 3.0],
        rng.normal(size=(7, 2)),
        rng.integers(0, 3, 60).astype(float),
    )
    full = km.kernel_mean(X, bandwidth=0.7, scale=scale, space=space, sample_weight=w)
    sd = np.std(np.repeat(X, w.astype(int), axis=0), axis=0, ddof=1) if scale else np.ones(2)
    r2 = (((Q[:, None] - X[None]) / sd) ** 2).sum(axis=2)
    density = 1.0 / (2 * np.pi * 0.7**2 * sd.prod()) if space == "l2" else 1.0
    expected = density * np.exp(-r2 / (2 * 0.7**2)) @ (w / w.sum())
    np.testing.assert_allclose(full(Q), expected, rtol=1e-12)
    np.testing.assert_allclose(full.log(Q), np.log(expected), rtol=0, atol=1e-12)
    assert full.n_points == w.sum()
    assert full.k == np.count_nonzero(w)


def test_a_sparse_mean_and_a_full_one_can_be_compared():
    X = np.random.default_rng(6).normal(size=(300, 2))
    full = km.kernel_mean(X, bandwidth=0.5)
    sparse = km.sparse_kernel_mean(X, bandwidth=0.5, k=40, random_state=0)
    certified = sparse.certificate(X, method="exact").error
    assert sparse.distance(full) == pytest.approx(certified, rel=1e-6)
    assert full.distance(sparse) == pytest.approx(certified, rel=1e-6)
    assert km.distance_matrix([full, sparse])[0, 1] == pytest.approx(certified, rel=1e-4)
    with pytest.raises(TypeError, match="sparse means can be merged"):
        km.merge([full, sparse])


# --- combinations that were wrong
# -------------------------------------------------------------------------------------


def test_a_bound_after_refit_and_truncate_is_that_of_the_new_data():
    """The radii of a selection cover the data it was made on; other data may lie anywhere."""
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(400, 2)), 2.0 * rng.normal(size=(300, 2))
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(1.5), k=60, selection="kcenter", random_state=0
    )
    for data in (
        other,
        np.concatenate([X, other]),
    ):  # rows elsewhere, and the same rows with more behind them
        refitted = mean.refit(data)
        assert not refitted.nested
        for m in (60, 20, 5):
            short = refitted.truncate(m)
            error = short.certificate(data, method="exact").error
            assert short.bound is None or error <= short.bound * (1 + 1e-9)
    assert mean.refit(other).indices is None
    np.testing.assert_array_equal(mean.refit(np.concatenate([X, other])).indices, mean.indices)
    again = mean.refit(X, bandwidth=0.9)
    assert again.nested
    assert again.truncate(20).cover == mean.truncate(20).cover


@pytest.mark.parametrize("kernel", [km.Laplacian(0.7), km.Student(2.3, 0.9)], ids=str)
@pytest.mark.parametrize("selection", ["greedy", "random", "kmeans", "kmeans++", "auto"])
def test_a_truncated_mean_whose_cover_is_unknown_says_so(kernel, selection):
    X = np.random.default_rng(1).normal(size=(200, 2))
    mean = km.sparse_kernel_mean(
        X, kernel=kernel, space="l2", k=12, selection=selection, random_state=0
    )
    for short in (mean.truncate(5), km.merge([mean, mean], k=10).truncate(4)):
        assert math.isnan(short.cover)
        assert math.isnan(short.incoherence)
        assert short.bound is None


def test_a_table_takes_nan_for_what_it_is():
    table = km.Laplacian(0.7).radial(2, "l2")
    np.testing.assert_array_equal(
        np.isnan(table(np.array([0.0, np.nan, 1.0]))), [False, True, False]
    )


def test_a_full_mean_does_not_change_with_the_array_behind_a_read_only_view():
    X = np.random.default_rng(2).normal(size=(50, 2))
    view = X[:]
    view.flags.writeable = False
    means = [
        km.kernel_mean(given, kernel=km.Gaussian(1.0)) for given in (view, X, X.astype(np.float32))
    ]
    before = [mean([[0.0, 0.0]])[0] for mean in means]
    X += 100.0
    assert [mean([[0.0, 0.0]])[0] for mean in means] == before
    for mean in means:
        with pytest.raises(ValueError, match="WRITEABLE"):
            mean.centers.flags.writeable = True


def test_a_mapped_file_stays_mapped(tmp_path):
    np.save(tmp_path / "points.npy", np.random.default_rng(2).normal(size=(50, 2)))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert np.shares_memory(km.kernel_mean(mapped, kernel=km.Gaussian(1.0)).centers, mapped)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-160, 0.1, 1.0, 1e140])
def test_the_unit_of_weights_does_not_matter(unit):
    X = np.random.default_rng(3).normal(size=(50, 2))
    equal = km.sparse_kernel_mean(
        X, bandwidth=0.5, k=10, sample_weight=np.full(50, unit), random_state=0
    )
    assert equal.n_points == 50
    w = np.random.default_rng(4).uniform(0.5, 2.0, 50)
    some, plain = (
        km.sparse_kernel_mean(X, bandwidth=0.5, k=10, sample_weight=v, random_state=0)
        for v in (unit * w, w)
    )
    assert some.n_points == pytest.approx(plain.n_points, rel=1e-12)
    np.testing.assert_allclose(some.weights, plain.weights, rtol=1e-6)


def test_weights_count_rows_where_they_are_integers_not_where_their_effective_size_is():
    X = np.random.default_rng(5).normal(size=(64, 2))
    for w, counted, size in (
        (np.tile([0.5, 1.5], 32), False, 51.2),
        (np.tile([1, 3], 32), True, 128),
        (np.full(64, 0.3), True, 64),
    ):
        summary = km.engines.open("naive").load(X, _checks.weights(w, 64)).summary
        assert (summary.counted, summary.size) == (counted, pytest.approx(size))


def test_fewer_distinct_points_than_centres_is_said():
    X = np.repeat(np.random.default_rng(6).normal(size=(10, 2)), 3, axis=0)
    assert "every distinct point is a centre" in repr(
        km.sparse_kernel_mean(X, bandwidth=0.5, k=20, random_state=0)
    )
    assert "every distinct point" not in repr(
        km.sparse_kernel_mean(X, bandwidth=0.5, k=5, random_state=0)
    )


def test_each_scale_names_itself_where_a_column_is_constant():
    X = np.column_stack([np.random.default_rng(7).normal(size=(20, 1)), np.ones(20)])
    for scale in ("std", "cov"):
        with pytest.raises(
            ValueError, match=f"scale='{scale}' needs columns that vary, but column 1 is constant"
        ):
            km.sparse_kernel_mean(X, scale=scale)


def test_the_column_of_a_frame_that_is_not_numeric_is_named():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = np.random.default_rng(8).normal(size=(20, 2))
    frame = pandas.DataFrame(X, columns=["a", "b"]).assign(place="here")
    y = np.arange(20) % 2
    calls = [
        km.sparse_kernel_mean,
        km.kernel_mean,
        km.bandwidth.scott,
        km.SparseKDE().fit,
        km.MeanShift().fit,
        lambda table: km.mmd(table, table),
        lambda table: km.ClassProportions().fit(table, y),
        lambda table: km.SparseKDEClassifier().fit(table, y),
    ]
    for table in (frame, polars.from_pandas(frame)):
        for call in calls:
            with pytest.raises((TypeError, ValueError), match="not numeric: 'place' holds 'here'"):
                call(table)


@pytest.mark.parametrize("d", [1, 2, 7, 16, 17, 40])
@pytest.mark.parametrize("scale", ["std", "cov"])
def test_a_row_is_mapped_to_the_same_bits_alone_and_among_others(d, scale):
    """Else a centre would not be found among its own rows."""
    X = (
        np.random.default_rng(d).normal(size=(700, d))
        @ np.random.default_rng(0).normal(size=(d, d))
        + 5.0
    )
    A = km.sparse_kernel_mean(X, scale=scale, bandwidth=1.0, k=1).scale
    together = mapped(X, A, X[0])
    np.testing.assert_allclose(together, (X - X[0]) @ A.T, rtol=1e-9, atol=1e-9)
    for rows in ([0], [699], [3, 511, 512], range(100, 613), np.arange(700)[::-1]):
        np.testing.assert_array_equal(mapped(X[list(rows)], A, X[0]), together[list(rows)])
