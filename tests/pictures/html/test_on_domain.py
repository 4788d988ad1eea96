"""The page of a density on a domain."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.pictures.html.reading import Reader, charts, packed


def test_the_domain_is_said_in_words(fitted_on, plotly_page):
    mean, X = fitted_on("size", "hour", "species", "lon", "lat", spread=None)
    html = plotly_page(mean, X)
    words = Reader(html).words
    said = "size ≥ 0, hour modulo 24, species: 3 categories, lon/lat on a sphere"
    assert words.count(said) == 2  # beside the numbers, and among the settings
    assert "Theorem 1" not in words  # it speaks of the mean inside
    assert "Chinstrap of the far south (" in words
    assert [chart["id"] for chart in charts(html)][-1] == "indicator"


def test_axes_end_where_the_domain_does(fitted_on, plotly_page):
    mean, X = fitted_on("share", "hour", spread="scalar")
    (plane, _) = charts(plotly_page(mean, X))
    assert plane["layout"]["xaxis"]["range"] == [0.0, 1.0]
    assert plane["layout"]["yaxis"]["range"] == [0.0, 24.0]
    assert plane["layout"]["yaxis"]["tickvals"] == [0.0, 6.0, 12.0, 18.0, 24.0]
    values = packed(plane["traces"][0]["z"])[0].reshape(160, 160)
    np.testing.assert_allclose(values[0], values[-1])
    outlines = packed(plane["traces"][3]["y"])[0]
    assert 0.0 <= np.nanmin(outlines) < np.nanmax(outlines) <= 24.0
    line, X = fitted_on("share")
    (curve, _) = charts(plotly_page(line, X))
    assert curve["layout"]["xaxis"]["range"] == [0.0, 1.0]
    assert curve["layout"]["yaxis"]["rangemode"] == "tozero"


def test_categories_are_named(fitted_on, plotly_page):
    mean, X = fitted_on("size", "species", "island")
    html = plotly_page(mean, X)
    size, other, cells = charts(html)
    assert [item["name"] for item in size["legend"]] == [
        "Adélie",
        "Chinstrap of the far south",
        "Gentoo",
    ]
    assert len(size["traces"]) == len(other["traces"]) == 3
    assert cells["layout"]["xaxis"]["ticktext"][1] == "Chinstrap…ar south"
    assert sum(float(share[:-2]) for row in cells["traces"][0]["text"] for share in row) == (
        pytest.approx(100.0, abs=0.1)
    )
    places = [attrs["data-serves"] for attrs in Reader(html).all("ul")]
    assert places == ["density-0", "density-1", "density-2"][: len(places)]
    alone, X = fitted_on("species")
    (bars,) = charts(plotly_page(alone, X))[:1]
    assert bars["traces"][0]["type"] == "bar"
    assert bars["walk"][0][2].startswith("Adélie: probability 0.3")


@pytest.mark.parametrize(
    "names",
    [("lon", "lat"), ("size", "species"), ("species",), ("hour",), ("lon", "lat", "island")],
)
def test_a_density_by_likelihood_has_a_page(fitted_on, plotly_page, names):
    mean, X = fitted_on(*names, target="likelihood", k="auto", bandwidth="auto", engine="cpu")
    words = Reader(plotly_page(mean, X)).words
    assert "that were fitted by likelihood" in words
    assert "mean log-density" in words
    plotly_page(mean)


def test_what_holds_every_row_is_refused(fitted_on, plotly_page):
    full, X = fitted_on("size", sparse=False, k="auto")
    with pytest.raises(TypeError, match="every row is a centre"):
        plotly_page(full, X)


def test_a_part_of_a_density_has_a_page(fitted_on, plotly_page):
    mean, _ = fitted_on("size", "hour", "species")
    part = mean.conditional({"species": "Gentoo"})
    assert "hour modulo 24" in Reader(plotly_page(part)).words
    assert isinstance(mean.marginal(["species"]), km.DomainMean)
    plotly_page(mean.marginal(["species"]))
