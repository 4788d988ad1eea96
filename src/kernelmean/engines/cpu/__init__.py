"""The default engine: compiled loops for what is worth compiling, NumPy for what is not.

Which of the two an operation is done by follows from its sizes alone (:mod:`.steps`), never from
what happens to be compiled already, so that a result does not depend on the state of a cache.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean._work import compiling_pays
from kernelmean.compiled.threads import default_count
from kernelmean.engines import Shift, naive
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.engines.cpu import steps
from kernelmean.engines.optional_protocols import FarthestOffers
from kernelmean.engines.protocols import KernelSums, Nearest, PointRows, Traversal
from kernelmean.engines.rounds import CloudOffers
from kernelmean.kernels import Atoms, Formula, RadialFunction

if TYPE_CHECKING:
    from kernelmean.engines.cpu.compiled_cloud import CompiledCloud

Cloud: TypeAlias = "CompiledCloud | naive.PointCloud"


def _compiled() -> Any:
    """The module that imports Numba, which takes a quarter of a second."""
    return importlib.import_module("kernelmean.engines.cpu.compiled_cloud")


@dataclass(frozen=True)
class Engine:
    """Opens point clouds on this machine's cores; ``threads`` changes nothing but the speed."""

    threads: int = field(default_factory=default_count)
    name: str = field(default="cpu", init=False)

    def __post_init__(self) -> None:
        _checks.count(self.threads, "threads")

    def load(self, X: Points, weights: Vector | None = None) -> PointCloud:
        """Take the points in."""
        return PointCloud(WeightedPoints(X, weights), self.threads)

    def load_atoms(self, atoms: Atoms) -> AtomCloud:
        """Take the atoms in; points are atoms of variance 0."""
        return AtomCloud(atoms, self.threads)

    def with_threads(self, threads: int) -> Engine:
        """The same engine on another number of threads."""
        return replace(self, threads=threads)


@dataclass(frozen=True)
class PointCloud:
    """n points with weights, and each operation by compiled loops where that pays."""

    sample: WeightedPoints
    threads: int

    @lazy
    def plain(self) -> naive.PointCloud:
        """The points as NumPy sees them."""
        return naive.PointCloud(self.sample)

    @lazy
    def compiled(self) -> CompiledCloud:
        """The points in the layout of compiled loops (one copy)."""
        cloud: CompiledCloud = _compiled().CompiledCloud(self.sample, self.threads)
        return cloud

    def by(self, work: float) -> Cloud:
        """Who does an operation of so many steps."""
        here = isinstance(self.sample.X, np.ndarray) and not compiling_pays(work)
        return self.plain if here else self.compiled

    def compact(self) -> PointCloud:
        """The same point cloud with its points in blocks alone if they have a tree, else itself."""
        if self.traversing is self.plain:
            return self
        compact = self.compiled.compact()
        if compact is self.compiled:
            return self
        twin = PointCloud(compact.sample, self.threads)
        twin.__dict__["compiled"] = compact
        return twin

    def stored_rows(self) -> PointRows:
        """The array of the points, or the blocks read as one."""
        return self.sample.X

    @lazy
    def summary(self) -> ArraySummary:
        """Counts, moments and quantiles."""
        return ArraySummary(self.sample)

    @lazy
    def traversing(self) -> Cloud:
        """Who goes from centre to centre."""
        return self.by(steps.traversal(*self.sample.X.shape))

    def rows(self, indices: IntVector) -> Points:
        return self.sample.rows(indices)

    def locate(self, u: Vector) -> IntVector:
        return self.sample.locate(u)

    def traverse(self, first: int) -> Traversal:
        return self.traversing.traverse(first)

    def nearest(self, centers: Points) -> Nearest:
        return self.by(steps.nearest(len(self.sample.X), centers)).nearest(centers)

    def farthest_offers(self, squared: Vector | None = None) -> FarthestOffers:
        """Distances to centres from anywhere; with ``squared``, those to earlier centres, nothing
        else is kept.
        """
        if self.traversing is not self.plain:
            return self.compiled.farthest_offers(squared)
        known = np.full(len(self.sample.X), np.inf) if squared is None else squared
        return CloudOffers(self.plain, self.sample.p, known)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        columns = 1 if W is None or W.ndim == 1 else W.shape[1]
        work = steps.values(radial, len(self.sample.X), Q, columns)
        return self.by(work).kernel_sum(radial, Q, W)

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        work = steps.moments(radial, len(self.sample.X), Q)
        return self.by(work).kernel_moments(radial, Q)

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        work = steps.atom_values(atoms, len(self.sample.X))
        return self.by(work).atom_sum(radial, atoms)

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        work = steps.atom_moments(atoms, len(self.sample.X))
        return self.by(work).atom_moments(radial, atoms)

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        work = steps.values(radial, len(self.sample.X), Q)
        return self.by(work).log_kernel_sum(radial, Q, w)

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        work = steps.moments(decay, len(self.sample.X), Q)
        return self.by(work).shift(decay, Q, w)

    def quadratic(self, radial: RadialFunction) -> float:
        n, d = self.sample.X.shape
        return self.by(steps.pairs(radial, n, d)).quadratic(radial)

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        work = steps.phases(len(self.sample.X), frequencies)
        return self.by(work).fourier_sum(frequencies, origin)


@dataclass(frozen=True)
class AtomCloud:
    """k atoms, and each sum over them by compiled loops where that pays."""

    atoms: Atoms
    threads: int

    @lazy
    def plain(self) -> naive.AtomCloud:
        """The atoms as NumPy sees them."""
        return naive.AtomCloud(self.atoms)

    @lazy
    def compiled(self) -> KernelSums:
        """The atoms in the layout of compiled loops."""
        sums: KernelSums = _compiled().atom_sums(self.atoms, self.threads)
        return sums

    def by(self, work: float) -> KernelSums:
        """Who does an operation of so many steps."""
        return self.compiled if compiling_pays(work) else self.plain

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        columns = 1 if W.ndim == 1 else W.shape[1]
        work = steps.atom_values(self.atoms, len(Q), columns)
        return self.by(work).kernel_sum(radial, Q, W)

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        return self.by(steps.atom_values(self.atoms, len(Q))).log_kernel_sum(radial, Q, w)

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        return self.by(steps.atom_moments(self.atoms, len(Q))).shift(decay, Q, w)
