"""The probability of a box."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

import kernelmean as km
from kernelmean.mean.questions.boxes import between
from tests.mean.questions.mixtures import KINDS, SCALES, components, density

ALIGNED = [("points", None), ("scalar", None), ("points", "diagonal"), ("scalar", "diagonal")]
TURNED = [(kind, scale) for kind in KINDS for scale in SCALES if (kind, scale) not in ALIGNED]
LOWER, UPPER = np.array([-1.0, -0.5, -np.inf]), np.array([1.5, 2.0, 1.0])


def brute(mean, lower, upper):
    """By SciPy's integration of each component."""
    accuracy = {"abseps": 1e-9, "releps": 1e-9, "maxpts": 10**6, "rng": 1}
    return sum(
        w * multivariate_normal.cdf(upper, c, V, lower_limit=lower, **accuracy)
        for w, c, V in components(mean)
        if w > 0.0
    )


@pytest.mark.parametrize(("kind", "scale"), ALIGNED)
def test_diagonal_covariances_have_a_closed_form(kind, scale):
    mean = density(kind, scale)
    found = mean.probability(LOWER, UPPER)
    expected = sum(
        w
        * np.prod(norm.cdf(UPPER, c, np.sqrt(np.diag(V))) - norm.cdf(LOWER, c, np.sqrt(np.diag(V))))
        for w, c, V in components(mean)
    )
    assert found.standard_error == 0.0
    assert found == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("kind", "scale"), TURNED)
def test_other_covariances_are_integrated_within_the_stated_error(kind, scale):
    mean = density(kind, scale)
    found = mean.probability(LOWER, UPPER, random_state=0)
    assert 0.0 < found.standard_error <= 1e-5
    assert abs(found - brute(mean, LOWER, UPPER)) <= 5.0 * found.standard_error + 1e-7


def test_a_smaller_error_is_reached_where_it_is_asked_for():
    mean = density("full", "turned", d=5)
    lower, upper = np.full(5, -2.0), np.full(5, 2.0)
    rough = mean.probability(lower, upper, error=1e-3, random_state=0)
    fine = mean.probability(lower, upper, error=1e-6, random_state=0)
    assert fine.standard_error <= 1e-6 < rough.standard_error
    assert abs(rough - fine) <= 5.0 * rough.standard_error


def test_standard_errors_are_honest():
    mean = density("full", "turned", d=4)
    lower, upper = np.full(4, -1.0), np.full(4, 3.0)
    exact = mean.probability(lower, upper, error=1e-7, random_state=99)
    found = [mean.probability(lower, upper, error=1.0, random_state=s) for s in range(40)]
    z = np.array([(p - exact) / p.standard_error for p in found])
    assert 0.4 < np.sqrt(np.mean(z**2)) < 2.0


def test_columns_without_bounds_are_integrated_out():
    mean = density("full", "turned")
    found = mean.probability({0: -1.0}, {2: 0.5}, random_state=0)
    part = mean.marginal([0, 2]).probability([-1.0, -np.inf], [np.inf, 0.5], random_state=0)
    assert found == pytest.approx(part, abs=1e-9)
    assert mean.probability() == 1.0
    assert mean.probability({0: None}) == 1.0


@pytest.mark.parametrize(("kind", "scale"), [ALIGNED[0], TURNED[-1]])
def test_nothing_is_beyond_infinity(kind, scale):
    mean = density(kind, scale)
    assert mean.probability({0: np.inf}) == 0.0
    assert mean.probability(upper={1: -np.inf}) == 0.0
    assert mean.probability({0: -1.0, 1: -np.inf}, {1: -np.inf}) == 0.0


def test_one_bounded_column_is_a_difference_of_the_cdf():
    mean = density("full", "turned")
    found = mean.probability({1: -0.3}, {1: 1.1})
    assert found.standard_error == 0.0
    low, high = mean.cdf([-0.3, 1.1], column=1)
    assert found == pytest.approx(high - low, abs=1e-14)


def test_a_box_and_its_complement_sum_to_one():
    mean = density("full", "diagonal", d=2)
    p = [
        mean.probability(low, high, error=1e-7, random_state=0)
        for low, high in (
            ([0.2, -0.1], None), (None, [0.2, -0.1]), ({0: 0.2}, {1: -0.1}), ({1: -0.1}, {0: 0.2})
        )
    ]  # fmt: skip
    assert sum(p) == pytest.approx(1.0, abs=1e-6)


def test_far_boxes_keep_their_digits():
    one = km.kernel_mean(np.zeros((1, 1)), kernel=km.Gaussian(1.0), space="l2")
    assert one.probability(20.0, 21.0) == pytest.approx(norm.sf(20.0) - norm.sf(21.0), rel=1e-12)
    assert between(np.array([[30.0]]), np.array([[np.inf]]))[0, 0] == pytest.approx(norm.sf(30.0))


