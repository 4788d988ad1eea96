"""Plotly figures as plain data; colours are names that the page's style sheet knows, light and
dark.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelmean.pictures.html import page

NAME_LENGTH = 18  # letters of a name beside a heat map
TITLE_LENGTH = 40  # letters of the title of an axis

Chart = dict[str, Any]  # what the page's script reads: JSON


def style(name: str) -> dict[str, str]:
    """A colour of the style sheet, or its sequential scale."""
    return {"$": name}


def numbers(values: ArrayLike) -> dict[str, str]:
    """An array as Plotly reads it: 32-bit floats in base 64, a quarter of the text."""
    A = np.ascontiguousarray(values, dtype="<f4")
    packed = {"dtype": "f4", "bdata": base64.b64encode(A.tobytes()).decode("ascii")}
    return packed if A.ndim == 1 else packed | {"shape": ", ".join(map(str, A.shape))}


def titled(name: str) -> Chart:
    """The title of an axis, clear of its labels and of the frame."""
    return {"title": {"text": page.label(shortened(name, TITLE_LENGTH)), "standoff": 8}}


def shortened(name: str, letters: int = NAME_LENGTH) -> str:
    """At most so many letters, from both ends: samples often differ in the last ones, as replicates
    do.
    """
    if len(name) <= letters:
        return name
    tail = (letters - 1) // 2
    return f"{name[: letters - 1 - tail]}…{name[-tail:]}"


def legend_place(charts: Sequence[Chart]) -> str:
    """Where the page's script puts the buttons that switch traces on and off."""
    served = page.text(" ".join(chart["id"] for chart in charts))
    return f'<ul class="legend" data-serves="{served}" aria-label="Shown"></ul>'
