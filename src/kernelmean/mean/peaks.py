"""The peaks of a density, from where climbs ended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._types import EPS, IntVector, Points, Vector
from kernelmean.mean.climbing import DensityToClimb, climb
from kernelmean.mean.linkage import Links, link

REFINED_STEP_BANDWIDTHS = 1e-9  # the last step of a refined peak
MAX_REFINING_STEPS = 2000  # of a peak


class Peaks(NamedTuple):
    """Peaks from the highest first, and which of them each group of ends belongs to."""

    places: Points  # (m, d)
    log_values: Vector  # (m,)
    owner: IntVector  # (groups,)


def find_peaks(
    density: DensityToClimb,
    ends: Points,
    log_values: Vector,
    links: Links,
    radius: float,
    step: float = REFINED_STEP_BANDWIDTHS,
) -> Peaks:
    """The highest end of each group climbs on until it moves by at most ``step`` bandwidths.

    Groups whose peaks meet within the radius are one.
    """
    group = links.groups[links.cells]
    order = np.lexsort((-log_values, group))
    best = order[np.searchsorted(group[order], np.arange(links.groups.max() + 1))]
    # Rounding moves points too.
    tol = max(step, 8 * EPS * float(np.abs(ends[best]).max()) / density.length)
    refined = climb(density, ends[best], tol, MAX_REFINING_STEPS).ends
    values = density.at(refined).log_value
    by_height = np.lexsort((best, -values))
    met = link(refined[by_height], radius)
    # Groups are numbered from the highest peak on.
    highest = by_height[met.firsts[np.unique(met.groups, return_index=True)[1]]]
    owner = np.empty(len(best), dtype=np.intp)
    owner[by_height] = met.groups[met.cells]
    return Peaks(refined[highest], values[highest], owner)
