"""From a checked sample to points in an engine with their kernel: every fit begins here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernelmean import _checks, engines, samples
from kernelmean._types import ArrayLike
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.loaded import LoadedSample
from kernelmean.samples import Sample, WeightedSample


@dataclass(frozen=True, eq=False)
class Prepared:
    """A loaded sample and the kernel that it is fitted with."""

    data: LoadedSample
    kernel: Kernel

    def with_kernel(self, kernel: Kernel) -> Prepared:
        """The same points with another kernel; nothing is loaded again."""
        return replace(self, kernel=kernel)


def checked_sample(
    X: ArrayLike | Sample, sample_weight: ArrayLike | None, engine: str | Engine
) -> WeightedSample:
    """What a user gave, checked, without the rows of weight zero."""
    sample = samples.check(X, engine)
    return WeightedSample.of(sample, _checks.weights(sample_weight, len(sample)))


def prepare(
    sample: WeightedSample, scale: Any, kernel: Any, bandwidth: Any, engine: str | Engine
) -> Prepared:
    """Find the scale, map, load once, and find the kernel in the mapped coordinates."""
    work = 3.0 * len(sample) ** 1.5  # kernel values of a fit with 3√n centres
    opened = engines.choose(engine, work, sample.sample.on_device)
    matrix = None if scale is None else scaling.resolve(scale, sample.summary)
    data = LoadedSample.of(sample, opened, matrix)
    return Prepared(data, resolve_kernel(kernel, bandwidth, data.cloud))


def engine_name(asked: str | Engine, prepared: Prepared) -> str | Engine:
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
    return prepared.data.engine.name if asked == "auto" else asked
