"""Whether two samples come from one distribution: the MMD with a permutation p-value.

Compress then test (Domingo-Enrich, Dwivedi and Mackey 2023): each sample is cut into bins of m
points, the mean of a bin is kept as few numbers, and bins instead of points are permuted. Here all
bins share k centres C, drawn from the pooled sample, and the mean of bin b is projected onto their
span,

    κ_b = mean over the bin of g(C, x),  LLᵀ = g(C, C),  y_b = L⁻¹κ_b,
    MMD² = ‖Σ_b v_b y_b‖² = vᵀGv,  G = YᵀY,

with v_b = m/n_A for the bins of A and −m/n_B for those of B. The statistic has every point in it,
whatever the bins: they only decide which permutations are looked at. Under the null hypothesis the
rows of A and B are exchangeable. Bandwidth, scale and centres are read from the pooled rows in a
random order, which tells nothing of their sample, and bins are drawn independently of that order:
so the bins are exchangeable too, given those three, and the level is exact for any n, k and number
of bins. The centres are points without spreads: no mean is fitted on them, they only span what is
projected on, and rows in a random order keep the bins exchangeable. Rows that fill no bin stay in
their sample in every permutation: no row is lost, and the level stays exact. The cost is linear in
the number of points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks, bandwidth
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, RandomState, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.engines import Engine
from kernelmean.fitting.prepare import Prepared, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel, RadialFunction
from kernelmean.linalg.factor import Factor, product
from kernelmean.linalg.gram import gram
from kernelmean.samples import ArraySample, WeightedSample

RULE = "median"
SMALLER_SHARE = 4  # the smaller sample has at least bins/4 bins, however much larger the other
MAX_BINS_FACTOR = 8  # more than so many times ``bins`` are not permuted
BLOCK_PERMUTATIONS = 4096  # computed at a time
TIE_TOLERANCE = 1e-12  # statistics this close, relative to the bins' own, are ties


@dataclass(frozen=True, eq=False)
class TwoSampleTest:
    """What :func:`mmd_test` found: reject at level a where ``p_value <= a``.

    Attributes
    ----------
    statistic : float
        The MMD between the samples, for a kernel with g(0) = 1.
    p_value : float
        (1 + permutations with a statistic as large)/(1 + permutations).
    null : ndarray of shape (permutations,)
        The statistics of the permutations, ascending.
    bins : tuple of int
        The numbers of bins of A and of B that are permuted.
    bin_size : int
        The number of points in a bin.
    k : int or None
        The number of common centres; None where the means are full.
    kernel : Kernel
        The kernel, common to both samples.

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
    """

    statistic: float  # MMD between A and B, for a kernel with g(0) = 1
    p_value: float  # (1 + permutations with a statistic as large) / (1 + permutations)
    null: Vector = field(repr=False)  # the statistics of the permutations, ascending
    bins: tuple[int, int]  # bins of A and of B that are permuted
    bin_size: int  # points per bin
    k: int | None  # common centres; None where the means are full
    kernel: Kernel

    def threshold(self, level: float = 0.05) -> float:
        """What the statistic must exceed for p ≤ level.

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


