"""Posteriors that mean what they say: scores of one or several classifiers, calibrated as one.

p(c | x) = softmax_c(Σ_j a_j z_jc(x) + b_c) with a_j ≥ 0, where z_j(x) are the log-odds, or the
decision values, of classifier j. The slopes say how much each is to be trusted, and the biases
mend what they get wrong about rare classes. With one classifier this is temperature scaling with
biases [1], with several also a logarithmic pool. The few numbers are found on rows that the
classifiers have not seen.

[1] A. Alexandari, A. Kundaje and A. Shrikumar, "Maximum Likelihood with Bias-Corrected Calibration
is Hard-To-Beat at Label Shift Adaptation", ICML 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from kernelmean._types import IntVector, Matrix, Vector

LEAST_POSTERIOR = 1e-6  # below which classifiers are not believed
# Weights of ½‖b‖² and of ½Σ(a_j·sd z_j)² beside the sum of log-losses: they stop biases of absent
# evidence, and slopes that grow without end where rows are separated without an error. Posteriors
# that were learnt with the classes' shares need no bias; of others nobody knows.
BIAS_PENALTY = 1.0
BIAS_PENALTY_OF_OTHERS = 0.01
SLOPE_PENALTY = 0.02
ITERATIONS = 400
MOST_ROWS = 50_000  # on which a few numbers are found
Scores = NDArray[np.float64]  # (J, n, C): of J classifiers


@dataclass(frozen=True, eq=False)
class Calibration:
    """What turns scores into posteriors."""

    slopes: Vector  # (J,) a_j
    biases: Vector  # (C,) b_c

    def posteriors(self, scores: Scores) -> Matrix:
        """(n, C): softmax_c(Σ_j a_j z_jc + b_c)."""
        found: Matrix = softmax(np.tensordot(self.slopes, scores, 1) + self.biases, axis=1)
        return found


def log_odds(values: Matrix, method: str) -> Matrix:
    """(n, C) scores about zero mean from what a classifier says of rows.

    Posteriors, by ``predict_proba``, turn into logarithms; decision values stay as they are, and
    one column of them, of two classes, is their difference.
    """
    if values.shape[1] == 1:
        return np.column_stack([-0.5 * values, 0.5 * values])
    z = np.log(np.maximum(values, LEAST_POSTERIOR)) if method == "predict_proba" else values
    centred: Matrix = z - z.mean(axis=1, keepdims=True)
    return centred


def calibrate(scores: Scores, y: IntVector, bias_penalty: float = BIAS_PENALTY) -> Calibration:
    """The slopes and biases of the least log-loss of rows with known classes."""
    some, masses = _some(y)
    scores = scores[:, some]
    y = y[some]
    J, n, C = scores.shape
    units = np.sqrt(np.mean(scores**2, axis=(1, 2)))
    silent = units == 0.0
    units[silent] = 1.0
    z = scores / units[:, None, None]
    truth = np.eye(C)[y]

    def loss(parameters: Vector) -> tuple[float, Vector]:
        a = parameters[:J]
        b = parameters[J:]
        logs = log_softmax(np.tensordot(a, z, 1) + b, axis=1)
        excess = masses[:, None] * (np.exp(logs) - truth)
        value = -float(masses @ logs[np.arange(n), y])
        value += 0.5 * bias_penalty * float(b @ b) + 0.5 * SLOPE_PENALTY * float(a @ a)
        slopes = np.tensordot(z, excess, ((1, 2), (0, 1))) + SLOPE_PENALTY * a
        biases = excess.sum(axis=0) + bias_penalty * b
        return value / n, np.concatenate([slopes, biases]) / n

    found = minimize(
        loss,
        np.concatenate([np.full(J, 1.0 / J), np.zeros(C)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * J + [(None, None)] * C,
        options={"maxiter": ITERATIONS},
    ).x
    return Calibration(np.where(silent, 0.0, found[:J] / units), found[J:])


def _some(y: IntVector) -> tuple[IntVector, Vector]:
    """All rows; or some of each class with many rows, and how many rows each stands for."""
    counts = np.bincount(y)
    most = max(MOST_ROWS // len(counts), 1)
    if len(y) <= MOST_ROWS:
        return np.arange(len(y)), np.ones(len(y))
    kept = [np.flatnonzero(y == c)[:: -(-n // most)] for c, n in enumerate(counts) if n]
    some = np.concatenate(kept)
    masses: Vector = (counts / np.maximum(np.bincount(y[some], minlength=len(counts)), 1))[y[some]]
    return some, masses


def log_loss(posteriors: Matrix, y: IntVector) -> float:
    """The mean of −log p(y | x), of posteriors no smaller than can be believed."""
    own = posteriors[np.arange(len(y)), y]
    return -float(np.mean(np.log(np.maximum(own, LEAST_POSTERIOR))))
