"""The pages as text: whole, escaped, and asking for nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.pictures import html as report
from kernelmean.pictures.html import charts, facts, page
from tests.pictures.html.conftest import EVIL, WORSE

PAGES = ["fit_html", "embed_html", "segment_html"]


class Reader(HTMLParser):
    """Tags with attributes, scripts by type, and the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[tuple[str, str]] = []
        self.words, self._open = "", ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs).get("type", ""), ""))

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = kind, text + data
        elif self._open != "style":
            self.words += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


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


def test_a_fit_says_what_was_fitted(fit_html):
    words = Reader(fit_html).words
    for word in (
        "covering radius",
        "relative error, measured",
        "30",
        "400",
        "Gaussian(bandwidth=",
        "k\u2080",
        "the number asked for",
    ):
        assert word in words
    charts = json.loads(next(text for kind, text in Reader(fit_html).scripts if kind))
    assert [chart["id"] for chart in charts] == ["density-0", "density-1", "density-2", "indicator"]
    centres = charts[0]["traces"][1]
    assert len(centres["marker"]["size"]) == 30
    assert charts[-1]["layout"]["shapes"][0]["x0"] == 30


def test_marks_are_sized_by_weight(fit_html):
    charts = json.loads(next(text for kind, text in Reader(fit_html).scripts if kind))
    sizes = charts[0]["traces"][1]["marker"]["size"]
    weights = [float(entry[1]) for entry in charts[0]["traces"][1]["customdata"]]
    assert weights == sorted(weights, reverse=True)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def packed(part):
    """All numbers that a figure holds in base 64."""
    if isinstance(part, dict) and "bdata" in part:
        return [np.frombuffer(base64.b64decode(part["bdata"]), dtype="<f4")]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    return [found for entry in inner for found in packed(entry)]


def test_the_page_holds_the_centres_and_no_other_row(plotly_page):
    X = np.random.default_rng(0).normal(size=(100, 2))
    mean = km.sparse_kernel_mean(X, k=3, selection="kcenter", random_state=0, engine="naive")
    held = np.concatenate(
        packed(
            json.loads(next(text for kind, text in Reader(plotly_page(mean, X)).scripts if kind))
        )
    )
    assert np.isin(mean.centers.astype("<f4"), held).all()
    assert not np.isin(np.delete(X, mean.indices, axis=0).astype("<f4"), held).any()


@pytest.fixture
def plotly_page(monkeypatch):
    """Pages of many kinds without four megabytes of script in each."""
    monkeypatch.setattr(page, "plotly_source", lambda: "/* Plotly */")
    return report.fit_page


@pytest.mark.parametrize("d", [1, 2, 6, 8])
@pytest.mark.parametrize("constraint", [None, "simplex"])
def test_fits_of_every_dimension(plotly_page, d, constraint):
    X = np.random.default_rng(d).normal(size=(80, d))
    mean = km.sparse_kernel_mean(
        X, space="l2", constraint=constraint, k=9, random_state=0, engine="naive"
    )
    read = Reader(plotly_page(mean))
    figures = [attrs for attrs in read.all("div") if attrs.get("class") == "chart"]
    assert len(figures) == {1: 1, 2: 1, 6: 15, 8: 1}[d] + 1
    bounded = mean.bound is not None
    assert ("Theorem 1" in read.words) == bounded
    assert "relative error, measured" not in read.words
    assert "Made from Python" in read.words


def test_odd_fits_have_pages_too(plotly_page):
    X = np.random.default_rng(0).normal(size=(40, 3))
    single = km.sparse_kernel_mean(X, k=1, random_state=0, engine="naive")
    assert "1 centre" in Reader(plotly_page(single)).words
    heavy = km.sparse_kernel_mean(
        X, kernel=km.Student(1.0, 1.0), k=5, random_state=0, engine="naive"
    )
    assert "A slice" in Reader(plotly_page(heavy)).words
    same = km.sparse_kernel_mean(np.ones((9, 2)), bandwidth=1.0, random_state=0, engine="naive")
    assert "9 points" in Reader(plotly_page(same)).words
    merged = km.merge([single, single], k=1)
    plotly_page(merged)


def test_a_far_centre_does_not_shrink_the_picture(plotly_page):
    X = np.vstack([np.random.default_rng(0).normal(size=(1000, 2)), [[1e4, 1e4]]])
    mean = km.sparse_kernel_mean(
        X, bandwidth=1.0, k=5, selection="kcenter", random_state=0, engine="naive"
    )
    assert mean.centers.max() == 1e4
    chart = json.loads(next(text for kind, text in Reader(plotly_page(mean, X)).scripts if kind))[0]
    for axis in ("xaxis", "yaxis"):
        low, high = chart["layout"][axis]["range"]
        assert -6 < low < -2
        assert 2 < high < 6


