"""Many samples: what was compared, where they lie, and in which colours they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.embedding.estimator import DistributionEmbedding

MAX_NUMBER_GROUPS = 6  # different numbers of a column up to which they are groups, not a scale
AXES = ("first coordinate", "second coordinate")  # titles of the axes of a map
MISSING = "missing"  # name of the group of samples without a value


class Collection(NamedTuple):
    """N samples as an embedding compared them."""

    names: list[str]
    sizes: Vector  # (N,) points of each
    counts: IntVector  # (N,) centres of each
    errors: Vector | None  # (N,) certified errors of the means, where they were measured
    distances: Matrix  # (N, N)
    coordinates: Points | None  # (N, n_components)
    metric: str
    # (N,) how far the mean of a sample is from that of its distribution, by the chance of drawing
    # so many points (root mean square); None for metrics for which it is not known
    noise: Vector | None = None

    def chance(self, i: int, j: int) -> float | None:
        """How far two samples of one distribution, as large as these two, are apart by chance."""
        if self.noise is None:
            return None
        return float(math.hypot(self.noise[i], self.noise[j]))

    @property
    def distance_to_chance(self) -> float | None:
        """Root mean square of all distances, in units of what chance alone would leave."""
        if self.noise is None or len(self.names) < 2:
            return None
        N = len(self.names)
        chance = 2.0 * (N - 1) * float((self.noise**2).sum())
        return float(np.sqrt((self.distances**2).sum() / chance)) if chance > 0.0 else None

    def nearest(self, m: int) -> IntVector:
        """(N, m) the nearest other samples of each, the nearest first."""
        D = self.distances.copy()
        np.fill_diagonal(D, np.inf)
        found: IntVector = np.argsort(D, axis=1, kind="stable")[:, : min(m, len(D) - 1)]
        return found


class ColorScale(NamedTuple):
    """A number for each sample, shown by a scale of colours."""

    values: Vector  # (N,) NaN where the number is missing

    @property
    def known(self) -> list[int]:
        """Samples that have a finite number."""
        return np.flatnonzero(np.isfinite(self.values)).tolist()

    @property
    def missing(self) -> list[int]:
        """Samples that have none."""
        return np.flatnonzero(~np.isfinite(self.values)).tolist()


class ColorGroups(NamedTuple):
    """Samples of equal value, each group in a colour of its own."""

    names: list[str]  # numbers by size, then words by letters, then those without a value
    members: list[list[int]]  # samples of each group, in their order


Coloring: TypeAlias = ColorScale | ColorGroups


class SampleMap(NamedTuple):
    """Samples as points of a plane, near where their distributions are alike."""

    names: list[str]
    places: Points  # (N, 2), the first two coordinates; on a line the second is 0
    axes: tuple[str, ...]  # titles of the coordinates that there are: one or two
    colorings: Mapping[str, Coloring]  # by the name of the column


def collection(
    embedding: DistributionEmbedding, names: Sequence[object] | None = None
) -> Collection:
    """The samples of a fitted embedding, by their own names or others."""
    if not isinstance(embedding, DistributionEmbedding):
        raise TypeError(
            f"a fitted DistributionEmbedding is needed, got {type(embedding).__name__}."
        )
    check_is_fitted(embedding)
    given = embedding.names_ if names is None else names
    if len(given) != len(embedding.names_):
        raise ValueError(
            f"names has {len(given)} entries, but {len(embedding.names_)} samples were fitted."
        )
    means = [mean.expansion for mean in embedding.means_]
    return Collection(
        names=[str(name) for name in given],
        sizes=np.array([float(mean.n_points) for mean in means]),
        counts=np.array([mean.k for mean in means]),
        errors=embedding.sample_errors_,
        distances=embedding.distances_,
        coordinates=embedding.embedding_,
        metric=embedding.metric,
        noise=_noise(embedding),
    )


def _noise(embedding: DistributionEmbedding) -> Vector | None:
    """√((1 − ‖z_i‖²)/n_i), as E‖z̄ − z‖² is the variance of a point over n, where φ(0) = 1."""
    if embedding.metric != "mmd":
        return None
    means = [mean.expansion for mean in embedding.means_]
    within = [max(1.0 - mean.inner(mean), 0.0) / float(mean.n_points) for mean in means]
    return np.sqrt(within)


def sample_map(
    coordinates: Points, names: Sequence[str], columns: Mapping[str, Sequence[object]]
) -> SampleMap:
    """Samples at their first two coordinates, in the colours of each of some columns."""
    flat = coordinates.shape[1] == 1
    second = np.zeros(len(coordinates)) if flat else coordinates[:, 1]
    return SampleMap(
        names=list(names),
        places=np.column_stack([coordinates[:, 0], second]),
        axes=AXES[:1] if flat else AXES,
        colorings={str(name): _coloring(list(values)) for name, values in columns.items()},
    )


def _coloring(values: list[object]) -> Coloring:
    """A scale for a quantity: numbers, and more than a few different ones; else groups."""
    present = [value for value in values if not _is_missing(value)]
    if all(map(_is_number, present)) and len(set(present)) > MAX_NUMBER_GROUPS:
        return ColorScale(np.array([float(v) if isinstance(v, Real) else math.nan for v in values]))
    return _groups(values)


def _groups(values: list[object]) -> ColorGroups:
    found: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        found.setdefault(MISSING if _is_missing(value) else str(value), []).append(row)
    names = sorted(found, key=lambda name: (name == MISSING, _natural(name)))
    return ColorGroups(names, [found[name] for name in names])


def _natural(name: str) -> tuple[float, str]:
    """Numbers by size before words by letters."""
    try:
        return float(name), name
    except ValueError:
        return math.inf, name


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_missing(value: object) -> bool:
    """Whether there is no value: None, or a number that is not finite."""
    if isinstance(value, Integral):
        return False
    return value is None or (isinstance(value, Real) and not math.isfinite(value))
