"""Values as people read them: a few digits of each number, and shapes of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

DIGITS = 4  # of a number, and all that stand before its point
MOST_ENTRIES = 12  # of an array that is shown entry by entry


def number(value: Any) -> str:
    """The number as a literal of Python: 0.2813, 12346.0, 1e-05; whole ones as they are."""
    if isinstance(value, int | np.integer):
        return str(int(value))
    found = float(value)
    if not np.isfinite(found):
        return str(found)
    digits = max(DIGITS, len(str(int(abs(found)))) if abs(found) < 1e16 else DIGITS)
    return str(float(f"{found:.{digits}g}"))


def entry(value: Any) -> str:
    """A number in few digits, a long array by its shape, anything else as it shows itself."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.integer | np.floating):
        return number(value)
    if isinstance(value, np.ndarray):
        large = value.size > MOST_ENTRIES
        return f"<array of shape {value.shape}>" if large else f"array({entry(value.tolist())})"
    if type(value) in (list, tuple):
        return _several(value)
    return repr(value)


def _several(values: list[Any] | tuple[Any, ...]) -> str:
    """A list or a tuple of entries; one that is long by its length."""
    if len(values) > MOST_ENTRIES:
        return f"<{type(values).__name__} of {len(values)}>"
    inside = ", ".join(map(entry, values))
    if isinstance(values, list):
        return f"[{inside}]"
    return f"({inside},)" if len(values) == 1 else f"({inside})"


def brief(value: Any, names: Iterable[str]) -> str:
    """``Name(field=0.2813, …)``."""
    entries = ", ".join(f"{name}={entry(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({entries})"


def counted(count: int, name: str) -> str:
    """``1 dimension``, ``2 dimensions``."""
    return f"{count} {name}{'' if count == 1 else 's'}"
