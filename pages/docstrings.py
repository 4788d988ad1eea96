"""Docstrings as reference pages: a Griffe extension.

The renderer reads numpydoc's sections, but not the Sphinx markup in them: roles, the names under
See Also and numbered references become Markdown before it is parsed. A public object without a
docstring is a warning, which strict mode turns into an error.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent.parent))

from pages.wording import rewritten

LOGGER = logging.getLogger("mkdocs.plugins.pages.docstrings")


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
    around = (
        {} if parent.is_module else {name: member.path for name, member in parent.members.items()}
    )
    for member in parent.members.values():
        if member.is_alias:
            continue
        inside = (
            {name: inner.path for name, inner in member.members.items()}
            if member.is_class
            else around
        )
        if member.is_function:  # what begins with an underscore is not for users
            member.parameters = griffe.Parameters(
                *(p for p in member.parameters if p.name == "_" or p.name[0] != "_")
            )
        if member.docstring is not None:
            text = member.docstring.value
            member.docstring.value = rewritten(text, public, inside, of_class=member.is_class)
        if member.is_module or member.is_class:
            _rewrite(member, public)
