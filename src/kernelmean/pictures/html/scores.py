"""The page of scores: how rare rows are, and which are the rarest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean._types import ArrayLike, Vector
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import column_names
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, legend_place, numbers, style, titled
from kernelmean.pictures.scores import RareRows, ScoreView, score_view

FINEST = 0.001  # share of the fitted rows below which it is not told exactly
MAX_TABULATED = 12  # columns of a row in the table


def scores_page(
    density: SparseKernelMean | DomainMean,
    sample: ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write the log-densities of rows as one self-contained HTML page.

    The page has their histogram, beside that of the rows that were fitted where the density
    remembers it, and the rarest rows with their values.

    Parameters
    ----------
    density : SparseKernelMean or DomainMean
        A fitted density, as ``SparseKDE(...).fit(X).mean_``.
    sample : array-like or frame of shape (n, d)
        The rows; the rarest 20 of them are written to the page.
    columns : sequence of str, default=None
        Names of the coordinates; by default those that the density remembers.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of rows.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time
        O(n·k·d), memory O(n·d).

    See Also
    --------
    kernelmean.SparseKDEOutlierDetector : Rows below a quantile of the density.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> page = km.report.scores_page(km.SparseKDE(random_state=0).fit(X).mean_, X)
    >>> "300 rows scored" in page
    True
    """
    if not density.is_density:
        raise ValueError("the page of scores needs a density, but this kernel mean is none.")
    view = score_view(density, sample, column_names(density, columns))
    return page_of_scores(view, density, settings=settings, command=command, title=title)


def page_of_scores(
    view: ScoreView,
    density: SparseKernelMean | DomainMean,
    *,
    cutoff: float | None = None,
    flagged: int | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """The page of what was seen of rows as they were scored; rows below the cutoff are flagged."""
    drawn = scores_chart("scores", view, cutoff)
    numbers = _numbers(view) | ({} if flagged is None else {"flagged": facts.number(flagged)})
    sections = [
        page.section("facts", "In numbers", page.facts(numbers)),
        _histogram(view, drawn),
        page.section("rarest", "Rarest rows", rarest_table(view.rarest)),
        facts.settings_section(facts.fitted(density), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"{facts.number(view.size)} rows scored"
    return page.render(page.Page("score", heading, _lede(view), sections, [drawn]))


def scores_chart(name: str, view: ScoreView, cutoff: float | None = None) -> Chart:
    """Bars of the rows, a line of those that were fitted, and where rows begin to be flagged."""
    middles = (view.edges[1:] + view.edges[:-1]) / 2.0
    bars = {
        "type": "bar",
        "x": numbers(middles),
        "y": numbers(100.0 * view.shares),
        "width": float(view.edges[1] - view.edges[0]),
        "marker": {"color": style("s4")},
        "hovertemplate": "log-density %{x:.3g}<br>%{y:.2f} % of the rows<extra></extra>",
    }
    legend = [{"name": "these rows", "trace": 0, "color": "s4", "symbol": "square"}]
    traces: list[Chart] = [bars]
    if view.fitted is not None:
        line = {"color": style("mark"), "width": 2, "shape": "hvh"}
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": numbers(middles),
                "y": numbers(100.0 * view.fitted),
                "line": line,
                "hovertemplate": "%{y:.2f} % of the fitted rows<extra></extra>",
            }
        )
        legend.append(
            {"name": "the rows that were fitted", "trace": 1, "color": "mark", "symbol": "line"}
        )
    if cutoff is not None and view.edges[0] < cutoff < view.edges[-1]:
        legend.append({"name": "threshold", "trace": len(traces), "color": "ink", "symbol": "line"})
        traces.append(_threshold(view, cutoff))
    walk = [
        [0, i, f"log-density about {middle:.3g}: {100.0 * share:.2f} % of the rows"]
        for i, (middle, share) in enumerate(zip(middles, view.shares, strict=True))
        if share > 0.0
    ]
    up = {**titled("share of the rows, %"), "rangemode": "tozero"}
    layout = {"xaxis": titled("log-density"), "yaxis": up, "bargap": 0}
    return {"id": name, "traces": traces, "layout": layout, "legend": legend, "walk": walk}


def _threshold(view: ScoreView, cutoff: float) -> Chart:
    """An upright line; rows to its left are flagged."""
    highest = 100.0 * max(view.shares.max(), 0.0 if view.fitted is None else view.fitted.max())
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [cutoff, cutoff],
        "y": [0.0, float(highest)],
        "line": {"color": style("ink"), "width": 1.5, "dash": "dash"},
        "hovertemplate": "threshold %{x:.4g}<extra></extra>",
    }


