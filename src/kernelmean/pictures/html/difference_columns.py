"""The parts of the page of a difference that go column by column: histograms, and shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernelmean.comparison import words
from kernelmean.pictures.effects import EffectBars, MarginalHistogram
from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, legend_place

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.value import Difference


def page_paragraph(said: str) -> str:
    """Plain words as a paragraph."""
    return f"<p>{page.text(words.unbroken(said))}</p>"


def columns_section(
    found: Difference, columns: Sequence[MarginalHistogram], drawn: Sequence[Chart]
) -> str:
    """The histograms of both samples, column by column."""
    first = "explain most" if words.stands_out(found) else "are least likely alike"
    order = f"; the columns that {first} come first" if len(columns) > 1 else ""
    classes = "views low" if len(columns) > 1 else "single"
    return page.section(
        "columns",
        "Column by column",
        page_paragraph(f"Histograms of both samples{order}."),
        f'<div class="controls">{legend_place(drawn)}</div>',
        f'<div class="{classes}">{histogram_figures(columns, drawn)}</div>',
    )


def histogram_figures(columns: Sequence[MarginalHistogram], drawn: Sequence[Chart]) -> str:
    """The places of the histograms, with the medians below."""
    return "".join(
        page.chart(
            str(chart["id"]),
            f"Histograms of {one.column} in both samples",
            _medians(one),
            shape="wide",
        )
        for one, chart in zip(columns, drawn, strict=True)
    )


def _medians(one: MarginalHistogram) -> str:
    spread = float(np.ptp(one.edges)) / 25.0
    a, b = (words.near(value, spread) for value in (one.effect.value_a, one.effect.value_b))
    return page.text(f"{one.column}: medians {a} and {b}")


def effects_section(found: Difference, bars: Sequence[EffectBars], drawn: Sequence[Chart]) -> str:
    """How much columns and pairs explain, as tables, and as bars where not all of it is zero."""
    figures = ""
    if words.stands_out(found):
        figures = f'<div class="views pair">{bar_figures(bars, drawn)}</div>'
    tables = "".join(_effects_table(found, one) for one in bars)
    title = "What explains the difference"
    return page.section("explained", title, page_paragraph(effects_told(found)), figures, tables)


def effects_told(found: Difference) -> str:
    """How bars of columns and pairs are read, or that there are none to draw."""
    if not words.stands_out(found):
        return "No column stands out, and no pair of columns: each differs as chance would have it."
    said = "All columns and pairs sum to 100 %. Lines at the ends of bars are 95 % intervals."
    if not words.is_different(found):
        p = words.p_value(found.test.p_value)
        said += f" Take them with care: taken as a whole the samples may be alike ({p})."
    return said


def bar_figures(bars: Sequence[EffectBars], drawn: Sequence[Chart]) -> str:
    """The places of the bars of columns, and of pairs."""
    captions = {
        "column": "Each column by itself.",
        "pair": "Pairs of columns: what they explain together beyond each by itself.",
    }
    return "".join(
        page.chart(
            str(chart["id"]), f"Share of the difference that each {one.what} explains",
            page.text(captions[one.what]), shape="wide",
        )
        for one, chart in zip(bars, drawn, strict=True)
    )  # fmt: skip


def _effects_table(found: Difference, bars: EffectBars) -> str:
    """All that are known, folded away."""
    a, b = found.names
    what = "median" if bars.what == "column" else "rank correlation"
    shares = ("share", "95 % interval") if words.stands_out(found) else ()
    head = (bars.what, *shares, "p", f"{what} in {a}", f"{what} in {b}")
    rows = [_effect_row(effect, bool(shares)) for effect in bars.listed]
    name = f"{len(rows)} {bars.what}{'' if len(rows) == 1 else 's'}"
    verb = "explains" if len(rows) == 1 else "explain"
    table = page.table(f"What {name} {verb}", head, rows, numbers=range(1, len(head)))
    return (
        f'<details class="nowrap"><summary>{name} as a table</summary>'
        f'<div class="tall">{table}</div></details>'
    )


def _effect_row(effect: Effect, shared: bool) -> list[str]:
    return [
        " × ".join(effect.columns),
        *([words.percent(effect.share), words.interval(effect)] if shared else []),
        words.chance(effect.p_value),
        words.short(effect.value_a),
        words.short(effect.value_b),
    ]
