"""What a two-sample test found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from kernelmean import _checks, _shown
from kernelmean._types import Matrix, Vector
from kernelmean.kernels import Kernel


class Component(NamedTuple):
    """One of the statistics that a test looks at."""

    kernel: Kernel
    ridge: float | None  # ρ; None for the MMD itself
    p_value: float  # of this statistic alone


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleTest:
    """What :func:`mmd_test` found: reject at level a where ``p_value <= a``.

    Attributes
    ----------
    statistic : float
        With one bandwidth the MMD between the samples, for a kernel with g(0) = 1. Under
        aggregation the evidence of the component that stands out most: −log₁₀ of its tail
        probability, approximately, before the correction for having looked at several; of sparse
        means, components other than those that see a shift of the mean have log₁₀ 3 less.
    p_value : float
        (1 + permutations with a statistic as large)/(1 + permutations). It accounts for all
        components.
    null : ndarray of shape (permutations,)
        The statistics of the permutations, ascending; under aggregation the largest evidence of
        each.
    bins : tuple of int
        The numbers of bins of A and of B that are permuted.
    bin_size : int
        The number of points in a bin.
    k : int or None
        The number of common centres; None where the means are full.
    kernel : Kernel
        The kernel, common to both samples; under aggregation that of the component that stands out
        most.
    scale : ndarray of shape (d, d) or None
        The linear map of the data before the kernel; None where there is none.
    components : tuple of Component
        Every statistic that was looked at: its ``kernel``, its ``ridge`` (None for the MMD itself)
        and its own ``p_value``. One entry where there is one bandwidth.

    See Also
    --------
    mmd_test : Makes the test.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> found = km.mmd_test(X[:100], X[100:] + 1.0, random_state=0)
    >>> bool(found.p_value <= 0.05), found.statistic > found.threshold(0.05)
    (True, True)
    >>> len(found.components)  # four bandwidths, two of them with two statistics each
    6
    """

    statistic: float
    p_value: float
    null: Vector = field(repr=False)
    bins: tuple[int, int]
    bin_size: int
    k: int | None
    kernel: Kernel
    scale: Matrix | None = field(default=None, repr=False)
    components: tuple[Component, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return _shown.brief(self, [entry.name for entry in fields(self) if entry.repr])

    @property
    def aggregated(self) -> bool:
        """Whether the statistic is the largest evidence of several components."""
        return len(self.components) > 1

    def threshold(self, level: float = 0.05) -> float:
        """What the statistic must exceed for p ≤ level, in the units of the statistic.

        Parameters
        ----------
        level : float, default=0.05
            The level of the test.

        Returns
        -------
        float
            The threshold; inf where there are too few permutations for any statistic to do.

        See Also
        --------
        mmd_test : Makes the test.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(200, 1))
        >>> found = km.mmd_test(X[:100], X[100:], permutations=10, random_state=0)
        >>> found.threshold(0.01)
        inf
        """
        _checks.number(level, "level", least=0.0)
        exceeding = math.floor(level * (len(self.null) + 1) * (1 + 4e-16)) - 1
        if exceeding < 0:
            return math.inf
        return float(self.null[-1 - exceeding]) if exceeding < len(self.null) else -math.inf
