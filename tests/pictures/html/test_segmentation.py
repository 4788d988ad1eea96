"""The page of a segmented image."""

from __future__ import annotations

from tests.pictures.html.reading import Reader


def test_a_segmentation_lists_its_colours(segment_html):
    read = Reader(segment_html)
    assert [word for word in ("#c82828", "#000000", "#1e3cdc") if word in read.words] == [
        "#c82828",
        "#000000",
        "#1e3cdc",
    ]
    assert len(read.all("img")) == 6
    assert "plotly.js" not in segment_html.lower()
