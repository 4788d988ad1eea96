"""The density that mean shift climbs: cells of the points, at the bandwidth that tells them apart.

Each cell of a k-means stands for its points with their mass, mean and variance, and a kernel of
bandwidth h blurs them: a copy of the kernel density estimate, for any h. A wide kernel joins what
is apart, and a narrow one makes hills of noise, which a test of their significance takes away
again. So there is a bandwidth at which the hills that are left stand highest above the noise: the
one with the largest sum of z² over the significant modes. Beyond fifteen standard deviations a mode
is as certain as can be, and counts no more: one that is found beside it does.
"""

from __future__ import annotations

import numpy as np

from kernelmean import bandwidth as rules_of_bandwidth
from kernelmean._random import Streams
from kernelmean.bandwidth import resolution
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.fitting.cells import Cells, find_cells
from kernelmean.fitting.prepare import loaded
from kernelmean.fitting.settings import FitSettings
from kernelmean.fitting.spreads import kinds
from kernelmean.kernels import Gaussian, SpreadKind
from kernelmean.mean import scaling
from kernelmean.mean.climbing import DensityToClimb, climb
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.linkage import link
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mean.peaks import find_peaks
from kernelmean.meanshift.judging import Judge
from kernelmean.meanshift.merging import merge_tree
from kernelmean.meanshift.saddles import Modes
from kernelmean.mixtures.rows import Rows, drawn
from kernelmean.samples import WeightedSample

MAX_ROWS = 50_000  # whose cells are searched for; all points then have a part in their moments
# Bandwidths that are tried, in units of the rule for modes, and then about the best of them.
FACTORS = [float(2.0**power) for power in np.arange(1.0, -2.5, -0.5)]
BETWEEN = (2.0**0.25, 2.0**-0.25)
TRIALS = len(FACTORS) + len(BETWEEN)  # that share the level of the test
CERTAIN = 15.0  # standard deviations
PATIENCE = 3  # narrower bandwidths in a row that are worse than the best, after which to stop
CLIMBING_TOL = 1e-3  # bandwidths
MAX_STEPS = 2000
# A lattice of values δ apart is one hill from a bandwidth of about δ/2 on.
LATTICE = 0.6
COARSE = 1.0  # step of a column, in widths of the column, above which its values are groups


def cells_density(
    sample: WeightedSample,
    settings: FitSettings,
    streams: Streams,
    level: float,
    judge: Judge | None = None,
) -> KernelMean:
    """The density of cells at the bandwidth that was given, or at the one that tells them apart."""
    settings.check_names()
    data = loaded(sample, settings)
    rows = drawn(data.cloud, sample.weights, MAX_ROWS, streams.of("cluster rows"))
    cells = _cells(data, rows, settings, streams)
    asked = settings.bandwidth
    if isinstance(asked, str) and asked == "auto":
        return _clearest(cells, rows, level, judge)
    return cells.blurred(resolve_kernel(settings.kernel, asked, data.cloud))


def _cells(data: LoadedSample, rows: Rows, settings: FitSettings, streams: Streams) -> Cells:
    """About 3√n cells of the rows; the moments are those of all points."""
    rule = settings.stopping(len(rows))
    k = min(rule.k or rule.k_max, len(rows))
    # The least that serves: kinds() refuses covariances that do not fit memory.
    asked = kinds(settings, Gaussian(1.0), rows.dimension, k)
    kind: SpreadKind = "full" if asked == ("full",) else "scalar"
    return find_cells(data, rows, k, kind, settings, streams.of("cluster cells"))


def _clearest(cells: Cells, rows: Rows, level: float, judge: Judge | None) -> KernelMean:
    """The bandwidth of most evidence; that of the rule where none has any."""
    start = _first_bandwidth(cells.data)
    least = _least_bandwidth(rows)
    tried = dict[float, tuple[float, float]]()  # evidence by bandwidth

    def best() -> float:
        return max(tried, key=lambda bandwidth: (*tried[bandwidth], bandwidth))

    def look(bandwidth: float) -> None:
        asked = max(bandwidth, least)
        if asked not in tried:
            tried[asked] = evidence(cells.blurred(Gaussian(asked)), level, judge)

    for factor in FACTORS:
        look(start * factor)
        behind = sum(bandwidth < best() for bandwidth in tried)
        if tried[best()][0] > 0.0 and behind == PATIENCE:
            break
    if tried[best()][0] == 0.0:
        return cells.blurred(Gaussian(max(start, least)))
    coarse = best()
    for factor in BETWEEN:
        look(coarse * factor)
    return cells.blurred(Gaussian(best()))


def evidence(mean: KernelMean, level: float, judge: Judge | None = None) -> tuple[float, float]:
    """Σ min(z, 15)² over the significant modes of a density but for the last, and then Σ z."""
    density = DensityToClimb.of(mean)
    ascent = climb(density, density.centers, CLIMBING_TOL, MAX_STEPS)
    links = link(ascent.ends, density.length)
    found = find_peaks(density, ascent.ends, ascent.log_values, links, density.length)
    sizes = np.bincount(found.owner[links.groups[links.cells]], minlength=len(found.places))
    judging = None if judge is None else judge.of_kernel(mean)
    tree = merge_tree(mean, Modes(found.places, found.log_values), sizes, judging)
    counted = tree.significant(level) & (tree.parent >= 0)
    z = tree.z[counted]
    return float((np.minimum(z, CERTAIN) ** 2).sum()), float(z.sum())


def _first_bandwidth(data: LoadedSample) -> float:
    """The mode rule, with robust widths where outliers make standard deviations larger."""
    summary = data.cloud.summary
    rules_of_bandwidth.require_spread("auto", summary)
    robust = np.minimum(summary.std, scaling.robust_widths(summary))
    factor = float(robust.mean() / summary.std.mean())
    return rules_of_bandwidth.by_rule("mode", data.cloud) * factor


def _least_bandwidth(rows: Rows) -> float:
    """What blurs the steps in which values were recorded; values far apart are groups indeed."""
    steps = resolution.steps(rows.points)
    fine = steps <= COARSE * rows.points.std(axis=0)
    return LATTICE * float(np.max(steps[fine], initial=0.0))
