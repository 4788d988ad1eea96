"""The difference of two densities on common atoms: where one sample has more than the other.

Both samples are drawn upon alike for cells of near points, each an atom N(c_a, S_a); the densities

    z_A = Σ_a α_a N(·; c_a, S_a + σ²I),   z_B = Σ_a β_a N(·; c_a, S_a + σ²I)

have weights on the simplex that are optimal in L2, by one factor for both. The witness z_A − z_B is
such a sum again, with weights α − β that add up to zero: its value, its gradient and its marginals
are closed forms of k terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fmin_l_bfgs_b

from kernelmean import _shown
from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.coefficients.weights import weights as solve_weights
from kernelmean.comparison.pairs import Pair
from kernelmean.engines import Engine
from kernelmean.fitting.cells import find_cells
from kernelmean.fitting.settings import FitSettings, default_limit
from kernelmean.kernels import Atoms, Gaussian, Kernel, SpreadKind
from kernelmean.linalg.factor import Factor
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mixtures.rows import Rows
from kernelmean.samples import ArraySample, WeightedSample

MAX_ROWS = 50_000  # of each sample
MAX_ATOMS = 400
ROWS_PER_COVARIANCE = 3  # rows in a cell, for each coordinate, that a covariance takes
MAX_FULL_DIMENSION = 10  # beyond, atoms are round: d² numbers each are not worth their time
MAX_STARTS = 40  # atoms from which peaks are searched for
STEPS = 200  # of that search
SAME_PEAK = 0.5  # bandwidths: nearer ones are one
CLEAR = 3.0  # standard errors: what is less may be chance


class Peaks(NamedTuple):
    """Where a witness has its extremes: A exceeds B where a value is positive.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        The places, those of the largest absolute values first.
    values : ndarray of shape (m,)
        z_A − z_B there.
    standard_errors : ndarray of shape (m,)
        What chance does to these values; extremes within three times that are left out.

    See Also
    --------
    Difference.peaks : Finds them.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> found = km.difference(rng.normal(0, 1, (500, 1)), rng.normal(3, 1, (500, 1)))
    >>> points, values, errors = found.peaks()
    >>> bool((abs(values) > 3.0 * errors).all())
    True
    """

    points: Points
    values: Vector
    standard_errors: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of two samples on common atoms."""

    first: KernelMean
    second: KernelMean

    @property
    def witness(self) -> KernelMean:
        """z_A − z_B, with weights of both signs."""
        own = self.first
        weights = own.weights - self.second.weights
        return replace(own, weights=weights, n_points=own.n_points + self.second.n_points)

    def standard_errors(self, Q: Points) -> Vector:
        """√(Σ over both samples of (∫φ(q − x)² z(x) dx − z(q)²)/n), by the spread of the rows.

        φ(·)² is a Gaussian of variance σ²/2 but for its height: ∫φ² z = |A|(4πσ²)^{−d/2} times the
        atoms blurred by that variance.
        """
        sigma = self.first.kernel.length
        d = self.first.dimension
        log_height = scaling.log_jacobian(self.first.scale)
        log_height -= 0.5 * d * math.log(4.0 * math.pi * sigma**2)
        variance = np.zeros(len(Q))
        for mean in (self.first, self.second):
            narrow = replace(mean, kernel=Gaussian(sigma / math.sqrt(2.0)))
            squares = scaling.times_exp(narrow(Q), log_height)
            variance += np.maximum(squares - mean(Q) ** 2, 0.0) / mean.n_points
        found: Vector = np.sqrt(variance)
        return found


def marginal(mean: KernelMean, columns: Sequence[int]) -> KernelMean:
    """The same sum as a function of some columns, the others integrated out.

    Exact for Gaussians where the scale does not mix columns: ∫N(x; c, S) over the others is
    N(x_S; c_S, S_SS).
    """
    keep = np.asarray(columns, dtype=np.intp)
    spreads = mean.spreads
    if spreads is not None and spreads.ndim == 3:
        spreads = spreads[:, keep[:, None], keep]
    scale = None if mean.scale is None else np.ascontiguousarray(mean.scale[np.ix_(keep, keep)])
    return replace(
        mean,
        centers=np.ascontiguousarray(mean.centers[:, keep]),
        scale=scale,
        spreads=None if spreads is None else np.ascontiguousarray(spreads),
    )


def fit_densities(
    pair: Pair, scale: Matrix | None, bandwidth: float | str, engine: Engine, streams: Streams
) -> Densities:
    """z_A and z_B of at most 50 000 rows of each, the map of the coordinates being given."""
    drawn = [_draw(own, streams.of("witness rows", i)) for i, own in enumerate(pair.both)]
    origin = pair.first.sample.first
    pool = _pool(drawn)
    data = LoadedSample.of(pool, engine, scale, origin)
    kernel = _kernel(bandwidth, data, min(len(own) for own in drawn))
    atoms = _atoms(data, engine, streams)
    radial = kernel.radial(pair.dimension, "l2")
    found = []
    for own in drawn:
        cloud = LoadedSample.of(own, engine, scale, origin).cloud
        factor = Factor(radial)
        factor.append(atoms, cloud.atom_sum(radial, atoms))
        weights = solve_weights(factor, len(atoms), "simplex", "cholesky")
        found.append(_mean(data, atoms, weights, kernel, _size(own)))
    return Densities(found[0], found[1])


