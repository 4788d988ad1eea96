"""A sparse copy of a Gaussian density estimate within a relative error, found with few fits.

Where only the time counts, the fewest centres do not: a fit too many costs more than a tenth more
atoms. The number of atoms is extrapolated from the errors of earlier fits instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import Engine
from kernelmean.fitting.fit import fit_prepared
from kernelmean.fitting.prepare import Prepared, checked_sample, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Atoms, Gaussian
from kernelmean.mean import certificate as certificates
from kernelmean.mean.certificate import Certificate, Comparison
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.selection.cells import TooWideError

FIRST_ATOMS = 256  # whose fit takes a few passes over the points and no algebra to speak of
MAX_ATOMS = 4096  # whose algebra takes some seconds
POINTS_PER_ATOM = 8  # at least: with fewer, a copy saves little
AIM = 0.75  # of the error that is asked for, at which the next number of atoms aims
LEAST_GROWTH = 1.2  # of the number of atoms, from one fit to the next
MOST_GROWTH = 4.0
FREQUENCIES = 512  # of the certificate: its standard error is about four per cent of the error


class SparseCopy(NamedTuple):
    """A sparse density, and its measured distance from the estimate that it stands for."""

    mean: SparseKernelMean
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class DensityEstimate:
    """(1/n)Σ N(·; x_j, h²Σ), every point a centre, and a sparse copy of it once one is asked for.

    Points are seen after ``scale`` A, for which AΣAᵀ = I.
    """

    points: Points  # (n, d)
    weights: Vector  # (n,), of sum 1
    factor: float  # h
    scale: Matrix  # A
    error: float  # of the copy, relative in L2
    engine: str | Engine
    streams: Streams

    @lazy
    def full(self) -> KernelMean:
        """The estimate itself."""
        size = 1.0 / float(self.weights @ self.weights)
        kernel = Gaussian(self.factor)
        return KernelMean(self.points, self.weights, kernel, "l2", self.scale, size, self.engine)

    @lazy
    def copy(self) -> SparseCopy | None:
        """The copy; None where as many atoms as may be do not reach the error."""
        return _Search(self._prepared, self._settings, self.streams, self.error).found()

    @lazy
    def _settings(self) -> FitSettings:
        return FitSettings(
            kernel=Gaussian(self.factor),
            scale=self.scale,
            space="l2",
            constraint="simplex",
            spread="scalar",
            engine=self.engine,
        )

    @property
    def _prepared(self) -> Prepared:
        """The points in an engine; loaded for one search, and not kept."""
        equal = bool((self.weights == self.weights[0]).all())
        weights = None if equal else self.weights
        return prepare(checked_sample(self.points, weights, self.engine), self._settings)


def blurred(density: KernelMean, total: Matrix) -> KernelMean:
    """A mixture of Gaussians, convolved with one: ``total`` V is its covariance and the kernel's.

    With T = A⁻¹, N(c, s²TTᵀ + h²TTᵀ) becomes N(c, s²TTᵀ + V). After a scale B with BVBᵀ = I that
    is a spread s²·BT(BT)ᵀ under a kernel of length 1. A LinAlgError where V is not positive.
    """
    # As SciPy's, the factor reads the upper triangle alone.
    L = cholesky(np.asarray(total, dtype=np.float64), lower=False).T
    B = solve_triangular(L, np.eye(len(L)), lower=True)
    spreads = density.spreads
    if spreads is not None:
        assert density.scale is not None
        BT = np.linalg.solve(density.scale.T, B.T).T
        turned = BT @ BT.T
        spreads = spreads[:, None, None] * (0.5 * (turned + turned.T))
    return replace(density, kernel=Gaussian(1.0), scale=B, spreads=spreads)


class _Search:
    """Fits with more and more atoms, until one is within the error."""

    def __init__(
        self, prepared: Prepared, settings: FitSettings, streams: Streams, error: float
    ) -> None:
        self._prepared = prepared
        self._settings = settings
        self._streams = streams
        self._error = error
        self._tried: list[tuple[int, float]] = []  # numbers of atoms, and their errors

    def found(self) -> SparseCopy | None:
        """The first copy whose error, with two standard errors to spare, is low enough."""
        n = self._prepared.data.cloud.summary.count
        limit = min(MAX_ATOMS, n // POINTS_PER_ATOM)
        k = min(FIRST_ATOMS, limit)
        while k >= 1:
            copy = self._within_error(k)
            if copy is not None or k == limit:
                return copy
            needed = self._needed()
            if needed > MOST_GROWTH * limit:
                return None
            k = min(math.ceil(min(max(needed, LEAST_GROWTH * k), MOST_GROWTH * k)), limit)
        return None

    def _within_error(self, k: int) -> SparseCopy | None:
        """The copy with k atoms, if it is near enough; its error is kept for the next number."""
        try:
            mean = fit_prepared(self._prepared, replace(self._settings, k=k), self._streams)
        except TooWideError:
            self._tried.append((k, 1.0))
            return None
        estimated = mean.estimated_error
        assert estimated is not None  # a Gaussian has a spectrum
        if estimated > self._error:
            self._tried.append((k, estimated))
            return None
        certificate = self._certified(mean)
        relative = certificate.relative_error
        spread = certificate.standard_error / certificate.error * relative
        self._tried.append((k, relative + 2.0 * spread))
        return SparseCopy(mean, certificate) if self._tried[-1][1] <= self._error else None

    def _certified(self, mean: SparseKernelMean) -> Certificate:
        """The error at frequencies that no fit has seen."""
        data = self._prepared.data
        atoms = Atoms(data.map(mean.centers), mean.spreads)
        kernel = self._prepared.kernel
        case = Comparison(data.cloud, data.engine, kernel, "l2", atoms, mean.weights)
        return certificates.measure(case, "spectral", self._streams, FREQUENCIES)

    def _needed(self) -> float:
        """Atoms that reach a little less than the error, by a power law of the last two fits.

        Cells of k atoms are k^{−1/d} wide, and their Gaussians agree with them up to the third
        moments at best: the error falls like k^{−4/d}, or less where points are not smooth.
        """
        k, error = self._tried[-1]
        exponent = 4.0 / self._prepared.data.cloud.summary.dimension
        if len(self._tried) > 1:
            before, larger = self._tried[-2]
            observed = math.log(max(larger / error, 1.0)) / math.log(k / before)
            exponent = min(max(observed, 0.25 * exponent), exponent)
        return k * float(np.power(error / (AIM * self._error), 1.0 / exponent))
