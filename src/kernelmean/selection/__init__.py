"""Which points become centres.

Every selection is a source that can be asked for more centres, in a fixed order; "auto" compares
several of them.
"""

from __future__ import annotations

from kernelmean import _checks
from kernelmean._types import IntVector
from kernelmean.coefficients.sources import Source
from kernelmean.selection.base import Task, first_center, first_row
from kernelmean.selection.greedy import Greedy
from kernelmean.selection.kcenter import Centers, KCenter, k_center
from kernelmean.selection.kmeans import OffData, kmeans
from kernelmean.selection.listed import Listed, d2_draws, draws_by_weight

SELECTIONS = ("auto", "kcenter", "greedy", "kmeans++", "kmeans", "random")

__all__ = [
    "SELECTIONS",
    "Centers",
    "Greedy",
    "KCenter",
    "Listed",
    "OffData",
    "Task",
    "first_center",
    "first_row",
    "k_center",
    "open_source",
]


def open_source(selection: str | IntVector, task: Task) -> Source:
    """The source of centres that a selection names.

    "auto" is no source but a choice between several: see :mod:`kernelmean.selection.auto`.
    """
    cloud = task.cloud
    streams = task.streams
    if not isinstance(selection, str):
        return Listed("given", cloud, [selection])
    match _checks.choice(selection, "selection", SELECTIONS):
        case "kcenter":
            return KCenter(cloud, first_center(cloud, streams))
        case "greedy":
            return Greedy(task)
        case "kmeans++":
            return Listed("kmeans++", cloud, d2_draws(cloud, streams.of("kmeans++")))
        case "kmeans":
            return kmeans(cloud, task.limit, streams.of("kmeans"))
        case _:
            return Listed("random", cloud, draws_by_weight(cloud, streams.of("random centres")))
