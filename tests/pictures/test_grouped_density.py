"""Densities of the groups of a table: which rows, which groups, how much mass within a level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import gaussian_kde

import kernelmean as km
from kernelmean.pictures.grouped_density import grouped_density
from kernelmean.pictures.view import region_masses


@pytest.fixture(scope="module")
def table():
    """Two groups of 90 and 30 rows, the second far away and narrow."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(90, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    narrow = 5.0 + 0.5 * rng.normal(size=(30, 2))
    size, age = np.concatenate([wide, narrow]).T
    return {"size": size, "age": age, "kind": np.repeat(["wide", "narrow"], [90, 30])}


def area(view):
    return np.trapezoid(view.values, view.grids[0])


def as_frame(table, library):
    return pytest.importorskip(library).DataFrame(table)


# --- masses
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [0.1, 0.5, 0.9])
def test_so_many_draws_of_the_density_lie_within_a_level(table, mass):
    X = np.column_stack([table["size"], table["age"]])
    (view,) = grouped_density(X).views
    draws = gaussian_kde(X.T).resample(40_000, seed=1)
    (level,) = view.levels_of([mass])
    heights = RegularGridInterpolator(view.grids[::-1], view.heights, bounds_error=False)
    within = np.nan_to_num(heights(draws[::-1].T)) >= level
    # Three standard errors of 40 000 draws are 0.0075 at most.
    assert within.mean() == pytest.approx(mass, abs=0.01)


def test_the_default_is_the_estimate_that_seaborn_draws(table):
    for view, kind in zip(
        grouped_density(table, "size", "age", "kind").views, ("narrow", "wide"), strict=True
    ):
        rows = table["kind"] == kind
        peer = gaussian_kde(np.stack([table["size"][rows], table["age"][rows]]))
        mesh = np.stack([side.ravel() for side in np.meshgrid(*view.grids)])
        values = peer(mesh).reshape(view.values.shape)
        np.testing.assert_allclose(view.values, values, atol=2e-3 * values.max())


@pytest.mark.parametrize("columns", [{"x": "size"}, {"y": "age"}])
def test_common_norm_shares_one_among_the_groups(table, columns):
    together = grouped_density(table, **columns, hue="kind").views
    apart = grouped_density(table, **columns, hue="kind", common_norm=False).views
    # The grid holds all but 0.1 %.
    assert [area(view) for view in together] == pytest.approx([0.25, 0.75], rel=2e-3)
    assert [area(view) for view in apart] == pytest.approx([1.0, 1.0], rel=2e-3)
    assert all(view.upright == ("y" in columns) for view in together)


def test_common_norm_goes_by_weights(table):
    weights = np.where(table["kind"] == "wide", 1, 9)
    views = grouped_density(table, "size", hue="kind", weights=weights).views
    assert [area(view) for view in views] == pytest.approx([0.75, 0.25], rel=2e-3)


def test_whole_weights_are_repeated_rows(table):
    counts = 1 + np.arange(120) % 3
    repeated = {name: np.repeat(column, counts) for name, column in table.items()}
    first = grouped_density(table, "size", "age", "kind", weights=counts).views
    second = grouped_density(repeated, "size", "age", "kind").views
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one.grids, other.grids, rtol=1e-6)
        np.testing.assert_allclose(one.values, other.values, atol=1e-3 * other.values.max())


