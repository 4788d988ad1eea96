"""Domains as text: what it means, what is said where it means nothing, and a domain in words."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmean.domains import Bounds, Categorical, Domain, Periodic, Sphere, wording
from kernelmean.domains.expressions import parse
from kernelmean.domains.words import facts, sentence

LABELS = ("age", "share", "hour", "lon", "lat", "species")
INF = math.inf


def parsed(text, labels=LABELS):
    return parse("--domain", text, labels)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age>=0", {0: Bounds(0, INF)}),
        ("age > 0", {0: Bounds(0, INF)}),
        ("0≤age", {0: Bounds(0, INF)}),
        ("age<=99", {0: Bounds(-INF, 99)}),
        ("0<=share<=1", {1: Bounds(0, 1)}),
        ("1>share>0", {1: Bounds(0, 1)}),
        ("share>=0,age>=0,share<=1", {1: Bounds(0, 1), 0: Bounds(0, INF)}),
        ("1<=1", {1: Bounds(-INF, 1)}),
        ("hour%24", {2: Periodic(24)}),
        ("hour % 24 @ -12", {2: Periodic(24, -12)}),
        ("2%1e3", {2: Periodic(1000)}),
        ("species:category", {5: Categorical()}),
        ("species : category(a|b c| d )", {5: Categorical(("a", "b c", "d"))}),
        ("5:category(1|2|0.5)", {5: Categorical((1, 2, 0.5))}),
        ('species:category("1"|"a|b"|",)")', {5: Categorical(("1", "a|b", ",)"))}),
        ("species:category(01|02)", {5: Categorical(("01", "02"))}),
        ("lon/lat:sphere", {(3, 4): Sphere()}),
        ("4 / 3 : sphere(radians)", {(4, 3): Sphere("radians")}),
        (
            "age>=0,0<=share<=1,hour%24,species:category,lon/lat:sphere",
            {
                0: Bounds(0, INF),
                1: Bounds(0, 1),
                2: Periodic(24),
                5: Categorical(),
                (3, 4): Sphere(),
            },
        ),
    ],
)
def test_a_domain_is_read(text, expected):
    assert parsed(text) == expected


def test_names_may_hold_the_marks_of_domains():
    labels = ("a%b", "a", "x/y", "x", "y", "k:category", "p,q", "hour%24")
    assert parsed("a%b%7,a%3", labels) == {0: Periodic(7), 1: Periodic(3)}
    assert parsed("x/y:category,k:category:category", labels) == {
        2: Categorical(),
        5: Categorical(),
    }
    assert parsed("x/y:sphere", labels) == {(3, 4): Sphere()}
    assert parsed('"x"/"y":sphere', labels) == {(3, 4): Sphere()}
    assert parsed("p,q>=0,hour%24%12", labels) == {6: Bounds(0, INF), 7: Periodic(12)}


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4, unique=True))
def test_any_name_in_quotes_has_its_bounds(labels):
    for t, label in enumerate(labels):
        if not any(f'"{label}"' in other for other in labels):
            assert parsed(f'"{label}">=0', labels) == {t: Bounds(0, INF)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "something like age>=0, 0<=share<=1, hour%24, species:category or lon/lat:sphere is"),
        ("age>=0,", "is missing after 'age>=0,'"),
        ("size>=0", "'size' is neither a column nor a number, category or sphere; the columns are"),
        ("age>=old", "'old' is neither a column"),
        ("age", "'age' should be like"),
        ("age=0", "'age=0' should be like"),
        ("species:words", "'words' is neither a column"),
        ("species:category()", "should be like"),
        ("species:sphere", "should be like"),
        ("lon/lat", "should be like"),
        ("lon/lon:sphere", "names 'lon' twice"),
        ("lon/lat:sphere(turns)", "'turns' is neither"),
        ("lon/lat:category", "should be like"),
        ("0<hour%24", "should be like"),
        ("hour%24,hour>=0", "names 'hour' twice"),
        ("hour>=0,hour%24", "names 'hour' twice"),
        ("species:category,5:category", "names 'species' twice"),
        ("lon/lat:sphere,lat>=0", "names 'lat' twice"),
        ("lat>=0,lon/lat:sphere", "names 'lat' twice"),
        ("species:category,species<3", "names 'species' twice"),
        ("share>=1,share<=0", "column 'share': a lower bound must lie below the upper one"),
        ("share>=1,share<=1", "column 'share': a lower bound must lie below the upper one"),
        ("age<inf", "column 'age': bounds need a lower or an upper number"),
        ("hour%0", "column 'hour': period must"),
        ("hour%-24", "column 'hour': period must"),
        ("hour%inf", "column 'hour': period must"),
        ("0<age>1", "points both ways"),
        ("species:category(a|a)", "column 'species': a category is named twice"),
    ],
)
def test_domains_without_sense_are_refused(text, said):
    with pytest.raises(ValueError, match=r"^--domain") as refused:
        parsed(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


DOMAIN = Domain(
    (
        Bounds(0),
        Bounds(0, 1),
        Periodic(24),
        Sphere(),
        Sphere(),
        Categorical(),
        None,
        Bounds(upper=2),
    ),
    spheres=((3, 4),),
    levels=(("a", "b", "c"),),
    cuts=(3.5,),
)
NAMES = (*LABELS, "any", "low")


def test_a_domain_in_words():
    assert sentence(DOMAIN, NAMES) == (
        "age ≥ 0, 0 ≤ share ≤ 1, hour modulo 24, lon/lat on a sphere, species: 3 categories, "
        "low ≤ 2"
    )
    assert sentence(DOMAIN).startswith("column 0 ≥ 0, 0 ≤ column 1 ≤ 1, column 2 modulo 24, ")
    other = Domain(
        (Periodic(2, -1), Categorical(), Sphere("radians"), Sphere("radians")),
        ((3, 2),),
        ((1,),),
        (0.0,),
    )
    assert sentence(other, ("t", "k", "lat", "lon")) == (
        "t modulo 2 from -1, k: 1 category, lon/lat on a sphere in radians"
    )
    assert sentence(Domain((None, None))) == "any numbers"


def test_a_domain_for_programs():
    found = facts(DOMAIN, NAMES)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found[0] == {"columns": ["age"], "kind": "bounds", "lower": 0.0, "upper": None}
    assert {"columns": ["hour"], "kind": "periodic", "period": 24.0, "start": 0.0} in found
    assert {"columns": ["lon", "lat"], "kind": "sphere", "unit": "degrees"} in found
    assert {"columns": ["species"], "kind": "categories", "categories": ["a", "b", "c"]} in found
    assert len(found) == 6


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["1", "2", "-3"], [1, 2, -3]),
        (["1", "2.5"], [1, 2.5]),
        (["1.0", "1"], [1, 1]),
        (["01", "1"], ["01", "1"]),
        (["1", "x"], ["1", "x"]),
        (["1e3"], ["1e3"]),
        (["1_000"], ["1_000"]),
        (["inf", "1"], ["inf", "1"]),
        (["nan"], ["nan"]),
        (["true", "false"], ["true", "false"]),
    ],
)
def test_words_are_numbers_where_all_are(words, expected):
    found = [wording.values(words)[word] for word in words]
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))
