"""Marginals and conditionals against the definition and against quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from tests.mean.questions.mixtures import KINDS, SCALES, density, marginal_pdf, pdf

CASES = [(kind, scale) for kind in KINDS for scale in SCALES]


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("columns", [[0], [2, 0], [1, 2, 0]])
def test_a_marginal_is_that_of_every_component(kind, scale, columns):
    mean = density(kind, scale)
    Q = np.random.default_rng(1).normal(size=(20, len(columns))) * 2
    found = mean.marginal(columns)
    np.testing.assert_allclose(np.exp(found.log(Q)), marginal_pdf(mean, columns, Q), rtol=1e-10)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_a_marginal_keeps_the_kernel_and_the_kind_of_atoms(kind, scale):
    mean = density(kind, scale)
    found = mean.marginal([0, 2])
    assert found.kernel == mean.kernel
    assert found.atoms.kind == mean.atoms.kind
    assert found.k == mean.k


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_a_marginal_is_the_integral_over_the_other_column(kind, scale):
    mean = density(kind, scale, d=2)
    x = 0.3
    integral = quad(
        lambda y: float(pdf(mean, np.array([x, y]))),
        -30,
        30,
        epsabs=1e-13,
        limit=400,
        points=[-5, 0, 5],
    )[0]
    assert mean.marginal(0)([[x]])[0] == pytest.approx(integral, abs=1e-10)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("given", [{0: 0.4}, {2: -1.0}, {2: 0.5, 0: 0.1}])
def test_a_conditional_is_the_joint_density_over_the_marginal(kind, scale, given):
    mean = density(kind, scale)
    free = [t for t in range(3) if t not in given]
    Q = np.random.default_rng(2).normal(size=(20, len(free))) * 2
    whole = np.empty((20, 3))
    whole[:, free] = Q
    for t, value in given.items():
        whole[:, t] = value
    columns = list(given)
    expected = pdf(mean, whole) / marginal_pdf(mean, columns, whole[:, columns])
    found = mean.conditional(given)
    np.testing.assert_allclose(np.exp(found.log(Q)), expected, rtol=1e-9)
    assert found.kernel == mean.kernel
    assert found.atoms.kind == mean.atoms.kind


@given(
    st.sampled_from(KINDS),
    st.sampled_from(SCALES),
    st.integers(2, 6),
    st.integers(0, 10**6),
    st.floats(-20, 20),
)
@settings(max_examples=40, deadline=None)
def test_spreads_of_a_conditional_are_covariances(kind, scale, d, seed, value):
    """Schur complements grow with the matrix, so what the kernel has of them can be taken off."""
    found = density(kind, scale, d=d, seed=seed).conditional({0: value})
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    if found.spreads is not None:
        scalar = found.spreads.ndim == 1
        values = found.spreads if scalar else np.linalg.eigvalsh(found.spreads)
        assert values.min() >= -1e-12


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_conditioning_twice_is_conditioning_on_both(kind, scale):
    mean = density(kind, scale, d=4)
    Q = np.random.default_rng(3).normal(size=(10, 2))
    at_once = mean.conditional({1: 0.2, 3: -0.7})
    one_by_one = mean.conditional({3: -0.7}).conditional({1: 0.2})
    np.testing.assert_allclose(at_once.log(Q), one_by_one.log(Q), rtol=1e-9)


def test_a_given_value_far_out_still_has_a_conditional():
    mean = density("full", "turned")
    found = mean.conditional({0: 1e6})
    assert np.isfinite(found.expectation()).all()


def test_a_given_value_out_of_all_reach_is_refused():
    with pytest.raises(ValueError, match="nearer to the data"):
        density("points", None).conditional({0: 1e200})


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_missing_values_take_the_marginal_of_the_rest(kind, scale):
    mean = density(kind, scale)
    X = np.random.default_rng(4).normal(size=(5, 3))
    holes = X.copy()
    holes[0, 1] = holes[2, 0] = holes[2, 2] = np.nan
    holes[3] = np.nan
    found = mean.log(holes, missing="marginal")
    expected = mean.log(X)
    expected[0] = mean.marginal([0, 2]).log(X[:1, [0, 2]])[0]
    expected[2] = mean.marginal(1).log(X[2:3, [1]])[0]
    expected[3] = 0.0
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        mean.log(holes)


def test_infinite_values_are_not_missing():
    mean = density("points", None)
    with pytest.raises(ValueError, match="infinite"):
        mean.log([[np.inf, 0.0, np.nan]], missing="marginal")


def test_drawn_rows_have_the_given_values_and_the_conditional_law():
    from scipy.stats import kstest

    mean = density("full", "turned")
    rows = mean.sample(4000, random_state=0, given={1: 0.25})
    assert rows.shape == (4000, 3)
    assert (rows[:, 1] == 0.25).all()
    part = mean.conditional({1: 0.25})
    for column, t in enumerate([0, 2]):
        law = part.marginal(column)
        assert kstest(rows[:, t], law.cdf).pvalue > 1e-3
