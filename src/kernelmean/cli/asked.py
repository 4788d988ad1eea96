"""The density that ``kernelmean query`` asks, and its answers in the units of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelmean.cli import conditions

if TYPE_CHECKING:
    import numpy as np

    from kernelmean.cli.conditions import Assignment
    from kernelmean.files.transforms import Transform
    from kernelmean.mean.value import SparseKernelMean

Answer = dict[str, Any]  # in the words of JSON


@dataclass(frozen=True, eq=False)
class AskedDensity:
    """A density, what its columns are called, and what was done to make it of the model's."""

    mean: SparseKernelMean
    labels: tuple[str, ...]  # of all columns of the model
    named: bool  # whether these are names, not positions
    kept: tuple[int, ...]  # the columns of ``mean``, by their positions in the model
    drawn: tuple[int, ...]  # the columns of rows that are drawn, those with given values included
    given: dict[int, float]  # in the units of the file
    transform: Transform | None
    seed: int

    @classmethod
    def of(cls, mean: SparseKernelMean, seed: int) -> AskedDensity:
        """All of a model; columns without names of their own go by their positions."""
        from kernelmean.files.transforms import parse

        every = tuple(range(mean.dimension))
        names = () if mean.columns is None else mean.columns
        named = len(set(names)) == len(every)
        labels = names if named else tuple(map(str, every))
        return cls(mean, labels, named, every, every, {}, parse(mean.transform), seed)

    def where(self, texts: Sequence[str]) -> AskedDensity:
        """The density of the other columns where some have known values."""
        found = conditions.assignments("--given", texts, self.labels)
        given = dict(found)
        if len(given) < len(found):
            columns = [column for column, _ in found]
            twice = next(column for column in given if columns.count(column) > 1)
            raise ValueError(f"--given has two values for {self.labels[twice]!r}.")
        if len(given) == len(self.labels):
            raise ValueError(
                "--given has a value for every column; leave at least one out of "
                f"{conditions.known(self.labels)}."
            )
        part = self.mean.conditional({one.column: self._inside(one) for one in found})
        kept = tuple(column for column in self.kept if column not in given)
        return replace(self, mean=part, kept=kept, given=given)

    def only(self, text: str) -> AskedDensity:
        """The density of some of its columns, whatever the others are."""
        chosen = tuple(conditions.columns("--columns", text, self.labels))
        part = self.mean.marginal([self._place("--columns", column) for column in chosen])
        return replace(self, mean=part, kept=chosen, drawn=chosen)

    def facts(self) -> Answer:
        """What is asked: the values that are given, and the transform of the model."""
        found: Answer = {}
        if self.given:
            found["given"] = {self.labels[t]: value for t, value in self.given.items()}
        if self.transform is not None:
            found["transform"] = str(self.transform)
        return found

    def summary(self, levels: list[float]) -> list[Answer]:
        """The mean, the standard deviation and quantiles of every column."""
        import numpy as np

        after = "" if self.transform is None else "_after_transform"
        means = self.mean.expectation().tolist()
        deviations = np.sqrt(np.diagonal(self.mean.covariance())).tolist()
        quantiles = self._outside(self.mean.quantile(levels).reshape(len(levels), -1))
        return [
            {
                "column": self.labels[column],
                f"mean{after}": means[t],
                f"sd{after}": deviations[t],
                "quantiles": [
                    {"p": p, "value": value}
                    for p, value in zip(levels, quantiles[:, t].tolist(), strict=True)
                ],
            }
            for t, column in enumerate(self.kept)
        ]

    def cdf(self, texts: Sequence[str]) -> list[Answer]:
        """P(column ≤ x) for every x that is asked for."""
        found = []
        for column, x in conditions.assignments("--cdf", texts, self.labels):
            value = float(self.mean.cdf(self._bound(x), self._place("--cdf", column))[0])
            found.append({"column": self.labels[column], "x": x, "probability": value})
        return found

    def probability(self, texts: Sequence[str]) -> list[Answer]:
        """The probability of each set of conditions."""
        return [self._probability(text) for text in texts]

    def entropy(self) -> Answer:
        """The differential entropy of the values that the density is of."""
        found = self.mean.entropy(random_state=self.seed)
        return {"value": float(found), "standard_error": found.standard_error}

    def hdr(self, level: float) -> Answer:
        """The highest density region: its threshold, and in one dimension its intervals."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"--hdr must lie between 0 and 1, got {level:g}.")
        region = self.mean.hdr(level, random_state=self.seed)
        found = {
            "level": region.level,
            "log_threshold": region.log_threshold,
            "standard_error": region.standard_error,
        }
        if region.intervals is None:
            return found
        return found | {"intervals": self._outside(region.intervals).tolist()}

    def modes(self) -> list[Answer]:
        """The peaks, the highest first."""
        found = self.mean.modes()
        names = [self.labels[column] for column in self.kept]
        places = self._outside(found.points).tolist()
        return [
            {"log_density": height, "at": dict(zip(names, place, strict=True))}
            for place, height in zip(places, found.log_densities.tolist(), strict=True)
        ]

    def rows(self, count: int) -> dict[str, np.ndarray[Any, Any]]:
        """Rows that are drawn, by column, with the given values in theirs.

        Columns without names are x0, x1, …, since a head of numbers would be read as a row.
        """
        import numpy as np

        places = self._outside(self.mean.sample(count, random_state=self.seed))
        found = {column: np.full(count, value) for column, value in self.given.items()}
        found |= {column: places[:, t] for t, column in enumerate(self.kept)}
        return {self.labels[t] if self.named else f"x{t}": found[t] for t in self.drawn}

    def _probability(self, text: str) -> Answer:
        lower: dict[int, float] = {}
        upper: dict[int, float] = {}
        for column, low, high in conditions.bounds("--probability", text, self.labels):
            place = self._place("--probability", column)
            lower[place] = self._bound(low)
            upper[place] = self._bound(high)
        found = self.mean.probability(lower, upper, random_state=self.seed)
        return {
            "condition": text.strip(),
            "probability": float(found),
            "standard_error": found.standard_error,
        }

    def _place(self, option: str, column: int) -> int:
        """Where a column of the model is in this density."""
        if column in self.kept:
            return self.kept.index(column)
        why = "has a value by --given" if column in self.given else "is not one of --columns"
        raise ValueError(f"{option}: {self.labels[column]!r} {why}, so nothing is left to ask.")

    def _inside(self, one: Assignment) -> float:
        """A given value as the density has it."""
        import numpy as np

        found = self._bound(one.value)
        if not np.isfinite(found):
            raise ValueError(
                f"--given: {self.labels[one.column]!r} cannot be {one.value:g}, since the model "
                f"was fitted after {self.transform}."
            )
        return found

    def _bound(self, x: float) -> float:
        """The place of a value in the density; −∞ for what is too small to have a logarithm."""
        import numpy as np

        if self.transform is None:
            return x
        found = float(self.transform(np.array([x]))[0])
        return -np.inf if np.isnan(found) else found

    def _outside(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Places of the density in the units of the file."""
        return places if self.transform is None else self.transform.inverse(places)
