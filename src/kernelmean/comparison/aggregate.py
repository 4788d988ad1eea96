"""Several statistics as one, with the level of a single test.

Each component, a bandwidth with a regularisation, has its own statistic for what was observed and
for each permutation. They are made comparable by a gamma distribution with the mean and the
variance of the component over all of these, the observed one among them,

    e_c(π) = log₁₀ w_c − log₁₀ P(Γ ≥ T_c(π)),   T(π) = max_c e_c(π),   0 < w_c ≤ 1,

and the p-value is the share of the permutations whose T(π) is as large as what was observed. The
gamma distribution only weighs the components against each other: it treats what was observed like
any permutation, so that the level is exact however badly it fits. One set of permutations serves
all components (Schrab et al. 2023 need a second and a third).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincc, gammaln

from kernelmean._types import Matrix, Vector

LEAST_TAIL = 1e-250  # smaller ones by their expansion for large arguments
LEAST_VARIATION = 1e-12  # of the squared mean: a variance below is rounding


def evidence(squares: Matrix, weights: Vector) -> Matrix:
    """e_c(π) ≥ 0 of shape (components, 1 + permutations); 0 where a component does not vary."""
    mean = squares.mean(axis=1, keepdims=True)
    variance = squares.var(axis=1, keepdims=True)
    varies = (variance > LEAST_VARIATION * mean**2) & (mean > 0.0)
    safe_mean = np.where(varies, mean, 1.0)
    safe_variance = np.where(varies, variance, 1.0)
    shape = safe_mean**2 / safe_variance
    x = squares * (safe_mean / safe_variance)  # in units of the scale
    found: Matrix = np.where(varies, -_log_tail(shape, x) / math.log(10.0), 0.0)
    return np.maximum(found + np.log10(weights)[:, None], 0.0)


def p_values(squares: Matrix) -> Vector:
    """(components,): the share of T_c(π) ≥ T_c(observed), which comes first."""
    found: Vector = np.mean(squares >= squares[:, :1], axis=1)
    return found


def _log_tail(shape: Matrix, x: Matrix) -> Matrix:
    """log P(Γ_a ≥ x); for large x it is (a − 1) log x − x − log Γ(a) + log(1 + (a − 1)/x + …)."""
    tail = gammaincc(shape, x)
    tiny = tail < LEAST_TAIL
    found: Matrix = np.log(np.where(tiny, 1.0, tail))
    if tiny.any():
        a = np.broadcast_to(shape, x.shape)[tiny]
        far = np.maximum(x[tiny], 1.0)
        rest = np.maximum((a - 1.0) / far, -0.5)
        found[tiny] = (a - 1.0) * np.log(far) - far - gammaln(a) + np.log1p(rest)
    return found
