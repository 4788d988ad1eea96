"""Segments of an image: pixels that climb to the same peak, and neighbours that hardly differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from kernelmean import _checks
from kernelmean import bandwidth as rules_of_bandwidth
from kernelmean._random import Streams
from kernelmean._types import IntVector, Points, RandomState
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.engines import Engine
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.kernels.registry import is_gaussian
from kernelmean.meanshift import colors
from kernelmean.meanshift.clustering import Clustering, Rules, cluster
from kernelmean.meanshift.grouped import totals
from kernelmean.meanshift.pixel_cells import cell_density, cluster_cells
from kernelmean.meanshift.plans import RULE, DensityPlan
from kernelmean.meanshift.region_tree import Level, RegionTree, region_tree
from kernelmean.meanshift.regions import regions, without_small
from kernelmean.meanshift.segmentation import Segmentation
from kernelmean.meanshift.slivers import none_but_wide
from kernelmean.samples import ArraySample, WeightedSample

# Contrast and width were chosen on eight photographs, by the segments that people drew on them.
CONTRAST = 0.05  # in units of colour
WIDTH = 0.5  # the bandwidth in units of the rule's: peaks that are too many become one later
SMALLEST = 1 / 8000  # of the image: the smallest segment
FINEST = 1 / 500  # of the image's longer side: what is smaller is smoothed away


def segment_image(
    rgb: ArrayLike,
    *,
    n_segments: int | None = None,
    contrast: float | None = CONTRAST,
    min_size: int | None = None,
    color: str = "lab",
    spatial: float = 1.0,
    kernel: str | Kernel = "gaussian",
    bandwidth: float | str | None = None,
    sparse: bool = True,
    k: int | str = "auto",
    k_max: int | None = None,
    spread: str | None = "auto",
    tol: float = 1e-3,
    merge_radius: float | None = None,
    max_iter: int = 10_000,
    engine: str | Engine = "cpu",
    random_state: RandomState = 0,
) -> Segmentation:
    """Segment an image by mean shift [1]_ on a sparse density of colour and position.

    Pixels that climb to the same peak and touch are a region. Neighbouring regions become one, the
    least different first, while they differ by at most ``contrast`` or are more than
    ``n_segments``.

    Parameters
    ----------
    rgb : array-like of shape (rows, columns, 3) or (rows, columns)
        A coloured or grey image of uint8, uint16, bool, or floats from 0 to 1. An alpha channel is
        composited over white.
    n_segments : int or None, default=None
        The number of segments, in the place of ``contrast``. There are fewer only where the image
        has fewer regions.
    contrast : float or None, default=0.05
        Neighbouring segments that differ by at most this are one. The difference, in units of
        colour, is (w·g²)^¼, with w of Ward's criterion [2]_, (n₁n₂/(n₁ + n₂))/n·‖m₁ − m₂‖² for
        segments of n₁ and n₂ of the n pixels and mean colours m₁ and m₂, and g the mean contrast
        along the boundary less the 0.023 that is just noticeable [3]_. It takes the place of a test
        of significance, which with hundreds of pixels to a region sees differences that people do
        not. Thin segments along a blurred edge, of colours mixed of those on its two sides, are
        shared out among their neighbours. None leaves the clusters of pixels as they are, connected
        or not, and smooths nothing.
    min_size : int or None, default=None
        Regions of fewer pixels join the neighbour of the most similar colour; with
        ``contrast=None``, the cluster whose peak is nearest. None stands for 1/8000 of the image,
        or 1 with ``contrast=None``.
    color : {'lab', 'rgb'}, default='lab'
        "lab" is CIE L*a*b*/100, where distances are about those that the eye sees; "rgb" goes from
        0 to 1. A grey image has one column, its brightness L or its value.
    spatial : float, default=1.0
        The weight of the position: the longer side of the image is this long, beside colours of
        about unit range. 0 leaves the position out. An image of one colour is one segment, whatever
        this is.
    kernel : str or Kernel, default='gaussian'
        The kernel of the density, as for :class:`MeanShift`.
    bandwidth : float or str or None, default=None
        The kernel's own length, or a rule, as for :class:`MeanShift`. None stands for half of what
        the rule "mode" gives: rather too many peaks than too few, as regions become one later.
    sparse : bool, default=True
        Whether to climb a sparse density; False climbs the full one.
    k : int or 'auto', default='auto'
        The number of centres of the sparse density; about 500 where they have widths.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own. "scalar" and "full": they are small Gaussians,
        round or of any shape, in the place of the pixels near them. These climb as one, from the
        centre of their cell, even where alone some would reach another peak: regions are then as
        compact as cells; with ``contrast=None`` every pixel has the peak of its own climb. "auto":
        round ones, where the kernel is a Gaussian. None: they are points, fitted as in
        :func:`sparse_kernel_mean`, and every pixel climbs alone.
    tol : float, default=1e-3
        A pixel has arrived when it would move by at most ``tol`` bandwidths.
    merge_radius : float or None, default=None
        Ends are one cluster if a chain of steps of this length joins them. None stands for the
        bandwidth.
    max_iter : int, default=10000
        The number of steps after which a warning counts the pixels that still move.
    engine : {'cpu', 'gpu', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Seeds the choice of centres without widths; those with widths begin on a grid.

    Returns
    -------
    Segmentation
        The segments, and the tree that gives others. Time O(n log k) for n pixels and k centres,
        and O(k²·d) per step; O(n·k·d) per step where every pixel climbs alone. Memory O(n·d).

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
    .. [2] J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
       American Statistical Association 58(301), 1963.
    .. [3] M. Mahy, L. Van Eycken and A. Oosterlinck, "Evaluation of uniform color spaces developed
       after the adoption of CIELAB and CIELUV", Color Research and Application 19(2), 1994.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> km.segment_image(grey).n_segments
    2
    """
    merging = n_segments is not None or contrast is not None
    if merging:
        Level.of(n_segments, contrast)  # before any work is done
    values = colors.as_unit_values(rgb)
    pixels = colors.compared(values, _checks.choice(color, "color", colors.SPACES))
    least = _least(min_size, values.shape[0] * values.shape[1], merging=merging)
    rules = Rules(tol, merge_radius, least, max_iter).checked()
    seen = smoothed(pixels) if merging else pixels
    X = features(seen, _checks.number(spatial, "spatial", least=0.0))
    settings = FitSettings.density(
        kernel=kernel,
        bandwidth=_width(bandwidth, kernel, X),
        k=k,
        k_max=k_max,
        spread=spread,
        engine=engine,
    )
    task = _Climb(X, values.shape[:2], settings, rules, sparse)
    found = task.clustering(_checks.streams(random_state), together=merging)
    if not merging:
        return _plain(found, values, rgb)
    tree = _tree(found, values, pixels, seen, least)
    whole = Segmentation(
        tree.labels, colors.like(values, rgb), tree.colors, tree.sizes, found, tree
    )
    cut = whole.cut(n_segments, contrast)
    return cut if n_segments is not None else _wide(cut, values, pixels, seen)


@dataclass(frozen=True, eq=False)
class _Climb:
    """Pixels, and how they are to climb."""

    X: Points
    shape: tuple[int, int]
    settings: FitSettings
    rules: Rules
    sparse: bool

    def clustering(self, streams: Streams, *, together: bool) -> Clustering:
        """The clusters of the pixels; pixels of a cell may climb together."""
        sample = WeightedSample.of(ArraySample(self.X))
        if not self._in_cells:
            mean = DensityPlan.of(sample, self.settings, sparse=self.sparse).density(streams)
            return cluster(mean, sample.sample, self.rules)
        self.settings.check_names()
        cells = cell_density(self.X, self.shape, self.settings)
        if together:
            return cluster_cells(cells, self.rules)
        return cluster(cells.mean, sample.sample, self.rules)

    @property
    def _in_cells(self) -> bool:
        """Whether centres have widths: not for other kernels, nor where all pixels are equal."""
        settings = self.settings
        able = self.sparse and settings.spread is not None and is_gaussian(settings.kernel)
        return able and bool(np.ptp(self.X, axis=0).any())


def _width(bandwidth: float | str | None, kernel: str | Kernel, X: Points) -> float | str:
    """The bandwidth that is asked for, where the choice was left to us."""
    if bandwidth is not None and not (isinstance(bandwidth, str) and bandwidth == "auto"):
        return bandwidth
    if isinstance(kernel, Kernel):
        return DEFAULT_RULE  # its own
    return WIDTH * rules_of_bandwidth.mode(X) if np.ptp(X, axis=0).any() else RULE


def _least(min_size: int | None, n: int, *, merging: bool) -> int:
    """The size of the smallest segment."""
    if min_size is None:
        return max(1, round(SMALLEST * n)) if merging else 1
    return _checks.count(min_size, "min_size")


def _plain(found: Clustering, values: NDArray[np.float64], rgb: ArrayLike) -> Segmentation:
    """The clusters themselves as segments."""
    labels = found.labels.reshape(values.shape[:2])
    means, sizes = _mean_colors(labels, values)
    return Segmentation(labels, colors.like(means[labels], rgb), means, sizes, found)


def _tree(
    found: Clustering,
    values: NDArray[np.float64],
    pixels: NDArray[np.float64],
    seen: NDArray[np.float64],
    least: int,
) -> RegionTree:
    """The tree of the regions that are not too small."""
    reach = round(_finest(pixels))
    clusters = found.labels.reshape(values.shape[:2])
    large = without_small(regions(clusters, pixels, seen, reach), least)
    return region_tree(large, _mean_colors(large.labels, values)[0])


def _wide(
    found: Segmentation,
    values: NDArray[np.float64],
    pixels: NDArray[np.float64],
    seen: NDArray[np.float64],
) -> Segmentation:
    """The same without slivers along edges, which are shared out among their neighbours."""
    labels = none_but_wide(found.labels, pixels, seen, round(_finest(pixels)))
    if labels is found.labels:
        return found
    means, sizes = _mean_colors(labels, values)
    image = colors.like(means[labels], found.image)
    return found._replace(labels=labels, image=image, colors=means, sizes=sizes)


def _mean_colors(labels: IntVector, values: NDArray[np.float64]) -> tuple[Points, IntVector]:
    """The mean colour of each segment, and its number of pixels."""
    sizes = np.bincount(labels.ravel())
    sums = totals(labels.ravel(), values.reshape(-1, values.shape[2]))
    return sums / sizes[:, None], sizes


def _finest(pixels: NDArray[np.float64]) -> float:
    """The length, in pixels, of what is smoothed away."""
    return FINEST * float(max(pixels.shape[:2]))


def smoothed(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """The image without what is too fine to see."""
    length = _finest(pixels)
    smooth: NDArray[np.float64] = gaussian_filter(pixels, (length, length, 0.0), mode="nearest")
    return smooth


def features(pixels: NDArray[np.float64], spatial: float) -> Points:
    """One row per pixel: its colour, then its position times spatial/(longer side).

    Channels that do not vary are left out, so that a rule for the bandwidth counts only what can
    tell pixels apart; where none varies, position alone makes no segments.
    """
    rows, columns, channels = pixels.shape
    flat = pixels.reshape(-1, channels)
    varies = np.ptp(flat, axis=0) > 0.0
    if not varies.any():
        return np.zeros((len(flat), 1))
    flat = flat[:, varies]
    if spatial == 0.0:
        return np.ascontiguousarray(flat)
    i, j = np.mgrid[:rows, :columns].reshape(2, -1) * (spatial / max(rows, columns))
    return np.column_stack([flat, i, j])
