"""Everything that can choose k points for a kernel mean, each as its authors recommend, with its
time.

A contender is given the inner product of the space it is judged in. Every peer's points get the
exact optimal weights in float64, signed and on the simplex; coreax's own optimisers are tried
besides in some cases, and the better counts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Container, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

import kernelmean as km
from benchmarks.exact import profile
from kernelmean import coefficients, engines
from kernelmean.linalg.factor import Factor

CONSTRAINTS = {"signed": None, "simplex": "simplex"}
SEED = 0
STEPS, FEWER_STEPS, FEW = 60, 40, 128  # of refinement, up to so many centres and beyond
OVERSAMPLING = 4  # g of Compress++, as its paper recommends
# seconds; what takes less is run again, so that the time is a warm one, until so many are spent
QUICK = 1.0
REPEATS = 5


class Timed(NamedTuple):
    result: object
    seconds: float  # warm
    extra: float  # what the first run took beyond that: compilation, first calls


class Case:
    """One sample, one kernel, one space, one k."""

    def __init__(self, X: np.ndarray, kernel: str, sigma: float, space: str, k: int) -> None:
        self.X, self.kernel, self.space, self.k = X, kernel, space, k
        # γ = σ√(2/ln 2): equal half-maximum radius
        self.length = sigma if kernel == "gaussian" else sigma * np.sqrt(2.0 / np.log(2.0))
        self.ours = km.Gaussian(self.length) if kernel == "gaussian" else km.Laplacian(self.length)

    @property
    def halvings(self) -> int:
        """m with k = ⌊n/2^m⌋."""
        return round(np.log2(len(self.X) / self.k))

    @property
    def width(self) -> float:
        """σ of the Gaussian inner product: √2 larger in L2."""
        return self.length * (1.0 if self.space == "rkhs" else np.sqrt(2.0))

    def gram(self) -> np.ndarray:
        """All n² inner products."""
        squared = cdist(self.X, self.X, "sqeuclidean")
        return profile(
            self.kernel, self.length, self.X.shape[1], self.space, np.sqrt(squared.max())
        )(squared)

    @cached_property
    def loaded(self) -> engines.PointCloud:
        return engines.open("cpu").load(self.X)

    def optimal(self, C: np.ndarray, constraint: str) -> np.ndarray:
        """The best weights on given centres."""
        radial = self.ours.radial(self.X.shape[1], self.space)
        factor = Factor(radial)
        factor.append(C, self.loaded.kernel_sum(radial, C))
        return coefficients.weights(factor, len(C), CONSTRAINTS[constraint], "cholesky")


def clock(action: Callable[[], object], *, compiles: bool = False, warm: bool = False) -> Timed:
    """The best of several runs where these are quick; at least two where the first compiles, one
    where nothing is left to.
    """
    spent: list[float] = []
    while not spent or (
        not warm and len(spent) < REPEATS and (sum(spent) < QUICK or len(spent) < 1 + compiles)
    ):
        start = time.perf_counter()
        result = action()
        spent.append(time.perf_counter() - start)
    return Timed(result, min(spent), spent[0] - min(spent))


def steps(k: int) -> int:
    """Of refinement: the more centres, the more each step costs, and the fewer of them halve a
    peer's error.
    """
    return STEPS if k <= FEW else FEWER_STEPS


def own(case: Case, constraint: str, refine: int, spread: str | None = "auto") -> Timed:
    options = {
        "spread": spread,
        "kernel": case.ours,
        "space": case.space,
        "k": case.k,
        "constraint": CONSTRAINTS[constraint],
    }
    return clock(
        lambda: km.sparse_kernel_mean(case.X, refine=refine, random_state=SEED, **options),
        compiles=True,
    )


def herding(case: Case) -> np.ndarray:
    from coreax.solvers import KernelHerding

    return _reduced(KernelHerding(case.k, kernel=coreax_kernel(case)), case)


def rp_cholesky(case: Case) -> np.ndarray:
    import jax
    from coreax.solvers import RPCholesky

    return _reduced(
        RPCholesky(case.k, random_key=jax.random.key(SEED), kernel=coreax_kernel(case)), case
    )


def coreax_kernel(case: Case):
    """The inner product in coreax; the length is traced, so that one compilation serves all
    bandwidths.

    For the Laplacian in L2 it is the Matérn kernel of order d/2 + 1, which coreax has for odd d;
    for even d it is given the one of order (d + 1)/2, the nearest it has.
    """
    import equinox as eqx
    import jax.numpy as jnp
    from coreax.kernels import ExponentialKernel, MaternKernel, SquaredExponentialKernel

    if case.kernel == "gaussian":
        kernel, length = SquaredExponentialKernel(1.0), case.width
    elif case.space == "rkhs":
        kernel, length = ExponentialKernel(1.0), np.sqrt(0.5 * case.length)  # exp(−r/2λ²)
    else:
        degree = (case.X.shape[1] + 1) // 2
        kernel, length = MaternKernel(1.0, degree=degree), np.sqrt(2.0 * degree + 1.0) * case.length
    return eqx.tree_at(lambda k: k.length_scale, kernel, jnp.asarray(length))


_COMPILED: dict[str, Callable] = {}


def _jit(name: str, function: Callable) -> Callable:
    import equinox as eqx

    return _COMPILED.setdefault(name, eqx.filter_jit(function))


def _reduced(solver, case: Case) -> np.ndarray:
    from coreax import Data

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of JAX, about coreax
        indices = _jit("reduce", lambda s, data: s.reduce(data)[0].unweighted_indices)(
            solver, Data(case.X)
        )
    return case.X[np.asarray(indices)]


def coreax_weights(case: Case, C: np.ndarray, constraint: str) -> np.ndarray:
    """By coreax's own optimiser, compiled."""
    from coreax import Data
    from coreax.weights import MMDWeightsOptimiser, SBQWeightsOptimiser

    optimiser = (SBQWeightsOptimiser if constraint == "signed" else MMDWeightsOptimiser)(
        kernel=coreax_kernel(case)
    )
    solve = _jit("weights", lambda o, data, chosen: o.solve(data, chosen))
    return np.asarray(solve(optimiser, Data(case.X), Data(C)), dtype=np.float64).ravel()


