"""A page of HTML, read."""

from __future__ import annotations

import base64
import json
from html.parser import HTMLParser

import numpy as np


class Reader(HTMLParser):
    """Tags with attributes, scripts by type, and the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[tuple[str, str]] = []
        self.words, self._open = "", ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs).get("type", ""), ""))

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = kind, text + data
        elif self._open != "style":
            self.words += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def charts(html: str) -> list:
    """The figures of a page, as its script reads them."""
    found: list = json.loads(next(text for kind, text in Reader(html).scripts if kind))
    return found


def packed(part):
    """All numbers that a figure holds in base 64."""
    if isinstance(part, dict) and "bdata" in part:
        return [np.frombuffer(base64.b64decode(part["bdata"]), dtype="<f4")]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    return [found for entry in inner for found in packed(entry)]
