"""What the parameters of scikit-learn's KernelDensity mean, and which of them exist here."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from kernelmean import _checks
from kernelmean.kernels import registry

# The kinds of values that scikit-learn lets pass, in the form in which estimators declare them.
CONSTRAINTS: Mapping[str, list[Any]] = {
    "bandwidth": [Real, str],
    "algorithm": [str],
    "kernel": [str],
    "metric": [str],
    "atol": [Real],
    "rtol": [Real],
    "breadth_first": ["boolean"],
    "leaf_size": [Integral],
    "metric_params": [dict, None],
    "error": [Real, None],
    "engine": "no_validation",  # type: ignore[dict-item]  # opened, and refused, by engines
    "random_state": "no_validation",  # type: ignore[dict-item]  # by _checks.streams
}
ALGORITHMS = ("kd_tree", "ball_tree", "auto")
RULES = ("scott", "silverman")
ROUND = ("euclidean", "l2")  # names of the one metric that there is
OF_ANY_POWER = ("minkowski", "p")  # these are it for p = 2, which is their default
COMPACT = ("tophat", "epanechnikov", "linear", "cosine")
NAMES = (*registry.names(), "exponential")


def check_values(estimator: Any) -> None:
    """Raise a ValueError for a value that scikit-learn refuses, or that does not exist here.

    Kinds of values are checked before, by scikit-learn.
    """
    _checks.choice(estimator.algorithm, "algorithm", ALGORITHMS)
    _check_kernel(estimator.kernel)
    _check_metric(estimator.metric, estimator.metric_params or {})
    _checks.number(estimator.atol, "atol", least=0.0)
    _checks.number(estimator.rtol, "rtol", least=0.0)
    _checks.count(estimator.leaf_size, "leaf_size")
    if isinstance(estimator.bandwidth, str):
        _checks.choice(estimator.bandwidth, "bandwidth", RULES)


def length(bandwidth: float | str, n: int, d: int) -> float:
    """The bandwidth for n rows in d dimensions; the rules look at nothing else."""
    if bandwidth == "scott":
        # n^{−1/(d+4)}
        return float(n ** (-1.0 / (d + 4)))
    if bandwidth == "silverman":
        # (n(d + 2)/4)^{−1/(d+4)}
        return float((n * (d + 2) / 4.0) ** (-1.0 / (d + 4)))
    return _checks.length(bandwidth, "bandwidth")


def _check_kernel(name: str) -> None:
    if name in COMPACT:
        offered = ", ".join(map(repr, NAMES))
        raise ValueError(
            f"kernel {name!r} does not exist here, where kernels are {offered}; use "
            "sklearn.neighbors.KernelDensity for it."
        )
    _checks.choice(name, "kernel", NAMES)


def _check_metric(name: str, parameters: dict[str, Any]) -> None:
    if name not in ROUND + OF_ANY_POWER:
        raise ValueError(
            f"invalid metric {name!r}: distances are Euclidean here; use "
            "sklearn.neighbors.KernelDensity for any other metric."
        )
    power = parameters.get("p", 2) if name in OF_ANY_POWER else 2
    odd = parameters.keys() - ({"p"} if name in OF_ANY_POWER else set())
    if odd or not isinstance(power, Real) or power != 2:
        raise ValueError(
            f"invalid metric_params {parameters!r} for metric {name!r}: distances are Euclidean "
            "here, with p=2 and no other parameter."
        )