def rarest_table(rare: RareRows) -> str:
    """Each with its log-density, how many of the fitted rows are as rare, and its values."""
    names = rare.names[:MAX_TABULATED]
    shares = [""] * len(rare.numbers) if rare.shares is None else _as_rare(rare.shares)
    rows = [
        (
            facts.number(int(row)),
            _log(score),
            *([share] if rare.shares is not None else []),
            *told[: len(names)],
        )
        for row, score, share, told in zip(
            rare.numbers, rare.log_densities, shares, rare.values, strict=True
        )
    ]
    known = ("fitted rows as rare",) if rare.shares is not None else ()
    head = ("row", "log-density", *known, *names)
    what = (
        f"The {len(rows)} rows of the least log-density, the rarest first; rows are counted from 0"
    )
    right = [i for i in range(len(head)) if all(_is_number(row[i]) for row in rows)]
    return f'<div class="nowrap">{page.table(what, head, rows, numbers=right)}</div>'


def _as_rare(shares: Vector) -> list[str]:
    """Quantiles are known by tenths of a percent."""
    told = facts.percents(shares.tolist(), decimals=2)
    return [
        "none" if share <= 0.0 else "< 0.1 %" if share < FINEST else words
        for share, words in zip(shares, told, strict=True)
    ]


def _is_number(told: object) -> bool:
    """Whether a cell is a number, a share, or a word for none; other words stand to the left."""
    plain = str(told).replace("\u202f", "").replace("−∞", "-inf").removeprefix("< ")
    try:
        float(plain.removesuffix(" %"))
    except ValueError:
        return plain == "none"
    return True


def _log(score: float) -> str:
    return "−∞" if score == -np.inf else f"{score:.4g}"


def _histogram(view: ScoreView, drawn: Chart) -> str:
    beyond = view.below - view.outside / view.size
    said = "The further left, the rarer; log-densities differ by 1 where densities differ 2.7-fold."
    if beyond > 0.0:
        said += f" {facts.percent(beyond)} of the rows lie further left than is drawn."
    if view.outside:
        said += f" {facts.number(view.outside)} have the density zero."
    return page.section(
        "histogram",
        "How rare the rows are",
        f'<div class="controls">{legend_place([drawn])}</div>',
        page.chart("scores", "Histogram of log-densities", page.text(said), shape="wide"),
    )


def _numbers(view: ScoreView) -> dict[str, str]:
    told = {
        "rows": facts.number(view.size),
        "mean log-density": f"{view.mean:.4g}",
        "least log-density": _log(float(view.rarest.log_densities[0])),
    }
    shares = view.rarest.shares
    if shares is not None:
        told["rarer than every fitted row"] = _counted(int(np.count_nonzero(shares <= 0.0)))
    return told | ({"density zero": facts.number(view.outside)} if view.outside else {})


def _counted(count: int) -> str:
    from kernelmean.pictures.scores import MAX_LISTED

    return f"{count} or more" if count == MAX_LISTED else facts.number(count)


def _lede(view: ScoreView) -> str:
    return page.text(
        f"The log-density of {facts.number(view.size)} rows: how it is spread, and which rows are "
        "the rarest."
    )
