"""Segments of an image: pixels that climb to the same peak of the density of colour and position."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean import _checks
from kernelmean._types import IntVector, Points, RandomState
from kernelmean.engines import Engine
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.meanshift import colors
from kernelmean.meanshift.clustering import RULE, Clustering, Rules, cluster, density
from kernelmean.samples import ArraySample, WeightedSample

COLORS = ("rgb", "lab")


class Segmentation(NamedTuple):
    """An image in segments.

    Attributes
    ----------
    labels : (rows, columns), from 0.
    image : each pixel in the mean colour of its segment; type and shape of the image given, without
        alpha.
    colors, sizes : (segments, channels) mean colours from 0 to 1, and (segments,) pixels of each.
    clustering : peaks, density and shifted points behind it.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> km.segment_image(grey, bandwidth=0.2).sizes
    array([32, 32])
    """

    labels: IntVector  # (rows, columns), from 0
    image: NDArray[
        Any
        # each pixel in the mean colour of its segment; type and shape of the image given, without
        # alpha
    ]
    colors: Points  # (segments, channels) the mean colours, from 0 to 1
    sizes: IntVector  # (segments,) pixels of each
    clustering: Clustering  # peaks, density and shifted points behind it

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return len(self.sizes)


def segment_image(
    rgb: ArrayLike,
    *,
    color: str = "lab",
    spatial: float = 1.0,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str = RULE,
    sparse: bool = True,
    k: int | str = "auto",
    k_max: int | None = None,
    tol: float = 1e-3,
    merge_radius: float | None = None,
    min_size: int = 1,
    max_iter: int = 10_000,
    engine: str | Engine = "cpu",
    random_state: RandomState = 0,
) -> Segmentation:
    """Mean-shift segmentation (Comaniciu & Meer 2002) on a sparse density of colour and position.

    Parameters
    ----------
    rgb : array of shape (rows, columns, 3), or grey (rows, columns); uint8, uint16, bool, or floats
        from 0 to 1. An alpha channel is composited over white.
    color : "lab" (CIE L*a*b*/100, where distances are about those that the eye sees) or "rgb" (from
        0 to 1). A grey image has one column, its brightness L or its value.
    spatial : weight of the position: the longer side of the image is this long, beside colours of
        about unit range. 0 leaves the position out. An image of one colour is one segment, whatever
        this is.
    kernel, bandwidth : as for :class:`MeanShift`.
    sparse, k, k_max, engine, random_state : the density; see :class:`MeanShift`.
    tol, merge_radius, max_iter : when to stop and what to merge; see :class:`MeanShift`.
    min_size : segments of fewer pixels join the one whose peak is nearest.

    Returns
    -------
    Segmentation
        Time O(n·k·d) per step for n pixels, memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> km.segment_image(grey, bandwidth=0.2).n_segments
    2
    """
    rules = Rules(tol, merge_radius, _checks.count(min_size, "min_size"), max_iter).checked()
    _checks.choice(color, "color", COLORS)
    values = colors.as_unit_values(rgb)
    X = features(values, color, _checks.number(spatial, "spatial", least=0.0))
    settings = FitSettings.density(
        kernel=kernel, bandwidth=bandwidth, k=k, k_max=k_max, engine=engine
    )
    sample = WeightedSample.of(ArraySample(X))
    mean = density(sample, settings, _checks.streams(random_state), sparse=sparse)
    found = cluster(mean, sample.sample, rules)
    sizes = np.bincount(found.labels)
    pixels = values.reshape(-1, values.shape[2])
    means = np.stack([np.bincount(found.labels, column) / sizes for column in pixels.T], axis=1)
    labels = found.labels.reshape(values.shape[:2])
    return Segmentation(labels, colors.like(means[labels], rgb), means, sizes, found)


def features(values: NDArray[np.float64], color: str, spatial: float) -> Points:
    """One row per pixel: its colour, then its position times spatial/(longer side).

    Channels that do not vary are left out, so that a rule for the bandwidth counts only what can
    tell pixels apart; where none varies, position alone makes no segments.
    """
    rows, columns, channels = values.shape
    pixels = values.reshape(-1, channels)
    if color == "lab":
        three = colors.lab(np.broadcast_to(pixels, (len(pixels), 3)))
        pixels = three[:, :1] if channels == 1 else three
    varies = np.ptp(pixels, axis=0) > 0.0
    if not varies.any():
        return np.zeros((len(pixels), 1))
    pixels = pixels[:, varies]
    if spatial == 0.0:
        return pixels
    i, j = np.mgrid[:rows, :columns].reshape(2, -1) * (spatial / max(rows, columns))
    return np.column_stack([pixels, i, j])
