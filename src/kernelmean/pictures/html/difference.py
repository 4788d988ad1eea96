"""The page of a difference of two samples, or of several groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean.comparison import words
from kernelmean.comparison.groups import GroupDifferences
from kernelmean.comparison.result import TwoSampleTest
from kernelmean.comparison.value import Difference
from kernelmean.pictures.difference import difference_maps
from kernelmean.pictures.effects import effect_bars, marginal_histograms, null_view
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart
from kernelmean.pictures.html.difference_charts import (
    bars_chart,
    bars_end,
    marginal_chart,
    null_chart,
)
from kernelmean.pictures.html.difference_columns import columns_section, effects_section
from kernelmean.pictures.html.difference_map import map_chart
from kernelmean.pictures.html.difference_sections import (
    chance_section,
    groups_sections,
    map_section,
    typical_section,
)

MAX_SCALES = 12  # columns whose bandwidths are listed


def difference_page(
    found: Difference | GroupDifferences,
    *,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write where two samples differ as one self-contained HTML page.

    The page begins with the answer in words. It has a map of the columns that explain most, the
    regions in which one sample has more of its rows than the other, histograms side by side, how
    much of the difference each column explains, the test with its permutations, and the rows that
    are most typical of either sample. Of several groups it has a table, and all this for the group
    that differs most.

    Parameters
    ----------
    found : Difference or GroupDifferences
        The result of :func:`kernelmean.difference`.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the names of the samples.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Of the data
        it holds the typical rows, histograms and what is told of regions. Time O(q·k) for q points
        of the maps, at most 32,000, and k centres; memory O(q + k).

    See Also
    --------
    kernelmean.difference : Finds where two samples differ.
    kernelmean.plot.DifferenceDisplay : The map by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(300, 2))
    >>> B = np.concatenate([rng.normal(size=(250, 2)), rng.normal(4.0, 0.5, (50, 2))])
    >>> page = km.report.difference_page(km.difference(A, B, random_state=0))
    >>> "Where A and B differ" in page
    True
    """
    overview: list[str] = []
    others: list[str] = []
    if isinstance(found, GroupDifferences):
        most = found.differences[int(found.order[0])]
        overview, others = groups_sections(found)
        heading = f"How {len(found.names)} groups differ"
    else:
        most = found
        heading = _heading(most)
    sections, charts = _sections(most)
    known = _settings(most)
    parts = [
        *overview,
        *sections,
        *others,
        facts.settings_section(known, settings),
        facts.reproduce_section(command),
    ]
    lede = page.text(words.unbroken(found.describe()))
    return page.render(page.Page("compare", title or heading, lede, parts, charts))


def _heading(found: Difference) -> str:
    pair = f"{found.names[0]} and {found.names[1]}"
    if words.is_different(found) or len(found.regions):
        return f"Where {pair} differ"
    return f"No difference found between {pair}"


def _sections(found: Difference) -> tuple[list[str], list[Chart]]:
    """Everything about two samples, from the answer to the rows."""
    maps = difference_maps(found)
    chart = map_chart("map", maps)
    columns = marginal_histograms(found)
    drawn = [marginal_chart(f"column-{i}", one, found.names) for i, one in enumerate(columns)]
    several = len(found.column_names) > 1
    bars = [one for one in effect_bars(found) if one.effects]
    end = bars_end(bars)
    effects = [bars_chart(f"effects-{one.what}", one, end) for one in bars]
    null = null_view(found)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(found))),
        map_section(found, maps, chart),
        columns_section(found, columns, drawn),
        *([effects_section(found, bars, effects)] if several else []),
        chance_section(found, null),
        typical_section(found),
    ]
    shown = effects if several and words.stands_out(found) else []
    return sections, [chart, *drawn, *shown, null_chart("null", null)]


def _numbers(found: Difference) -> dict[str, str]:
    sizes = {
        f"rows of {name}": facts.number(n)
        for name, n in zip(found.names, found.n_points, strict=True)
    }
    return {
        "p-value": words.chance(found.test.p_value),
        **sizes,
        "columns": facts.number(len(found.column_names)),
        "regions found": facts.number(len(found.regions)),
        "false-discovery rate": words.percent(found.level),
    }


def _settings(found: Difference) -> dict[str, object]:
    """How it was computed."""
    mean = found.mean_a.expansion
    return {
        "kernel of the test": _kernel_told(found.test),
        "permutations": facts.number(len(found.test.null)),
        "level": words.percent(found.level),
        "kernel of the densities": _rounded(mean.kernel),
        "common centres": f"{facts.number(mean.k)}, {facts.SPREADS[mean.atoms.kind]}",
        "bandwidths": _bandwidths(found),
    }


def _kernel_told(test: TwoSampleTest) -> str:
    told = _rounded(test.kernel)
    if not test.aggregated:
        return told
    return f"{told}, that of the clearest of {len(test.components)} statistics"


def _rounded(kernel: object) -> str:
    """A kernel with its lengths to four digits."""
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", str(kernel))


def _bandwidths(found: Difference) -> str:
    """The bandwidth in the units of each column, where the map before the kernel is diagonal."""
    mean = found.mean_a.expansion
    length = mean.kernel.length
    if mean.scale is None:
        return f"{length:.3g} in all columns"
    diagonal = np.diag(mean.scale)
    if not np.array_equal(mean.scale, np.diag(diagonal)):
        return f"{length:.3g} after a {len(diagonal)} × {len(diagonal)} matrix"
    told = [
        words.at(name, words.short(length / a))
        for name, a in zip(found.column_names[:MAX_SCALES], diagonal, strict=False)
    ]
    return ", ".join(told) + (", …" if len(diagonal) > MAX_SCALES else "")
