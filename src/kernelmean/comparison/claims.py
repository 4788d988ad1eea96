"""Which of many nested places are claimed to differ, at a false-discovery rate.

A place where B has more makes larger places around it, and smaller ones in it, differ as well.
Among all places with p ≤ t those are claimed that describe the counts best: disjoint places whose
log-likelihood ratios, less a price for each place, have the largest sum, which one pass up the tree
finds. Then t is as large as

    Σ_i P(p_i ≤ t under its null hypothesis) ≤ level · (places claimed at t)

allows: the step of Benjamini and Hochberg, in the form that counts only what is left after such a
filter (Katsevich, Sabatti and Bogomolov 2021) and that knows how coarse the p-values of small
counts are (Heyse 2011). That rate is proven for other kinds of dependence than that of nested
places, and measured for these. What is controlled are places: cells within a claimed place may
still be alike in both samples, and those whose counts say so are left out at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Vector
from kernelmean.comparison.local_tests import LocalTests, Side
from kernelmean.comparison.pooled_cells import Tree

PRICE = 2.0  # nats that a claimed place must be worth


class Claims(NamedTuple):
    """Disjoint places, and the least level at which each would be among them."""

    places: IntVector
    q_values: Vector


def claim(tree: Tree, tests: LocalTests, ratios: Vector, level: float) -> Claims:
    """The places that are claimed at a false-discovery rate of ``level``."""
    thresholds = np.unique(tests.p_values[tests.p_values <= level])
    false = tests.false_claims(thresholds)
    claimed = len(tests.p_values)
    while True:
        allowed = thresholds[false <= level * claimed]
        if not len(allowed):
            return Claims(np.empty(0, dtype=np.intp), np.empty(0))
        places = best_places(tree, tests.p_values <= allowed[-1], ratios)
        if len(places) >= claimed:
            return Claims(places, _q_values(tests, places))
        claimed = len(places)


def best_places(tree: Tree, allowed: NDArray[np.bool_], ratios: Vector) -> IntVector:
    """Disjoint places among those allowed for which Σ (ratio − price) is largest."""
    best = np.where(allowed, np.maximum(ratios - PRICE, 0.0), 0.0)
    whole = best > 0.0
    for place, (left, right) in enumerate(tree.merges, start=tree.cells):
        parts = best[left] + best[right]
        if parts >= best[place]:
            best[place] = parts
            whole[place] = False
    found = []
    waiting = [len(best) - 1]
    while waiting:
        place = waiting.pop()
        if whole[place]:
            found.append(place)
        elif place >= tree.cells and best[place] > 0.0:
            waiting.extend(tree.merges[place - tree.cells])
    return np.sort(np.array(found, dtype=np.intp))


def standing_cells(tree: Tree, place: int, first: Side, second: Side) -> IntVector:
    """The cells of a claimed place, without parts that are likelier to be like everything else.

    A part is left out where its counts are likelier, by more than the price, at the ratio of all
    rows than at that of the place.
    """
    a = first.counts[: tree.cells]
    b = second.counts[: tree.cells]
    usual = first.totals[place] / (first.totals[place] + second.totals[place])
    size = first.counts[place] + second.counts[place]
    own = (first.counts[place] + usual) / (size + 1.0)  # one row more, since none may be of A
    # log of the likelihood at the usual ratio over that at the place's own
    against = a * np.log(usual / own) + b * np.log((1.0 - usual) / (1.0 - own))
    inside = np.zeros(2 * tree.cells - 1, dtype=np.bool_)
    inside[list(tree.below(place))] = True
    inside[place] = False
    left_out = best_places(tree, inside, tree.sums(against))
    gone = [tree.cells_of(int(part)) for part in left_out]
    return np.setdiff1d(tree.cells_of(place), np.concatenate([np.empty(0, dtype=np.intp), *gone]))


def _q_values(tests: LocalTests, places: IntVector) -> Vector:
    """min over claims of larger p of Σ_i P(p_i ≤ p) / (claims up to p)."""
    p = tests.p_values[places]
    order = np.argsort(p, kind="stable")
    ranks = np.searchsorted(p[order], p[order], side="right")
    rates = tests.false_claims(p[order]) / ranks
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(rates[::-1])[::-1]
    return np.minimum(q, 1.0)
