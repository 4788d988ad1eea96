"""Climbing a density: every point goes up, step by step, until it hardly moves.

Mean shift (Fukunaga & Hostetler 1975; Comaniciu & Meer 2002) goes from x to the mean of the centres
under the weights w_a ψ(s_a), ψ = −dφ/ds. Profiles are convex in s, so with w ≥ 0 the density never
falls. On a ridge the steps shrink long before the peak is near; there the two latest steps tell how
fast they shrink, and where they would end (Anderson mixing of depth one). Such a leap is short, and
taken back if the density is lower there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernelmean import _progress, engines
from kernelmean._lazy import lazy
from kernelmean._types import EPS, IntVector, Points, Vector
from kernelmean.engines import KernelSums
from kernelmean.kernels import Formula
from kernelmean.mean.expansion import KernelMean

Mask: TypeAlias = NDArray[np.bool_]

CREEPING_BANDWIDTHS = 0.1  # shorter steps may be replaced by leaps
LEAP_BANDWIDTHS = 0.25  # the longest leap, short enough to stay on the same slope
ROUNDING = 4 * EPS  # of a logarithm: as much as a plain step may seem to fall
TINY = float(np.finfo(np.float64).tiny)
BATCH_NUMBERS = 2**16  # in a batch of points that climb together


class Ascent(NamedTuple):
    """Where points end, in the coordinates of the kernel."""

    ends: Points  # (n, d)
    # (n,) log Σ_a w_a φ_a one step before the end: constants of the density are left out
    log_values: Vector
    n_iter: int  # steps of the slowest point
    left: int  # points that still moved after max_iter steps


class Iterate(NamedTuple):
    """Points on their way up, with what one pass over the centres says of them."""

    x: Points  # (q, d)
    log_value: Vector  # (q,)
    step: Points  # (q, d) to where plain mean shift would go
    # (q,) what must be small for a point to have arrived: the step's length, at least that of the
    # natural step
    size: Vector

    def of(self, rows: IntVector | Mask) -> Iterate:
        """Some of the points."""
        return Iterate(*(part[rows] for part in self))

    def put(self, rows: IntVector | Mask, other: Iterate) -> Iterate:
        """The same with some points replaced."""
        replaced = Iterate(*(part.copy() for part in self))
        for mine, theirs in zip(replaced, other, strict=True):
            mine[rows] = theirs
        return replaced


@dataclass(frozen=True)
class DensityToClimb:
    """A density Σ_a w_a φ(‖x − c_a‖), w > 0, to be climbed in the coordinates of its kernel."""

    cloud: KernelSums  # holds the centres
    centers: Points
    weights: Vector
    decay: Formula  # ψ
    length: float  # of the kernel: the bandwidth

    @classmethod
    def of(cls, mean: KernelMean) -> DensityToClimb:
        """The centres of positive weight; an error where there is no density to climb."""
        known = mean.kernel.traits.profile
        if not (known.logarithmic and known.convex):
            raise ValueError(
                "mean shift needs a kernel that declares a convex profile with a logarithm, as "
                f"Gaussian, Laplacian, Student and Cauchy do; {type(mean.kernel).__name__} does "
                "not."
            )
        if (mean.weights < 0).any():
            raise ValueError(
                "mean shift needs nonnegative weights: fit or refit the mean with "
                "constraint='simplex'."
            )
        live = np.flatnonzero(mean.weights)
        decay = mean.kernel.decay(mean.dimension)
        length = mean.kernel.length
        if len(live) == mean.k:
            return cls(mean.cloud, mean.mapped_centers, mean.weights, decay, length)
        cloud = mean.loaded(engines.precise(engines.open(mean.engine)), live)
        return cls(cloud, mean.mapped_centers[live], mean.weights[live], decay, length)

    def at(self, x: Points) -> Iterate:
        """log f = log Σ w_a φ_a and the step of mean shift, by Weiszfeld's rule at a kink.

        Points at a kink hold x with the slope η = √rate·Σw, the others pull with R = 2·rate·Σ w_a
        ψ_a (c_a − x); x moves only if ‖R‖ > η, by the share 1 − η/‖R‖ of the step (Vardi & Zhang
        2000). Near a kink steps are short wherever they lead; there the natural step ∇f/(rate·f)
        tells whether the point has arrived.
        """
        found = self.cloud.shift(self.decay, x, self.weights)
        norms = _norms(found.step)
        if not self.kinked:
            return Iterate(x, found.log_value, found.step, norms)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_pull = (
                math.log(2) + 0.5 * math.log(self.decay.rate) + found.log_pull + np.log(norms)
            )
            share = -np.expm1(
                np.minimum(
                    np.where(np.isneginf(found.log_held), -np.inf, found.log_held - log_pull), 0.0
                )
            )
            natural = np.where(norms > 0.0, 2.0 * np.exp(found.log_pull - found.log_value), 0.0)
        return Iterate(
            x,
            found.log_value,
            share[:, None] * found.step,
            share * norms * np.maximum(natural, 1.0),
        )

    @lazy
    def tree(self) -> cKDTree:
        """The centres, for the question which one is near."""
        return cKDTree(self.centers)

    @property
    def kinked(self) -> bool:
        """Whether the kernel has a kink at its centre."""
        return self.decay.traits.kink


def climb(density: DensityToClimb, starts: Points, tol: float, max_iter: int) -> Ascent:
    """Every start to where its step is at most ``tol`` bandwidths.

    Time O(k·d) per step and point, memory O(n·d). Points that have arrived leave the set; those
    that have not after ``max_iter`` steps stay where they are, and are counted.
    """
    n, d = starts.shape
    ends = np.empty((n, d))
    log_values = np.empty(n)
    n_iter = 0
    left = 0
    size = min(max(BATCH_NUMBERS // d, 1024), 8192)
    for first in _progress.track(range(0, n, size), "climbing", -(-n // size)):
        batch = slice(first, first + size)
        steps = 0
        for steps, (rows, iterate, arrived) in enumerate(
            ascend(density, starts[batch], tol), start=1
        ):
            over = arrived | (steps >= max_iter)
            done = iterate.of(over)
            ends[batch][rows[over]] = done.x + done.step
            log_values[batch][rows[over]] = done.log_value
            if steps >= max_iter:
                left += int(np.count_nonzero(~arrived))
                break
        n_iter = max(n_iter, steps)
    return Ascent(ends, log_values, n_iter, left)


def ascend(
    density: DensityToClimb, starts: Points, tol: float
) -> Iterator[tuple[IntVector, Iterate, Mask]]:
    """All points still on their way, step by step.

    Each step gives their rows, their places, and which of them have arrived.
    """
    rows = np.arange(len(starts))
    iterate = before = density.at(starts)
    leaps = np.zeros(len(rows), dtype=bool)  # may leap: the two latest steps are known
    while True:
        if density.kinked:
            iterate = at_kinks(density, iterate, tol)
        arrived = iterate.size <= tol * density.length
        yield rows, iterate, arrived
        on = ~arrived
        if not on.any():
            return
        rows = rows[on]
        iterate = iterate.of(on)
        before = before.of(on)
        leaps = leaps[on]
        after, leaps = advance(density, iterate, before, leaps)
        iterate, before = after, iterate


def advance(
    density: DensityToClimb, iterate: Iterate, before: Iterate, leaps: Mask
) -> tuple[Iterate, Mask]:
    """One step up, a leap where that pays, and whether each point may leap next time."""
    plain = iterate.x + iterate.step
    leap = _leaps(density.length, iterate, before)
    bold = leaps & (leap != 0.0).any(axis=1)
    after = density.at(np.where(bold[:, None], plain + leap, plain))
    lower = bold & ~(
        after.log_value >= iterate.log_value - ROUNDING * (1.0 + np.abs(iterate.log_value))
    )
    if lower.any():
        after = after.put(lower, density.at(plain[lower]))
    return after, ~lower


def _leaps(length: float, iterate: Iterate, before: Iterate) -> Points:
    """−γ(T(x) − T(x′)), γ = ⟨F, F − F′⟩/‖F − F′‖², with F = T(x) − x.

    That is where F would vanish, were it linear between x′ and x. Away from a kink that does not
    hold the steps grow instead; there the leap is what the natural step is longer.
    """
    change = iterate.step - before.step
    norms = _norms(iterate.step)
    squared = np.einsum("ij,ij->i", change, change)
    gamma = np.divide(
        np.einsum("ij,ij->i", iterate.step, change),
        squared,
        out=np.zeros_like(squared),
        where=squared > 0.0,
    )
    leap = -gamma[:, None] * (iterate.x - before.x + change)
    longer = iterate.size > 2.0 * norms
    leap[longer] = (
        iterate.step[longer] * (iterate.size / np.maximum(norms, TINY) - 1.0)[longer, None]
    )
    size = _norms(leap)
    shrink = np.divide(
        LEAP_BANDWIDTHS * length,
        size,
        out=np.ones_like(size),
        where=size > LEAP_BANDWIDTHS * length,
    )
    return np.where((norms < CREEPING_BANDWIDTHS * length)[:, None], shrink[:, None] * leap, 0.0)


def at_kinks(density: DensityToClimb, iterate: Iterate, tol: float) -> Iterate:
    """Points that hardly move but have not arrived go to the nearest centre.

    They do so if it is near and not lower.
    """
    stuck = np.flatnonzero(
        (_norms(iterate.step) <= tol * density.length) & (iterate.size > tol * density.length)
    )
    if not len(stuck):
        return iterate
    distance, nearest = (np.asarray(found) for found in density.tree.query(iterate.x[stuck]))
    near = (distance > 0.0) & (distance <= LEAP_BANDWIDTHS * density.length)
    there = density.at(density.centers[nearest[near]])
    higher = there.log_value >= iterate.log_value[stuck[near]]
    return iterate.put(stuck[near][higher], there.of(higher))


def _norms(steps: Points) -> Vector:
    lengths: Vector = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    return lengths
