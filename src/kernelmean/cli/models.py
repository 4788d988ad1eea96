"""What a model knows of itself, for the commands that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelmean.cli.domains import is_on_domain

if TYPE_CHECKING:
    from kernelmean.mean.value import SparseKernelMean


def described(mean: SparseKernelMean) -> dict[str, Any]:
    """The facts that any model has, None for those that it has not."""
    if is_on_domain(mean):
        return _on_domain(mean)
    return {
        "kind": "density" if mean.is_density else f"kernel mean ({mean.space})",
        "target": _target(mean),
        "dimensions": mean.dimension,
        "columns": None if mean.columns is None else list(mean.columns),
        "transform": mean.transform,
        "kernel": str(mean.kernel),
        "bandwidth": mean.kernel.length,
        "scaled": mean.scale is not None,
        "divided_by": _divisors(mean),
        "centres": mean.k,
        "spread": mean.expansion.atoms.kind,
        "selection": mean.selection,
        "stopped_by": mean.stop_reason,
        "mean_log_density": _mean_log_density(mean),
        "estimated_error": mean.estimated_error,
        "covering_radius": mean.cover,
        "bound": mean.bound,
    }


def _on_domain(mean: Any) -> dict[str, Any]:
    """The facts of a density on a domain: those of the sum inside, and where its columns lie."""
    from kernelmean.domains.words import sentence

    inside = described(mean.base)
    own = {
        "dimensions": mean.dimension,
        "columns": None if mean.columns is None else list(mean.columns),
        "transform": None,
        "mean_log_density": _mean_log_density(mean),
        "bound": None,
    }
    if not mean.domain.is_flat:  # these are of the coordinates inside
        own |= dict.fromkeys(("divided_by", "estimated_error", "covering_radius"))
    found = inside | own
    names = list(found)
    place = names.index("columns") + 1
    before, behind = (
        {name: found[name] for name in some} for some in (names[:place], names[place:])
    )
    return before | {"domain": sentence(mean.domain, mean.columns)} | behind


def _target(mean: SparseKernelMean) -> str | None:
    """What a density was fitted to be near to."""
    from kernelmean.mean.value import is_by_likelihood

    if not mean.is_density:
        return None
    return "likelihood" if is_by_likelihood(mean) else "kde"


def _divisors(mean: SparseKernelMean) -> list[float] | None:
    """What each column is divided by before the kernel; None where nothing, or no such map, is."""
    import numpy as np

    if mean.scale is None:
        return None
    factors = np.diagonal(mean.scale)
    return (1.0 / factors).tolist() if np.array_equal(mean.scale, np.diag(factors)) else None


def _mean_log_density(mean: SparseKernelMean) -> float | None:
    """Of the rows that were fitted, by the quantiles that a model of a density carries."""
    from kernelmean.density.mixture import mean_log_density

    return None if mean.log_quantiles is None else mean_log_density(mean.log_quantiles)
