"""The probability of a box within a domain: bounds for numbers, equality for categories."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.domains import Bounds, Categorical, Domain, Group, Periodic, truncated
from kernelmean.mean.questions import boxes
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.on_domain.parts import code
from kernelmean.mean.questions.on_domain.products import Products, refuse_no_number
from kernelmean.mean.questions.plain import crossed_error
from kernelmean.mean.questions.values import Estimate


class Interval(NamedTuple):
    """What a column of numbers may be."""

    low: float
    high: float

    @property
    def is_empty(self) -> bool:
        """Whether no number is in it."""
        return self.low > self.high


class Asking(NamedTuple):
    """What is asked of each column; columns without a question are absent."""

    intervals: dict[int, Interval]
    categories: dict[int, int]

    @classmethod
    def of(cls, domain: Domain, columns: Columns, lower: Any, upper: Any) -> Asking:
        """Bounds as users give them."""
        lows = columns.limits(lower)
        highs = columns.limits(upper)
        intervals: dict[int, Interval] = {}
        categories: dict[int, int] = {}
        for t in sorted({*lows, *highs}):
            if isinstance(domain.kinds[t], Categorical):
                codes = {int(code(domain, columns, t, b[t])) for b in (lows, highs) if t in b}
                if len(codes) > 1:
                    raise ValueError(
                        f"column {columns.label(t)} holds categories, which have no order: give "
                        "the same one as both bounds, or as one of them."
                    )
                categories[t] = codes.pop()
                continue
            refuse_no_number(domain, columns, t, "a bound")
            low = columns.bound(lows.get(t, -math.inf), t)
            high = columns.bound(highs.get(t, math.inf), t)
            found = _interval(domain, columns, t, Interval(low, high))
            if found is not None:
                intervals[t] = found
        return cls(intervals, categories)


def _interval(domain: Domain, columns: Columns, t: int, asked: Interval) -> Interval | None:
    """What of an interval lies in the domain; None where all of the domain does."""
    kind = domain.kinds[t]
    if isinstance(kind, Periodic):
        return _turned(kind, asked)
    if asked.is_empty:
        raise crossed_error(asked.low, asked.high, columns.label(t))
    if not isinstance(kind, Bounds):
        return asked
    if asked.low <= kind.lower and asked.high >= kind.upper:
        return None
    return Interval(max(asked.low, kind.lower), min(asked.high, kind.upper))


def _turned(kind: Periodic, asked: Interval) -> Interval | None:
    """An interval of a period, which may lead across its end: from 22 to 2 o'clock.

    It begins anywhere, and ends less than a period later; where a bound is missing, it is the start
    or the end of the period.
    """
    period = kind.period
    low, high = asked
    if math.isinf(low) and math.isinf(high):
        return None
    if math.isinf(low):
        low = kind.start
        high = _folded(high, kind, end=True)
    elif math.isinf(high):
        low = _folded(low, kind, end=False)
        high = kind.start + period
    elif low > high:
        high += period * math.ceil((low - high) / period)
    return None if high - low >= period else Interval(low, high)


def _folded(value: float, kind: Periodic, *, end: bool) -> float:
    """The value in the period; its start, or its end, stays what it is."""
    turned = (value - kind.start) % kind.period
    if turned == 0.0 and end and value != kind.start:
        turned = kind.period
    return kind.start + turned


def probability(
    products: Products, asking: Asking, error: float, rng: np.random.Generator
) -> Estimate:
    """P(every column is as asked): components unfolded in the columns that have bounds.

    The spheres and the other columns are integrated out, which leaves one of each component.
    """
    weights = np.array(products.mixture.weights)
    for column, category in asking.categories.items():
        weights *= products.shares(column)[:, category]
    if any(interval.is_empty for interval in asking.intervals.values()):
        return Estimate(0.0)
    if not asking.intervals:
        return Estimate(min(float(weights.sum()), 1.0))
    domain = products.domain
    coordinates = np.array([products.coordinate(t) for t in asking.intervals])
    low, high = np.array(list(asking.intervals.values())).T
    group = domain.group.of(coordinates)
    # A period begins where its interval does, so that images lie about all of it.
    turns = group.periodic
    lower = np.array(group.lower)
    upper = np.array(group.upper)
    lower[turns] = low[turns]
    upper[turns] = low[turns] + group.widths[turns]
    group = replace(group, lower=lower, upper=upper)
    found = products.unfolded(coordinates, group)
    weights *= _ended_shares(products, coordinates, group, (low, high))
    mixture = replace(found.mixture, weights=weights[found.owner])
    # What ends at bounds is counted by its share: nothing else depends on where it is.
    lows = np.where(found.cut, -np.inf, low)
    highs = np.where(found.cut, np.inf, high)
    box = boxes.Box(np.arange(len(coordinates)), lows, highs)
    return boxes.probability(mixture, box, error, rng)


def _ended_shares(
    products: Products, coordinates: IntVector, group: Group, box: tuple[Vector, Vector]
) -> Vector:
    """(k,) the share of each component in a box, by the coordinates in which it ends at bounds."""
    found = np.ones(len(products.mixture.weights))
    a, t = np.nonzero(products.cut[:, coordinates])
    if len(a):
        means = products.mixture.means[:, coordinates][a, t]
        s = products.mixture.deviations(coordinates)[a, t]
        whole = truncated.log_mass((group.lower[t] - means) / s, (group.upper[t] - means) / s)
        low, high = ((end[t] - means) / s for end in box)
        np.multiply.at(found, a, truncated.share_between(low, high, whole))
    return found
