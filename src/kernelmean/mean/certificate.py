"""What is promised (Theorem 1 and a tighter bound) and what is measured (three ways).

The error is measured exactly, from residuals at rows, or spectrally; all in units of √g(0) until
the mean puts the unit back. With w the weights of the sample and α those of the centres: err² = ‖z̄
− z‖² = ‖z̄‖² − 2κᵀα + αᵀKα.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean import _shown
from kernelmean._random import Streams
from kernelmean._types import EPS, Points, Space, Vector
from kernelmean.engines import Distances, Engine, KernelSums, PointCloud
from kernelmean.kernels import Atoms, Kernel, RadialFunction
from kernelmean.linalg.gram import gram
from kernelmean.mean.cards import certificate_card
from kernelmean.mean.spectrum import Spectrum, spectral_draw

METHODS = ("auto", "exact", "rows", "spectral")
MAX_EXACT_POINTS = 20_000  # up to which n²/2 kernel values take about a second
DEFAULT_ROWS = 2000  # at which the residual is measured
DEFAULT_FREQUENCIES = 4000  # at which the spectra are compared


class Certificate(NamedTuple):
    """A measured error ‖z̄ − z‖ of a sparse kernel mean.

    Where rounding hides the error, ``error`` is the floor: the truth is at most about that.

    Attributes
    ----------
    error : float
        ‖z̄ − z‖.
    relative_error : float
        The same divided by ‖z̄‖.
    standard_error : float
        The standard error of ``error``; 0 for the exact method.
    method : {'exact', 'rows', 'spectral'}
        How it was measured: in time O(n²·d), or O(n·size·d) for the last two.
    below_floor : bool
        Whether rounding hides the answer.

    See Also
    --------
    SparseKernelMean.certificate : Measures it.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=20, random_state=0)
    >>> found = mean.certificate(X)
    >>> found.method, found.standard_error, bool(0 < found.relative_error < 0.1)
    ('exact', 0.0, True)
    """

    error: float
    relative_error: float
    standard_error: float  # of ``error``; 0 for the exact method
    method: str
    below_floor: bool = False

    def __repr__(self) -> str:
        spread = ["standard_error"] if self.standard_error else []
        floor = ["below_floor"] if self.below_floor else []
        return _shown.brief(self, ["error", "relative_error", *spread, "method", *floor])

    def _repr_html_(self) -> str:
        return certificate_card(self)

    def __str__(self) -> str:
        if self.below_floor:
            return f"relative error < {self.relative_error:.1e} ({self.method})"
        if not self.standard_error:
            return f"relative error {self.relative_error:.2e} ({self.method})"
        spread = self.standard_error / self.error * self.relative_error if self.error > 0 else 0.0
        return f"relative error {self.relative_error:.2e} ± {spread:.1e} ({self.method})"


@dataclass(frozen=True)
class Comparison:
    """The kernel mean of a cloud's points, and centres with coefficients that stand for it."""

    cloud: PointCloud
    engine: Engine
    kernel: Kernel
    space: Space
    atoms: Atoms  # the centres, with their spreads where they have some
    alpha: Vector

    @property
    def radial(self) -> RadialFunction:
        """g/g(0)."""
        return self.kernel.radial(self.atoms.dimension, self.space)

    def loaded_atoms(self) -> KernelSums:
        """The centres in the engine."""
        if self.atoms.spreads is None:
            return self.engine.load(self.atoms.centers)
        return self.engine.load_atoms(self.atoms)


def kernel_means(cloud: PointCloud, radial: RadialFunction, atoms: Atoms) -> Vector:
    """κ_a = ⟨z̄, φ_a⟩, φ_a the kernel at centre a or its mean over atom a."""
    if atoms.spreads is None:
        return cloud.kernel_sum(radial, atoms.centers)
    return cloud.atom_sum(radial, atoms)


def theorem_1(cover: float, radial: RadialFunction, covered_mass: float) -> float:
    """(1 − k/n)·√(1 − ν²), with ν = g(W)/g(0) and W the cover.

    With weights or repeated points 1 − k/n is the mass off the centres.
    """
    return max(1.0 - covered_mass, 0.0) * float(_distance_to_span(radial, np.array(cover**2)))


def _distance_to_span(radial: RadialFunction, squared: Vector) -> Vector:
    """√(1 − (g(D)/g(0))²): how far φ(·, x) is from the span of its nearest centre.

    By expm1 it is exact where g ≈ 1.
    """
    distance: Vector = np.sqrt(-np.expm1(np.minimum(2.0 * radial.log(squared), 0.0)))
    return distance


def coincident_mass(
    cloud: PointCloud, engine: Engine, distances: Distances, centers: Points
) -> Vector:
    """Weight of the points that coincide with each centre.

    It is 1/n for distinct points of equal weight.
    """
    rows, p = distances.coincident()
    if not len(rows):
        return np.zeros(len(centers))
    return float(p.sum()) * engine.load(cloud.rows(rows), p).nearest(centers).masses()


