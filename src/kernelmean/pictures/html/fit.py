"""The page of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean._types import ArrayLike
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures import DensityView, column_names, density_views, indicator
from kernelmean.pictures.html import charts, facts, page

HEAVIEST = 20  # centres in the table
TABULATED = 12  # of their coordinates
KINDS = {
    "whole": "The fitted mean",
    "marginal": "The fitted mean with the other coordinates integrated out",
    "slice": "A slice of the fitted mean through its highest centre",
}


def fit_page(
    mean: SparseKernelMean,
    sample: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    certificate: Certificate | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """A sparse kernel mean as one self-contained HTML page.

    Parameters
    ----------
    mean : the fitted mean.
    sample : rows of the data, (n, d), or some of them: they set the range of the pictures, and none
        of them is written to the page, which holds the centres only. None: the range of the
        centres.
    columns : names of the coordinates; by default those that the mean remembers, else x1, x2, …
    certificate : of :meth:`SparseKernelMean.certificate`; without it the page shows the bounds
        only.
    settings : more rows for the table of settings, name to value.
    command : that reproduces the page, as a line or as a list of arguments.
    title : heading of the page.
    """
    if not isinstance(mean, SparseKernelMean):
        raise TypeError(f"the page of a fit needs a SparseKernelMean, got {type(mean).__name__}.")
    views = density_views(mean, sample, columns)
    curve = indicator(mean)
    drawn = [
        charts.density(f"density-{i}", view, small=len(views) > 1) for i, view in enumerate(views)
    ]
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(mean, certificate))),
        _density_section(views, drawn, mean),
        page.section("centres", "How many centres", _indicator_figure(mean)),
        page.section(
            "error",
            "How good it is",
            _certificate(mean, certificate),
            _heaviest(mean, column_names(mean, columns)),
        ),
        facts.settings_section(facts.fitted(mean), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"{facts.number(mean.n_points)} points by {facts.number(mean.k)} centres"
    return page.render(
        page.Page(
            "fit",
            heading,
            _lede(mean, certificate),
            sections,
            [*drawn, charts.indicator("indicator", curve)],
        )
    )


def _lede(mean: SparseKernelMean, certificate: Certificate | None) -> str:
    what = "density" if mean.is_density else "kernel mean"
    size = (
        f"{facts.number(mean.n_points)} points in {mean.dimension} "
        f"dimension{'s' if mean.dimension > 1 else ''}"
    )
    said = (
        f"The {what} of {size}, carried by {facts.number(mean.k)} centre{'s' if mean.k > 1 else ''}"
    )
    error = (
        ""
        if certificate is None
        else f", with a measured relative error of {_relative(certificate)}"
    )
    return page.text(f"{said}{error}.")


def _numbers(mean: SparseKernelMean, certificate: Certificate | None) -> dict[str, str]:
    error = {"relative error, measured": _relative(certificate)} if certificate else {}
    return {
        "points": facts.number(mean.n_points),
        "dimensions": facts.number(mean.dimension),
        "centres k\u2080": facts.number(mean.k),
        "bandwidth": f"{mean.kernel.length:.4g}",
        "covering radius": "not known" if np.isnan(mean.cover) else f"{mean.cover:.4g}",
        **error,
    }


def _relative(certificate: Certificate) -> str:
    return f"{'< ' if certificate.below_floor else ''}{certificate.relative_error:.2e}"


def _density_section(
    views: list[DensityView], drawn: list[charts.Chart], mean: SparseKernelMean
) -> str:
    shape = "wide" if len(views[0].axes) == 1 else "square"
    figures = [
        page.chart(
            str(chart["id"]),
            f"{view.what.capitalize()} in {' and '.join(view.axes)}",
            page.text(" × ".join(view.axes)),
            shape=shape,
        )
        for view, chart in zip(views, drawn, strict=True)
    ]
    classes = "views" if len(figures) > 1 else "single"
    grid = f'<div class="{classes}">{"".join(figures)}</div>'
    return page.section(
        "density", views[0].what.capitalize(), f"<p>{_density_words(views, mean)}</p>",
        f'<div class="controls">{charts.legend_place(drawn)}</div>', grid,
    )  # fmt: skip


def _density_words(views: list[DensityView], mean: SparseKernelMean) -> str:
    view = views[0]
    most = charts.DRAWN_SMALL if len(views) > 1 else charts.DRAWN
    lines = (
        ""
        if view.signed or len(view.axes) == 1
        else " Each line encloses another tenth of the mass in view."
    )
    few = (
        f" The {most} heaviest of {facts.number(mean.k)} centres are drawn."
        if mean.k > most
        else ""
    )
    plane = (
        " in the plane of the two leading principal axes of its centres"
        if view.axes[0].endswith("principal axis")
        else ""
    )
    rings = " Rings are centres; their areas are their weights."
    units = "" if mean.transform is None else f" Axes are in values after {mean.transform}."
    return page.text(
        f"{KINDS[view.kind]}{plane}.{units}{lines}{rings}{few} Arrow keys walk through the "
        "centres of a figure."
    )


def _indicator_figure(mean: SparseKernelMean) -> str:
    caption = (
        "How much of the squared error that k<sub>0</sub> centres remove is still there with m "
        "of them: "
        "(E<sub>m</sub> − E<sub>k₀</sub>) / (E<sub>1</sub> − E<sub>k₀</sub>). "
        f"Stopped at k<sub>0</sub> = {facts.number(mean.k)}: "
        f"{page.text(facts.REASONS[mean.stop_reason])}."
    )
    return page.chart(
        "indicator", "Error indicator against the number of centres", caption, shape="wide"
    )


def _certificate(mean: SparseKernelMean, certificate: Certificate | None) -> str:
    """What was measured, what is promised, and how far a point can be from its centre."""
    rows = [
        (
            "covering radius",
            "not known" if np.isnan(mean.cover) else f"{mean.cover:.4g}",
            "largest distance of a point to its nearest centre",
        )
    ]
    if certificate is not None:
        spread = f" ± {certificate.standard_error:.1e}" if certificate.standard_error else ""
        rows.append(
            (
                "measured error",
                f"{certificate.error:.3e}{spread}",
                f"norm of the difference to the full mean, method “{certificate.method}”",
            )
        )
        rows.append(
            (
                "relative error",
                _relative(certificate),
                "the same, divided by the norm of the full mean",
            )
        )
    for name, bound, words in (
        (
            "tighter bound",
            mean.tighter_bound,
            "promised from each point’s distance to its nearest centre",
        ),
        ("Theorem 1", mean.bound, "promised from the covering radius alone"),
    ):
        if bound is not None:
            rows.append((name, f"{bound:.3e}", words))
    return page.table(
        "Error, measured and promised", ("quantity", "value", "meaning"), rows, numbers=(1,)
    )


def _heaviest(mean: SparseKernelMean, names: Sequence[str]) -> str:
    """The heaviest centres as a table, folded away."""
    heaviest = np.argsort(-np.abs(mean.weights), kind="stable")[:HEAVIEST]
    shown = [
        (
            int(row) + 1,
            f"{mean.weights[row]:.4g}",
            *(f"{v:.5g}" for v in mean.centers[row, :TABULATED]),
        )
        for row in heaviest
    ]
    head = ("centre", "weight", *names[:TABULATED])
    what = f"The {len(shown)} heaviest centres"
    table = page.table(what, head, shown, numbers=range(1, len(head)))
    return f'<details class="nowrap"><summary>{what} as a table</summary>{table}</details>'
