"""The page of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelmean._types import ArrayLike
from kernelmean.density.mixture import mean_log_density
from kernelmean.domains import words
from kernelmean.mean.certificate import Certificate
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood
from kernelmean.pictures.density import (
    column_names,
    counted_as,
    density_views,
    marginal_views,
)
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.centers import heaviest_table
from kernelmean.pictures.html.charts import Chart
from kernelmean.pictures.html.density import density_charts, density_section
from kernelmean.pictures.html.indicator import indicator_chart, indicator_figure
from kernelmean.pictures.html.marginals import marginal_charts, marginal_section
from kernelmean.pictures.html.scores import rarest_table
from kernelmean.pictures.indicator import indicator_curve
from kernelmean.pictures.on_domain import inner_of
from kernelmean.pictures.scores import rarest_rows
from kernelmean.pictures.view import DensityView


def fit_page(
    mean: SparseKernelMean | DomainMean,
    sample: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    certificate: Certificate | None = None,
    rows: bool = True,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write a sparse kernel mean as one self-contained HTML page.

    The page has the density or the mean with its centres and some rows, each column by itself, the
    rarest rows, the error against the number of centres, and the error, measured and promised. A
    density that was fitted by likelihood is near to no kernel mean: in the place of errors the page
    has its mean log-density.

    Parameters
    ----------
    mean : SparseKernelMean or DomainMean
        The fitted mean.
    sample : array-like or frame of shape (n, d), default=None
        The data or some of its rows. They set the range of the pictures; some of them are drawn,
        and of a density the 20 rarest are listed. By default the centres set the range.
    columns : sequence of str, default=None
        Names of the coordinates; by default those that the mean remembers, else x1, x2, and so on.
    certificate : Certificate, default=None
        The result of :meth:`SparseKernelMean.certificate`; without it the page shows the bounds
        only.
    rows : bool, default=True
        Whether rows of the sample may be written to the page; without them it holds nothing but
        the centres.
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
    return page_of_density(
        "fit",
        mean,
        sample,
        columns=columns,
        certificate=certificate,
        rows=rows,
        settings=settings,
        command=command,
        title=title,
    )


def page_of_density(
    kind: str,
    mean: SparseKernelMean | DomainMean,
    sample: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    certificate: Certificate | None = None,
    rows: bool = True,
    answers: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """The page of a mean for one of the commands that show one; ``answers`` are sections of it."""
    if not isinstance(mean, SparseKernelMean | DomainMean):
        raise TypeError(f"the page of a fit needs a SparseKernelMean, got {type(mean).__name__}.")
    inner = inner_of(mean)
    if not isinstance(inner, SparseKernelMean):
        raise TypeError("the page of a fit needs a sparse mean, but here every row is a centre.")
    views = _shown(density_views(mean, sample, columns), rows)
    drawn = density_charts(views)
    centres, curves = _indicator(inner)
    names = column_names(mean, columns)
    alone = _shown(marginal_views(mean, views, sample, names), rows)
    single = marginal_charts(alone)
    said = _domain(mean, names)
    numbers = page.facts(_numbers(mean, inner, certificate))
    tables = _errors(mean, inner, certificate), heaviest_table(mean, inner, names)
    sections = [
        page.section("facts", "In numbers", numbers, *map(_domain_line, said.values())),
        *answers,
        density_section(views, drawn, mean),
        *marginal_section(alone, single),
        *_rarest(mean, sample if rows else None, names),
        *centres,
        page.section("error", "How good it is", *tables),
        facts.settings_section(facts.fitted(mean) | said, settings),
        facts.reproduce_section(command),
    ]
    size = f"{facts.number(mean.k)} {counted_as(mean)}"
    heading = title or f"{facts.number(mean.n_points)} points by {size}"
    lede = _lede(mean, inner, certificate)
    return page.render(page.Page(kind, heading, lede, sections, [*drawn, *single, *curves]))


def _shown(views: list[DensityView], rows: bool) -> list[DensityView]:
    """Views, without rows where none may be shown."""
    return views if rows else [view._replace(rows=None) for view in views]


def _rarest(
    mean: SparseKernelMean | DomainMean, sample: ArrayLike | None, names: Sequence[str]
) -> list[str]:
    """The section of the rarest rows of a sample, where the mean is a density."""
    if sample is None or not mean.is_density:
        return []
    rare, looked_at = rarest_rows(mean, sample, names)
    part = f" Of all rows {facts.number(looked_at)} were looked at." if looked_at else ""
    words = "<p>What the density holds for the least likely: errors of entry, or what is new."
    return [page.section("rarest", "Rarest rows", f"{words}{part}</p>", rarest_table(rare))]


def _domain(mean: SparseKernelMean | DomainMean, names: Sequence[str]) -> dict[str, str]:
    """What the columns can hold, in words."""
    if not isinstance(mean, DomainMean):
        return {}
    return {"domain": words.sentence(mean.domain, names)}


def _domain_line(said: str) -> str:
    return f"<p>Its domain: {page.text(said)}.</p>"


def _indicator(mean: SparseKernelMean) -> tuple[list[str], list[Chart]]:
    """The section of the error against the number of centres and its chart, where there is one."""
    if mean.indicator is None:
        return [], []
    curve = indicator_curve(mean)
    figure = indicator_figure("indicator", curve)
    section = page.section("centres", "How many centres", figure)
    return [section], [indicator_chart("indicator", curve)]


def _lede(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, certificate: Certificate | None
) -> str:
    what = "density" if mean.is_density else "kernel mean"
    size = (
        f"{facts.number(mean.n_points)} points in {mean.dimension} "
        f"dimension{'s' if mean.dimension > 1 else ''}"
    )
    said = f"The {what} of {size}, carried by {facts.number(mean.k)} {counted_as(mean)}"
    how = " that were fitted by likelihood" if is_by_likelihood(inner) else ""
    error = (
        ""
        if certificate is None
        else f", with a measured relative error of {_relative(certificate)}"
    )
    return page.text(f"{said}{how}{error}.")


def _numbers(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, certificate: Certificate | None
) -> dict[str, str]:
    error = {"relative error, measured": _relative(certificate)} if certificate else {}
    return {
        "points": facts.number(mean.n_points),
        "dimensions": facts.number(mean.dimension),
        f"{counted_as(mean)} k\u2080": facts.number(mean.k),
        "bandwidth": f"{mean.kernel.length:.4g}",
        **_quality(mean, inner),
        **error,
    }


def _quality(mean: SparseKernelMean | DomainMean, inner: SparseKernelMean) -> dict[str, str]:
    """How far points are from centres, or how likely they are to a density by likelihood."""
    if not is_by_likelihood(inner):
        return {"covering radius": _cover(inner)}
    return {} if mean.log_quantiles is None else {"mean log-density": _log_density(mean)}


def _log_density(mean: SparseKernelMean | DomainMean) -> str:
    known = mean.log_quantiles
    return "not known" if known is None else f"{mean_log_density(known):.4g}"


def _relative(certificate: Certificate) -> str:
    error = facts.percent(certificate.relative_error)
    return f"{'< ' if certificate.below_floor else ''}{error}"


def _cover(mean: SparseKernelMean) -> str:
    return "not known" if np.isnan(mean.cover) else f"{mean.cover:.4g}"


def _errors(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, certificate: Certificate | None
) -> str:
    """What was measured, what is promised, and how far a point can be from its centre.

    On a domain nothing is promised: the bounds are those of the mean inside.
    """
    head = ("quantity", "value", "meaning")
    if is_by_likelihood(inner):
        return page.table("Likelihood", head, _likely(mean), numbers=(1,))
    rows = [
        ("covering radius", _cover(inner), "largest distance of a point to its nearest centre"),
        *([] if certificate is None else _measured(certificate)),
        *([] if isinstance(mean, DomainMean) else _promised(inner)),
    ]
    return page.table("Error, measured and promised", head, rows, numbers=(1,))


def _likely(mean: SparseKernelMean | DomainMean) -> list[tuple[str, str, str]]:
    """What there is to say of a density by likelihood: it has no kernel mean to be near to."""
    width = "the least width of an atom, after the scale"
    nothing = "there is no kernel mean that the density would be a copy of"
    return [
        ("mean log-density", _log_density(mean), "of the points that were fitted"),
        ("bandwidth σ", f"{mean.kernel.length:.4g}", width),
        ("relative error", "none", nothing),
    ]


def _measured(certificate: Certificate) -> list[tuple[str, str, str]]:
    spread = f" ± {certificate.standard_error:.1g}" if certificate.standard_error else ""
    method = f"norm of the difference to the full mean, method “{certificate.method}”"
    share = "the same, divided by the norm of the full mean"
    return [
        ("measured error", f"{certificate.error:.3g}{spread}", method),
        ("relative error", _relative(certificate), share),
    ]


def _promised(mean: SparseKernelMean) -> list[tuple[str, str, str]]:
    nearest = "promised from each point’s distance to its nearest centre"
    cover = "promised from the covering radius alone"
    bounds = [("tighter bound", mean.tighter_bound, nearest), ("Theorem 1", mean.bound, cover)]
    return [(name, f"{bound:.3g}", words) for name, bound, words in bounds if bound is not None]
