"""Numba loops that release the GIL, on threads of our own, streaming over blocks of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import Shift
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.engines.cpu import component_sums, shifts, sums
from kernelmean.engines.cpu.atom_sums import ScalarAtoms
from kernelmean.engines.cpu.block_rows import BlockRows
from kernelmean.engines.cpu.blocks import Blocks
from kernelmean.engines.cpu.full_atom_sums import FullAtoms
from kernelmean.engines.cpu.offers import FilterOffers, TreeOffers
from kernelmean.engines.cpu.traversal import Nearest, Traversal
from kernelmean.engines.optional_protocols import FarthestOffers
from kernelmean.kernels import Atoms, Formula, RadialFunction
from kernelmean.kernels.atoms import variance


def atom_sums(atoms: Atoms, threads: int) -> ScalarAtoms | FullAtoms:
    """Sums over atoms; points are atoms of variance 0."""
    if atoms.kind == "full":
        return FullAtoms(atoms, threads)
    return ScalarAtoms(atoms.as_kind("scalar"), threads)


@dataclass(frozen=True)
class CompiledCloud:
    """n points in blocks (one copy, made when first needed)."""

    sample: WeightedPoints
    threads: int

    @lazy
    def blocks(self) -> Blocks:
        """The points in the layout of the compiled loops."""
        return Blocks.of(self.sample.X, self.threads)

    def compact(self) -> CompiledCloud:
        """The same point cloud with its points in blocks alone if there is a tree, else itself."""
        if self.blocks.tree is None:
            return self
        sample = WeightedPoints(BlockRows(self.blocks), self.sample.raw_weights)
        twin = CompiledCloud(sample, self.threads)
        twin.__dict__["blocks"] = self.blocks
        return twin

    def traverse(self, first: int) -> Traversal:
        return Traversal(self.blocks, self.sample, first, self.threads)

    def nearest(self, centers: Points) -> Nearest:
        return Nearest(self.blocks, self.sample, centers, self.threads)

    def farthest_offers(self, squared: Vector | None = None) -> FarthestOffers:
        """Distances to centres from anywhere; with ``squared``, those to earlier centres, nothing
        else is kept.
        """
        if squared is None and self.blocks.tree is not None:
            return TreeOffers(self.blocks, self.sample, self.threads)
        known = np.full(len(self.sample.X), np.inf) if squared is None else squared
        return FilterOffers(self.sample, known, self.threads)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        return sums.kernel_sum(
            self.blocks, radial, Q, self.sample.p if W is None else W, self.threads
        )

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        return sums.kernel_moments(self.blocks, radial, Q, self.sample.p, self.threads)

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        components = atoms.blurred(variance(radial))
        return component_sums.atom_sum(self.blocks, components, self.sample.p, self.threads)

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        components = atoms.blurred(variance(radial))
        return component_sums.atom_moments(self.blocks, components, self.sample.p, self.threads)

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        return sums.log_kernel_sum(
            self.blocks, radial, Q, self.sample.p if w is None else w, self.threads
        )

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        return shifts.shift(self.blocks, decay, Q, self.sample.p if w is None else w, self.threads)

    def quadratic(self, radial: RadialFunction) -> float:
        return sums.quadratic(self.blocks, radial, self.sample.p, self.threads)

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        return sums.fourier_sum(self.blocks, frequencies, origin, self.sample.p, self.threads)
