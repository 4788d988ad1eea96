"""The smaller comparisons: farthest-first traversals, densities, the distance between large
samples.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

import kernelmean as km
from benchmarks import contenders, datasets
from benchmarks.datasets import round_mixture as mixture
from benchmarks.exact import Exact
from benchmarks.measuring import Row, seconds
from benchmarks.speed import fpsample_seconds, normal, one_pass_per_center


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def selection(quick: bool) -> list[Row]:
    """Farthest-first with the same first row; the centres against those of the textbook loop in
    float64.
    """
    n, k = (20_000, 100) if quick else (500_000, 1000)
    rows = []
    for d in (3, 5, 8):
        X = normal(n, d)
        ours = seconds(lambda: km.k_center(X, k, first=0), 3)
        exact = np.array_equal(
            km.k_center(X, k, first=0).indices, one_pass_per_center(np.ascontiguousarray(X.T), 0, k)
        )
        words = f"our centres {'are' if exact else 'are NOT'} those of the textbook loop"
        case = f"n = {n}, d = {d}, k = {k}, fpsample"
        peer = fpsample_seconds(X, k)
        if peer is None:
            rows.append(Row(case, None, "≤ 1", f"fpsample is not installed; {words}"))
        else:
            rows.append(
                Row(
                    case,
                    ours / peer,
                    "≤ 1",
                    f"{ours:.3f} s against {peer:.3f} s (float32, best h); {words}",
                )
            )
    X = normal(n // 25, 5)
    ours = seconds(lambda: km.k_center(X, k // 5, first=0), 3)
    for name, other in (("skmatter", _skmatter), ("torch_cluster", _torch_cluster)):
        case = f"n = {len(X)}, d = 5, k = {k // 5}, {name}"
        if not installed(name):
            rows.append(Row(case, None, "≤ 1", "not installed here"))
            continue
        picks = other(X, k // 5)
        peer = seconds(lambda: other(X, k // 5), 1)
        same = np.array_equal(picks, km.k_center(X, k // 5, first=0).indices)
        words = "same centres" if same else "other centres, ours exact"
        rows.append(Row(case, ours / peer, "≤ 1", f"{ours:.4f} s against {peer:.3f} s; {words}"))
    return rows


def _skmatter(X: np.ndarray, k: int) -> np.ndarray:
    from skmatter.sample_selection import FPS

    return FPS(n_to_select=k, initialize=0).fit(X).selected_idx_


def _torch_cluster(X: np.ndarray, k: int) -> np.ndarray:
    import torch
    from torch_cluster import fps

    return fps(torch.from_numpy(X), ratio=k / len(X), random_start=False).numpy()


def density(quick: bool) -> list[Row]:
    """Mean log-likelihood of new points, against the exact estimate with the same bandwidth."""
    n, rows = 10_000 if quick else 100_000, []
    for d in (2, 3, 5, 10):
        X, Q = mixture(n, d, 0), mixture(2000, d, 1)
        full = km.SparseKDE(sparse=False, bandwidth=km.bandwidth.scott(X)).fit(X)
        exact, exact_time = full.score_samples(Q), seconds(lambda: full.score_samples(Q), 1)
        for k in (100, 300) if quick else (100, 300, 900):
            loss, words = {}, []
            for selection, refine in (("kcenter", 0), ("auto", 0), ("auto", 30)):
                start = time.perf_counter()
                sparse = km.SparseKDE(
                    k=k,
                    bandwidth=full.bandwidth_,
                    selection=selection,
                    refine=refine,
                    random_state=0,
                ).fit(X)
                spent, name = time.perf_counter() - start, "refine" if refine else selection
                loss[name] = float(np.mean(sparse.score_samples(Q) - exact))
                words.append(
                    f"{name} {loss[name]:+.4f} in {spent:.2f} s ({sparse.mean_.selection})"
                )
            faster = exact_time / seconds(lambda: sparse.score_samples(Q), 2)
            rows.append(
                Row(
                    f"d = {d}, k = {k}",
                    f"{loss['auto']:+.4f}",
                    "–",
                    f"{'; '.join(words)}; {faster:.0f}× faster per point",
                )
            )
    return rows


def discrepancy(quick: bool) -> list[Row]:
    """MMD by sparse means against all pairs; the two means' own errors certify it."""
    rows = []
    for n, d in (
        ((5000, 3), (5000, 10))
        if quick
        else ((20_000, 3), (20_000, 10), (100_000, 3), (100_000, 10))
    ):
        A, B = mixture(n, d, 0), mixture(n, d, 1) + 0.05
        sigma = 0.5 * float(np.median(cdist(A[:1000], B[:1000])))
        kernel = km.Gaussian(sigma)

        def sparse(X: np.ndarray) -> km.SparseKernelMean:
            return km.sparse_kernel_mean(X, kernel=kernel, random_state=0)

        ours = seconds(lambda: sparse(A).distance(sparse(B)), 1)
        a, b = sparse(A), sparse(B)
        exact, way = all_pairs(A, B, sigma)
        # |‖a − b‖ − ‖z̄_A − z̄_B‖| ≤ ‖a − z̄_A‖ + ‖b − z̄_B‖
        certificates = [mean.certificate(X, random_state=0) for mean, X in ((a, A), (b, B))]
        allowed = sum(c.error + 2.0 * c.standard_error for c in certificates)
        error = abs(a.distance(b) - exact)
        detail = (
            f"MMD {exact:.3e} ({way}), k = {a.k} and {b.k}: error {error:.1e}, certified "
            f"{allowed:.1e}"
        )
        within = "within" if error <= allowed else "BEYOND"
        rows.append(
            Row(
                f"n = {n}, d = {d}: error",
                f"{error / allowed:.2f}",
                "≤ 1 of the certificate",
                f"{within}; {detail}",
            )
        )
        rows += [
            _against(f"n = {n}, d = {d}", name, ours, peer, (A, B, sigma, exact))
            for name, peer in EXACT.items()
        ]
    return rows


