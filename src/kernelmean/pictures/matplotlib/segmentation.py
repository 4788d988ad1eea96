"""An image and its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from kernelmean.meanshift.segmentation import Segmentation
from kernelmean.pictures.matplotlib.axes import panels
from kernelmean.pictures.segmentation import SegmentView, segment_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from kernelmean.pictures.matplotlib.axes import AnyFigure, AxesLike


class SegmentationDisplay:
    """An image, its segments in colours of their own, and its modes, side by side.

    Parameters
    ----------
    view : SegmentView
        The three pictures, as :meth:`from_predictions` makes them.

    Attributes
    ----------
    view : SegmentView
        What is drawn.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    axes_ : list of matplotlib.axes.Axes
        The three axes.
    ax_ : matplotlib.axes.Axes
        The first of them.
    images_ : list of matplotlib.image.AxesImage
        The three pictures.

    See Also
    --------
    kernelmean.segment_image : Find the segments of an image.
    kernelmean.report.segmentation_page : The same pictures on an HTML page.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> found = km.segment_image(grey, bandwidth=0.2)
    >>> display = km.plot.SegmentationDisplay.from_predictions(grey, found)
    >>> [ax.get_title() for ax in display.axes_]
    ['original', '2 segments', 'mode colours']
    """

    figure_: AnyFigure
    axes_: list[Axes]
    ax_: Axes
    images_: list[AxesImage]

    def __init__(self, *, view: SegmentView) -> None:
        self.view = view

    @classmethod
    def from_predictions(
        cls,
        rgb: ArrayLike,
        segmentation: Segmentation,
        *,
        ax: AxesLike | None = None,
        **image_options: Any,
    ) -> Self:
        """Draw an image and what :func:`segment_image` made of it.

        Parameters
        ----------
        rgb : array-like of shape (rows, columns) or (rows, columns, channels)
            The image that was segmented.
        segmentation : Segmentation
            The result of :func:`segment_image`.
        ax : sequence of three Axes, default=None
            Where to draw; by default on a new figure.
        **image_options : dict
            Passed on to Matplotlib's ``imshow``.

        Returns
        -------
        display : SegmentationDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.segment_image : Find the segments of an image.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
        >>> found = km.segment_image(grey, bandwidth=0.2)
        >>> len(km.plot.SegmentationDisplay.from_predictions(grey, found).images_)
        3
        """
        return cls(view=segment_view(rgb, segmentation)).plot(ax=ax, **image_options)

    def plot(self, ax: AxesLike | None = None, **image_options: Any) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : sequence of three Axes, default=None
            Where to draw; by default on a new figure.
        **image_options : dict
            Passed on to Matplotlib's ``imshow``.

        Returns
        -------
        display : SegmentationDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_predictions : Prepares the three pictures, and draws them.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
        >>> found = km.segment_image(grey, bandwidth=0.2)
        >>> display = km.plot.SegmentationDisplay.from_predictions(grey, found)
        >>> own = Figure().subplots(1, 3)
        >>> display.plot(ax=own).ax_ is own[0]
        True
        """
        self.figure_, self.axes_ = panels(3, ax)
        self.ax_ = self.axes_[0]
        pictures = {
            "original": self.view.original,
            f"{len(self.view.segments.numbers)} segments": self.view.outlined,
            "mode colours": self.view.modes,
        }
        self.images_ = []
        for axes, (title, pixels) in zip(self.axes_, pictures.items(), strict=True):
            self.images_.append(axes.imshow(pixels, **image_options))
            axes.set_title(title)
            axes.set_axis_off()
        return self
