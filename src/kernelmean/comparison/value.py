"""Where two samples differ, as a value: what :func:`kernelmean.difference` found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import ArrayLike, IntVector, Points, Vector
from kernelmean.comparison import words
from kernelmean.comparison.columns import Effect
from kernelmean.comparison.histograms import Histograms
from kernelmean.comparison.pairs import matched
from kernelmean.comparison.regions import Regions
from kernelmean.comparison.result import TwoSampleTest
from kernelmean.comparison.typical import TypicalRows
from kernelmean.comparison.witness import Densities, Peaks, find_peaks, marginal
from kernelmean.mean.expansion import KernelMean


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
        The false-discovery rate of the regions, and the level at which samples are said to differ.
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
    >>> found.test.p_value
    0.001
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
        """The difference z_A − z_B of the densities as one sum, with weights of both signs."""
        return self._densities.witness

    @property
    def _densities(self) -> Densities:
        return Densities(self.mean_a, self.mean_b)

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
        return self.witness(matched(Q, self.column_names, "Q"))

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

        See Also
        --------
        peaks : Where it is zero.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
        >>> found = km.difference(A, B + [2.0, 0.0], random_state=0)
        >>> found.gradient([[1.0, 0.0]]).shape, bool(found.gradient([[1.0, 0.0]])[0, 0] < 0.0)
        ((1, 2), True)
        """
        return self.witness.gradient(matched(Q, self.column_names, "Q"))

    def peaks(self) -> Peaks:
        """Where the witness has its extremes.

        Returns
        -------
        Peaks
            ``points``, ``values`` and their ``standard_errors``, the largest absolute values
            first: A exceeds B most where the value is positive, B exceeds A where it is negative.
            Extremes within three standard errors of zero are left out. Time O(s·k·d) for each of
            a few dozen steps from s ≤ 40 starts, memory O(s·d).

        See Also
        --------
        Regions : Where the samples differ, by tests.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> found = km.difference(rng.normal(0, 1, (500, 1)), rng.normal(3, 1, (500, 1)))
        >>> peaks = found.peaks()
        >>> bool(peaks.values.min() < 0.0 < peaks.values.max())
        True
        """
        return find_peaks(self._densities)

    def marginal(self, columns: Sequence[int | str]) -> KernelMean:
        """The witness as a function of some columns, the others integrated out.

        Parameters
        ----------
        columns : sequence of int or str
            Which columns, by position or by name.

        Returns
        -------
        KernelMean
            z_A − z_B of these columns, to be called at points of as many coordinates. Time and
            memory O(k·m²) for m columns.

        See Also
        --------
        plot.DifferenceDisplay : A picture of it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> A, B = rng.normal(size=(2, 500, 3))
        >>> found = km.difference(A, B + [0.0, 0.0, 2.0], random_state=0)
        >>> (found.marginal(["x3"])([[0.0], [2.0]]) > 0.0).tolist()
        [True, False]
        """
        return marginal(self.witness, [self._column(column) for column in columns])

    def _column(self, which: int | str) -> int:
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
            Positions in ``regions``; −1 for rows outside all of them. Time O(n·k·d) for k cells.

        See Also
        --------
        Region : What is known of each.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
        >>> found = km.difference(A, B + [2.0, 0.0], random_state=0)
        >>> labels = found.region_labels([[-1.0, 0.0], [3.0, 0.0]])
        >>> [found.names[found.regions[i].more] for i in labels]
        ['A', 'B']
        """
        rows = matched(X, self.column_names)
        return self.regions.labels(_checks.points(rows, columns=len(self.column_names)))

    def describe(self) -> str:
        """What was found, in a few sentences.

        Returns
        -------
        str
            The largest regions, whether the samples differ at all, and the column that explains
            most. Costs next to nothing.

        See Also
        --------
        report.difference_page : All of it, with pictures.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
        >>> found = km.difference(A, B, random_state=0)
        >>> found.describe().partition(":")[0]
        'No difference was found between A (500 rows) and B (500 rows)'
        """
        return words.describe(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one small file, which :func:`load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Where to. The file holds atoms, regions, shares and histograms, and of the data the
            twenty typical rows only; no pickle.

        See Also
        --------
        load : Reads it.

        Examples
        --------
        >>> import tempfile, numpy as np, kernelmean as km
        >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
        >>> found = km.difference(A, B, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(f"{folder}/found.km")
        ...     again = km.load(f"{folder}/found.km")
        >>> again.test.p_value == found.test.p_value
        True
        """
        from kernelmean.comparison import storing

        storing.save(self, path)
