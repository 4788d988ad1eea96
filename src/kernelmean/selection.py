"""Which points become centres. Every selection is a source that can be asked for more, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean import _checks, engines
from kernelmean._types import ArrayLike, IntVector, Points, RandomState, Vector
from kernelmean.engines import Distances, Engine, Room

SELECTIONS = ("auto", "kcenter", "kmeans++", "kmeans", "random")
LLOYD_ITERATIONS = 20


class Centers(NamedTuple):
    """k points that cover the sample, in the order they were picked."""

    indices: IntVector  # (k,)   rows of X
    points: Points  # (k, d) the rows themselves
    radii: Vector  # (k,)   distance to the earlier centres when picked; the first is inf
    cover: float  # largest distance from a point of the sample to its nearest centre


class Batch(NamedTuple):
    """The next few centres of a source."""

    points: Points
    indices: IntVector | None  # None off the data


class Source(Protocol):
    """Hands out distinct centres in selection order."""

    name: str

    def take(self, m: int) -> Batch:
        """The next m centres; fewer when the distinct points are used up."""

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to ``centers``, a prefix of what was taken."""


def k_center(
    X: ArrayLike,
    k: int,
    *,
    first: int | None = None,
    random_state: RandomState = None,
    engine: str | Engine = "cpu",
    sample_weight: ArrayLike | None = None,
) -> Centers:
    """Exact farthest-first traversal (Gonzalez 1985): cover radius at most twice the best possible.

    Parameters
    ----------
    X : array of shape (n, d)
    k : number of centres; with fewer distinct points, each of those is returned once.
    first : row to start from; drawn by weight with ``random_state`` if None.

    Returns
    -------
    Centers
        ``indices``, ``points``, ``radii``, ``cover``. Each next centre is the point farthest from the earlier ones, the
        lowest row on ties; a prefix is the answer for every smaller k. At most O(nkd) time, O(nd) memory.
    """
    checked = engines.points(X, engine)
    rows, weights = positive_rows(_checks.weights(sample_weight, len(checked)))
    if first is not None and _checks.count(first, "first", least=0) >= len(checked):
        raise ValueError(f"first must be a row of X, 0 to {len(checked) - 1}, got {first}.")
    opened = engines.choose(engine, checked, float(len(checked)) * _checks.count(k, "k"))
    room = opened.load(checked if rows is None else checked[rows], weights)
    start = first if first is None or rows is None else _position(rows, first)
    traversal = room.traverse(first_center(room, start, _checks.generator(random_state)))
    picks = traversal.take(_checks.count(k, "k"))
    indices = picks.indices if rows is None else rows[picks.indices]
    return Centers(indices, room.rows(picks.indices), picks.radii, traversal.distances().cover)


def positive_rows(weights: Vector | None) -> tuple[IntVector | None, Vector | None]:
    """Rows of positive weight (None: all of them) and their weights: a weight of zero means an absent row."""
    if weights is None or weights.all():
        return None, weights
    rows = np.flatnonzero(weights)
    return rows, weights[rows]


def first_center(room: Room, first: int | None, rng: np.random.Generator) -> int:
    """The row given, or one drawn by cumulative weight."""
    return int(room.locate(rng.random(1))[0]) if first is None else first


def open_source(selection: str | IntVector, room: Room, k: int, rng: np.random.Generator) -> Source:
    """The source of centres that a selection names."""
    if not isinstance(selection, str):
        return Listed("given", room, [selection])
    match _checks.choice(selection, "selection", SELECTIONS):
        case "auto" | "kcenter":
            return KCenter(room, first_center(room, None, rng))
        case "kmeans++":
            return Listed("kmeans++", room, d2_draws(room, rng))
        case "kmeans":
            return KMeans(room, k, rng)
        case _:
            return Listed("random", room, draws_by_weight(room, rng))


