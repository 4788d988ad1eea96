"""Centres on spheres or with categories, each with the spread of the rows that it stands for.

Points that were found as centres divide the rows. In the place of each comes one component with the
mass of the rows nearest to it, the mean and the covariance of their numbers, their mean direction
on each sphere and the frequencies of their categories. Blurred by the kernel it has the same of
these as the kernels of the rows: a copy of many columns then needs far fewer centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.domains import Domain
from kernelmean.fitting import spreads
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel, SpreadKind
from kernelmean.kernels.atoms import Spreads
from kernelmean.mean import sphere
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mixtures import directions


class CellsOnDomain(NamedTuple):
    """What the rows nearest to each centre are together."""

    weights: Vector  # (k,)
    centers: Points  # (k, D + ΣL) in the coordinates of the sample, levels last
    spreads: Spreads | None  # (k, D, D) in those of the kernel; None where there are none


def kind_of_cells(settings: FitSettings, kernel: Kernel, d: int, size: float) -> SpreadKind | None:
    """Which spreads centres of d coordinates have; None where they are points.

    The error of a fit is that of its points: where one is asked for, they stay what they are.
    """
    if settings.is_density and settings.error is None:
        kind = spreads.kinds_of(settings, kernel, d, size)[-1]
        fits = spreads.full_fits(settings.stopping(size).limit, d)
        if kind is None or fits:
            return kind
        reason = f"with {d} coordinates, levels of categories among them, takes too much memory"
    else:
        reason = "on a sphere or with categories is for densities without error="
    if settings.spread not in ("auto", None):
        raise ValueError(f"spread={settings.spread!r} {reason}; leave it out.")
    return None


def cells_on_domain(
    data: LoadedSample, centers: Points, kernel: Kernel, domain: Domain, kind: SpreadKind
) -> CellsOnDomain:
    """The cells of ``centers`` (k, D + ΣL), without those that have no rows. Time O(n·k·D)."""
    nearest = data.cloud.nearest(data.map(centers))
    masses = nearest.masses()
    live = masses > 0.0
    means = data.original(nearest.means()[live], None)
    m = len(domain.lines)
    D = domain.coordinates
    weights = masses[live] / masses.sum()
    if not (m or domain.spheres):
        return CellsOnDomain(weights, means, None)
    found = np.zeros((len(means), D, D))
    if m:
        found[:, :m, :m] = _of_numbers(nearest.covariances()[live, :m, :m], kind)
    for i in range(len(domain.spheres)):
        first = m + 3 * i
        part = slice(first, first + 3)
        stretch = 1.0 if data.scale is None else float(data.scale[first, first])
        least = (kernel.length / stretch) ** 2
        variances, means[:, part] = _of_directions(means[:, part], least)
        own = stretch**2 * np.maximum(variances - least, 0.0)
        found[:, range(first, first + 3), range(first, first + 3)] = own[:, None]
    return CellsOnDomain(weights, means, found)


def _of_numbers(covariances: NDArray[np.float64], kind: SpreadKind) -> NDArray[np.float64]:
    """(k, m, m): of any shape, or round."""
    if kind == "full":
        return covariances
    m = covariances.shape[-1]
    variances = np.trace(covariances, axis1=1, axis2=2) / m
    return np.asarray(variances[:, None, None] * np.eye(m))


def _of_directions(resultants: Points, least: float) -> tuple[Vector, Points]:
    """(k,) and (k, 3): v and c of the Gaussians that leave on the sphere what the kernels leave.

    A kernel about a row is a von Mises and Fisher distribution of κ = 1/``least``, whose mean has
    the length A(κ); that of the cell has A(κ)·|R̄|, where R̄ is the mean of its unit vectors.
    """
    lengths = np.linalg.norm(resultants, axis=1)
    most = 1.0 / least
    rho = directions.mean_length(np.array([most])) * lengths
    kappa = directions.concentrations(rho, most)
    scale = np.divide(kappa, lengths, out=np.zeros_like(kappa), where=lengths > 0.0)
    variances, centers = sphere.in_space((scale[:, None] * resultants)[:, None], least)
    return variances[:, 0], centers[:, 0]