def nearest_bound(distances: Distances, radial: RadialFunction) -> float:
    """Σ_j p_j √(1 − (g(D_j)/g(0))²), which is never above Theorem 1.

    D_j is the distance of x_j to its nearest centre.
    """
    return distances.mean(lambda squared: _distance_to_span(radial, squared))


def measure(
    case: Comparison, method: str, streams: Streams, size: int | None = None
) -> Certificate:
    """The error by the method asked for.

    "auto" is exact while that is cheap and above its floor, else spectral. Where the kernel is a
    user's own and has no known spectrum, "auto" takes what is left: the exact floor, or rows.
    """
    kappa = kernel_means(case.cloud, case.radial, case.atoms)
    K = gram(case.radial, case.atoms, case.atoms)
    residual = kappa - K @ case.alpha
    spectrum = case.kernel.has_spectrum(case.space)
    half = float(kappa @ case.alpha) + float(residual @ case.alpha)  # 2κᵀα − αᵀKα = ‖z̄‖² − err²
    if method == "exact" or (method == "auto" and case.cloud.summary.count <= MAX_EXACT_POINTS):
        exact = _exact(case, half)
        if method == "exact" or not exact.below_floor or not spectrum:
            return exact
    if method == "rows" or (method == "auto" and not spectrum):
        return by_rows(
            case,
            float(residual @ case.alpha),
            half,
            streams.of("certificate rows"),
            size or DEFAULT_ROWS,
        )
    return _spectral(case, half, streams.of("certificate frequencies"), size or DEFAULT_FREQUENCIES)


def _exact(case: Comparison, half: float) -> Certificate:
    """err² = ‖z̄‖² − (2κᵀα − αᵀKα) by all pairs, O(n²d).

    Rounding hides what is below a few eps·(‖z̄‖² + ‖α‖²).
    """
    zz = case.cloud.quadratic(case.radial)
    squared = zz - half
    floor = 8 * EPS * (zz + float(case.alpha @ case.alpha))
    below = squared < floor
    error = float(np.sqrt(floor if below else squared))
    return Certificate(error, error / float(np.sqrt(zz)), 0.0, "exact", below)


def by_rows(
    case: Comparison, offset: float, half: float, rng: np.random.Generator, size: int
) -> Certificate:
    """err² = Σ_j p_j r(x_j) − αᵀ(κ − Kα), with r = z̄ − z.

    The first sum is estimated from rows drawn by weight.
    """
    rows, correction = _drawn_rows(case.cloud, rng, size)
    Q = case.cloud.rows(rows)
    z = case.loaded_atoms().kernel_sum(case.radial, Q, case.alpha)
    r = case.cloud.kernel_sum(case.radial, Q) - z
    squared = float(r.mean()) - offset
    # All rows of a sample leave nothing to chance, even where there is only one.
    spread = 0.0 if correction == 0.0 else float(r.std(ddof=1)) / np.sqrt(len(r)) * correction
    floor = 8 * EPS * (abs(half) + float(case.alpha @ case.alpha))
    return _estimated(squared, float(spread), half, floor, "rows")


def _drawn_rows(cloud: PointCloud, rng: np.random.Generator, size: int) -> tuple[np.ndarray, float]:
    """Rows, and the finite-population factor √(1 − m/n).

    They are drawn without replacement where n counts rows, else with replacement.
    """
    n = cloud.summary.size
    if not cloud.summary.counted:
        return cloud.locate(rng.random(size)), 1.0
    m = min(size, int(n))
    positions = rng.choice(int(n), m, replace=False)
    located = cloud.locate(np.asarray((np.sort(positions) + 0.5) / n, dtype=np.float64))
    return located, float(np.sqrt(1.0 - m / n))


def _spectral(case: Comparison, half: float, rng: np.random.Generator, size: int) -> Certificate:
    """err² = E_ω |Σ_j w_j e^{iω·x_j}|² over the signed measure, without cancellation.

    The measure is p on the points and −α on the centres.
    """
    drawn = spectral_draw(case.kernel, case.cloud.summary.dimension, case.space, rng, size)
    spectrum = Spectrum.of(case.cloud, drawn)
    values = spectrum.squares(case.atoms, case.alpha)
    floor = (4 * EPS * (1.0 + float(np.abs(case.alpha).sum()))) ** 2
    return _estimated(
        float(values.mean()), float(values.std(ddof=1) / np.sqrt(size)), half, floor, "spectral"
    )


def _estimated(
    squared: float, spread: float, half: float, floor: float, method: str
) -> Certificate:
    """The error from an estimate of err² with its standard error, by the delta method.

    It is never the root of a negative number.
    """
    below = squared < floor
    # Where the estimate is below zero or lost in its own spread, the honest figure is its upper
    # end.
    value = max(squared, floor, spread if squared <= 0.0 else 0.0)
    error = float(np.sqrt(value))
    zz = max(half + value, value)
    return Certificate(
        error, error / float(np.sqrt(zz)) if zz > 0 else 1.0, spread / (2 * error), method, below
    )
