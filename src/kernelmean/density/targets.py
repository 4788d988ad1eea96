"""What a density is to be near to: a kernel density estimate, or the truth that rows come from."""

from __future__ import annotations

from typing import Any, Literal

from kernelmean import _checks
from kernelmean.kernels.registry import is_gaussian

TARGETS = ("auto", "kde", "likelihood")


def target_of(estimator: Any, error: float | None) -> Literal["kde", "likelihood"]:
    """The target that an estimator's parameters ask for.

    "auto" is "likelihood" where nothing asks for a kernel density estimate: no bandwidth and no
    number of centres of one's own, no other kernel, no selection, refinement or error, no point
    centres, no full density. More components than the rows can bear overfit; more centres of a
    copy do not.
    """
    asked = _checks.choice(estimator.target, "target", TARGETS)
    if asked == "kde":
        return "kde"
    objection = _objection(estimator, error)
    if asked == "likelihood":
        if objection is not None:
            raise ValueError(
                f"target='likelihood' fits a mixture of Gaussians by EM, which {objection}; leave "
                "that out, or use target='kde'."
            )
        return "likelihood"
    open_bandwidth = isinstance(estimator.bandwidth, str) and estimator.bandwidth == "auto"
    named = isinstance(estimator.kernel, str)
    ours = open_bandwidth and named and isinstance(estimator.k, str)
    return "likelihood" if ours and objection is None else "kde"


def _objection(estimator: Any, error: float | None) -> str | None:
    """What of an estimator's parameters no fit by likelihood can heed, as half a sentence."""
    selection = estimator.selection
    objections = {
        f"needs a Gaussian kernel, not {estimator.kernel}": not is_gaussian(estimator.kernel),
        "has no full density, but sparse=False asks for it": not estimator.sparse,
        "has no point centres, but spread=None asks for them": estimator.spread is None,
        f"is near to no kernel mean, but error={error!r} asks for an error against one": error
        is not None,
        f"selects no centres, but selection={selection!r} asks for that": not (
            isinstance(selection, str) and selection == "auto"
        ),
        f"moves its centres by itself, but refine={estimator.refine!r} asks for steps": bool(
            estimator.refine
        ),
    }
    return next((text for text, applies in objections.items() if applies), None)
