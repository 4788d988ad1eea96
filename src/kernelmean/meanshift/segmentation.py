"""An image in segments, as a value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Points
from kernelmean.meanshift import colors
from kernelmean.meanshift.clustering import Clustering
from kernelmean.meanshift.grouped import totals
from kernelmean.meanshift.region_tree import RegionTree


class Segmentation(NamedTuple):
    """An image in segments, as :func:`segment_image` finds it.

    Attributes
    ----------
    labels : ndarray of shape (rows, columns)
        The segment of each pixel, from 0.
    image : ndarray
        Each pixel in the mean colour of its segment, without an alpha channel, in the type of the
        image given; of a bool image in float64.
    colors : ndarray of shape (segments, channels)
        The mean colours, from 0 to 1.
    sizes : ndarray of shape (segments,)
        The number of pixels of each segment.
    clustering : Clustering
        The peaks, the density and the shifted points behind it.
    tree : RegionTree or None
        The regions that segments are made of, and the order in which they become one; None for
        ``contrast=None``.

    See Also
    --------
    segment_image : Makes it.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> km.segment_image(grey).sizes
    array([32, 32])
    """

    labels: IntVector  # (rows, columns), from 0
    image: NDArray[Any]  # each pixel in the mean colour of its segment, without alpha
    colors: Points  # (segments, channels) the mean colours, from 0 to 1
    sizes: IntVector  # (segments,) pixels of each
    clustering: Clustering  # peaks, density and shifted points behind it
    tree: RegionTree | None = None  # regions, and the order in which they become one

    def __repr__(self) -> str:
        rows, columns = self.labels.shape
        return f"Segmentation({self.n_segments} segments of {rows} × {columns} pixels)"

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return len(self.sizes)

    def cut(self, n_segments: int | None = None, contrast: float | None = None) -> Segmentation:
        """The same image in more or fewer segments, without climbing again.

        Parameters
        ----------
        n_segments : int or None, default=None
            The number of segments, at most that of the tree's regions.
        contrast : float or None, default=None
            Neighbours that differ by at most this are one; used where there is no ``n_segments``.

        Returns
        -------
        Segmentation
            The segments. Time O(n) for n pixels.

        Raises
        ------
        ValueError
            If the segmentation has no tree, or neither number is given.

        See Also
        --------
        segment_image : Has the same two parameters.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
        >>> km.segment_image(grey).cut(n_segments=1).sizes
        array([64])
        """
        if self.tree is None:
            raise ValueError(
                "contrast=None gave clusters of pixels, which have no tree to cut: call "
                "segment_image with a contrast or n_segments."
            )
        tree = self.tree
        groups = tree.cut(n_segments, contrast)
        sizes = np.bincount(groups, tree.sizes).astype(np.intp)
        means = totals(groups, tree.sizes[:, None] * tree.colors) / sizes[:, None]
        labels = groups[tree.labels]
        return Segmentation(
            labels, colors.like(means[labels], self.image), means, sizes, self.clustering, tree
        )
