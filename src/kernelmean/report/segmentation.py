"""The page of a segmented image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kernelmean.applications.meanshift import Segmentation
from kernelmean.report import facts, page


def segmentation_page(
    rgb: ArrayLike,
    segmentation: Segmentation,
    *,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """An image and its segments as one self-contained HTML page.

    Parameters
    ----------
    rgb : the image that was segmented, as given to :func:`segment_image`.
    segmentation : of :func:`segment_image`.
    settings : more rows for the table of settings, name to value.
    command : that reproduces the page, as a line or as a list of arguments.
    title : heading of the page.
    """
    heading = title or f"{facts.number(segmentation.n_segments)} segments"
    sections = [facts.settings_section({}, settings), facts.reproduce_section(command)]
    return page.render(page.Page("segment", heading, "", sections))
