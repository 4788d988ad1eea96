"""Where two samples differ: a test, regions, columns and typical rows as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelmean import _blas, _checks
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, RandomState
from kernelmean.comparison.columns import explain
from kernelmean.comparison.pairs import Pair, check_pair
from kernelmean.comparison.plan import TestPlan
from kernelmean.comparison.regions import find_regions
from kernelmean.comparison.two_sample import open_engine, run_test
from kernelmean.comparison.typical import typical_rows
from kernelmean.comparison.value import Difference
from kernelmean.comparison.witness import fit_densities
from kernelmean.engines import Engine
from kernelmean.mean.loaded import LoadedSample

if TYPE_CHECKING:
    from kernelmean.comparison.groups import GroupDifferences


def difference(
    A: ArrayLike,
    B: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    bandwidth: float | str = "scott",
    scale: str | None = "auto",
    level: float = 0.05,
    permutations: int = 999,
    sample_weight: Any = None,
    engine: str | Engine = "cpu",
    random_state: RandomState = None,
) -> Difference | GroupDifferences:
    """Where two samples differ, in which columns, and by how much; or which of several differs.

    A test says whether they differ at all (:func:`mmd_test`). Local tests in cells of near rows
    find the regions where one sample has more of its rows than the other, at a false-discovery
    rate. A decomposition of the squared difference says how much of it each column and each pair of
    columns explains. All of it is linear in the number of rows.

    Parameters
    ----------
    A : array-like of shape (n, d)
        The first sample, of at least two rows; with ``groups``, the rows of all samples.
    B : array-like of shape (m, d) or None, default=None
        The second sample; columns of two frames are matched by name. Left out with ``groups``.
    groups : array-like of shape (n,) or None, default=None
        Which sample each row of A belongs to: numbers or names. Of two groups the first in order is
        A; of more, each is compared with all the others.
    names : sequence of str or None, default=None
        What A and B are called in words and pictures.
    columns : sequence of str or None, default=None
        What the columns are called, where the samples are arrays.
    bandwidth : float or str, default='scott'
        Of the two densities: a number in the coordinates after ``scale``, or a rule. The test has
        bandwidths of its own.
    scale : {'auto', 'std'} or None, default='auto'
        What each column is divided by first: a robust width, its standard deviation, or nothing.
    level : float, default=0.05
        The false-discovery rate of the regions, the share of what is claimed that may be wrong;
        and the level of the test at which the samples are said to differ.
    permutations : int, default=999
        Of the test.
    sample_weight : pair of array-like or None, default=None
        Weights of the rows of A and of B; with ``groups`` one array. Integer weights mean repeated
        rows.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds all draws.

    Returns
    -------
    Difference or GroupDifferences
        What was found; the latter for more than two groups. Time O(n·k·d) for n rows of both
        samples and k ≤ 1000 cells, and for each of several groups again; memory O(n·d).

    Raises
    ------
    ValueError
        If the samples differ in their columns, or one of them has a single row.

    See Also
    --------
    mmd_test : The test alone.
    plot.DifferenceDisplay : A picture of it.
    report.difference_page : A page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(2, 1000, 4))
    >>> B[:, 2] += 0.5
    >>> found = km.difference(A, B, random_state=0)
    >>> found.columns[0].columns, found.columns[0].share > 0.8
    (('x3',), True)
    >>> site = np.repeat(["Oslo", "Rome", "Paris"], [500, 500, 1000])
    >>> several = km.difference(np.concatenate([A, B]), groups=site, random_state=0)
    >>> several.names[several.order[0]]
    'Paris'
    """
    _checks.choice(scale, "scale", ("auto", "std", None))
    settings = Settings(bandwidth, scale, _checked_level(level), permutations, engine, columns)
    settings.plan.check()
    streams = _checks.streams(random_state)
    if groups is None:
        if B is None:
            raise ValueError(
                "give a second sample B, or groups= that say which sample a row is of."
            )
        pair = check_pair(A, B, sample_weight, engine)
        return compare(pair, _two_names(names), settings, streams)
    if B is not None:
        raise ValueError("give either a second sample B, or groups= of the rows of A, not both.")
    if names is not None:
        raise ValueError("names= is for two samples: groups are called what groups= calls them.")
    from kernelmean.comparison.groups import compare_groups

    return compare_groups(A, groups, sample_weight, settings, streams)


@dataclass(frozen=True)
class Settings:
    """How samples are compared; the fields mean what they mean in :func:`difference`."""

    bandwidth: float | str
    scale: Any
    level: float
    permutations: int
    engine: str | Engine
    columns: Sequence[str] | None = None

    @property
    def plan(self) -> TestPlan:
        """Of the test."""
        return TestPlan(scale=self.scale, permutations=self.permutations)


def compare(pair: Pair, names: tuple[str, str], settings: Settings, streams: Streams) -> Difference:
    """The difference of a checked pair."""
    test = run_test(pair, settings.plan, settings.engine, streams)
    engine = open_engine(settings.engine, pair)
    with _blas.one_thread():  # many small systems
        densities = fit_densities(pair, test.scale, settings.bandwidth, engine, streams)
    origin = pair.first.sample.first
    columns = _column_names(pair, settings.columns)
    loaded = [LoadedSample.of(own, engine, test.scale, origin) for own in pair.both]
    regions = find_regions(loaded[0], loaded[1], settings.level, streams)
    explanation = explain(pair.first, pair.second, columns, streams)
    typical = [
        typical_rows(own, densities, sign, streams.of("typical rows", i))
        for i, (own, sign) in enumerate(zip(pair.both, (1, -1), strict=True))
    ]
    return Difference(
        names,
        columns,
        (len(pair.first), len(pair.second)),
        test,
        settings.level,
        densities.first,
        densities.second,
        regions,
        explanation.columns,
        explanation.pairs,
        explanation.histograms,
        typical[0],
        typical[1],
    )


def _checked_level(level: Any) -> float:
    value = _checks.number(level, "level", above=0.0)
    if value >= 1.0:
        raise ValueError(f"level is a false-discovery rate below 1, got {level!r}.")
    return value


def _column_names(pair: Pair, given: Sequence[str] | None) -> tuple[str, ...]:
    """Those given, those of a frame, or x1, x2, and so on."""
    if given is None:
        return pair.columns or tuple(f"x{j + 1}" for j in range(pair.dimension))
    if isinstance(given, str) or len(given) != pair.dimension or len(set(given)) < len(given):
        raise ValueError(
            f"columns must be {pair.dimension} different names, one for each column, got {given!r}."
        )
    return tuple(str(name) for name in given)


def _two_names(names: Sequence[str] | None) -> tuple[str, str]:
    if names is None:
        return "A", "B"
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names must be two words, for A and for B, got {names!r}.")
    if names[0] == names[1]:
        raise ValueError(f"names must differ, or nobody could tell the samples: got {names!r}.")
    return names[0], names[1]