def _against(case: str, name: str, ours: float, peer: Callable[..., float], sample: tuple) -> Row:
    A, B, sigma, exact = sample
    if not installed(name):
        return Row(f"{case}, {name}: its time ÷ ours", None, "≥ 1", "not installed here")
    start = time.perf_counter()
    value = peer(A, B, sigma)
    first = time.perf_counter() - start
    warm = min(first, seconds(lambda: peer(A, B, sigma), 1)) if first < 60 else first
    detail = (
        f"{ours:.2f} s against {warm:.2f} s (first call {first:.1f} s), its error "
        f"{abs(value - exact):.0e}"
    )
    return Row(f"{case}, {name}: its time ÷ ours", warm / ours, "≥ 1", detail)


def all_pairs(A: np.ndarray, B: np.ndarray, sigma: float) -> tuple[float, str]:
    """√(mean g(a, a') + mean g(b, b') − 2·mean g(a, b)): in NumPy, or where that takes minutes by
    our own exact sums.
    """
    if len(A) > 20_000:
        return km.mmd(A, B, kernel=km.Gaussian(sigma), sparse=False), "all pairs, our own"

    def mean(P, Q):
        return np.mean(
            [
                np.exp(cdist(rows, Q, "sqeuclidean") / (-2 * sigma**2)).mean()
                for rows in np.split(P, 20)
            ]
        )

    return float(np.sqrt(mean(A, A) + mean(B, B) - 2.0 * mean(A, B))), "all pairs, NumPy"


def _pykeops(A: np.ndarray, B: np.ndarray, sigma: float) -> float:
    """Exact, by compiled sums on the fly."""
    from pykeops.numpy import Genred

    d = A.shape[1]
    sums = Genred(
        "Exp(-g*SqDist(x,y))", [f"x=Vi({d})", f"y=Vj({d})", "g=Pm(1)"], reduction_op="Sum", axis=1
    )
    rate = np.array([0.5 / sigma**2])
    mean = lambda P, Q: float(np.mean(sums(P, Q, rate, backend="CPU"))) / len(Q)  # noqa: E731
    return float(np.sqrt(mean(A, A) + mean(B, B) - 2.0 * mean(A, B)))


def _geomloss(A: np.ndarray, B: np.ndarray, sigma: float) -> float:
    """½MMD² is its loss; "online" sums by pykeops, "tensorized" keeps all pairs in memory."""
    import torch
    from geomloss import SamplesLoss

    backend = "online" if installed("pykeops") else "tensorized"
    loss = SamplesLoss("gaussian", blur=sigma, backend=backend)
    return float(np.sqrt(2.0 * loss(torch.from_numpy(A), torch.from_numpy(B)).item()))


def growth(quick: bool) -> list[Row]:
    """What everybody takes as the sample grows, weights included: Gaussian, narrow, RKHS, signed;
    √n centres, as Compress++ has.
    """
    rows = []
    for n in (1024, 4096) if quick else (4096, 16_384):
        for name in ("mixture", "heavy mixture"):
            X = datasets.load(name, n)
            case = contenders.Case(
                X, "gaussian", datasets.bandwidths(X)["narrow"], "rkhs", math.isqrt(n)
            )
            auto, refined = (
                contenders.own(case, "signed", steps) for steps in (0, contenders.steps(case.k))
            )
            exact = Exact(X, "gaussian", case.length, "rkhs")
            for peer, chosen in contenders.peers(
                case, only=(contenders.HERDING, contenders.COMPRESS)
            ):
                label = f"{name}, n = {n}, k = {case.k}, {peer}: its time ÷ that of auto"
                rows.append(
                    Row(label, "failed", "≥ 1", str(chosen))
                    if isinstance(chosen, Exception)
                    else _beside(label, case, exact, chosen, (auto, refined))
                )
    return rows


def _beside(
    label: str,
    case: contenders.Case,
    exact: Exact,
    peer: contenders.Timed,
    ours: tuple[contenders.Timed, ...],
) -> Row:
    """Seconds and relative errors of a peer, of "auto" and of its refinement."""
    best = contenders.clock(lambda: case.optimal(peer.result, "signed"))
    spent = [peer.seconds + best.seconds, *(fit.seconds for fit in ours)]
    errors = exact.errors(peer.result, [best.result])
    errors += [exact.error_of(fit.result) for fit in ours]
    words = (
        f"{who} {s:.3f} s, error {e:.1e}"
        for who, s, e in zip(("peer", "auto", "refined"), spent, errors, strict=True)
    )
    return Row(label, spent[0] / spent[1], "≥ 1", "; ".join(words))


EXACT = {"pykeops": _pykeops, "geomloss": _geomloss}
TABLES: dict[str, Callable[[bool], list[Row]]] = {
    "Times as the sample grows": growth,
    "Selection": selection,
    "Density: held-out log-likelihood": density,
    "MMD between large samples": discrepancy,
}