def test_a_number_of_levels_is_shares_in_the_middle_of_equal_parts():
    np.testing.assert_allclose(region_masses(4), [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(region_masses((0.9, 0.5, 0.9)), [0.5, 0.9])


def test_no_contour_is_cut_off(table):
    for view in grouped_density(table, "size", "age", "kind").views:
        edge = np.concatenate([view.values[[0, -1]].ravel(), view.values[:, [0, -1]].ravel()])
        (level,) = view.levels_of([0.99])
        assert edge.max() < view.values[view.heights >= level].min()


# --- tables
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_mappings_and_arrays_are_the_same(table, library):
    expected = grouped_density(table, "size", "age", "kind")
    numbers = np.column_stack([table["size"], table["age"], table["kind"] == "wide"])
    framed = grouped_density(as_frame(table, library), "size", "age", "kind")
    bare = grouped_density(numbers, 0, 1, 2)
    loose = grouped_density(None, table["size"], table["age"], table["kind"])
    assert framed.groups == expected.groups == ("kind", ("narrow", "wide"))
    assert framed.views[0].axes == ("size", "age")
    assert bare.groups == ("x3", ("0.0", "1.0"))
    assert bare.views[0].axes == ("x1", "x2")
    assert loose.groups.title == "hue"
    assert loose.views[0].axes == ("x", "y")
    for other in (framed, bare, loose):
        for one, two in zip(expected.views, other.views, strict=True):
            np.testing.assert_array_equal(one.values, two.values)


def test_nothing_given_is_changed(table):
    frozen = {name: column.copy() for name, column in table.items()}
    for column in frozen.values():
        column.setflags(write=False)
    grouped_density(frozen, "size", "age", "kind")
    np.testing.assert_array_equal(frozen["size"], table["size"])


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_rows_with_a_missing_value_are_left_out(table, library):
    holes = {name: list(column) for name, column in table.items()}
    holes["size"][3] = float("nan")
    holes["age"][5] = None if library else float("nan")
    holes["kind"][7] = None
    data = as_frame(holes, library) if library else holes
    complete = np.delete(np.arange(120), [3, 5, 7])
    expected = grouped_density(
        {name: column[complete] for name, column in table.items()}, "size", "age", "kind"
    )
    found = grouped_density(data, "size", "age", "kind")
    assert found.groups == expected.groups
    for one, other in zip(found.views, expected.views, strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_a_hole_in_a_column_that_is_not_used_leaves_the_row_in(table):
    holes = table | {"other": np.full(120, np.nan)}
    (found,) = grouped_density(holes, "size").views
    (expected,) = grouped_density(table, "size").views
    np.testing.assert_array_equal(found.values, expected.values)


def test_masked_values_are_missing(table):
    mask = np.arange(120) % 2 == 1
    (found,) = grouped_density({"size": np.ma.array(table["size"], mask=mask)}, "size").views
    (expected,) = grouped_density({"size": table["size"][::2]}, "size").views
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([10, 9, 2], ("2", "9", "10")),
        (["b", "a", "c"], ("a", "b", "c")),
        ([True, False, True], ("False", "True")),
        (np.array([1, "one", 2], dtype=object), ("1", "2", "one")),
    ],
)
def test_groups_are_in_the_order_of_numbers_or_letters(table, labels, names):
    found = grouped_density(table, "size", hue=np.tile(labels, 40))
    assert found.groups.names == names


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_are_in_their_own_order(table, library):
    module = pytest.importorskip(library)
    order = ["wide", "never", "narrow"]
    kind = module.CategoricalDtype(order) if library == "pandas" else module.Enum(order)
    hue = module.Series(table["kind"].tolist(), dtype=kind)
    assert grouped_density(table, "size", hue=hue).groups.names == ("wide", "narrow")


def test_an_estimator_of_ones_own_is_fitted_to_each_group(table):
    own = km.SparseKDE(k=3, target="kde", random_state=0, engine="naive")
    found = grouped_density(table, "size", "age", "kind", estimator=own)
    assert [len(view.weights) for view in found.views] == [3, 3]
    assert not hasattr(own, "mean_")


# --- what is refused
# --------------------------------------------------------------------------------------------------

TOO_FEW = [0.0, 1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": "weight"}, r"no column 'weight' \(x\); the columns are 'size', 'age', 'kind'"),
        ({"x": "size", "hue": "sort"}, r"no column 'sort' \(hue\)"),
        ({}, "say which one or two columns to draw, .* are 'size', 'age', 'kind'"),
        ({"x": "size", "hue": "size"}, "x and hue are the same column, 'size'"),
        ({"x": "size", "y": "size"}, "x and y are the same column, 'size'"),
        ({"x": "size", "y": [1.0, 2.0]}, "one value for each row, but x has 120, y has 2"),
        ({"x": "size", "weights": -np.ones(120)}, "must be nonnegative"),
        ({"x": np.full(120, np.nan), "y": "age"}, "no row has a value in every one of x, y"),
        ({"x": np.ones((120, 2))}, "x must be one column, got 2 dimensions"),
        ({"x": np.full(120, np.inf)}, "column 'x' holds infinite values"),
    ],
)
def test_columns_that_are_none(table, given, message):
    with pytest.raises(ValueError, match=message):
        grouped_density(table, **given)


def test_a_column_of_words_is_no_axis(table):
    with pytest.raises(TypeError, match="column 'kind' holds strings"):
        grouped_density(table, "size", "kind")


def test_three_columns_are_too_many():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=r"say which one or two columns to draw, .* are 0, 1, 2"):
        grouped_density(X)
    with pytest.raises(ValueError, match="one value for each row, but data has 20, x has 3"):
        grouped_density(X, [0, 1, 2])
    with pytest.raises(ValueError, match="got 3 dimensions"):
        grouped_density(np.zeros((3, 3, 3)))


def test_a_name_without_data():
    with pytest.raises(ValueError, match="x='size' names a column, but no data are given"):
        grouped_density(None, "size")
    with pytest.raises(ValueError, match="say which one or two columns"):
        grouped_density(None)


@pytest.mark.parametrize(
    ("columns", "least", "got"), [({"x": "a"}, 2, 1), ({"x": "a", "y": "b"}, 3, 1)]
)
def test_a_group_that_is_too_small_is_named(columns, least, got):
    data = {"a": TOO_FEW, "b": [0.0, 2.0, 1.0, 5.0, 5.0], "kind": [*"uuuvv"]}
    message = f"group 'v' of 'kind': .* needs {least} different rows at least, got {got}"
    with pytest.raises(ValueError, match=message):
        grouped_density(data, **columns, hue="kind")


def test_rows_that_are_too_few_or_on_a_line():
    message = r"all rows: a density of x1, x2 needs 3 .* give more rows"
    with pytest.raises(ValueError, match=message):
        grouped_density([[0.0, 1.0], [1.0, 0.0]])
    line = {"a": np.arange(6.0), "b": 2.0 * np.arange(6.0), "kind": [*"uuuuuu"]}
    with pytest.raises(ValueError, match="group 'u' of 'kind': scale='cov' needs"):
        grouped_density(line, "a", "b", "kind")


def test_an_estimator_without_a_density(table):
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(TypeError, match="estimator must be one that holds a density"):
        grouped_density(table, "size", estimator=StandardScaler())


@pytest.mark.parametrize("levels", [[0.0, 0.5], [0.5, 1.0], [-0.1], [1.5]])
def test_levels_are_between_zero_and_one(levels):
    with pytest.raises(ValueError, match="levels are the masses of regions, between 0 and 1"):
        region_masses(levels)


def test_a_number_of_levels_is_whole_and_positive():
    with pytest.raises(TypeError, match="levels must be a whole number"):
        region_masses(0.5)
    with pytest.raises(ValueError, match="levels must be at least 1"):
        region_masses(0)
