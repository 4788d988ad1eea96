"""Docstrings and pages of this project in the form that the site needs."""

from __future__ import annotations

import re

SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-+$", flags=re.MULTILINE)
RELATED = re.compile(r"^([\w.]+) : (.+)$", flags=re.MULTILINE)
REFERENCE = re.compile(r"^\.\. \[(\d+)\] ", flags=re.MULTILINE)
CITATION = re.compile(r"\[(\d+)\]_")
ROLE = re.compile(r":(class|func|meth|attr):`([\w.]+)`")
FENCED = re.compile(r"(^```.*?^```$)", flags=re.DOTALL | re.MULTILINE)
LIST_AT_ONCE = re.compile(r"^((?![-*+] |[#|>\s]|\d+\. ).+)\n(?=[-*] )", flags=re.MULTILINE)


def lists_apart(text: str) -> str:
    """Markdown with an empty line between a paragraph and a list right below it.

    Repositories show such a list as one, but the converter of this site wants the empty line.
    """
    parts = FENCED.split(text)
    return "".join(
        part if i % 2 else LIST_AT_ONCE.sub(r"\1\n\n", part) for i, part in enumerate(parts)
    )


def rewritten(
    text: str, public: set[str], members: dict[str, str], *, of_class: bool = False
) -> str:
    """A docstring with its roles, its related names and its references as Markdown.

    ``public`` are names of the package, ``members`` the names around the docstring with their full
    paths. What a method relates to are first of all the other methods of its class.
    """

    def related(match: re.Match[str]) -> str:
        return f"- {_link(match[1], public, members, own_first=not of_class)}: {match[2]}"

    def role(match: re.Match[str]) -> str:
        return _link(match[2], public, members, own_first=match[1] in ("meth", "attr"))

    parts = SECTION.split(text)
    done = [parts[0]]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        entries = RELATED.sub(related, body) if title == "See Also" else body
        if title == "References":
            entries = REFERENCE.sub(r"\1. ", body)
        done.append(f"{title}\n{'-' * len(title)}{entries}")
    return CITATION.sub(r"[\1]", ROLE.sub(role, "".join(done)))


def _link(name: str, public: set[str], members: dict[str, str], *, own_first: bool) -> str:
    """A link to a name around the docstring or of the package; plain code for any other name."""
    short = name.removeprefix("kernelmean.")
    own = f"[`{short}`][{members[short]}]" if short in members and short == name else None
    known = f"[`{short}`][kernelmean.{short}]" if short.partition(".")[0] in public else None
    preferred = (own, known) if own_first else (known, own)
    return preferred[0] or preferred[1] or f"`{short}`"
