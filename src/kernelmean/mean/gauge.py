"""The relative error of candidates for one kernel mean: to ten per cent at little cost, or better.

A certificate measures one mean well. A fit estimates its own error as it ends, and one that looks
for the number of its centres asks about many candidates: what depends on the sample alone, ‖z̄‖² or
its Fourier sums, is computed once, and more frequencies are drawn only where few cannot decide. The
estimate is never a difference of two estimates: err² = ‖z̄‖² + E needs ‖z̄‖² exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._random import Streams
from kernelmean._types import EPS, Space, Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Atoms, Kernel
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram
from kernelmean.mean.certificate import Comparison, by_rows
from kernelmean.mean.spectrum import Spectrum, stratified_draw

MAX_EXACT_POINTS = 8192  # up to which all pairs take about as long as one small fit
FEW_POINTS = 512  # whose pairs take no longer than the frequencies of an estimate
# Frequencies of each draw. The first two are what a fit pays for, and the first alone where it is a
# poor one. Their standard error is about a tenth of the error; after the last it is a fiftieth.
FREQUENCIES = (32, 96, 384, 2048)
POOR = 0.5  # relative error from which on a few frequencies tell: most of it is known exactly
VAGUE = 0.12  # of the error: with a standard error above it, a fit looks at the third draw too
DRAWS_OF_ESTIMATE = 3  # at most
MAX_VAGUE = 0.25  # of the error, from which on rows, which are few, say nothing
ROWS = 200  # at which a kernel without a spectrum is compared
DECIDING_ROWS = 2000  # the same, where a number of centres depends on it


class Estimate(NamedTuple):
    """A relative error ‖z̄ − z‖/‖z̄‖, and its standard error."""

    value: float
    standard_error: float

    def at_most(self, error: float) -> bool:
        """Whether it is, with two standard errors to spare."""
        return self.value + 2.0 * self.standard_error <= error

    def above(self, error: float) -> bool:
        """Whether it is above, by two standard errors."""
        return self.value - 2.0 * self.standard_error > error


class Candidate(NamedTuple):
    """Σ α_a φ_a in the place of z̄, and what is known of their products."""

    atoms: Atoms
    weights: Vector
    objective: float  # E = αᵀKα − 2κᵀα = ‖z̄ − z‖² − ‖z̄‖², in units of g(0) as κᵀα
    product: float  # κᵀα

    @classmethod
    def on(cls, factor: Factor, alpha: Vector) -> Candidate:
        """That on the first atoms of a factor."""
        k = len(alpha)
        return cls(
            factor.atoms[:k], alpha, factor.objective(alpha), float(factor.kappa[:k] @ alpha)
        )

    @classmethod
    def of(
        cls, atoms: Atoms, alpha: Vector, kappa: Vector, kernel: Kernel, space: Space
    ) -> Candidate:
        """That of a mean, which keeps no factor: O(k²·d)."""
        K = gram(kernel.radial(atoms.dimension, space), atoms, atoms)
        product = float(kappa @ alpha)
        return cls(atoms, alpha, float(alpha @ (K @ alpha)) - 2.0 * product, product)

    def same_sum(self, other: Candidate) -> bool:
        """Whether both are the same Σ α_a φ_a."""
        return np.array_equal(self.weights, other.weights) and self.atoms.equal(other.atoms)


class Gauge:
    """The kernel mean of a cloud's points, ready to be compared with candidates."""

    def __init__(
        self, cloud: PointCloud, engine: Engine, kernel: Kernel, space: Space, streams: Streams
    ) -> None:
        self._cloud = cloud
        self._engine = engine
        self._kernel = kernel
        self._space = space
        self._streams = streams
        self._norm: float | None = None  # ‖z̄‖², in units of g(0), once all pairs were summed
        self._spectra: list[Spectrum] = []
        self._latest: tuple[Candidate, list[Vector]] | None = None  # its squares, draw by draw

    def estimate(self, candidate: Candidate) -> float | None:
        """The relative error, from what is at hand or, at little cost, about a hundred frequencies.

        None where a kernel has no spectrum and a few rows cannot tell.
        """
        if self._norm is not None or self._cloud.summary.count <= FEW_POINTS:
            exact = self._exactly(candidate)
            if exact is not None:
                return exact.value
        if not self._kernel.has_spectrum(self._space):
            return self._from_few_rows(candidate)
        for draws in range(max(1, len(self._spectra)), DRAWS_OF_ESTIMATE + 1):
            found = self._by_spectra(candidate, draws)
            clear = found.standard_error <= VAGUE * found.value
            if clear and (draws > 1 or found.value > POOR):
                return found.value
        return self._by_spectra(candidate, max(DRAWS_OF_ESTIMATE, len(self._spectra))).value

    def reaches(self, candidate: Candidate, error: float) -> bool:
        """Whether the relative error, with two standard errors to spare, is at most ``error``.

        All pairs decide where they are few; else as many frequencies as it takes. Few of them are
        enough to say no.
        """
        if self._cloud.summary.count <= MAX_EXACT_POINTS:
            exact = self._exactly(candidate)
            if exact is not None:
                return exact.at_most(error)
        if not self._kernel.has_spectrum(self._space):
            return self._by_rows(candidate, DECIDING_ROWS).at_most(error)
        for draws in range(2, len(FREQUENCIES) + 1):
            found = self._by_spectra(candidate, draws)
            if found.above(error):
                return False
            if draws > 2 and found.at_most(error):
                return True
        return False

    def _exactly(self, candidate: Candidate) -> Estimate | None:
        """By all pairs; None where rounding hides the answer and a spectrum would show it."""
        if self._norm is None:
            d = self._cloud.summary.dimension
            self._norm = self._cloud.quadratic(self._kernel.radial(d, self._space))
        squared = self._norm + candidate.objective
        floor = 8 * EPS * (self._norm + float(candidate.weights @ candidate.weights))
        if squared < floor and self._kernel.has_spectrum(self._space):
            return None
        return Estimate(float(np.sqrt(max(squared, floor) / self._norm)), 0.0)

    def _by_spectra(self, candidate: Candidate, draws: int) -> Estimate:
        """From the frequencies of so many draws."""
        spectra = self._drawn(draws)
        squares = np.concatenate(self._squares(candidate, spectra))
        floor = (4 * EPS * (1.0 + float(np.abs(candidate.weights).sum()))) ** 2
        squared = max(float(squares.mean()), floor)
        if candidate.objective < 0.0:
            # ‖z̄‖² = err² − E: the nearer err²/‖z̄‖² is to 1, the less of it is unknown.
            relative = squared / (squared - candidate.objective)
            deviations = (1.0 - relative) * squares
        else:  # worse than nothing: that difference would be all noise
            points = np.concatenate([spectrum.squares_of_points for spectrum in spectra])
            relative = squared / float(points.mean())
            deviations = squares - relative * points
        spread = float(deviations.std(ddof=1)) / np.sqrt(len(squares))
        error = float(np.sqrt(relative))
        return Estimate(error, 0.5 * error * spread / squared)

    def _squares(self, candidate: Candidate, spectra: list[Spectrum]) -> list[Vector]:
        """Those of each draw; a candidate is often asked about again, with more draws."""
        if self._latest is None or not candidate.same_sum(self._latest[0]):
            self._latest = (candidate, [])
        known = self._latest[1]
        known += [
            spectrum.squares(candidate.atoms, candidate.weights)
            for spectrum in spectra[len(known) :]
        ]
        return known[: len(spectra)]

    def _drawn(self, draws: int) -> list[Spectrum]:
        for which in range(len(self._spectra), draws):
            rng = self._streams.of("estimated error", which)
            drawn = stratified_draw(self._kernel, self._cloud, self._space, rng, FREQUENCIES[which])
            self._spectra.append(Spectrum.of(self._cloud, drawn))
        return self._spectra[:draws]

    def _from_few_rows(self, candidate: Candidate) -> float | None:
        found = self._by_rows(candidate, ROWS)
        return None if found.standard_error > MAX_VAGUE * found.value else found.value

    def _by_rows(self, candidate: Candidate, size: int) -> Estimate:
        case = Comparison(
            self._cloud,
            self._engine,
            self._kernel,
            self._space,
            candidate.atoms,
            candidate.weights,
        )
        offset = -candidate.objective - candidate.product
        rng = self._streams.of("estimated error at rows")
        found = by_rows(case, offset, -candidate.objective, rng, size)
        relative = found.relative_error / found.error
        return Estimate(found.relative_error, found.standard_error * relative)
