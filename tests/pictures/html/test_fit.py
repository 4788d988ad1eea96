"""The page of a fit."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures import html as report
from tests.pictures.html.reading import Reader, charts, packed


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
    drawn = charts(fit_html)
    planes = [f"density-{i}" for i in range(3)]
    alone = [f"marginal-{i}" for i in range(3)]
    assert [chart["id"] for chart in drawn] == [*planes, *alone, "indicator"]
    centres = drawn[0]["traces"][1]
    assert len(centres["marker"]["size"]) == 30
    assert drawn[-1]["layout"]["shapes"][0]["x0"] == 30


def test_marks_are_sized_by_weight(fit_html):
    drawn = charts(fit_html)
    sizes = drawn[0]["traces"][1]["marker"]["size"]
    weights = [float(entry[1]) for entry in drawn[0]["traces"][1]["customdata"]]
    assert weights == sorted(weights, reverse=True)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_the_width_of_atoms_is_drawn_listed_and_told(plotly_page):
    """Ellipses of one standard deviation with gaps between them; figures in the data's units."""
    X = np.random.default_rng(3).normal(size=(300, 2)) @ [[2.0, 1.0], [0.0, 0.5]]
    how = {"k": 8, "random_state": 0, "engine": "naive", "space": "l2", "scale": "std"}
    mean = km.sparse_kernel_mean(X, spread="full", selection="kmeans", **how)
    html = plotly_page(mean, X)
    words = Reader(html).words
    for said in ("8 full atoms", "a covariance for each centre", "spread (sd)", "as an ellipse"):
        assert said in words
    chart = charts(html)[0]
    assert [item["trace"] for item in chart["legend"]] == [0, 1, 3, 4]
    x, y = (packed(chart["traces"][3][axis])[0].reshape(8, -1) for axis in "xy")
    assert np.isnan(x[:, -1]).all()
    back = np.linalg.inv(mean.scale)
    for i, row in enumerate(np.argsort(-mean.weights, kind="stable")):
        S = back @ mean.spreads[row] @ back.T
        offsets = np.stack([x[i, :-1], y[i, :-1]], axis=1) - mean.centers[row]
        squares = np.einsum("is,st,it->i", offsets, np.linalg.inv(S), offsets)
        np.testing.assert_allclose(squares, 1.0, rtol=1e-3)  # of numbers in single precision
        told = chart["traces"][1]["customdata"][i]
        assert told == [row + 1, f"{mean.weights[row]:.3g}", f"{np.sqrt(np.trace(S) / 2):.3g}"]
        assert f"{np.sqrt(np.trace(S) / 2):.4g}" in words
    assert "spread %{customdata[2]}" in chart["traces"][1]["hovertemplate"]
    points = plotly_page(km.sparse_kernel_mean(X, spread=None, **how), X)
    assert "spread (sd)" not in points
    assert len(charts(points)[0]["traces"]) == 3 + 1  # the rows


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_a_density_by_likelihood_has_no_errors_and_whole_atoms(plotly_page, d):
    X = np.random.default_rng(3).normal(size=(300, d)) + 4.0 * (np.arange(300) % 2)[:, None]
    density = km.SparseKDE(random_state=0).fit(X)
    mean = density.mean_
    html = plotly_page(mean, X)
    words = Reader(html).words
    drawn = charts(html)
    planes = {1: 1, 2: 1, 3: 3, 8: 1}[d]
    alone = [f"marginal-{i}" for i in range(d)] if d > 1 else []
    assert [chart["id"] for chart in drawn] == [*(f"density-{i}" for i in range(planes)), *alone]
    assert "How many centres" not in words
    for said in ("that were fitted by likelihood", "held-out rows ask", "mean log-density"):
        assert said in words
    for missing in ("solver", "jitter", "covering radius", "estimated relative error", "not known"):
        assert missing not in words
    heaviest = int(np.argmax(mean.weights))
    V = density.to_gaussian_mixture().covariances_[heaviest]
    assert f"{np.sqrt(np.trace(V) / d):.4g}" in words
    assert "One standard deviation of an atom is drawn" in words


@pytest.mark.parametrize("target", ["kde", "likelihood"])
def test_a_part_of_a_density_has_a_page(plotly_page, target):
    X = np.random.default_rng(3).normal(size=(200, 3))
    density = km.SparseKDE(k=10, target=target, random_state=0).fit(X)
    words = Reader(plotly_page(density.conditional({0: 0.5}).mean_, X[:, 1:])).words
    assert "it is a part of another density" in words
    assert ("that were fitted by likelihood" in words) == (target == "likelihood")
    assert "How many centres" not in words


def test_along_a_line_bars_end_with_the_picture(plotly_page):
    """Atoms that stand for what no row has shown are wider than all of it."""
    X = np.random.default_rng(0).normal(size=(300, 1))
    mean = km.SparseKDE(random_state=0).fit(X).mean_
    chart = charts(plotly_page(mean, X))[0]
    grid, bars = (packed(chart["traces"][i]["x"])[0] for i in (0, 3))
    assert np.sqrt(mean.spreads.max()) > np.ptp(X)
    assert np.nanmin(bars) >= grid[0]
    assert np.nanmax(bars) <= grid[-1]


