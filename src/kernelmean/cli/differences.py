"""Where samples differ, as a command tells it: sentences, short tables, JSON and a page."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kernelmean.cli import results

if TYPE_CHECKING:
    from kernelmean._types import Points, Vector
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.groups import GroupDifferences
    from kernelmean.comparison.regions import Region
    from kernelmean.comparison.value import Difference

TOLD = "median_(correlation)"  # of a column, and of a pair
MAX_SHOWN = 5  # columns and regions in the tables of a terminal
WIDEST = 100  # letters in a line of a sentence

Rows = list[dict[str, Any]]


def of_two(
    samples: Mapping[str, Points], columns: list[str] | None, settings: dict[str, Any]
) -> Difference:
    """The difference of two samples, under their own names."""
    import kernelmean as km

    a, b = samples
    found = km.difference(samples[a], samples[b], names=(a, b), columns=columns, **settings)
    return cast("Difference", found)


def of_groups(
    samples: Mapping[str, Points], columns: list[str] | None, settings: dict[str, Any]
) -> GroupDifferences:
    """The difference of each of more than two samples from the rest."""
    import numpy as np

    import kernelmean as km

    labels = np.repeat(list(samples), [len(points) for points in samples.values()])
    points = np.concatenate(list(samples.values()))
    found = km.difference(points, groups=labels, columns=columns, **settings)
    return cast("GroupDifferences", found)


def say_sentence(text: str) -> None:
    """A sentence in lines that a terminal holds, and an empty line."""
    from kernelmean.comparison.words import GAP, unbroken

    width = min(shutil.get_terminal_size().columns, WIDEST)
    lines = textwrap.wrap(unbroken(text), width, break_long_words=False)
    results.say("\n".join(lines).replace(GAP, " ") + "\n")


def write_page(
    path: Path | None, found: Difference | GroupDifferences, settings: dict[str, Any]
) -> dict[str, str]:
    """The page where one was asked for, and the fact that names it."""
    if path is None:
        return {}
    from kernelmean.pictures.html import difference_page

    page = difference_page(found, settings=settings, command=results.command_line())
    results.write_text(path, page)
    return {"report": str(path)}


def short_tables(found: Difference) -> dict[str, Rows]:
    """The columns and pairs that explain most, and the largest regions, for people.

    Without tables that would be empty, or say that no column explains anything.
    """
    from kernelmean.comparison import words

    several = len(found.column_names) > 1 and words.stands_out(found)
    ranked = sorted((*found.columns, *found.pairs), key=lambda effect: -effect.share)
    clear = [effect for effect in ranked if effect.share > 0.0]
    columns = [_short_column(found, effect) for effect in clear[: MAX_SHOWN * several]]
    regions = [_short_region(found, region) for region in list(found.regions)[:MAX_SHOWN]]
    return {name: rows for name, rows in (("columns", columns), ("regions", regions)) if rows}


def _short_column(found: Difference, effect: Effect) -> dict[str, str]:
    from kernelmean.comparison import words

    a, b = found.names
    return {
        "column": " with ".join(effect.columns),
        "of_the_difference": words.percent(effect.share),
        "95_%_interval": words.interval(effect),
        f"{TOLD}_in_{a}": words.short(effect.value_a),
        f"{TOLD}_in_{b}": words.short(effect.value_b),
    }


def _short_region(found: Difference, region: Region) -> dict[str, str]:
    from kernelmean.comparison import words

    gap, low, high = (words.points(value) for value in words.gain(region))
    a, b = found.names
    return {
        "region_around": words.place(found, region),
        "more_in": found.names[region.more],
        "percentage_points": f"{gap} ({low} to {high})",
        f"of_{a}": words.percent(region.shares[0]),
        f"of_{b}": words.percent(region.shares[1]),
        "q": words.chance(region.q_value),
    }


def all_facts(found: Difference) -> dict[str, Any]:
    """Everything that a program may want to know: test, regions, columns, pairs."""
    test = found.test
    return {
        "sentence": found.describe(),
        "difference": {
            "names": found.names,
            "rows": found.n_points,
            "p_value": test.p_value,
            "statistic": test.statistic,
            "threshold": test.threshold(found.level),
            "permutations": len(test.null),
            "level": found.level,
        },
        "regions": [_region(found, region) for region in found.regions],
        "columns": [_effect(effect) for effect in found.columns],
        "pairs": [_effect(effect) for effect in found.pairs],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    """A column with its medians, or a pair with its rank correlations."""
    known = effect._asdict()
    names = known.pop("columns")
    what = {"column": names[0]} if len(names) == 1 else {"columns": names}
    return what | {name: float(value) for name, value in known.items()}


def _region(found: Difference, region: Region) -> dict[str, Any]:
    def by_name(values: Vector) -> dict[str, float]:
        return dict(zip(found.column_names, values.tolist(), strict=True))

    return {
        "more_in": found.names[region.more],
        "shares": region.shares,
        "counts": region.counts,
        "difference": region.difference,
        "low": region.low,
        "high": region.high,
        "q_value": region.q_value,
        "stands_apart_by": [found.column_names[j] for j in region.columns],
        "center": by_name(region.center),
        "lower": by_name(region.lower),
        "upper": by_name(region.upper),
    }


def group_rows(found: GroupDifferences, as_json: bool) -> Rows:
    """One line per group, the most different first; all that is known of each for machines."""
    from kernelmean.comparison import words

    rows = []
    for i in map(int, found.order):
        own = found.differences[i]
        telling = words.most_telling(own)
        told = None if telling is None else words.effect_name(telling)
        row = {
            "group": found.names[i],
            "rows": own.n_points[0],
            "adjusted_p": float(found.p_values[i]) if as_json else words.chance(found.p_values[i]),
            "explains_most": told,
        }
        if as_json:
            rows.append(row | all_facts(own))
        else:
            largest = own.regions[0] if len(own.regions) else None
            where = None if largest is None else words.place(own, largest)
            rows.append(row | {"regions": len(own.regions), "largest_around": where})
    return rows
