"""From outside arrays to a point cloud: every fit passes this door."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks, engines, kernels
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Space, Vector
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean


class Prepared(NamedTuple):
    """A checked sample, in the point cloud of an engine, with its kernel."""

    sample: Points  # rows of positive weight, as given
    weights: Vector | None  # theirs, as given; None for equal ones
    rows: IntVector | None  # which rows those are; None for all
    total: int  # rows given
    scale: Matrix | None
    cloud: PointCloud  # holds the sample in the coordinates of the kernel
    kernel: Kernel
    engine: Engine


def prepare(
    X: ArrayLike,
    sample_weight: ArrayLike | None,
    scale: Any,
    kernel: Any,
    bandwidth: Any,
    engine: str | Engine,
) -> Prepared:
    """Check, drop rows of weight zero, map, load, and find the kernel."""
    checked = engines.points(X, engine)
    rows, sample, weights = engines.present(checked, _checks.weights(sample_weight, len(checked)))
    opened = engines.precise(engines.choose(engine, sample, 3.0 * len(sample) ** 1.5))
    cloud = opened.load(sample, weights)
    A = scaling.resolve(scale, cloud.summary)
    if A is not None:
        mapped = scaling.apply(A, sample, engines.host(sample[:1])[0])
        cloud = opened.load(engines.points(mapped, engine, "X, mapped by scale,"), weights)
    return Prepared(
        sample,
        weights,
        rows,
        len(checked),
        A,
        cloud,
        resolve_kernel(kernel, bandwidth, cloud),
        opened,
    )


def kernel_mean(
    X: ArrayLike,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = "scott",
    scale: str | ArrayLike | None = None,
    space: Space = "rkhs",
    sample_weight: ArrayLike | None = None,
    engine: str | Engine = "cpu",
) -> KernelMean:
    """The full kernel mean Σ_j p_j φ(·, x_j): every point a centre, nothing approximated.

    It is what :func:`sparse_kernel_mean` approximates, with the same arguments.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, one per row.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name that goes with ``bandwidth``.
    bandwidth : float or str, default='scott'
        The kernel's own length (σ, γ, √β), or a rule that reads it from the data.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first.
    space : {'rkhs', 'l2'}, default='rkhs'
        "rkhs" is the kernel mean embedding, "l2" the kernel density estimate.
    sample_weight : array-like of shape (n,) or None, default=None
        Nonnegative weights of the rows. Integer weights mean repeated rows.
    engine : {'cpu', 'gpu', 'auto', 'naive'} or Engine, default='cpu'
        What computes.

    Returns
    -------
    KernelMean
        The mean. Time and memory O(n·d); then O(n·d) per evaluated point, and O(n²·d) to compare.

    See Also
    --------
    sparse_kernel_mean : The same by a few centres.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> km.kernel_mean(X, kernel=km.Gaussian(0.5)).k
    500
    """
    _checks.choice(space, "space", kernels.SPACES)
    prepared = prepare(X, sample_weight, scale, kernel, bandwidth, engine)
    n = len(prepared.sample)
    w = prepared.weights
    p = np.full(n, 1.0 / n) if w is None else w / w.sum()
    return KernelMean(
        engines.host(prepared.sample),
        p,
        prepared.kernel,
        space,
        prepared.scale,
        prepared.cloud.summary.size,
        engine,
    )
