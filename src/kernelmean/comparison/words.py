"""What a difference of two samples is in words, and its numbers as people read them.

Shares are of the rows of one sample each, so that their difference is in percentage points. A place
is told by the columns by which the rows of a region stand apart, to as many digits as the width of
the region bears.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.groups import GroupDifferences
    from kernelmean.comparison.regions import Region
    from kernelmean.comparison.value import Difference

MAX_REGIONS = 3  # that are told in a sentence each, the largest
MAX_COLUMNS = 3  # that tell where a region is
LEAST_TOLD = 0.1  # share of the difference from which a column is said to explain it
LEAST_PERCENT = 0.1  # below it "less than 0.1" is said
LEAST_P = 1e-4  # below it "p < 0.0001" is said
SHARE_OF_WIDTH = 4.0  # numbers are rounded to at most this part of the width they stand for
LARGE = 1e9  # from here on numbers are written with an exponent
GAP = "\u00a0"  # a space at which no line ends
GROUPED = 1e4  # from here on, in groups of three: four digits may be a year


def describe(found: Difference) -> str:
    """Where two samples differ, whether it is chance, and which column explains most.

    The largest regions have a sentence each.
    """
    a, b = (
        f"{name} ({counted(n, 'row')})" for name, n in zip(found.names, found.n_points, strict=True)
    )
    p = p_value(found.test.p_value)
    differs = is_different(found)
    told = [region_sentence(found, region) for region in list(found.regions)[:MAX_REGIONS]]
    if not told and not differs:
        return f"No difference was found between {a} and {b}: {p}."
    if not told:
        rate = f"at a false-discovery rate of {percent(found.level)}"
        return f"{a} and {b} differ ({p}), but no region stands out {rate}{_explained(found)}."
    told += _further(len(found.regions) - len(told))
    if differs:
        return " ".join([*told, f"The two samples differ ({p}){_explained(found)}."])
    doubt = "taken as a whole the two samples may be alike"
    return " ".join([*told, f"Take this with care: {doubt} ({p})."])


def is_different(found: Difference) -> bool:
    """Whether the test of all columns rejects that the samples have one distribution."""
    return found.test.p_value <= found.level


def describe_groups(found: GroupDifferences) -> str:
    """How many groups differ from the rest, and how the one that differs most does."""
    first = int(found.order[0])
    level = found.differences[first].level
    count = sum(p <= level for p in found.p_values)
    test = f"at the level {percent(level)}, adjusted for the number of groups by Holm's rule"
    if not count:
        return f"None of the {len(found.names)} groups differs from the rest {test}."
    verb = "differs" if count == 1 else "differ"
    said = f"{count} of {len(found.names)} groups {verb} from the rest {test}."
    most = f"Most different is {found.names[first]} (adjusted {p_value(found.p_values[first])})."
    regions = found.differences[first].regions
    told = [region_sentence(found.differences[first], region) for region in list(regions)[:1]]
    return " ".join([said, most, *told])


def region_sentence(found: Difference, region: Region) -> str:
    """Which sample has more of its rows in a region, where that is, and the two shares."""
    more = found.names[region.more]
    less = found.names[1 - region.more]
    gap = percentage_points(abs(region.difference))
    shares = (
        f"{percent(region.shares[region.more])} of the rows of {more}, "
        f"{percent(region.shares[1 - region.more])} of those of {less}"
    )
    return f"{more} has {gap} more of its rows around {place(found, region)} ({shares})."


def place(found: Difference, region: Region) -> str:
    """Where a region is, by the columns in which it stands apart: "age 70, income 20 000"."""
    return ", ".join(
        at(found.column_names[j], near(region.center[j], region.upper[j] - region.lower[j]))
        for j in region.columns[:MAX_COLUMNS]
    )


def at(name: str, value: str) -> str:
    """A column with its value: "age 70", but "x1 = 70", where two numbers would meet."""
    return f"{name} = {value}" if name[-1:].isdigit() else f"{name} {value}"


def most_telling(found: Difference) -> Effect | None:
    """The column or pair of columns that explains most, where it explains a part worth telling."""
    known = [*found.columns[:1], *found.pairs[:1]]
    first = max(known, key=lambda effect: effect.share, default=None)
    if first is None or first.share < LEAST_TOLD or first.p_value > found.level:
        return None
    return first


def effect_name(effect: Effect) -> str:
    """A column by its name, a pair by both."""
    return " and ".join(effect.columns)


def interval(effect: Effect) -> str:
    """The interval of a share of the difference: "31 % to 51 %"."""
    return f"{percent(max(effect.low, 0.0))} to {percent(effect.high)}"


def _explained(found: Difference) -> str:
    """The part that one column explains, where there is more than one column."""
    if len(found.column_names) == 1:
        return ""
    effect = most_telling(found)
    if effect is None:
        return "; no column alone explains much of the difference"
    name = effect_name(effect)
    subject = name if len(effect.columns) == 1 else f"how {name} go together"
    return f"; {subject} explains {percent(effect.share)} of the difference"


def _further(count: int) -> list[str]:
    if count <= 0:
        return []
    return [f"{count} further region{' differs' if count == 1 else 's differ'} by less."]


def counted(n: int, what: str) -> str:
    """A number of things: "1 row", "300 rows"."""
    return f"{grouped(n)} {what}{'' if n == 1 else 's'}"


def percentage_points(difference: float) -> str:
    """A difference of two shares: "8 percentage points"."""
    value = _of_hundred(difference)
    return f"{value} percentage point{'' if value == '1' else 's'}"


def percent(share: float) -> str:
    """A share: "12 %", to two digits."""
    return f"{_of_hundred(share)} %"


def points(difference: float) -> str:
    """A difference of two shares as a number of percentage points: "8", "−0.4"."""
    value = 100.0 * float(difference)
    if abs(value) < LEAST_PERCENT / 2.0:
        return "0"
    return f"{'−' if value < 0.0 else ''}{_digits(abs(value))}"


def gain(region: Region) -> tuple[float, float, float]:
    """By how much the sample that has more in a region exceeds the other, and its interval."""
    if region.more == 1:
        return region.difference, region.low, region.high
    return -region.difference, -region.high, -region.low


def p_value(p: float) -> str:
    """A p-value with its letter: "p = 0.012"."""
    return f"p {chance(p)}" if p < LEAST_P else f"p = {chance(p)}"


def chance(p: float) -> str:
    """A probability of a test: "0.012", or that it is tiny."""
    return f"< {_plain(LEAST_P)}" if p < LEAST_P else _plain(float(f"{p:.2g}"))


def near(value: float, width: float) -> str:
    """A number to the digits that matter where values lie within this width of each other."""
    if not (math.isfinite(width) and width > 0.0):
        return short(value)
    # 10^⌊log₁₀(width/4)⌋ is the step that numbers are rounded to.
    digits = -math.floor(math.log10(width / SHARE_OF_WIDTH))
    rounded = round(float(value), digits)
    return grouped(rounded, max(digits, 0))


def short(value: float) -> str:
    """A number to three digits, but with all digits before the point."""
    size = abs(float(value))
    if size == 0.0 or not math.isfinite(size):
        return f"{value:g}"
    return grouped(round(float(value), max(2 - math.floor(math.log10(size)), 0)))


def unbroken(text: str) -> str:
    """Text in which no line ends within a number, before a percent sign, or within "p = 0.01"."""
    return re.sub(r"(?<=\d) (?=%|\d{3}(?!\d))| (?=[=<] \d)|(?<= [=<]) (?=\d)", GAP, text)


def grouped(value: float, decimals: int | None = None) -> str:
    """A number without an exponent and with a space between thousands, where it is not extreme."""
    number = float(value)
    size = abs(number)
    if not math.isfinite(size) or size >= LARGE or (0.0 < size < 1e-4):
        return f"{number:.3g}".replace("-", "−")
    written = _plain(size) if decimals is None else f"{size:.{min(decimals, 12)}f}"
    if size >= GROUPED:
        whole, point, rest = written.partition(".")
        written = f"{int(whole):,}".replace(",", " ") + point + rest
    return f"−{written}" if number < 0.0 and float(written.replace(" ", "")) else written


def _of_hundred(share: float) -> str:
    value = 100.0 * float(share)
    if 0.0 < value < LEAST_PERCENT:
        return f"less than {LEAST_PERCENT:g}"
    return _digits(value)


def _digits(value: float) -> str:
    """Two digits, and whole numbers from ten on."""
    rounded = float(f"{value:.2g}")
    return f"{value:.0f}" if rounded >= 10.0 else _plain(rounded)


def _plain(value: float) -> str:
    """The shortest decimal that is this number, without an exponent."""
    written = f"{value:.12f}".rstrip("0").rstrip(".")
    return "0" if written in ("", "-0") else written
