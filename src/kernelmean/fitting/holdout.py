"""Rows to fit on and rows to judge by: which kind of spread has the better held-out likelihood.

A density that is judged by the rows it was fitted to looks the better the more it follows them:
atoms of few rows each, and of many numbers each, would win by that alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelmean.selection.criterion import MAX_JUDGING_ROWS, Criterion
from kernelmean.selection.greedy import DRAFT_ROWS, DRAFT_ROWS_PER_CENTER

JUDGING_SHARE = 0.2  # of the rows that take part, at most


def held_out(criterion: Criterion, centers: int) -> Criterion:
    """The same criterion on some of the rows, judged by others.

    Rows are drawn by weight, as many as tell kinds of spread with so many centres apart; one that
    is drawn several times counts as often, on the side that it falls to.
    """
    task = criterion.task
    cloud = task.cloud
    rng = task.streams.of("held-out rows")
    wanted = max(DRAFT_ROWS, DRAFT_ROWS_PER_CENTER * centers) + MAX_JUDGING_ROWS
    size = min(wanted, max(2, int(cloud.summary.size)))
    offsets = rng.random(size) if size < cloud.summary.size else np.full(size, 0.5)
    drawn = cloud.locate((np.arange(size) + offsets) / size)
    rows, counts = np.unique(drawn, return_counts=True)
    order = rng.permutation(len(rows))
    mass = np.cumsum(counts[order])
    judging = max(1, min(MAX_JUDGING_ROWS, int(np.sum(mass <= JUDGING_SHARE * size))))
    judged = np.sort(order[:judging])
    fitted = np.sort(order[judging:])
    few = task.engine.load(cloud.rows(rows[fitted]), counts[fitted].astype(np.float64))
    return replace(
        criterion,
        task=replace(task, cloud=few),
        judges=cloud.rows(rows[judged]),
        judge_weights=counts[judged].astype(np.float64),
    )
