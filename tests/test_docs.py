"""What the documentation promises, done: its blocks run, its figures exist, its drawing follows the
contracts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pages import (
    blocks,
    dark,
    diagram,
    drawn,
    environment,
    examples,
    figures,
    printed,
    running,
    wording,
)
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("index", "quickstart", "method", "terminal", "migration")),
    *sorted((DOCS / "guides").glob("*.md")),
    *sorted((DOCS / "theory").glob("*.md")),
    *sorted((DOCS / "development").glob("*.md")),
]
WITH_CODE = [
    page
    for page in PAGES
    if any(block.language in ("python", "shell") for block in blocks.blocks(page))
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


@pytest.fixture(autouse=True)
def one_blas_thread(monkeypatch):
    """Tests run side by side, and BLAS threads that wait for one another would slow them all."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # for commands
    with threadpool_limits(1, user_api="blas"):
        yield


def same_words_close_numbers(printed: str, shown: str) -> bool:
    """Equal text, numbers to three percent: another BLAS may round a figure otherwise, and nothing
    else may change.
    """
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", shown).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    return all(
        float(a)
        == pytest.approx(float(b), rel=0.03, abs=0.011 if "." in a and "e" not in a else 0.0)
        for a, b in pairs
    )


def needs(page: Path) -> str | None:
    """Why a page cannot run here; None where it can."""
    code = "".join(block.text for block in blocks.blocks(page) if block.language == "python")
    if 'engine="gpu"' in code:
        torch = pytest.importorskip(
            "torch", reason="this guide needs torch: pip install 'kernelmean[gpu]'"
        )
        return None if torch.cuda.is_available() else "this guide needs a CUDA device"
    if "import dask" in code:
        pytest.importorskip(
            "distributed", reason="this guide needs Dask: pip install 'kernelmean[cluster]'"
        )
    for name in ("anndata", "onnxruntime", "river", "xarray"):
        if f"import {name}" in code or f"integrations.{name}" in code:
            pytest.importorskip(name, reason=f"this guide needs {name}: pip install {name}")
    if "KERNELMEAN_DATA" in code and not os.environ.get("KERNELMEAN_DATA"):
        return "this guide is about real data: set KERNELMEAN_DATA"
    return None


def run_page(page: Path, folder: Path) -> list[str]:
    """What the blocks of a page print, in an environment with what its install lines bring."""
    for name in ("hiding", "page"):
        (folder / name).mkdir()
    environment.prepare(folder / "hiding", page, PROJECT)
    env = os.environ.copy()
    env["PYTHONPATH"] = os.pathsep.join(map(str, (folder / "hiding", ROOT / "src", ROOT)))
    command = [sys.executable, "-m", "pages.running", str(page), str(folder / "printed.json")]
    done = subprocess.run(
        command,
        cwd=folder / "page",
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}\n{done.stderr}"
    printed: list[str] = json.loads((folder / "printed.json").read_text())
    return printed


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_block_runs_and_prints_what_the_page_shows(page, tmp_path):
    if reason := needs(page):
        pytest.skip(reason)
    shown = ""
    for block, output in zip(blocks.blocks(page), run_page(page, tmp_path), strict=True):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            shown = output
        elif block.language == "text" and shown:
            assert same_words_close_numbers(shown, block.text), (
                f"{where} shows\n{block.text}but printed is\n{shown}if that is right, python -m "
                "pages.printed writes it"
            )
            shown = ""
        assert block.language in ("python", "shell", "text"), (
            f"{where}: a block in {block.language!r} is not run by any test"
        )


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_install_lines_name_extras_that_exist(page):
    lines = [
        line
        for block in blocks.blocks(page)
        if block.language == "shell"
        for line in block.text.splitlines()
    ]
    for line in (line for line in lines if line.startswith("pip install")):
        assert blocks.INSTALL.fullmatch(line), line
    assert environment.extras(page) <= set(PROJECT["optional-dependencies"])


