"""The display of a density."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km

plt = pytest.importorskip("matplotlib.pyplot")


def test_density_of_an_estimator(density, normal_cloud, drawn):
    display = drawn(
        km.plot.DensityDisplay.from_estimator(density, normal_cloud, columns=["a", "b", "c"])
    )
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


def test_density_on_axes_of_ones_own(density, normal_cloud, drawn):
    figure, (left, right) = plt.subplots(1, 2)
    first = km.plot.DensityDisplay.from_mean(
        density.mean_, normal_cloud, features=(0, 2), ax=left, cmap="Greens", centers=False
    )
    assert first.ax_ is left
    assert first.figure_ is figure
    assert first.centers_ == []
    second = drawn(km.plot.DensityDisplay.from_mean(density.mean_, features=1, ax=right))
    assert right.get_ylabel() == "density"
    assert second.contours_[0].get_ydata().min() >= 0
    again = drawn(km.plot.DensityDisplay(views=first.views).plot())
    assert again.figure_ is not figure


def test_signed_means_are_drawn_with_both_colours(normal_cloud, drawn):
    mean = km.sparse_kernel_mean(normal_cloud[:, :2], k=40, random_state=0, engine="naive")
    display = drawn(km.plot.DensityDisplay.from_mean(mean, normal_cloud[:, :2]))
    colours = {tuple(np.round(c, 3)) for c in display.centers_[0].get_edgecolors()}
    assert len(colours) == 1 + bool((mean.weights < 0).any())


@pytest.mark.parametrize("features", [(0, 0), (0, 3), -1, (0, 1, 2), "ab", []])
def test_features_that_are_none(density, features):
    with pytest.raises(ValueError, match="features must be"):
        km.plot.DensityDisplay.from_estimator(density, features=features)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_atoms_are_drawn_with_their_width(normal_cloud, drawn, spread):
    mean = km.sparse_kernel_mean(
        normal_cloud[:, :2], k=9, spread=spread, space="l2", random_state=0, engine="naive"
    )
    display = drawn(km.plot.DensityDisplay.from_mean(mean, normal_cloud[:, :2]))
    segments = display.spreads_[0].get_segments()
    np.testing.assert_allclose(segments, display.views[0].outlines())
    assert display.ax_.get_xlim() == pytest.approx(display.views[0].grids[0][[0, -1]])
    assert drawn(display.plot(centers=False)).spreads_ == []
    (bars,) = drawn(km.plot.DensityDisplay.from_mean(mean, features=0)).spreads_
    assert {len(bar) for bar in bars.get_segments()} == {2}


def test_points_have_no_width(normal_cloud, drawn):
    mean = km.sparse_kernel_mean(normal_cloud, k=9, spread=None, random_state=0, engine="naive")
    assert drawn(km.plot.DensityDisplay.from_mean(mean)).spreads_ == []
