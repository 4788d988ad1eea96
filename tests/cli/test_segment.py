"""``kernelmean segment``: a picture in segments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer
from tests.files import formats


@pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "webp"])
def test_segment_writes_a_picture(run, ending):
    found = answer(run("segment", "photo.jpg", "-o", f"out.{ending}", "--n-segments", 3, "--json"))
    picture = np.asarray(formats.Image.open(f"out.{ending}"))
    assert picture.shape == (20, 24, 3)
    assert found["segments"] == 3
    assert sum(row["pixels"] for row in found["largest"]) == 480
    expected = km.segment_image(np.asarray(formats.Image.open("photo.jpg")), n_segments=3)
    if ending == "png":
        np.testing.assert_array_equal(picture, expected.image)


def test_segment_takes_grey_pictures(run):
    formats.Image.open("photo.jpg").convert("L").save("grey.png")
    found = answer(run("segment", "grey.png", "-o", "out.png", "--json"))
    assert np.asarray(formats.Image.open("out.png")).shape == (20, 24)
    assert re.fullmatch(r"#(\w\w)\1\1", found["largest"][0]["colour"])


def test_segment_takes_the_parameters_of_the_function(run):
    rgb = np.asarray(formats.Image.open("photo.jpg"))
    for words, options in [
        (["--contrast", 0.2], {"contrast": 0.2}),
        (["--plain", "--min-size", 20, "--bandwidth", 0.1], {"contrast": None, "min_size": 20}),
    ]:
        found = answer(run("segment", "photo.jpg", "-o", "out.png", *words, "--json"))
        width = 0.1 if "--bandwidth" in words else None
        assert found["segments"] == km.segment_image(rgb, bandwidth=width, **options).n_segments
