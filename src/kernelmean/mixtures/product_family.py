"""Mixtures of products, as the search asks for them: their EM, their starts and their wide parts.

EM takes the sum over images for one over components: an image has its own share in each row, and
what it sees of a row is what the component sees of the row's image. Where two clusters would be one
but for a bound or the cut of a period, they so become one. Where a bound is near, a component may
end at it instead (:mod:`kernelmean.mixtures.ends`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.domains import Cuts, Images
from kernelmean.engines import PointCloud
from kernelmean.mixtures import (
    directions,
    ends,
    expectation,
    gaussians,
    novelty,
    product,
    starts,
    truncation,
)
from kernelmean.mixtures.expectation import Prior
from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.layout import Layout
from kernelmean.mixtures.novelty import Novelty
from kernelmean.mixtures.product import ProductMixture, deviations
from kernelmean.mixtures.rows import Rows

# Images that EM looks at. What it leaves out is less than EM's own error, and a component that
# fills an interval has seven of them instead of eleven: in several coordinates, powers of that.
EM_REACH = 6.0
EM_DIGITS = 8  # of the mass of a component, in up to four coordinates with bounds or periods;
EM_ALL_DIGITS = 32  # in more, so many are shared out among them
ESTIMATE_CELLS = 64  # components of a kernel density estimate
MAX_ESTIMATE_LINES = 3  # coordinates; in more of them cells are wider than any good bandwidth
# Beyond, that many rows are worth more time to score than the thousandth of a nat that is gained.
MAX_ESTIMATE_ROWS = 100_000
FACTORS = (0.5, 0.71, 1.0, 1.41)  # its bandwidths, as multiples of Scott's
LEVEL_STRENGTH = 0.5  # points; the least for which common frequencies count in a component
UNSEEN_LEVELS = 1.0  # points, spread evenly over the levels of a column beside those that it has


@dataclass(frozen=True, eq=False)
class ProductFamily:
    """Products of Gaussians, von Mises–Fisher distributions and frequencies of levels.

    Parameters
    ----------
    layout : Layout
        What the columns of rows are.
    floor : ndarray of shape (m,)
        Variances that are added to each covariance of the numbers.
    least_angle : float
        Radians, the least width of a component on a sphere: κ is at most 1/least_angle².
    """

    layout: Layout
    floor: Vector
    least_angle: float = 1e-3

    estimates_first = False

    @property
    def lines(self) -> int:
        return self.layout.lines

    @property
    def continuous(self) -> int:
        return self.layout.continuous

    @property
    def feature_count(self) -> int:
        return self.layout.feature_count

    def estimates(self, n: int, most: int) -> int:
        flat = self.layout.kind == "full" and self.layout.columns == self.lines
        few = self.lines <= MAX_ESTIMATE_LINES and n <= MAX_ESTIMATE_ROWS
        return len(FACTORS) if flat and few else 0

    @property
    def bends(self) -> int:
        """Each bound, at which estimates are folded or cut off."""
        return len(self.layout.group.ends)

    def estimate_size(self, n: int) -> int:
        return min(n, ESTIMATE_CELLS)

    def as_seen(self, rows: Rows) -> Points:
        """Rows with places as far apart as numbers are, whatever part of the sphere they fill.

        Else a few islands would look like one place beside hours and ages.
        """
        seen = np.array(rows.points)
        for first in range(self.lines, self.continuous, 3):
            vectors = seen[:, first : first + 3]
            vectors /= max(directions.spread(vectors, rows.masses), self.least_angle)
        return seen

    def fitted(self, sums: Matrix, strength: float) -> ProductMixture:
        """M step: each component has what its share says, and all count for ``strength`` points."""
        layout = self.layout
        masses, lines, resultants, levels, within = layout.shares(expectation.worth_keeping(sums))
        prior = Prior(self.floor, strength)
        folded = self._home(expectation.fitted(lines, self.lines, prior, layout.kind))
        moments = ends.Moments(layout.bounded, masses, within)
        numbers, cut = ends.cut_off(folded, layout.group, moments, prior)
        return ProductMixture(
            layout,
            numbers,
            directions.fitted(resultants, masses, strength, self.least_angle**-2),
            self._log_shares(levels, masses, max(strength, LEVEL_STRENGTH)),
            cut,
        )

    def _home(self, found: Gaussians) -> Gaussians:
        """The images of components whose means lie in the domain, none wider than its limits."""
        home = self.layout.group.home(found.means)
        V = home.covariances(self._limited(found.covariances))
        return Gaussians(found.weights, home.places(found.means), V)

    def _limited(self, covariances: NDArray[np.float64]) -> NDArray[np.float64]:
        """No wider than an interval, or half a period: there it is even to 1.5 %.

        EM would widen it further for next to nothing, at the price of ever more images.
        """
        group = self.layout.group
        limits = np.where(group.periodic, 0.5, 1.0) * group.widths
        if covariances.ndim == 1:
            return np.minimum(covariances, float(limits.min()) ** 2)
        found = deviations(covariances, self.lines)
        factors = np.minimum(found, limits) / np.where(found > 0.0, found, 1.0)
        return np.asarray(covariances * (factors[:, :, None] * factors[:, None, :]))

    def _log_shares(self, levels: Matrix, masses: Vector, strength: float) -> Matrix:
        """log p_aj(l) with p_aj(l) = (N_ajl + ν·p_j(l))/(N_a + ν), p_j the common frequencies.

        A level that no row has is a part of these, so that no p is zero.
        """
        n = masses.sum()
        seen = levels.sum(axis=0)
        common = (seen + UNSEEN_LEVELS * self.layout.even_shares) / (n + UNSEEN_LEVELS)
        return np.asarray(np.log((levels + strength * common) / (masses + strength)[:, None]))

    def shared_out(self, rows: Rows, mixture: ProductMixture) -> tuple[Matrix, float]:
        images = self._images(mixture)
        theta = mixture.coefficients(images)
        sums, value = expectation.shared_among(rows, theta, self.layout.features)
        return self.layout.of_owners(sums, images), value

    def log_density(self, mixture: ProductMixture, X: Points) -> Vector:
        return mixture.log_density(X, self._images(mixture))

    def _images(self, mixture: ProductMixture) -> Images:
        moving = max(1, int(self.layout.group.moves.sum()))
        return mixture.images(EM_REACH, 10.0 ** -min(EM_DIGITS, EM_ALL_DIGITS / moving))

    def cells(self, cloud: PointCloud, rows: Rows, k: int, rng: np.random.Generator) -> Matrix:
        centers = starts.centroids(cloud, k, rng)
        return self.layout.with_own(self._sums_of_cells(rows, centers))

    def _sums_of_cells(self, rows: Rows, centers: Points) -> Matrix:
        """(k, F) sums of features over the rows nearest to each centre."""
        features = self.layout.features
        return starts.nearest_sums(rows, self.as_seen(rows), centers, self.feature_count, features)

    def estimate(
        self, cloud: PointCloud, rows: Rows, number: int, rng: np.random.Generator
    ) -> ProductMixture:
        """A component for each cell of the rows, wider by h²Σ.

        Where a density slopes at a bound, few components of any width do worse than many of one.
        """
        kind, which = divmod(number, len(FACTORS))
        centers = starts.centroids(cloud, ESTIMATE_CELLS, rng)
        sums = self.layout.with_own(self._sums_of_cells(rows, centers))
        lines = self.layout.shares(sums).lines
        masses, means, scatters = gaussians.moments(lines, self.lines, "full")
        h = FACTORS[which] * rows.size ** (-1.0 / (self.lines + 4))
        blur = h**2 * expectation.common_covariance(rows) + np.diag(self.floor)
        V = scatters / masses[:, None, None] + blur
        folded = self._home(Gaussians(masses / masses.sum(), means, V))
        return self._alone(*ends.without_what_is_beyond(folded, self.layout.group, kind))

    def joined(self, parts: Sequence[ProductMixture], shares: Vector) -> ProductMixture:
        return product.joined(parts, shares)

    def _alone(self, lines: Gaussians, cut: Cuts) -> ProductMixture:
        """Gaussians with even directions and levels."""
        k = len(lines)
        log_shares = np.tile(np.log(self.layout.even_shares), (k, 1))
        even = np.zeros((k, self.layout.spheres, 3))
        return ProductMixture(self.layout, lines, even, log_shares, cut)

    def without_gross(self, rows: Rows, widths: Vector) -> Rows:
        """The rows without those few that lie out of all proportion, where bounds let them.

        ``widths`` are those of the m coordinates that are numbers.
        """
        of_columns = np.full(self.layout.columns, np.inf)
        of_columns[: self.lines] = np.where(self.layout.is_open, widths, np.inf)
        return novelty.without_gross(rows, of_columns)

    def novelty(self, rows: Rows, kept: Rows, widths: Vector) -> Novelty[ProductMixture]:
        """Components that are even wherever they can be, and wide in the other coordinates.

        They end at all bounds, unless they are round: half as wide as an interval or a period, in
        whose middle it lies, what is folded is even to 1.5 %.
        """
        layout, group = self.layout, self.layout.group
        is_open = layout.is_open
        scales = np.ones(1)
        if is_open.any():
            numbers = rows.points[:, : self.lines][:, is_open]
            scales = novelty.wide_scales(float((np.abs(numbers) / widths[is_open]).max()))
        count = len(scales)
        round_ones = layout.kind == "scalar"
        even = (0.5 if round_ones else truncation.WIDEST) * group.widths
        wide = np.where(is_open, scales[:, None] * widths, even)
        middle = group.folded(np.zeros((1, self.lines)))
        middle[:, ~is_open] = 0.5 * (group.lower[~is_open] + group.upper[~is_open])
        V = (wide**2 + self.floor)[:, :, None] * np.eye(self.lines)
        if round_ones:
            V = np.trace(V, axis1=1, axis2=2) / self.lines
        lines = Gaussians(np.full(count, 1.0 / count), np.repeat(middle, count, axis=0), V)
        cut = np.repeat((group.moves & (not round_ones))[None], count, axis=0)
        mixture = self._alone(self._home(lines) if round_ones else lines, cut)
        return Novelty(mixture, novelty.share_of_novelty(rows, kept))
