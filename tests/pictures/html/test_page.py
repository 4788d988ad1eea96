"""What holds of every page: it is whole, escaped, and asks for nothing from outside."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.pictures import html as report
from kernelmean.pictures.html import page
from tests.pictures.html.conftest import EVIL, WORSE
from tests.pictures.html.reading import Reader

PAGES = [
    "fit_html",
    "embed_html",
    "segment_html",
    "clusters_html",
    "compare_html",
    "monitor_html",
    "score_html",
    "proportions_html",
    "query_html",
]


@pytest.fixture(params=PAGES)
def html(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def read(html):
    return Reader(html)


def test_nothing_comes_from_outside(read):
    for tag, attrs in read.tags:
        for name in ("src", "href", "srcset", "action", "poster", "data"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (tag, attrs)
    assert "@import" not in read.words
    assert not [attrs for attrs in read.all("link") if attrs.get("rel") != "icon"]


def test_the_policy_allows_no_request_and_only_these_scripts(read):
    policy = next(
        attrs["content"]
        for attrs in read.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src" not in policy
    run = [text for kind, text in read.scripts if not kind]
    packed = [base64.b64decode(text) for kind, text in read.scripts if kind == "application/gzip"]
    run = [gzip.decompress(data).decode() for data in packed] + run
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert "unsafe-eval" not in policy


def test_only_the_scripts_of_the_page_are_there(read, request):
    with_plotly = "segment" not in str(request.node.name)
    assert len(read.scripts) == 2 + with_plotly
    assert not [attrs for _, attrs in read.tags if any(name.startswith("on") for name in attrs)]


def test_harmful_names_are_words_and_nothing_else(html, read):
    assert "alert(1)" in read.words
    assert not [attrs for attrs in read.all("img") if attrs.get("src") == "x"]
    assert EVIL not in html
    assert WORSE not in html


def test_figures_are_valid_json_without_markup(read):
    text = next(text for kind, text in read.scripts if kind == "application/json")
    assert not set("<>&") & set(text)
    charts = json.loads(text)
    assert {chart["id"] for chart in charts} <= {attrs.get("id") for _, attrs in read.tags}


def test_everything_has_a_name(read):
    ids = [attrs["id"] for _, attrs in read.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    charts = [attrs for attrs in read.all("div") if attrs.get("class") == "chart"]
    assert all(attrs["aria-label"] and attrs["tabindex"] == "0" for attrs in charts)
    assert len(read.all("figcaption")) == len(read.all("figure"))
    assert all("alt" in attrs for attrs in read.all("img"))
    labelled = {attrs.get("for") for attrs in read.all("label")}
    for attrs in [*read.all("select"), *(a for a in read.all("input") if a["type"] != "radio")]:
        assert attrs["id"] in labelled
    assert all(attrs["aria-labelledby"] in ids for attrs in read.all("section"))
    assert read.all("html")[0]["lang"] == "en"


def test_command_and_versions_are_there(read):
    for word in (
        "kernelmean " + read.all("body")[0]["class"],
        km.__version__,
        np.__version__,
        "To make this again",
        "Settings",
    ):
        assert word in read.words
    assert "'<script>alert(1)</script>" in read.words  # quoted as a shell needs it


@given(st.text())
def test_any_string_survives_embedding_and_breaks_nothing(words):
    text = page.embedded({"x": words})
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == {"x": words}
    assert not set('<>"') & set(page.text(words))
    assert "<" not in page.label(words)


def test_a_page_is_small_and_carries_the_licence_of_what_draws_it(html, request):
    assert len(html.encode()) < 1_500_000
    drawn = "segment" not in str(request.node.name)
    assert ("Plotly Technologies Inc." in html) == drawn


def test_plotly_is_the_file_that_its_authors_published():
    """plotly.js-cartesian-dist-min of the version that pages name."""
    source = gzip.decompress(page.plotly_packed())
    assert f"(cartesian - minified) v{page.PLOTLY_VERSION}".encode() in source[:80]
    assert hashlib.sha256(source).hexdigest() == (
        "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
    )


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    rgb = np.zeros((4, 4, 3), dtype=np.uint8)
    with pytest.raises(ImportError, match=r"pip install 'kernelmean\[report\]'"):
        report.segmentation_page(rgb, km.segment_image(rgb, engine="naive"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mean log-density", 'mean <span class="word">log-density</span>'),
        ("fit --report a.html", 'fit <span class="word">--report</span> a.html'),
        ("-4.5", "-4.5"),
        ("a-" + "b" * 40, "a-" + "b" * 40),  # too long to stay whole on a phone
        ("<b>-c", "&lt;b&gt;-c"),
    ],
)
def test_words_with_hyphens_stay_whole(given, expected):
    assert page.unbroken(given) == expected
