"""The likeliest density on a domain: EM of components that are products, one factor per column.

The numbers of a component have a Gaussian, whose images beyond bounds and periods count too; a
sphere has a distribution of von Mises and Fisher, a column of categories its probabilities. All
else is as in :mod:`kernelmean.density.likelihood`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernelmean import bandwidth
from kernelmean._random import Streams
from kernelmean._types import Matrix, Vector
from kernelmean.bandwidth import resolution
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.density.likelihood import (
    LEAST_WIDTH,
    MAX_SEARCH_ROWS,
    most_rows,
    scott,
    spread_kind,
    widths_of,
)
from kernelmean.domains import Domain
from kernelmean.fitting.on_domain import (
    WITHOUT_COORDINATES,
    EmbeddedRows,
    mapped_group,
    scale_on,
)
from kernelmean.fitting.prepare import engine_name, loaded
from kernelmean.fitting.settings import FitSettings, density_limit
from kernelmean.kernels import Gaussian, Kernel
from kernelmean.mean import sphere
from kernelmean.mean.covariances import without
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import LIKELIHOOD, SparseKernelMean
from kernelmean.mixtures import Layout, Limits, ProductFamily, ProductMixture, Rows, likeliest_of
from kernelmean.mixtures.rows import evenly_spread
from kernelmean.samples.coded import CodedSample

LEAST_ANGLE = 1e-3  # radians: no component on a sphere is narrower, or than the least width


def fit_by_likelihood(coded: CodedSample, settings: FitSettings, streams: Streams) -> DomainMean:
    """The mixture of products that is the likeliest at held-out rows."""
    settings.check_names()
    domain = coded.domain
    rows = EmbeddedRows.of(coded)
    scale = scale_on(domain, settings, rows.coordinates, unit_spheres=True)
    data = loaded(rows.coordinates, replace(settings, scale=scale))
    size = data.cloud.summary.size
    limited = settings
    if settings.k_max is None:
        limited = replace(settings, k_max=density_limit(size))
    rule = limited.stopping(size)
    kind = spread_kind(limited, max(1, len(domain.lines)), rule.limit)
    limits = Limits(rule.k, rule.k_max, kind)
    return LikelihoodOnDomain(domain, rows, data, limited, limits).mean(streams)


@dataclass(frozen=True, eq=False)
class LikelihoodOnDomain:
    """What the fit works on."""

    domain: Domain
    rows: EmbeddedRows
    data: LoadedSample
    settings: FitSettings
    limits: Limits

    @property
    def lines(self) -> int:
        """The coordinates that are numbers."""
        return len(self.domain.lines)

    def mean(self, streams: Streams) -> DomainMean:
        """Draw the rows, find the mixture, and write it as a mean."""
        rng = streams.of("likelihood rows on a domain")
        some = self._drawn(MAX_SEARCH_ROWS, rng)
        every = some
        if len(some) == MAX_SEARCH_ROWS:
            features = self._layout(np.zeros(self.lines)).feature_count
            every = self._drawn(most_rows(features, self.limits), rng)
        # Medians, because moments about a mean that a gross outlier has moved lose their digits.
        origin: Vector = np.median(some.points[:, : self.lines], axis=0)
        some, every = (self._about(origin, rows) for rows in (some, every))
        numbers = Rows(some.points[:, : self.lines], some.masses)
        widths = widths_of(numbers) if self.lines else np.ones(0)
        kernel, floor = self._least(numbers, widths)
        family = ProductFamily(self._layout(origin), floor, max(LEAST_ANGLE, kernel.length))
        found = self._found(family, some, every, widths, streams)
        return self._written(found, origin, kernel)

    def _least(self, numbers: Rows, widths: Vector) -> tuple[Kernel, Vector]:
        """The kernel that every component has room for, and the variances that they have at least.

        Values with few digits are no narrower than their rounding.
        """
        if not (self.lines or self.domain.spheres):
            return WITHOUT_COORDINATES, np.zeros(0)  # whatever bandwidth is given: nothing has it
        given = self._given_kernel()
        rounding = resolution.rounding_variances(numbers.points)
        if given is not None:
            return given, np.maximum(given.length**2, rounding)
        if not self.lines:
            return Gaussian(LEAST_ANGLE), rounding
        floor = np.maximum((LEAST_WIDTH * scott(numbers, widths)) ** 2, rounding)
        return Gaussian(float(np.sqrt(floor.min()))), floor

    def _found(
        self, family: ProductFamily, some: Rows, every: Rows, widths: Vector, streams: Streams
    ) -> ProductMixture:
        """Without gross rows where k is open; k atoms that were asked for have to do for all."""
        limits = self.limits
        engine = self.data.engine
        if limits.k is not None:
            return likeliest_of(family, some, every, limits, engine, streams)
        kept = family.without_gross(every, widths)
        wide = family.novelty(every, kept, widths)
        left = limits.k_max - len(wide.mixture)
        if left < 1:
            return likeliest_of(family, some, every, limits, engine, streams)
        rows = family.without_gross(some, widths)
        fewer = limits._replace(k_max=left)
        return likeliest_of(family, rows, kept, fewer, engine, streams, wide)

    def _drawn(self, most: int, rng: np.random.Generator) -> Rows:
        """Rows of numbers in the coordinates of the kernel, unit vectors and levels."""
        chosen, masses = evenly_spread(self.data.cloud, self.data.sample.weights, most, rng)
        numbers = self.data.cloud.rows(chosen)[:, : self.lines]
        vectors = self.data.sample.sample.rows(chosen)[:, self.lines :]
        if not (self.lines or self.domain.spheres):
            vectors = vectors[:, :0]
        return Rows(np.hstack([numbers, vectors, *self.rows.levels(chosen, self.domain)]), masses)

    def _about(self, origin: Vector, rows: Rows) -> Rows:
        """The same rows with another origin of the numbers."""
        others = np.zeros(rows.dimension - self.lines)
        return rows.about(np.concatenate([origin, others]))

    def _layout(self, origin: Vector) -> Layout:
        """What the columns of rows are; the domain of the numbers about this origin."""
        group = mapped_group(self.domain, self.data).mapped(np.ones(self.lines), origin)
        return Layout(group, len(self.domain.spheres), self.domain.sizes, self.limits.kind)

    def _given_kernel(self) -> Kernel | None:
        """The kernel whose bandwidth the user has given, by a number, a rule or a kernel."""
        own = isinstance(self.settings.kernel, Kernel)
        if not own and self.settings.bandwidth == "auto":
            if self.domain.is_flat:
                bandwidth.require_spread("auto", self.data.cloud.summary)
            return None
        return resolve_kernel(self.settings.kernel, self.settings.bandwidth, self.data.cloud)

    def _written(self, mixture: ProductMixture, origin: Vector, kernel: Kernel) -> DomainMean:
        """S_a = V_a − σ²I, the heaviest atom first."""
        order = np.argsort(-mixture.weights, kind="stable")
        means = mixture.means[order] + origin
        variances, vectors = sphere.in_space(mixture.directions[order], kernel.length**2)
        V = _with_spheres(mixture.covariances[order], variances, self.lines)
        spreads = without(V, kernel.length**2) if V.shape[-1] else None
        k = len(mixture)
        data = self.data
        base = SparseKernelMean(
            centers=self._centers(means, vectors),
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
            cover=np.nan,
            incoherence=0.0,
            kappa=None,
            indicator=None,
            jitter=0.0,
            stop_reason="fixed" if self.limits.k == k else "likelihood",
        )
        log_shares = mixture.log_shares[order] if self.domain.sizes else None
        cut = mixture.cut[order] if mixture.cut.any() else None
        return DomainMean(base, self.domain, log_shares, cut=cut)

    def _centers(self, means: NDArray[np.float64], vectors: NDArray[np.float64]) -> Matrix:
        """(k, m + 3s) the places of the atoms: numbers in their units, and vectors of spheres."""
        mapped = np.zeros((len(means), self.data.sample.sample.dimension))
        mapped[:, : self.lines] = means
        centers = self.data.original(mapped, None)
        if self.domain.spheres:
            centers[:, self.lines :] = vectors.reshape(len(means), -1)
        return centers


def _with_spheres(
    covariances: NDArray[np.float64], variances: NDArray[np.float64], m: int
) -> NDArray[np.float64]:
    """(k, m + 3s, m + 3s) covariances of numbers and of the coordinates of spheres, in blocks."""
    k, s = variances.shape
    if not s:
        return covariances
    if covariances.ndim == 1:
        covariances = covariances[:, None, None] * np.eye(m)
    found = np.zeros((k, m + 3 * s, m + 3 * s))
    found[:, :m, :m] = covariances
    places = np.arange(m, m + 3 * s)
    found[:, places, places] = np.repeat(variances, 3, axis=1)
    return found
