"""The heaviest centres of a mean as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.mean.covariances import covariances, deviations, seen_from_kernel
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.html import page
from kernelmean.pictures.ranges import drawn_blur
from kernelmean.pictures.view import heaviest_first

MAX_LISTED = 20  # centres in the table, the heaviest
MAX_TABULATED = 12  # columns of a centre in the table


def heaviest_table(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, names: Sequence[str]
) -> str:
    """The heaviest centres, folded away; of a spread the standard deviation."""
    rows = heaviest_first(mean.weights)[:MAX_LISTED]
    spread = _deviations(mean, inner, rows)
    shown = [
        (
            int(row) + 1,
            f"{mean.weights[row]:.4g}",
            *(f"{v:.4g}" for v in spread[i : i + 1]),
            *told[:MAX_TABULATED],
        )
        for i, (row, told) in enumerate(zip(rows, _told(mean, inner, rows), strict=True))
    ]
    widths = ("spread (sd)",) if len(spread) else ()
    head = ("centre", "weight", *widths, *names[:MAX_TABULATED])
    what = f"The {len(shown)} heaviest centres"
    table = page.table(what, head, shown, numbers=range(1, len(head)))
    return f'<details class="nowrap"><summary>{what} as a table</summary>{table}</details>'


def _told(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, rows: IntVector
) -> list[list[str]]:
    """The columns of some centres; of categories the likeliest one, with its probability."""
    if not isinstance(mean, DomainMean):
        return [[f"{v:.5g}" for v in center] for center in inner.centers[rows]]
    domain = mean.domain
    none = np.zeros((len(rows), len(domain.categories)), dtype=np.intp)
    numbers = domain.rows(inner.centers[rows], none)
    told = [[f"{v:.5g}" for v in row] for row in numbers]
    firsts = np.cumsum((0, *domain.sizes))
    for i, (t, levels) in enumerate(zip(domain.categories.tolist(), domain.levels, strict=True)):
        assert mean.log_shares is not None
        shares = np.exp(mean.log_shares[rows, firsts[i] : firsts[i + 1]])
        for line, found in zip(told, shares, strict=True):
            line[t] = f"{levels[found.argmax()]} ({100.0 * found.max():.0f} %)"
    return told


def _deviations(
    mean: SparseKernelMean | DomainMean, inner: SparseKernelMean, rows: IntVector
) -> Vector:
    """The standard deviations of the spreads of some centres, in the data; empty for points.

    Of whole atoms where those were fitted by likelihood. On a domain they are those of numbers.
    """
    if inner.spreads is None:
        return np.empty(0)
    P = np.eye(inner.dimension)
    if isinstance(mean, DomainMean):
        P = P[: len(mean.domain.lines)]
        if not len(P):
            return np.empty(0)
    T = seen_from_kernel(inner.expansion, P)
    return deviations(covariances(inner.spreads[rows], T, drawn_blur(inner)))
