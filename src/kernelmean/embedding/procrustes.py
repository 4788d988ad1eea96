"""Two configurations of the same points, one laid over the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, Matrix, Points, Vector


class Procrustes(NamedTuple):
    """B moved onto A: aligned = scale·B·rotation + translation.

    Attributes
    ----------
    aligned : (N, m)
    residual : ‖A − aligned‖_F / ‖A − its centroid‖_F, from 0 (the same shape) to 1.
    rotation : (m, m) orthogonal, a reflection where its determinant is −1.
    scale : a number.
    translation : (m,).

    Examples
    --------
    >>> import kernelmean as km
    >>> km.procrustes([[0, 0], [1, 0], [0, 1]], [[0, 0], [2, 0], [0, 2]]).scale
    0.5
    """

    aligned: Points  # (N, m)
    residual: float  # ‖A − aligned‖_F / ‖A − its centroid‖_F, from 0 (the same shape) to 1
    rotation: Matrix  # (m, m) orthogonal; a reflection where its determinant is −1
    scale: float
    translation: Vector  # (m,)


def procrustes(A: ArrayLike, B: ArrayLike, *, scaling: bool = True) -> Procrustes:
    """The similarity that takes B closest to A: min ‖A − (s·B·R + t)‖_F over rotations and
    reflections R, scales s, shifts t.

    With A and B centred and BᵀA = UΣVᵀ: R = UVᵀ, s = tr Σ/‖B‖² (1 without ``scaling``). Schönemann
    (1966), as the paper compares embeddings. Coordinates that one configuration lacks count as 0.

    Parameters
    ----------
    A, B : (N, m) and (N, m′); row i of both is the same point.
    scaling : False keeps the size of B.

    Returns
    -------
    Procrustes
        Time O(N·m² + m³), memory O(N·m).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> A = np.random.default_rng(0).normal(size=(10, 2))
    >>> turned = A @ np.array([[0.0, -1.0], [1.0, 0.0]]) + 3.0
    >>> bool(km.procrustes(A, turned).residual < 1e-12)
    True
    """
    P = _checks.points(A, "A")
    Q = _checks.points(B, "B")
    if len(P) != len(Q):
        raise ValueError(
            f"A has {len(P)} points and B has {len(Q)}; row i of both must be the same point."
        )
    width = max(P.shape[1], Q.shape[1])
    P, Q = (np.pad(np.ascontiguousarray(M), ((0, 0), (0, width - M.shape[1]))) for M in (P, Q))
    centers = P.mean(axis=0), Q.mean(axis=0)
    P0 = P - centers[0]
    Q0 = Q - centers[1]
    U, singular, Vt = np.linalg.svd(Q0.T @ P0)
    rotation = U @ Vt
    squared = float((Q0**2).sum())
    factor = float(singular.sum()) / squared if scaling and squared > 0 else 1.0
    translation = centers[0] - factor * centers[1] @ rotation
    fitted = factor * Q0 @ rotation
    size = float(np.linalg.norm(P0))
    distance = float(np.linalg.norm(P0 - fitted))
    residual = distance / size if size > 0 else float(distance > 0)
    return Procrustes(fitted + centers[0], residual, rotation, factor, translation)
