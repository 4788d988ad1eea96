"""How far two clusterings, or the two shifts behind them, are apart."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector


def discrepancy_index(Y_a: ArrayLike, Y_b: ArrayLike, delta: float) -> float:
    """The share of the points that two mean shifts take more than δ apart.

    It is the mean of 1[‖y_a − y_b‖ > δ] over the points.

    Parameters
    ----------
    Y_a, Y_b : array-like of shape (n, d)
        Where the same n points ended in the one mean shift and in the other.
    delta : float
        The distance δ, which must not be negative; [1]_ takes three bandwidths.

    Returns
    -------
    float
        The share, from 0 to 1. Time and memory O(n·d).

    Raises
    ------
    ValueError
        If the two arrays differ in shape.

    See Also
    --------
    MeanShift : Its ``shifted_`` are such ends.
    clustering_hausdorff : Compares the labels instead.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

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
    """The Hausdorff distance of two clusterings of n points [1]_, from 0 (equal) to below 1.

    d_H = max(max_A min_B |A Δ B|, max_B min_A |A Δ B|)/n with |A Δ B| = |A| + |B| − 2|A ∩ B|, all
    from the contingency table, of which only the cells that are not empty are kept.

    Parameters
    ----------
    labels_a, labels_b : array-like
        The labels of the same points in the one clustering and in the other, of any kind and shape;
        images too.

    Returns
    -------
    float
        The distance. Time O(n log n), memory O(n).

    Raises
    ------
    ValueError
        If the two differ in shape, or hold no labels at all.

    See Also
    --------
    discrepancy_index : Compares the shifted points instead.

    References
    ----------
    .. [1] J. E. Chacón, "A population background for nonparametric density-based clustering",
       Statistical Science 30(4), 2015.

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
    """max over one clustering of min over the other of |A Δ B|.

    Of the clusters that do not meet, the smallest is the nearest.
    """
    sizes = np.bincount(table.coords[axis], table.data)
    others = np.bincount(table.coords[1 - axis], table.data)
    # |A| + |B| bounds |A Δ B| from above, so an overlap only lowers it.
    least = sizes + others.min()
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