def compress(case: Case) -> np.ndarray:
    """exp(−r²/k_params)."""
    from goodpoints.compress import compresspp_kt

    rows = compresspp_kt(
        case.X, b"gaussian", k_params=np.array([2.0 * case.width**2]), g=OVERSAMPLING, seed=SEED
    )
    return case.X[rows]


def thinning(case: Case) -> np.ndarray:
    """Kernel thinning to ⌊n/2^m⌋ points."""
    from goodpoints import kt

    K = case.gram()
    return case.X[kt.thin_K(K, K, case.halvings, seed=SEED, unique=True)]


def kmeans_plusplus(case: Case) -> np.ndarray:
    from sklearn.cluster import kmeans_plusplus as draw

    return draw(case.X, case.k, random_state=SEED)[0]


def mini_batch(case: Case) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MiniBatchKMeans(case.k, n_init=3, random_state=SEED).fit(case.X).cluster_centers_


def uniform(case: Case) -> np.ndarray:
    return case.X[np.random.default_rng(SEED).choice(len(case.X), case.k, replace=False)]


HERDING, CHOLESKY = "coreax herding", "coreax RPCholesky"
COMPRESS, THINNING = "goodpoints Compress++", "goodpoints thinning"
PEERS: dict[str, Callable[[Case], np.ndarray]] = {
    HERDING: herding,
    CHOLESKY: rp_cholesky,
    COMPRESS: compress,
    THINNING: thinning,
    "k-means++": kmeans_plusplus,
    "MiniBatchKMeans": mini_batch,
    "random": uniform,
}
PACKAGES = {HERDING: "coreax", CHOLESKY: "coreax", COMPRESS: "goodpoints", THINNING: "goodpoints"}


def peers(case: Case, only: Container[str] = PEERS) -> Iterator[tuple[str, Timed | Exception]]:
    """The points each peer that applies here chooses, with its time; or what it failed with, which
    the page then says.
    """
    for name, select in PEERS.items():
        if name in only and _installed(PACKAGES.get(name, "sklearn")) and _applies(name, case):
            yield name, _chosen(name, select, case)


def _chosen(name: str, select: Callable[[Case], np.ndarray], case: Case) -> Timed | Exception:
    try:
        return clock(lambda: select(case), compiles=name.startswith("coreax"))
    except Exception as error:  # whatever a peer raises
        return error


def _applies(name: str, case: Case) -> bool:
    """Compress++ yields √n' points, n' the largest power of four up to n, and knows no Laplacian
    kernel.
    """
    if name == COMPRESS:
        return case.kernel == "gaussian" and case.k == 2 ** int(np.log2(len(case.X)) / 2)
    return True


def _installed(package: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(package) is not None


def prepare() -> None:
    """coreax in float64: in float32, its default, its weights would lose most digits."""
    if _installed("coreax"):
        import jax

        jax.config.update("jax_enable_x64", True)
