"""Formulas as MathML when the site is built: a page needs neither script nor network for them."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', flags=re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', flags=re.DOTALL)
VARIANT = re.compile(r'<mi mathvariant="(double-struck|script)">([A-Z])</mi>')
FIRST = {
    "double-struck": 0x1D538,
    "script": 0x1D49C,
}  # the letter A; some letters are elsewhere in Unicode:
ELSEWHERE = {
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "script": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
}
# Of the converter, and what browsers need: bars of one height, relations with their space.
SIGNS = {
    "<mo>&#x02016;</mo>": '<mo stretchy="false">&#x02016;</mo>',
    "<mi>&#x02016;</mi>": '<mo stretchy="false">&#x02016;</mo>',
    "<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",
    "<mi>&#x02032;</mi>": "<mo>&#x02032;</mo>",
}


class UnknownCommandError(ValueError):
    """A formula has a command that the converter does not know."""


def typeset(content: str) -> str:
    """The HTML of a page with its formulas in MathML."""
    content = DISPLAY.sub(
        lambda match: f'<div class="formula">{mathml(match[1], "block")}</div>', content
    )
    return INLINE.sub(lambda match: mathml(match[1], "inline"), content)


def mathml(formula: str, display: str) -> str:
    """One formula."""
    made = convert(html.unescape(formula).strip(), display=display)
    if "\\" in re.sub(r"<[^>]+>", "", made):
        raise UnknownCommandError(
            f"a command in this formula is not known to latex2mathml: {formula}"
        )
    for sign, shown in SIGNS.items():
        made = made.replace(sign, shown)
    return VARIANT.sub(lambda match: f"<mi>{_letter(*match.groups())}</mi>", made)


def _letter(variant: str, letter: str) -> str:
    """Browsers read no mathvariant but "normal"; the letters are characters of their own."""
    return ELSEWHERE[variant].get(letter, chr(FIRST[variant] + ord(letter) - ord("A")))
