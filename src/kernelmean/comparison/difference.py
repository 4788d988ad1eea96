"""Where two samples differ: a test, regions, columns and typical rows as one value."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Points, RandomState, Vector
from kernelmean.comparison import words
from kernelmean.comparison.columns import Effect, Histograms, explain
from kernelmean.comparison.pairs import Pair, check_pair
from kernelmean.comparison.regions import Regions, find_regions
from kernelmean.comparison.two_sample import TestPlan, TwoSampleTest, open_engine, run_test
from kernelmean.comparison.typical import TypicalRows, typical_rows
from kernelmean.comparison.witness import Densities, Peaks, find_peaks, fit_densities, marginal
from kernelmean.engines import Engine
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.loaded import LoadedSample

if TYPE_CHECKING:
    from kernelmean.comparison.groups import GroupDifferences


@dataclass(frozen=True, eq=False)
class Difference:
    """Where two samples differ, and in which columns: what :func:`difference` found.

    Called at points it gives the witness z_A − z_B, the difference of the densities of the two
    samples.

    Attributes
    ----------
    names : tuple of str
        What the samples are called.
    column_names : tuple of str
        What the columns are called: those of a frame, else x1, x2, and so on.
    n_points : tuple of int
        The numbers of rows of A and of B.
    test : TwoSampleTest
        Whether they differ at all, over several bandwidths.
    level : float
        The false-discovery rate of the regions.
    mean_a, mean_b : KernelMean
        The densities z_A and z_B, on common atoms.
    regions : Regions
        The parts of space where one sample has more of its rows than the other, those of the
        largest difference first.
    columns : tuple of Effect
        How much of the difference each column explains, the most first.
    pairs : tuple of Effect
        How much each pair of columns explains beyond its two columns; the 50 largest.
    histograms : Histograms
        Of each column in A and in B.
    typical_a, typical_b : TypicalRows
        The rows of A most typical of what A has more of, and those of B.

    See Also
    --------
    difference : Makes it.
    mmd_test : The test alone.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A, B = rng.normal(size=(2, 500, 2))
    >>> B[:60] = [3.0, 3.0] + 0.3 * rng.normal(size=(60, 2))
    >>> found = km.difference(A, B, random_state=0)
    >>> found.test.p_value, len(found.regions)
    (0.001, 1)
    >>> found.names[found.regions[0].more]
    'B'
    >>> bool(found([[3.0, 3.0]])[0] < 0.0)
    True
    """

    names: tuple[str, str]
    column_names: tuple[str, ...]
    n_points: tuple[int, int]
    test: TwoSampleTest
    level: float
    mean_a: KernelMean = field(repr=False)
    mean_b: KernelMean = field(repr=False)
    regions: Regions = field(repr=False)
    columns: tuple[Effect, ...] = field(repr=False)
    pairs: tuple[Effect, ...] = field(repr=False)
    histograms: Histograms = field(repr=False)
    typical_a: TypicalRows = field(repr=False)
    typical_b: TypicalRows = field(repr=False)

    def __repr__(self) -> str:
        found = f"{len(self.regions)} region{'' if len(self.regions) == 1 else 's'}"
        sizes = " and ".join(
            f"{n} of {name}" for n, name in zip(self.n_points, self.names, strict=True)
        )
        return f"Difference({sizes}: p = {self.test.p_value:.3g}, {found})"

    @lazy
    def witness(self) -> KernelMean:
        """z_A − z_B as a sum over atoms, with weights of both signs."""
        return Densities(self.mean_a, self.mean_b).witness

    def __call__(self, Q: ArrayLike) -> Vector:
        """The witness at points: z_A − z_B.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            The difference of the densities; positive where A has more. Time O(q·k·d).
        """
        return self.witness(Q)

    def gradient(self, Q: ArrayLike) -> Points:
        """The gradient of the witness at points.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇(z_A − z_B). Time O(q·k·d).
        """
        return self.witness.gradient(Q)

    def peaks(self) -> Peaks:
        """Where the witness has its extremes.

        Returns
        -------
        Peaks
            ``points`` and ``values``, the largest absolute values first: A exceeds B most where
            the value is positive, B exceeds A where it is negative.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> found = km.difference(rng.normal(0, 1, (500, 1)), rng.normal(3, 1, (500, 1)))
        >>> peaks = found.peaks()
        >>> bool(peaks.values.min() < 0.0 < peaks.values.max())
        True
        """
        return find_peaks(self.witness)

    def marginal(self, columns: Sequence[int | str]) -> KernelMean:
        """The witness as a function of some columns, the others integrated out.

        Parameters
        ----------
        columns : sequence of int or str
            Which columns, by position or by name.

        Returns
        -------
        KernelMean
            z_A − z_B of these columns, to be called at points of as many coordinates.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> A, B = rng.normal(size=(2, 500, 3))
        >>> found = km.difference(A, B + [0.0, 0.0, 2.0], random_state=0)
        >>> (found.marginal(["x3"])([[0.0], [2.0]]) > 0.0).tolist()
        [True, False]
        """
        return marginal(self.witness, [self.column(column) for column in columns])

    def column(self, which: int | str) -> int:
        """The position of a column that is named, or given by its position."""
        if isinstance(which, str):
            _checks.choice(which, "column", self.column_names)
            return self.column_names.index(which)
        position = _checks.count(which, "column", least=0)
        if position >= len(self.column_names):
            raise ValueError(f"there are {len(self.column_names)} columns, and no column {which}.")
        return position

    def region_labels(self, X: ArrayLike) -> IntVector:
        """Which region each row lies in.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows, of either sample or new.

        Returns
        -------
        ndarray of shape (n,)
            Positions in ``regions``; −1 for rows outside all of them.
        """
        return self.regions.labels(_checks.points(X, columns=len(self.column_names)))

    def describe(self) -> str:
        """What was found, in a few sentences."""
        return words.describe(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one small file, which :func:`load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Where to. The file holds atoms, regions, shares and histograms, and of the data the
            twenty typical rows only; no pickle.
        """
        from kernelmean.comparison import storing

        storing.save(self, path)


