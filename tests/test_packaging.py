"""What names the package elsewhere agrees with the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import kernelmean as km

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
URLS = PROJECT["urls"]


def test_versions_are_equal():
    assert f"version: {km.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version = "{km.__version__}"' in (ROOT / "recipe" / "meta.yaml").read_text()


def test_the_recipe_needs_what_the_project_needs():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text()
    for requirement in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)(>=[\d.]+)", requirement).groups()
        assert f"    - {name} {bound}\n" in recipe, requirement


@pytest.mark.parametrize("page", ["CITATION.cff", "recipe/meta.yaml", "mkdocs.yml"])
def test_addresses_are_those_of_the_project(page):
    text = (ROOT / page).read_text()
    assert URLS["Documentation"] in text
    for address in re.findall(r"https://(?:github\.com|kernelmean\.)[^\s\"')]*", text):
        assert address.startswith((URLS["Documentation"], URLS["Repository"])), address


def test_citations_of_the_article_are_in_its_bibliography():
    cited = set(re.findall(r"@(\w+)", (ROOT / "joss" / "paper.md").read_text()))
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "joss" / "paper.bib").read_text(), re.M)
    assert cited == set(listed)
    assert len(listed) == len(set(listed))


def test_supported_pythons_are_said_once_and_everywhere():
    classifiers = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    assert f"PYTHONS := {' '.join(classifiers)}\n" in (ROOT / "Makefile").read_text()
    readme = (ROOT / "README.md").read_text()
    assert all(version in readme for version in classifiers)
    assert PROJECT["requires-python"] == f">={classifiers[0]}"
