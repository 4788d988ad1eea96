"""What README promises, done."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from benchmarks import readme_table

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


def test_links_work_on_the_page_of_a_package_index():
    """They are absolute; those into the documentation lead to pages and headings that are there."""
    root = Path(__file__).parent.parent
    urls = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert all(link.startswith("https://") for link in links), links
    for link in (link for link in links if link.startswith(urls["Documentation"])):
        place, _, anchor = link.removeprefix(urls["Documentation"]).partition("#")
        page = (root / "docs" / place).with_suffix(".md").read_text()
        headings = re.findall(r"^#+ (.*)$", page, flags=re.MULTILINE)
        slugs = {re.sub(r"[^\w]+", "-", heading.lower()).strip("-") for heading in headings}
        assert not anchor or anchor in slugs, link
    assert "{{" not in README


def test_its_table_is_that_of_the_stored_figures():
    results = json.loads(readme_table.RESULTS.read_text())
    for page in readme_table.PAGES:
        text = page.read_text()
        assert text == readme_table.with_table(text, readme_table.table(results)), page.name


def test_every_name_it_uses_exists():
    import kernelmean as km

    for name in set(re.findall(r"\bkm\.(\w+)", README)):
        assert hasattr(km, name), name


def commands():
    """Lines of the shell blocks that call this program, comments left out; the demo has a test of
    its own.
    """
    blocks = re.findall(r"```(?:sh|bash|console)\n(.*?)```", README, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    calls = [
        shlex.split(line, comments=True)
        for line in lines
        if re.match(r"\s*(\$ )?kernelmean ", line)
    ]
    return [words[words.index("kernelmean") + 1 :] for words in calls if "demo" not in words]


def test_its_commands_run_one_after_another(tmp_path, monkeypatch, capsys):
    inputs = pytest.importorskip("tests.cli.inputs", reason="needs pip install 'kernelmean[files]'")
    inputs.write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = commands()
    assert {words[0] for words in found} == {
        "fit",
        "score",
        "query",
        "compare",
        "monitor",
        "embed",
        "proportions",
        "segment",
        "info",
    }
    for words in found:
        done = inputs.call(capsys, *words)
        normal = (0, 3) if words[0] == "monitor" else (0,)  # 3: there was an alarm
        assert done.code in normal, f"{shlex.join(words)}: {done.err}"
        assert done.out
        for option, made in pairwise(words):
            if option in ("-o", "--report"):
                assert (tmp_path / made).stat().st_size > 100, made