def mmd_test(
    A: ArrayLike,
    B: ArrayLike,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = RULE,
    scale: str | ArrayLike | None = None,
    sparse: bool = True,
    k: int = 256,
    bins: int = 64,
    permutations: int = 999,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> TwoSampleTest:
    """Kernel two-sample test: the MMD of two samples, with the p-value of its permutations.

    Parameters
    ----------
    A, B : array-like of shape (n, d)
        The two samples, of at least two points each; n may differ.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name that goes with ``bandwidth``.
    bandwidth : float or str, default='median'
        The kernel's own length, or a rule that reads the pooled sample.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first; the first two are read on the pooled sample.
    sparse : bool, default=True
        False takes full means, every point a centre, in time O(n²·d).
    k : int, default=256
        The number of common centres, drawn at random from the pooled sample; they are points,
        without spreads.
    bins : int, default=64
        About how many bins to permute, in all: up to twice as many, where that leaves fewer rows
        outside bins, and up to eight times where one sample is far larger. With fewer than ``2 *
        bins`` points each point is a bin.
    permutations : int, default=999
        How many permutations to draw. Where there are no more than that in all, each is taken once
        and the p-value is exact.
    engine : {'cpu', 'gpu', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the centres, the bins and the permutations.

    Returns
    -------
    TwoSampleTest
        The statistic and its p-value; p = 1 where all points are equal. Time O(n·k·d + k³ +
        permutations·bins²), memory O(n·d + k²), n = n_A + n_B.

    Raises
    ------
    ValueError
        If a sample has one point only, or the samples differ in their columns.

    See Also
    --------
    mmd : The distance alone.

    References
    ----------
    .. [1] C. Domingo-Enrich, R. Dwivedi and L. Mackey, "Compress Then Test: Powerful Kernel Testing
       in Near-linear Time", Artificial Intelligence and Statistics, 2023.
    .. [2] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A Kernel Two-Sample
       Test", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(500, 2)), rng.normal(0.5, 1.0, (500, 2))
    >>> float(km.mmd_test(A, B, random_state=0).p_value)
    0.001
    """
    first, second = _samples(A, B)
    _checks.choice(sparse, "sparse", (True, False))
    limit, about, draws = (
        _checks.count(*given)
        for given in ((k, "k"), (bins, "bins", 2), (permutations, "permutations"))
    )
    chance = _checks.streams(random_state)
    order = chance.of("test order").permutation(len(first) + len(second))
    pool = np.concatenate([first, second])[order]
    constant = bool((pool == pool[0]).all())
    prepared = _prepared(pool, constant, kernel, bandwidth, scale, engine)
    cut = _cut(order < len(first), about, chance.of("test bins"))
    radial = prepared.kernel.radial(pool.shape[1], "rkhs")
    centers = (
        np.unique(prepared.data.cloud.rows(np.arange(min(limit, len(pool)))), axis=0)
        if sparse
        else None
    )
    G = np.zeros((len(cut.parts),) * 2) if constant else _bin_gram(prepared, radial, cut, centers)
    squares = np.concatenate(
        [_squares(G, V) for V in _signs(cut, draws, chance.of("test permutations"))]
    )
    # Ties count, rounding or not.
    squares[np.abs(squares - squares[0]) <= TIE_TOLERANCE * np.diagonal(G).max()] = squares[0]
    null = np.sqrt(np.sort(squares[1:]))
    null.flags.writeable = False
    return TwoSampleTest(
        statistic=math.sqrt(squares[0]),
        # (1 + #{T_π ≥ T}) / (1 + permutations): the first square is T itself.
        p_value=np.count_nonzero(squares >= squares[0]) / len(squares),
        null=null,
        bins=cut.bins,
        bin_size=cut.size,
        k=None if centers is None else len(centers),
        kernel=prepared.kernel,
    )


class _Cut(NamedTuple):
    """Rows of the pool in bins: those of A, then those of B, then what is left of either."""

    parts: list[IntVector]
    bins: tuple[int, int]
    size: int
    base: Vector  # v of the parts when every bin is in B
    step: float  # what v gains where a bin is in A


def _samples(A: ArrayLike, B: ArrayLike) -> tuple[Points, Points]:
    first = _checks.points(A, "A")
    second = _checks.points(B, "B")
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"A has {first.shape[1]} columns and B has {second.shape[1]}: both samples need the "
            "same columns."
        )
    for X, name in ((first, "A"), (second, "B")):
        if len(X) < 2:
            raise ValueError(
                f"{name} has one point only: a test needs at least two points in each sample."
            )
    return first, second


def _prepared(
    pool: Points, constant: bool, kernel: Any, length: Any, scale: Any, engine: str | Engine
) -> Prepared:
    """The pool in its point cloud, with its kernel.

    Equal points have no scale, nor need one: any kernel finds no difference.
    """
    if isinstance(length, str):
        _checks.choice(length, "bandwidth rule", bandwidth.RULES)
        if isinstance(kernel, Kernel):
            length = DEFAULT_RULE if length == RULE else length  # a default is no second scale
        elif constant:
            length = 1.0
    sample = WeightedSample.of(ArraySample(pool))
    used = None if constant else scale
    settings = FitSettings(kernel=kernel, bandwidth=length, scale=used, engine=engine)
    return prepare(sample, settings)


