"""MMD, Kullback–Leibler divergence, random points from a mean, and Procrustes, against brute force
and closed forms.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.comparison.divergence import divergences, halves
from kernelmean.fitting import spreads
from kernelmean.fitting.recipe import Recipe, common
from kernelmean.mean import sampling
from kernelmean.samples import ArraySample
from tests.strategies import spread_clouds


def samples_of(*arrays):
    return [ArraySample(X) for X in arrays]


def two(n=120, d=2, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), 1.2 * rng.normal(size=(n + 20, d)) + shift


# --- mmd
# --------------------------------------------------------------------------------------------------


def brute_mmd(A, B, sigma):
    K = [
        np.exp(-cdist(P, Q, "sqeuclidean") / (2 * sigma**2)).mean()
        for P, Q in ((A, A), (B, B), (A, B))
    ]
    return math.sqrt(K[0] + K[1] - 2 * K[2])


def test_mmd_is_the_distance_of_the_full_means():
    A, B = two()
    sigma = (km.bandwidth.iqr(A) + km.bandwidth.iqr(B)) / 2
    assert km.mmd(A, B, sparse=False) == pytest.approx(brute_mmd(A, B, sigma), rel=1e-10)
    assert km.mmd(A, B, bandwidth=0.3, sparse=False) == pytest.approx(
        brute_mmd(A, B, 0.3), rel=1e-10
    )
    assert km.mmd(A, B, kernel=km.Gaussian(0.3), sparse=False) == km.mmd(
        A, B, bandwidth=0.3, sparse=False
    )


def test_sparse_mmd_differs_by_no_more_than_the_certificates():
    A, B = two(400)
    kernel = km.Gaussian(0.8)
    means = [km.sparse_kernel_mean(X, kernel=kernel, random_state=0) for X in (A, B)]
    bar = sum(mean.certificate(X).error for mean, X in zip(means, (A, B), strict=True))
    gap = abs(
        km.mmd(A, B, kernel=kernel, random_state=0) - km.mmd(A, B, kernel=kernel, sparse=False)
    )
    assert gap <= bar + 1e-12
    assert bar < 1e-2


def test_mmd_in_l2_is_the_distance_of_densities():
    """∫(p − q)² by quadrature."""
    A, B = two(30, 1)
    p, q = (km.kernel_mean(X, kernel=km.Gaussian(0.4), space="l2") for X in (A, B))
    grid = np.linspace(-8, 10, 20001)[:, None]
    expected = math.sqrt(np.trapezoid((p(grid) - q(grid)) ** 2, grid[:, 0]))
    assert km.mmd(A, B, kernel=km.Gaussian(0.4), space="l2", sparse=False) == pytest.approx(
        expected, rel=1e-6
    )


def test_mmd_takes_means_too():
    A, B = two()
    p, q = (km.kernel_mean(X, kernel=km.Gaussian(0.7), scale=np.diag([1.0, 2.0])) for X in (A, B))
    expected = p.distance(q)
    assert km.mmd(p, q) == expected
    assert km.mmd(p, B, sparse=False) == expected
    assert km.mmd(A, q, sparse=False) == pytest.approx(expected, rel=1e-12)
    assert km.mmd(p, B, random_state=0) == pytest.approx(expected, rel=0.05)


@given(spread_clouds(12), st.integers(0, 5))
def test_mmd_of_a_sample_with_itself_is_zero(X, seed):
    assert km.mmd(X, X, random_state=seed, engine="naive") == 0.0


def test_mmd_is_deterministic_for_a_seed_and_any_thread_count():
    A, B = two(300)
    values = {
        km.mmd(A, B, random_state=4, engine=km.engines.open("cpu", threads=t)) for t in (1, 2, 3)
    }
    assert len(values) == 1


def test_bad_input_of_mmd():
    A, B = two()
    with pytest.raises(ValueError, match="A has 2 columns, but B has 1"):
        km.mmd(A, B[:, :1])
    with pytest.raises(ValueError, match="at least one point"):
        km.mmd(A, B[:0])
    with pytest.raises(ValueError, match="unknown space 'L2'"):
        km.mmd(A, B, space="L2")
    mean = km.kernel_mean(A)
    with pytest.raises(
        ValueError, match=r"a mean carries its own kernel, scale and space: leave bandwidth= out"
    ):
        km.mmd(mean, B, bandwidth=2.0)
    with pytest.raises(ValueError, match="the sample has 1 columns, but 2 are expected"):
        km.mmd(mean, B[:, :1])
    with pytest.raises(ValueError, match="finds no spread"):
        km.mmd(np.zeros((3, 1)), np.zeros((4, 1)))
    with pytest.raises(TypeError, match="kernel must be a name"):
        km.mmd(A, B, kernel=3)


# --- one recipe for several samples
# -----------------------------------------------------------------------------------


def test_a_rule_is_averaged_over_the_samples_that_have_spread():
    A, B = two()
    rule = [km.bandwidth.scott(X) for X in (A, B)]
    kernel, _ = common(
        samples_of(A, B, np.zeros((5, 2)), np.ones((1, 2))), "gaussian", "scott", None, "cpu"
    )
    assert kernel.bandwidth == pytest.approx(np.mean(rule), rel=1e-12)


def test_a_named_scale_is_that_of_the_pooled_points():
    A, B = two()
    _, matrix = common(samples_of(A, B), "gaussian", 1.0, "std", "cpu")
    np.testing.assert_allclose(
        np.diag(matrix), 1 / np.concatenate([A, B]).std(axis=0, ddof=1), rtol=1e-12
    )


def test_other_kernels_get_the_half_maximum_radius_of_the_rule():
    A, B = two()
    gaussian, _ = common(samples_of(A, B), "gaussian", "iqr", None, "cpu")
    laplacian, _ = common(samples_of(A, B), "laplacian", "iqr", None, "cpu")
    assert laplacian.scale == pytest.approx(
        gaussian.bandwidth * math.sqrt(2 / math.log(2)), rel=1e-12
    )


@pytest.mark.parametrize(
    "options", [{}, {"selection": "kmeans++"}, {"k": 7, "selection": "random"}]
)
def test_samples_fitted_in_threads_give_the_same_bits(options):
    """One sample per thread, or all threads in one sample: indices and weights are equal to the
    last bit.
    """
    samples = [np.random.default_rng(s).normal(size=(3000 + 100 * s, 3)) for s in range(4)]
    recipes = [
        Recipe(km.Gaussian(0.8), None, engine=km.engines.open("cpu", threads=t), options=options)
        for t in (1, 2, 8)
    ]
    found = [recipe.means(samples_of(*samples)) for recipe in recipes]
    for other, recipe in zip(found[1:], recipes[1:], strict=True):
        for mean, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mean.indices, same.indices)
            np.testing.assert_array_equal(mean.weights, same.weights)
            assert same.engine is recipe.engine


# --- random points from a mean
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [km.Gaussian(0.6), km.Laplacian(0.5), km.Student(3.0, 0.5), km.Cauchy(0.2)],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("d", [1, 3])
def test_steps_have_the_density_of_the_kernel(kernel, d):
    """Kolmogorov–Smirnov on the radius, whose density is ∝ r^{d−1} φ(r)."""
    mean = km.KernelMean(np.zeros((1, d)), np.ones(1), kernel, "l2", None, 1)
    X = sampling.draw(mean, 4000, np.random.default_rng(5))
    r = np.linspace(0, 400, 4_000_001)
    density = r ** (d - 1) * kernel.profile(r**2, d)
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    result = stats.kstest(
        np.linalg.norm(X, axis=1), lambda x: np.interp(x, r, cumulative / cumulative[-1])
    )
    assert result.pvalue > 1e-3
    assert abs(np.median(X, axis=0)).max() < 0.1


def test_draws_follow_weights_and_scale():
    A = np.array([[2.0, 0.0], [1.0, 0.5]])
    mean = km.KernelMean(
        np.array([[0.0, 0.0], [100.0, 0.0]]), np.array([0.25, 0.75]), km.Gaussian(1.0), "l2", A, 2
    )
    X = sampling.draw(mean, 20_000, np.random.default_rng(0))
    right = X[:, 0] > 50
    assert right.mean() == pytest.approx(0.75, abs=0.015)
    expected = np.linalg.inv(A.T @ A)
    np.testing.assert_allclose(np.cov(X[right].T), expected, atol=0.05 * np.abs(expected).max())


def test_a_kernel_of_ones_own_has_no_sampler():
    kernel = km.Radial(lambda s: math.exp(-s), log_constant=lambda d: -0.5 * d * math.log(math.pi))
    mean = km.KernelMean(np.zeros((1, 2)), np.ones(1), kernel, "rkhs", None, 1, "naive")
    with pytest.raises(ValueError, match="no sampler of random points: pass sampler="):
        km.kl_divergence(mean, mean)


# --- Kullback–Leibler
# -------------------------------------------------------------------------------------------------


def gaussian(center, sigma, space="l2"):
    return km.KernelMean(
        np.atleast_2d(np.asarray(center, float)), np.ones(1), km.Gaussian(sigma), space, None, 1
    )


def closed_form(m, s, t, d):
    """D(N(0, s²)|N(m, t²)) in d dimensions, m the distance of the means."""
    return d * math.log(t / s) + (d * s**2 + m**2) / (2 * t**2) - d / 2


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize(
    ("m", "t"), [(0.0, 1.001), (0.3, 1.0), (1.0, 1.4), (10.0, 1.0), (6.0, 0.7)]
)
def test_divergence_of_two_gaussians_near_and_far(d, m, t):
    p, q = gaussian(np.zeros(d), 1.0), gaussian([m] + [0.0] * (d - 1), t)
    found = km.kl_divergence(p, q, random_state=1, n_samples=20_000)
    assert abs(found.value - closed_form(m, 1.0, t, d)) < 4 * found.standard_error
    assert found.standard_error < 0.05 * found.value
    assert float(found) == found.value <= found.largest_term


def test_near_equal_models_are_resolved_where_the_plain_mean_is_noise():
    p, q = gaussian([0.0], 1.0), gaussian([1e-3], 1.0)
    found = km.kl_divergence(p, q, random_state=0)
    assert found.value == pytest.approx(5e-7, rel=0.1)
    assert km.kl_divergence(p, p, random_state=0) == (0.0, 0.0, 0.0)


def test_both_directions_add():
    p, q = gaussian([0.0], 1.0), gaussian([1.0], 2.0)
    found = km.kl_divergence(p, q, symmetric=True, random_state=0, n_samples=50_000)
    assert (
        abs(found.value - closed_form(1.0, 1.0, 2.0, 1) - closed_form(1.0, 2.0, 1.0, 1))
        < 4 * found.standard_error
    )


def test_constants_count_whatever_space_a_mean_was_fitted_in():
    """Different bandwidths: the density constants do not cancel, and c = 1 in the RKHS is no
    density.
    """
    inside, outside = gaussian([0.0], 1.0, "rkhs"), gaussian([0.5], 2.0, "rkhs")
    direct = km.kl_divergence(gaussian([0.0], 1.0), gaussian([0.5], 2.0), random_state=0)
    assert km.kl_divergence(inside, outside, random_state=0) == direct


@pytest.mark.parametrize("spread", [None, "scalar"])
def test_given_points_are_averaged_over(spread):
    rng = np.random.default_rng(0)
    A, B = two(50)
    how = {"constraint": "simplex", "spread": spread, "random_state": 0}
    p = km.sparse_kernel_mean(A, bandwidth=0.6, **how)
    q = km.sparse_kernel_mean(B, bandwidth=0.9, space="l2", **how)

    def log_density(mean, Q):
        live = mean.weights > 0
        widths = 0.0 if mean.spreads is None else mean.spreads[live]
        variances = mean.kernel.bandwidth**2 + widths
        terms = np.log(mean.weights[live] / (2 * math.pi * variances))
        terms = terms - cdist(Q, mean.centers[live], "sqeuclidean") / (2 * variances)
        return logsumexp(terms, axis=1)

    P, Q = rng.normal(size=(40, 2)), rng.normal(size=(60, 2))
    terms, back = log_density(p, P) - log_density(q, P), log_density(q, Q) - log_density(p, Q)
    found = km.kl_divergence(p, q, points=P)
    assert found.value == pytest.approx(terms.mean(), rel=1e-10)
    assert found.standard_error == pytest.approx(terms.std(ddof=1) / math.sqrt(40), rel=1e-10)
    assert found.largest_term == pytest.approx(terms.max(), rel=1e-10)
    both = km.kl_divergence(p, q, points=(P, Q), symmetric=True)
    assert both.value == pytest.approx(terms.mean() + back.mean(), rel=1e-10)
    assert both.largest_term == pytest.approx(max(terms.max(), back.max()), rel=1e-10)


def test_samples_are_split_in_halves():
    """Brute force with full densities: fit on first halves, average over the second half of p."""
    A, B = two(41)
    found = km.kl_divergence(A, B, bandwidth=0.5, sparse=False, random_state=3)
    (A1, A2), (B1, B2) = (
        [half.array() for half in halves(X, Streams(3), "X")] for X in samples_of(A, B)
    )
    assert len(A1) == 21
    assert len(A2) == 20
    np.testing.assert_array_equal(np.sort(np.concatenate([A1, A2]), axis=0), np.sort(A, axis=0))

    def log_kde(X, Q):
        return (
            logsumexp(-cdist(Q, X, "sqeuclidean") / 0.5, axis=1)
            - math.log(len(X))
            - math.log(2 * math.pi * 0.25)
        )

    terms, back = log_kde(A1, A2) - log_kde(B1, A2), log_kde(B1, B2) - log_kde(A1, B2)
    assert found.value == pytest.approx(terms.mean(), rel=1e-10)
    assert found.largest_term == pytest.approx(terms.max(), rel=1e-10)
    symmetric = km.kl_divergence(A, B, bandwidth=0.5, sparse=False, random_state=3, symmetric=True)
    assert symmetric.value == pytest.approx(terms.mean() + back.mean(), rel=1e-10)


def test_sparse_densities_give_nearly_the_divergence_of_full_ones():
    A, B = two(600)
    sparse, full = (
        km.kl_divergence(A, B, bandwidth=0.6, sparse=s, random_state=0) for s in (True, False)
    )
    assert sparse.value == pytest.approx(full.value, abs=0.02)
    assert full.value > 0.3


def test_a_far_outlier_is_reported_not_clamped():
    A, B = two(100)
    A[7] = 1e4
    models = [km.kernel_mean(X, kernel=km.Gaussian(1.0), space="l2") for X in (A, B)]
    found = divergences(models, samples_of(A, B))
    # −log q at the outlier is ½(1e4)²·2 or so: far beyond what exp can hold, and finite here.
    assert found.largest_terms[0, 1] == pytest.approx(
        ((A[7] - B) ** 2).sum(axis=1).min() / 2, rel=1e-3
    )
    assert found.values[0, 1] == pytest.approx(found.largest_terms[0, 1] / 100, rel=1e-2)
    assert (np.diag(found.values) == 0).all()


def test_bad_input_of_the_divergence():
    A, B = two()
    p = km.kernel_mean(A)
    signed = km.KernelMean(A[:2], np.array([1.5, -0.5]), km.Gaussian(1.0), "l2", None, 2)
    short = km.KernelMean(A[:2], np.array([0.5, 0.3]), km.Gaussian(1.0), "l2", None, 2)
    with pytest.raises(
        ValueError, match=r"q has negative weights, so it is no density: .* constraint='simplex'"
    ):
        km.kl_divergence(p, signed)
    with pytest.raises(ValueError, match=r"p has weights that sum to 0\.8"):
        km.kl_divergence(short, p)
    with pytest.raises(TypeError, match="two means or two samples, not a mean with a sample"):
        km.kl_divergence(p, B)
    with pytest.raises(ValueError, match="points= goes with two means"):
        km.kl_divergence(A, B, points=A)
    with pytest.raises(ValueError, match="must be a pair of arrays"):
        km.kl_divergence(p, p, points=A, symmetric=True)
    with pytest.raises(ValueError, match="p has 2 dimensions, but q has 1"):
        km.kl_divergence(p, km.kernel_mean(B[:, :1]))
    with pytest.raises(ValueError, match="p has 2 columns, but q has 1"):
        km.kl_divergence(A, B[:, :1])
    with pytest.raises(
        ValueError, match="p has one point, but the Kullback–Leibler divergence splits"
    ):
        km.kl_divergence(A[:1], B)
    with pytest.raises(ValueError, match="n_samples must be at least 2"):
        km.kl_divergence(p, p, n_samples=1)
    with pytest.raises(ValueError, match="has no integral in 2 dimensions"):
        km.kl_divergence(*(km.kernel_mean(X, kernel=km.Student(0.8, 1.0)) for X in (A, B)))


# --- Procrustes
# --------------------------------------------------------------------------------------------------


@given(
    st.integers(3, 9), st.integers(1, 3), st.integers(0, 10**6), st.floats(0.1, 9.0), st.booleans()
)
def test_a_moved_copy_is_laid_back(n, d, seed, factor, mirrored):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    R = np.linalg.qr(rng.normal(size=(d, d)))[0]
    R[:, 0] *= -1 if mirrored else 1
    B = factor * A @ R + rng.normal(size=d)
    found = km.procrustes(A, B)
    np.testing.assert_allclose(found.aligned, A, atol=1e-8)
    np.testing.assert_allclose(
        found.aligned, found.scale * B @ found.rotation + found.translation, atol=1e-8
    )
    assert found.residual < 1e-7
    assert found.scale == pytest.approx(1 / factor, rel=1e-6)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(d), atol=1e-9)


def test_the_residual_is_scipys_disparity():
    A, B = two(30)
    B = B[:30]
    _, _, disparity = scipy_procrustes(A, B)
    assert km.procrustes(A, B).residual == pytest.approx(math.sqrt(disparity), rel=1e-10)


def test_without_scaling_nothing_is_closer_among_rotations():
    A, B = (X[:30] for X in two(30))
    found = km.procrustes(A, B, scaling=False)
    assert found.scale == 1.0
    best = min(
        np.linalg.norm(
            A
            - A.mean(0)
            - (B - B.mean(0))
            @ np.array([[math.cos(t), -f * math.sin(t)], [math.sin(t), f * math.cos(t)]])
        )
        for t in np.linspace(0, 2 * math.pi, 2001)
        for f in (1, -1)
    )
    own = np.linalg.norm(A - found.aligned)
    assert own <= best + 1e-12
    assert own == pytest.approx(best, rel=1e-4)


def test_configurations_without_extent_or_of_other_width():
    A, B = (X[:30] for X in two(30))
    assert km.procrustes(A, np.ones((30, 2))).residual == pytest.approx(1.0)
    assert km.procrustes(np.ones((30, 2)), B).residual == 0.0
    padded = km.procrustes(A, np.column_stack([B, np.zeros(30)]))
    assert padded.residual == pytest.approx(km.procrustes(A, B).residual, rel=1e-10)
    with pytest.raises(ValueError, match="A has 30 points and B has 29"):
        km.procrustes(A, B[:-1])


# --- centres with spreads
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", ["scalar", "full", "auto"])
def test_means_with_spreads_come_near_the_full_distance(spread):
    A, B = two(400, d=3)
    how = {"kernel": km.Gaussian(0.8), "random_state": 0}
    exact = km.mmd(A, B, sparse=False, **how)
    assert km.mmd(A, B, spread=spread, **how) == pytest.approx(exact, rel=0.03)
    mean = km.sparse_kernel_mean(A, spread=spread, **how)
    assert km.mmd(mean, B, spread=spread, random_state=0) == pytest.approx(exact, rel=0.03)
    assert km.mmd(mean, B, sparse=False) == pytest.approx(exact, rel=0.03)
    found = km.kl_divergence(A, B, spread=spread, **how)
    full = km.kl_divergence(A, B, sparse=False, **how)
    assert found.value == pytest.approx(full.value, abs=0.15)


def test_a_sample_is_fitted_with_the_spread_that_is_asked_for(monkeypatch):
    """Whichever way the sample comes to its mean."""
    asked = []
    kinds = spreads.kinds
    monkeypatch.setattr(
        spreads,
        "kinds",
        lambda settings, *rest: asked.append(settings.spread) or kinds(settings, *rest),
    )
    A, B = two(60)
    for spread in (None, "scalar", "full"):
        asked.clear()
        km.mmd(A, B, spread=spread)
        km.mmd(km.kernel_mean(A, bandwidth=1.0), B, spread=spread)
        km.kl_divergence(A, B, spread=spread)
        assert asked == [spread] * 5
