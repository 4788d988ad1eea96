"""Matplotlib and the page draw one value: another value changes both, and nothing else does."""

from __future__ import annotations

import base64
import importlib
from io import BytesIO

import numpy as np
import pytest

import kernelmean as km
from tests.comparison.examples import planted
from tests.pictures.html.reading import Reader, charts, packed

DRAWERS = {  # function of pictures/: the modules that draw its value
    "density.density_views": ("matplotlib.density", "html.fit"),
    "indicator.indicator_curve": ("matplotlib.indicator", "html.fit"),
    "embedding.sample_map": ("matplotlib.embedding", "html.embedding"),
    "distances.distance_map": ("matplotlib.distances", "html.embedding"),
    "segmentation.segment_view": ("matplotlib.segmentation", "html.segmentation"),
    "merge_tree.merge_view": ("matplotlib.merge_tree", "html.clusters"),
    "difference.difference_map": ("matplotlib.difference", "difference"),
    "monitor.monitor_view": ("matplotlib.monitor", "html.monitor"),
}


@pytest.fixture(autouse=True)
def _drawn_without_a_screen(monkeypatch):
    matplotlib = pytest.importorskip(
        "matplotlib", reason="Matplotlib is not installed: pip install 'kernelmean[report]'"
    )
    matplotlib.use("Agg")
    monkeypatch.setattr("kernelmean.pictures.html.page.plotly_packed", lambda: b"")
    yield
    importlib.import_module("matplotlib.pyplot").close("all")


@pytest.fixture
def changed(monkeypatch):
    """A function that lets every drawer of a picture see another value."""

    def change(name, edit):
        topic, function = name.split(".")
        home = importlib.import_module(f"kernelmean.pictures.{topic}")
        compute = getattr(home, function)

        def other(*arguments, **options):
            return edit(compute(*arguments, **options))

        for drawer in DRAWERS[name]:
            module = importlib.import_module(f"kernelmean.pictures.{drawer}")
            assert getattr(module, function) is compute
            monkeypatch.setattr(module, function, other)

    return change


