"""More than two samples: which of them differs from the rest, and where."""

from __future__ import annotations

import math
import numbers
import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Vector
from kernelmean.comparison import words
from kernelmean.comparison.difference import Settings, compare
from kernelmean.comparison.pairs import check_pair
from kernelmean.comparison.value import Difference

REST = "the rest"
MISSING = ("NoneType", "NAType", "NaTType")  # types of what stands for an absent label


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    """Each of several groups compared with all the others together.

    Attributes
    ----------
    names : tuple of str
        The groups, in order.
    differences : tuple of Difference
        Each group against the rest.
    p_values : tuple of float
        Of the tests, adjusted by Holm for their number: those below 0.05 are all right with a
        probability of 95 %.
    order : ndarray of shape (groups,)
        Positions of the groups, the most different first: by adjusted p-value, then by the
        statistic of the test.

    See Also
    --------
    difference : Makes it, from rows with ``groups=``.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> X[:200] += 1.0
    >>> found = km.difference(X, groups=np.repeat(["a", "b", "c"], 200), random_state=0)
    >>> found.names[found.order[0]], len(found.differences)
    ('a', 3)
    """

    names: tuple[str, ...]
    differences: tuple[Difference, ...] = field(repr=False)
    p_values: tuple[float, ...]
    order: IntVector = field(repr=False)

    def describe(self) -> str:
        """Which groups differ from the rest, in a few sentences.

        Returns
        -------
        str
            How many groups differ, which does most, and its largest region. Costs next to nothing.

        See Also
        --------
        Difference.describe : The sentences for two samples.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(600, 2))
        >>> X[:200] += 1.0
        >>> found = km.difference(X, groups=np.repeat(["a", "b", "c"], 200), random_state=0)
        >>> "Most different is a" in found.describe()
        True
        """
        return words.describe_groups(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, which :func:`load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Where to; of the data the file holds the typical rows only. Time and memory O(g·k·d)
            for g groups.

        See Also
        --------
        load : Reads it.

        Examples
        --------
        >>> import pathlib, tempfile, numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> found = km.difference(X, groups=np.repeat(["a", "b", "c"], 100), random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(pathlib.Path(folder) / "groups.km")
        ...     km.load(pathlib.Path(folder) / "groups.km").names
        ('a', 'b', 'c')
        """
        from kernelmean.comparison import storing

        storing.save_groups(self, path)


def compare_groups(
    X: ArrayLike, groups: ArrayLike, sample_weight: Any, settings: Settings, streams: Streams
) -> Difference | GroupDifferences:
    """Rows with the name of their group."""
    labels = np.asarray(groups)
    n = _rows_of(X)
    if labels.ndim != 1 or len(labels) != n:
        raise ValueError(
            f"groups must name a group for each of the {n} rows, got shape {labels.shape}."
        )
    _require_names(labels)
    weights = _checks.weights(sample_weight, n)
    found, which = np.unique(labels, return_inverse=True)
    if len(found) < 2:
        raise ValueError("groups names one group only: there is nothing to compare it with.")
    names = tuple(str(name) for name in found)
    _require_rows(names, np.bincount(which))
    if len(found) == 2:
        pair = _pair(X, which == 0, weights, settings)
        return compare(pair, (names[0], names[1]), settings, streams)
    # With g tests the least p-value is multiplied by g.
    several = max(settings.permutations, math.ceil(2 * len(found) / settings.level) - 1)
    settings = replace(settings, permutations=several)
    differences = tuple(
        compare(
            _pair(X, which == g, weights, settings),
            (name, REST),
            settings,
            streams.within("group", g),
        )
        for g, name in enumerate(names)
    )
    adjusted = holm(np.array([found.test.p_value for found in differences]))
    strength = np.array([-found.test.statistic for found in differences])
    return GroupDifferences(
        names, differences, tuple(map(float, adjusted)), np.lexsort((strength, adjusted))
    )


def holm(p: Vector) -> Vector:
    """p-values adjusted for their number: p₍ᵢ₎ ← max_{j ≤ i} min(1, (m − j + 1)·p₍ⱼ₎)."""
    order = np.argsort(p, kind="stable")
    steps = np.minimum((len(p) - np.arange(len(p))) * p[order], 1.0)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def _pair(X: ArrayLike, inside: np.ndarray, weights: Vector | None, settings: Settings) -> Any:
    """The rows of one group, and all others."""
    rows = np.flatnonzero(inside), np.flatnonzero(~inside)
    parts = [_take(X, own) for own in rows]
    own_weights = None if weights is None else [weights[own] for own in rows]
    return check_pair(parts[0], parts[1], own_weights, settings.engine)


def _take(X: Any, rows: IntVector) -> Any:
    """Some rows of an array or of a frame, names kept."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "columns") and not _checks.is_batched(X) and hasattr(X, "__getitem__"):
        return X[rows]
    return _checks.points(X, "A")[rows]


def _rows_of(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _require_names(labels: np.ndarray) -> None:
    """Labels of one kind, none of them missing."""
    kinds: set[type] = {type(label) for label in labels} if labels.dtype.kind == "O" else set()
    if any(kind.__name__ in MISSING for kind in kinds) or _has_nan(labels, kinds):
        raise ValueError("groups has missing values; drop these rows or name their group.")
    if len(kinds) > 1 and not all(issubclass(kind, numbers.Real) for kind in kinds):
        told = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"groups mixes labels of several kinds ({told}); use one kind.")


def _has_nan(labels: np.ndarray, kinds: set[type]) -> bool:
    if labels.dtype.kind in "fc":
        return bool(np.isnan(labels).any())
    if labels.dtype.kind in "mM":
        return bool(np.isnat(labels).any())
    return float in kinds and any(label != label for label in labels)  # noqa: PLR0124


def _require_rows(names: tuple[str, ...], counts: IntVector) -> None:
    for name, count in zip(names, counts, strict=True):
        if count < 2:
            raise ValueError(
                f"group {name!r} has one row only: a test needs at least two in each group."
            )
