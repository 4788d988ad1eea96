"""Every display and every page says what it takes and gives, with an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

import kernelmean as km

DISPLAYS = [f"plot.{name}" for name in km.plot.__all__]
METHODS = [
    f"{name}.{method}"
    for name in DISPLAYS
    for method in dir(getattr(km.plot, name.partition(".")[2]))
    if not method.startswith("_") and callable(getattr(getattr(km.plot, name[5:]), method))
]
PAGES = [f"report.{name}" for name in km.report.__all__]


def found(name):
    value = km
    for part in name.split("."):
        value = getattr(value, part)
    return value


def section(name, title):
    text = inspect.getdoc(found(name)) or ""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^[\w ]+\n-+$|\Z)", text, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def entries(name, title):
    """Names with a type on their line and a description below it."""
    return set(re.findall(r"^\*{0,2}(\w+) : .+\n    \S", section(name, title), re.MULTILINE))


def test_every_display_has_what_is_looked_for():
    assert {method.rpartition(".")[2] for method in METHODS} == {
        "from_data",
        "from_difference",
        "from_distances",
        "from_estimator",
        "from_mean",
        "from_monitor",
        "from_predictions",
        "plot",
    }


@pytest.mark.parametrize("name", [*DISPLAYS, *METHODS, *PAGES])
def test_every_parameter_has_a_type_and_a_description(name):
    assert entries(name, "Parameters") == set(inspect.signature(found(name)).parameters) - {"self"}


@pytest.mark.parametrize("name", [*METHODS, *PAGES])
def test_what_is_returned_is_said(name):
    assert entries(name, "Returns")


@pytest.mark.parametrize("name", DISPLAYS)
def test_attributes_are_those_that_drawing_sets(name):
    assert set(inspect.get_annotations(found(name))) <= entries(name, "Attributes")


@pytest.mark.parametrize("name", ["plot", "report", *DISPLAYS, *METHODS, *PAGES])
def test_the_example_runs(name):
    matplotlib = pytest.importorskip(
        "matplotlib", reason="Matplotlib is not installed: pip install 'kernelmean[report]'"
    )
    matplotlib.use("Agg")
    test = doctest.DocTestParser().get_doctest(section(name, "Examples"), {}, name, None, 0)
    assert test.examples, f"{name} has no example"
    output: list[str] = []
    result = doctest.DocTestRunner().run(test, out=output.append)
    pytest.importorskip("matplotlib.pyplot").close("all")
    assert result.failed == 0, "".join(output)