def corner(low, high, rho):
    """P(x ≥ low, y ≥ high) of two standard normal variables with this correlation."""
    root = np.sqrt(1.0 - rho**2)
    inner = lambda x: norm.pdf(x) * norm.sf((high - rho * x) / root)  # noqa: E731
    return quad(inner, low, low + 10.0, epsabs=0.0, epsrel=1e-10, limit=200)[0]


def correlated(rho, d=2):
    A = np.linalg.inv(np.linalg.cholesky((1.0 - rho) * np.eye(d) + rho))
    return km.kernel_mean(np.zeros((1, d)), kernel=km.Gaussian(1.0), scale=A, space="l2")


@pytest.mark.parametrize(
    ("low", "rho"),
    [((s, s), 0.5) for s in (3, 5, 7, 7.7)] + [((8, -8), 0.9), ((4, 4), -0.5)],
)
def test_correlated_boxes_far_out_keep_their_digits(low, rho):
    exact = corner(*low, rho)
    found = correlated(rho).probability(low, random_state=0)
    assert found == pytest.approx(exact, rel=0.02, abs=0.0)
    assert abs(found - exact) <= 5.0 * found.standard_error + 1e-12 * exact
    assert found.standard_error <= 0.01 * exact


def test_three_columns_far_out_keep_their_digits():
    found = correlated(0.5, d=3).probability([10.0] * 3, random_state=0)
    # By a common factor: x_t = (z + e_t)/√2.
    inner = lambda z: norm.pdf(z) * norm.sf(10.0 * np.sqrt(2.0) - z) ** 3  # noqa: E731
    exact = quad(inner, 0.0, 20.0, epsabs=0.0, epsrel=1e-10, limit=200)[0]
    assert exact == pytest.approx(1.728e-36, rel=1e-3, abs=0.0)
    assert abs(found - exact) <= 5.0 * found.standard_error <= 0.2 * exact


def test_what_is_left_out_counts_as_an_error():
    """The second component has less in each half-plane alone, and nearly all of their corner."""
    A = np.linalg.inv(np.linalg.cholesky(np.array([[1.0, 0.9], [0.9, 1.0]])))
    centers = np.array([[0.0, 0.0], [-5.2, -20.0]])
    mean = km.KernelMean(centers, np.array([0.5, 0.5]), km.Gaussian(1.0), "l2", A, 2)
    found = mean.probability({0: 4.0}, {1: -4.0}, random_state=0)
    exact = 0.5 * norm.sf(9.2)  # in the corner of the first lies e⁻¹⁶⁰
    assert found < 1e-60
    assert exact <= found.standard_error <= 1.01 * exact


def test_boxes_where_nothing_fits_a_float_have_no_mass():
    found = density("full", "turned", d=2).probability([1e6, 1e6], random_state=0)
    assert (found, found.standard_error) == (0.0, 0.0)


def test_an_error_out_of_reach_is_said():
    mean = density("full", "turned")
    with pytest.warns(RuntimeWarning, match=r"above error=1e-12: the most points, 12 × 32768"):
        found = mean.probability(LOWER, UPPER, error=1e-12, random_state=0)
    assert found.standard_error > 1e-12


def test_a_thin_covariance_is_integrated_too():
    """Correlation 0.999999: the second variable follows from the first."""
    A = np.linalg.inv(np.linalg.cholesky(np.array([[1.0, 0.999999], [0.999999, 1.0]])))
    mean = km.kernel_mean(np.zeros((1, 2)), kernel=km.Gaussian(1.0), scale=A, space="l2")
    found = mean.probability([-1.0, -1.0], [1.0, 1.0], random_state=0)
    # P(|x| ≤ 1) without where x + s·e leaves, s² = 2(1 − ρ): 2φ(1)·s·E[max(e, 0)], up to s².
    exact = norm.cdf(1) - norm.cdf(-1) - 2.0 * norm.pdf(1) * np.sqrt(2e-6 / (2.0 * np.pi))
    assert abs(found - exact) <= 5.0 * found.standard_error + 2e-6


def test_results_depend_on_the_seed_alone():
    mean = density("full", "turned")
    first, again = (mean.probability(LOWER, UPPER, random_state=3) for _ in range(2))
    assert first == again
    assert first.standard_error == again.standard_error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], None), "3 columns"),
        (([1.0, 0, 0], [0.0, 1, 1]), "exceeds"),
        (([np.nan, 0, 0], None), "NaN"),
        (({"x": 0.0}, None), "no names"),
        (({5: 0.0}, None), "no column 5"),
    ],
)
def test_bad_bounds_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        density("points", None).probability(*arguments)


def test_bounds_are_numbers():
    with pytest.raises(TypeError, match="number"):
        density("points", None).probability({0: "low"})
