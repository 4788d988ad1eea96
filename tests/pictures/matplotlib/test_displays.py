"""Displays in scikit-learn's manner, drawn without a screen."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kernelmean as km

matplotlib = pytest.importorskip(
    "matplotlib", reason="Matplotlib is not installed: pip install 'kernelmean[report]'"
)
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture(scope="module")
def density(cloud):
    return km.SparseKDE(k=15, random_state=0, engine="naive").fit(cloud)


@pytest.fixture(scope="module")
def embedding():
    rng = np.random.default_rng(1)
    names = ["$plain$", "<script>", "two", "three", "four", "five", "six", "seven"]
    samples = {name: rng.normal(size=(40, 2)) + i for i, name in enumerate(names)}
    return km.DistributionEmbedding(embedding="mds", random_state=0, engine="naive").fit(samples)


def drawn(display):
    display.figure_.canvas.draw()
    return display


def test_density_of_an_estimator(density, cloud):
    display = drawn(km.plot.DensityDisplay.from_estimator(density, cloud, columns=["a", "b", "c"]))
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in display.axes_] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    rings = display.centers_[0]
    np.testing.assert_allclose(rings.get_offsets(), density.mean_.centers[:, :2])
    sizes = rings.get_sizes()
    heavy, light = density.mean_.weights.argmax(), density.mean_.weights.argmin()
    assert sizes[heavy] > sizes[light]


def test_density_on_axes_of_ones_own(density, cloud):
    figure, (left, right) = plt.subplots(1, 2)
    first = km.plot.DensityDisplay.from_mean(
        density.mean_, cloud, features=(0, 2), ax=left, cmap="Greens", centers=False
    )
    assert first.ax_ is left
    assert first.figure_ is figure
    assert first.centers_ == []
    second = drawn(km.plot.DensityDisplay.from_mean(density.mean_, features=1, ax=right))
    assert right.get_ylabel() == "density"
    assert second.contours_[0].get_ydata().min() >= 0
    again = drawn(km.plot.DensityDisplay(views=first.views).plot())
    assert again.figure_ is not figure


def test_signed_means_are_drawn_with_both_colours(cloud):
    mean = km.sparse_kernel_mean(cloud[:, :2], k=40, random_state=0, engine="naive")
    display = drawn(km.plot.DensityDisplay.from_mean(mean, cloud[:, :2]))
    colours = {tuple(np.round(c, 3)) for c in display.centers_[0].get_edgecolors()}
    assert len(colours) == 1 + bool((mean.weights < 0).any())


@pytest.mark.parametrize("features", [(0, 0), (0, 3), -1, (0, 1, 2), "ab", []])
def test_features_that_are_none(density, features):
    with pytest.raises(ValueError, match="features must be"):
        km.plot.DensityDisplay.from_estimator(density, features=features)


def test_the_wrong_number_of_axes_is_refused(density):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax holds 1 axes, but this display draws 3 panels"):
        km.plot.DensityDisplay.from_estimator(density, ax=ax)


def test_what_has_no_density_is_refused(embedding):
    with pytest.raises(NotFittedError):
        km.plot.DensityDisplay.from_estimator(km.SparseKDE())
    with pytest.raises(TypeError, match="DistributionEmbedding holds no kernel mean"):
        km.plot.DensityDisplay.from_estimator(embedding)


def test_the_indicator_marks_the_chosen_number(density):
    display = drawn(km.plot.IndicatorDisplay.from_estimator(density, color="black"))
    assert display.chosen_.get_xdata()[0] == density.mean_.k
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, density.mean_.k + 1))
    assert "fixed" in display.ax_.get_legend().get_texts()[0].get_text()


def test_a_full_density_has_no_indicator(cloud):
    full = km.SparseKDE(sparse=False, engine="naive").fit(cloud)
    with pytest.raises(TypeError, match="sparse=True"):
        km.plot.IndicatorDisplay.from_estimator(full)
    drawn(km.plot.DensityDisplay.from_estimator(full, features=(0, 1)))


def test_samples_by_name_group_and_number(embedding):
    plain = drawn(km.plot.EmbeddingDisplay.from_estimator(embedding))
    assert [text.get_text() for text in plain.texts_][:2] == [r"\$plain\$", "<script>"]
    groups = drawn(
        km.plot.EmbeddingDisplay.from_estimator(embedding, color=list("aabbccab"), label=False)
    )
    assert [text.get_text() for text in groups.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    assert groups.texts_ == []
    numbers = drawn(km.plot.EmbeddingDisplay.from_estimator(embedding, color=np.arange(8.0)))
    np.testing.assert_array_equal(numbers.points_[0].get_array(), np.arange(8.0))
    with pytest.raises(ValueError, match="one value per sample"):
        km.plot.EmbeddingDisplay.from_estimator(embedding, color=[1, 2])


def test_distances_stand_in_the_order_of_the_clustering(embedding):
    display = drawn(km.plot.DistancesDisplay.from_estimator(embedding))
    order = display.order
    np.testing.assert_array_equal(
        display.image_.get_array(), embedding.distances_[np.ix_(order, order)]
    )
    matrix = drawn(km.plot.DistancesDisplay.from_distances(embedding.distances_, names=range(8)))
    assert [label.get_text() for label in matrix.ax_.get_xticklabels()] == [str(i) for i in order]
    with pytest.raises(ValueError, match="symmetric"):
        km.plot.DistancesDisplay.from_distances(np.ones((2, 3)))
    with pytest.raises(ValueError, match="names has 1 entries"):
        km.plot.DistancesDisplay.from_distances(np.zeros((2, 2)), names=["a"])


def test_distances_only_have_no_map():
    samples = [np.random.default_rng(i).normal(size=(30, 1)) for i in range(3)]
    bare = km.DistributionEmbedding(embedding=None, random_state=0, engine="naive").fit(samples)
    with pytest.raises(ValueError, match="DistancesDisplay"):
        km.plot.EmbeddingDisplay.from_estimator(bare)
    drawn(km.plot.DistancesDisplay.from_estimator(bare))


def test_an_image_and_its_segments():
    rgb = np.zeros((8, 10, 3), dtype=np.uint8)
    rgb[:, 5:] = 255
    found = km.segment_image(rgb, spatial=0.0, bandwidth=0.1, engine="naive")
    display = drawn(km.plot.SegmentationDisplay.from_predictions(rgb, found))
    assert [ax.get_title() for ax in display.axes_] == ["original", "2 segments", "mode colours"]
    np.testing.assert_array_equal(display.images_[2].get_array(), found.image)


def test_without_matplotlib_one_sentence(density, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'kernelmean\[report\]'"):
        km.plot.IndicatorDisplay.from_estimator(density)
