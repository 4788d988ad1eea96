"""Examples of the doors run, and every public name of a door is documented."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

MODULES = ["anndata", "array_api", "quapy", "river", "xarray"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    if name != "array_api":
        pytest.importorskip(name, reason=f"needs {name}: pip install 'kernelmean[{name}]'")
    module = importlib.import_module(f"kernelmean.integrations.{name}")
    public = {
        key: value
        for key, value in vars(module).items()
        if key[0] != "_" and getattr(value, "__module__", None) == module.__name__
    }
    shown = {key for key, value in public.items() if inspect.isfunction(value) or "Kernel" in key}
    assert shown
    for key in shown:
        text = inspect.getdoc(public[key])
        assert "Examples\n--------" in text
        case = doctest.DocTestParser().get_doctest(text, {}, key, None, 0)
        output: list[str] = []
        assert doctest.DocTestRunner().run(case, out=output.append).failed == 0, "".join(output)
