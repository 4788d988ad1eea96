"""Climbing a density together: which peak each point belongs to, without climbing from each.

Points that start near each other climb to the same peak, unless a boundary between two peaks passes
between them. So a few points climb first, and all places they pass are put on a map
(:mod:`kernelmean.mean.basins`): of these the peak is known. Then come more points, and more, up to
all of them. A point whose surroundings on the map all belong to one peak belongs to it too, without
a step; another one goes up step by step until it comes to such surroundings, most often after a few
steps, or to its own end.

Each set of points holds one point of each occupied cell of a grid, or every eighth point where
cells hold too few. So time is O(k·d) per step for the few points near boundaries, and O(d) for the
others; where nothing is near anything, as in many dimensions, it is that of climbing alone.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from kernelmean import _progress
from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.basins import UNKNOWN, BasinMap, cell_keys
from kernelmean.mean.climbing import Ascent, DensityToClimb, Iterate, Mask, advance, at_kinks, climb
from kernelmean.mean.linkage import link
from kernelmean.mean.peaks import REFINED_STEP_BANDWIDTHS, Peaks, find_peaks

FEW = 2000  # points that all climb alone, or first
CELL_BANDWIDTHS = 0.5  # the side of the finest cells that send one point ahead of the others
CROWDED = 0.35  # cells per point, at most, for cells to be worth while
GROWTH = 4.0  # of these cells from one set of points to the next
STRIDE = 8  # else every eighth point goes ahead
MARK_BANDWIDTHS = 0.05  # between two places of a path on the map
LOOK_ALWAYS = 8  # steps in which a point looks at the map each time; then it moves little
LOOK_EVERY = 4  # of the later steps
PASSING_STEP_BANDWIDTHS = 1e-5  # the last step of a peak that is not yet the answer
BATCH_NUMBERS = 2**17  # in a batch of points that climb together


class JointAscent(NamedTuple):
    """Where points end and to which peak they belong, in the coordinates of the kernel."""

    modes: IntVector  # (n,) the number of each point's peak
    peaks: Points  # (m, d) refined, from the highest
    log_peaks: Vector  # (m,) log Σ_a w_a φ_a there
    ends: Points  # (n, d) the point's own end, or the peak if it was known before it came there
    anchors: Points  # (e, d) ends that stand for all
    anchor_modes: IntVector  # (e,)
    n_iter: int  # steps of the slowest point
    left: int  # points that belong to an end that still moved after max_iter steps


class Limits(NamedTuple):
    """When a point has arrived."""

    tol: float  # in bandwidths
    max_iter: int


class Ends(NamedTuple):
    """Places where climbs ended."""

    places: Points  # (e, d)
    log_values: Vector  # (e,)
    cut: Mask  # (e,) still moving
    n_iter: int  # of the longest climb

    def and_then(self, other: Ends) -> Ends:
        """These, and others behind them."""
        return Ends(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.log_values, other.log_values]),
            np.concatenate([self.cut, other.cut]),
            max(self.n_iter, other.n_iter),
        )


class Paths(NamedTuple):
    """Places on the way, each with the number of the end it leads to."""

    places: Points  # (p, d)
    ends: IntVector  # (p,)


class Party(NamedTuple):
    """Points still on their way."""

    rows: IntVector  # (q,) among the starts
    iterate: Iterate
    before: Iterate  # one step earlier
    leaps: Mask  # (q,) may leap: the two latest steps are known
    marked: Points  # (q, d) the latest place on the map

    def of(self, rows: IntVector | Mask) -> Party:
        """Some of the points."""
        return Party(
            self.rows[rows],
            self.iterate.of(rows),
            self.before.of(rows),
            self.leaps[rows],
            self.marked[rows],
        )


def climb_together(
    density: DensityToClimb, starts: Points, tol: float, max_iter: int, radius: float
) -> JointAscent:
    """The peak of every start, those of ends that a chain of steps of ``radius`` joins being one.

    Few starts climb alone, each to where its step is at most ``tol`` bandwidths. The result depends
    on no chance. Memory O(n·d).
    """
    limits = Limits(tol, max_iter)
    if len(starts) <= FEW:
        return ascended(density, climb(density, starts, *limits), radius)
    d = starts.shape[1]
    ends = Ends(np.empty((0, d)), np.empty(0), np.empty(0, dtype=bool), 0)
    paths = Paths(np.empty((0, d)), np.empty(0, dtype=np.intp))
    arrival = np.full(len(starts), UNKNOWN)
    basins: BasinMap | None = None
    for rows in _sets(starts, density.length):
        new = rows[arrival[rows] == UNKNOWN]
        last = len(rows) == len(starts)
        if last:
            del paths  # all that they tell is on the map
        reached, ends, passed = _arrivals(
            density,
            starts[new] if basins else np.concatenate([starts[new], _some_centers(density)]),
            basins,
            ends,
            limits,
            last,
        )
        arrival[new] = reached[: len(new)]
        if last:
            break
        paths = _joined([paths, passed])
        mode, peaks, _ = _modes(density, ends, radius, PASSING_STEP_BANDWIDTHS)
        # Whoever meets known surroundings ends at the peak itself, which follows the other ends.
        basins = BasinMap.of(paths.places, len(ends.places) + mode[paths.ends], density.length)
        ends = ends.and_then(_at_peaks(peaks))
    return _named(density, ends, arrival, radius)


def ascended(density: DensityToClimb, ascent: Ascent, radius: float) -> JointAscent:
    """The peaks of starts that have climbed alone."""
    n = len(ascent.ends)
    ends = Ends(ascent.ends, ascent.log_values, np.zeros(n, dtype=bool), ascent.n_iter)
    return _named(density, ends, np.arange(n), radius)._replace(left=ascent.left)


def _some_centers(density: DensityToClimb) -> Points:
    """Centres from all over the density: they lie where peaks are."""
    return density.centers[:: -(-len(density.centers) // FEW)]


def _sets(starts: Points, length: float) -> list[IntVector]:
    """Growing sets of starts, each with the former in it: a few, more, all."""
    rows: IntVector = np.arange(len(starts))
    sets = [rows]
    side = CELL_BANDWIDTHS * length
    while len(rows) > FEW:
        first = np.unique(cell_keys(starts[rows], side), return_index=True)[1]
        rows = rows[np.sort(first)] if len(first) <= CROWDED * len(rows) else rows[::STRIDE]
        sets.append(rows)
        side *= GROWTH
    return sets[::-1]


def _modes(
    density: DensityToClimb, ends: Ends, radius: float, step: float
) -> tuple[IntVector, Peaks, IntVector]:
    """(e,) the peak of each end, the peaks, and ends that stand for those near them."""
    links = link(ends.places, radius)
    peaks = find_peaks(density, ends.places, ends.log_values, links, radius, step)
    mode: IntVector = peaks.owner[links.groups[links.cells]]
    return mode, peaks, links.firsts


def _at_peaks(peaks: Peaks) -> Ends:
    return Ends(peaks.places, peaks.log_values, np.zeros(len(peaks.places), dtype=bool), 0)


def _named(density: DensityToClimb, ends: Ends, arrival: IntVector, radius: float) -> JointAscent:
    """Every start with the number of its peak; peaks without a start are left out."""
    mode, peaks, firsts = _modes(density, ends, radius, REFINED_STEP_BANDWIDTHS)
    used, modes = np.unique(mode[arrival], return_inverse=True)
    number = np.full(len(peaks.places), UNKNOWN)
    number[used] = np.arange(len(used))
    anchors = firsts[number[mode[firsts]] != UNKNOWN]
    return JointAscent(
        modes,
        peaks.places[used],
        peaks.log_values[used],
        ends.places[arrival],
        ends.places[anchors],
        number[mode[anchors]],
        ends.n_iter,
        int(np.count_nonzero(ends.cut[arrival])),
    )


def _arrivals(
    density: DensityToClimb,
    starts: Points,
    basins: BasinMap | None,
    ends: Ends,
    limits: Limits,
    last: bool,
) -> tuple[IntVector, Ends, Paths]:
    """The end of each start, all ends known by now, and the paths of those that had to climb.

    A start with a certain peak is a path of one place. The last set of starts leaves no paths, as
    nobody comes after it: they would take more memory than the starts.
    """
    arrival = basins.at(starts) if basins else np.full(len(starts), UNKNOWN)
    certain = np.flatnonzero(arrival != UNKNOWN)
    paths = [Paths(starts[certain], arrival[certain])]
    open_still = np.flatnonzero(arrival == UNKNOWN)
    size = max(BATCH_NUMBERS // starts.shape[1], FEW)
    batches = range(0, len(open_still), size)
    for first in _progress.track(batches, "climbing", len(batches)):
        rows = open_still[first : first + size]
        arrival[rows], ends, passed = _climb_to_known(density, starts[rows], basins, ends, limits)
        if not last:
            paths.append(passed)
    return arrival, ends, _joined(paths)


def _climb_to_known(
    density: DensityToClimb, starts: Points, basins: BasinMap | None, ends: Ends, limits: Limits
) -> tuple[IntVector, Ends, Paths]:
    """Every start climbs until its peak is certain, or to its end."""
    arrival = np.full(len(starts), UNKNOWN)
    rows = np.arange(len(starts))
    first = density.at(starts)
    party = Party(rows, first, first, np.zeros(len(starts), dtype=bool), starts)
    passed = [Paths(starts, rows)]
    for step in itertools.count(1):
        if density.kinked:
            party = party._replace(iterate=at_kinks(density, party.iterate, limits.tol))
        over, new = _at_end(density, party, limits, step)
        arrival[party.rows[over]] = len(ends.places) + np.arange(len(new.places))
        ends = ends.and_then(new)
        party = party.of(~over)
        if basins and (step <= LOOK_ALWAYS or step % LOOK_EVERY == 0):
            certain = basins.at(party.iterate.x + party.iterate.step)
            arrival[party.rows] = certain
            party = party.of(certain == UNKNOWN)
        if not len(party.rows):
            break
        party, marks = _stepped(density, party)
        passed.append(marks)
    paths = _joined(passed)
    return arrival, ends, paths._replace(ends=arrival[paths.ends])


def _at_end(density: DensityToClimb, party: Party, limits: Limits, step: int) -> tuple[Mask, Ends]:
    """Which points have arrived, or have taken as many steps as they may; and where they are."""
    arrived = party.iterate.size <= limits.tol * density.length
    over = arrived | (step >= limits.max_iter)
    done = party.iterate.of(over)
    return over, Ends(done.x + done.step, done.log_value, ~arrived[over], step)


def _stepped(density: DensityToClimb, party: Party) -> tuple[Party, Paths]:
    """All go one step; places that are some way from the latest on the map are new ones."""
    after, leaps = advance(density, party.iterate, party.before, party.leaps)
    moved = after.x - party.marked
    far = np.einsum("ij,ij->i", moved, moved) > (MARK_BANDWIDTHS * density.length) ** 2
    marked = np.where(far[:, None], after.x, party.marked)
    return (
        Party(party.rows, after, party.iterate, leaps, marked),
        Paths(after.x[far], party.rows[far]),
    )


def _joined(paths: list[Paths]) -> Paths:
    return Paths(*(np.concatenate(parts) for parts in zip(*paths, strict=True)))
