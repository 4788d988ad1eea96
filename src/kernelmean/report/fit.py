"""The page of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean._types import ArrayLike
from kernelmean.certificates import Certificate
from kernelmean.mean import SparseKernelMean
from kernelmean.report import facts, page


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
    sample : rows of the data, (n, d), or some of them: they set the range of the pictures, and none of them is written to
        the page, which holds the centres only. None: the range of the centres.
    columns : names of the coordinates; by default those that the mean remembers, else x1, x2, …
    certificate : of :meth:`SparseKernelMean.certificate`; without it the page shows the bounds only.
    settings : more rows for the table of settings, name to value.
    command : that reproduces the page, as a line or as a list of arguments.
    title : heading of the page.
    """
    heading = title or f"{facts.number(mean.n_points)} points by {facts.number(mean.k)} centres"
    sections = [facts.settings_section(facts.fitted(mean), settings), facts.reproduce_section(command)]
    return page.render(page.Page("fit", heading, "", sections))
