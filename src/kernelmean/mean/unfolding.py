"""The images of the centres of a mean: what bounds reflect and periods repeat, as one sum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernelmean._types import IntVector, Points
from kernelmean.domains import Cuts, Group, Images
from kernelmean.domains.truncated import TruncatedNormals
from kernelmean.mean.covariances import seen_from_kernel
from kernelmean.mean.questions.mixture import Mixture

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean


def mixture_of(mean: KernelMean) -> Mixture:
    """All centres as Gaussians in the coordinates of the data, with weights of any sign."""
    spreads = np.zeros(mean.k) if mean.spreads is None else mean.spreads
    T = seen_from_kernel(mean, np.eye(mean.dimension))
    return Mixture(mean.weights, mean.centers, spreads, T, mean.kernel.length**2)


def deviations_of(mean: KernelMean, coordinates: IntVector) -> Points:
    """(k, m): the standard deviations of the centres in some coordinates of the data."""
    return mixture_of(mean).deviations(coordinates)


class Ended(NamedTuple):
    """What of the centres lies in the domain, in the numbers in which they end at its bounds."""

    centers: Points  # (k, m) their means there; elsewhere what they are
    variances: Points  # (k, m) there; elsewhere NaN


def ended(mean: KernelMean, group: Group, cut: Cuts) -> Ended:
    """The centres as the domain sees them where they end at bounds."""
    m = len(group)
    centers = np.array(mean.centers[:, :m])
    variances = np.full(centers.shape, np.nan)
    a, t = np.nonzero(cut)
    s = deviations_of(mean, np.arange(m))[a, t]
    c = centers[a, t]
    normal = TruncatedNormals.of((group.lower[t] - c) / s, (group.upper[t] - c) / s)
    centers[a, t] = np.clip(c + s * normal.first, group.lower[t], group.upper[t])
    variances[a, t] = s**2 * normal.variance
    return Ended(centers, variances)


def images_of(
    mean: KernelMean,
    group: Group,
    coordinates: IntVector,
    cut: Cuts | None,
) -> Images:
    """The images of the centres under a group that moves some coordinates.

    ``cut`` (k, m) says in which of all numbers a centre ends at the bounds.
    """
    deviations = deviations_of(mean, coordinates)
    ending = None if cut is None else cut[:, coordinates]
    return group.images(mean.centers[:, coordinates], deviations, cut=ending)


def imaged(mean: KernelMean, images: Images, coordinates: IntVector) -> KernelMean:
    """The centres and their images as one sum; the scale is diagonal where signs change.

    A centre that ends at bounds is divided by the mass that it has between them.
    """
    owner = images.owner
    weights = mean.weights[owner] * np.exp(images.log_factors)
    centers = np.array(mean.centers[owner])
    centers[:, coordinates] = images.places(mean.centers[:, coordinates])
    spreads = mean.spreads
    if spreads is not None:
        signs = np.ones((len(owner), mean.dimension))
        signs[:, coordinates] = images.signs
        spreads = images._replace(signs=signs).covariances(spreads)
    return replace(mean, centers=centers, spreads=spreads, weights=weights)
