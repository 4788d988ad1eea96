"""Nearest centres in low dimension: boxes of neighbouring points rule out most centres at once.

A centre farther from a box than every point of the box already is from some centre cannot be
nearest to any of them. Box distances are summed like point distances, in coordinate order, and
rounding is monotone: no slack is needed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types

from kernelmean.compiled.compiling import EXACT_MATH, compile_function, part
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines.cpu.blocks import CELL

FEWEST_CENTERS = 8  # fewer are measured against every point
LOW_DIMENSION = 3  # up to here boxes pay for any number of points, and beyond it
FEWEST_POINTS = 700  # times 2^d, below which boxes are so wide that they rule out next to nothing


def worthwhile(points: int, d: int, centers: int) -> bool:
    """Whether boxes rule out more than they cost."""
    return centers >= FEWEST_CENTERS and (d <= LOW_DIMENSION or points >= FEWEST_POINTS * 2**d)


def screening(d: int) -> Any:
    """Squared distances of the listed centres to the near side of a box; the least to its far side,
    and whose.
    """

    def screen(lower, upper, c, centers, listed, gaps):
        bar = np.inf
        champion = -1
        for i in range(len(listed)):
            near = 0.0
            far = 0.0
            for t in range(d):
                below = lower[t, c] - centers[listed[i], t]
                beyond = centers[listed[i], t] - upper[t, c]
                gap = max(below, beyond, 0.0)
                reach = max(-below, -beyond)
                near += gap * gap
                far += reach * reach
            gaps[i] = near
            if far < bar:
                bar = far
                champion = i
        return bar, champion

    return part(EXACT_MATH)(screen)


def meeting(d: int) -> Any:
    """Lower the distances of one cell by one centre; the largest that is left."""

    def meet(block, start, center, label, squared, labels):
        peak = 0.0
        for j in range(start, start + CELL):
            s = 0.0
            for t in range(d):
                z = block[t, j] - center[t]
                s += z * z
            closer = s < squared[j] or (s == squared[j] and label < labels[j])
            labels[j] = label if closer else labels[j]
            squared[j] = s if closer else squared[j]
            peak = squared[j] if squared[j] > peak else peak
        return peak

    return part(EXACT_MATH)(meet)


@functools.lru_cache(maxsize=64)
def nearest(d: int) -> Loop:
    """D²_j and the label of the nearest of some more centres, the lowest label on ties; as
    ``loops.nearest``.
    """
    screen = screening(d)
    meet = meeting(d)

    def nearest_by_boxes_loop(
        X, lower, upper, box_lower, box_upper, centers, first_label, squared, labels
    ):
        k = len(centers)
        everyone = np.empty(k, np.int64)
        for a in range(k):  # np.arange would take longer to compile
            everyone[a] = a
        listed = np.empty(k, np.int64)
        gaps = np.empty(k)
        for b in range(len(X)):
            bar, _ = screen(box_lower, box_upper, b, centers, everyone, gaps)
            count = 0
            for a in range(k):
                listed[count] = a
                count += gaps[a] <= bar
            for c in range(lower.shape[2]):
                if lower[b, 0, c] > upper[b, 0, c]:
                    continue
                bar, champion = screen(lower[b], upper[b], c, centers, listed[:count], gaps)
                a = listed[champion]
                bar = min(
                    bar, meet(X[b], c * CELL, centers[a], first_label + a, squared[b], labels[b])
                )
                for i in range(count):
                    if gaps[i] <= bar and i != champion:
                        a = listed[i]
                        bar = min(
                            bar,
                            meet(
                                X[b], c * CELL, centers[a], first_label + a, squared[b], labels[b]
                            ),
                        )

    boxes = (read(3), read(3), read(2), read(2))
    signature = types.void(
        read(3), *boxes, read(2), types.int64, write(2), types.Array(types.int64, 2, "C")
    )
    return compile_function(nearest_by_boxes_loop, signature, (d,), EXACT_MATH)
