"""A domain: what users write, how rows are embedded, and the way back."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelmean as km
from kernelmean.domains import Bounds, Domain, DomainAsked, outside_error, tables
from kernelmean.domains.domain import emptiest

NAMES = ("age", "share", "hour", "lon", "lat", "species", "x")
ASKED = {
    "age": (0, None),
    "share": (0, 1),
    "hour": km.Periodic(24),
    ("lon", "lat"): km.Sphere(),
    "species": km.Categorical(),
}


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.exponential(size=n),
            "share": rng.random(n),
            "hour": rng.normal(0.0, 3.0, n) % 24,
            "lon": rng.uniform(-180.0, 180.0, n),
            "lat": np.degrees(np.arcsin(rng.uniform(-1.0, 1.0, n))),
            "species": rng.choice(["setosa", "virginica", "versicolor"], n),
            "x": rng.normal(size=n),
        }
    )


def learned(data, asked=ASKED, names=NAMES):
    known = DomainAsked.of(asked, len(names), names)
    coded = tables.code(data, known.categories, (None,) * len(known.categories))
    return known.learned(coded.rows, None, coded.levels), coded.rows


def test_rows_come_back_from_their_embedding():
    domain, rows = learned(frame())
    embedded = domain.embed(rows)
    assert embedded.inside.all()
    assert embedded.coordinates.shape == (200, 7)
    assert domain.levels == (("setosa", "versicolor", "virginica"),)
    np.testing.assert_allclose(
        domain.rows(embedded.coordinates, embedded.codes), rows, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.norm(embedded.coordinates[:, 4:], axis=1), 1.0)


def test_values_turned_by_a_period_are_the_same():
    domain, rows = learned(frame())
    turned = rows.copy()
    turned[:, 2] += 24.0 * np.random.default_rng(0).integers(-3, 4, len(rows))
    turned[:, 3] += 360.0
    expected = domain.embed(rows).coordinates
    np.testing.assert_allclose(domain.embed(turned).coordinates, expected, atol=1e-11)


@pytest.mark.parametrize(
    ("column", "value"), [(0, -0.1), (1, 1.1), (1, -1e-9), (4, 90.1), (5, -1.0)]
)
def test_rows_beyond_a_bound_are_outside(column, value):
    domain, rows = learned(frame())
    rows[3, column] = value
    assert np.flatnonzero(~domain.embed(rows).inside).tolist() == [3]
    error = outside_error(domain, rows, NAMES)
    assert repr(NAMES[column]) in str(error)
    assert "1 of 200" in str(error)
    assert "row 3" in str(error)


def test_bounds_belong_to_the_domain():
    domain, rows = learned(frame())
    rows[0, 0] = 0.0
    rows[1, 1] = 1.0
    rows[2, 4] = -90.0
    assert domain.embed(rows).inside.all()
    assert outside_error(domain, rows, NAMES) is None


def test_a_part_of_a_domain_keeps_what_its_columns_can_hold():
    domain, rows = learned(frame())
    part = domain.of(np.array([5, 3, 4, 2]))
    assert part.spheres == ((1, 2),)
    assert part.levels == domain.levels
    assert part.cuts == domain.cuts
    embedded = part.embed(rows[:, [5, 3, 4, 2]])
    np.testing.assert_array_equal(
        embedded.coordinates[:, 1:], domain.embed(rows).coordinates[:, 4:]
    )
    with pytest.raises(ValueError, match="belong together"):
        domain.of(np.array([3]))
    assert domain.of(np.array([6])).is_plain


def test_only_categories_have_one_coordinate_that_is_zero():
    domain, rows = learned(frame()[["species"]], {"species": km.Categorical()}, ("species",))
    assert domain.coordinates == 1
    assert not domain.embed(rows).coordinates.any()


@pytest.mark.parametrize("start", [0.0, -12.0, 100.0])
def test_a_period_is_cut_where_it_is_empty(start):
    hours = np.concatenate([np.linspace(21.0, 27.0, 50), np.linspace(8.0, 12.0, 50)])
    cut = emptiest(hours, None, km.Periodic(24.0, start))
    assert start <= cut < start + 24.0
    away = np.abs((hours[:, None] - cut + 12.0) % 24.0 - 12.0)
    assert away.min() > 2.0


def test_weights_decide_where_a_period_is_empty():
    hours = np.array([0.0, 6.0, 12.0, 18.0])
    cut = emptiest(hours, np.array([1.0, 1.0, 0.0, 1.0]), km.Periodic(24.0))
    assert abs(cut - 12.0) < 3.0


class TestAsked:
    @pytest.mark.parametrize(
        ("asked", "kinds"),
        [
            ({0: (0, None)}, (Bounds(0.0), None)),
            ({-1: (None, 3)}, (None, Bounds(upper=3.0))),
            ({"b": [0, 1]}, (None, Bounds(0.0, 1.0))),
            ({"a": (None, None)}, (None, None)),
            (
                {"a": km.Categorical, np.int64(1): km.Periodic(7)},
                (km.Categorical(), km.Periodic(7)),
            ),
            ({("a", "b"): km.Sphere("radians")}, (km.Sphere("radians"), km.Sphere("radians"))),
            ({("b",): (0, 1)}, (None, Bounds(0.0, 1.0))),
        ],
    )
    def test_what_users_write(self, asked, kinds):
        assert DomainAsked.of(asked, 2, ("a", "b")).kinds == kinds

    @pytest.mark.parametrize(
        ("asked", "error", "message"),
        [
            ([(0, 1)], TypeError, "domain= maps columns"),
            ({"a": 3}, TypeError, "got 3 for column 'a'"),
            ({"c": (0, 1)}, ValueError, r"unknown column 'c' in domain=; there are \['a', 'b'\]"),
            ({2: (0, 1)}, ValueError, "there is no column 2"),
            ({True: (0, 1)}, TypeError, "a name or a position"),
            ({"a": (1, 0)}, ValueError, "must lie below"),
            ({"a": (0, 0)}, ValueError, "must lie below"),
            ({"a": ("x", 1)}, TypeError, "a bound of column 'a'"),
            ({"a": (np.nan, 1)}, ValueError, "a bound of column 'a'"),
            ({"a": (1, 0)}, ValueError, "column 'a': a lower bound must lie below"),
            ({"a": km.Sphere()}, ValueError, "needs two columns"),
            ({("a", "b"): km.Periodic(1)}, ValueError, "one by one"),
            ({"a": (0, 1), 0: km.Periodic(1)}, ValueError, "names column 'a' twice"),
        ],
    )
    def test_what_is_refused(self, asked, error, message):
        with pytest.raises(error, match=message):
            DomainAsked.of(asked, 2, ("a", "b"))

    def test_names_need_names(self):
        with pytest.raises(ValueError, match="the columns have no names"):
            DomainAsked.of({"a": (0, 1)}, 2, None)

    def test_a_learned_domain_can_be_given_again(self):
        domain, _ = learned(frame())
        again = DomainAsked.of(domain, 7, NAMES)
        assert again.kinds == domain.kinds
        with pytest.raises(ValueError, match="has 7 columns"):
            DomainAsked.of(domain, 2, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: km.Periodic(0), "period"),
        (lambda: km.Periodic(np.inf), "period"),
        (lambda: km.Sphere("turns"), "unit"),
        (lambda: km.Categorical(()), "at least one"),
        (lambda: km.Categorical("abc"), "at least one"),
        (lambda: km.Categorical(["a", "a"]), "named twice"),
        (lambda: km.Categorical(smoothing=1.0), "below 1"),
        (lambda: km.Categorical(smoothing=-0.1), "smoothing"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class TestTables:
    @pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, lambda f: f.to_numpy(object)])
    def test_frames_of_any_kind_are_coded_alike(self, make):
        data = frame(20)
        expected = tables.code(data, (5,), (None,))
        found = tables.code(make(data), (5,), (None,))
        np.testing.assert_array_equal(found.rows, expected.rows)
        assert found.levels == expected.levels

    def test_numbers_and_truths_are_categories_too(self):
        data = np.array([[3.0, 1.0], [1.0, 0.0], [3.0, 0.0]])
        coded = tables.code(data, (0, 1), (None, (0, 1, 2)))
        assert coded.levels == ((1, 3), (0, 1, 2))
        np.testing.assert_array_equal(coded.rows, [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
        truths = tables.code(pd.DataFrame({"b": [True, False]}), (0,), (None,))
        assert truths.levels == ((False, True),)
        for nothing in (False, 0, 0.0, "", np.False_):
            assert not tables.is_missing(nothing)
        for missing in (None, np.nan, pd.NA, pd.NaT, float("nan")):
            assert tables.is_missing(missing)

    def test_what_is_missing_or_unknown_has_a_code_of_its_own(self):
        data = pd.DataFrame({"s": ["a", None, "z", np.nan]})
        coded = tables.code(data, (0,), (("a", "b"),))
        np.testing.assert_array_equal(coded.rows[:, 0], [0.0, np.nan, -1.0, np.nan])

    def test_coded_rows_are_written_as_they_were(self):
        data = frame(20)
        coded = tables.code(data, (5,), (None,))
        back = tables.written(coded.rows, (5,), coded.levels)
        assert back.dtype == object
        assert (back == data.to_numpy(object)).all()
        numbers = tables.written(np.array([[0.5, 1.0]]), (1,), ((2, 7),))
        assert numbers.dtype == np.float64
        np.testing.assert_array_equal(numbers, [[0.5, 7.0]])

    def test_numbers_must_be_numbers(self):
        data = frame(5)
        with pytest.raises(TypeError, match="'species' holds"):
            tables.code(data, (), ())
        data.loc[2, "x"] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            tables.code(data, (5,), (None,))
        rows = tables.code(data, (5,), (None,), incomplete=True).rows
        assert np.isnan(rows[2, 6])

    def test_a_column_of_nothing_has_no_categories(self):
        with pytest.raises(ValueError, match="no category"):
            tables.code(pd.DataFrame({"s": [None, None]}), (0,), (None,))


def test_rows_with_the_same_categories_come_together():
    domain = Domain((km.Categorical(), None), (), (("a", "b"),))
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [-1.0, 3.0]])
    found = {tuple(codes): some.tolist() for codes, some in domain.embed(rows).by_codes()}
    assert found == {(0,): [1], (1,): [0, 2]}
