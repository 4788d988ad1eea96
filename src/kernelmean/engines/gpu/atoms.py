"""Atoms on a device: sums over atoms at points, and over points at atoms.

An atom is a point whose distances a factor shortens, so numbers F² need one more multiplication in
the loops of points, in either precision; the plain loop of float32 in few dimensions hides it in a
difference. Matrices F cancel digits that float32 does not have to spare: their sums are float64 in
either precision. What fits add up over points is float64 too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import Shift, naive
from kernelmean.engines.gpu.arrays import (
    PADDING,
    Tensor,
    double_columns,
    padded,
    spread,
    to_device,
    to_host,
    vector,
)
from kernelmean.engines.gpu.double import QUERIES, Blur, loops
from kernelmean.engines.gpu.plan import Factors, Plan
from kernelmean.engines.gpu.points import DeviceSample
from kernelmean.engines.gpu.sums import Sums, far_out
from kernelmean.engines.gpu.torch_loops import PRODUCTS
from kernelmean.kernels import Atoms, Formula, RadialFunction
from kernelmean.kernels.atoms import variance

# F² below which an atom reaches beyond the coordinates that single precision keeps
FLATTEST = 2.0**-90
BLOCK = 1 << 14  # points at a time that meet atoms with matrices


@dataclass(frozen=True, eq=False)
class AtomCloud:
    """k atoms on a device."""

    atoms: Atoms
    precision: str
    device: torch.device
    _kept: dict[float, Sums] = field(default_factory=dict)

    def kernel_sum(self, radial: RadialFunction, Q: Points | Tensor, W: Matrix | Tensor) -> Matrix:
        """f_ic = Σ_a W_ac g_a(q_i)."""
        return self._sums(radial).kernel_sum(radial, Q, W)

    def log_kernel_sum(
        self, radial: RadialFunction, Q: Points | Tensor, w: Vector | Tensor
    ) -> Vector:
        """log Σ_a w_a g_a(q_i): the largest term first, then the sum relative to it."""
        return self._sums(radial).log_kernel_sum(radial, Q, w)

    def shift(self, decay: Formula, Q: Points | Tensor, w: Vector | Tensor) -> Shift:
        """One step of mean shift, in the log domain and in float64 in either precision."""
        phi = decay.times(None)
        sums = replace(self._sums(phi), single=False)
        assert sums.blur is not None, "there are atoms"
        queries = to_device(Q, self.device)
        weights = vector(w, self.device)
        if sums.blur.factors.full:
            return _full_shift(phi, sums, queries, weights)
        pulling = weights * sums.blur.factors.values[: len(weights)]  # ψ_a = F_a² g_a
        log_pull = sums.log_kernel_sum(phi, queries, pulling)
        step = sums.steps(phi, queries, pulling, log_pull)
        far = far_out(log_pull)
        if len(far):
            there = to_host(queries.double())[far]
            step[far] = (
                naive.Engine().load_atoms(self.atoms).shift(decay, there, to_host(weights)).step
            )
        log_value = sums.log_kernel_sum(phi, queries, weights)
        return Shift(log_value, log_pull, np.full(len(queries), -np.inf), step)

    def _sums(self, radial: RadialFunction) -> Sums:
        """Sums for a kernel; those for the one used last are kept."""
        if radial.rate not in self._kept:
            blur = _blurred(self.atoms, radial, self.device, PADDING)
            factors = blur.factors.values
            fine = not blur.factors.full and float(factors[: len(self.atoms)].min()) > FLATTEST
            self._kept.clear()
            self._kept[radial.rate] = Sums(self._sample, fine and self.precision == "float32", blur)
        return self._kept[radial.rate]

    @lazy
    def _sample(self) -> DeviceSample:
        return DeviceSample(to_device(self.atoms.centers, self.device))


def atom_sum(sample: DeviceSample, radial: RadialFunction, atoms: Atoms) -> Vector:
    """(k,): Σ_j p_j g_a(x_j)."""
    blur = _blurred(atoms, radial, sample.X.device, QUERIES, of_queries=True)
    if not blur.factors.full:
        plan, Q, w = _at_atoms(sample, radial, atoms, blur)
        sums = loops(w.device).kernel_sums(plan, sample.columns, len(sample.X), w, Q)[0]
        return to_host(sums[: len(atoms)] * torch.exp(blur.log_heights))
    kappa = torch.zeros(len(atoms), dtype=torch.float64, device=sample.X.device)
    for met in _meetings(sample, radial, atoms, blur):
        kappa[met.rows] += met.terms.sum(dim=1)
    return to_host(kappa)


def atom_moments(sample: DeviceSample, radial: RadialFunction, atoms: Atoms) -> Matrix:
    """Σ_j p_j g_a(x_j)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a."""
    blur = _blurred(atoms, radial, sample.X.device, QUERIES, of_queries=True)
    if not blur.factors.full:
        return _scalar_moments(sample, radial, atoms, blur)
    d = atoms.dimension
    f = torch.zeros((len(atoms), 1 + d + d * d), dtype=torch.float64, device=sample.X.device)
    for met in _meetings(sample, radial, atoms, blur):
        weighted = met.offsets * met.terms[:, :, None]
        f[met.rows, 0] += met.terms.sum(dim=1)
        f[met.rows, 1 : 1 + d] += weighted.sum(dim=1)
        f[met.rows, 1 + d :] += torch.bmm(weighted.mT, met.offsets).flatten(1)
    products = f[:, 1 + d :].reshape(-1, d, d)
    # A matrix product rounds the two triangles apart.
    f[:, 1 + d :] = (0.5 * (products + products.mT)).flatten(1)
    return to_host(f)


def _scalar_moments(
    sample: DeviceSample, radial: RadialFunction, atoms: Atoms, blur: Blur
) -> Matrix:
    plan, Q, w = _at_atoms(sample, radial, atoms, blur)
    run = loops(w.device)
    n = len(sample.X)
    sums, (_, far) = run.tracked_sums(plan, sample.columns, n, w, Q)
    squares = far / blur.factors.values  # of distances that the factors had shortened
    pulls = run.kernel_pulls(plan, sample.columns, n, w, Q)
    f = torch.cat([sums, pulls, squares])[:, : len(atoms)] * torch.exp(blur.log_heights)
    return to_host(f.T.contiguous())


def _at_atoms(
    sample: DeviceSample, radial: RadialFunction, atoms: Atoms, blur: Blur
) -> tuple[Plan, Tensor, Tensor]:
    """What the loops take where atoms are the queries: plan, their centres, the points' weights."""
    X = sample.columns
    plan = Plan.of(radial, 1.0, torch.float64, X.device)._replace(factors=blur.factors)
    centers = double_columns(to_device(atoms.centers, X.device), QUERIES)
    return plan, centers, spread(sample.p[:, None], X.shape[1], torch.float64)


