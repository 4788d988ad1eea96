"""Where two samples differ: regions that hold more of the one than of the other.

The pooled rows are cut into cells without looking at which sample they are from
(:mod:`kernelmean.comparison.pooled_cells` says why tests stay valid then), every cell and many
unions of cells are tested (:mod:`kernelmean.comparison.local_tests`), those that differ are chosen
at a false-discovery rate (:mod:`kernelmean.comparison.claims`), and neighbours among them with the
same sign are one region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kernelmean import _shown, samples
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.comparison.claims import Claims, claim, standing_cells
from kernelmean.comparison.local_tests import (
    Side,
    compare,
    count,
    difference_interval,
    log_likelihood_ratios,
)
from kernelmean.comparison.pooled_cells import (
    Pool,
    adjacent,
    draw_pool,
    find_centers,
    join_cells,
    two_nearest,
)
from kernelmean.comparison.standing_apart import columns_apart
from kernelmean.mean import scaling
from kernelmean.mean.loaded import LoadedSample

QUANTILES = np.array([0.1, 0.5, 0.9])  # lower, center and upper of a region


@dataclass(frozen=True, eq=False)
class Region:
    """A place that holds a larger share of one sample than of the other.

    Attributes
    ----------
    more : int
        0 where the first sample has more of its rows here, 1 where the second has.
    shares : tuple of float
        The share of the first sample's rows that lie here, and of the second's.
    difference : float
        ``shares[1] - shares[0]``.
    low, high : float
        An interval of that difference, widened since regions are chosen among many places: of the
        intervals of all regions about the share ``level`` is expected to miss at most. The
        difference itself is rather too large than too small, as that of anything chosen for it.
    counts : tuple of int
        Rows of the first sample and of the second that lie here; integer weights count as repeated
        rows, other weights as effective numbers of rows.
    q_value : float
        About the smallest false-discovery rate at which the region, or a part of it, is found.
    center : ndarray of shape (d,)
        The median, column by column, of its rows that are of the sample with more; in the data's
        units.
    lower, upper : ndarray of shape (d,)
        The 10 % and the 90 % quantiles of these rows.
    columns : tuple of int
        The columns by which these rows stand apart from all rows, clearest first; at least one.
    cells : ndarray of shape (m,)
        Which cells of :class:`Regions` it joins.

    See Also
    --------
    Regions : All regions of a comparison.

    References
    ----------
    .. [1] Y. Benjamini and D. Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence
       Intervals for Selected Parameters", Journal of the American Statistical Association 100,
       2005.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> region = km.Region(
    ...     more=1, shares=(0.01, 0.06), difference=0.05, low=0.03, high=0.07, counts=(10, 60),
    ...     q_value=0.001, center=np.zeros(2), lower=-np.ones(2), upper=np.ones(2), columns=(0,),
    ...     cells=np.array([3, 4]),
    ... )
    >>> region.counts
    (10, 60)
    """

    more: int
    shares: tuple[float, float]
    difference: float
    low: float
    high: float
    counts: tuple[int, int]
    q_value: float
    center: Vector
    lower: Vector
    upper: Vector
    columns: tuple[int, ...]
    cells: IntVector

    def __repr__(self) -> str:
        told = (
            "more",
            "shares",
            "difference",
            "low",
            "high",
            "counts",
            "q_value",
            "center",
            "columns",
        )
        return _shown.brief(self, told)


@dataclass(frozen=True, eq=False)
class Regions(Sequence[Region]):
    """The regions where two samples differ, the largest difference first; there may be none.

    Attributes
    ----------
    items : tuple of Region
        The regions.
    cells : ndarray of shape (k, d)
        Centres of the cells that the rows of both samples were cut into, in the data's units.
    scale : ndarray of shape (d, d) or None
        The map before distances are taken; a row is of the cell whose centre is nearest.
    cell_labels : ndarray of shape (k,)
        The region of each cell; −1 where the samples are not found to differ.

    See Also
    --------
    Region : One of them.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> none = km.Regions((), np.zeros((1, 2)), None, np.array([-1]))
    >>> len(none), none.labels([[0.5, 1.0]]).tolist()
    (0, [-1])
    """

    items: tuple[Region, ...]
    cells: Points = field(repr=False)
    scale: Matrix | None = field(repr=False)
    cell_labels: IntVector = field(repr=False)

    def __repr__(self) -> str:
        return f"Regions({list(self.items)!r})"

    @overload
    def __getitem__(self, index: int) -> Region: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Region, ...]: ...
    def __getitem__(self, index: int | slice) -> Region | tuple[Region, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def labels(self, X: ArrayLike) -> IntVector:
        """Which region each row is in.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows in the data's units.

        Returns
        -------
        ndarray of shape (n,)
            The index of the region, −1 outside all of them. Time O(n·k·d).

        See Also
        --------
        Region : What is known of each.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> none = km.Regions((), np.zeros((1, 2)), None, np.array([-1]))
        >>> none.labels([[0.5, 1.0]]).tolist()
        [-1]
        """
        origin = self.cells.mean(axis=0)
        centers = scaling.apply(self.scale, self.cells, origin)
        queries = samples.check_queries(X, "cpu", "X", self.cells.shape[1]).on_host()
        labels: IntVector = queries.apply(
            lambda rows: self.cell_labels[
                two_nearest(scaling.apply(self.scale, rows, origin), centers)[:, 0]
            ]
        )
        return labels


def find_regions(
    first: LoadedSample, second: LoadedSample, level: float, streams: Streams
) -> Regions:
    """Regions where the samples differ, at a false-discovery rate of ``level``.

    Both samples are loaded with the same scale and origin. Time O(n·k·d + k²·d) for k ≤ 1000 cells.
    """
    pool = draw_pool(first, second, streams)
    centers = find_centers(first, second, pool, streams)
    tree = join_cells(centers)
    sides = count(first, centers, tree), count(second, centers, tree)
    counted = first.cloud.summary.counted and second.cloud.summary.counted
    tests = compare(*sides, tree, level, counted)
    claims = claim(tree, tests, log_likelihood_ratios(*sides), level)
    # 1 − R·level/m for R of m intervals (Benjamini and Yekutieli 2005)
    missing = level * len(claims.places) / max(tests.number, 1)
    cells_of = [standing_cells(tree, int(place), *sides) for place in claims.places]
    parts = _Parts(sides, claims, cells_of, _more(sides, claims), missing)
    nearest = two_nearest(pool.mapped, centers)
    found = _describe(parts, pool, nearest, first)
    labels = np.full(tree.cells, -1, dtype=np.intp)
    for number, region in enumerate(found):
        labels[region.cells] = number
    cells = first.original(centers, None)
    for array in (cells, labels):
        array.flags.writeable = False
    return Regions(found, cells, first.scale, labels)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Claimed places, from which regions are put together."""

    sides: tuple[Side, Side]
    claims: Claims
    cells: list[IntVector]  # of each claim
    more: IntVector  # of each claim
    missing: float  # how often an interval may miss

    def groups(self, beside: NDArray[np.bool_]) -> list[IntVector]:
        """Claims of one sign that touch, by the cells that are beside each other."""
        owner = np.full(len(beside), -1, dtype=np.intp)
        for number, cells in enumerate(self.cells):
            owner[cells] = number
        left, right = np.nonzero(beside & (owner >= 0) & (owner >= 0)[:, None])
        touching = self.more[owner[left]] == self.more[owner[right]]
        pairs = owner[left][touching], owner[right][touching]
        m = len(self.cells)
        graph = csr_array((np.ones(len(pairs[0])), pairs), shape=(m, m))
        number, component = connected_components(graph, directed=False)
        return [np.flatnonzero(component == c) for c in range(number)]


