"""The images of the centres of a mean: what bounds reflect and periods repeat, as one sum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.domains import Group, Images
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


def images_of(
    mean: KernelMean,
    group: Group,
    coordinates: IntVector,
    onto: tuple[Vector, Vector] | None = None,
) -> Images:
    """The images of the centres under a group that moves some coordinates."""
    deviations = deviations_of(mean, coordinates)
    return group.images(mean.centers[:, coordinates], deviations, onto=onto)


def imaged(mean: KernelMean, images: Images, coordinates: IntVector) -> KernelMean:
    """The centres and their images as one sum; the scale is diagonal where signs change."""
    owner = images.owner
    centers = np.array(mean.centers[owner])
    centers[:, coordinates] = images.places(mean.centers[:, coordinates])
    spreads = mean.spreads
    if spreads is not None:
        signs = np.ones((len(owner), mean.dimension))
        signs[:, coordinates] = images.signs
        spreads = images._replace(signs=signs).covariances(spreads)
    return replace(mean, centers=centers, spreads=spreads, weights=mean.weights[owner])
