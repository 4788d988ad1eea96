"""The page of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean._types import ArrayLike, IntVector, Vector
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.covariances import covariances, deviations, seen_from_kernel
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import column_names, counted_as, density_views, heaviest_first
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.density import density_charts, density_section
from kernelmean.pictures.html.indicator import indicator_chart, indicator_figure
from kernelmean.pictures.indicator import indicator_curve

MAX_LISTED = 20  # centres in the table, the heaviest
MAX_TABULATED = 12  # coordinates of a centre in the table


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
    """Write a sparse kernel mean as one self-contained HTML page.

    The page has the density or the mean with its centres, the error against the number of centres,
    and the error, measured and promised.

    Parameters
    ----------
    mean : SparseKernelMean
        The fitted mean.
    sample : array-like of shape (n, d), default=None
        The data or some of its rows. They set the range of the pictures, and none of them is
        written to the page, which holds the centres only. By default the centres set the range.
    columns : sequence of str, default=None
        Names of the coordinates; by default those that the mean remembers, else x1, x2, and so on.
    certificate : Certificate, default=None
        The result of :meth:`SparseKernelMean.certificate`; without it the page shows the bounds
        only.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the numbers of points and of centres.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Time
        O((q + k)·k·d + d³) for q points of the grids, at most 80,000; memory O(n·d + (k + d)²).

    See Also
    --------
    kernelmean.plot.DensityDisplay : The density by Matplotlib.
    kernelmean.plot.IndicatorDisplay : The error against the number of centres by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> page = km.report.fit_page(km.sparse_kernel_mean(X, k=30, spread=None, random_state=0), X)
    >>> "300 points by 30 centres" in page
    True
    """
    if not isinstance(mean, SparseKernelMean):
        raise TypeError(f"the page of a fit needs a SparseKernelMean, got {type(mean).__name__}.")
    views = density_views(mean, sample, columns)
    curve = indicator_curve(mean)
    drawn = density_charts(views)
    names = column_names(mean, columns)
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(mean, certificate))),
        density_section(views, drawn, mean),
        page.section("centres", "How many centres", indicator_figure("indicator", curve)),
        page.section("error", "How good it is", _errors(mean, certificate), _heaviest(mean, names)),
        facts.settings_section(facts.fitted(mean), settings),
        facts.reproduce_section(command),
    ]
    size = f"{facts.number(mean.k)} {counted_as(mean)}"
    heading = title or f"{facts.number(mean.n_points)} points by {size}"
    lede = _lede(mean, views[0].what, certificate)
    charts = [*drawn, indicator_chart("indicator", curve)]
    return page.render(page.Page("fit", heading, lede, sections, charts))


def _lede(mean: SparseKernelMean, what: str, certificate: Certificate | None) -> str:
    size = (
        f"{facts.number(mean.n_points)} points in {mean.dimension} "
        f"dimension{'s' if mean.dimension > 1 else ''}"
    )
    said = f"The {what} of {size}, carried by {facts.number(mean.k)} {counted_as(mean)}"
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
        f"{counted_as(mean)} k\u2080": facts.number(mean.k),
        "bandwidth": f"{mean.kernel.length:.4g}",
        "covering radius": _cover(mean),
        **error,
    }


def _relative(certificate: Certificate) -> str:
    return f"{'< ' if certificate.below_floor else ''}{certificate.relative_error:.2e}"


def _cover(mean: SparseKernelMean) -> str:
    return "not known" if np.isnan(mean.cover) else f"{mean.cover:.4g}"


def _errors(mean: SparseKernelMean, certificate: Certificate | None) -> str:
    """What was measured, what is promised, and how far a point can be from its centre."""
    rows = [
        ("covering radius", _cover(mean), "largest distance of a point to its nearest centre"),
        *([] if certificate is None else _measured(certificate)),
        *_promised(mean),
    ]
    return page.table(
        "Error, measured and promised", ("quantity", "value", "meaning"), rows, numbers=(1,)
    )


def _measured(certificate: Certificate) -> list[tuple[str, str, str]]:
    spread = f" ± {certificate.standard_error:.1e}" if certificate.standard_error else ""
    method = f"norm of the difference to the full mean, method “{certificate.method}”"
    share = "the same, divided by the norm of the full mean"
    return [
        ("measured error", f"{certificate.error:.3e}{spread}", method),
        ("relative error", _relative(certificate), share),
    ]


def _promised(mean: SparseKernelMean) -> list[tuple[str, str, str]]:
    nearest = "promised from each point’s distance to its nearest centre"
    cover = "promised from the covering radius alone"
    bounds = [("tighter bound", mean.tighter_bound, nearest), ("Theorem 1", mean.bound, cover)]
    return [(name, f"{bound:.3e}", words) for name, bound, words in bounds if bound is not None]


def _heaviest(mean: SparseKernelMean, names: Sequence[str]) -> str:
    """The heaviest centres as a table, folded away; of a spread the standard deviation."""
    rows = heaviest_first(mean.weights)[:MAX_LISTED]
    spread = _deviations(mean, rows)
    shown = [
        (
            int(row) + 1,
            f"{mean.weights[row]:.4g}",
            *(f"{v:.4g}" for v in spread[i : i + 1]),
            *(f"{v:.5g}" for v in mean.centers[row, :MAX_TABULATED]),
        )
        for i, row in enumerate(rows)
    ]
    widths = ("spread (sd)",) if len(spread) else ()
    head = ("centre", "weight", *widths, *names[:MAX_TABULATED])
    what = f"The {len(shown)} heaviest centres"
    table = page.table(what, head, shown, numbers=range(1, len(head)))
    return f'<details class="nowrap"><summary>{what} as a table</summary>{table}</details>'


def _deviations(mean: SparseKernelMean, rows: IntVector) -> Vector:
    """The standard deviations of the spreads of some centres, in the data; empty for points."""
    if mean.spreads is None:
        return np.empty(0)
    T = seen_from_kernel(mean.expansion, np.eye(mean.dimension))
    return deviations(covariances(mean.spreads[rows], T))