def test_density(cloud, fitted, changed):
    changed(
        "density.density_views",
        lambda views: [
            view._replace(
                axes=("p", "q"), grids=tuple(2 * g for g in view.grids), centers=view.centers + 1
            )
            for view in views
        ],
    )
    mean = fitted(cloud[:, :2])
    display = km.plot.DensityDisplay.from_mean(mean, cloud[:, :2])
    chart = charts(km.report.fit_page(mean, cloud[:, :2]))[0]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("p", "q")
    titles = [chart["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert titles == ["p", "q"]
    np.testing.assert_allclose(display.ax_.get_xlim(), chart["layout"]["xaxis"]["range"])
    np.testing.assert_allclose(display.ax_.get_ylim(), chart["layout"]["yaxis"]["range"])
    offsets = np.asarray(display.centers_[0].get_offsets())
    np.testing.assert_allclose(offsets, mean.centers + 1)
    x = packed(chart["traces"][1]["x"])[0]
    np.testing.assert_allclose(sorted(x), sorted(offsets[:, 0]), rtol=1e-6)
    levels = chart["traces"][0]["contours"]
    np.testing.assert_allclose(
        display.contours_[0].levels, np.arange(levels["start"], levels["end"] + 0.01, 0.1)
    )


def test_indicator(cloud, fitted, changed):
    changed(
        "indicator.indicator_curve",
        lambda curve: curve._replace(left_over=0.5 * curve.left_over, chosen=7),
    )
    mean = fitted(cloud)
    display = km.plot.IndicatorDisplay.from_mean(mean)
    chart = charts(km.report.fit_page(mean))[-1]
    assert display.chosen_.get_xdata()[0] == chart["layout"]["shapes"][0]["x0"] == 7
    y = np.asarray(display.line_.get_ydata())
    assert y[0] == 0.5
    assert chart["traces"][0]["y"] == y[np.isfinite(y)].tolist()
    assert display.ax_.get_xlabel() == chart["layout"]["xaxis"]["title"]["text"]


def test_map_of_samples(parity_embedding, changed):
    changed("embedding.sample_map", lambda drawn: drawn._replace(places=drawn.places + 10.0))
    values = [10, 9, 10, 9, 10, 9, 10, 9]
    display = km.plot.EmbeddingDisplay.from_estimator(parity_embedding, color=values)
    page = km.report.embedding_page(parity_embedding, metadata={"c": values})
    variant = charts(page)[0]["variants"]["c"]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [item["name"].split(" ")[0] for item in variant["legend"]] == ["9", "10"]
    for points, trace in zip(display.points_, variant["traces"], strict=True):
        places = np.column_stack([trace["x"], trace["y"]])
        np.testing.assert_array_equal(points.get_offsets(), places)
        assert places[:, 0].min() > 5.0


def test_distances(parity_embedding, changed):
    changed(
        "distances.distance_map",
        lambda drawn: drawn._replace(
            names=[f"<{name}>" for name in drawn.names], distances=drawn.distances + 1.0
        ),
    )
    display = km.plot.DistancesDisplay.from_estimator(parity_embedding)
    chart = charts(km.report.embedding_page(parity_embedding))[1]
    names = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert names == chart["grid"]["names"]
    assert names[0].startswith("<s")
    shown = packed(chart["traces"][0]["z"])[0].reshape(8, 8)
    np.testing.assert_allclose(display.image_.get_array(), shown, rtol=1e-6)
    assert shown.min() == 1.0


def test_segmentation(picture, changed):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    changed(
        "segmentation.segment_view",
        lambda view: view._replace(outlined=view.outlined[::-1], modes=255 - view.modes),
    )
    display = km.plot.SegmentationDisplay.from_predictions(*picture)
    page = Reader(km.report.segmentation_page(*picture))
    for which, name in ((1, "segments"), (2, "means")):
        source = next(attrs["src"] for attrs in page.all("img") if attrs.get("id") == name)
        pixels = np.asarray(Image.open(BytesIO(base64.b64decode(source.partition(",")[2]))))
        np.testing.assert_array_equal(display.images_[which].get_array(), pixels)
    np.testing.assert_array_equal(pixels, 255 - picture[1].image)


def test_merge_tree(bumps, changed):
    changed(
        "merge_tree.merge_view",
        lambda view: view._replace(
            log_peak=view.log_peak + 10.0, log_saddle=view.log_saddle + 10.0, floor=view.floor + 10
        ),
    )
    display = km.plot.MergeTreeDisplay.from_estimator(bumps[1])
    diagram, tree = charts(km.report.clusters_page(bumps[1]))
    for dots, trace in zip(display.dots_, diagram["traces"], strict=True):
        np.testing.assert_array_equal(dots.get_offsets(), np.column_stack([trace["x"], trace["y"]]))
    drawn = np.sort([line[0] for line in display.lines_.get_segments()], axis=0)
    peaks = [
        (x, y) for trace in tree["traces"] for x, y in zip(trace["x"], trace["y"], strict=True)
    ][::4]
    np.testing.assert_array_equal(drawn, np.sort(peaks, axis=0))
    assert drawn[:, 1].min() > 4.0
    title = diagram["layout"]["xaxis"]["title"]["text"]
    assert display.ax_.get_xlabel() == title == "log density at the peak"


def test_difference(changed):
    changed(
        "difference.difference_map",
        lambda drawn: drawn._replace(axes=("p", "q"), values=3.0 * drawn.values),
    )
    found = planted().found
    display = km.plot.DifferenceDisplay.from_difference(found)
    chart = charts(km.report.difference_page(found))[0]
    titles = [chart["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert [display.ax_.get_xlabel(), display.ax_.get_ylabel()] == titles == ["p", "q"]
    levels = chart["traces"][0]["contours"]
    np.testing.assert_allclose(
        display.contours_.levels, np.arange(levels["start"], levels["end"] * 1.01, levels["size"])
    )
    for line, trace in zip(display.regions_[::-1], chart["traces"][1:3], strict=True):
        np.testing.assert_allclose(line.get_xdata(), packed(trace["x"])[0][:-1], rtol=1e-6)
    for dots, trace in zip(display.typical_, chart["traces"][5:], strict=True):
        np.testing.assert_allclose(dots.get_offsets()[:, 0], packed(trace["x"])[0], rtol=1e-6)


def test_monitor(watched, changed):
    changed(
        "monitor.monitor_view",
        lambda view: view._replace(
            statistics=view.statistics + 3.0,
            alarms=tuple(mark._replace(row=mark.row + 5) for mark in view.alarms),
        ),
    )
    monitor, alarms = watched
    display = km.plot.MonitorDisplay.from_monitor(monitor, alarms)
    chart = charts(km.report.monitor_page(monitor, alarms))[0]
    _, line, threshold, changes, marks = chart["traces"]
    for artist, trace in ((display.line_, line), (display.threshold_, threshold)):
        np.testing.assert_array_equal(artist.get_xdata(), trace["x"])
        drawn = np.array(trace["y"], dtype=float)
        np.testing.assert_allclose(artist.get_ydata(), drawn, atol=1e-4)
    places = np.column_stack([marks["x"], marks["y"]])
    np.testing.assert_array_equal(display.alarms_.get_offsets(), places)
    assert marks["x"] == [alarm.row + 5 for alarm in alarms]
    began = [path[0][0] for path in display.changes_.get_segments()]
    assert began == changes["x"][::4] == [alarm.change for alarm in alarms]
    np.testing.assert_allclose(display.ax_.get_ylim(), chart["layout"]["yaxis"]["range"])
    assert display.ax_.get_xlabel() == chart["layout"]["xaxis"]["title"]["text"]
