"""The bandwidth that maximises the leave-one-out likelihood of a Gaussian kernel density estimate.

Sums run over all points, exactly; for large n the likelihood is averaged over fewer rows. (The
likelihood of a *sparse* mean would be cheaper still, but its error grows as σ falls: it prefers
bandwidths that are far too wide.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from kernelmean._types import Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import Formula, Gaussian
from kernelmean.kernels.radials import apart, log_one

MIN_ROWS = 1000  # rows at which the likelihood is taken, at least
MAX_DRAWS_PER_ROW = 4  # where weights are uneven: more would only repeat the rows
MAX_KERNEL_VALUES = {True: 4e9, False: 1e9}  # per likelihood, in low dimension and in high
LOW_DIMENSION = 3  # coordinates up to which trees help
COARSE_SHARE = 0.1  # of the rows, for the coarse search
OCTAVES_DOWN = 40  # of σ below its start, at most
FALLING_OCTAVES = 3  # in a row without a better value: they end the coarse search
# What is left of a sum without its own point; below this it is summed again without that point.
CANCELLED_SHARE = 1e-6
LOG_SIGMA_PRECISION = 0.01  # absolute, at which Brent's method ends


class Folding(NamedTuple):
    """What a domain changes: rows are explained by images of others too, and may lie on spheres."""

    cloud: PointCloud  # the points, and their images that reach into the domain
    varying: int  # the dimension of the space that rows can fill


def likelihood(
    cloud: PointCloud,
    start: float,
    rng: np.random.Generator,
    width: float | None = None,
    folding: Folding | None = None,
) -> float:
    """argmax over σ of Σ_i p_i log f_{σ,−i}(x_i).

    The search goes by octaves down from 4·start, then by Brent's method about the best. The image
    of a row itself is not left out: it is one of many near any bound.
    """
    if not (math.isfinite(start) and start > 0.0):
        return start  # no spread: nothing to search
    from scipy.optimize import minimize_scalar  # slow to import

    fine = LeftOut.of(cloud, _row_count(cloud), rng, folding)
    if width is not None:
        varying = fine.varying or int((cloud.summary.std > 0.0).sum())
        novelty = _log_novelty(fine.rows, width, varying, cloud.summary.size)
        fine = replace(fine, log_novelty=novelty, varying=varying)
    coarse = fine.first(COARSE_SHARE)
    best = 2
    best_value = -math.inf
    since = 0
    for octave in range(2, -OCTAVES_DOWN, -1):
        value = coarse(start * 2.0**octave)
        best, best_value, since = (
            (octave, value, 0) if value > best_value else (best, best_value, since + 1)
        )
        if since == FALLING_OCTAVES:
            break
    centre = math.log(start * 2.0**best)
    found = minimize_scalar(
        lambda t: -fine(math.exp(t)),
        bounds=(centre - math.log(2), centre + math.log(2)),
        options={"xatol": LOG_SIGMA_PRECISION},
    )
    return math.exp(found.x)


@dataclass(frozen=True)
class LeftOut:
    """The likelihood of some rows when each is left out, with all its copies.

    Were copies to stay, equal rows would ask for σ → 0.
    """

    cloud: PointCloud
    rows: Points
    masses: Vector  # P_i, the weight of all points equal to row i
    log_novelty: Vector | None = None  # what rows far from all others are explained by, if any
    varying: int | None = None  # coordinates that count, where constant ones do not

    @classmethod
    def of(
        cls,
        cloud: PointCloud,
        count: int,
        rng: np.random.Generator,
        folding: Folding | None = None,
    ) -> LeftOut:
        """Every row as often as it counts, or ``count`` rows spread evenly over the weight."""
        size = cloud.summary.size
        whole = cloud.summary.counted
        if size <= count and whole:
            count = int(size)
            shift = 0.5 * np.ones(int(size))
        else:
            count = count if whole else min(count, MAX_DRAWS_PER_ROW * cloud.summary.count)
            shift = rng.random(count)
        rows = cloud.rows(cloud.locate(rng.permutation((np.arange(count) + shift) / count)))
        among = cloud if folding is None else folding.cloud
        others = among.kernel_sum(Formula(log_one, 1.0, factor=apart), rows)
        varying = None if folding is None else folding.varying
        return cls(among, rows, np.clip(1.0 - others, 0.0, 1.0), varying=varying)

    def first(self, share: float) -> LeftOut:
        """The same over fewer rows."""
        m = max(MIN_ROWS, int(share * len(self.rows)))
        novelty = None if self.log_novelty is None else self.log_novelty[:m]
        return replace(self, rows=self.rows[:m], masses=self.masses[:m], log_novelty=novelty)

    def __call__(self, sigma: float) -> float:
        """Mean over the rows of log [Σ_{x_j ≠ x_i} p_j φ_σ(x_i − x_j) / (1 − P_i)]."""
        kernel = Gaussian(sigma)
        d = self.rows.shape[1]
        formula = kernel.formula(d)
        sums = self.cloud.kernel_sum(formula, self.rows)
        others = sums - self.masses
        lost = others < CANCELLED_SHARE * sums
        value = np.log(np.where(lost, 1.0, others))
        if lost.any():
            value[lost] = self.cloud.log_kernel_sum(formula.times(apart), self.rows[lost])
        value -= np.log1p(-self.masses)
        constant = kernel.log_density_constant(self.varying or d)
        if self.log_novelty is None:
            return float(np.mean(value)) + constant
        return float(np.mean(np.logaddexp(value + constant, self.log_novelty)))


def _log_novelty(rows: Points, width: float, d: int, n: float) -> Vector:
    """log of a Cauchy density about the median, of the weight of one point in n + 1.

    A row far from all others has a density of at least that, whatever σ is, and so no say in σ.
    Γ((d+1)/2) / (√π (√π s)^d) · (1 + r²/s²)^{−(d+1)/2}.
    """
    squared = ((rows - np.median(rows, axis=0)) ** 2).sum(axis=1) / width**2
    peak = gammaln(0.5 * (d + 1)) - 0.5 * (d + 1) * math.log(math.pi) - d * math.log(width)
    found: Vector = peak - 0.5 * (d + 1) * np.log1p(squared) - math.log1p(n)
    return found


def _row_count(cloud: PointCloud) -> int:
    work = MAX_KERNEL_VALUES[cloud.summary.dimension <= LOW_DIMENSION]
    return max(MIN_ROWS, int(work / cloud.summary.count))