def test_what_a_page_does_not_install_is_hidden(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```shell\npip install kernelmean\n```\n")
    core = environment.prepare(tmp_path, page, PROJECT)
    assert {
        "pyarrow",
        "matplotlib",
        "PIL",
        "flowio",
        "dask",
        "pandas",
        "pytest",
        "hypothesis",
    } <= set(core)
    assert not {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "llvmlite",
        "joblib",
        "click",
        "kernelmean",
    } & set(core)
    code = (
        "import importlib.util as u; print(u.find_spec('PIL'), u.find_spec('pyarrow'), "
        "u.find_spec('numpy') is not None)"
    )
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "None None True\n"
    page.write_text("```shell\npip install kernelmean pandas\n```\n")
    frames = set(environment.prepare(tmp_path, page, PROJECT))
    assert "pyarrow" in frames
    assert not {"pandas", "dateutil"} & frames  # pandas, and what it needs
    page.write_text("```shell\npip install kernelmean\npip install 'kernelmean[report]'\n```\n")
    report = set(environment.prepare(tmp_path, page, PROJECT))
    assert {"pyarrow", "flowio", "dask"} <= report
    assert not {"PIL", "matplotlib", "kiwisolver"} & report  # what Matplotlib brings comes with it


def test_there_is_code_on_every_guide_and_worked_example():
    expected = {
        "quickstart.md",
        "terminal.md",
        "migration.md",
        "kernel.md",
        "engine.md",
        "selection.md",
    }
    assert expected | {page.name for page in (DOCS / "guides").glob("*.md")} <= {
        page.name for page in WITH_CODE
    }


def test_a_command_that_fails_fails_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in ("kernelmean info missing.km", "kernelmean info missing.km | cat; exit 3", "false"):
        with pytest.raises(RuntimeError, match=re.escape(line)):
            running.shell(line)
    running.shell("pip install kernelmean\nkernelmean --version")
    assert capsys.readouterr() == ("", "")


def test_outputs_can_be_brought_up_to_date():
    page = "```python\nx = 2\nprint(x + 1)\n```\n\n```text\nold\n```\n\n```text\nno output\n```\n"
    assert printed.refreshed(page) == page.replace("old", "3")


def test_outputs_may_need_what_a_command_has_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read = 'import pathlib\nprint(pathlib.Path("x").read_text())'
    page = f"```shell\necho 4 > x\n```\n```python\n{read}\n```\n```text\nold\n```\n"
    assert "```text\n4\n" in printed.refreshed(page)


def test_numbers_in_printed_text_may_round_but_not_change():
    assert same_words_close_numbers("error 1.23e-03 of 20\n", "error 1.24e-03 of 20")
    assert not same_words_close_numbers("error 1.23e-03 of 20", "error 2.23e-03 of 20")
    assert not same_words_close_numbers("error 1.23e-03", "mistake 1.23e-03")


# --- figures of the guides
# --------------------------------------------------------------------------------------------------

# Sections that write, read or install, and those that show nothing that a figure could.
WITHOUT_FIGURE = {
    "From the terminal",
    "In the terminal",
    "Install",
    "Keep it",
    "Save and resume",
    "Saved files and the terminal",
    "Tensors: torch and CuPy",
}


@pytest.mark.parametrize("page", sorted((DOCS / "guides").glob("*.md")), ids=lambda page: page.stem)
def test_every_section_of_a_guide_with_code_has_a_figure(page):
    sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]
    bare = [
        section.splitlines()[0]
        for section in sections
        if "```python" in section and "\n![" not in section
    ]
    assert set(bare) <= WITHOUT_FIGURE


def test_figures_that_guides_show_are_those_that_are_drawn():
    pytest.importorskip("matplotlib")
    for page in sorted((DOCS / "guides").glob("*.md")):
        found = [match.groups() for match in drawn.SHOWN.finditer(page.read_text())]
        assert all(stem == page.stem for _, stem, _ in found)
        names = [name for _, _, name in found]
        assert sorted(names) == sorted(drawn.functions(page.stem))


