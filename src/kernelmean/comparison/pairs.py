"""Two samples with the same columns, checked: what every comparison begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean import _checks, engines, samples
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, Summary
from kernelmean.mean import scaling
from kernelmean.samples import ArraySample, Sample, WeightedSample

SCALE_ROWS = 20_000  # of both samples, in a random order, whose widths are robust widths
ALIKE = 1.1  # shares of rows that count, one over the other, up to which weights vary alike
MAX_REPEATED = 10_000_000  # rows that integer weights may mean; beyond they are only weights


@dataclass(frozen=True, eq=False)
class Pair:
    """A first and a second sample; the pool has the rows of the first, then those of the second."""

    first: WeightedSample
    second: WeightedSample
    columns: tuple[str, ...] | None = None  # names, where both samples have them

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    @property
    def both(self) -> tuple[WeightedSample, WeightedSample]:
        """The first and the second."""
        return self.first, self.second

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.first.sample.dimension

    def weights(self) -> Vector | None:
        """Of the rows of the pool; None where all are equal."""
        if self.first.weights is None and self.second.weights is None:
            return None
        return np.concatenate(
            [np.ones(len(own)) if own.weights is None else own.weights for own in self.both]
        )

    def rows(self, indices: IntVector) -> Points:
        """Some rows of the pool, in the order asked for."""
        cut = len(self.first)
        own = indices < cut
        found = np.empty((len(indices), self.dimension))
        for inside, part, start in ((own, self.first, 0), (~own, self.second, cut)):
            if inside.any():
                found[inside] = part.sample.rows(indices[inside] - start)
        return found

    def restrict(self, indices: IntVector) -> Sample:
        """Ascending rows of the pool, all of one sample, where they lie."""
        cut = len(self.first)
        if indices[0] < cut:
            return self.first.sample.restrict(indices)
        return self.second.sample.restrict(indices - cut)

    def with_like_weights(self, chance: Sequence[np.random.Generator]) -> Pair:
        """The same pair where weights vary alike in both samples; else rows thinned by weight.

        Rows can be permuted together with their weights only if the weights of both have one law.
        Kept with probability w_i/max w, rows of either sample are draws from its weighted law, and
        count alike.
        """
        a, b = (_share_that_counts(own.weights) for own in self.both)
        if max(a, b) <= ALIKE * min(a, b):
            return self
        thinned = [_thinned(own, rng) for own, rng in zip(self.both, chance, strict=True)]
        return Pair(thinned[0], thinned[1], self.columns)

    def mapped(self, matrix: Matrix | None, origin: Vector) -> Pair:
        """Both samples after A(x − origin)."""
        if matrix is None:
            return self
        found = []
        for own, name in zip(self.both, "AB", strict=True):
            sample = own.sample.map(matrix, origin)
            sample.require_finite(f"{name}, mapped by scale,")
            found.append(WeightedSample(sample, own.weights, own.present, own.total))
        return Pair(found[0], found[1], self.columns)

    def summary(self) -> Summary:
        """Counts, moments and quantiles of the pool."""
        pooled = self.first.sample.join([self.second.sample])
        return pooled.summary(self.weights())

    def scale(self, named: Any, order: IntVector) -> Matrix | None:
        """The matrix that a scale names, read on the pool; "auto" on the first rows of an order."""
        if named is None:
            return None
        if not (isinstance(named, str) and named == "auto"):
            return scaling.resolve(named, self.summary())
        few = order[:SCALE_ROWS]
        weights = self.weights()
        known = None if weights is None else weights[few]
        return scaling.resolve(named, ArraySample(self.rows(few)).summary(known))


def check_pair(
    A: ArrayLike, B: ArrayLike, sample_weight: Sequence[Any] | None, engine: str | Engine
) -> Pair:
    """Two samples of at least two points with the same columns.

    Columns are matched by name where both have names. Integer weights become repeated rows, as
    long as these are not too many.
    """
    names = columns_of(A), columns_of(B)
    for own, which in zip(names, "AB", strict=True):
        require_distinct(own, which)
    if names[0] is not None and names[1] is not None:
        _require_same(names[0], names[1], ("A", "B"))
        if names[0] != names[1]:
            B = _reordered(B, names[1], names[0])
    found = [_checked(X, name, engine) for X, name in ((A, "A"), (B, "B"))]
    if found[0].dimension != found[1].dimension:
        raise ValueError(
            f"A has {found[0].dimension} columns and B has {found[1].dimension}: both samples "
            "need the same columns."
        )
    weights = _both_weights(sample_weight)
    first, second = (
        _weighted(sample, own, name) for sample, own, name in zip(found, weights, "AB", strict=True)
    )
    return Pair(first, second, names[0] if names[0] is not None else names[1])


def _checked(X: ArrayLike, name: str, engine: str | Engine) -> Sample:
    """On a device or on a cluster points stay where they are; files are read."""
    sample = samples.check(X, engine, name)
    if not sample.resident and not (_checks.is_collection(X) or engines.is_cluster(engine)):
        sample = ArraySample(sample.array())
    return sample


def columns_of(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a frame or of a source, where it has some."""
    if isinstance(X, np.ndarray):
        return None
    # The columns of an Arrow table are its data, and those of a frame their names.
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)
    if names is None or callable(names):
        return None
    return tuple(str(name) for name in names)


