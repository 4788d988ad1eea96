"""Calibration: posteriors that mean what they say, of one classifier and of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import softmax

from kernelmean.proportions import calibration
from kernelmean.proportions.calibration import Calibration, calibrate, log_loss, log_odds


def drawn(n, C, J, seed, slopes, biases):
    """Scores of J classifiers, and classes drawn from the posteriors that these slopes give."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(J, n, C)) * 2.0
    z -= z.mean(axis=2, keepdims=True)
    P = Calibration(np.asarray(slopes), np.asarray(biases)).posteriors(z)
    y = np.array([rng.choice(C, p=p) for p in P])
    return z, y, P


def test_slopes_and_biases_are_recovered():
    z, y, _ = drawn(8000, 3, 2, 0, [0.8, 0.3], [0.5, 0.0, -0.5])
    found = calibrate(z, y)
    np.testing.assert_allclose(found.slopes, [0.8, 0.3], atol=0.06)
    np.testing.assert_allclose(found.biases - found.biases.mean(), [0.5, 0.0, -0.5], atol=0.1)


def test_a_classifier_that_knows_nothing_is_not_trusted():
    z, y, _ = drawn(2000, 2, 1, 1, [1.0], [0.0, 0.0])
    against = np.stack([z[0], -z[0]])
    found = calibrate(against, y)
    assert found.slopes[1] == 0.0
    assert found.slopes[0] == pytest.approx(calibrate(z, y).slopes[0], rel=1e-3)


def test_an_overconfident_classifier_is_tamed():
    z, y, P = drawn(4000, 4, 1, 2, [0.5], [0.0] * 4)
    told = softmax(3.0 * z[0], axis=1)
    mended = calibrate(log_odds(told, "predict_proba")[None], y).posteriors(
        log_odds(told, "predict_proba")[None]
    )
    assert log_loss(mended, y) < log_loss(told, y) - 0.3
    assert log_loss(mended, y) == pytest.approx(log_loss(P, y), abs=0.01)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
def test_the_minimum_has_no_slope(seed, C, J):
    """The gradient of the penalised log-loss, by differences, vanishes where slopes are free."""
    z, y, _ = drawn(60, C, J, seed, np.full(J, 0.5), np.zeros(C))
    y[:C] = np.arange(C)
    found = calibrate(z, y)
    units = np.sqrt(np.mean(z**2, axis=(1, 2)))

    def loss(parameters):
        a, b = parameters[:J], parameters[J:]
        P = Calibration(a / units, b).posteriors(z)
        value = -np.sum(np.log(P[np.arange(len(y)), y]))
        value += 0.5 * calibration.BIAS_PENALTY * b @ b
        return value + 0.5 * calibration.SLOPE_PENALTY * a @ a

    at = np.concatenate([found.slopes * units, found.biases])
    slope = approx_fprime(at, loss, 1e-6)
    free = np.concatenate([found.slopes > 0.0, np.full(C, True)])
    np.testing.assert_allclose(slope[free], 0.0, atol=0.02)
    assert (slope[~free] > -0.02).all()


def test_rows_without_an_error_do_not_make_slopes_infinite():
    z = np.array([[[3.0, -3.0]] * 20 + [[-3.0, 3.0]] * 20])
    found = calibrate(z, np.repeat([0, 1], 20))
    P = found.posteriors(z)
    assert 1e-4 < 1.0 - P[0, 0] < 0.05


def test_log_odds_of_posteriors_and_of_decision_values():
    P = np.array([[0.8, 0.2], [0.0, 1.0]])
    z = log_odds(P, "predict_proba")
    np.testing.assert_allclose(z.sum(axis=1), 0.0, atol=1e-12)
    assert z[0, 0] - z[0, 1] == pytest.approx(np.log(4.0))
    assert z[1, 1] - z[1, 0] == pytest.approx(-np.log(calibration.LEAST_POSTERIOR))
    np.testing.assert_allclose(
        log_odds(np.array([[1.5], [-2.0]]), "decision_function"), [[-0.75, 0.75], [1.0, -1.0]]
    )
    values = np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(
        log_odds(values, "decision_function"), values - values.mean(axis=1, keepdims=True)
    )


def test_scores_that_say_nothing():
    found = calibrate(np.zeros((1, 30, 2)), np.repeat([0, 1], [20, 10]))
    P = found.posteriors(np.zeros((1, 1, 2)))
    np.testing.assert_allclose(P, [[2 / 3, 1 / 3]], atol=0.02)


def test_some_rows_of_large_classes_stand_for_all(monkeypatch):
    z, y, _ = drawn(6000, 3, 1, 3, [0.8], [1.5, 0.0, -1.5])
    whole = calibrate(z, y)
    monkeypatch.setattr(calibration, "MOST_ROWS", 1500)
    some, masses = calibration._some(y)
    assert len(some) < 1600
    np.testing.assert_allclose(np.bincount(y[some], masses), np.bincount(y))
    few = calibrate(z, y)
    np.testing.assert_allclose(few.slopes, whole.slopes, atol=0.1)
    np.testing.assert_allclose(few.biases, whole.biases, atol=0.25)