def _mean(
    data: LoadedSample, atoms: Atoms, weights: Vector, kernel: Kernel, size: float
) -> KernelMean:
    centers = data.original(atoms.centers, None)
    name = data.engine.name
    return KernelMean(centers, weights, kernel, "l2", data.scale, size, name, atoms.spreads)


def _size(sample: WeightedSample) -> float:
    """n, or Kish's effective size (Σw)²/Σw²."""
    w = sample.weights
    return float(len(sample)) if w is None else float(w.sum() ** 2 / (w**2).sum())


def _draw(sample: WeightedSample, rng: np.random.Generator) -> WeightedSample:
    """At most so many of the rows, in memory."""
    rows: IntVector = np.arange(len(sample))
    if len(rows) > MAX_ROWS:
        rows = np.sort(rng.choice(len(sample), MAX_ROWS, replace=False))
    weights = None if sample.weights is None else sample.weights[rows]
    return WeightedSample(ArraySample(sample.sample.rows(rows)), weights, None, len(rows))


def _pool(drawn: Sequence[WeightedSample]) -> WeightedSample:
    """Both end to end, each with half of the weight: the smaller one has its atoms too."""
    weights = []
    for own in drawn:
        w = np.ones(len(own)) if own.weights is None else own.weights
        weights.append(w / w.sum())
    points = np.concatenate([own.sample.array() for own in drawn])
    return WeightedSample(ArraySample(points), np.concatenate(weights), None, len(points))


def _kernel(bandwidth: float | str, data: LoadedSample, size: int) -> Kernel:
    """A number as it is; Scott's rule for the smaller sample, by widths that outliers spare."""
    if not (isinstance(bandwidth, str) and bandwidth == "scott"):
        return resolve_kernel("gaussian", bandwidth, data.cloud)
    summary = data.cloud.summary
    width = float(np.minimum(summary.std, scaling.robust_widths(summary)).mean())
    # σ = s·n^{−1/(d+4)}; equal points need no particular width
    return Gaussian((width or 1.0) * size ** (-1.0 / (summary.dimension + 4)))


def _atoms(data: LoadedSample, engine: Engine, streams: Streams) -> Atoms:
    """Cells of the pooled rows, with covariances where they have rows enough for them."""
    cloud = data.cloud
    n = cloud.summary.count
    points = cloud.rows(np.arange(n))
    k = min(default_limit(n), MAX_ATOMS, n)
    d = points.shape[1]
    enough = n >= ROWS_PER_COVARIANCE * d * k and d <= MAX_FULL_DIMENSION
    kind: SpreadKind = "full" if enough else "scalar"
    weights = data.sample.weights
    assert weights is not None
    rows = Rows(points, weights)
    cells = find_cells(data, rows, k, kind, FitSettings(engine=engine), streams.of("witness cells"))
    spreads = cells.spreads
    if spreads.ndim == 3:
        spreads = 0.5 * (spreads + np.swapaxes(spreads, 1, 2))  # symmetric to the last bit
    return Atoms(cells.means, spreads)


def find_peaks(densities: Densities) -> Peaks:
    """The extremes that are reached from the atoms where the witness is largest in absolute value.

    All climb together, by L-BFGS on Σ_i ±f(x_i)/|f(start_i)| in the coordinates of the kernel.
    """
    witness = densities.witness
    origin = witness.centers[0]
    values = witness(witness.centers)
    starts = np.argsort(-np.abs(values), kind="stable")[:MAX_STARTS]
    starts = starts[np.abs(values[starts]) > 0.0]
    if not len(starts):
        return Peaks(np.empty((0, witness.dimension)), np.empty(0), np.empty(0))
    mapped = scaling.apply(witness.scale, witness.centers[starts], origin) / witness.kernel.length
    ends = _climb(witness, mapped, values[starts], origin)
    places = scaling.undo(witness.scale, ends * witness.kernel.length, origin)
    heights = witness(places)
    errors = densities.standard_errors(places)
    kept = _distinct(ends, heights, np.abs(heights) > CLEAR * errors)
    return Peaks(places[kept], heights[kept], errors[kept])


def _climb(witness: KernelMean, starts: Points, heights: Vector, origin: Vector) -> Points:
    """Where the starts end, in units of the bandwidth."""
    length = witness.kernel.length

    def objective(flat: Vector) -> tuple[float, Vector]:
        X = scaling.undo(witness.scale, flat.reshape(starts.shape) * length, origin)
        slopes = witness.gradient(X)
        if witness.scale is not None:  # ∂f/∂y = ∂f/∂x / a for y = ax
            slopes = slopes / np.diagonal(witness.scale)
        f = -witness(X) / heights
        g = -slopes * length / heights[:, None]
        return float(f.sum()), g.ravel()

    ends, _, _ = fmin_l_bfgs_b(objective, starts.ravel(), maxiter=STEPS, pgtol=1e-7, factr=10.0)
    found: Points = np.asarray(ends).reshape(starts.shape)
    return found


def _distinct(ends: Points, values: Vector, clear: NDArray[np.bool_]) -> list[int]:
    """One of each group of ends nearer than half a bandwidth, the highest first."""
    kept: list[int] = []
    for i in np.argsort(-np.abs(values), kind="stable"):
        if clear[i] and all(np.linalg.norm(ends[i] - ends[j]) > SAME_PEAK for j in kept):
            kept.append(int(i))
    return kept
