"""Two configurations of the same points, one laid over the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean import _checks, _shown
from kernelmean._types import ArrayLike, Matrix, Points, Vector


class Procrustes(NamedTuple):
    """The configuration B moved onto A: aligned = scale·B·rotation + translation.

    Attributes
    ----------
    aligned : ndarray of shape (N, m)
        The points of B where they come to lie.
    residual : float
        ‖A − aligned‖_F / ‖A − its centroid‖_F, from 0 (the same shape) to 1.
    rotation : ndarray of shape (m, m)
        An orthogonal matrix; a reflection where its determinant is −1.
    scale : float
        The factor by which B grew.
    translation : ndarray of shape (m,)
        The shift.

    See Also
    --------
    procrustes : Finds it.

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

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def procrustes(A: ArrayLike, B: ArrayLike, *, scaling: bool = True) -> Procrustes:
    """The similarity that takes B closest to A: min ‖A − (s·B·R + t)‖_F over R, s and t.

    R runs over rotations and reflections, s over scales, t over shifts. With A and B centred and
    BᵀA = UΣVᵀ: R = UVᵀ, s = tr Σ/‖B‖² (1 without ``scaling``) [1]_. Coordinates that one
    configuration lacks count as 0.

    Parameters
    ----------
    A, B : array-like of shape (N, m)
        The two configurations; row i of both is the same point. They may differ in m.
    scaling : bool, default=True
        Whether B may grow or shrink.

    Returns
    -------
    Procrustes
        B on top of A, and how it got there. Time O(N·m² + m³), memory O(N·m).

    Raises
    ------
    ValueError
        If A and B have different numbers of points.

    See Also
    --------
    DistributionEmbedding : Makes configurations that may be compared so.

    References
    ----------
    .. [1] P. H. Schönemann, "A generalized solution of the orthogonal Procrustes problem",
       Psychometrika 31(1), 1966.

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