def test_what_is_no_mean_is_refused():
    with pytest.raises(TypeError, match="needs a SparseKernelMean, got ndarray"):
        report.fit_page(np.ones(3))


def test_an_embedding_shows_all_it_knows(embed_html):
    read = Reader(embed_html)
    (scatter, heat_map) = json.loads(next(text for kind, text in read.scripts if kind))
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
def test_columns_that_do_not_fit_are_refused(embedding, options, said):
    with pytest.raises(ValueError, match=said):
        report.embedding_page(embedding, **options)


@pytest.mark.parametrize("kind", [None, "isomap"])
def test_embeddings_without_map_or_on_a_line(plotly_page, kind):
    samples = [np.random.default_rng(i).normal(size=(30, 1)) + i for i in range(4)]
    found = km.DistributionEmbedding(
        1, embedding=kind, n_neighbors=3, random_state=0, engine="naive"
    ).fit(samples)
    read = Reader(report.embedding_page(found))
    assert ("Map of the samples" in read.words) == (kind is not None)
    assert "not measured" in read.words


def test_a_segmentation_lists_its_colours(segment_html):
    read = Reader(segment_html)
    assert [word for word in ("#c82828", "#000000", "#1e3cdc") if word in read.words] == [
        "#c82828",
        "#000000",
        "#1e3cdc",
    ]
    assert len(read.all("img")) == 6
    assert "plotly.js" not in segment_html.lower()


@given(st.text())
def test_any_string_survives_embedding_and_breaks_nothing(words):
    text = page.embedded({"x": words})
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == {"x": words}
    assert not set('<>"') & set(page.text(words))
    assert "<" not in page.label(words)


def test_numbers_are_packed_as_plotly_reads_them():
    from kernelmean.pictures.html.charts import numbers

    A = np.arange(6.0).reshape(2, 3)
    packed = numbers(A)
    assert packed["shape"] == "2, 3"
    np.testing.assert_array_equal(
        np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f4").reshape(2, 3), A
    )


@pytest.mark.parametrize(
    ("value", "shown"), [(1234567, "1\u202f234\u202f567"), (0.123456, "0.1235"), (12.0, "12")]
)
def test_numbers_are_written_for_people(value, shown):
    assert facts.number(value) == shown


@pytest.mark.parametrize("missing", ["plotly", "PIL"])
def test_what_is_not_installed_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setitem(
        sys.modules, f"{missing}.offline" if missing == "plotly" else "PIL.Image", None
    )
    rgb = np.zeros((4, 4, 3), dtype=np.uint8)
    with pytest.raises(ImportError, match=r"pip install 'kernelmean\[report\]'"):
        page.plotly_source() if missing == "plotly" else report.segmentation_page(
            rgb, km.segment_image(rgb, engine="naive")
        )


@pytest.mark.parametrize(("signed", "heading"), [(True, "Kernel mean"), (False, "Density")])
def test_a_page_says_density_of_densities_only(signed, heading):
    X = np.random.default_rng(0).normal(size=(200, 2))
    mean = (
        km.sparse_kernel_mean(X, k=10, random_state=0)
        if signed
        else km.SparseKDE(k=10, random_state=0).fit(X).mean_
    )
    assert mean.is_density == (not signed)
    html = report.fit_page(mean, X)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", html)
    assert heading in headings
    assert ("density" in Reader(html).words.lower()) == (not signed)


def test_long_names_keep_both_ends():
    """Replicates differ in their last letters."""
    assert [charts._short(f"Fa13.BD.MM15.SD.1_rep{i}") for i in (1, 2)] == [
        "Fa13.BD.M…D.1_rep1",
        "Fa13.BD.M…D.1_rep2",
    ]
    assert charts._short("short") == "short"


def test_axes_say_what_the_values_went_through():
    X = np.random.default_rng(0).normal(size=(100, 2))
    mean = km.sparse_kernel_mean(X, k=5, random_state=0, engine="naive")
    assert "Axes are in values after arcsinh:150." in report.fit_page(
        replace(mean, transform="arcsinh:150"), X
    )
    assert "Axes are in values" not in report.fit_page(mean, X)


def test_a_figure_is_whole_or_absent(tmp_path, monkeypatch):
    figures = pytest.importorskip(
        "kernelmean.pictures.html.figures",
        reason="Matplotlib is not installed: pip install 'kernelmean[report]'",
    )
    X = np.random.default_rng(0).normal(size=(50, 2))
    mean = km.sparse_kernel_mean(X, k=5, random_state=0, engine="naive")

    def half(figure, path, **_):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(figures.Figure, "savefig", half)
    with pytest.raises(KeyboardInterrupt):
        figures.draw_fit(mean, X, tmp_path / "f.png")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"f\.xyz names no format of figures"):
        figures.figure_format(tmp_path / "f.xyz")
