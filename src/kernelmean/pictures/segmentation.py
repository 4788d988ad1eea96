"""An image, its segments, and the colours of their modes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean._types import IntVector, Vector
from kernelmean.meanshift import colors
from kernelmean.meanshift.segmentation import Segmentation

GOLDEN = 0.6180339887498949  # turns of the hue from one segment to the next: neighbours look unlike


class Segments(NamedTuple):
    """The segments of an image, from the largest on."""

    numbers: IntVector  # (segments,) their labels in the segmentation
    pixels: IntVector  # (segments,)
    shares: Vector  # (segments,) of the pixels of the image
    palette: NDArray[np.uint8]  # (segments, 3) the colours of their modes

    @property
    def codes(self) -> list[str]:
        """The colours as a web page writes them, such as #c82828."""
        return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in self.palette.tolist()]


class SegmentView(NamedTuple):
    """Three pictures of one size, 8 bits a channel, and the segments from the largest on."""

    original: NDArray[np.uint8]  # (rows, columns, 3)
    outlined: NDArray[np.uint8]  # the same, every segment in a colour of its own
    modes: NDArray[np.uint8]  # the same, every pixel in the colour of its mode
    labels: IntVector  # (rows, columns), from 0, the largest segment
    segments: Segments


def segments_by_size(segmentation: Segmentation) -> Segments:
    """What is told of each segment, the largest first; equal ones as they stand."""
    order = np.argsort(-segmentation.sizes, kind="stable")
    pixels = segmentation.sizes[order]
    return Segments(order, pixels, pixels / pixels.sum(), _bytes(segmentation.colors[order]))


def segment_view(
    rgb: ArrayLike, segmentation: Segmentation, longest: int | None = None
) -> SegmentView:
    """Pictures of a segmentation, at most ``longest`` pixels wide and high: of larger images every
    s-th pixel.
    """
    values = colors.as_unit_values(rgb)
    if values.shape[:2] != segmentation.labels.shape:
        raise ValueError(
            f"the image has {values.shape[:2]} pixels, but the segmentation "
            f"{segmentation.labels.shape}."
        )
    step = 1 if longest is None else -(-max(values.shape[:2]) // longest)
    segments = segments_by_size(segmentation)
    rank = np.empty_like(segments.numbers)
    rank[segments.numbers] = np.arange(len(rank))
    labels = rank[segmentation.labels[::step, ::step]]
    return SegmentView(
        original=_bytes(values[::step, ::step]),
        outlined=label_colors(len(rank))[labels],
        modes=segments.palette[labels],
        labels=labels,
        segments=segments,
    )


def mode_picture(segmentation: Segmentation) -> NDArray[np.uint8]:
    """Every pixel in the colour of its mode, 8 bits a channel: (rows, columns, 3), or (rows,
    columns) for grey.
    """
    modes = _bytes(segmentation.colors)[segmentation.labels]
    return modes[:, :, 0] if segmentation.colors.shape[1] == 1 else modes


def label_colors(count: int) -> NDArray[np.uint8]:
    """(count, 3) colours that tell segments apart: hues turned by the golden ratio, three degrees
    of lightness.
    """
    i = np.arange(count)
    hue = 6.0 * ((0.58 + GOLDEN * i) % 1.0)
    # HSL to RGB: l − c·max(min(t − 3, 9 − t, 1), −1), with c = s·min(l, 1 − l) and
    # t = (n + 2·hue) mod 12, n = 0, 8, 4
    lightness = np.array([0.52, 0.68, 0.38])[i % 3]
    t = (np.array([0.0, 8.0, 4.0]) + 2.0 * hue[:, None]) % 12.0
    c = 0.55 * np.minimum(lightness, 1.0 - lightness)[:, None]
    return _bytes(lightness[:, None] - c * np.clip(np.minimum(t - 3.0, 9.0 - t), -1.0, 1.0))


def _bytes(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Values in [0, 1] as bytes, grey repeated in all three channels."""
    three = np.broadcast_to(values, (*values.shape[:-1], 3))
    return np.rint(255.0 * three).astype(np.uint8)