def test_a_figure_is_drawn_from_what_the_blocks_above_it_made(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    page = tmp_path / "made.md"
    shown = "![A line](drawn/made_line.png)"
    page.write_text(f"```python\nx = [0, 1]\n```\n\n{shown}\n\n```python\nfailing\n```\n")
    seen = []

    def line(page):
        """A line."""
        seen.append(page.x)
        plt.plot(page.x)

    monkeypatch.setattr(drawn, "functions", lambda stem: {"line": line})
    drawn.run(page, tmp_path)  # what comes after the last figure is not run
    assert seen == [[0, 1]]
    assert (tmp_path / "made_line.png").stat().st_size > 1000
    assert (tmp_path / "made_line-dark.png").read_bytes() != (
        tmp_path / "made_line.png"
    ).read_bytes()
    code = drawn.code_of(line)
    assert code == "seen.append(x)\nplt.plot(x)"
    assert f"{shown}\n\n??? quote" in drawn.with_code(page.read_text())


def test_tables_have_a_header():
    """A row after an empty line begins a new table, which is shown as text if it has no header."""
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        lines = blocks.FENCE.sub("", page.read_text()).splitlines()
        for before, row, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
            if row.startswith("|") and not before.startswith("|"):
                assert re.fullmatch(r"[|\s:-]+", after), f"{page.name}: {row[:60]}"


# --- the gallery
# --------------------------------------------------------------------------------------------------


def test_the_gallery_has_enough_examples_with_titles_of_their_own():
    found = examples.scripts()
    assert len(found) >= 10
    assert len({script.title for script in found}) == len(found)
    for script in found:
        assert script.introduction, script.name
        assert script.cells, script.name


def test_a_script_is_cut_into_cells(tmp_path):
    path = tmp_path / "plot_x.py"
    path.write_text(
        '"""Title.\n\nWhat it shows.\n"""\nimport math\n\n# %%\n# Some text.\n'
        "x = math.pi\nprint(round(x, 2))\n"
    )
    script = examples.parse(path)
    assert (script.title, script.introduction) == ("Title", "What it shows.")
    assert [(cell.text, cell.code) for cell in script.cells] == [
        ("", "import math"),
        ("Some text.", "x = math.pi\nprint(round(x, 2))"),
    ]
    assert path.read_text().splitlines()[script.cells[1].line] == "x = math.pi"


def test_a_script_leaves_its_output_and_its_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot_x.py"
    path.write_text(
        '"""T.\n\nI.\n"""\nimport matplotlib.pyplot as plt\nprint("one")\n'
        "# %%\nplt.plot([0, 1])\nplt.show()\n"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pages.examples", str(path), str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    record = (tmp_path / "cells.json").read_text()
    assert '"one\\n"' in record
    assert (tmp_path / "plot_x_2_1.png").stat().st_size > 1000


def test_dark_figures_exchange_ink_and_paper_and_dim_pale_areas():
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    ax = (figure := Figure()).add_subplot()
    (line,) = ax.plot([0, 1], color="black")
    colored = ax.bar([0], [1], color="teal")[0]
    pale = ax.axvspan(0.2, 0.4, color="0.9")
    dark.darken(figure)
    assert [to_hex(c) for c in (line.get_color(), ax.get_facecolor())] == [dark.INK, dark.PAPER]
    assert to_hex(colored.get_facecolor()) == to_hex("teal")
    assert to_hex(pale.get_facecolor()) == dark.SHADE


def test_an_example_without_a_docstring_is_refused(tmp_path):
    path = tmp_path / "plot_x.py"
    path.write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"plot_x\.py needs a docstring"):
        examples.parse(path)


# --- figures, diagram, reference
# --------------------------------------------------------------------------------------


def test_quoted_figures_come_from_their_tables(tmp_path, monkeypatch):
    page = (
        "# T\n\n### Part\n\n| case | figure |\n| --- | ---: |\n| a, b | 3.5 |\n| c | AUC 0.4 "
        "of -2e-3 |\n"
    )
    (tmp_path / "page.md").write_text(page)
    monkeypatch.setattr(figures, "DOCS", tmp_path)
    assert figures.fill_in("it is {{ page.md | Part | a, b | figure }} today") == "it is 3.5 today"
    assert figures.fill_in("{{ page.md | Part | c | figure | 2 }}") == "-2e-3"
    for wrong in (
        "{{ page.md | Part }}",
        "{{ page.md | Part | d | figure }}",
        "{{ page.md | Other | c | figure }}",
        "{{ page.md | Part | c | goal }}",
    ):
        with pytest.raises(LookupError, match=r"page\.md"):
            figures.fill_in(wrong)


def test_pictures_beside_results_get_a_place_in_the_site(tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("![A picture.](../results/a.png) and [a link](../results/b.png)")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "DOCS", docs)
    assert figures.pictures_elsewhere() == [("results/a.png", tmp_path / "results" / "a.png")]
    assert (
        figures.moved_pictures("![A picture.](../results/a.png)") == "![A picture.](results/a.png)"
    )


@pytest.mark.parametrize(
    "page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix()
)
def test_every_figure_that_a_page_quotes_exists(page):
    assert "{{" not in figures.fill_in(page.read_text())


def test_lists_stand_apart_from_paragraphs():
    text = "**Sums.**\n- one\n  more\n- two\n\n```text\na\n- b\n```\n"
    assert wording.lists_apart(text) == text.replace("**Sums.**\n", "**Sums.**\n\n")
    assert wording.lists_apart("- one\n  more\n- two\n") == "- one\n  more\n- two\n"


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml", reason="needs latex2mathml: pip install 'kernelmean[docs]'")
    from pages import formulas

    page = (
        r'<p><span class="arithmatex">\(\mathbb R, \mathcal A\)</span></p>'
        r'<div class="arithmatex">\[\lVert x \rVert \ge 1\]</div>'
    )
    shown = formulas.typeset(page)
    assert "<mi>ℝ</mi>" in shown
    assert "<mi>𝒜</mi>" in shown
    assert shown.count('<mo stretchy="false">&#x02016;</mo>') == 2
    assert "arithmatex" not in shown
    with pytest.raises(formulas.UnknownCommandError, match="frobnicate"):
        formulas.mathml(r"\frobnicate x", "inline")


def test_the_diagram_shows_every_layer_of_the_contracts():
    layers, kept = diagram.contracts()
    drawing = diagram.svg()
    for module in (module for layer in layers for module in layer):
        assert f">{module}<" in drawing
        assert f"| `{module}` |" in diagram.table()
    assert "numba" in kept


def test_every_public_name_has_its_place_in_the_reference():
    import kernelmean as km

    shown = set(
        re.findall(
            r"^::: kernelmean\.(\w+)$",
            "".join(p.read_text() for p in (DOCS / "reference").glob("*.md")),
            re.M,
        )
    )
    assert shown >= set(km.__all__) - {"__version__"}


def test_docstrings_are_reworded_for_the_reference():
    text = (
        "Claim [1]_.\n\nParameters\n----------\na : int\n    One of :func:`mmd`.\n\n"
        "See Also\n--------\nmmd : A metric.\nsklearn.base : Elsewhere.\n\n"
        "References\n----------\n.. [1] A. Author.\n"
    )
    expected = (
        "Claim [1].\n\nParameters\n----------\na : int\n    One of [`mmd`][kernelmean.mmd].\n\n"
        "See Also\n--------\n- [`mmd`][kernelmean.mmd]: A metric.\n- `sklearn.base`: Elsewhere.\n\n"
        "References\n----------\n1. A. Author.\n"
    )
    assert wording.rewritten(text, {"mmd"}, {}) == expected


def test_names_in_docstrings_link_to_the_class_or_the_package():
    public, members = {"load", "Mean"}, {"load": "km.M.load", "log": "km.M.log"}
    own, known = "[`load`][km.M.load]", "[`load`][kernelmean.load]"
    assert wording.rewritten("See :meth:`log`.", public, members) == "See [`log`][km.M.log]."
    assert wording.rewritten("See :meth:`load`.", public, members) == f"See {own}."
    assert wording.rewritten("See :func:`load`.", public, members) == f"See {known}."
    saved = "[`Mean.save`][kernelmean.Mean.save]"
    assert wording.rewritten("See :meth:`Mean.save`.", public, members) == f"See {saved}."
    related = "See Also\n--------\nload : Reads it."
    assert own in wording.rewritten(related, public, members)
    assert known in wording.rewritten(related, public, members, of_class=True)
    assert known in wording.rewritten(related.replace("load", "kernelmean.load"), public, members)
