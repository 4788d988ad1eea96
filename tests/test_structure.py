"""What the documents say of the source tree is so, and the tests mirror it."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "kernelmean"
DOCUMENTS = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "development").glob("*.md"))]
FOLDERS = sorted(path for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
FENCE = re.compile(r"```.*?```", re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
GENERATED = ("site/",)  # made by commands that the documents name
PATH = re.compile(r"^[\w./-]+(?:\.(?:py|md|toml|yml)|/)$")
MODULE = re.compile(r"^kernelmean(?:\.\w+)+$")


def mentioned(document: Path) -> list[str]:
    """What a document sets in code, outside of its blocks."""
    return CODE.findall(FENCE.sub("", document.read_text()))


def resolves(name: str) -> bool:
    """Whether a dotted name is a module of the package, or what a module holds."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_and_folder_that_is_named_is_there(document):
    named = [w for w in mentioned(document) if PATH.match(w) and w not in GENERATED]
    roots = (ROOT, PACKAGE, document.parent)
    lost = [word for word in named if not any((root / word).exists() for root in roots)]
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_module_that_is_named_is_there(document):
    links = re.findall(r"\]\[(kernelmean[\w.]*)\]", document.read_text())
    named = [*links, *(word for word in mentioned(document) if MODULE.match(word))]
    assert [name for name in named if not resolves(name)] == []


def test_a_lost_name_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`engines/doors.py`, `kernelmean.engines.doors`, `selection.py`\n")
    with pytest.raises(AssertionError, match="doors"):
        test_every_file_and_folder_that_is_named_is_there(page)
    with pytest.raises(AssertionError, match="doors"):
        test_every_module_that_is_named_is_there(page)


def test_the_table_of_folders_names_them_all():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert [path.name for path in FOLDERS if f"`{path.name}/`" not in text] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_tests_mirror_the_source(folder):
    assert list((ROOT / "tests" / folder.name).rglob("test_*.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_no_statement_hides_another(folder):
    """``a, b = x, y`` is two statements, unless one needs the old value of the other."""
    hidden = []
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                pairs = node.targets[0], node.value
                if isinstance(node.value, ast.Tuple) and not _exchanges(*pairs):
                    hidden.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert hidden == []


def _exchanges(targets: ast.Tuple, values: ast.Tuple) -> bool:
    """Whether a value reads what an earlier target writes, so that there is an order to keep."""
    written = [ast.unparse(target).split("[")[0] for target in targets.elts]
    return any(
        re.search(rf"\b{re.escape(written[i])}\b", ast.unparse(value))
        for j, value in enumerate(values.elts)
        for i in range(j)
    )
