"""The environment that a page promises: what its ``pip install`` lines bring.

Nothing else that happens to be installed is there: a folder with a ``sitecustomize`` that hides
every other package goes first on the path of the processes that run the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pages.blocks import INSTALL, blocks

HIDING = '''"""Hide packages that this environment would not have."""

import sys
from importlib.machinery import PathFinder

HIDDEN = frozenset({hidden!r})


class Finder(PathFinder):
    """Finds what is not hidden."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] in HIDDEN:
            return None
        return PathFinder.find_spec(fullname, path, target)


sys.meta_path[:] = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
'''


def extras(page: Path) -> set[str]:
    """What the install lines of a page name; a page without any promises the core alone."""
    found = [match[1] for match in _installed_by(page)]
    return {extra for names in found if names for extra in names.split(",")}


def packages(page: Path) -> list[str]:
    """Other packages that the install lines of a page name."""
    return [name for match in _installed_by(page) for name in match[2].split()]


def _installed_by(page: Path) -> list[re.Match[str]]:
    lines = [
        line
        for block in blocks(page)
        if block.language == "shell"
        for line in block.text.splitlines()
    ]
    return [match for line in lines if (match := INSTALL.match(line))]


def brought(named: Iterable[str], optional: Mapping[str, list[str]], core: list[str]) -> set[str]:
    """Distributions that come with the core and these extras, and with what they need in turn."""
    wanted = [
        Requirement(text)
        for text in [*core, *(text for extra in named for text in optional[extra])]
    ]
    known: set[tuple[str, str]] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name == "kernelmean":
            wanted += [
                Requirement(text) for extra in requirement.extras for text in optional[extra]
            ]
            continue
        for extra in {"", *requirement.extras}:
            if (name, extra) not in known:
                known.add((name, extra))
                wanted += _needed(name, extra)
    return {name for name, _ in known}


def _needed(name: str, extra: str) -> list[Requirement]:
    """What an installed distribution needs here; nothing where it is not installed."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    requirements = [Requirement(line) for line in lines]
    return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": extra})]


@cache
def installed() -> Mapping[str, list[str]]:
    """Distributions by the module that they install."""
    return metadata.packages_distributions()


def hidden(present: set[str]) -> list[str]:
    """Modules of installed distributions that are not among these."""
    kept = present | {"kernelmean"}
    return sorted(
        module
        for module, names in installed().items()
        if not kept & set(map(canonicalize_name, names))
    )


def prepare(folder: Path, page: Path, project: Mapping[str, object]) -> list[str]:
    """Write the sitecustomize of a page into a folder; the modules that it hides."""
    core, optional = project["dependencies"], project["optional-dependencies"]
    core = [*core, *packages(page)]  # type: ignore[misc]
    modules = hidden(brought(extras(page), optional, core))  # type: ignore[arg-type]
    (folder / "sitecustomize.py").write_text(HIDING.format(hidden=modules))
    return modules
