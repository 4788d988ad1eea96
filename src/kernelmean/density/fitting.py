"""How densities are fitted: centres are chosen once per data set, and serve every bandwidth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernelmean import bandwidth, engines
from kernelmean._types import ArrayLike, Points, RandomState, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE, labelled_kernel, resolve_kernel
from kernelmean.density.remembering import recall
from kernelmean.fitting import kernel_mean, sparse_density
from kernelmean.fitting.fit import default_limit
from kernelmean.kernels import Kernel
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.scaling import apply, resolve
from kernelmean.mean.value import SparseKernelMean

Density = SparseKernelMean | KernelMean

# centres that "auto" may take however few the points: fewer would save no time that anybody notices
FEWEST = 600


@dataclass(frozen=True)
class Settings:
    """How a density is fitted; the meaning is that of the arguments of ``sparse_kernel_mean``."""

    kernel: Any = "gaussian"
    bandwidth: Any = DEFAULT_RULE
    scale: Any = None
    k: int | str = "auto"
    k_max: int | None = None
    tol: float = 1e-10
    patience: int = 10
    selection: Any = "auto"
    refine: int = 0
    engine: Any = "cpu"

    def fit(
        self, X: Points, weights: Vector | None = None, random_state: RandomState = None
    ) -> SparseKernelMean:
        """A valid density on k centres: α ≥ 0, Σα = 1, the exact optimum in L2. Rows of weight zero
        are as absent.

        The centres are those for Scott's bandwidth, whatever the bandwidth: a search over
        bandwidths selects once (the paper's amortisation). Narrower kernels do no better with
        centres of their own; refined centres do.
        """
        own = self.resolved(X, weights)
        _, present, positive = engines.present(X, weights)
        cloud = _cloud(apply(own.scale, present, present[0]), positive, self.engine)
        kernel = resolve_kernel(self.kernel, self.bandwidth, cloud)
        chosen_for = kernel if self.refine else _at_scotts_bandwidth(kernel, cloud)
        most = max(default_limit(cloud.summary.size), FEWEST) if self.k_max is None else self.k_max
        reference = replace(own, kernel=chosen_for, bandwidth=DEFAULT_RULE, k_max=most)
        mean = recall(
            reference, X, weights, random_state, lambda: reference._select(X, weights, random_state)
        )
        return (
            mean if mean.kernel == kernel else mean.refit(X, kernel=kernel, sample_weight=weights)
        )

    def _select(
        self, X: Points, weights: Vector | None, random_state: RandomState
    ) -> SparseKernelMean:
        return sparse_density(X, sample_weight=weights, random_state=random_state, **vars(self))

    def full(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> KernelMean:
        """The exact kernel density estimate."""
        common = {name: getattr(self, name) for name in ("kernel", "bandwidth", "scale", "engine")}
        return kernel_mean(X, space="l2", sample_weight=sample_weight, **common)

    def resolved(self, X: Points, weights: Vector | None) -> Settings:
        """The same with the scale as a matrix, found from these points."""
        if self.scale is None:
            return self
        _, present, positive = engines.present(X, weights)
        return replace(
            self, scale=resolve(self.scale, _cloud(present, positive, self.engine).summary)
        )

    def labelled(self, X: Points, y: ArrayLike, weights: Vector | None) -> Settings:
        """The same with the kernel whose bandwidth is Jaakkola's for these labels, in the
        coordinates of the kernel.
        """
        own = self.resolved(X, weights)
        origin = engines.present(X, weights)[1][
            0
        ]  # of a row that counts: absent ones may be far away
        kernel = labelled_kernel(self.kernel, apply(own.scale, X, origin), y, weights, self.engine)
        return replace(own, kernel=kernel, bandwidth=DEFAULT_RULE)

    def like(self, density: Density) -> Settings:
        """The same with the kernel and the scale of a density that is fitted already."""
        return replace(self, kernel=density.kernel, bandwidth=DEFAULT_RULE, scale=density.scale)


def _cloud(X: Points, weights: Vector | None, engine: Any) -> engines.PointCloud:
    return engines.precise(engines.choose(engine, X, 0.0)).load(X, weights)


def _at_scotts_bandwidth(kernel: Kernel, cloud: engines.PointCloud) -> Kernel:
    """The same family at Scott's bandwidth; the kernel itself where the points have no spread."""
    if not (cloud.summary.std > 0).any():
        return kernel
    return kernel.matching(bandwidth.by_rule(DEFAULT_RULE, cloud), cloud.summary.dimension)
