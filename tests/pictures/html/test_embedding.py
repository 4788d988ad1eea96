"""The page of an embedding."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures import html as report
from tests.pictures.html.conftest import WORSE
from tests.pictures.html.reading import Reader, charts


def test_an_embedding_shows_all_it_knows(embed_html):
    read = Reader(embed_html)
    (scatter, heat_map) = charts(embed_html)
    assert set(scatter["variants"]) == {"site", "age", "(none)"}
    site = scatter["variants"]["site"]
    assert [item["name"] for item in site["legend"]] == [f"{WORSE} (5)", "north (5)", "south (4)"]
    assert site["traces"][0]["hovertemplate"].count("%{") == 4
    age = scatter["variants"]["age"]
    assert age["range"] == ["20.5", "32.5"]
    assert len(age["traces"][1]["x"]) == 1  # the one without an age
    assert len(heat_map["grid"]["names"]) == 14
    assert len(read.all("tr")) > 14


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metadata": {"a": [1]}}, "column 'a' has 1 values, but there are 14 samples"),
        ({"color": "b"}, "color='b' is no column of the metadata"),
        ({"names": ["a"]}, "names has 1 entries, but 14 samples"),
    ],
)
def test_columns_that_do_not_fit_are_refused(odd_embedding, options, said):
    with pytest.raises(ValueError, match=said):
        report.embedding_page(odd_embedding, **options)


@pytest.mark.parametrize("kind", [None, "isomap"])
def test_embeddings_without_map_or_on_a_line(plotly_page, kind):
    samples = [np.random.default_rng(i).normal(size=(30, 1)) + i for i in range(4)]
    found = km.DistributionEmbedding(
        1, embedding=kind, n_neighbors=3, random_state=0, engine="naive"
    ).fit(samples)
    read = Reader(report.embedding_page(found))
    assert ("Map of the samples" in read.words) == (kind is not None)
    assert "not measured" in read.words
