"""The page of a segmented image."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean.meanshift.segmentation import Segmentation
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.segmentation import Segments, SegmentView, segment_view

LONGEST_SIDE = 1200  # pixels of the longer side of a picture in the page
MAX_LISTED = 60  # segments with a button of their own, the largest
LEAST_SHARE = 0.0005  # share of the pixels that is rounded to 0.1 %; below it, "< 0.1 %" is said
JPEG_QUALITY = 90  # of 100


def segmentation_page(
    rgb: ArrayLike,
    segmentation: Segmentation,
    *,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write an image and its segments as one self-contained HTML page.

    Parameters
    ----------
    rgb : array-like of shape (rows, columns) or (rows, columns, channels)
        The image that was segmented, as given to :func:`segment_image`.
    segmentation : Segmentation
        The result of :func:`segment_image`.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of segments.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time
        and memory O(n) for n pixels.

    See Also
    --------
    kernelmean.segment_image : Find the segments of an image.
    kernelmean.plot.SegmentationDisplay : The same pictures by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> grey = np.zeros((8, 8)); grey[:, 4:] = 1.0
    >>> page = km.report.segmentation_page(grey, km.segment_image(grey, bandwidth=0.2))
    >>> "2 segments" in page
    True
    """
    view = segment_view(rgb, segmentation, LONGEST_SIDE)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(segmentation, view.segments))),
        page.section("compare", "Before and after", _wipe(view)),
        page.section("modes", "Colours of the modes", *_modes(view.segments)),
        page.section("three", "Side by side", _trio(view)),
        facts.settings_section(_settings(segmentation), settings),
        facts.reproduce_section(command, drawn=False),
    ]
    rows, columns = segmentation.labels.shape
    count = facts.number(segmentation.n_segments)
    lede = page.text(
        f"An image of {columns} × {rows} pixels in {count} segments: {_made(segmentation)}."
    )
    return page.render(page.Page("segment", title or f"{count} segments", lede, sections))


def _made(segmentation: Segmentation) -> str:
    climbed = "pixels that climb to the same peak of the density"
    return climbed if segmentation.tree is None else f"{climbed}, and neighbours that hardly differ"


def _numbers(segmentation: Segmentation, segments: Segments) -> dict[str, str]:
    rows, columns = segmentation.labels.shape
    mean = segmentation.clustering.mean.expansion
    return {
        "pixels": facts.number(rows * columns),
        "segments": facts.number(segmentation.n_segments),
        "largest segment": _percent(segments.shares[0]),
        "centres of the density": facts.number(mean.k),
        "bandwidth": f"{mean.kernel.length:.4g}",
    }


def _settings(segmentation: Segmentation) -> dict[str, object]:
    found = segmentation.clustering
    rules = segmentation.clustering.rules
    return {
        "kernel": found.mean.expansion.kernel,
        "spread": facts.SPREADS[found.mean.expansion.atoms.kind],
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
        f'<figure><img id="{name}" alt="{words}" src="{picture(pixels, kind)}">'
        f"<figcaption>{words}</figcaption></figure>"
        for name, words, kind, pixels in pictures
    )
    labels = np.stack(
        [view.labels & 255, view.labels >> 8 & 255, view.labels >> 16], axis=2
    ).astype(np.uint8)
    numbers = f'<img id="labels" alt="" hidden src="{picture(labels, "png")}">'
    return f'<div class="trio">{figures}</div>{numbers}'


def _wipe(view: SegmentView) -> str:
    """Original and result in one frame, with a slider between them."""
    rows, columns = view.labels.shape
    frame = (
        f'<div class="wipe"><img alt="Original" width="{columns}" height="{rows}" '
        'data-same="original">'
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


def _modes(segments: Segments) -> list[str]:
    """A button for each of the larger segments: its colour, its share, and the rest of the image
    dimmed.
    """
    listed = list(zip(segments.codes, segments.shares.tolist(), strict=True))[:MAX_LISTED]
    items = "".join(
        f'<li><button type="button" aria-pressed="false" data-label="{i}">'
        f'<span class="swatch" style="background:{code}"></span>'
        f"<span>{code}<br>{_share(share)}</span></button></li>"
        for i, (code, share) in enumerate(listed)
    )
    more = len(segments.shares) - len(listed)
    rest = f" {facts.number(more)} smaller segments are not listed." if more else ""
    return [
        f"<p>Choose a colour to see its segment alone, above; the largest come first.{rest}</p>",
        f'<ul class="modes">{items}</ul>',
    ]


def _share(share: float) -> str:
    """In percent; what is there is not said to be nothing."""
    return "&lt; 0.1 %" if share < LEAST_SHARE else _percent(share)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def picture(pixels: NDArray[np.uint8], kind: str) -> str:
    """An (rows, columns, 3) image of bytes as an address: PNG without loss, JPEG for photos."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(page.EXTRA) from error
    file = io.BytesIO()
    options: dict[str, Any] = {"quality": JPEG_QUALITY} if kind == "jpeg" else {"optimize": True}
    Image.fromarray(pixels).save(file, format=kind, **options)
    return page.data_url(f"image/{kind}", file.getvalue())
