"""Differences measured in units of their own variance, as far as that is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from kernelmean._types import Matrix
from kernelmean.linalg.factor import product


def ridge_products(Y: Matrix, F: Matrix, ridges: Sequence[float]) -> list[Matrix]:
    """G = Yᵀ(S + ρs₁I)⁻¹Y for each ridge ρ; S is the covariance of the columns of F, s₁ its norm.

    Y is (k, b) and F (k, m). Small ρ count every direction by what chance does in it, large ones
    count all directions alike. One eigendecomposition serves all: time O(k³ + k²(b + m)).
    """
    centred = F - F.mean(axis=1, keepdims=True)
    values, vectors = eigh(product(centred, centred.T) / F.shape[1], driver="evd")
    values = np.maximum(values, 0.0)
    largest = values[-1] if values[-1] > 0.0 else 1.0
    Z = product(np.ascontiguousarray(vectors.T), Y)
    return [product(Z.T, Z / (values + ridge * largest)[:, None]) for ridge in ridges]
