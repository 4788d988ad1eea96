"""Which points become centres. Every selection is a source that can be asked for more, in a fixed order."""

from __future__ import annotations

from kernelmean import _checks
from kernelmean._types import IntVector
from kernelmean.selection.base import Batch, Source, Task, first_center, picking_radii
from kernelmean.selection.greedy import Greedy
from kernelmean.selection.kcenter import Centers, KCenter, k_center, positive_rows
from kernelmean.selection.kmeans import OffData, kmeans
from kernelmean.selection.listed import Listed, d2_draws, draws_by_weight

SELECTIONS = ("auto", "kcenter", "greedy", "kmeans++", "kmeans", "random")

__all__ = [
    "SELECTIONS",
    "Batch",
    "Centers",
    "Greedy",
    "KCenter",
    "Listed",
    "OffData",
    "Source",
    "Task",
    "first_center",
    "k_center",
    "open_source",
    "picking_radii",
    "positive_rows",
]


def open_source(selection: str | IntVector, task: Task) -> Source:
    """The source of centres that a selection names; "auto" is no source but a choice between several."""
    room, rng = task.room, task.rng
    if not isinstance(selection, str):
        return Listed("given", room, [selection])
    match _checks.choice(selection, "selection", SELECTIONS):
        case "kcenter":
            return KCenter(room, first_center(room, None, rng))
        case "greedy":
            return Greedy(task)
        case "kmeans++":
            return Listed("kmeans++", room, d2_draws(room, rng))
        case "kmeans":
            return kmeans(room, task.limit, rng)
        case _:
            return Listed("random", room, draws_by_weight(room, rng))
