"""Segments of an image: pixels that climb to the same peak in colour and position."""

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
    """An image in segments, as :func:`segment_image` finds it.

    Attributes
    ----------
    labels : ndarray of shape (rows, columns)
        The segment of each pixel, from 0.
    image : ndarray
        Each pixel in the mean colour of its segment, in the type and shape of the image given but
        without its alpha channel.
    colors : ndarray of shape (segments, channels)
        The mean colours, from 0 to 1.
    sizes : ndarray of shape (segments,)
        The number of pixels of each segment.
    clustering : Clustering
        The peaks, the density and the shifted points behind it.

    See Also
    --------
    segment_image : Makes it.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> km.segment_image(grey, bandwidth=0.2).sizes
    array([32, 32])
    """

    labels: IntVector  # (rows, columns), from 0
    image: NDArray[Any]  # each pixel in the mean colour of its segment, without alpha
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
    spread: str | None = "auto",
    tol: float = 1e-3,
    merge_radius: float | None = None,
    min_size: int = 1,
    max_iter: int = 10_000,
    engine: str | Engine = "cpu",
    random_state: RandomState = 0,
) -> Segmentation:
    """Segment an image by mean shift [1]_ on a sparse density of colour and position.

    Parameters
    ----------
    rgb : array-like of shape (rows, columns, 3) or (rows, columns)
        A coloured or grey image of uint8, uint16, bool, or floats from 0 to 1. An alpha channel is
        composited over white.
    color : {'lab', 'rgb'}, default='lab'
        "lab" is CIE L*a*b*/100, where distances are about those that the eye sees; "rgb" goes from
        0 to 1. A grey image has one column, its brightness L or its value.
    spatial : float, default=1.0
        The weight of the position: the longer side of the image is this long, beside colours of
        about unit range. 0 leaves the position out. An image of one colour is one segment, whatever
        this is.
    kernel : str or Kernel, default='gaussian'
        The kernel of the density, as for :class:`MeanShift`.
    bandwidth : float or str, default='mode'
        The kernel's own length, or a rule, as for :class:`MeanShift`.
    sparse : bool, default=True
        Whether to climb a sparse density; False climbs the full one.
    k : int or 'auto', default='auto'
        The number of centres of the sparse density.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    tol : float, default=1e-3
        A pixel has arrived when it would move by at most ``tol`` bandwidths.
    merge_radius : float or None, default=None
        Ends are one segment if a chain of steps of this length joins them. None stands for the
        bandwidth.
    min_size : int, default=1
        Segments of fewer pixels join the one whose peak is nearest.
    max_iter : int, default=10000
        The number of steps after which a warning counts the pixels that still move.
    engine : {'cpu', 'gpu', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Seeds the choice of the first centre of the sparse density.

    Returns
    -------
    Segmentation
        The segments. Time O(n·k·d) per step for n pixels, memory O(n·d).

    Raises
    ------
    ValueError
        If the array is no image, or floats lie outside [0, 1].

    See Also
    --------
    MeanShift : The clusters of any points.
    clustering_hausdorff : How far two segmentations differ.

    References
    ----------
    .. [1] D. Comaniciu and P. Meer, "Mean shift: a robust approach toward feature space analysis",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 24(5), 2002.

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
        kernel=kernel, bandwidth=bandwidth, k=k, k_max=k_max, spread=spread, engine=engine
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