def test_along_a_line_a_width_is_a_bar(plotly_page):
    X = np.random.default_rng(3).normal(size=(300, 1))
    mean = km.sparse_kernel_mean(
        X, spread="scalar", selection="kmeans", k=5, random_state=0, engine="naive", space="l2"
    )
    html = plotly_page(mean, X)
    assert "as a bar on the axis" in Reader(html).words
    ends = packed(charts(html)[0]["traces"][3]["x"])[0].reshape(5, 3)[:, :2]
    rows = np.argsort(-np.abs(mean.weights), kind="stable")
    np.testing.assert_allclose(ends.mean(axis=1), mean.centers[rows, 0], atol=1e-6)
    np.testing.assert_allclose(np.ptp(ends, axis=1), 2 * np.sqrt(mean.spreads[rows]), rtol=1e-4)


def test_without_rows_the_page_holds_the_centres_and_no_other_row(plotly_page):
    X = np.random.default_rng(0).normal(size=(100, 2))
    mean = km.sparse_kernel_mean(X, k=3, selection="kcenter", random_state=0, engine="naive")
    html = plotly_page(mean, X, rows=False)
    assert "rarest" not in html.lower()
    held = np.concatenate(packed(charts(html)))
    assert np.isin(mean.centers.astype("<f4"), held).all()
    assert not np.isin(np.delete(X, mean.indices, axis=0).astype("<f4"), held).any()


@pytest.mark.parametrize("d", [1, 2, 6, 8])
@pytest.mark.parametrize("constraint", [None, "simplex"])
def test_fits_of_every_dimension(plotly_page, d, constraint):
    X = np.random.default_rng(d).normal(size=(80, d))
    mean = km.sparse_kernel_mean(
        X, space="l2", constraint=constraint, k=9, random_state=0, engine="naive"
    )
    read = Reader(plotly_page(mean))
    figures = [attrs for attrs in read.all("div") if attrs.get("class") == "chart"]
    assert len(figures) == {1: 1, 2: 1 + 2, 6: 15 + 6, 8: 1 + 8}[d] + 1
    bounded = mean.bound is not None
    assert ("Theorem 1" in read.words) == bounded
    assert "relative error, measured" not in read.words
    assert "Made from Python" in read.words


def test_odd_fits_have_pages_too(plotly_page):
    X = np.random.default_rng(0).normal(size=(40, 3))
    single = km.sparse_kernel_mean(X, k=1, spread=None, random_state=0, engine="naive")
    assert "40 points by 1 centre\n" in Reader(plotly_page(single)).words
    atom = km.sparse_kernel_mean(X, k=1, spread="full", random_state=0, engine="naive")
    assert "40 points by 1 full atom\n" in Reader(plotly_page(atom)).words
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
    chart = charts(plotly_page(mean, X))[0]
    for axis in ("xaxis", "yaxis"):
        low, high = chart["layout"][axis]["range"]
        assert -6 < low < -2
        assert 2 < high < 6


def test_what_is_no_mean_is_refused():
    with pytest.raises(TypeError, match="needs a SparseKernelMean, got ndarray"):
        report.fit_page(np.ones(3))


@pytest.mark.parametrize(
    ("target", "heading"), [(None, "Kernel mean"), ("kde", "Density"), ("likelihood", "Density")]
)
def test_a_page_says_density_of_densities_only(target, heading):
    X = np.random.default_rng(0).normal(size=(200, 2))
    signed = target is None
    mean = (
        km.sparse_kernel_mean(X, k=10, random_state=0)
        if signed
        else km.SparseKDE(k=10, target=target, random_state=0).fit(X).mean_
    )
    assert mean.is_density == (not signed)
    html = report.fit_page(mean, X)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", html)
    assert heading in headings
    assert ("density" in Reader(html).words.lower()) == (not signed)


def test_axes_say_what_the_values_went_through():
    X = np.random.default_rng(0).normal(size=(100, 2))
    mean = km.sparse_kernel_mean(X, k=5, random_state=0, engine="naive")
    assert "Axes are in values after arcsinh:150." in report.fit_page(
        replace(mean, transform="arcsinh:150"), X
    )
    assert "Axes are in values" not in report.fit_page(mean, X)


def test_rows_are_drawn_and_the_rarest_listed(fitted, plotly_page):
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[77] = (5.5, -4.5)
    mean = fitted(X)
    html = plotly_page(mean, X)
    plane, first, *_ = charts(html)
    x, y = (packed(plane["traces"][-1][axis])[0] for axis in "xy")
    np.testing.assert_allclose(np.stack([x, y], axis=1), X, rtol=1e-6)
    heights, width = packed(first["traces"][1]["y"])[0], first["traces"][1]["width"]
    assert heights.sum() * width == pytest.approx(1.0, abs=0.02)  # one row lies outside
    listed = re.findall(r'<th scope="row" class="number">(\d+)</th>', html)
    assert "77" in listed[:5]
    assert '<td class="number">5.5</td><td class="number">-4.5</td>' in html


def test_contour_lines_do_not_leave_their_plane(plotly_page):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(12, 2)) * 0.1 + (6.0, 6.0)])
    for target in ("kde", "likelihood"):
        mean = km.SparseKDE(random_state=0, target=target, engine="naive").fit(X).mean_
        contour = charts(plotly_page(mean, X))[0]["traces"][0]
        z = packed(contour["z"])[0].reshape(len(packed(contour["y"])[0]), -1)
        edge = max(z[0].max(), z[-1].max(), z[:, 0].max(), z[:, -1].max())
        assert edge <= contour["contours"]["start"]


def test_errors_are_told_in_percent(fit_html):
    words = Reader(fit_html).words
    assert re.search(r"relative error of [\d.]+ %", words)
    assert not re.search(r"\de-0", words)
