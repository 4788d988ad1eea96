"""Docstrings as reference pages: a Griffe extension.

The source writes ``name : what it is`` under Parameters and Attributes; types are in the signature. NumPy's format would take
the text for a type, so it is moved one line down before it is parsed. Sphinx roles become links. A public object without a
docstring is a warning, which strict mode turns into an error.
"""

from __future__ import annotations

import logging
import re
from typing import Any

import griffe

LOGGER = logging.getLogger("mkdocs.plugins.pages.docstrings")
SECTION = re.compile(r"^(Parameters|Attributes|Returns|Notes|Examples|References)\n-+$", flags=re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+(?:\n[ ]+.+)*)$", flags=re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|attr):`([\w.]+)`")


class Plain(griffe.Extension):
    """Docstrings of this project in the form that the renderer reads."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite every docstring of the package once it is loaded."""
        public = {str(name) for name in pkg.exports or ()}
        for name in sorted(public - {"__version__"}):
            if not pkg[name].has_docstring:
                LOGGER.warning("kernelmean.%s is public and has no docstring.", name)
        _rewrite(pkg, public)


def _rewrite(parent: griffe.Object, public: set[str]) -> None:
    for member in parent.members.values():
        if member.is_alias:
            continue
        if member.docstring is not None:
            member.docstring.value = rewritten(member.docstring.value, public, member)
        if member.is_module or member.is_class:
            _rewrite(member, public)


def rewritten(text: str, public: set[str], owner: griffe.Object | None = None) -> str:
    """A docstring with its entries as name and description, and its roles as links."""
    parts = SECTION.split(text)
    head, sections = parts[0], list(zip(parts[1::2], parts[2::2], strict=True))
    done = [head]
    for title, body in sections:
        moved = ENTRY.sub(_described, body) if title in ("Parameters", "Attributes") else body
        done.append(f"{title}\n{'-' * len(title)}{moved}")
    return ROLE.sub(lambda match: _link(match[1], public, owner), "".join(done))


def _described(match: re.Match[str]) -> str:
    """Each of the names that share a description, with it: the renderer gives a group the type of its first member."""
    return "\n".join(f"{name}\n    {match[2]}" for name in match[1].split(", "))


def _link(name: str, public: set[str], owner: griffe.Object | None) -> str:
    last = name.split(".")[-1]
    if last in public:
        return f"[`{last}`][kernelmean.{last}]"
    while owner is not None and not owner.is_module:
        if owner.is_class and last in owner.members:
            return f"[`{last}`][{owner.path}.{last}]"
        owner = owner.parent
    return f"`{name.removeprefix('kernelmean.')}`"
