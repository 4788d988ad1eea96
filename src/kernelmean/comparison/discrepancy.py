"""Maximum mean discrepancy: how far apart two samples are, by their kernel means."""

from __future__ import annotations

from typing import Any

from kernelmean import _checks, kernels
from kernelmean._types import ArrayLike, RandomState, Space
from kernelmean.engines import Engine
from kernelmean.fitting.fit import sparse_kernel_mean
from kernelmean.fitting.full import kernel_mean
from kernelmean.fitting.recipe import RULE, Recipe, common, mean_in, two_samples
from kernelmean.kernels import Kernel
from kernelmean.mean.expansion import AnyMean, KernelMean, expansion_of


def mmd(
    A: ArrayLike | AnyMean,
    B: ArrayLike | AnyMean,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = RULE,
    scale: str | ArrayLike | None = None,
    space: Space = "rkhs",
    sparse: bool = True,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> float:
    """‖z_A − z_B‖, the maximum mean discrepancy of two samples (Gretton et al. 2012, the biased
    V-statistic).

    MMD² = mean g(a, a′) + mean g(b, b′) − 2·mean g(a, b) over all pairs, at O((n + m)k) by sparse
    means; ``sparse=False`` takes all pairs. A rule for the bandwidth is averaged over both samples,
    a named scale is that of both together; the default is the distance in
    :class:`DistributionEmbedding`. ``space="l2"`` gives the L2 distance of the two densities.

    Parameters
    ----------
    A, B : arrays of shape (n, d) and (m, d), or means; a mean says which kernel, scale and space to
        use.
    kernel, bandwidth, scale, space, engine, random_state : as in :func:`sparse_kernel_mean`.
    sparse : False for the full means.

    Returns
    -------
    float
        Time O((n + m)·k·d + k³), memory O((n + m)·d + k²).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B, C = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)), rng.normal(1.0, 1.0, (300, 2))
    >>> bool(km.mmd(A, B, random_state=0) < km.mmd(A, C, random_state=0))
    True
    """
    settings = _given(kernel, bandwidth, scale, space)
    means = mean_in(A), mean_in(B)
    if means[0] is not None or means[1] is not None:
        _nothing_else(settings)
        first = means[0] or _like(means[1], A, sparse, engine, random_state)
        return first.distance(means[1] or _like(means[0], B, sparse, engine, random_state))
    _checks.choice(space, "space", kernels.SPACES)
    samples = two_samples(A, B, "AB")
    chosen, matrix = common(samples, kernel, bandwidth, scale, engine)
    recipe = Recipe(
        chosen, matrix, space, sparse=sparse, engine=engine, streams=_checks.streams(random_state)
    )
    a, b = recipe.means(samples)
    return expansion_of(a).distance(b)


def _like(
    mean: KernelMean | None, X: Any, sparse: bool, engine: str | Engine, random_state: RandomState
) -> KernelMean:
    """The mean of a sample by the kernel, scale and space of another mean."""
    assert mean is not None
    shared: dict[str, Any] = {
        "kernel": mean.kernel,
        "scale": mean.scale,
        "space": mean.space,
        "engine": engine,
    }
    checked = _checks.points(X, "the sample", mean.dimension)
    if not sparse:
        return kernel_mean(checked, **shared)
    return sparse_kernel_mean(checked, random_state=random_state, **shared).expansion


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
