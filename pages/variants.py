"""Pictures of gallery and guides at half their size, and a dark one where the page is dark.

``![words](gallery/plot_x_1_1.png)`` becomes two pictures, of which the theme shows one. The page is
told how wide they are, so that nothing moves while it loads.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path

from pages.examples import dark_name

DENSITY = 2  # pixels of the file for one of the page
SHOWN = re.compile(r"!\[([^\]]*)\]\(((?:[\w./-]*/)?)([\w-]+\.png)\)")


def doubled(text: str, places: Mapping[str, Path]) -> str:
    """The Markdown of a page; ``places`` are the files by the names of the pictures."""

    def pair(match: re.Match[str]) -> str:
        words, folder, name = match.groups()
        if dark_name(name) not in places:
            return match[0]
        width, height = (side // DENSITY for side in size(places[name]))
        attributes = f'{{ width="{width}" height="{height}" loading=lazy }}'
        return (
            f"![{words}]({folder}{name}#only-light){attributes}"
            f"![{words}]({folder}{dark_name(name)}#only-dark){attributes}"
        )

    return SHOWN.sub(pair, text)


def size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG file in pixels, from its header."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height
