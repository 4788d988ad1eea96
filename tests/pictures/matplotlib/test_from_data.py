"""The display of the groups of a table."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km

matplotlib = pytest.importorskip("matplotlib")
colors = pytest.importorskip("matplotlib.colors")

from_data = km.plot.DensityDisplay.from_data


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    size, age = np.concatenate([rng.normal(size=(60, 2)), 6.0 + rng.normal(size=(20, 2))]).T
    return {"size": size, "age": age, "kind": np.repeat(["old", "new"], [60, 20])}


@pytest.fixture(scope="module")
def standard_normal():
    """Rows and an estimator whose density is a standard normal one: a kernel, and next to no
    spread.
    """
    X = 1e-4 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    return X, km.SparseKDE(bandwidth=1.0, scale=None, random_state=0, engine="naive")


def names(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_contours_enclose_the_mass_of_their_level(standard_normal, drawn):
    X, estimator = standard_normal
    levels = (0.2, 0.5, 0.9)
    (lines,) = drawn(from_data(X, estimator=estimator, levels=levels)).contours_
    # The disc of radius r holds 1 − exp(−r²/2) of a standard normal density in the plane; the
    # narrowest region is the last.
    for path, level in zip(lines.get_paths(), levels[::-1], strict=True):
        radii = np.linalg.norm(path.vertices, axis=1)
        np.testing.assert_allclose(radii, np.sqrt(-2.0 * np.log(1.0 - level)), rtol=0.01)


@pytest.mark.parametrize("levels", [(0.5,), (0.5, 0.9)])
def test_filled_regions_end_where_lines_are(standard_normal, drawn, levels):
    X, estimator = standard_normal
    (bands,) = drawn(from_data(X, estimator=estimator, levels=levels, fill=True)).contours_
    assert bands.filled
    outermost = np.linalg.norm(bands.get_paths()[0].vertices, axis=1).max()
    assert outermost == pytest.approx(np.sqrt(-2.0 * np.log(1.0 - max(levels))), rel=0.01)
    assert len(bands.get_paths()) == len(levels)


def test_no_contour_reaches_the_frame(table, drawn):
    display = drawn(from_data(table, x="size", y="age", hue="kind", levels=(0.5, 0.95)))
    (left, right), (low, high) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for contours in display.contours_:
        for path in contours.get_paths():
            x, y = path.vertices.T
            assert left < x.min() < x.max() < right
            assert low < y.min() < y.max() < high


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("columns", [{"x": "size"}, {"x": "size", "y": "age"}])
def test_the_legend_names_the_groups_in_their_colours(table, drawn, columns, fill):
    display = drawn(from_data(table, **columns, hue="kind", fill=fill))
    assert display.legend_.get_title().get_text() == "kind"
    assert names(display) == ["new", "old"]
    for i, handle in enumerate(display.legend_.legend_handles):
        color = handle.get_facecolor()[:3] if fill else colors.to_rgb(handle.get_color())
        assert color == pytest.approx(colors.to_rgb(f"C{i}"))
    assert len(display.contours_) == 2
    assert len(display.axes_) == 1


def test_without_groups_there_is_no_legend(table, drawn):
    display = drawn(from_data(table, x="size", y="age"))
    assert display.legend_ is None
    assert not display.contours_[0].filled
    assert display.centers_ == []


def test_axes_have_the_names_of_the_columns(table, drawn):
    frame = pytest.importorskip("pandas").DataFrame(table)
    plane = drawn(from_data(frame, x="age", y="size"))
    assert (plane.ax_.get_xlabel(), plane.ax_.get_ylabel()) == ("age", "size")
    curve = drawn(from_data(frame, x="age"))
    assert (curve.ax_.get_xlabel(), curve.ax_.get_ylabel()) == ("age", "density")
    upright = drawn(from_data(frame, y="age"))
    assert (upright.ax_.get_xlabel(), upright.ax_.get_ylabel()) == ("density", "age")


def test_dollars_in_names_are_dollars(drawn):
    table = {"$a$": np.arange(9.0), "$g$": ["$u$"] * 9}
    display = drawn(from_data(table, x="$a$", hue="$g$"))
    assert display.ax_.get_xlabel() == r"\$a\$"
    assert names(display) == [r"\$u\$"]


@pytest.mark.parametrize("column", ["x", "y"])
def test_a_filled_curve_has_its_area_shaded(table, drawn, column):
    display = drawn(from_data(table, **{column: "size"}, hue="kind", fill=True))
    along, across = (0, 1) if column == "x" else (1, 0)
    for i, (area, curve) in enumerate(zip(display.areas_, display.contours_, strict=True)):
        corners = area.get_paths()[0].vertices
        data = curve.get_data()
        assert corners[:, across].min() == 0.0
        assert corners[:, across].max() == pytest.approx(data[across].max())
        assert corners[:, along].max() == pytest.approx(data[along].max())
        assert area.get_facecolor()[0][:3] == pytest.approx(colors.to_rgb(f"C{i}"))
    limits = (display.ax_.get_xlim(), display.ax_.get_ylim())
    assert limits[across][0] == 0.0
    assert drawn(from_data(table, **{column: "size"}, hue="kind")).areas_ == []


@pytest.mark.parametrize("common_norm", [True, False])
def test_areas_below_curves(table, drawn, common_norm):
    display = drawn(from_data(table, x="size", hue="kind", common_norm=common_norm))
    areas = [np.trapezoid(y, x) for x, y in (curve.get_data() for curve in display.contours_)]
    assert areas == pytest.approx([0.25, 0.75] if common_norm else [1.0, 1.0], rel=2e-3)


def test_denser_regions_of_a_group_are_less_transparent(table, drawn):
    display = drawn(from_data(table, x="size", y="age", hue="kind", levels=3, fill=True))
    for i, bands in enumerate(display.contours_):
        faces = bands.get_facecolor()
        np.testing.assert_allclose(faces[:, :3], [colors.to_rgb(f"C{i}")] * 3)
        assert (np.diff(faces[:, 3]) > 0).all()


def test_centres_have_the_colour_of_their_group(table, drawn):
    display = drawn(from_data(table, x="size", y="age", hue="kind", centers=True))
    for i, rings in enumerate(display.centers_):
        assert len(rings.get_offsets()) == len(display.views[i].weights)
        inks = {colors.to_hex(ink) for ink in rings.get_edgecolors()}
        assert inks == {colors.to_hex(f"C{i}")}


def test_many_groups_have_different_colours_and_names_beside_the_panel(drawn):
    x = np.random.default_rng(0).normal(size=120)
    display = drawn(from_data(x=x, hue=np.arange(120) % 12))
    assert len({curve.get_color() for curve in display.contours_}) == 12
    assert names(display) == [str(i) for i in range(12)]
    panel = display.ax_.get_window_extent()
    assert display.legend_.get_window_extent().x0 >= panel.x1


def test_the_legend_is_where_no_group_is(drawn):
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 40, axis=0)
    X = places + rng.normal(size=(120, 2))
    display = drawn(from_data(X, hue=np.repeat([0, 1, 2], 40)))
    box = display.legend_.get_window_extent()
    panel = display.ax_.get_window_extent()
    assert box.x0 > panel.x0 + panel.width / 2
    assert box.y0 > panel.y0 + panel.height / 2


def test_ones_own_axes_and_options(table, drawn):
    ax = matplotlib.figure.Figure().subplots()
    display = from_data(table, x="size", y="age", ax=ax, colors="black", linewidths=2.0)
    assert display.ax_ is ax
    assert display.contours_[0].get_linewidths()[0] == 2.0
    assert colors.to_hex(display.contours_[0].get_edgecolors()[0]) == "#000000"
    again = drawn(display.plot(fill=True))
    assert again.ax_ is not ax
    assert again.contours_[0].filled


def test_levels_of_a_display_that_is_fitted_already(density, drawn):
    display = drawn(
        km.plot.DensityDisplay.from_estimator(
            density, features=(0, 1), levels=(0.5, 0.8), fill=False
        )
    )
    assert not display.contours_[0].filled
    np.testing.assert_allclose(display.contours_[0].levels, [0.2, 0.5])


def test_masses_of_a_mean_with_negative_values_are_refused(drawn):
    centers = np.array([[0.0, 0.0], [1.0, 0.0]])
    plane = km.KernelMean(centers, np.array([1.0, -0.5]), km.Gaussian(1.0), "l2", None, 2.0)
    with pytest.raises(ValueError, match="below zero in places; give their number"):
        km.plot.DensityDisplay.from_mean(plane, levels=(0.5,))
    display = drawn(km.plot.DensityDisplay.from_mean(plane, levels=5))
    assert len(display.contours_[0].levels) <= 8


@pytest.mark.parametrize("columns", [{"x": "size"}, {"x": "size", "y": "age"}])
@pytest.mark.parametrize("levels", [[0.5, 1.0], [0.0]])
def test_levels_outside_are_refused_before_a_fit(table, columns, levels):
    class Untouched:
        """Nothing may be asked of it."""

    with pytest.raises(ValueError, match="between 0 and 1"):
        from_data(table, **columns, levels=levels, estimator=Untouched())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": "weight"}, "there is no column 'weight'"),
        ({"x": "size", "hue": "size"}, "x and hue are the same column"),
        ({"x": "size", "hue": ["u"] * 79 + ["v"]}, "group 'v' of 'hue'"),
        ({}, "say which one or two columns"),
    ],
)
def test_what_cannot_be_drawn_leaves_no_figure(table, given, message):
    plt = pytest.importorskip("matplotlib.pyplot")
    with pytest.raises(ValueError, match=message):
        from_data(table, **given)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", ["thresh", "bw_adjust", "palette"])
def test_other_arguments_of_seaborn_are_refused_with_advice(name):
    with pytest.raises(TypeError, match=f"{name}= is an argument of seaborn's: "):
        from_data(np.zeros((3, 1)), **{name: 0.5})
