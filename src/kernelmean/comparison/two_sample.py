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
of bins. The cost is linear in the number of points.

No single bandwidth is right, and the MMD counts every direction of the RKHS by its eigenvalue,
which hides a change of correlation behind the noise of the mean. So ``bandwidth="aggregate"``
looks at four bandwidths, and with the wide ones at Yᵀ(S + ρs₁)⁻¹Y besides, S being the covariance
of L⁻¹g(C, x) over pooled rows (Harchaoui, Bach and Moulines 2008; Hagrass, Sriperumbudur and Li
2024).
:mod:`kernelmean.comparison.aggregate` makes one p-value of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmean import _blas, _checks, engines
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Matrix, RandomState, Vector
from kernelmean.comparison import aggregate
from kernelmean.comparison.bin_means import Side, center_grams, full_gram
from kernelmean.comparison.bins import Bins, cut, signs, squares
from kernelmean.comparison.pairs import Pair, check_pair
from kernelmean.comparison.plan import AGGREGATE, MEDIAN_ROWS, Look, TestPlan, find_looks
from kernelmean.comparison.result import Component, TwoSampleTest
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel

COVARIANCE_ROWS = 4  # pooled rows that the covariance is taken over, for each centre
TIE_TOLERANCE = 1e-12  # statistics this close, relative to the bins' own, are ties