def matched(X: Any, names: tuple[str, ...], name: str = "X") -> Any:
    """A frame with its columns in the order of these names; arrays as they are."""
    own = columns_of(X)
    if own is None or own == names:
        return X
    _require_same(names, own, ("the samples", name))
    return _reordered(X, own, names)


def require_distinct(names: tuple[str, ...] | None, which: str) -> None:
    """A ValueError where two columns have one name."""
    twice = [] if names is None else [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{which} has more than one column {twice[0]!r}; give each its own name.")


def _require_same(first: tuple[str, ...], second: tuple[str, ...], called: tuple[str, str]) -> None:
    a, b = called
    for own, other, name, which in ((first, second, a, b), (second, first, b, a)):
        missing = [column for column in own if column not in other]
        if missing:
            verb = "have" if name == "the samples" else "has"
            not_verb = "have" if which == "the samples" else "has"
            raise ValueError(
                f"{name} {verb} a column {missing[0]!r} that {which} {not_verb} not: both need "
                "the same columns."
            )


def _reordered(X: Any, own: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """A frame, or a source of batches, with its columns in another order."""
    order = [own.index(name) for name in names]
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    if _checks.is_batched(X):
        return np.asarray(X)[:, order]
    return X[list(names)]


def _share_that_counts(weights: Vector | None) -> float:
    """Kish's effective number of rows over that of rows: (Σw)²/(n Σw²)."""
    if weights is None:
        return 1.0
    return float(weights.sum() ** 2 / (len(weights) * (weights**2).sum()))


def _thinned(sample: WeightedSample, rng: np.random.Generator) -> WeightedSample:
    """Rows that stay by chance; the two heaviest at least."""
    w = sample.weights
    if w is None:
        return sample
    stay = rng.random(len(w)) * w.max() < w
    stay[np.argsort(w)[-2:]] = True
    rows = np.flatnonzero(stay)
    present = rows if sample.present is None else sample.present[rows]
    return WeightedSample(sample.sample.restrict(rows), None, present, sample.total)


def _both_weights(sample_weight: Sequence[Any] | None) -> tuple[Any, Any]:
    if sample_weight is None:
        return None, None
    if not isinstance(sample_weight, tuple | list) or len(sample_weight) != 2:
        raise ValueError(
            "sample_weight is a pair: the weights of A and those of B, either of which may be None."
        )
    return sample_weight[0], sample_weight[1]


def _weighted(sample: Sample, weights: Any, name: str) -> WeightedSample:
    known = WeightedSample.of(sample, _checks.weights(weights, len(sample)))
    if len(known) < 2:
        raise ValueError(
            f"{name} has one point only: a test needs at least two points in each sample."
        )
    w = known.weights
    if w is None or not known.sample.resident or not (w == np.rint(w)).all():
        return known
    if w.sum() > MAX_REPEATED:
        return known
    repeated = np.repeat(np.arange(len(w)), w.astype(np.intp))
    present = repeated if known.present is None else known.present[repeated]
    return WeightedSample(known.sample.restrict(repeated), None, present, known.total)
