"""How the peaks of a density merge: as points of a plane, and as a tree.

Heights are logarithms of the density. Of each mode there is its peak and the saddle at which its
hill ends in another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelmean._types import IntVector, Vector
from kernelmean.meanshift.estimator import MeanShift
from kernelmean.meanshift.tree import MergeTree

PEAK = "log density at the peak"  # titles of axes
SADDLE = "log density at the saddle"
HEIGHT = "log density"
NO_SADDLE = "no saddle"  # what is said at the lower edge
MAX_BRANCHES = 40  # modes that the tree shows, the clearest
# How far below the lowest peak a saddle is told from none: e^-12, six millionths of its height.
DEEPEST = 12.0
BELOW = 0.08  # from the lowest saddle down to the lower edge, as a share of all heights
MARGIN = 0.09  # of axes beyond what is drawn, as a share of all heights
COLORS = 7  # of clusters; the eighth would be the grey of the others
SYMBOLS = 5  # of clusters, a new one when colours end
MAX_COLORED = COLORS * SYMBOLS  # clusters with a look of their own


class MergeView(NamedTuple):
    """The modes of a density, the highest first, with what is drawn of each."""

    clusters: IntVector  # (m,) the cluster whose peak each mode is, −1 for none
    log_peak: Vector  # (m,)
    log_saddle: Vector  # (m,) the floor where there is none, or none to speak of
    sizes: IntVector  # (m,) points that climb to each
    z: Vector  # (m,)
    p: Vector  # (m,)
    joined: IntVector  # (m,) the mode of the hill that is met at the saddle, −1 for none
    branches: IntVector  # modes of the tree, from left to right
    floor: float  # the lower edge of both pictures

    @property
    def n_clusters(self) -> int:
        """Number of modes that are clusters."""
        return int((self.clusters >= 0).sum())

    @property
    def shares(self) -> Vector:
        """(m,) of the points: the areas of the marks are in proportion to it."""
        shares: Vector = self.sizes / max(int(self.sizes.sum()), 1)
        return shares

    @property
    def groups(self) -> IntVector:
        """(m,) which modes look alike, see :func:`color_groups`."""
        return color_groups(self.clusters)

    @property
    def left_out(self) -> int:
        """Number of modes that the tree does not show."""
        return len(self.clusters) - len(self.branches)

    @property
    def peak_range(self) -> tuple[float, float]:
        """The ends of the axis of peaks; where they hardly differ it is not all of their digits."""
        low = float(self.log_peak.min())
        high = float(self.log_peak.max())
        margin = MARGIN * max(high - low, (high - self.floor) / 3.0)
        return low - margin, high + margin

    @property
    def height_range(self) -> tuple[float, float]:
        """The ends of an axis of all heights."""
        top = float(self.log_peak.max())
        margin = MARGIN * (top - self.floor)
        return self.floor - margin, top + margin

    @property
    def clearest(self) -> IntVector:
        """(m,) modes from the clearest on."""
        return np.argsort(-self.z, kind="stable")

    @property
    def lines(self) -> NDArray[np.float64]:
        """(branches, 3, 2) each from its peak down to its saddle, and across to what it joins."""
        place = np.zeros(len(self.clusters))
        place[self.branches] = np.arange(len(self.branches))
        own = self.branches
        across = np.where(self.joined[own] < 0, own, self.joined[own])
        x = np.column_stack([place[own], place[own], place[across]])
        feet = self.log_saddle[own]
        return np.stack([x, np.column_stack([self.log_peak[own], feet, feet])], axis=2)


def merge_view(shift: MeanShift) -> MergeView:
    """What the pictures of a fitted mean shift show."""
    if not isinstance(shift, MeanShift):
        raise TypeError(f"a fitted MeanShift is needed, got {type(shift).__name__}.")
    check_is_fitted(shift)
    tree = shift.tree_
    clusters = np.full(len(tree), -1)
    clusters[shift.cluster_modes_] = np.arange(len(shift.cluster_modes_))
    floor, deepest = _lower_edge(tree)
    return MergeView(
        clusters=clusters,
        log_peak=tree.log_peak,
        log_saddle=np.where(tree.log_saddle < deepest, floor, tree.log_saddle),
        sizes=tree.size,
        z=tree.z,
        p=tree.p_value,
        joined=tree.parent,
        branches=_from_left(tree, _shown(tree)),
        floor=floor,
    )


def color_groups(clusters: IntVector) -> IntVector:
    """Which look alike: 0 for those of no cluster, 1 + c for cluster c, one for all beyond."""
    groups: IntVector = 1 + np.minimum(clusters, MAX_COLORED)
    return groups


def _lower_edge(tree: MergeTree) -> tuple[float, float]:
    """The lower edge of the pictures, and the depth from which on saddles are drawn there."""
    lowest = float(tree.log_peak.min())
    deepest = lowest - DEEPEST
    told = tree.log_saddle[tree.log_saddle >= deepest]
    if not len(told):
        return lowest - 1.0, deepest
    least = min(float(told.min()), lowest)
    return least - BELOW * (float(tree.log_peak.max()) - least), deepest


def _shown(tree: MergeTree) -> IntVector:
    """The clearest modes, each with all that it joins further down."""
    order = tree.from_last
    clear = tree.z.copy()
    for mode in order[:0:-1]:
        clear[tree.parent[mode]] = max(clear[tree.parent[mode]], clear[mode])
    place = np.argsort(order)
    return np.lexsort((place, -clear))[:MAX_BRANCHES]


def _from_left(tree: MergeTree, shown: IntVector) -> IntVector:
    """The modes in an order in which no line crosses another.

    A hill stands beside all that its parent has joined further up, on the side where there is less.
    """
    place = np.argsort(tree.from_last)
    hills = {int(mode): [int(mode)] for mode in shown}
    for mode in shown[np.lexsort((-place[shown], -tree.log_saddle[shown]))]:
        if tree.parent[mode] < 0:
            continue
        own = hills.pop(int(mode))
        other = hills[int(tree.parent[mode])]
        left = other.index(int(tree.parent[mode]))
        if left < len(other) - 1 - left:
            other[:0] = own
        else:
            other += own
    (whole,) = hills.values()
    return np.array(whole)
