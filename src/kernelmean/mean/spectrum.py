"""The Fourier transform of a sample at random frequencies, by which two kernel means are compared.

‖z̄ − z‖² = E_ω |Σ_j p_j e^{iω·x_j} − Σ_a α_a e^{iω·c_a}|², ω from the spectrum of the kernel: a sum
of squares, which no cancellation spoils.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean._types import Matrix, Points, Space, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import Atoms, Kernel

# Factors by which spectra are widened; less in high dimension, where weights would degenerate.
WIDTHS = (1.0, 1.6, 2.5)
WIDTHS_OF_FEW = (1.0, 1.6, 2.5, 4.0)  # in at most two dimensions, for few frequencies
# Draws of the latent scale of which few are taken: as many as there are points, but
LEAST_LATENT = 128  # for each that is taken, at least, and
MOST_LATENT = 32_768


class Frequencies(NamedTuple):
    """Frequencies, and what each counts for."""

    values: Points  # (M, d)
    importance: Vector  # (M,)


@dataclass(frozen=True)
class Spectrum:
    """The Fourier transform of a sample at random frequencies, with which others are compared."""

    frequencies: Points  # (M, d)
    importance: Vector  # (M,)
    origin: Vector  # (d,) that phases are taken from
    of_points: Matrix  # (M, 2) Σ_j p_j cos ω·(x_j − origin), and the same with sin

    @classmethod
    def of(cls, cloud: PointCloud, drawn: Frequencies) -> Spectrum:
        """That of a cloud's points at these frequencies."""
        origin = cloud.summary.mean
        return cls(drawn.values, drawn.importance, origin, cloud.fourier_sum(drawn.values, origin))

    @property
    def squares_of_points(self) -> Vector:
        """(M,) numbers whose mean estimates ‖z̄‖², in units of g(0)."""
        values: Vector = self.importance * (self.of_points**2).sum(axis=1)
        return values

    def squares(self, atoms: Atoms, alpha: Vector) -> Vector:
        """(M,) numbers whose mean estimates ‖z̄ − Σ α_a φ_a‖², in units of g(0)."""
        phase = self.frequencies @ (atoms.centers - self.origin).T
        decay = _spread_decay(atoms, self.frequencies)
        of_centers = np.stack(
            [(np.cos(phase) * decay) @ alpha, (np.sin(phase) * decay) @ alpha], axis=1
        )
        values: Vector = self.importance * ((self.of_points - of_centers) ** 2).sum(axis=1)
        return values


def _spread_decay(atoms: Atoms, frequencies: Points) -> Matrix | float:
    """exp(−½ωᵀSω): what the spread of each atom leaves of e^{iω·c} at each frequency."""
    if atoms.spreads is None:
        return 1.0
    if atoms.kind == "scalar":
        squares = (frequencies**2).sum(axis=1)
        return np.exp(-0.5 * np.outer(squares, atoms.spreads))
    forms = np.einsum("ms,ast,mt->ma", frequencies, atoms.spreads, frequencies, optimize=True)
    decay: Matrix = np.exp(-0.5 * np.maximum(forms, 0.0))
    return decay


def spectral_draw(
    kernel: Kernel, d: int, space: Space, rng: np.random.Generator, size: int
) -> Frequencies:
    """Frequencies from a defensive mixture of wider spectra, with importance weights p/q ≤ 3.

    The residual lives at high frequency, so plain sampling is heavy-tailed. Given its latent scale
    every spectrum here is a normal; that normal is widened by c ∈ {1, 1.6, 2.5} (less in high
    dimension, where the weights would degenerate).
    """
    return _widened(kernel.spectral_scales(size, d, space, rng), _widths(d, WIDTHS), d, rng)


def stratified_draw(
    kernel: Kernel, cloud: PointCloud, space: Space, rng: np.random.Generator, size: int
) -> Frequencies:
    """The same for few frequencies, with weights p/q ≤ 8: large latent scales are sought out.

    Where the latent scale of a spectrum varies, as that of a Laplacian, its rare large values carry
    most of the error of a good mean. Of many draws in falling order, half of those taken are spread
    evenly and half evenly in the logarithm of their rank.
    """
    d = cloud.summary.dimension
    widths = _widths(d, WIDTHS if d > 2 else WIDTHS_OF_FEW)
    count = min(max(cloud.summary.count, LEAST_LATENT * size), MOST_LATENT)
    many = kernel.spectral_scales(count, d, space, rng)
    if many.max() == many.min():
        return _widened(many[:size], widths, d, rng)
    chances, cumulative = _rank_chances(len(many))
    places = (np.arange(size) + rng.random(size)) / size
    ranks = np.minimum(np.searchsorted(cumulative, places), len(many) - 1)
    scales = np.sort(many)[::-1][ranks]
    drawn = _widened(scales, widths, d, rng)
    return Frequencies(drawn.values, drawn.importance / (len(many) * chances[ranks]))


@functools.lru_cache(maxsize=8)
def _rank_chances(count: int) -> tuple[Vector, Vector]:
    """By which each rank is drawn, and their sums."""
    steep = 1.0 / (np.arange(count) + 0.5)
    chances: Vector = 0.5 / count + 0.5 * steep / steep.sum()
    return chances, np.cumsum(chances)


def _widths(d: int, widths: tuple[float, ...]) -> Vector:
    if d <= 5:
        return np.array(widths)
    narrow: Vector = 1.0 + np.array([0.0, 0.3, 0.6]) * np.sqrt(10.0 / max(d, 10))
    return narrow


def _widened(scales: Vector, widths: Vector, d: int, rng: np.random.Generator) -> Frequencies:
    """Normal frequencies of these scales, widened at random."""
    size = len(scales)
    z = rng.standard_normal((size, d)) * widths[rng.integers(len(widths), size=size)][:, None]
    r2 = (z**2).sum(axis=1)[:, None]
    # log N(z; c)/N(z; 1) for each width c.
    log_ratio = 0.5 * r2 * (1.0 - widths**-2.0) - d * np.log(widths)
    importance: Vector = 1.0 / np.exp(log_ratio).mean(axis=1)
    return Frequencies(z * scales[:, None], importance)
