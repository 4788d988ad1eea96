"""A kernel density estimate on a domain, in the coordinates that engines see, and a copy of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernelmean import bandwidth
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.bandwidth.leave_one_out import Folding
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.domains import Categorical, Domain, Group
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.fitting.cells_on_domain import CellsOnDomain, cells_on_domain, kind_of_cells
from kernelmean.fitting.prepare import loaded, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Gaussian, Kernel
from kernelmean.kernels.registry import is_gaussian
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import ArraySample, WeightedSample

if TYPE_CHECKING:
    from kernelmean.samples.coded import CodedSample

LEAST_SMOOTHING = 1e-9  # the share of a row that other categories get at least
LEAST_FACTOR = 1e-3  # by which the levels of a column are apart, in bandwidths
# A coordinate that is always 0 has the density 1 under this kernel, and so no part in anything.
WITHOUT_COORDINATES = Gaussian(float(1.0 / np.sqrt(2.0 * np.pi)))

Fit = Callable[[WeightedSample, FitSettings], SparseKernelMean | KernelMean]


def require_gaussian(settings: FitSettings) -> None:
    """A ValueError for other kernels."""
    if not is_gaussian(settings.kernel):
        raise ValueError(
            f"domain= needs a Gaussian kernel, whose reflections and periods are known, not "
            f"{settings.kernel}."
        )


class EmbeddedRows(NamedTuple):
    """Rows that count, as engines see them."""

    coordinates: WeightedSample
    codes: IntVector

    @classmethod
    def of(cls, coded: CodedSample) -> EmbeddedRows:
        """The embedded rows of a sample."""
        sample = coded.sample
        found = coded.domain.embed(sample.sample.array())
        embedded = replace(sample, sample=ArraySample(found.coordinates))
        return cls(embedded, found.codes)

    def levels(self, rows: IntVector | slice, domain: Domain) -> list[Matrix]:
        """For each column of categories (n, L): 1 at the category of a row, and 0 elsewhere."""
        codes = self.codes[rows]
        return [np.eye(size)[codes[:, j]] for j, size in enumerate(domain.sizes)]


def scale_on(
    domain: Domain, settings: FitSettings, sample: WeightedSample, *, unit_spheres: bool = False
) -> Matrix | None:
    """The linear map of the coordinates: each number by itself where it is bounded or periodic.

    The coordinates of a sphere have a factor in common, so that turning the sphere changes nothing;
    it is 1 for ``unit_spheres``.
    """
    scale = settings.scale
    m = len(domain.lines)
    D = domain.coordinates
    if scale is None or not (m or domain.spheres):
        return None
    if not isinstance(scale, str) and np.shape(scale) == (D, D) and m < D:
        found = np.array(scale)  # of all coordinates, as found before for all classes
    else:
        found = _own_scale(domain, scale, sample)
    if unit_spheres:
        found[range(m, D), range(m, D)] = 1.0
    return found


def _own_scale(domain: Domain, scale: Any, sample: WeightedSample) -> Matrix:
    """(D, D): what a scale of the numbers means, with the spheres beside it."""
    m = len(domain.lines)
    D = domain.coordinates
    found = np.eye(D)
    if m:
        points = sample.sample.array()[:, :m]
        summary = ArraySummary(WeightedPoints(points, sample.weights))
        part = scaling.resolve(scale, summary)
        assert part is not None
        _require_own_scale(part, domain)
        found[:m, :m] = part
    if isinstance(scale, str):
        spread = sample.summary.std[m:].reshape(-1, 3)
        widths = np.sqrt((spread**2).mean(axis=1))
        found[range(m, D), range(m, D)] = np.repeat(1.0 / np.where(widths > 0, widths, 1.0), 3)
    return found


def _require_own_scale(scale: Matrix, domain: Domain) -> None:
    """A ValueError where a map would turn a bound or a period into several columns."""
    moves = domain.group.moves
    beside = scale - np.diag(np.diag(scale))
    mixed = (beside[moves] != 0.0).any() or (beside[:, moves] != 0.0).any()
    if mixed or (np.diag(scale)[moves] <= 0.0).any():
        raise ValueError(
            "scale= mixes a bounded or periodic column with others, or turns it round; use "
            "scale='std', or a matrix with a positive number and zeros in its row and column."
        )


@dataclass(frozen=True, eq=False)
class Copy:
    """A kernel density estimate on a domain, to be copied.

    A category is a coordinate for each level, 1 at the category of a row and 0 elsewhere, times
    the factor δ with exp(−δ²/σ²) = λ/((L − 1)(1 − λ)): the Gaussian kernel of these coordinates is
    proportional to that of Aitchison and Aitken with the smoothing λ.
    """

    rows: EmbeddedRows
    domain: Domain
    settings: FitSettings  # with the kernel as a value, and the scale as a matrix
    smoothings: Vector  # (c,) λ of each column of categories

    @classmethod
    def of(cls, coded: CodedSample, settings: FitSettings) -> Copy:
        """Find the scale, the kernel and the smoothing."""
        require_gaussian(settings)
        rows = EmbeddedRows.of(coded)
        domain = coded.domain
        scale = scale_on(domain, settings, rows.coordinates)
        kernel = _kernel(rows, domain, replace(settings, scale=scale))
        scaled = replace(settings, scale=scale, kernel=kernel, bandwidth=DEFAULT_RULE)
        weights = coded.sample.weights
        smoothings = [_smoothing(domain, j, rows, weights) for j in range(len(domain.sizes))]
        return cls(rows, domain, scaled, np.array(smoothings))

    def mean(self, fit: Fit) -> DomainMean:
        """What ``fit`` makes of the coordinates, on the domain."""
        sample = self._with_categories() if len(self.domain.categories) else self.rows.coordinates
        settings = replace(self.settings, scale=self._scale)
        if self.domain.is_flat:
            return DomainMean(fit(sample, settings), self.domain)
        kernel = settings.kernel
        assert isinstance(kernel, Kernel)
        kind = kind_of_cells(settings, kernel, sample.sample.dimension, sample.summary.size)
        fitted = fit(sample, replace(settings, spread=None))
        if kind is None or isinstance(fitted, KernelMean):
            return self._split(fitted, fitted.centers)
        data = loaded(sample, settings)
        cells = cells_on_domain(data, fitted.centers, fitted.kernel, self.domain, kind)
        return self._split(_of_cells(fitted, cells), cells.centers)

    @property
    def _levels(self) -> int:
        return sum(self.domain.sizes)

    @property
    def _scale(self) -> Matrix | None:
        scale = self.settings.scale
        if scale is None or not self._levels:
            return None if scale is None else np.asarray(scale)
        D = self.domain.coordinates
        found = np.eye(D + self._levels)
        found[:D, :D] = np.asarray(scale)
        return found

    def _deltas(self, kernel: Kernel) -> Vector:
        """(ΣL,) δ of each level."""
        sizes = self.domain.sizes
        factors = [_factor(share, size) for share, size in zip(self.smoothings, sizes, strict=True)]
        return np.repeat(np.array(factors) * kernel.length, sizes)

    def _with_categories(self) -> WeightedSample:
        """Rows with a coordinate for each level of each column of categories."""
        kernel = self.settings.kernel
        assert isinstance(kernel, Kernel)
        levels = np.hstack(self.rows.levels(slice(None), self.domain)) * self._deltas(kernel)
        sample = self.rows.coordinates
        wide = np.concatenate([sample.sample.array(), levels], axis=1)
        return replace(sample, sample=ArraySample(wide))

    def _split(self, fitted: SparseKernelMean | KernelMean, centers: Points) -> DomainMean:
        """Categories apart from the other coordinates: p = (1 − λ)w + λ/(L − 1)·(1 − w).

        A centre that is a row has all of its weight w at one level; a centroid has the shares of
        its rows, and so the mean of their kernels.
        """
        D = self.domain.coordinates
        scale = None if fitted.scale is None else fitted.scale[:D, :D]
        inner = replace(fitted, centers=centers[:, :D], scale=scale)
        if not self._levels:
            return DomainMean(inner, self.domain)
        coordinates = centers[:, D:] / self._deltas(fitted.kernel)
        ends = np.cumsum(self.domain.sizes)[:-1]
        log_shares = [
            _log_shares(part, smoothing)
            for part, smoothing in zip(
                np.split(coordinates, ends, axis=1), self.smoothings, strict=True
            )
        ]
        return DomainMean(inner, self.domain, np.hstack(log_shares))


def _of_cells(points: SparseKernelMean, cells: CellsOnDomain) -> SparseKernelMean:
    """A mean of the cells, without what was known of the points."""
    k = len(cells.weights)
    return replace(
        points,
        centers=cells.centers,
        spreads=cells.spreads,
        weights=cells.weights,
        indices=None,
        radii=np.full(k, np.inf),
        cover=np.nan,
        incoherence=0.0,
        kappa=None,
        indicator=None,
        jitter=0.0,
        center_mass=None,
        nearest_bound=None,
        nested=False,
        estimated_error=None,
    )


def _log_shares(coordinates: Matrix, smoothing: float) -> Matrix:
    """(k, L) log p of one column of categories, from the coordinates of its levels."""
    w = np.maximum(coordinates, 0.0)
    w /= w.sum(axis=1, keepdims=True)
    size = w.shape[1]
    if size == 1:
        return np.zeros_like(w)
    return np.asarray(np.log((1.0 - smoothing) * w + smoothing / (size - 1) * (1.0 - w)))


def _kernel(rows: EmbeddedRows, domain: Domain, settings: FitSettings) -> Kernel:
    """The kernel in the coordinates of the kernel; rules that leave rows out see images too."""
    if not (len(domain.lines) or domain.spheres):
        return WITHOUT_COORDINATES
    rule = settings.bandwidth
    if isinstance(settings.kernel, Kernel) or not isinstance(rule, str):
        return prepare(rows.coordinates, settings).kernel
    data = loaded(rows.coordinates, settings)
    if rule not in bandwidth.FOLDED_RULES:
        return resolve_kernel(settings.kernel, rule, data.cloud)
    return Gaussian(bandwidth.by_folded_rule(rule, data.cloud, _folding(domain, data)))


def mapped_group(domain: Domain, data: LoadedSample) -> Group:
    """The bounds and periods of the numbers in the coordinates of the kernel."""
    group = domain.group
    if data.scale is None:
        return group
    m = len(group)
    return group.mapped(np.where(group.moves, np.diag(data.scale)[:m], 1.0), data.origin[:m])


def _folding(domain: Domain, data: LoadedSample) -> Folding:
    """The rows with those of their images that a kernel might reach from."""
    m = len(domain.lines)
    dimension = m + 2 * len(domain.spheres)
    points = data.map(data.sample.sample.array())
    group = mapped_group(domain, data)
    width = bandwidth.by_summary(DEFAULT_RULE, data.cloud.summary)
    images = group.images(points[:, :m], np.full((len(points), m), width))
    every = points[images.owner]
    every[:, :m] = images.places(points[:, :m])
    weights = data.sample.weights
    cloud = data.engine.load(every, None if weights is None else weights[images.owner])
    return Folding(cloud, dimension)


def _factor(smoothing: float, size: int) -> float:
    """δ/σ, by which levels are apart: exp(−(δ/σ)²) = λ/((L − 1)(1 − λ)).

    Where categories are smoothed so much that all are alike, levels are still told apart.
    """
    if size < 2:
        return 1.0
    ratio = smoothing / ((size - 1) * (1.0 - smoothing))
    return max(float(np.sqrt(max(-np.log(ratio), 0.0))), LEAST_FACTOR)


def _smoothing(domain: Domain, j: int, rows: EmbeddedRows, weights: Vector | None) -> float:
    """λ of a column of categories: as given, or the likeliest when each row is left out.

    By itself a column whose categories are equally frequent would rather be smoothed to nothing,
    and forget what other columns say of it: λ is at most (L − 1)/L·n^{−2/(m + 4)}, which falls as
    fast as the variance of the kernel of the m numbers does.
    """
    kind = domain.kinds[domain.categories[j]]
    size = domain.sizes[j]
    assert isinstance(kind, Categorical)
    if kind.smoothing is not None:
        return min(max(float(kind.smoothing), LEAST_SMOOTHING), 1.0 - LEAST_SMOOTHING)
    if size < 2:
        return LEAST_SMOOTHING
    total = rows.coordinates.summary.size
    shares = np.bincount(rows.codes[:, j], weights, minlength=size)
    counts = shares / shares.sum() * total
    found = _left_out_smoothing(counts[counts > 0.0], size)
    m = len(domain.lines) + 2 * len(domain.spheres)
    return float(min(found, (size - 1) / size * total ** (-2.0 / (m + 4))))


def _left_out_smoothing(counts: Vector, size: int) -> float:
    """The λ of the largest Σ_l n_l log((1 − λ)(n_l − 1)/(n − 1) + λ/(L − 1)·(n − n_l)/(n − 1))."""
    from scipy.optimize import minimize_scalar  # slow to import

    n = float(counts.sum())
    if n <= 1.0 or len(counts) < 2:
        return LEAST_SMOOTHING
    own = np.maximum(counts - 1.0, 0.0) / (n - 1.0)
    others = (n - counts) / ((n - 1.0) * (size - 1))

    def loss(log_share: float) -> float:
        share = np.exp(log_share)
        return -float(counts @ np.log((1.0 - share) * own + share * others))

    ends = (np.log(LEAST_SMOOTHING), np.log((size - 1) / size))
    return float(np.exp(minimize_scalar(loss, bounds=ends, method="bounded").x))
