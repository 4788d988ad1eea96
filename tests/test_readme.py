"""What README promises, done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_its_python_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "SparseKernelMean(" in printed
    assert "relative error" in printed
    assert printed.splitlines()[-1] == "0.0"


def test_every_name_it_uses_exists():
    import kernelmean as km

    for name in set(re.findall(r"\bkm\.(\w+)", README)):
        assert hasattr(km, name), name
