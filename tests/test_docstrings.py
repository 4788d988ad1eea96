"""Every public name says what it takes, gives and costs, in numpydoc's format, and by example.

The check is our own, since numpydoc is no dependency: a parser of sections, and ``inspect``.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from threadpoolctl import threadpool_limits

import kernelmean as km
from kernelmean._lazy import lazy

# Names, or beginnings of names, whose docstrings are still to be brought into this format.
EXCEPTIONS: tuple[str, ...] = ("engines.",)
READY = ("engines.open",)  # these are checked though an exception above covers them

# How the package works inside: public by spelling, documented, but no example is asked for.
INSIDE = {
    "DomainMean.coded",
    "DomainMean.log_coded",
    "DomainMean.shares_of",
    "DomainMean.values_coded",
    "DomainMean.weights_at",
    "DomainMean.written",
    "KernelMean.atoms_in",
    "KernelMean.cloud_for",
    "KernelMean.inner_in_units",
    "KernelMean.loaded",
    "KernelMean.map",
    "KernelMean.map_queries",
    "KernelMean.pairing",
    "KernelMean.restricted",
    "SparseKernelMean.packed",
    "SparseKernelMean.refit_on",
}
# What a kernel answers to engines and fits; an author of a new family reads it in the base class.
ANSWERS = {
    "decay",
    "formula",
    "has_spectrum",
    "l2_log_peak",
    "l2_radial",
    "log_peak",
    "radial",
    "slope",
    "spectral_scales",
}
FAMILIES = ("Cauchy", "Gaussian", "Laplacian", "Radial", "Student")
INSIDE |= {f"{family}.{answer}" for family in FAMILIES for answer in ANSWERS}
POWERS = ("Cauchy", "Student")
INSIDE |= {f"{family}.{answer}" for family in POWERS for answer in ("exponent", "profile_slope")}
ORDER = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
)
SKLEARNS = re.compile(r"set_\w+_request$")  # methods that scikit-learn adds to our classes
TITLE = re.compile(r"^([A-Z][A-Za-z ]+)\n(-+)$", flags=re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+))?$", flags=re.MULTILINE)


class Subject(NamedTuple):
    """A public object, by the name under which a user finds it."""

    name: str
    value: object  # a class, a function, or a property
    owner: type | None = None  # of a method or a property

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        if inspect.isclass(self.value):
            return "class"
        if isinstance(self.value, property | lazy):
            return "property"
        return "function" if self.owner is None else "method"

    @property
    def text(self) -> str:
        return inspect.getdoc(self.value) or ""

    @property
    def sections(self) -> dict[str, str]:
        parts = TITLE.split(self.text)
        return dict(zip(parts[1::3], parts[3::3], strict=True))

    def section(self, title: str) -> str:
        """The text of one section; empty where there is none."""
        return self.sections.get(title, "")

    def entries(self, title: str) -> list[tuple[str, str]]:
        """(name, type) of every entry of a section; names that share an entry are apart."""
        found = ENTRY.findall(self.section(title))
        return [(name.lstrip("*"), kind) for names, kind in found for name in names.split(", ")]

    @property
    def parameters(self) -> list[str]:
        """The parameters a user may give, in order."""
        skipped = ("self", "cls")
        names = list(inspect.signature(self.value).parameters)  # type: ignore[arg-type]
        return [name for name in names if name not in skipped and name[0] != "_"]


def functions_of(path: str, module: object) -> Iterator[Subject]:
    names = getattr(module, "__all__", [name for name in dir(module) if name[0] != "_"])
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            yield Subject(path + name, value)


def members_of(subject: Subject) -> Iterator[Subject]:
    """The public methods and properties that a class of this package defines or inherits."""
    cls = subject.value
    assert inspect.isclass(cls)
    for name in dir(cls):
        definer = next((base for base in cls.__mro__ if name in base.__dict__), object)
        if name[0] == "_" or not definer.__module__.startswith("kernelmean"):
            continue
        raw = definer.__dict__[name]
        member = raw if isinstance(raw, property | lazy) else getattr(cls, name, raw)
        is_method = inspect.isfunction(member) or inspect.ismethod(member)
        if isinstance(raw, property | lazy) or (is_method and not SKLEARNS.match(name)):
            yield Subject(f"{subject.name}.{name}", member, cls)


def surface() -> Iterator[Subject]:
    """Everything that can be reached from ``kernelmean.__all__``."""
    tops = list(functions_of("", km))
    for module in ("bandwidth", "datasets", "engines", "plot", "report"):
        tops.extend(functions_of(f"{module}.", getattr(km, module)))
    for subject in tops:
        yield subject
        if subject.kind == "class":
            yield from members_of(subject)


def is_excepted(name: str) -> bool:
    return name.startswith(EXCEPTIONS) and not name.startswith(READY)


EVERYTHING = list(surface())
SUBJECTS = [subject for subject in EVERYTHING if not is_excepted(subject.name)]
CALLABLES = [s for s in SUBJECTS if s.kind in ("function", "method")]
ESTIMATORS = [s for s in SUBJECTS if s.kind == "class" and hasattr(s.value, "get_params")]
RESULTS = [s for s in SUBJECTS if {"_fields", "__dataclass_fields__"} & set(dir(s.value))]
TAKING = [*CALLABLES, *ESTIMATORS, *(s for s in SUBJECTS if s.name == "MeanStream")]


def of(*subjects: Subject) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("subject", subjects, ids=str)


@pytest.fixture(autouse=True, scope="module")
def one_blas_thread():
    """Tests run side by side, and BLAS threads that wait for one another would slow them all."""
    with threadpool_limits(1, user_api="blas"):
        yield


def test_exceptions_name_something():
    """An exception that nothing needs any more is to be removed."""
    for prefix in (*EXCEPTIONS, *READY):
        assert any(subject.name.startswith(prefix) for subject in EVERYTHING), prefix
    assert {subject.name for subject in EVERYTHING} >= INSIDE


@of(*SUBJECTS)
def test_the_summary_is_one_line_that_ends_in_a_full_stop(subject):
    lines = subject.text.split("\n")
    assert lines[0].endswith("."), lines[0]
    assert not lines[0][0].islower() or not lines[0][1].isalpha(), lines[0]
    assert len(lines) == 1 or lines[1] == "", lines[:2]


@of(*SUBJECTS)
def test_sections_stand_in_the_order_of_numpydoc(subject):
    found = list(subject.sections)
    assert set(found) <= set(ORDER), found
    assert found == sorted(found, key=ORDER.index)
    for title, dashes in TITLE.findall(subject.text):
        assert len(title) == len(dashes), title
    assert all(text.strip() for text in subject.sections.values())


@of(*TAKING)
def test_every_parameter_is_described_in_order_with_its_type(subject):
    entries = subject.entries("Parameters")
    assert [name for name, _ in entries] == subject.parameters
    assert all(kind for _, kind in entries), entries


@of(*TAKING)
def test_stated_defaults_are_those_of_the_signature(subject):
    signature = inspect.signature(subject.value).parameters
    for name, kind in subject.entries("Parameters"):
        default = signature[name].default
        stated = re.search(r"(?:^|, )default=(.+)$", kind)
        if default is inspect.Parameter.empty:
            assert stated is None, (name, kind)
        else:
            assert stated is not None, (name, kind)
            assert eval(stated[1]) == default, (name, kind)


@of(*CALLABLES)
def test_what_is_returned_is_described(subject):
    signature = inspect.signature(subject.value)
    returns = str(signature.return_annotation)
    has = bool({"Returns", "Yields"} & set(subject.sections))
    assert has == (returns != "None"), f"{subject} returns {returns}"


@of(*SUBJECTS)
def test_entries_have_an_indented_description(subject):
    """The description is on the lines below the name and its type, as sentences."""
    for title in ("Parameters", "Attributes", "Returns", "Yields", "Raises"):
        lines = subject.section(title).strip("\n").split("\n")
        for above, below in zip(lines, [*lines[1:], ""], strict=True):
            if above and not above.startswith(" "):
                assert below.startswith("    "), (title, above)
        for body in re.findall(r"^(?: {4}.*\n?)+", subject.section(title), flags=re.MULTILINE):
            assert body.rstrip().endswith((".", ":")), (title, body)


def resolves(name: str, owner: type | None) -> bool:
    if owner is not None and hasattr(owner, name):
        return True
    value: object = km
    for part in name.removeprefix("kernelmean.").split("."):
        if not hasattr(value, part):
            break
        value = getattr(value, part)
    else:
        return True
    home, _, last = name.rpartition(".")
    return home.startswith("sklearn") and hasattr(importlib.import_module(home), last)


@of(*(s for s in SUBJECTS if s.kind != "property" and s.name not in INSIDE))
def test_see_also_names_things_that_exist(subject):
    entries = re.findall(r"^(\S+) : (\S.*\.)$", subject.section("See Also"), flags=re.MULTILINE)
    lines = [line for line in subject.section("See Also").split("\n") if line]
    assert len(entries) == len(lines) > 0, lines
    for name, _ in entries:
        assert resolves(name, subject.owner), name


@of(*SUBJECTS)
def test_references_are_numbered_and_those_cited_exist(subject):
    listed = re.findall(r"^\.\. \[(\d+)\] ", subject.section("References"), flags=re.MULTILINE)
    assert listed == [str(i + 1) for i in range(len(listed))]
    assert set(re.findall(r"\[(\d+)\]_", subject.text)) <= set(listed)


@of(*(s for s in SUBJECTS if s.kind != "property" and s.name not in INSIDE))
def test_the_example_runs(subject):
    """A method may leave its example to that of its class."""
    shared = "" if subject.owner is None else inspect.getdoc(subject.owner) or ""
    if not subject.section("Examples") and f".{subject.name.rpartition('.')[2]}(" in shared:
        return
    text = subject.section("Examples")
    test = doctest.DocTestParser().get_doctest(text, {}, subject.name, None, 0)
    assert test.examples, f"{subject} has no example"
    output: list[str] = []
    result = doctest.DocTestRunner().run(test, out=output.append)
    if "matplotlib.pyplot" in sys.modules:  # which warns of figures that nobody closes
        sys.modules["matplotlib.pyplot"].close("all")
    assert result.failed == 0, "".join(output)


@of(*(s for s in SUBJECTS if s.kind == "function" or s in ESTIMATORS))
def test_costs_in_time_and_memory_are_stated(subject):
    assert re.search(r"O\(|kernel values|costs nothing|Costs", subject.text)
    assert re.search("memory", subject.text, flags=re.IGNORECASE)


@of(*RESULTS)
def test_every_field_of_a_result_is_described(subject):
    fields = getattr(subject.value, "_fields", None) or subject.value.__dataclass_fields__
    described = dict(subject.entries("Attributes") + subject.entries("Parameters"))
    assert set(described) >= set(fields), set(fields) - set(described)
    assert all(described.values()), described


@pytest.mark.parametrize("name", ["bandwidth", "datasets", "engines"])
def test_the_example_of_a_module_runs(name):
    module = getattr(km, name)
    test = doctest.DocTestParser().get_doctest(module.__doc__, {}, name, None, 0)
    if not is_excepted(f"{name}."):
        assert test.examples
        assert doctest.DocTestRunner().run(test, out=lambda _: None).failed == 0
