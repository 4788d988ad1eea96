"""The parts of the page of a difference: tables, and the places of its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernelmean.comparison import words
from kernelmean.pictures.difference import DifferenceMap, ranked_columns
from kernelmean.pictures.effects import EffectBars, MarginalHistogram, NullView
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, legend_place
from kernelmean.pictures.html.difference_map import plane_name

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.groups import GroupDifferences
    from kernelmean.comparison.regions import Region
    from kernelmean.comparison.value import Difference

MAX_LISTED = 50  # regions in the table, the largest
MAX_TABULATED = 12  # columns of a typical row in the table, those that explain most
MAX_OTHERS = 12  # further groups that are told in a paragraph each


def map_section(found: Difference, maps: Sequence[DifferenceMap], chart: Chart) -> str:
    """The map with its buttons, and the regions as a table."""
    line = len(maps[0].axes) == 1
    a, b = found.names
    ground = (
        f"The difference of the two densities: above zero {a} has more of its rows, below zero {b}."
        if line
        else f"Blue is where {a} has more of its rows, orange where {b} has; the stronger, the "
        "larger the difference of the densities. Columns that are not shown are integrated out."
    )
    caption = page.text(words.unbroken(f"{ground}{_marks_told(found, maps[0])}"))
    controls = f'<div class="controls">{_plane_choice(chart)}{legend_place([chart])}</div>'
    place = page.chart(
        str(chart["id"]),
        f"Map of the difference in {plane_name(maps[0])}",
        caption,
        shape="wide" if line else "tile",
    )
    return page.section("where", "Where they differ", controls, place, regions_table(found))


def _marks_told(found: Difference, view: DifferenceMap) -> str:
    """What outlines and their labels mean, by the first of them."""
    said = ""
    if view.regions:
        first = view.regions[0]
        region = found.regions[first.number - 1]
        shape = "Bars on the axis" if len(view.axes) == 1 else "Ellipses"
        gap = words.percentage_points(words.gain(region)[0])
        said = (
            f" {shape} are the regions of the table, from the 10 % to the 90 % quantile of their "
            f"rows; “{first.label}” says that {found.names[first.more]} has {gap} more of its rows "
            "there. Arrow keys walk through the regions."
        )
    elif not words.is_different(found):
        said = " No difference was found: such colours come by chance."
    if view.left_out:
        verb = "is" if view.left_out == 1 else "are"
        said += f" {words.counted(view.left_out, 'region')} of the table {verb} not drawn here."
    return said


def regions_table(found: Difference, noted: bool = True) -> str:
    """Where each region is, and the shares of the rows of either sample in it."""
    if not found.regions:
        rate = words.percent(found.level)
        return page_paragraph(
            f"No region was found in which the shares of the rows differ, at a false-discovery "
            f"rate of {rate}."
        )
    a, b = found.names
    head = (
        "region", "more in", "by percentage points", "where, with the middle 80 % of its rows",
        f"of {a}", f"of {b}", "q",
    )  # fmt: skip
    rows = [
        _region_row(found, i, region) for i, region in enumerate(list(found.regions)[:MAX_LISTED])
    ]
    table = page.table("Regions and their shares of the rows", head, rows, numbers=(2, 4, 5, 6))
    more = len(found.regions) - len(rows)
    rest = f" {words.counted(more, 'smaller region')} not listed." if more else ""
    note = (
        "Shares are of all rows of a sample. The interval allows for the regions having been "
        f"chosen; q is the smallest false-discovery rate at which one is found.{rest}"
    )
    return f'<div class="regions">{table}</div>{page_paragraph(note) if noted else ""}'


def page_paragraph(said: str) -> str:
    """Plain words as a paragraph."""
    return f"<p>{page.text(words.unbroken(said))}</p>"


def _region_row(found: Difference, i: int, region: Region) -> list[str]:
    where = "; ".join(_range_told(found, region, j) for j in region.columns[: words.MAX_COLUMNS])
    gap, low, high = (words.points(value) for value in words.gain(region))
    return [
        str(i + 1),
        found.names[region.more],
        f"{gap} ({low} to {high})",
        words.unbroken(where),
        *(words.percent(share) for share in region.shares),
        words.chance(region.q_value),
    ]


def _range_told(found: Difference, region: Region, j: int) -> str:
    """A column of a region: its middle, and where most of its rows are."""
    width = float(region.upper[j] - region.lower[j])
    middle, low, high = (
        words.near(float(value), width)
        for value in (region.center[j], region.lower[j], region.upper[j])
    )
    return f"{words.at(found.column_names[j], middle)} ({low} to {high})"


def _plane_choice(chart: Chart) -> str:
    """A list of the planes to choose from, where there are several."""
    if "variants" not in chart:
        return ""
    options = "".join(
        f'<option value="{page.text(name)}"{" selected" if name == chart["first"] else ""}>'
        f"{page.text(name)}</option>"
        for name in chart["variants"]
    )
    return (
        '<label for="plane">Columns</label>'
        f'<select id="plane" data-varies="{page.text(chart["id"])}">{options}</select>'
    )


def columns_section(columns: Sequence[MarginalHistogram], drawn: Sequence[Chart]) -> str:
    """The histograms of both samples, column by column."""
    figures = "".join(
        page.chart(
            str(chart["id"]),
            f"Histograms of {one.column} in both samples",
            _medians(one),
            shape="wide",
        )
        for one, chart in zip(columns, drawn, strict=True)
    )
    classes = "views low" if len(columns) > 1 else "single"
    return page.section(
        "columns",
        "Column by column",
        page_paragraph("Histograms of both samples; the columns that explain most come first."),
        f'<div class="controls">{legend_place(drawn)}</div>',
        f'<div class="{classes}">{figures}</div>',
    )


def _medians(one: MarginalHistogram) -> str:
    spread = float(np.ptp(one.edges)) / 25.0
    a, b = (words.near(value, spread) for value in (one.effect.value_a, one.effect.value_b))
    return page.text(f"{one.column}: medians {a} and {b}")


def effects_section(found: Difference, bars: Sequence[EffectBars], drawn: Sequence[Chart]) -> str:
    """How much columns and pairs explain, as bars and as tables."""
    captions = {
        "column": "Each column by itself.",
        "pair": "Pairs of columns: what they explain together beyond each by itself.",
    }
    figures = "".join(
        page.chart(
            str(chart["id"]), f"Share of the difference that each {one.what} explains",
            page.text(captions[one.what]), shape="wide",
        )
        for one, chart in zip(bars, drawn, strict=True)
    )  # fmt: skip
    said = "All columns and pairs sum to 100 %. Lines at the ends of bars are 95 % intervals."
    tables = "".join(_effects_table(found, one) for one in bars)
    return page.section(
        "explained",
        "What explains the difference",
        page_paragraph(said),
        f'<div class="views pair">{figures}</div>',
        tables,
    )


def _effects_table(found: Difference, bars: EffectBars) -> str:
    """All that are known, folded away."""
    a, b = found.names
    what = "median" if bars.what == "column" else "rank correlation"
    head = (bars.what, "share", "95 % interval", "p", f"{what} in {a}", f"{what} in {b}")
    rows = [_effect_row(effect) for effect in bars.listed]
    name = f"{len(rows)} {bars.what}{'' if len(rows) == 1 else 's'}"
    table = page.table(f"What {name} explain", head, rows, numbers=range(1, len(head)))
    return (
        f'<details class="nowrap"><summary>{name} as a table</summary>'
        f'<div class="tall">{table}</div></details>'
    )


def _effect_row(effect: Effect) -> list[str]:
    return [
        " × ".join(effect.columns),
        words.percent(effect.share),
        words.interval(effect),
        words.chance(effect.p_value),
        words.short(effect.value_a),
        words.short(effect.value_b),
    ]


def chance_section(found: Difference, null: NullView) -> str:
    """The test with its permutations."""
    count = facts.number(len(found.test.null))
    caption = (
        f"The statistic of the two samples, and those of {count} random permutations of their "
        "rows, in which there is no difference but by chance: "
        f"{words.percent(null.level)} of these lie beyond the dotted line."
    )
    name = "Statistics of the permutations and of the samples"
    return page.section(
        "chance", "Is it chance?", page.chart("null", name, page.text(caption), shape="wide")
    )


def typical_section(found: Difference) -> str:
    """The rows of either sample that lie where it exceeds the other most."""
    chosen = ranked_columns(found)[:MAX_TABULATED]
    names = [found.column_names[j] for j in chosen]
    tables = []
    for sample, rows in zip(found.names, (found.typical_a, found.typical_b), strict=True):
        told = [
            (int(row), *(words.short(float(point[j])) for j in chosen))
            for row, point in zip(rows.indices, rows.points, strict=True)
        ]
        caption = f"Rows of {sample}, counted from 0"
        tables.append(page.table(caption, ("row", *names), told, numbers=range(1, len(names) + 1)))
    said = "Rows that are most typical of what one sample has more of than the other."
    inner = "".join(f"<div>{table}</div>" for table in tables)
    return page.section(
        "typical", "Typical rows", page_paragraph(said), f'<div class="views pair">{inner}</div>'
    )


def groups_sections(found: GroupDifferences) -> tuple[list[str], list[str]]:
    """The table of all groups; and in short those that are not shown at length."""
    rows = [_group_row(found, int(i)) for i in found.order]
    head = ("group", "rows", "p, adjusted", "regions", "explains most")
    table = page.table("Each group against the rest", head, rows, numbers=(1, 2, 3))
    first = found.names[int(found.order[0])]
    said = f"Below is the group that differs most: {first} against the rest."
    overview = page.section("groups", "Groups", table, page_paragraph(said))
    others = [
        page.section(
            f"group-{place}",
            f"{found.names[int(i)]} against the rest",
            page_paragraph(found.differences[int(i)].describe()),
            regions_table(found.differences[int(i)], noted=False),
        )
        for place, i in enumerate(found.order[1 : 1 + MAX_OTHERS], start=2)
    ]
    return [overview], others


def _group_row(found: GroupDifferences, i: int) -> list[str]:
    own = found.differences[i]
    telling = words.most_telling(own)
    told = "–"
    if telling is not None:
        told = f"{words.effect_name(telling)} ({words.percent(telling.share)})"
    return [
        found.names[i],
        facts.number(own.n_points[0]),
        words.chance(found.p_values[i]),
        facts.number(len(own.regions)),
        words.unbroken(told),
    ]
