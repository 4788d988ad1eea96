"""The full kernel mean: every point a centre."""

from __future__ import annotations

import numpy as np

from kernelmean._types import ArrayLike, Space
from kernelmean.engines import Engine
from kernelmean.fitting.prepare import checked_sample, engine_name, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.mean.expansion import KernelMean
from kernelmean.samples import WeightedSample


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
    settings = FitSettings(kernel, bandwidth, scale, space, engine=engine)
    return full_mean(checked_sample(X, sample_weight, engine), settings)


def full_mean(sample: WeightedSample, settings: FitSettings) -> KernelMean:
    """The full mean of a checked sample; of the settings, kernel, scale and space matter."""
    settings.check_names()
    prepared = prepare(sample, settings)
    n = len(sample)
    w = sample.weights
    return KernelMean(
        sample.sample.array(),
        np.full(n, 1.0 / n) if w is None else w / w.sum(),
        prepared.kernel,
        settings.space,
        prepared.data.scale,
        prepared.data.cloud.summary.size,
        engine_name(settings.engine, prepared.data),
    )
