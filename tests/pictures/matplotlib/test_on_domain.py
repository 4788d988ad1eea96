"""Displays of densities on a domain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import kernelmean as km

matplotlib = pytest.importorskip("matplotlib")

display_of = km.plot.DensityDisplay.from_mean
from_data = km.plot.DensityDisplay.from_data


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.parametrize("fill", [None, True, False])
def test_a_curve_stands_on_its_axis_and_ends_with_its_domain(fitted_on, drawn, fill):
    mean, X = fitted_on("share", "hour")
    display = drawn(display_of(mean, X, features=0, fill=fill))
    assert display.ax_.get_xlim() == (0.0, 1.0)
    assert display.ax_.get_ylim()[0] == 0.0
    assert len(display.areas_) == bool(fill)
    hours = drawn(display_of(mean, X, features=1)).ax_
    assert hours.get_xlim() == (0.0, 24.0)
    assert labels(hours.xaxis) == ["0", "6", "12", "18", "24"]


@pytest.mark.parametrize("fill", [None, False])
def test_no_contour_leaves_the_domain_and_they_meet_where_a_period_is_over(fitted_on, drawn, fill):
    mean, X = fitted_on("size", "hour", spread="scalar")
    display = drawn(display_of(mean, X, fill=fill))
    (contours,) = display.contours_
    ends = {0.0: [], 24.0: []}
    for path in contours.get_paths():
        x, y = path.vertices.T
        assert x.min() >= 0.0
        for end, found in ends.items():
            found.append(np.sort(x[np.isclose(y, end, atol=1e-9)]))
    assert display.ax_.get_ylim() == (0.0, 24.0)
    assert display.ax_.get_xlim()[0] == 0.0
    if fill is False:
        assert sum(map(len, ends[0.0])) > 5
        for below, above in zip(*ends.values(), strict=True):
            np.testing.assert_allclose(below, above, atol=1e-5)


def test_categories_have_names_and_colours(fitted_on, drawn):
    mean, X = fitted_on("size", "species", "island")
    bars = drawn(display_of(mean, X, features=1))
    assert [bar.get_height() for bar in bars.contours_[0]] == pytest.approx(bars.views[0].values)
    assert labels(bars.ax_.xaxis) == ["Adélie", "Chinstrap of th…", "Gentoo"]
    assert bars.centers_ == []
    curves = drawn(display_of(mean, X, features=(0, 1), fill=True))
    assert len(curves.contours_[0]) == 3
    legend = curves.ax_.get_legend()
    assert legend.get_title().get_text() == "species"
    assert legend.get_texts()[0].get_text() == "Adélie"
    box = legend.get_window_extent()
    top = max(line.get_window_extent().y1 for line in curves.contours_[0])
    assert box.y0 > top - 3.0  # names are above the curves
    cells = drawn(display_of(mean, X, features=(1, 2)))
    assert cells.ax_.texts[0].get_text().endswith(" %")
    assert labels(cells.ax_.yaxis) == ["Biscoe", "Dream", "Torgersen"]


def test_names_below_an_axis_do_not_touch(fitted_on, drawn):
    mean, X = fitted_on("size", "hour", "species", "island")
    figure = drawn(display_of(mean, X))
    for ax in figure.axes_:
        texts = [t for t in ax.get_xticklabels() if t.get_text() and t.get_rotation() == 0]
        boxes = [text.get_window_extent() for text in texts]
        assert all(b.x0 > a.x1 for a, b in pairwise(boxes))


def test_all_panels_of_a_wide_table(fitted_on, drawn):
    mean, X = fitted_on("size", "hour", "species", "island", "lon", "lat")
    display = drawn(display_of(mean, X))
    assert len(display.axes_) == 7
    assert display.axes_[0].get_xlabel() == "lon"
    drawn(display.plot(centers=False))


def test_a_map_is_within_the_globe(drawn):
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-180, 180, 300), rng.uniform(-90, 90, 300)])
    density = km.SparseKDE(domain={(0, 1): km.Sphere()}, k=20, bandwidth=0.5, random_state=0)
    display = drawn(km.plot.DensityDisplay.from_estimator(density.fit(places), places, levels=3))
    assert display.ax_.get_xlim() == (-180.0, 180.0)
    assert display.ax_.get_ylim() == (-90.0, 90.0)
    assert labels(display.ax_.xaxis) == ["−180°", "−90°", "0°", "90°", "180°"]


def test_an_indicator_on_a_domain(fitted_on, drawn):
    mean, _ = fitted_on("size", "hour")
    assert drawn(km.plot.IndicatorDisplay.from_mean(mean)).curve.chosen == 12


def test_a_table_with_a_domain(penguins, drawn):
    domain = {"size": (0, None), "hour": km.Periodic(24), "species": km.Categorical()}
    line = drawn(from_data(penguins, x="hour", hue="species", domain=domain))
    assert line.ax_.get_xlim() == (0.0, 24.0)
    areas = [np.trapezoid(view.values, view.grids[0]) for view in line.views]
    assert sum(areas) == pytest.approx(1.0)
    plane = drawn(from_data(penguins, x="size", y="hour", domain=domain, fill=True))
    assert plane.ax_.get_xlim()[0] == 0.0
    upright = drawn(from_data(penguins, y="size", domain=domain))
    assert upright.ax_.get_ylim()[0] == 0.0
    assert upright.ax_.get_xlim()[0] == 0.0


def test_categories_of_a_table(penguins, drawn):
    domain = {"species": km.Categorical, "island": km.Categorical(("Dream", "Biscoe", "Torgersen"))}
    bars = drawn(from_data(penguins, x="island", hue="species", domain=domain))
    assert labels(bars.ax_.xaxis) == ["Dream", "Biscoe", "Torgersen"]
    assert sum(view.values.sum() for view in bars.views) == pytest.approx(1.0)
    places = [bars.contours_[i][0].get_x() for i in range(3)]
    assert places == sorted(set(places))
    upright = drawn(from_data(penguins, y="island", domain=domain))
    counts = [(penguins["island"] == name).sum() + 1 for name in ("Dream", "Biscoe", "Torgersen")]
    np.testing.assert_allclose(upright.views[0].values, np.array(counts) / 403)
    assert labels(upright.ax_.yaxis) == ["Dream", "Biscoe", "Torgersen"]
    across = drawn(from_data(penguins, x="species", y="size", domain=domain))
    assert across.ax_.get_ylabel() == "size"
    assert len(across.contours_[0]) == 3
    cells = drawn(from_data(penguins, x="species", y="island", domain=domain)).views[0].values
    both = (penguins["species"] == "Adélie") & (penguins["island"] == "Biscoe")
    assert cells[1, 0] == pytest.approx(both.mean(), abs=0.01)  # they depend on one another
    with pytest.raises(ValueError, match="hue cannot tell groups apart beside a column of categ"):
        from_data(penguins, x="species", y="size", hue="island", domain=domain)


def test_the_domain_of_a_table_is_checked(penguins):
    with pytest.raises(ValueError, match="unknown column 'seize' in domain="):
        from_data(penguins, x="size", domain={"seize": (0, None)})
    with pytest.raises(TypeError, match="domain= maps columns to a pair"):
        from_data(penguins, x="size", domain=[(0, None)])
    with pytest.raises(ValueError, match="longitude and latitude belong together: draw both"):
        from_data(penguins, x="lon", domain={("lon", "lat"): km.Sphere()})
    with pytest.raises(ValueError, match="group 'Adélie' of 'species': column 'hour' has"):
        from_data(penguins, x="hour", hue="species", domain={"hour": (0, 20)})


def test_numbers_of_columns_say_the_domain_too(drawn):
    X = np.random.default_rng(0).exponential(size=(200, 2))
    display = drawn(from_data(X, domain={0: (0, None), 1: (0, None)}))
    assert [view_end[0] for view_end in (s.ends for s in display.views[0].sides)] == [0.0, 0.0]