def _more(sides: tuple[Side, Side], claims: Claims) -> IntVector:
    a, b = (side.shares[claims.places] for side in sides)
    return (b > a).astype(np.intp)


def _describe(
    parts: _Parts, pool: Pool, nearest: IntVector, data: LoadedSample
) -> tuple[Region, ...]:
    if not parts.cells:
        return ()
    everything = data.engine.load(pool.points, pool.masses).summary
    k = (len(parts.sides[0].counts) + 1) // 2
    found = []
    for group in parts.groups(adjacent(nearest, k)):
        cells = np.sort(np.concatenate([parts.cells[number] for number in group]))
        rows = _told_by(pool, np.isin(nearest[:, 0], cells), int(parts.more[group[0]]))
        inside = data.engine.load(pool.points[rows], pool.masses[rows]).summary
        quantiles = inside.quantiles(QUANTILES)
        columns = columns_apart(quantiles, everything)
        found.append(_region(parts, group, cells, quantiles, columns))
    return tuple(sorted(found, key=lambda region: (-abs(region.difference), region.cells[0])))


def _told_by(pool: Pool, inside: NDArray[np.bool_], more: int) -> IntVector:
    """The rows that tell where a region is: those of the sample that has more of its rows there."""
    own = inside & (pool.side == more)
    return np.flatnonzero(own if own.any() else inside)


def _interval(parts: _Parts, number: int) -> tuple[float, float]:
    """Of the difference of shares in one claim.

    Those of all claims of a region are added: each claim was chosen for itself, and the sum of
    intervals holds where each of them does.
    """
    cells = parts.cells[number]
    place = parts.claims.places[number]
    a, b = (float(side.shares[cells].sum()) for side in parts.sides)
    size_a, size_b = (float(side.totals[place]) for side in parts.sides)
    return difference_interval((a, b), (size_a, size_b), parts.missing)


def _region(
    parts: _Parts, group: IntVector, cells: IntVector, quantiles: Matrix, columns: tuple[int, ...]
) -> Region:
    a, b = (float(side.shares[cells].sum()) for side in parts.sides)
    rows_a, rows_b = (float(side.counts[cells].sum()) for side in parts.sides)
    ends = [_interval(parts, int(number)) for number in group]
    for array in (cells, quantiles):
        array.flags.writeable = False
    return Region(
        more=int(parts.more[group[0]]),
        shares=(a, b),
        difference=b - a,
        low=max(-1.0, sum(low for low, _ in ends)),  # no difference of shares is larger than one
        high=min(1.0, sum(high for _, high in ends)),
        counts=(round(rows_a), round(rows_b)),
        q_value=float(parts.claims.q_values[group].min()),
        center=quantiles[1],
        lower=quantiles[0],
        upper=quantiles[2],
        columns=columns,
        cells=cells,
    )
