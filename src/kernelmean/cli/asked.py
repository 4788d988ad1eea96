"""The density that ``kernelmean query`` asks, and its answers in the units of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kernelmean.cli import conditions, domains

if TYPE_CHECKING:
    import numpy as np

    from kernelmean.cli.conditions import Assignment
    from kernelmean.files.transforms import Transform

Answer = dict[str, Any]  # in the words of JSON


@dataclass(frozen=True, eq=False)
class AskedDensity:
    """A density, what its columns are called, and what was done to make it of the model's."""

    mean: Any  # a SparseKernelMean, or a DomainMean with the same methods
    labels: tuple[str, ...]  # of all columns of the model
    named: bool  # whether these are names, not positions
    kept: tuple[int, ...]  # the columns of ``mean``, by their positions in the model
    drawn: tuple[int, ...]  # the columns of rows that are drawn, those with given values included
    given: dict[int, Any]  # in the units of the file
    transform: Transform | None
    seed: int
    # Of the model, by column:
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # categories
    turning: frozenset[int] = frozenset()  # periodic columns and those of spheres, without a mean

    @classmethod
    def of(cls, mean: Any, seed: int) -> AskedDensity:
        """All of a model; columns without names of their own go by their positions."""
        from kernelmean.files.transforms import parse

        every = tuple(range(mean.dimension))
        names = () if mean.columns is None else mean.columns
        named = len(set(names)) == len(every)
        labels = names if named else tuple(map(str, every))
        if domains.is_on_domain(mean):
            levels = domains.levels_of(mean)
            return cls(mean, labels, named, every, every, {}, None, seed, levels, _turning(mean))
        return cls(mean, labels, named, every, every, {}, parse(mean.transform), seed)

    def where(self, texts: Sequence[str]) -> AskedDensity:
        """The density of the other columns where some have known values."""
        found = conditions.assignments("--given", texts, self.labels, self.levels)
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
        """What is asked: the values that are given, the transform of the model, and its domain."""
        from kernelmean.domains.words import sentence

        found: Answer = {}
        if self.given:
            found["given"] = {self.labels[t]: value for t, value in self.given.items()}
        if self.transform is not None:
            found["transform"] = str(self.transform)
        if domains.is_on_domain(self.mean):
            names = [self.labels[column] for column in self.kept]
            found["domain"] = sentence(self.mean.domain, names)
        return found

    def summary(self, levels: list[float]) -> list[Answer]:
        """The mean, the standard deviation and quantiles of every column of numbers."""
        import numpy as np

        if self.levels or self.turning:
            return [
                self._summary_alone(t, levels)
                for t, column in enumerate(self.kept)
                if column not in self.levels and not self._on_sphere(t)
            ]

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

    def shares(self) -> Answer:
        """The probability of each category of each column of them, where there are some."""
        import numpy as np

        found = []
        for t, column in enumerate(self.kept):
            levels = self.levels.get(column, ())
            values = np.array([*levels, None], dtype=object)[:-1, None]
            shares = self.mean.marginal([t])(values).tolist() if levels else []
            found += [
                {"column": self.labels[column], "category": level, "probability": share}
                for level, share in zip(levels, shares, strict=True)
            ]
        return {"categories": found} if found else {}

    def cdf(self, texts: Sequence[str]) -> list[Answer]:
        """P(column ≤ x) for every x that is asked for."""
        found = []
        for column, x in conditions.assignments("--cdf", texts, self.labels, self.levels):
            if column in self.levels:
                raise ValueError(
                    f"--cdf: {self.labels[column]!r} holds categories, which have no order: ask "
                    f"for --probability {self.labels[column]}={x}."
                )
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
        found = {
            column: np.full(count, value, dtype=object if column in self.levels else np.float64)
            for column, value in self.given.items()
        }
        found |= {
            column: places[:, t] if column in self.levels else places[:, t].astype(np.float64)
            for t, column in enumerate(self.kept)
        }
        return {self.labels[t] if self.named else f"x{t}": found[t] for t in self.drawn}

    def _probability(self, text: str) -> Answer:
        event = conditions.event("--probability", text, self.labels, self.levels)
        equal = {self._place("--probability", t): value for t, value in event.equal.items()}
        places = {one: self._place("--probability", one.column) for one in event.bounds}
        share, density = self._given_categories(equal)
        found = share
        error = 0.0
        if event.bounds and share > 0.0:
            shift = {place: place - sum(t < place for t in equal) for place in places.values()}
            lower = {shift[place]: self._bound(one.lower) for one, place in places.items()}
            upper = {shift[place]: self._bound(one.upper) for one, place in places.items()}
            rest = density.probability(lower, upper, random_state=self.seed)
            found = share * float(rest)
            error = share * rest.standard_error
        return {"condition": text.strip(), "probability": found, "standard_error": error}

    def _given_categories(self, equal: dict[int, Any]) -> tuple[float, Any]:
        """P(categories), and the density of the other columns given these; None where it is all."""
        import numpy as np

        if not equal:
            return 1.0, self.mean
        row = np.array([[*equal.values(), None]], dtype=object)[:, :-1]
        share = float(self.mean.marginal(list(equal))(row)[0])
        others = len(equal) < len(self.kept)
        return share, self.mean.conditional(equal) if others and share > 0.0 else None

    def _summary_alone(self, place: int, levels: list[float]) -> Answer:
        """Of one column; no mean where values come round."""
        import numpy as np

        column = self.kept[place]
        part = self.mean if len(self.kept) == 1 else self.mean.marginal([place])
        mean = deviation = None
        if column not in self.turning:
            mean = float(part.expectation()[0])
            deviation = float(np.sqrt(part.covariance()[0, 0]))
        quantiles = np.ravel(part.quantile(levels)).tolist()
        return {
            "column": self.labels[column],
            "mean": mean,
            "sd": deviation,
            "quantiles": [
                {"p": p, "value": value} for p, value in zip(levels, quantiles, strict=True)
            ],
        }

    def _on_sphere(self, place: int) -> bool:
        """Whether a column is a longitude or a latitude, which have no order of their own."""
        on_domain = domains.is_on_domain(self.mean)
        return on_domain and any(place in pair for pair in self.mean.domain.spheres)

    def _place(self, option: str, column: int) -> int:
        """Where a column of the model is in this density."""
        if column in self.kept:
            return self.kept.index(column)
        why = "has a value by --given" if column in self.given else "is not one of --columns"
        raise ValueError(f"{option}: {self.labels[column]!r} {why}, so nothing is left to ask.")

    def _inside(self, one: Assignment) -> Any:
        """A given value as the density has it."""
        import numpy as np

        if one.column in self.levels:
            return one.value

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


def _turning(mean: Any) -> frozenset[int]:
    """The columns of a density on a domain whose values come round, or are on a sphere."""
    spheres = (t for pair in mean.domain.spheres for t in pair)
    return frozenset([*mean.domain.periodic.tolist(), *spheres])
