"""What commands note on stderr after their facts: where an answer is not to be trusted.

Or where another option would have done better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelmean.cli import results

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.mean.value import SparseKernelMean
    from kernelmean.proportions.explaining import GoodnessOfFit

LARGE_ERROR = 0.1  # relative, above which a note is due
UNEXPLAINED = 0.01  # p-value below which a sample is no mixture of the classes
ALIKE = 0.05  # p-value above which samples may all have one distribution
MAX_SPREAD_RATIO = 30.0  # of two columns, from which on one bandwidth suits only one of them


def error(mean: SparseKernelMean, settings: dict[str, Any]) -> None:
    """A word where the number of centres was open and leaves a large error."""
    found = mean.estimated_error
    if found is None or not isinstance(settings["k"], str):
        return
    if settings["error"] is not None and mean.stop_reason == "k_max":
        results.note(
            f"--error {settings['error']:g} was not reached: {mean.k} centres, the most that "
            f"memory allows, leave an estimated relative error of {found:.2g}."
        )
    elif settings["error"] is None and found > LARGE_ERROR:
        results.note(
            f"{mean.k} centres leave an estimated relative error of {found:.2g}; "
            f"--error {LARGE_ERROR:g} takes as many as that needs."
        )


def one_width_for_all(mean: SparseKernelMean, bandwidth: str) -> bool:
    """Whether columns are left in units of their own, and have to share one width all the same.

    Those of covariances that were fitted by likelihood share none, unless a least width was given.
    """
    from kernelmean.mean.value import is_by_likelihood

    fitted = is_by_likelihood(mean) and mean.expansion.atoms.kind == "full"
    return mean.scale is None and not (fitted and bandwidth == "auto")


def units(X: Points, names: list[str] | None) -> None:
    """A word where columns have units so different that one of them decides alone; constant ones do
    not count.
    """
    if names is None:
        return
    varied = X.max(axis=0) > X.min(axis=0)  # rounding gives constant columns a spread
    spreads = {
        name: float(spread)
        for name, spread, counts in zip(names, X.std(axis=0), varied, strict=True)
        if counts
    }
    least = min(spreads, key=spreads.__getitem__, default="")
    most = max(spreads, key=spreads.__getitem__, default="")
    if spreads and spreads[most] > MAX_SPREAD_RATIO * spreads[least]:
        results.note(
            f"column {most!r} spreads {spreads[most] / spreads[least]:.0f} times as far as "
            f"{least!r}, and all columns share one "
            "bandwidth; --scale std makes them alike."
        )


def few(mean: SparseKernelMean, k: int | str) -> None:
    """A word where there are fewer distinct points than centres asked for."""
    if mean.stop_reason == "distinct" and not isinstance(k, str) and mean.k < k:
        results.note(
            f"--k {k} asks for more centres than there are distinct points: each of these "
            f"{mean.k} is one."
        )


def unexplained(found: GoodnessOfFit) -> None:
    """A word where proportions mean little, since no mixture of the classes explains the sample."""
    if found.p_value < UNEXPLAINED:
        results.note(
            f"no mixture of the classes looks like TEST (p = {found.p_value:.2g}): the classes "
            "have changed since TRAIN, or TEST holds something else; do not trust these "
            "proportions."
        )


def alike(p_value: float) -> None:
    """A word where a map of samples may show nothing but chance."""
    if p_value > ALIKE:
        results.note(
            f"the samples may all have one distribution (p = {p_value:.2g}): then the map shows "
            "nothing but chance."
        )
