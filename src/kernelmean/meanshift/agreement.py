"""How far two clusterings, or the two shifts behind them, are apart."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector


def discrepancy_index(Y_a: ArrayLike, Y_b: ArrayLike, delta: float) -> float:
    """Share of the points that two mean shifts take more than ``delta`` apart: mean of 1[‖y_a −
    y_b‖ > δ].

    Parameters
    ----------
    Y_a, Y_b : arrays of shape (n, d), the ends of the same n points.
    delta : a distance; the paper takes three bandwidths.

    Returns
    -------
    float
        From 0 to 1; time and memory O(n·d).

    Examples
    --------
    >>> import kernelmean as km
    >>> km.discrepancy_index([[0.0], [1.0]], [[0.0], [5.0]], 1.0)
    0.5
    """
    A = _checks.points(Y_a, "Y_a")
    B = _checks.points(Y_b, "Y_b", A.shape[1])
    if len(A) != len(B):
        raise ValueError(
            f"Y_a has {len(A)} rows and Y_b {len(B)}: both must hold the ends of the same points."
        )
    limit = _checks.number(delta, "delta", least=0.0)
    return float(np.mean(np.linalg.norm(A - B, axis=1) > limit))


def clustering_hausdorff(labels_a: ArrayLike, labels_b: ArrayLike) -> float:
    """Hausdorff distance of two clusterings of n points (Chacón 2015), from 0 (equal) to below 1.

    d_H = max(max_A min_B |A Δ B|, max_B min_A |A Δ B|)/n with |A Δ B| = |A| + |B| − 2|A ∩ B|, all
    from the contingency table. Only cells of the table that are not empty are kept.

    Parameters
    ----------
    labels_a, labels_b : labels of the same points, of any kind and shape, images too.

    Returns
    -------
    float
        Time O(n log n), memory O(n).

    Examples
    --------
    >>> import kernelmean as km
    >>> km.clustering_hausdorff([0, 0, 1, 1, 2], [0, 0, 0, 1, 1])
    0.4
    """
    if np.shape(labels_a) != np.shape(labels_b):
        raise ValueError(
            f"labels_a has shape {np.shape(labels_a)}, labels_b {np.shape(labels_b)}: both must "
            "label the same points."
        )
    a = _codes(labels_a)
    b = _codes(labels_b)
    table = coo_array((np.ones(len(a), dtype=np.int64), (a, b)))
    table.sum_duplicates()
    return max(_farthest(table, 0), _farthest(table, 1)) / len(a)


def _farthest(table: coo_array, axis: int) -> float:
    """max over one clustering of min over the other of |A Δ B|; of those that do not meet, the
    smallest is the nearest.
    """
    sizes = np.bincount(table.coords[axis], table.data)
    others = np.bincount(table.coords[1 - axis], table.data)
    least = (
        sizes + others.min()
    )  # |A| + |B| bounds |A Δ B| from above, so an overlap only lowers it
    difference = sizes[table.coords[axis]] + others[table.coords[1 - axis]] - 2.0 * table.data
    np.minimum.at(least, table.coords[axis], difference)
    return float(least.max())


def _codes(labels: ArrayLike) -> IntVector:
    """Labels of any kind as numbers from 0."""
    values = np.ravel(np.asarray(labels))
    if not len(values):
        raise ValueError(
            "two clusterings of no points at all have no distance; give at least one label each."
        )
    codes: IntVector = np.unique(values, return_inverse=True)[1].astype(np.intp)
    return codes