class KCenter:
    """Farthest-first traversal, the paper's selection."""

    name = "kcenter"

    def __init__(self, room: Room, first: int) -> None:
        self._room, self._traversal, self._taken = room, room.traverse(first), 0

    def take(self, m: int) -> Batch:
        """The next m centres."""
        picks = self._traversal.take(m)
        self._taken += len(picks.indices)
        return Batch(self._room.rows(picks.indices), picks.indices)

    def distances(self, centers: Points) -> Distances:
        """Those of the traversal itself where all its centres are kept."""
        if len(centers) == self._taken:
            return self._traversal.distances()
        return self._room.nearest(centers).distances()


class Listed:
    """Distinct points from a stream of rows; equal points count once."""

    def __init__(self, name: str, room: Room, batches: Iterable[IntVector]) -> None:
        self.name = name
        self._room = room
        self._rows = distinct_rows(room, batches)

    def take(self, m: int) -> Batch:
        """The next m rows of the stream."""
        taken = np.fromiter(islice(self._rows, m), dtype=np.intp)
        return Batch(self._room.rows(taken), taken)

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centres."""
        return self._room.nearest(centers).distances()


def distinct_rows(room: Room, batches: Iterable[IntVector]) -> Iterator[int]:
    """The rows of the batches in order, without those whose point came before."""
    seen: set[bytes] = set()
    for batch in batches:
        for i, point in zip(batch, room.rows(batch) + 0.0, strict=True):  # + 0.0: −0 and 0 are one point
            key = point.tobytes()
            if key not in seen:
                seen.add(key)
                yield int(i)


def draws_by_weight(room: Room, rng: np.random.Generator) -> Iterator[IntVector]:
    """Rows drawn by cumulative weight, many times over; then the rows never drawn, in order.

    Nothing here depends on the number of rows, so that integer weights draw as repeated rows do.
    """
    for _ in range(64 + int(room.summary.size) // 16):
        yield room.locate(rng.random(256))
    yield np.arange(room.summary.count)


def d2_draws(room: Room, rng: np.random.Generator) -> Iterator[IntVector]:
    """D² sampling (k-means++): each next point with probability ∝ weight × squared distance to the earlier ones."""
    j: int | None = first_center(room, None, rng)
    nearest: engines.Nearest | None = None
    while j is not None:
        row = np.array([j])
        yield row
        if nearest is None:
            nearest = room.nearest(room.rows(row))
        else:
            nearest.add(room.rows(row))
        j = nearest.distances().draw(float(rng.random()))


class KMeans:
    """Lloyd's centroids from a k-means++ start, heaviest first: centres off the data."""

    name = "kmeans"

    def __init__(self, room: Room, k: int, rng: np.random.Generator) -> None:
        self._room = room
        centers = Listed("kmeans++", room, d2_draws(room, rng)).take(k).points
        for _ in range(LLOYD_ITERATIONS):
            nearest = room.nearest(centers)
            moved = nearest.means()
            if np.array_equal(moved, centers):
                break
            centers = moved
        self._left = centers[np.argsort(-room.nearest(centers).masses(), kind="stable")]

    def take(self, m: int) -> Batch:
        """The next m centroids."""
        taken, self._left = self._left[:m], self._left[m:]
        return Batch(taken, None)

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centroids."""
        return self._room.nearest(centers).distances()


def picking_radii(points: Points) -> Vector:
    """Distance of each centre to the earlier ones; inf for the first."""
    radii = np.full(len(points), np.inf)
    for start in range(0, len(points), 256):  # a few rows at a time: no k × k matrix for k numbers
        rows = points[start : start + 256]
        squared = cdist(rows, points[: start + len(rows)], "sqeuclidean")
        earlier = np.arange(squared.shape[1]) < start + np.arange(len(rows))[:, None]
        radii[start : start + 256] = np.sqrt(squared.min(axis=1, where=earlier, initial=np.inf))
    return radii


def _position(rows: IntVector, first: int) -> int:
    at = int(np.searchsorted(rows, first))
    if at == len(rows) or rows[at] != first:
        raise ValueError(f"first is row {first}, but its weight is zero.")
    return at
