"""Every public name says what it takes, gives and costs, with an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest
from threadpoolctl import threadpool_limits

import kernelmean as km

NAMES = [name for name in km.__all__ if name != "__version__"]
RULES = [f"bandwidth.{rule}" for rule in (*km.bandwidth.RULES, "jaakkola")]
ESTIMATORS = [name for name in NAMES if hasattr(getattr(km, name), "get_params")]
FUNCTIONS = [
    *(name for name in NAMES if inspect.isfunction(getattr(km, name))),
    *RULES,
    "engines.open",
]


@pytest.fixture(autouse=True)
def one_blas_thread():
    """Tests run side by side, and BLAS threads that wait for one another would slow them all."""
    with threadpool_limits(1, user_api="blas"):
        yield


def found(name: str) -> object:
    value: object = km
    for part in name.split("."):
        value = getattr(value, part)
    return value


def section(name: str, title: str) -> str:
    """The text of one section of a docstring; empty where there is none."""
    text = inspect.getdoc(found(name)) or ""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def documented(name: str, title: str) -> set[str]:
    entries = re.findall(
        r"^(\*{0,2}\w+(?:, \w+)*) : |^(\w+)$", section(name, title), flags=re.MULTILINE
    )
    return {part.lstrip("*") for pair in entries for part in (pair[0] or pair[1]).split(", ")}


@pytest.mark.parametrize("name", [*NAMES, *RULES, "engines.open"])
def test_the_example_runs(name):
    test = doctest.DocTestParser().get_doctest(section(name, "Examples"), {}, name, None, 0)
    assert test.examples, f"{name} has no example"
    output: list[str] = []
    result = doctest.DocTestRunner().run(test, out=output.append)
    assert result.failed == 0, "".join(output)


@pytest.mark.parametrize("name", [*FUNCTIONS, *ESTIMATORS])
def test_every_parameter_is_described(name):
    taken = {
        parameter
        for parameter in inspect.signature(found(name)).parameters
        if parameter != "self" and parameter[0] != "_"
    }
    assert documented(name, "Parameters") >= taken, taken - documented(name, "Parameters")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_returns(name):
    assert section(name, "Returns").strip()


@pytest.mark.parametrize("name", [*FUNCTIONS, *ESTIMATORS, "SparseKernelMean", "KernelMean"])
def test_costs_in_time_and_memory_are_stated(name):
    text = inspect.getdoc(found(name)) or ""
    assert re.search(r"O\(|kernel values|Costs nothing", text)
    assert re.search("memory", text, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    "name",
    [n for n in NAMES if hasattr(found(n), "_fields") or hasattr(found(n), "__dataclass_fields__")],
)
def test_every_field_of_a_result_is_described(name):
    value = found(name)
    fields = set(getattr(value, "_fields", None) or value.__dataclass_fields__)
    inner = {"engine", "center_mass", "nearest_bound", "name"}  # how a value works inside
    described = documented(name, "Attributes") | documented(name, "Parameters")
    described |= set(
        re.findall(r"``(\w+)``", inspect.getdoc(value) or "")
    )  # kernels: one line says it all
    assert described >= fields - inner, fields - inner - described
