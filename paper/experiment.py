"""What an experiment is: named parts, rows that compare with the paper, a picture, claims.

A part returns plain values (numbers, strings, lists, dictionaries) that are kept in
``results/<name>.json`` with the machine they were measured on. Rows and pictures are made from
these values alone, so a long experiment can be run part by part. Claims are for a quick check.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import machine

from paper.data import Missing, Source

RESULTS = Path(__file__).parent / "results"
Values = dict[str, Any]  # what JSON can hold
Parts = Mapping[str, Values]
Figure = float | str | None


class Goal(NamedTuple):
    """What a figure is held to."""

    words: str
    met: bool
    of: str = "best"  # settings: "best", or "ours" for the paper's


@dataclass(frozen=True)
class Row:
    """One figure of the paper beside ours."""

    table: str  # "Table 1: flow_lakes36": rows of one table are shown together
    quantity: str
    paper: Figure
    ours: Figure  # with the paper's settings
    best: Figure  # with this library's best settings; None where there is no difference
    unit: str = ""  # "s" for times, "×" for ratios of times
    sentence: str = ""  # on any difference
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        """Ours ÷ the paper's: with its settings, or where we have only best settings with those."""
        mine = self.best if self.ours is None else self.ours
        if isinstance(mine, str) or isinstance(self.paper, str) or mine is None or not self.paper:
            return None
        return mine / self.paper


class Picture(NamedTuple):
    """A file beside the results, and what it shows."""

    file: str
    caption: str


class Claim(NamedTuple):
    """Something that must hold on small public data too."""

    words: str
    holds: bool
    figures: str


class Desk(NamedTuple):
    """Where a part finds its data and leaves what is too large for JSON."""

    source: Source
    results: Path


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    name: str
    title: str
    about: str  # what the paper did, what stands in for its data, which settings are ours
    parts: Mapping[
        str, Callable[[Desk], Values]
    ]  # in the order in which they run; each some minutes at most
    rows: Callable[[Parts], Sequence[Row]]
    draw: Callable[[Parts, Path], Sequence[Picture]]
    claims: Callable[[], Sequence[Claim]]
    kept: frozenset[str] = field(
        default_factory=frozenset
    )  # parts so long that they are computed once

    def run(self, desk: Desk, wanted: Sequence[str] = (), fresh: bool = False) -> Result:
        """Compute some parts, or all that no earlier run has kept, and write the result."""
        known = stored(self.name, desk.results)
        names = wanted or [
            part for part in self.parts if fresh or part not in self.kept or part not in known
        ]
        found: dict[str, Values] = {}
        for part in names:
            found[part] = measured(self.parts[part], desk)
            self.write(
                stored(self.name, desk.results) | found, desk.results
            )  # what is done stays done, here and beside
        return self.write(stored(self.name, desk.results) | found, desk.results)

    def write(self, known: Mapping[str, Values], folder: Path) -> Result:
        """Rows and pictures of the parts that are there, with the parts themselves."""
        parts = {part: known[part] for part in self.parts if part in known}
        values = {part: found["values"] for part, found in parts.items() if "values" in found}
        absent = [found["absent"] for found in parts.values() if "absent" in found]
        absent += [f"{part} has not been run." for part in self.parts if part not in parts]
        folder.mkdir(parents=True, exist_ok=True)
        pictures = list(self.draw(values, folder))
        result = Result(
            self.name, self.title, self.about, list(self.rows(values)), pictures, absent, parts
        )
        result.save(folder)
        return result


@dataclass(frozen=True)
class Result:
    """What a run found, and all that the page needs."""

    name: str
    title: str
    about: str
    rows: list[Row]
    pictures: list[Picture]
    absent: list[str]  # sentences on what could not be had
    parts: dict[str, Values]

    @property
    def machines(self) -> list[str]:
        """What the parts were measured on."""
        return sorted(
            {part["measured_on"] for part in self.parts.values() if "measured_on" in part}
        )

    def save(self, folder: Path) -> None:
        """``<name>.json`` with everything, ``<name>.csv`` with the rows."""
        text = json.dumps(
            asdict(self) | {"pictures": [picture._asdict() for picture in self.pictures]},
            indent=1,
            allow_nan=False,
        )
        (folder / f"{self.name}.json").write_text(text + "\n")
        with (folder / f"{self.name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            heads = (
                "table",
                "quantity",
                "paper",
                "ours, its settings",
                "ours, best settings",
                "ours/paper",
                "unit",
                "goal",
                "met",
                "sentence",
            )
            writer.writerow(heads)
            for row in self.rows:
                goal = ("", "") if row.goal is None else (row.goal.words, row.goal.met)
                writer.writerow(
                    (
                        row.table,
                        row.quantity,
                        row.paper,
                        row.ours,
                        row.best,
                        row.ratio,
                        row.unit,
                        *goal,
                        row.sentence,
                    )
                )

    @classmethod
    def load(cls, name: str, folder: Path = RESULTS) -> Result | None:
        """What an earlier run wrote; None where there is none."""
        path = folder / f"{name}.json"
        if not path.exists():
            return None
        found = json.loads(path.read_text())
        found["rows"] = [
            Row(**{**row, "goal": row["goal"] and Goal(*row["goal"])}) for row in found["rows"]
        ]
        found["pictures"] = [Picture(**picture) for picture in found["pictures"]]
        return cls(**found)


def stored(name: str, folder: Path) -> dict[str, Values]:
    """The parts of an earlier run that have values."""
    earlier = Result.load(name, folder)
    return (
        {}
        if earlier is None
        else {part: found for part, found in earlier.parts.items() if "values" in found}
    )


def values_of(name: str, folder: Path) -> dict[str, Values]:
    """The values of an earlier run, for parts that build on others."""
    return {part: found["values"] for part, found in stored(name, folder).items()}


def measured(part: Callable[[Desk], Values], desk: Desk) -> Values:
    """The values of a part, or the sentence that says which data cannot be had."""
    start = time.perf_counter()
    try:
        values = part(desk)
    except Missing as missing:
        return {"absent": str(missing)}
    return {
        "measured_on": machine(),
        "seconds": round(time.perf_counter() - start, 2),
        "values": values,
    }
