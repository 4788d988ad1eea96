"""Centres with a width of their own: which kinds of spread a fit may use."""

from __future__ import annotations

from typing import TypeAlias

from kernelmean import _checks
from kernelmean.fitting.settings import SPREADS, FitSettings, default_limit
from kernelmean.kernels import Kernel, SpreadKind

Kinds: TypeAlias = tuple[SpreadKind | None, ...]  # None for points


def kinds_of(settings: FitSettings, kernel: Kernel, d: int, size: float) -> Kinds:
    """The kinds of spread of a sample of so many points.

    A search for an error begins with few centres: what as many as usual may have is tried.
    """
    limit = settings.stopping(size).limit
    if settings.error is not None:
        limit = min(limit, default_limit(size))
    return kinds(settings, kernel, d, limit)


def kinds(settings: FitSettings, kernel: Kernel, d: int, limit: int) -> Kinds:
    """The kinds of spread that are to be tried, None for points.

    "auto" tries all of them where the selection is left to us and the kernel is a Gaussian.
    """
    spread = _checks.choice(settings.spread, "spread", SPREADS)
    if spread == "auto":
        if not (kernel.traits.spreads and settings.is_auto):
            return (None,)
        return (None, "scalar", "full") if full_fits(limit, d) else (None, "scalar")
    if spread is not None and not kernel.traits.spreads:
        raise ValueError(
            f"spread={spread!r} needs a Gaussian kernel; with {kernel} centres are points: "
            "spread=None."
        )
    if spread == "full" and not full_fits(limit, d):
        raise ValueError(
            f"spread='full' would hold {limit} covariances of {d} × {d} numbers, more than fits "
            "memory; use spread='scalar'."
        )
    return (spread,)


def most_centers(kinds: Kinds, k_max: int, d: int) -> int:
    """At most ``k_max``: as many as fit memory where every centre has a covariance."""
    if kinds != ("full",):
        return k_max
    return max(1, min(k_max, _checks.numbers_in_memory() // (4 * d * d)))


def full_fits(k: int, d: int) -> bool:
    """Whether k covariances, and what the algebra makes of them, fit memory."""
    return _checks.fits_in_memory(4 * k * d * d)
