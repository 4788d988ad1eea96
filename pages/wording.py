"""Docstrings and pages of this project in the form that the site needs."""

from __future__ import annotations

import re

SECTION = re.compile(
    r"^(Parameters|Attributes|Returns|Notes|Examples|References)\n-+$", flags=re.MULTILINE
)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (.+(?:\n[ ]+.+)*)$", flags=re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|attr):`([\w.]+)`")
FENCED = re.compile(r"(^```.*?^```$)", flags=re.DOTALL | re.MULTILINE)
LIST_AT_ONCE = re.compile(r"^((?![-*+] |[#|>\s]|\d+\. ).+)\n(?=[-*] )", flags=re.MULTILINE)


def lists_apart(text: str) -> str:
    """A list right below a paragraph, as repositories show it: this converter of Markdown wants an
    empty line between.
    """
    parts = FENCED.split(text)
    return "".join(
        part if i % 2 else LIST_AT_ONCE.sub(r"\1\n\n", part) for i, part in enumerate(parts)
    )


def rewritten(text: str, public: set[str], members: dict[str, str]) -> str:
    """A docstring with its entries as name and description, and its roles as links.

    ``public`` are names of the package, ``members`` the names around the docstring with their full
    paths.
    """
    parts = SECTION.split(text)
    head, sections = parts[0], list(zip(parts[1::2], parts[2::2], strict=True))
    done = [head]
    for title, body in sections:
        moved = ENTRY.sub(_described, body) if title in ("Parameters", "Attributes") else body
        done.append(f"{title}\n{'-' * len(title)}{moved}")
    return ROLE.sub(lambda match: _link(match[1], public, members), "".join(done))


def _described(match: re.Match[str]) -> str:
    """Each of the names that share a description, with it: the renderer gives a group the type of
    its first member.
    """
    return "\n".join(f"{name}\n    {match[2]}" for name in match[1].split(", "))


def _link(name: str, public: set[str], members: dict[str, str]) -> str:
    last = name.rpartition(".")[2]
    if last in public:
        return f"[`{last}`][kernelmean.{last}]"
    if last in members:
        return f"[`{last}`][{members[last]}]"
    return f"`{name.removeprefix('kernelmean.')}`"
