"""Entropy, level sets and peaks of a density on a domain."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.domains import Domain
from kernelmean.mean import scaling
from kernelmean.mean.questions import levels
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.mixture import refuse_others_than_densities
from kernelmean.mean.questions.on_domain import rows
from kernelmean.mean.questions.on_domain.products import Products
from kernelmean.mean.questions.plain import CLIMBING_STEP, CLIMBING_STEPS
from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean

MOST_COMBINATIONS = 2**16  # of categories that are listed
SAME_PEAK = 1e-2  # bandwidths: peaks that are nearer, or whose images are, are one


def entropy(mean: DomainMean, rng: np.random.Generator) -> Estimate:
    """−Σ∫ f log f: exact for one column of numbers or for categories, else by points drawn."""
    domain = mean.domain
    if domain.is_flat and domain.dimension == 1:
        column = Products.of(mean, "entropy").column(0)
        x, w = levels.quadrature(column.nodes(levels.NODES_PER_DEVIATION, levels.REACH))
        logs = mean.log_coded(x[:, None])
        return Estimate(-float(w @ (np.exp(logs) * logs)))
    if _only_categories(domain) and math.prod(domain.sizes) <= MOST_COMBINATIONS:
        every = np.array(list(product(*map(range, domain.sizes))), dtype=np.float64)
        logs = mean.log_coded(every)
        some = logs > -np.inf
        return Estimate(-float(np.exp(logs[some]) @ logs[some]))
    terms = -mean.log_coded(rows.draw(mean, levels.DRAWS, rng))
    return Estimate(float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(levels.DRAWS))


def _only_categories(domain: Domain) -> bool:
    return len(domain.categories) == domain.dimension


def region(mean: DomainMean, level: float, rng: np.random.Generator) -> HighestDensityRegion:
    """The threshold t with P(f(X) ≥ t) = level, and the intervals within one column of numbers."""
    if mean.domain.is_flat and mean.dimension == 1:
        column = Products.of(mean, "hdr").column(0)
        x = column.nodes(levels.CROSSING_NODES, levels.REACH)
        return levels.line_region(mean, column, x, level)
    logs = mean.log_coded(rows.draw(mean, levels.DRAWS, rng))
    error = math.sqrt(level * (1.0 - level) / levels.DRAWS)
    return HighestDensityRegion(level, float(np.quantile(logs, 1.0 - level)), error, mean)


def modes(mean: DomainMean, columns: Columns) -> DensityModes:
    """Mean shift of the unfolded sum from every centre; peaks beyond a bound are folded back."""
    from kernelmean.mean.climbing import DensityToClimb  # with SciPy's trees
    from kernelmean.mean.joint_climbing import climb_together
    from kernelmean.mean.questions.on_domain.bounded_hill import bounded_hill

    refuse_others_than_densities(mean.base.expansion, "modes")
    if not mean.domain.is_flat:
        flat = set(mean.domain.lines.tolist())
        other = ", ".join(columns.label(t) for t in range(mean.dimension) if t not in flat)
        raise ValueError(
            f"modes needs columns of numbers, and here is {other}: ask conditional(...) with "
            "values of these columns first, and the result for its modes."
        )
    unfolded = mean.unfolded
    hill = bounded_hill(mean, DensityToClimb.of(unfolded))
    live = np.flatnonzero(mean.weights)
    starts = unfolded.map(mean.domain.group.folded(mean.places[live]))
    found = climb_together(hill, starts, CLIMBING_STEP, CLIMBING_STEPS, hill.length)
    peaks = scaling.undo(unfolded.scale, found.peaks, unfolded.centers[0])
    return _distinct(mean, mean.domain.rows(peaks, np.zeros((len(peaks), 0), dtype=np.intp)))


def _distinct(mean: DomainMean, peaks: Points) -> DensityModes:
    """Peaks from the highest, of those that are one but for a period, or rounding, the highest."""
    logs: Vector = mean.log_coded(peaks)
    order = np.argsort(-logs, kind="stable")
    coordinates = mean.domain.embed(peaks).coordinates
    widths = np.where(mean.domain.group.periodic, mean.domain.group.widths, np.inf)
    kept: list[int] = []
    for a in order:
        apart = np.abs(coordinates[kept] - coordinates[a])
        apart = np.minimum(apart, np.where(np.isinf(widths), apart, widths - apart))
        steps = scaling.apply(mean.scale, apart, np.zeros(mean.dimension))
        if (np.linalg.norm(steps, axis=1) > SAME_PEAK * mean.kernel.length).all():
            kept.append(int(a))
    return DensityModes(peaks[kept], logs[kept])
