"""One self-contained HTML page: sections, styles, scripts and figures in one string that asks
nobody for anything.

Every string that came from outside is escaped where it enters: :func:`text` for HTML,
:func:`embedded` for JSON inside a script element, :func:`label` for Plotly's own little markup. The
page's security policy allows no request at all, and runs only the scripts whose hashes it names.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from kernelmean import __version__
from kernelmean.files import readable

# what an ImportError says
EXTRA = "the page of a picture needs Pillow: pip install 'kernelmean[report]'."
# Plotly.js with the traces that pages draw (scatter, bar, contour, heatmap and a few more), as its
# authors build it; the asset is that file under gzip.
PLOTLY_VERSION = "4.1.1"
PLOTLY = "plotly-cartesian.min.js.gz"


LONGEST_WORD = 40  # letters that stay in one line, which has room for as many on a phone


class Page(NamedTuple):
    """What is special about one page."""

    kind: str  # "fit", "embed", "query" and so on
    title: str
    lede: str  # one sentence, HTML
    sections: Sequence[str]  # HTML
    charts: Sequence[Mapping[str, Any]] = ()  # what Plotly draws; none: Plotly stays out


def render(page: Page) -> str:
    """The page as one string of HTML."""
    scripts = [_asset("page.js")]
    packed = plotly_packed() if page.charts else b""
    plotly = [gzip.decompress(packed).decode("utf-8")] if packed else []
    figures = f'<script type="application/json" id="charts">{embedded(list(page.charts))}</script>'
    parts = "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy([*plotly, *scripts])}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta name="generator" content="kernelmean {text(__version__)}">',
            '<link rel="icon" href="data:,">',
            f"<title>{text(page.title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>",
            f'<body class="{text(page.kind)}">',
            '<a class="skip" href="#main">Skip to the results</a>',
            f'<header>\n<p class="eyebrow">kernelmean {text(page.kind)}</p>',
            f"<h1>{text(page.title)}</h1>",
            f'<p class="lede">{page.lede}</p>\n</header>\n<main id="main">',
            "<noscript><p>The figures need JavaScript; everything else on this page does "
            "not.</p></noscript>",
            '<p id="without" hidden>This browser cannot unpack the figures; one of 2023 or later '
            "can. Everything else on this page is here.</p>",
            *page.sections,
            f'</main>\n<p id="spoken" class="unseen" aria-live="polite"></p>\n{figures}',
            _packed_script(packed) if packed else "",
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
    )
    return readable(parts)


def text(value: object) -> str:
    """Any value as text of an HTML page, in elements and in quoted attributes."""
    return html.escape(str(value), quote=True)


def unbroken(value: object) -> str:
    """The same, where no line ends within a word that is not very long: browsers break at hyphens,
    and options of commands begin with them.
    """
    return re.sub(r"\S*\w-\w\S*|(?<!\S)--?[a-z]\S*", _whole, text(value))


def _whole(word: re.Match[str]) -> str:
    long = len(word[0]) > LONGEST_WORD
    return word[0] if long else f'<span class="word">{word[0]}</span>'


def label(value: object) -> str:
    """Any value as text of a Plotly figure, which reads tags and entities of its own."""
    return html.escape(str(value), quote=False)


def embedded(value: object) -> str:
    """JSON that no HTML parser mistakes for markup: `<`, `>` and `&` are written as escapes."""
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def section(name: str, heading: str, *body: str) -> str:
    """A part of the page with its heading."""
    inner = "\n".join(body)
    title = f'<h2 id="{text(name)}">{text(heading)}</h2>'
    return f'<section aria-labelledby="{text(name)}">\n{title}\n{inner}\n</section>'


def facts(entries: Mapping[str, str]) -> str:
    """A few numbers to be read first."""
    tiles = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in entries.items()
    )
    return f'<dl class="facts">{tiles}</dl>'


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
) -> str:
    """A table that scrolls inside its own box; the first column heads the rows, ``numbers`` are
    aligned right.
    """
    classes = ['class="number"' if i in numbers else "" for i in range(len(head))]
    top = "".join(
        f'<th scope="col" {c}>{unbroken(name)}</th>' for name, c in zip(head, classes, strict=True)
    )
    lines = []
    for first, *rest in rows:
        cells = "".join(
            f"<td {c}>{unbroken(value)}</td>" for value, c in zip(rest, classes[1:], strict=True)
        )
        lines.append(f'<tr><th scope="row" {classes[0]}>{unbroken(first)}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}">'
        f"<table><caption>{text(caption)}</caption>"
        f"<thead><tr>{top}</tr></thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def chart(name: str, described: str, caption: str, *, shape: str = "square") -> str:
    """The place of a Plotly figure: reached by Tab, walked by arrow keys, with a name and a
    caption.
    """
    return (
        f'<figure class="{text(shape)}">'
        f'<div class="chart" id="{text(name)}" role="group" tabindex="0" '
        f'aria-roledescription="chart" aria-label="{text(described)}"></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def data_url(kind: str, content: bytes) -> str:
    """Bytes as an address that needs no request."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def plotly_packed() -> bytes:
    """Plotly's own script under gzip, a third of its length; it comes with this package."""
    return _assets().joinpath(PLOTLY).read_bytes()


def _packed_script(packed: bytes) -> str:
    """The script as data that the page unpacks, and the licence that goes where it goes."""
    data = base64.b64encode(packed).decode("ascii")
    licence = (
        f"Plotly.js {PLOTLY_VERSION}, which draws the figures.\n\n{_asset('plotly-LICENSE.txt')}"
    )
    return f'<!-- {licence} -->\n<script type="application/gzip" id="plotly">{data}</script>'


def _assets() -> Traversable:
    return resources.files("kernelmean.pictures.html").joinpath("assets")


def _asset(name: str) -> str:
    return _assets().joinpath(name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """No request to anywhere, and only these scripts, by their hashes; Plotly sets styles as it
    draws.
    """
    digests = (
        base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        for script in scripts
    )
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    images_and_forms = "img-src data: blob:; base-uri 'none'; form-action 'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; {images_and_forms}"
    )