class Meeting(NamedTuple):
    """Some atoms and some points."""

    rows: slice  # of the atoms
    offsets: Tensor  # (atoms, points, d): x_j − c_a
    terms: Tensor  # (atoms, points): p_j g_a(x_j)


def _meetings(
    sample: DeviceSample, radial: RadialFunction, atoms: Atoms, blur: Blur
) -> Iterator[Meeting]:
    """All atoms with all points, so many at a time that their offsets fit."""
    n, d = sample.X.shape
    centers = to_device(atoms.centers, sample.X.device)
    many = max(1, PRODUCTS // (min(n, BLOCK) * d))
    for start in range(0, n, BLOCK):
        X = sample.X[start : start + BLOCK].double()
        p = sample.p[start : start + BLOCK]
        for first in range(0, len(atoms), many):
            rows = slice(first, first + many)
            offsets = X[None] - centers[rows, None]
            y = torch.bmm(offsets, blur.factors.values[rows].mT)
            logs = blur.log_heights[rows, None] - radial.rate * (y * y).sum(dim=2)
            yield Meeting(rows, offsets, p * torch.exp(logs))


def _full_shift(phi: Formula, sums: Sums, queries: Tensor, weights: Tensor) -> Shift:
    """Step (Σ r_a P_a)⁻¹ Σ r_a P_a (c_a − q), P = FᵀF, r_a ∝ w_a g_a; some queries at a time."""
    assert sums.blur is not None, "there are atoms"
    F = sums.blur.factors.values
    centers = sums.sample.X
    logs = torch.log(weights) + sums.blur.log_heights
    size = max(1, PRODUCTS // centers.numel())
    found = [_some_steps(phi.rate, centers, F, logs, some) for some in queries.double().split(size)]
    value, pull, step, direction = (
        torch.cat(parts).cpu().numpy() for parts in zip(*found, strict=True)
    )
    return Shift(value, pull, np.full(len(queries), -np.inf), step, direction)


def _some_steps(
    rate: float, centers: Tensor, F: Tensor, log_w: Tensor, Q: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log Σ w g, log Σ w g tr P/d, step and direction of few queries."""
    k, d = centers.shape
    y = torch.bmm(centers[:, None] - Q[None], F.mT)  # (k, q, d)
    logs = log_w[:, None] - rate * (y * y).sum(dim=2)
    P = F.mT @ F
    traces = P.diagonal(dim1=1, dim2=2).sum(dim=1) / d
    value = torch.logsumexp(logs, dim=0)
    pull = torch.logsumexp(logs + torch.log(traces)[:, None], dim=0)
    reached = torch.isfinite(value)
    peak = torch.where(reached, logs.amax(dim=0), 0.0)
    shares = torch.exp(logs - peak)
    total = torch.where(reached, traces @ shares, 1.0)
    shares = shares / total  # Σ shares · tr P/d = 1, however few digits the logarithms have
    direction = (shares[:, :, None] * torch.bmm(y, F)).sum(dim=0)
    blurs = (shares.T @ P.reshape(k, d * d)).reshape(-1, d, d)
    unit = torch.eye(d, dtype=torch.float64, device=Q.device)
    step = torch.linalg.solve(torch.where(reached[:, None, None], blurs, unit), direction)
    return value, pull, step, direction


def _blurred(
    atoms: Atoms,
    radial: RadialFunction,
    device: torch.device,
    padding: int,
    of_queries: bool = False,
) -> Blur:
    """What a Gaussian radial makes of atoms, in the units of its rate."""
    components = atoms.blurred(variance(radial))
    factors = to_device(components.factors, device)
    heights = to_device(components.log_heights, device)
    if factors.ndim == 3:
        return Blur(Factors(factors / math.sqrt(radial.rate), of_queries), heights)
    width = padded(len(atoms), padding)
    numbers = spread((factors / radial.rate)[:, None], width, torch.float64, fill=1.0)[0]
    return Blur(Factors(numbers, of_queries), heights)
