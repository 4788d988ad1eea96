"""The density of k atoms that explains other rows best, in the place of a copy of a kernel density.

The atoms come from EM (:mod:`kernelmean.mixtures`). They are centres with a width of their own:
component N(c_a, V_a) is the centre c_a with the spread S_a = V_a − σ²I under a Gaussian kernel of
bandwidth σ, below which no component may be narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelmean import bandwidth
from kernelmean._random import Streams
from kernelmean._types import StopReason, Vector
from kernelmean.bandwidth import resolution
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.fitting.prepare import engine_name, loaded
from kernelmean.fitting.settings import FitSettings, density_limit
from kernelmean.fitting.spreads import kinds
from kernelmean.kernels import Gaussian, Kernel, SpreadKind
from kernelmean.mean import scaling
from kernelmean.mean.covariances import without
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mean.value import LIKELIHOOD, SparseKernelMean
from kernelmean.mixtures import Gaussians, Limits, Rows, likeliest
from kernelmean.mixtures.gaussians import feature_count
from kernelmean.mixtures.novelty import novelty, without_gross
from kernelmean.mixtures.rows import drawn
from kernelmean.samples import WeightedSample

MAX_SEARCH_ROWS = 20_000  # on which the number of components is searched for
# Rows × components × features in a step of EM on all rows: less than half a second on two cores.
MAX_LAST_WORK = 4e9
LEAST_WIDTH = 0.005  # of a component, in units of Scott's bandwidth
MAX_FULL_DIMENSION = 100  # coordinates up to which covariances are matrices


def fit_by_likelihood(
    sample: WeightedSample, settings: FitSettings, streams: Streams
) -> SparseKernelMean:
    """The mixture of Gaussians that is the likeliest at held-out rows, as a sparse mean."""
    settings.check_names()
    data = loaded(sample, settings)
    size = data.cloud.summary.size
    limited = settings
    if settings.k_max is None:
        limited = replace(settings, k_max=density_limit(size))
    rule = limited.stopping(size)
    kind = spread_kind(limited, sample.sample.dimension, rule.limit)
    return LikelihoodFit(data, limited, Limits(rule.k, rule.k_max, kind)).mean(streams)


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """What the fit works on."""

    data: LoadedSample
    settings: FitSettings
    limits: Limits

    def mean(self, streams: Streams) -> SparseKernelMean:
        """Draw the rows, find the mixture, and write it as a mean."""
        rng = streams.of("likelihood rows")
        some = self._drawn(MAX_SEARCH_ROWS, rng)
        every = some
        if len(some) == MAX_SEARCH_ROWS:
            features = feature_count(some.dimension, self.limits.kind)
            every = self._drawn(most_rows(features, self.limits), rng)
        # Medians, because moments about a mean that a gross outlier has moved lose their digits.
        origin: Vector = np.median(some.points, axis=0)
        some = some.about(origin)
        every = every.about(origin)
        widths = widths_of(some)
        kernel = self._given_kernel()
        least = LEAST_WIDTH * scott(some, widths) if kernel is None else kernel.length
        floor = np.maximum(least**2, resolution.rounding_variances(some.points))
        found = self._found(some, every, widths, floor, streams)
        if kernel is None:
            kernel = Gaussian(float(np.sqrt(floor.min())))  # what every V_a has room for
        return self._written(found, origin, kernel)

    def _found(
        self, some: Rows, every: Rows, widths: Vector, floor: Vector, streams: Streams
    ) -> Gaussians:
        """Without gross rows where k is open; k atoms that were asked for have to do for all."""
        limits = self.limits
        engine = self.data.engine
        if limits.k is not None:
            return likeliest(some, every, floor, limits, engine, streams)
        kept = without_gross(every, widths)
        wide = novelty(every, kept, widths, floor, limits.kind)
        left = limits.k_max - len(wide.mixture)
        if left < 1:
            return likeliest(some, every, floor, limits, engine, streams)
        rows = without_gross(some, widths)
        fewer = limits._replace(k_max=left)
        return likeliest(rows, kept, floor, fewer, engine, streams, wide)

    def _drawn(self, most: int, rng: np.random.Generator) -> Rows:
        return drawn(self.data.cloud, self.data.sample.weights, most, rng)

    def _given_kernel(self) -> Kernel | None:
        """The kernel whose bandwidth the user has given, by a number, a rule or a kernel."""
        own = isinstance(self.settings.kernel, Kernel)
        if not own and self.settings.bandwidth == "auto":
            bandwidth.require_spread("auto", self.data.cloud.summary)
            return None
        return resolve_kernel(self.settings.kernel, self.settings.bandwidth, self.data.cloud)

    def _written(self, mixture: Gaussians, origin: Vector, kernel: Kernel) -> SparseKernelMean:
        """S_a = V_a − σ²I, the heaviest atom first."""
        order = np.argsort(-mixture.weights, kind="stable")
        spreads = without(mixture.covariances[order], kernel.length**2)
        data = self.data
        means = mixture.means[order] + origin
        nearest = data.cloud.nearest(means).distances()
        k = len(mixture)
        reason: StopReason = "fixed" if self.limits.k == k else "likelihood"
        return SparseKernelMean(
            centers=data.original(means, None),
            spreads=spreads,
            weights=mixture.weights[order],
            kernel=kernel,
            space="l2",
            scale=data.scale,
            indices=None,
            n_points=data.cloud.summary.size,
            constraint="simplex",
            solver=self.settings.solver,
            engine=engine_name(self.settings.engine, data),
            selection=LIKELIHOOD,
            radii=np.full(k, np.inf),
            cover=nearest.cover,
            incoherence=0.0,
            kappa=None,
            indicator=None,
            jitter=0.0,
            stop_reason=reason,
        )


def most_rows(features: int, limits: Limits) -> int:
    """Rows of which EM takes so many features on all of them."""
    return max(MAX_SEARCH_ROWS, int(MAX_LAST_WORK / ((limits.k or limits.k_max) * features)))


def spread_kind(settings: FitSettings, d: int, k: int) -> SpreadKind:
    """Whether covariances are matrices; numbers in many dimensions, or where they are asked for."""
    able = kinds(settings, Gaussian(1.0), d, k)
    few = d <= MAX_FULL_DIMENSION or settings.spread == "full"
    return "full" if "full" in able and few else "scalar"


def widths_of(rows: Rows) -> Vector:
    """(d,) the widths of the columns by quantiles: neither outliers nor units change them."""
    return scaling.robust_widths(ArraySummary(WeightedPoints(rows.points, rows.masses)))


def scott(rows: Rows, widths: Vector) -> Vector:
    """(d,) Scott's bandwidth of each column, with a robust width in the place of its deviation."""
    found: Vector = rows.size ** (-1.0 / (rows.dimension + 4)) * widths
    return found
