"""An image and its segments."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from kernelmean.meanshift.images import Segmentation
from kernelmean.pictures import SegmentView, segment_view
from kernelmean.pictures.matplotlib.axes import panels


class SegmentationDisplay:
    """Original, segments and mode colours side by side.

    Parameters
    ----------
    view : made by :meth:`from_predictions`.

    Attributes
    ----------
    figure_, axes_, ax_ : the figure, its three axes, and the first. images_ : Matplotlib's artists.
    """

    def __init__(self, *, view: SegmentView) -> None:
        self.view = view

    @classmethod
    def from_predictions(
        cls, rgb: ArrayLike, segmentation: Segmentation, *, ax: Any = None, **image_options: Any
    ) -> Self:
        """Draw an image and what :func:`segment_image` made of it; ``ax`` takes three axes."""
        return cls(view=segment_view(rgb, segmentation)).plot(ax=ax, **image_options)

    def plot(self, ax: Any = None, **image_options: Any) -> Self:
        """Draw on the three axes given, or on a new figure."""
        self.figure_, self.axes_ = panels(3, ax)
        self.ax_ = self.axes_[0]
        count = len(self.view.shares)
        pictures = {
            "original": self.view.original,
            f"{count} segments": self.view.outlined,
            "mode colours": self.view.modes,
        }
        self.images_ = []
        for axes, (title, pixels) in zip(self.axes_, pictures.items(), strict=True):
            self.images_.append(axes.imshow(pixels, **image_options))
            axes.set_title(title)
            axes.set_axis_off()
        return self
