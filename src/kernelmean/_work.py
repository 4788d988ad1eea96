"""How much work is worth compiling for.

Below it NumPy, SciPy and BLAS answer before a compiler has started. The sizes of the data decide
alone, never what happens to be compiled already: results do not depend on the state of a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Steps of NumPy on one number, of about a nanosecond each. A fit takes some tens of such pieces of
# work; importing Numba and compiling what they need takes seconds.
LEAST_WORK = 6e7

_settled: ContextVar[bool | None] = ContextVar("_settled", default=None)
_times: ContextVar[int] = ContextVar("_times", default=1)


def compiling_pays(steps: float) -> bool:
    """Whether work that takes NumPy so many steps on one number is left to compiled loops.

    A sum or a product is one step, an exponential about six.
    """
    known = _settled.get()
    return steps * _times.get() >= LEAST_WORK if known is None else known


@contextmanager
def repeated(times: int) -> Iterator[None]:
    """Inside, the same work is done so many times in all: what is compiled once serves all of it.

    Who does a part of it later, a new sample by the recipe of many, says the same number, and has
    the same bits.
    """
    token = _times.set(times)
    try:
        yield
    finally:
        _times.reset(token)


@contextmanager
def settled(pays: bool) -> Iterator[None]:
    """Inside, compiling pays or does not, whatever the work.

    For rows that come in batches, each of which has the same bits in a small batch as in a large
    one.
    """
    token = _settled.set(pays)
    try:
        yield
    finally:
        _settled.reset(token)
