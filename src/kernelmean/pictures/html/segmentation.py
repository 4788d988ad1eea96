"""The page of a segmented image."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean.meanshift.images import Segmentation
from kernelmean.pictures import SegmentView, segment_view
from kernelmean.pictures.html import facts, page

LONGEST = 1200  # pixels of the longer side in the page
LISTED = 60  # segments with a button of their own, the largest


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
    view = segment_view(rgb, segmentation, LONGEST)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(segmentation))),
        page.section("compare", "Before and after", _wipe(view)),
        page.section("modes", "Colours of the modes", *_modes(view)),
        page.section("three", "Side by side", _trio(view)),
        facts.settings_section(_settings(segmentation), settings),
        facts.reproduce_section(command),
    ]
    rows, columns = segmentation.labels.shape
    count = facts.number(segmentation.n_segments)
    lede = page.text(
        f"An image of {columns} × {rows} pixels in {count} segments: pixels that climb to the "
        "same peak of the density."
    )
    return page.render(page.Page("segment", title or f"{count} segments", lede, sections))


def _numbers(segmentation: Segmentation) -> dict[str, str]:
    rows, columns = segmentation.labels.shape
    mean = segmentation.clustering.mean.expansion
    return {
        "pixels": facts.number(rows * columns),
        "segments": facts.number(segmentation.n_segments),
        "largest segment": f"{100 * segmentation.sizes.max() / segmentation.sizes.sum():.1f} %",
        "centres of the density": facts.number(mean.k),
        "bandwidth": f"{mean.kernel.length:.4g}",
    }


def _settings(segmentation: Segmentation) -> dict[str, object]:
    found = segmentation.clustering
    rules = segmentation.clustering.rules
    return {
        "kernel": found.mean.expansion.kernel,
        "tolerance": rules.tol,
        "merge radius": "one bandwidth" if rules.merge_radius is None else rules.merge_radius,
        "smallest segment": f"{rules.min_cluster_size} pixels",
        "steps of the slowest pixel": found.n_iter,
    }


def _trio(view: SegmentView) -> str:
    """The three pictures side by side, stacked where the screen is narrow."""
    pictures = [
        ("original", "Original", "jpeg", view.original),
        ("segments", "Segments, each in a colour of its own", "png", view.outlined),
        ("means", "Each pixel in the mean colour of its mode", "png", view.modes),
    ]
    figures = "".join(
        f'<figure><img id="{name}" alt="{words}" src="{picture(pixels, kind)}"><figcaption>{words}</figcaption></figure>'
        for name, words, kind, pixels in pictures
    )
    labels = np.stack(
        [view.labels & 255, view.labels >> 8 & 255, view.labels >> 16], axis=2
    ).astype(np.uint8)
    return f'<div class="trio">{figures}</div><img id="labels" alt="" hidden src="{picture(labels, "png")}">'


def _wipe(view: SegmentView) -> str:
    """Original and result in one frame, with a slider between them."""
    rows, columns = view.labels.shape
    frame = (
        f'<div class="wipe"><img alt="Original" width="{columns}" height="{rows}" data-same="original">'
        '<img class="over" alt="" data-same="means"><canvas aria-hidden="true"></canvas></div>'
        '<label class="unseen" for="wipe-at">How much of the original is shown</label>'
        '<input type="range" id="wipe-at" min="0" max="100" value="50" step="1">'
    )
    choice = (
        "<fieldset><legend>On the right</legend>"
        '<label><input type="radio" name="over" value="means" checked> mode colours</label>'
        '<label><input type="radio" name="over" value="segments"> segments</label></fieldset>'
    )
    return f'<div class="controls">{choice}</div>{frame}'


def _modes(view: SegmentView) -> list[str]:
    """A button for each of the larger segments: its colour, its share, and the rest of the image
    dimmed.
    """
    items = []
    for i, ((r, g, b), share) in enumerate(
        zip(view.palette[:LISTED].tolist(), view.shares, strict=False)
    ):
        code = f"#{r:02x}{g:02x}{b:02x}"
        items.append(
            f'<li><button type="button" aria-pressed="false" data-label="{i}">'
            f'<span class="swatch" style="background:{code}"></span>'
            f"<span>{code}<br>{_share(share)}</span></button></li>"
        )
    more = len(view.shares) - len(items)
    rest = f" {facts.number(more)} smaller segments are not listed." if more else ""
    return [
        f"<p>Choose a colour to see its segment alone, above; the largest come first.{rest}</p>",
        f'<ul class="modes">{"".join(items)}</ul>',
    ]


def _share(share: float) -> str:
    """In percent; what is there is not said to be nothing."""
    return "&lt; 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def picture(pixels: NDArray[Any], kind: str) -> str:
    """An (rows, columns, 3) image of bytes as an address: PNG without loss, JPEG for photographs."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(page.EXTRA) from error
    file = io.BytesIO()
    options: dict[str, Any] = {"quality": 90} if kind == "jpeg" else {"optimize": True}
    Image.fromarray(pixels).save(file, format=kind, **options)
    return page.data_url(f"image/{kind}", file.getvalue())
