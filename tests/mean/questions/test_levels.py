"""Entropy, highest density regions, modes."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

import kernelmean as km
from tests.mean.questions.mixtures import KINDS, SCALES, density, pdf

CASES = [(kind, scale) for kind in KINDS for scale in SCALES]


def gaussian(d):
    rng = np.random.default_rng(d)
    A = rng.normal(size=(d, d)) + 2.0 * np.eye(d)
    return km.kernel_mean(np.ones((1, d)), kernel=km.Gaussian(0.7), scale=A, space="l2"), A


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_entropy_of_one_gaussian_is_known(d):
    mean, A = gaussian(d)
    exact = 0.5 * d * (1 + np.log(2 * np.pi * 0.49)) - np.linalg.slogdet(A)[1]
    found = mean.entropy(random_state=0)
    # ½(x − μ)ᵀΣ⁻¹(x − μ) takes off all variance here.
    assert found == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_the_entropy_in_one_dimension_is_an_integral(kind, scale):
    mean = density(kind, scale, d=1)

    def term(x):
        f = float(pdf(mean, np.array([[x]])))
        return -f * np.log(f) if f > 0 else 0.0

    exact = quad(term, -40, 40, epsabs=1e-13, limit=1000, points=[-8, -4, -2, 0, 2, 4, 8])[0]
    found = mean.entropy()
    assert found.standard_error == 0.0
    assert found == pytest.approx(exact, abs=1e-10)


def test_the_entropy_in_more_dimensions_is_within_its_error():
    mean = density("full", "turned", d=2)
    low, high = -14.0, 14.0
    x = np.linspace(low, high, 1401)
    f = pdf(mean, np.stack(np.meshgrid(x, x), axis=-1)).clip(1e-300)
    exact = -float((f * np.log(f)).sum()) * (x[1] - x[0]) ** 2
    found = mean.entropy(random_state=0)
    assert 0.0 < found.standard_error < 0.01
    assert abs(found - exact) < 5.0 * found.standard_error


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.99])
def test_the_region_of_one_gaussian_is_an_ellipsoid(d, level):
    mean, _ = gaussian(d)
    exact = float(mean.log(np.ones((1, d)))[0]) - 0.5 * chi2(d).ppf(level)
    region = mean.hdr(level, random_state=0)
    reached = chi2(d).cdf(2.0 * (float(mean.log(np.ones((1, d)))[0]) - region.log_threshold))
    assert abs(reached - level) <= 5.0 * region.standard_error + 1e-10
    assert region.threshold == pytest.approx(np.exp(exact), rel=0.1)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_intervals_hold_the_level_and_end_at_the_threshold(kind, scale):
    mean = density(kind, scale, d=1)
    region = mean.hdr(0.8)
    low, high = region.intervals.T
    assert float((mean.cdf(high) - mean.cdf(low)).sum()) == pytest.approx(0.8, abs=1e-10)
    np.testing.assert_allclose(
        mean.log(region.intervals.reshape(-1, 1)), region.log_threshold, rtol=1e-9
    )
    assert region.contains(0.5 * (low + high)[:, None])[np.argmax(high - low)]
    assert not region.contains([[high.max() + 1e-6], [low.min() - 1e-6]]).any()


@pytest.mark.parametrize("level", [1e-12, 1e-6, 1e-4, 1e-3, 0.01, 1.0 - 1e-12])
@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_and_the_largest_regions_are_found_too(kind, level):
    mean = density(kind, None, d=1)
    region = mean.hdr(level)
    low, high = region.intervals.T
    # At the very top f does not change by an ulp over 1e-8 of its width.
    assert float((mean.cdf(high) - mean.cdf(low)).sum()) == pytest.approx(level, abs=1e-7)
    inside = low[0] <= mean.modes().points[0, 0] <= high[0]
    assert inside or level < 1e-6


def test_a_small_region_is_at_the_higher_of_two_peaks():
    # The peaks are between nodes of the grid, and the lower one is wider.
    mean = km.KernelMean(
        np.array([[0.0], [7.013]]),
        np.array([0.7, 0.3]),
        km.Gaussian(0.5),
        "l2",
        None,
        2,
        "naive",
        np.array([3.0, 0.0]),
    )
    region = mean.hdr(1e-4)
    assert len(region.intervals) == 1
    assert region.contains([[7.013], [0.0]]).tolist() == [True, False]


def test_a_region_holds_its_level_of_new_points():
    mean = density("full", "turned")
    region = mean.hdr(0.9, random_state=0)
    assert region.contains(mean.sample(20_000, random_state=5)).mean() == pytest.approx(
        0.9, abs=0.01
    )
    assert "0.9" in repr(region)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5])
def test_a_level_lies_between_zero_and_one(level):
    with pytest.raises(ValueError, match="level"):
        density("points", None).hdr(level)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_modes_are_peaks_from_the_highest_on(kind, scale):
    mean = density(kind, scale, d=2)
    found = mean.modes()
    assert (np.diff(found.log_densities) <= 0).all()
    np.testing.assert_allclose(found.log_densities, mean.log(found.points), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mean.log_gradient(found.points), 0.0, atol=1e-3)
    around = found.points[:, None] + 1e-2 * np.random.default_rng(0).normal(size=(1, 30, 2))
    values = mean.log(around.reshape(-1, 2)).reshape(len(found.points), 30)
    assert (values <= found.log_densities[:, None]).all()


def test_far_centres_are_modes_of_their_own():
    X = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0], [0.1, 0.1]])
    mean = km.kernel_mean(X, kernel=km.Gaussian(1.0), space="l2")
    assert len(mean.modes().points) == 3


def test_other_kernels_have_entropy_regions_modes_and_points():
    mean = km.kernel_mean(np.array([[0.0, 0.0], [30.0, 0.0]]), kernel=km.Laplacian(1.0), space="l2")
    assert len(mean.modes().points) == 2
    assert mean.sample(3, random_state=0).shape == (3, 2)
    assert mean.hdr(0.5, random_state=0).contains([[0.0, 0.0], [15.0, 0.0]]).tolist() == [
        True,
        False,
    ]
    # One kernel: d + log(γ^d·2^d·π^((d−1)/2)·Γ((d+1)/2)) = 2 + log 2π; two far apart: log 2 more.
    found = mean.entropy(random_state=0)
    assert abs(found - (2.0 + np.log(2 * np.pi) + np.log(2.0))) < 5.0 * found.standard_error + 1e-3
