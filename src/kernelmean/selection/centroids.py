"""The centroids that "auto" tries: those of a draft of the rows, with a fringe where one is due."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernelmean._types import Points
from kernelmean.engines import PointCloud
from kernelmean.selection.base import Task, first_row
from kernelmean.selection.kmeans import lloyd
from kernelmean.selection.listed import Listed, d2_batches

# The centroids of a draft do not know the rarest rows. Without a fringe 0.15 nats of mean
# log-density are lost on 200 000 rows of Student's t with three degrees of freedom in two
# dimensions, k = 1341, and 4.7 with two degrees; mixtures of normal distributions neither gain nor
# lose (grids tails and densities of ``benchmarks.contenders_of_auto``).
FRINGE_SHARE = 8  # one in so many centres is a farthest-first row, where there is a fringe
MAX_FRINGE_DIMENSION = 3  # coordinates: in more the fringe is most of the sample
MIN_K_FRINGE = 1025  # centres: with fewer the bulk needs them all
DISTINCT = 1e-12  # squared distance, in units of the kernel's, above which two centres are two


def has_fringe(task: Task) -> bool:
    """Whether a density is so large, in so few dimensions, that rows of the fringe join its
    centroids.

    Centroids shun the tails, and a density without centres there loses more likelihood than by all
    the rest.
    """
    low = task.cloud.summary.dimension <= MAX_FRINGE_DIMENSION
    return task.density and low and task.limit >= MIN_K_FRINGE


def draft_centroids(task: Task, draft: PointCloud, iterations: int, which: int) -> Points:
    """As many centres as the task wants: Lloyd's centroids of the draft from the k-means++ start
    number ``which``, and a fringe where :func:`has_fringe` says so.
    """
    wanted = task.limit // FRINGE_SHARE if has_fringe(task) else 0
    draws = d2_batches(draft, task.streams.of("centroids", which))
    seeds = Listed("kmeans++", draft, draws).take(task.limit - wanted).points
    centroids = lloyd(draft, seeds, iterations)
    return np.concatenate([centroids, *_fringe(task, centroids, wanted)])


def _fringe(task: Task, centroids: Points, wanted: int) -> Iterator[Points]:
    """Farthest-first rows that are no centroids themselves, as a lonely point may be."""
    if not wanted:
        return
    traversal = task.cloud.traverse(first_row(task.cloud, task.streams.of("first fringe row")))
    while wanted and len(picks := traversal.take(wanted).indices):
        rows = task.cloud.rows(picks)
        squared = task.engine.load(rows).nearest(centroids).distances().values()
        rows = rows[task.radial.rate * squared > DISTINCT]
        wanted -= len(rows)
        yield rows
