"""Maximum mean discrepancy: how far apart two samples are, by their kernel means."""

from __future__ import annotations

from typing import Any, NamedTuple

from kernelmean import _checks, kernels
from kernelmean._types import ArrayLike, RandomState, Space
from kernelmean.engines import Engine
from kernelmean.fitting.fit import sparse_kernel_mean
from kernelmean.fitting.full import kernel_mean
from kernelmean.fitting.recipe import RULE, Recipe, common, mean_in, two_samples
from kernelmean.kernels import Kernel
from kernelmean.mean.expansion import AnyMean, KernelMean, expansion_of
from kernelmean.mean.value import SparseKernelMean


def mmd(
    A: ArrayLike | AnyMean,
    B: ArrayLike | AnyMean,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = RULE,
    scale: str | ArrayLike | None = None,
    space: Space = "rkhs",
    sparse: bool = True,
    spread: str | None = "auto",
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> float:
    """The maximum mean discrepancy ‖z_A − z_B‖ of two samples: the biased V-statistic of [1]_.

    MMD² = mean g(a, a′) + mean g(b, b′) − 2·mean g(a, b) over all pairs, at O((n + m)·k·d) by
    sparse means; ``sparse=False`` takes all pairs. A rule for the bandwidth is averaged over both
    samples, and a named scale is that of both together; the default is the distance in
    :class:`DistributionEmbedding`.

    Parameters
    ----------
    A, B : array-like of shape (n, d), SparseKernelMean or KernelMean
        The two samples, or their means; n may differ. A mean says which kernel, scale and space to
        use.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name that goes with ``bandwidth``.
    bandwidth : float or str, default='iqr'
        The kernel's own length, or a rule.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first.
    space : {'rkhs', 'l2'}, default='rkhs'
        "l2" gives the L2 distance of the two densities.
    sparse : bool, default=True
        False compares the full means.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the selections of centres.

    Returns
    -------
    float
        The distance. Time O((n + m)·k·d + k³), memory O((n + m)·d + k²).

    Raises
    ------
    ValueError
        If a mean is given together with a kernel, a bandwidth, a scale or a space.

    See Also
    --------
    mmd_test : Whether the distance is more than chance.
    SparseKernelMean.distance : The distance of two means.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A Kernel Two-Sample
       Test", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B, C = (rng.normal(m, 1.0, (300, 2)) for m in (0.0, 0.0, 1.0))
    >>> bool(km.mmd(A, B, random_state=0) < km.mmd(A, C, random_state=0))
    True
    """
    settings = _given(kernel, bandwidth, scale, space)
    means = mean_in(A), mean_in(B)
    if means[0] is not None or means[1] is not None:
        _nothing_else(settings)
        how = _How(sparse, spread, engine, random_state)
        first = means[0] or _like(means[1], A, how)
        return first.distance(means[1] or _like(means[0], B, how))
    _checks.choice(space, "space", kernels.SPACES)
    samples = two_samples(A, B, "AB")
    chosen, matrix = common(samples, kernel, bandwidth, scale, engine)
    recipe = Recipe(
        chosen,
        matrix,
        space,
        sparse=sparse,
        engine=engine,
        streams=_checks.streams(random_state),
        options={"spread": spread},
    )
    a, b = recipe.means(samples)
    return expansion_of(a).distance(b)


class _How(NamedTuple):
    """How a sample is fitted that is compared with a mean."""

    sparse: bool
    spread: str | None
    engine: str | Engine
    random_state: RandomState


def _like(mean: KernelMean | None, X: Any, how: _How) -> KernelMean:
    """The mean of a sample by the kernel, scale and space of another mean."""
    assert mean is not None
    shared: dict[str, Any] = {
        "kernel": mean.kernel,
        "scale": mean.scale,
        "space": mean.space,
        "engine": how.engine,
    }
    checked = _checks.points(X, "the sample", mean.dimension)
    if not how.sparse:
        return kernel_mean(checked, **shared)
    seed = how.random_state
    found: SparseKernelMean = sparse_kernel_mean(
        checked, spread=how.spread, random_state=seed, **shared
    )
    return found.expansion


def _given(kernel: Any, bandwidth: Any, scale: Any, space: Any) -> list[str]:
    """Which settings differ from their defaults."""
    pairs = {
        "kernel": (kernel, "gaussian"),
        "bandwidth": (bandwidth, RULE),
        "scale": (scale, None),
        "space": (space, "rkhs"),
    }
    return [
        name
        for name, (value, default) in pairs.items()
        if not (type(value) is type(default) and value == default)
    ]


def _nothing_else(settings: list[str]) -> None:
    if settings:
        raise ValueError(
            f"a mean carries its own kernel, scale and space: leave {settings[0]}= out, or give "
            "two samples."
        )
