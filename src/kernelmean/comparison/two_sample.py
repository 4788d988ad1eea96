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
looks at three bandwidths, and for each at Yᵀ(S + ρs₁)⁻¹Y besides, S being the covariance of
L⁻¹g(C, x) over pooled rows (Harchaoui, Bach and Moulines 2008; Hagrass, Sriperumbudur and Li 2024).
:mod:`kernelmean.comparison.aggregate` makes one p-value of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelmean import _blas, _checks, bandwidth, engines, kernels
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, RandomState, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.comparison import aggregate
from kernelmean.comparison.bin_means import center_gram, full_gram
from kernelmean.comparison.bins import Bins, cut, signs, squares
from kernelmean.comparison.pairs import Pair, check_pair
from kernelmean.comparison.result import Component, TwoSampleTest
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel

AGGREGATE = "aggregate"
FACTORS = (1.0, 4.0, 0.25)  # bandwidths that are aggregated, in units of the median distance
RIDGES = (0.1, 0.01, 0.001, 0.0001)  # regularisations, relative to the largest eigenvalue
MEDIAN_ROWS = 1000  # whose distances have the median
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

    By default the test tunes itself: it looks at three bandwidths and five regularisations and
    corrects for that by the same permutations, so that its level is exact.

    Parameters
    ----------
    A, B : array-like of shape (n, d), or a Dask collection
        The two samples, of at least two points each; n may differ. Columns of two frames are
        matched by name.
    kernel : str or Kernel, default='gaussian'
        A kernel such as ``km.Gaussian(0.5)``, or a name that goes with ``bandwidth``.
    bandwidth : float or str, default='aggregate'
        "aggregate" takes ¼, 1 and 4 times the median distance, each with the MMD itself and with
        four regularised statistics, which count a direction by what chance does in it. A number is
        the kernel's own length, a rule such as "median" or "iqr" reads the pooled sample: then
        the MMD of that one bandwidth is the statistic.
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first, read on the pooled sample. "auto" divides
        each column by a robust width, but maps nothing where the bandwidth is a number or a rule
        or the kernel an instance: those are in the data's units.
    sparse : bool, default=True
        False takes full means, every point a centre, in time O(n²·d), without regularised
        statistics.
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
    sample_weight : pair of array-like or None, default=None
        Weights of the rows of A and of B, either of which may be None. Integer weights mean
        repeated rows; with others, rows and their weights are permuted together.
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


@dataclass(frozen=True)
class TestPlan:
    """How a test is made; the fields mean what they mean in :func:`mmd_test`."""

    __test__ = False  # nothing that pytest should collect

    kernel: str | Kernel = "gaussian"
    bandwidth: float | str = AGGREGATE
    scale: Any = "auto"
    sparse: bool = True
    k: int = 256
    bins: int = 64
    permutations: int = 999

    def check(self) -> None:
        """Raise an error where a setting is none, before any work is done."""
        _checks.choice(self.sparse, "sparse", (True, False))
        _checks.count(self.k, "k")
        _checks.count(self.bins, "bins", 2)
        _checks.count(self.permutations, "permutations")
        if isinstance(self.bandwidth, str):
            _checks.choice(self.bandwidth, "bandwidth rule", (AGGREGATE, *bandwidth.RULES))
        if isinstance(self.scale, str):
            _checks.choice(self.scale, "scale", ("auto", "std", "cov"))

    @property
    def aggregates(self) -> bool:
        """Whether several bandwidths are looked at."""
        return self.bandwidth == AGGREGATE and not isinstance(self.kernel, Kernel)

    @property
    def named_scale(self) -> Any:
        """The scale; a length that is given is one in the data's own units."""
        automatic = isinstance(self.scale, str) and self.scale == "auto"
        return None if automatic and not self.aggregates else self.scale


def run_test(pair: Pair, plan: TestPlan, engine: str | Engine, streams: Streams) -> TwoSampleTest:
    """The test of a checked pair."""
    order = streams.of("test order").permutation(len(pair))
    constant = _is_constant(pair, order)
    matrix = None if constant else pair.scale(plan.named_scale, order)
    mapped = pair.mapped(matrix, pair.first.sample.first)
    opened = open_engine(engine, mapped)
    tried = _kernels(mapped, plan, order, opened, constant=constant)
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


def _kernels(
    pair: Pair, plan: TestPlan, order: IntVector, engine: Engine, *, constant: bool
) -> list[Kernel]:
    """The kernels to look at, by the pooled sample; equal points need no scale."""
    if constant and not isinstance(plan.kernel, Kernel) and isinstance(plan.bandwidth, str):
        return [kernels.family(plan.kernel).rescaled(1.0, pair.dimension)]
    few = engine.load(pair.rows(order[:MEDIAN_ROWS]))
    if plan.aggregates:
        family = kernels.family(str(plan.kernel))
        sigma = bandwidth.by_rule("median", few)
        return [family.matching(factor * sigma, pair.dimension) for factor in FACTORS]
    length = plan.bandwidth
    if isinstance(plan.kernel, Kernel) and length == AGGREGATE:
        length = DEFAULT_RULE  # a default is no second scale
    if isinstance(length, str) and not isinstance(plan.kernel, Kernel):
        pooled = pair.first.sample.join([pair.second.sample])
        return [resolve_kernel(plan.kernel, length, pooled.load(engine, pair.weights()))]
    return [resolve_kernel(plan.kernel, length, few)]


def _grams(
    pair: Pair,
    plan: TestPlan,
    order: IntVector,
    bins: Bins,
    tried: list[Kernel],
    engine: Engine,
) -> tuple[list[Matrix], list[_Name], int | None]:
    """G of each component, its name, and the number of centres."""
    radials = [kernel.radial(pair.dimension, "rkhs") for kernel in tried]
    if not plan.sparse:
        found = full_gram(pair, bins, radials, engine)
        return found, [_Name(kernel, None) for kernel in tried], None
    ridges = RIDGES if plan.aggregates else ()
    centers: Points = np.unique(pair.rows(order[: plan.k]), axis=0)
    known = pair.rows(order[: COVARIANCE_ROWS * plan.k]) if ridges else None
    found = center_gram(pair, bins, radials, centers, engine, known, ridges)
    names = [_Name(kernel, ridge) for kernel in tried for ridge in (None, *ridges)]
    return found, names, len(centers)


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
        evidence = aggregate.evidence(found)
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
        components=tuple(Component(*name, float(p)) for name, p in zip(names, alone, strict=True)),
    )
