"""The page of shares of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, legend_place, shortened, style, titled
from kernelmean.pictures.proportions import ProportionView, proportion_view
from kernelmean.proportions.estimator import ClassProportions
from kernelmean.proportions.explaining import GoodnessOfFit
from kernelmean.proportions.intervals import ProportionIntervals

MAX_DRAWN = 30  # classes with a bar, those of the largest shares
VERDICTS = {
    "explained": "A mixture of the classes explains the sample.",
    "doubtful": "A mixture of the classes hardly explains the sample: read these shares with care.",
    "unexplained": "No mixture of the classes looks like this sample: the classes have changed, or "
    "it holds something else. Do not trust these shares.",
    "not tested": "The classes have too few rows to test whether a mixture explains the sample.",
}


def proportions_page(
    model: ClassProportions,
    found: ProportionIntervals,
    *,
    fit: GoodnessOfFit | None = None,
    training: Sequence[float] | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write shares of classes as one self-contained HTML page.

    The page has a bar with an interval for each class, and says how well a mixture of the classes
    explains the sample.

    Parameters
    ----------
    model : ClassProportions
        The fitted estimator.
    found : ProportionIntervals
        The result of :meth:`ClassProportions.predict_interval` for one sample.
    fit : GoodnessOfFit, default=None
        The result of :meth:`ClassProportions.goodness_of_fit` for the same sample.
    training : sequence of float, default=None
        Shares of the classes in the labelled rows, in the order of ``model.classes_``, to be drawn
        beside.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of classes.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time and
        memory O(C) for C classes.

    See Also
    --------
    kernelmean.ClassProportions : Finds the shares.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 2)) + 3.0 * y[:, None]
    >>> model = km.ClassProportions(random_state=0).fit(X, y)
    >>> page = km.report.proportions_page(model, model.predict_interval(X[:90]))
    >>> "Shares of 2 classes" in page
    True
    """
    view = proportion_view(model, found, fit, training)
    drawn = proportions_chart("shares", view)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(view))),
        _bars(view, drawn),
        page.section("explained", "How well it explains the sample", *_explained(view)),
        facts.settings_section(_settings(model), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"Shares of {len(view.names)} classes"
    return page.render(page.Page("proportions", heading, _lede(view), sections, [drawn]))


def proportions_chart(name: str, view: ProportionView) -> Chart:
    """Bars from left to right, the largest above, each with its interval."""
    shown = slice(0, MAX_DRAWN)
    names = view.names[shown]
    places = list(range(len(names)))
    shares = 100.0 * view.shares[shown]
    arms = {
        "type": "data",
        "symmetric": False,
        "array": (100.0 * view.upper[shown] - shares).tolist(),
        "arrayminus": (shares - 100.0 * view.lower[shown]).tolist(),
        "color": style("ink"),
        "thickness": 1.5,
        "width": 5,
    }
    told = [[page.label(view.names[i]), _interval(view, i)] for i in places]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": shares.tolist(),
        "y": places,
        "error_x": arms,
        "customdata": told,
        "marker": {"color": style("s4")},
        "hovertemplate": "%{customdata[0]}: %{x:.1f} %<br>%{customdata[1]}<extra></extra>",
    }
    traces: list[Chart] = [bars]
    legend = [
        {
            "name": f"share, with its {_level(view)} interval",
            "trace": 0,
            "color": "s4",
            "symbol": "square",
        }
    ]
    if view.training is not None:
        traces.append(_training(view, places))
        legend.append(
            {"name": "share in the labelled rows", "trace": 1, "color": "mark", "symbol": "diamond"}
        )
    walk = [
        [0, i, f"{view.names[i]}: {facts.percent(view.shares[i])}, {_interval(view, i)}"]
        for i in places
    ]
    ticks = {"tickvals": places, "ticktext": [page.label(shortened(name)) for name in names]}
    layout = {
        "xaxis": {**titled("share of the sample, %"), "rangemode": "tozero"},
        "yaxis": {**ticks, "autorange": "reversed", "showgrid": False},
        "bargap": 0.35,
    }
    return {"id": name, "traces": traces, "layout": layout, "legend": legend, "walk": walk}


def _training(view: ProportionView, places: list[int]) -> Chart:
    assert view.training is not None
    return {
        "type": "scatter",
        "mode": "markers",
        "x": (100.0 * view.training[: len(places)]).tolist(),
        "y": places,
        "marker": {"symbol": "diamond", "size": 9, "color": style("mark")},
        "hovertemplate": "%{x:.1f} % of the labelled rows<extra></extra>",
    }


def _bars(view: ProportionView, drawn: Chart) -> str:
    more = len(view.names) - MAX_DRAWN
    said = f"Each bar is the share of a class, its whisker the {_level(view)} interval."
    if more > 0:
        said += f" The {MAX_DRAWN} largest are drawn; {facts.number(more)} more are in the table."
    before = [] if view.training is None else ["in the labelled rows"]
    known = [view.shares, view.lower, view.upper]
    known += [] if view.training is None else [view.training]
    rows = list(zip(view.names, *map(facts.percents, known), strict=True))
    head = ("class", "share", "at least", "at most", *before)
    return page.section(
        "shares-of-classes",
        "Shares",
        f'<div class="controls">{legend_place([drawn])}</div>',
        page.chart("shares", "Shares of the classes", page.text(said), shape="wide"),
        page.table(
            f"Shares with {_level(view)} intervals", head, rows, numbers=range(1, len(head))
        ),
    )


def _explained(view: ProportionView) -> list[str]:
    words = f"<p><strong>{page.text(VERDICTS[view.verdict])}</strong></p>"
    if view.fit is None:
        return [words]
    how = (
        "The rows of the sample are compared with the nearest mixture of the classes, in the "
        "columns as they are. Where it is such a mixture, chance leaves a distance as large as "
        "this in the share of cases that p says."
    )
    rows = [
        ("distance to the nearest mixture", f"{view.fit.distance:.3g}"),
        ("distance that chance leaves on average", f"{view.fit.expected_distance:.3g}"),
        ("p", f"{view.fit.p_value:.2g}"),
    ]
    table = page.table("Test of a mixture", ("quantity", "value"), rows, numbers=(1,))
    return [words, f"<p>{how}</p>", table]


def _numbers(view: ProportionView) -> dict[str, str]:
    told = {
        "classes": facts.number(len(view.names)),
        "largest share": facts.percent(view.shares[0]),
    }
    widest = float((view.upper - view.lower).max())
    told["widest interval"] = f"{100.0 * widest:.2g} points"
    p = "not tested" if view.fit is None else f"p = {view.fit.p_value:.2g}"
    return told | {"explained by a mixture": p}


def _settings(model: ClassProportions) -> dict[str, object]:
    known: dict[str, object] = {"solver": model.solver_}
    if model.classifier_ is None:
        return known | {"compared by": f"kernel means, {model.kernel_}"}
    return known | {"compared by": ", ".join(model.classifier_.names_)}


def _lede(view: ProportionView) -> str:
    first = f"{view.names[0]} has {facts.percent(view.shares[0])} of the sample"
    return page.text(f"{first}, {_interval(view, 0)}. {VERDICTS[view.verdict]}")


def _interval(view: ProportionView, i: int) -> str:
    return f"between {facts.percent(view.lower[i])} and {facts.percent(view.upper[i])}"


def _level(view: ProportionView) -> str:
    return f"{100.0 * view.level:.3g} %"