def mmd_test(
    A: ArrayLike,
    B: ArrayLike,
    *,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = AGGREGATE,
    scale: str | ArrayLike | None = "auto",
    sparse: bool = True,
    k: int = 256,
    bins: int = 64,
    permutations: int = 999,
    sample_weight: Sequence[ArrayLike | None] | None = None,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> TwoSampleTest:
    """Kernel two-sample test: the MMD of two samples, with the p-value of its permutations.

    By default the test tunes itself: it looks at four bandwidths, the wide ones with regularised
    statistics too, and corrects for that by the same permutations, so that its level is exact.

    Parameters
    ----------
    A, B : array-like of shape (n, d), or a Dask collection
        The two samples, of at least two points each; n may differ. Columns of two frames are
        matched by name.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name that goes with ``bandwidth``.
    bandwidth : float or str, default='aggregate'
        "aggregate" takes the median distance, a quarter and a sixteenth of it with the MMD itself,
        and once and four times it with regularised statistics, which count a direction by what
        chance does in it. A number is the kernel's own length, a rule such as "median" or "iqr"
        reads the pooled sample: then the MMD of that one bandwidth is the statistic.
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first, read on the pooled sample. "auto" divides
        each column by a robust width, but maps nothing where the bandwidth is a number or a rule
        or the kernel an instance: those are in the data's units.
    sparse : bool, default=True
        False takes full means, every point a centre, in time O(n²·d), without regularised
        statistics.
    k : int, default=256
        The number of common centres, drawn at random from the pooled sample; they are points,
        without spreads. The two narrow bandwidths of "aggregate" have twice as many.
    bins : int, default=64
        About how many bins to permute, in all: up to twice as many, where that leaves fewer rows
        outside bins, and up to eight times where one sample is far larger. With fewer than ``2 *
        bins`` points each point is a bin.
    permutations : int, default=999
        How many permutations to draw. Where there are no more than that in all, each is taken once
        and the p-value is exact.
    sample_weight : pair of array-like or None, default=None
        Weights of the rows of A and of B, either of which may be None. Integer weights mean
        repeated rows, as long as these are at most ten million in memory. Other weights are
        permuted with their rows where both samples have weights that vary alike; where they do
        not, one sample having none, say, a row stays with a probability in proportion to its
        weight: the level is exact either way, at the price of rows in the second.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes. The kernel sums over the bins, all that grows with n, run where the points
        are: on a device for "gpu", on the workers for "cluster" and Dask collections.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the centres, the bins and the permutations.

    Returns
    -------
    TwoSampleTest
        The statistic and its p-value; p = 1 where all points are equal. Time O(n·k·d + k³ +
        permutations·bins²) for each bandwidth, memory O(n·d + k²), n = n_A + n_B.

    Raises
    ------
    ValueError
        If a sample has one point only, or the samples differ in their columns.

    See Also
    --------
    difference : Where the samples differ, and in which columns.
    mmd : The distance alone.

    References
    ----------
    .. [1] C. Domingo-Enrich, R. Dwivedi and L. Mackey, "Compress Then Test: Powerful Kernel Testing
       in Near-linear Time", Artificial Intelligence and Statistics, 2023.
    .. [2] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf and A. Smola, "A Kernel Two-Sample
       Test", Journal of Machine Learning Research 13, 2012.
    .. [3] A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj and A. Gretton, "MMD Aggregated
       Two-Sample Test", Journal of Machine Learning Research 24, 2023.
    .. [4] O. Hagrass, B. K. Sriperumbudur and B. Li, "Spectral Regularized Kernel Two-Sample
       Tests", Annals of Statistics 52, 2024.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(500, 2)), rng.normal(0.5, 1.0, (500, 2))
    >>> float(km.mmd_test(A, B, random_state=0).p_value)
    0.001
    """
    pair = check_pair(A, B, sample_weight, engine)
    plan = TestPlan(kernel, bandwidth, scale, sparse, k, bins, permutations)
    plan.check()
    return run_test(pair, plan, engine, _checks.streams(random_state))


def run_test(pair: Pair, plan: TestPlan, engine: str | Engine, streams: Streams) -> TwoSampleTest:
    """The test of a checked pair."""
    pair = pair.with_like_weights([streams.of("thinned rows", side) for side in (0, 1)])
    order = streams.of("test order").permutation(len(pair))
    constant = _is_constant(pair, order)
    matrix = None if constant else pair.scale(plan.named_scale, order)
    mapped = pair.mapped(matrix, pair.first.sample.first)
    opened = open_engine(engine, mapped)
    tried = find_looks(mapped, plan, order, opened, constant=constant)
    bins = cut(order, len(pair.first), plan.bins, streams.of("test bins"))
    with _blas.one_thread():  # systems too small to share, and engines with threads of their own
        grams, names, k = _grams(mapped, plan, order, bins, tried, opened)
    if constant:
        grams = [np.zeros_like(G) for G in grams]
    masses = bins.masses(pair.weights())
    rng = streams.of("test permutations")
    found = _statistics(grams, signs(bins, masses, plan.permutations, rng))
    return _result(found, names, bins, k, matrix)


class _Name(NamedTuple):
    """What a component is, before anything is known of it."""

    kernel: Kernel
    ridge: float | None
    weight: float = 1.0


def _is_constant(pair: Pair, order: IntVector) -> bool:
    """Whether all points of both samples are equal."""
    few = pair.rows(order[:MEDIAN_ROWS])
    if (few != few[0]).any():
        return False
    summary = pair.summary()
    return not summary.quantile_range(0.0, 1.0).any()


def open_engine(engine: str | Engine, pair: Pair) -> Engine:
    """The engine, with sums in float64."""
    work = float(len(pair)) * 1000.0  # kernel values: a few hundred centres, a few bandwidths
    on_device = pair.first.sample.on_device or pair.second.sample.on_device
    return engines.precise(engines.choose(engine, work, on_device))


def _grams(
    pair: Pair,
    plan: TestPlan,
    order: IntVector,
    bins: Bins,
    tried: list[tuple[Kernel, Look]],
    engine: Engine,
) -> tuple[list[Matrix], list[_Name], int | None]:
    """G of each component, its name, and the number of centres."""
    radials = [kernel.radial(pair.dimension, "rkhs") for kernel, _ in tried]
    if not plan.sparse:
        found = full_gram(pair, bins, radials, engine)
        return found, [_Name(kernel, None) for kernel, _ in tried], None
    rows = pair.rows(order[: COVARIANCE_ROWS * plan.k])
    sides = [
        Side(radial, np.unique(rows[: own.centers * plan.k], axis=0), own.ridges)
        for radial, (_, own) in zip(radials, tried, strict=True)
    ]
    found = center_grams(pair, bins, sides, rows, engine)
    names = [
        _Name(kernel, ridge, weight)
        for kernel, own in tried
        for ridge, weight in zip(own.ridges, own.weights, strict=True)
    ]
    return found, names, len(sides[0].centers)


def _statistics(grams: list[Matrix], permutations: Any) -> Matrix:
    """(components, 1 + permutations): vᵀGv, what was observed first."""
    columns = [np.stack([squares(G, V) for G in grams]) for V in permutations]
    found: Matrix = np.concatenate(columns, axis=1)
    for row, G in zip(found, grams, strict=True):
        # Ties count, rounding or not.
        row[np.abs(row - row[0]) <= TIE_TOLERANCE * np.diagonal(G).max()] = row[0]
    return found


def _result(
    found: Matrix, names: list[_Name], bins: Bins, k: int | None, scale: Matrix | None
) -> TwoSampleTest:
    alone = aggregate.p_values(found)
    if len(found) == 1:
        statistics: Vector = np.sqrt(found[0])
        leading = 0
    else:
        evidence = aggregate.evidence(found, np.array([name.weight for name in names]))
        statistics = evidence.max(axis=0)
        leading = int(evidence[:, 0].argmax())
    null = np.sort(statistics[1:])
    null.flags.writeable = False
    return TwoSampleTest(
        statistic=float(statistics[0]),
        # (1 + #{T_π ≥ T}) / (1 + permutations): the first is T itself.
        p_value=int(np.count_nonzero(statistics >= statistics[0])) / len(statistics),
        null=null,
        bins=bins.counts,
        bin_size=bins.size,
        k=k,
        kernel=names[leading].kernel,
        scale=scale,
        components=tuple(
            Component(name.kernel, name.ridge, float(p))
            for name, p in zip(names, alone, strict=True)
        ),
    )