def _cut(
    in_first: np.ndarray[Any, np.dtype[np.bool_]], bins: int, rng: np.random.Generator
) -> _Cut:
    """Bins of equal size from both samples.

    Of the sizes that give ``bins`` to twice as many bins, it is one that leaves few rows over.
    """
    # Drawn anew: in the order of the pool, whose first rows are the centres, the first bins would
    # hold them all.
    rows = rng.permutation(np.flatnonzero(in_first)), rng.permutation(np.flatnonzero(~in_first))
    n = (len(rows[0]), len(rows[1]))
    m = _bin_size(len(rows[0]), len(rows[1]), bins)
    smaller = min(n) // m
    most = MAX_BINS_FACTOR * bins
    a, b = (min(count // m, max(most - smaller, smaller)) for count in n)
    parts = [
        own[i * m : (i + 1) * m]
        for own, count in zip(rows, (a, b), strict=True)
        for i in range(count)
    ]
    left = [rows[0][a * m :], rows[1][b * m :]]
    # v_b = m/n_A in A, −m/n_B in B; r_A/n_A and −r_B/n_B for what is left: Σv = 0.
    outside = [
        sign * len(rest) / count
        for sign, rest, count in zip((1, -1), left, n, strict=True)
        if len(rest)
    ]
    base = np.array([-m / n[1]] * (a + b) + outside)
    return _Cut(parts + [rest for rest in left if len(rest)], (a, b), m, base, m / n[0] + m / n[1])


def _bin_size(first: int, second: int, bins: int) -> int:
    """The bin size with fewest rows left over; the largest of equals.

    Sizes run from half of to all of what ``bins`` bins would hold.
    """
    most = min((first + second) // bins, min(first, second) // max(1, bins // SMALLER_SHARE))
    sizes = np.arange(max(most, 1), max(most, 1) // 2, -1)
    return int(sizes[np.argmin(first % sizes + second % sizes)])


def _bin_gram(
    prepared: Prepared, radial: RadialFunction, cut: _Cut, centers: Points | None
) -> Matrix:
    """G_bc = ⟨mean of part b, mean of part c⟩ up to what Σv = 0 takes out.

    Where there are centres, it is taken after projection.
    """
    if centers is None:
        return _full_gram(prepared, radial, cut.parts)
    kappa = _part_sums(prepared, radial, cut, centers)
    pooled = kappa.mean(axis=1)
    factor = Factor(radial)
    factor.append(centers, pooled)
    Y = factor.forward_substitute(kappa - pooled[:, None])
    return product(Y.T, Y)


def _part_sums(prepared: Prepared, radial: RadialFunction, cut: _Cut, centers: Points) -> Matrix:
    """κ_b = mean over part b of g(C, x), (k, parts): n·k kernel values in all."""
    cloud = prepared.data.cloud
    load = prepared.data.engine.load
    single = sum(cut.bins) if cut.size == 1 else 0
    sums = [load(cloud.rows(part)).kernel_sum(radial, centers) for part in cut.parts[single:]]
    if not single:
        return np.stack(sums, axis=1)
    points = cloud.rows(np.concatenate(cut.parts[:single]))  # few: each is its own mean
    return np.column_stack([gram(radial, centers, points), *sums])


def _full_gram(prepared: Prepared, radial: RadialFunction, parts: list[IntVector]) -> Matrix:
    """G_bc = mean of g over the pairs of parts b and c, less the means of rows and columns.

    Time O(n²·d), memory O(n·d).
    """
    points = prepared.data.cloud.rows(np.concatenate(parts))
    sizes = np.array([len(part) for part in parts])
    starts = np.cumsum(sizes) - sizes
    clouds = [prepared.data.engine.load(prepared.data.cloud.rows(part)) for part in parts]
    G: Matrix = np.stack(
        [np.add.reduceat(cloud.kernel_sum(radial, points), starts) / sizes for cloud in clouds]
    )
    G -= G.mean(axis=0)
    G -= G.mean(axis=1)[:, None]
    return G


def _signs(cut: _Cut, draws: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """v of the parts: as observed, then of each permutation.

    All permutations are taken where ``draws`` would suffice for them.
    """
    count = sum(cut.bins)
    chosen = cut.bins[0]
    observed = np.arange(count) < chosen
    total = math.comb(count, chosen)
    if total <= draws + 1:
        # The first is what was observed.
        subsets = np.array(list(combinations(range(count), chosen)))
        in_first = np.zeros((total, count), dtype=bool)
        np.put_along_axis(in_first, subsets, True, axis=1)
        yield _as_signs(cut, in_first)
        return
    yield _as_signs(cut, observed[None])
    for start in range(0, draws, BLOCK_PERMUTATIONS):
        shape = min(BLOCK_PERMUTATIONS, draws - start), count
        yield _as_signs(cut, rng.permuted(np.broadcast_to(observed, shape), axis=1))


def _as_signs(cut: _Cut, in_first: np.ndarray[Any, np.dtype[np.bool_]]) -> Matrix:
    V = np.tile(cut.base, (len(in_first), 1))
    V[:, : in_first.shape[1]] += cut.step * in_first
    return V


def _squares(G: Matrix, V: Matrix) -> Vector:
    """vᵀGv for each row of V; never negative."""
    squares: Vector = np.maximum(np.sum(product(V, G) * V, axis=1), 0.0)
    return squares
