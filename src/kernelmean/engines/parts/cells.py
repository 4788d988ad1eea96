"""The cells of centres: what the points nearest to each of them weigh, where their mean is, how far
they spread about it; and how the cells of parts combine to those of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.kernels import Spreads


class Cells(NamedTuple):
    """The points nearest to each of k centres: their total weight, their mean, and how far they
    spread about it where that was asked for.
    """

    masses: Vector  # (k,)
    means: Points  # (k, d), the centre itself where there are no points
    spreads: Spreads | None  # (k,) variances or (k, d, d) covariances, 0 where there are no points


def combined(parts: Sequence[Cells], shares: Vector, centers: Points) -> Cells:
    """The cells of all parts l together, of which part l has the share p_l.

    m = Σ_l p_l m_l, μ = c + Σ_l p_l m_l (μ_l − c)/m, and S = Σ_l p_l m_l (S_l + (μ_l − μ)(μ_l −
    μ)ᵀ)/m, of which variances are the trace over d.
    """
    weights = [share * part.masses for share, part in zip(shares, parts, strict=True)]
    masses: Vector = sum(weights, np.zeros(len(centers)))
    pulls = np.zeros(centers.shape)
    for w, part in zip(weights, parts, strict=True):
        pulls += w[:, None] * (part.means - centers)
    means = centers + _per_mass(pulls, masses)
    total: Spreads | None = None
    for w, part in zip(weights, parts, strict=True):
        if part.spreads is not None:
            full = part.spreads.ndim == 3
            spreads = part.spreads + _squares(part.means - means, full)
            own = w.reshape(-1, *(1,) * (spreads.ndim - 1)) * spreads
            total = own if total is None else total + own
    return Cells(masses, means, None if total is None else _per_mass(total, masses))


def _squares(offsets: Points, full: bool) -> Spreads:
    """The products uuᵀ of each offset u, or the mean of its squares."""
    if full:
        return offsets[:, :, None] * offsets[:, None, :]
    squares: Vector = (offsets**2).mean(axis=1)
    return squares


def _per_mass(sums: Spreads, masses: Vector) -> Spreads:
    """Sums over the points of each centre, divided by their mass; 0 where there are none."""
    m = masses.reshape(-1, *(1,) * (sums.ndim - 1))
    return np.divide(sums, m, out=np.zeros_like(sums), where=m > 0.0)
