"""What is said of columns on a command line, and what is said where it makes no sense."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernelmean.cli import conditions

XYZ = ("x", "y", "z")
ODD = ("a<b", "a", "b", "x y", "1", "p,q", "p", "", "x=1", 'say "so"', "<")
INF = math.inf


def bounds(text, labels=XYZ):
    found = conditions.bounds("--probability", text, labels)
    return {column: (lower, upper) for column, lower, upper in found}


def assigned(*texts, labels=XYZ):
    return dict(conditions.assignments("--given", texts, labels))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x<2", {0: (-INF, 2)}),
        ("x >= -1e-3", {0: (-1e-3, INF)}),
        ("2>x", {0: (-INF, 2)}),
        ("0<x<2", {0: (0, 2)}),
        ("2 > x >= 0", {0: (0, 2)}),
        (" 0 ≤ x ≤ .5 ", {0: (0, 0.5)}),
        ("0<x<2,y>1", {0: (0, 2), 1: (1, INF)}),
        ("y>1, 0<x , x<2, x<3", {1: (1, INF), 0: (0, 2)}),
        ("-inf<x<Infinity", {0: (-INF, INF)}),
        ("x>=1,x<=1", {0: (1, 1)}),
    ],
)
def test_bounds_are_read_in_either_direction(text, expected):
    assert bounds(text) == expected


def test_values_are_read_from_one_text_or_several():
    assert assigned("x=1.2, y = -3") == {0: 1.2, 1: -3.0}
    assert assigned("x=1.2", "y=-3") == {0: 1.2, 1: -3.0}
    assert assigned("0=1.2,2=+1E3") == {0: 1.2, 2: 1000.0}


def test_names_may_hold_commas_blanks_signs_and_quotes():
    assert bounds("a<b<2", ODD) == {0: (-INF, 2)}
    assert bounds("0<a<b<2", ODD) == {0: (0, 2)}
    assert bounds("a<2,b>1", ODD) == {1: (-INF, 2), 2: (1, INF)}
    assert bounds("x y<2,p,q>0,p>1", ODD) == {3: (-INF, 2), 5: (0, INF), 6: (1, INF)}
    assert bounds("<<2", ODD) == {10: (-INF, 2)}
    assert assigned("x=1=2", 'say "so"=3', '"say "so""=4', labels=ODD) == {8: 2.0, 9: 4.0}
    assert conditions.columns("--columns", 'p,q,"p",a<b', ODD) == [5, 6, 0]


def test_a_name_in_quotes_is_that_name_only():
    labels = ("x ", "x", "")
    assert conditions.columns("--columns", '"x","x ",""', labels) == [1, 0, 2]
    assert conditions.columns("--columns", "x,2", labels) == [0, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1<2", {1: (-INF, 2)}),  # a column is looked for first, ...
        ("0<1<2", {1: (0, 2)}),  # ... and in the middle of two signs
        ("0.5<1", {1: (0.5, INF)}),
        ("0<x1<2,x0>1", {1: (0, 2), 0: (1, INF)}),
    ],
)
def test_columns_without_names_are_compared_by_position(text, expected):
    assert bounds(text, ("0", "1", "2")) == expected
    with pytest.raises(ValueError, match="'a', 'b', 'c'"):
        bounds(text, ("a", "b", "c"))


def test_a_name_counts_before_a_position():
    assert conditions.columns("--columns", "1,0", ("b", "a", "1")) == [2, 0]
    assert assigned("0=5", labels=("1", "0")) == {1: 5.0}


def test_the_longest_name_is_taken_that_makes_sense():
    labels = ("x<2", "x")
    assert bounds("x<2", labels) == {1: (-INF, 2)}
    assert bounds("x<2<3", labels) == {0: (-INF, 3)}
    assert conditions.columns("--columns", "a,b", ("a", "b", "a,b")) == [2]
    assert assigned("a=1=2", labels=("a", "a=1")) == {1: 2.0}
    assert assigned("a=1", labels=("a", "a=1")) == {0: 1.0}


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5, unique=True), FINITE)
@example(["=", "==", ","], 1.0)
def test_any_name_in_quotes_has_its_value(labels, value):
    for t, label in enumerate(labels):
        found = conditions.assignments("--given", [f'"{label}"={value!r}'], labels)
        # Another name may look like this one in quotes; then that is the longer one.
        if not any(f'"{label}"' in other for other in labels):
            assert found == [(t, value)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "something like x<2 or 0<x<2 is missing"),
        ("x<2,", "something like x<2 or 0<x<2 is missing after 'x<2,'"),
        ("x<2,,y>1", "is missing after 'x<2,'"),
        ("w<2", "'w' is neither a column nor a number; the columns are 'x', 'y', 'z'"),
        ("x<two", "'two' is neither a column nor a number"),
        ("x<1.2.3", "'1.2.3' is neither"),
        ("x<nan", "'nan' is neither"),
        ("3<4", "'3<4' should be like x<2 or 0<x<2"),
        ("x", "'x' should be like"),
        ("x=1", "'x=1' should be like"),
        ("x<", "'x<' should be like"),
        ("x<y", "'x<y' should be like"),
        ("x<2<3", "'x<2<3' should be like"),
        ("0<x<2<3", "'0<x<2<3' should be like"),
        ("0<x>1", "'0<x>1' points both ways; join two bounds by a comma"),
        ("2<x<1", "the bounds of 'x' cross, 2 > 1"),
        ("x>2,y>0,x<1", "the bounds of 'x' cross, 2 > 1"),
    ],
)
def test_conditions_without_sense_are_refused(text, said):
    with pytest.raises(ValueError, match=r"^--probability") as refused:
        bounds(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "something like x=1.2 is missing"),
        ("x", "'x' should be like x=1.2"),
        ("x<1", "'x<1' should be like x=1.2"),
        ("1.5=x", "'1.5=x' should be like x=1.2"),
        ("x=1,5", "'5' should be like x=1.2"),
        ("w=1", "'w' is neither a column nor a number"),
        ("x=y", "'x=y' should be like x=1.2"),
        ("x=inf", "'x' needs a finite number, got inf"),
        ("x=1e999", "'x' needs a finite number, got inf"),
    ],
)
def test_values_without_sense_are_refused(text, said):
    with pytest.raises(ValueError, match=r"^--given") as refused:
        assigned(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "something like x is missing"),
        ("x,", "something like x is missing after 'x,'"),
        ("x,w", "'w' is no column; the columns are 'x', 'y', 'z'"),
        ("7", "'7' is no column"),
        ("x=1", "'x=1' should be like x"),
        ("x=5", "'5' is no column"),
        ("x,0", "names 'x' twice"),
    ],
)
def test_lists_without_sense_are_refused(text, said):
    with pytest.raises(ValueError, match=r"^--columns") as refused:
        conditions.columns("--columns", text, XYZ)
    assert said in str(refused.value)


def test_probabilities_lie_between_0_and_1():
    assert conditions.probabilities("--quantiles", "0, .5,1e-3,1") == [0.0, 0.5, 1e-3, 1.0]
    for text in ("", "0.5,", "2", "-0.1", "nan", "inf", "half", "0.5;0.6"):
        with pytest.raises(ValueError, match=f"--quantiles must be probabilities .* got '{text}'"):
            conditions.probabilities("--quantiles", text)


def test_a_message_shows_some_of_many_columns():
    labels = [f"c{i}" for i in range(200)]
    with pytest.raises(ValueError, match=r"'c0', .*'c19', … \(200 in all\)\.$"):
        conditions.columns("--columns", "w", labels)
