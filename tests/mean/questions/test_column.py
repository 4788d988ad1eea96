"""Distribution functions and quantiles of columns."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import kernelmean as km
from kernelmean.mean.questions.column import NODES, Column
from tests.mean.questions.mixtures import KINDS, SCALES, components, density, marginal_pdf

CASES = [(kind, scale) for kind in KINDS for scale in SCALES]


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_the_cdf_is_the_integral_of_the_marginal(kind, scale):
    mean = density(kind, scale)
    for t in range(3):
        for x in (-1.0, 0.7):
            integral = quad(
                lambda y, t=t: float(marginal_pdf(mean, [t], np.array([[y]]))),
                -40, x, epsabs=1e-13, limit=400, points=[-10, -3],
            )[0]  # fmt: skip
            assert mean.cdf(x, column=t)[0] == pytest.approx(integral, abs=1e-10)


def test_all_columns_at_once_are_each_column():
    mean = density("full", "turned")
    X = np.random.default_rng(0).normal(size=(7, 3))
    each = np.column_stack([mean.cdf(X[:, t], column=t) for t in range(3)])
    np.testing.assert_array_equal(mean.cdf(X), each)
    levels = [0.1, 0.9]
    each = np.column_stack([mean.quantile(levels, column=t) for t in range(3)])
    np.testing.assert_array_equal(mean.quantile(levels), each)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_quantiles_invert_the_cdf(kind, scale):
    mean = density(kind, scale)
    p = np.concatenate([np.linspace(0.0, 1.0, 1001)[1:-1], [1e-5, 1 - 1e-5, 9.9e-6, 1 - 9.9e-6]])
    for t in range(3):
        x = mean.quantile(p, column=t)
        np.testing.assert_allclose(mean.cdf(x, column=t), p, atol=1e-12)


def test_tails_keep_their_relative_precision():
    column = Column(np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.5]))
    p = np.array([1e-300, 1e-100, 1e-20, 1e-8])
    for level, x in zip(p, column.quantile(p), strict=True):
        with mpmath.workdps(40):
            exact = mpmath.mpf("0.3") * mpmath.ncdf((x + 1) / mpmath.mpf("0.5")) + mpmath.mpf(
                "0.7"
            ) * mpmath.ncdf((x - 2) / mpmath.mpf("1.5"))
            assert abs(float(exact / level) - 1.0) < 1e-10


def test_zero_and_one_lie_at_infinity():
    np.testing.assert_array_equal(
        density("points", None).quantile([0.0, 1.0], 0), [-np.inf, np.inf]
    )


def test_a_single_gaussian_has_its_textbook_quantiles():
    column = Column(np.ones(1), np.array([3.0]), np.array([2.0]))
    p = np.linspace(0.001, 0.999, 997)
    np.testing.assert_allclose(column.quantile(p), norm(3.0, 2.0).ppf(p), rtol=1e-11)


@given(st.integers(0, 10**6), st.floats(-6, 6), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_components_of_any_widths_share_a_table(seed, spread, k):
    rng = np.random.default_rng(seed)
    column = Column(
        rng.dirichlet(np.ones(k)),
        rng.normal(size=k) * 10.0,
        10.0 ** rng.uniform(-abs(spread), 0, k),
    )
    p = rng.uniform(1e-4, 1 - 1e-4, 200)
    x = column.quantile(p)
    # In a gap any place of the gap will do; elsewhere the level comes back.
    np.testing.assert_allclose(column.cdf(x), p, atol=1e-11)
    assert (np.diff(column.quantile(np.sort(p))) >= 0).all()


def test_many_components_on_one_another_need_few_nodes():
    few = Column(np.ones(1), np.zeros(1), np.ones(1))
    rng = np.random.default_rng(0)
    many = Column(np.full(5000, 2e-4), rng.normal(size=5000) * 0.1, np.full(5000, 1.0))
    assert len(many.nodes(NODES)) < 1.2 * len(few.nodes(NODES))


def test_far_from_the_origin_quantiles_keep_their_digits():
    column = Column(np.array([0.5, 0.5]), np.array([-1.0, 2.0]), np.array([0.5, 1.5]))
    moved = column._replace(means=column.means + 1e8)
    p = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(moved.quantile(p) - 1e8, column.quantile(p), atol=1e-6)


def test_moments_are_those_of_the_mixture():
    for kind, scale in CASES:
        mean = density(kind, scale)
        parts = components(mean)
        mu = sum(w * c for w, c, _ in parts)
        V = sum(w * (S + np.outer(c - mu, c - mu)) for w, c, S in parts)
        np.testing.assert_allclose(mean.expectation(), mu, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(mean.covariance(), V, rtol=1e-12, atol=1e-14)


def test_the_covariance_does_not_suffer_from_an_offset():
    X = np.array([[0.0], [4.0]])
    near = km.kernel_mean(X, kernel=km.Gaussian(1.0), space="l2").covariance()
    far = km.kernel_mean(X + 1e8, kernel=km.Gaussian(1.0), space="l2").covariance()
    np.testing.assert_allclose(near, [[5.0]], rtol=1e-14)
    np.testing.assert_allclose(far, near, rtol=1e-12)