def difference(
    A: ArrayLike,
    B: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    names: Sequence[str] | None = None,
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
    A, B : array-like of shape (n, d)
        The two samples, of at least two rows each; columns of two frames are matched by name. With
        ``groups``, A holds all rows and B is left out.
    groups : array-like of shape (n,) or None, default=None
        Which sample each row of A belongs to: numbers or names. Of two groups the first in order is
        A; of more, each is compared with all the others.
    names : sequence of str or None, default=None
        What A and B are called in words and pictures.
    bandwidth : float or str, default='scott'
        Of the two densities: a number in the coordinates after ``scale``, or a rule. The test has
        bandwidths of its own.
    scale : {'auto', 'std'} or None, default='auto'
        What each column is divided by first: a robust width, its standard deviation, or nothing.
    level : float, default=0.05
        The false-discovery rate of the regions: the share of what is claimed that may be wrong.
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
        What was found; the latter for more than two groups.

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
    settings = Settings(bandwidth, scale, _checked_level(level), permutations, engine)
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

    @property
    def plan(self) -> TestPlan:
        """Of the test."""
        return TestPlan(scale=self.scale, permutations=self.permutations)


def compare(pair: Pair, names: tuple[str, str], settings: Settings, streams: Streams) -> Difference:
    """The difference of a checked pair."""
    test = run_test(pair, settings.plan, settings.engine, streams)
    engine = open_engine(settings.engine, pair)
    origin = pair.first.sample.first
    columns = pair.columns or tuple(f"x{j + 1}" for j in range(pair.dimension))
    loaded = [LoadedSample.of(own, engine, test.scale, origin) for own in pair.both]
    regions = find_regions(loaded[0], loaded[1], settings.level, streams)
    densities = fit_densities(pair, test.scale, settings.bandwidth, engine, streams)
    explanation = explain(pair.first, pair.second, columns, streams)
    witness = densities.witness
    typical = [
        typical_rows(own, witness, sign, streams.of("typical rows", i))
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


def _two_names(names: Sequence[str] | None) -> tuple[str, str]:
    if names is None:
        return "A", "B"
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names must be two words, for A and for B, got {names!r}.")
    return names[0], names[1]
