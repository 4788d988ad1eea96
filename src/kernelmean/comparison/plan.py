"""How a two-sample test is made: which kernels it looks at, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kernelmean import _checks, bandwidth, kernels
from kernelmean._types import IntVector
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.comparison.pairs import Pair
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel

AGGREGATE = "aggregate"
MEDIAN_ROWS = 500  # whose distances have the median


class Look(NamedTuple):
    """What is looked at with one bandwidth; None among the ridges is the MMD itself."""

    factor: float  # bandwidth, in units of the median distance
    centers: int = 1  # in units of ``k``: a narrow kernel sees what is near a centre only
    ridges: tuple[float | None, ...] = (None,)  # relative to the largest eigenvalue
    weights: tuple[float, ...] = (1.0,)  # what each counts for, up to one


# Chosen by their power on normal samples in 3, 8 and 20 dimensions that differ in mean, spread,
# correlation or by a small cluster. What sees a shift of the mean, the commonest change, counts
# three times as much as the rest.
THIRD = 1.0 / 3.0
LOOKS = (
    Look(1.0, ridges=(None, 0.01), weights=(1.0, THIRD)),
    Look(4.0, ridges=(0.01, 0.001), weights=(1.0, THIRD)),
    Look(0.25, centers=2, weights=(THIRD,)),
    Look(0.0625, centers=2, weights=(THIRD,)),
)


@dataclass(frozen=True)
class TestPlan:
    """How a test is made; the fields mean what they mean in :func:`mmd_test`."""

    __test__ = False  # nothing that pytest should collect

    kernel: str | Kernel = "gaussian"
    bandwidth: float | str = AGGREGATE
    scale: Any = "auto"
    sparse: bool = True
    k: int = 256
    bins: int = 64
    permutations: int = 999

    def check(self) -> None:
        """Raise an error where a setting is none, before any work is done."""
        _checks.choice(self.sparse, "sparse", (True, False))
        _checks.count(self.k, "k")
        _checks.count(self.bins, "bins", 2)
        _checks.count(self.permutations, "permutations")
        if isinstance(self.bandwidth, str):
            _checks.choice(self.bandwidth, "bandwidth rule", (AGGREGATE, *bandwidth.RULES))
        if isinstance(self.scale, str):
            _checks.choice(self.scale, "scale", ("auto", "std", "cov"))

    @property
    def aggregates(self) -> bool:
        """Whether several bandwidths are looked at."""
        return self.bandwidth == AGGREGATE and not isinstance(self.kernel, Kernel)

    @property
    def named_scale(self) -> Any:
        """The scale; a length that is given is one in the data's own units."""
        automatic = isinstance(self.scale, str) and self.scale == "auto"
        return None if automatic and not self.aggregates else self.scale


def find_looks(
    pair: Pair, plan: TestPlan, order: IntVector, engine: Engine, *, constant: bool
) -> list[tuple[Kernel, Look]]:
    """The kernels to look at, by the pooled sample, each with how."""
    if plan.aggregates and not constant:
        few = engine.load(pair.rows(order[:MEDIAN_ROWS]))
        family = kernels.family(str(plan.kernel))
        sigma = bandwidth.by_rule("median", few)
        return [(family.matching(own.factor * sigma, pair.dimension), own) for own in LOOKS]
    return [(_kernel(pair, plan, order, engine, constant=constant), Look(1.0))]


def _kernel(
    pair: Pair, plan: TestPlan, order: IntVector, engine: Engine, *, constant: bool
) -> Kernel:
    """The one kernel that was asked for; equal points need no scale."""
    if constant and not isinstance(plan.kernel, Kernel) and isinstance(plan.bandwidth, str):
        return kernels.family(plan.kernel).rescaled(1.0, pair.dimension)
    few = engine.load(pair.rows(order[:MEDIAN_ROWS]))
    length = plan.bandwidth
    if isinstance(plan.kernel, Kernel) and length == AGGREGATE:
        length = DEFAULT_RULE  # a default is no second scale
    if isinstance(length, str) and not isinstance(plan.kernel, Kernel):
        pooled = pair.first.sample.join([pair.second.sample])
        return resolve_kernel(plan.kernel, length, pooled.load(engine, pair.weights()))
    return resolve_kernel(plan.kernel, length, few)
