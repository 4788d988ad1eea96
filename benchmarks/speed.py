"""The cpu engine against its floor: a plain C loop, LAPACK, SciPy, fpsample, and its own kernel
sum.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numba import njit

import kernelmean as km
from benchmarks.measuring import DATA, Row, fresh_growth, run, seconds
from kernelmean import engines
from kernelmean.engines.cpu import truncated_sums as narrow
from kernelmean.kernels import Atoms
from kernelmean.linalg import simplex
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram

HERE = Path(__file__).parent


def normal(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def kernel_sums() -> list[Row]:
    """Kernel values per second against a plain C loop in its better layout, and between kernels."""
    rows = []
    for d in (2, 5, 8):
        X = normal(200_000, d)
        Q, cloud, w = X[:1024].copy(), engines.open("cpu").load(X), np.full(len(X), 1.0 / len(X))
        gaussian = km.Gaussian(1.0).formula(d)
        ours = seconds(lambda cloud=cloud, Q=Q, g=gaussian: cloud.kernel_sum(g, Q))
        evaluations = len(X) * len(Q)
        loops = c_loops(d)
        if not loops:
            rows.append(Row(f"Gaussian, d = {d}, against C", None, "≥ 1.3", "no compiler"))
        else:
            times = {layout: seconds(lambda run=run: run(X, w, Q)) for layout, run in loops.items()}
            best = min(times, key=lambda layout: times[layout])
            detail = (
                f"{evaluations / ours:.2e} against {evaluations / times[best]:.2e} values/s "
                f"({best})"
            )
            rows.append(Row(f"Gaussian, d = {d}, against C", times[best] / ours, "≥ 1.3", detail))
        for kernel in (
            km.Laplacian(1.0),
            km.Cauchy(1.0),
            km.Student(3.5, 1.0),
            km.Student(3.3, 1.0),
        ):
            other = seconds(
                lambda cloud=cloud, Q=Q, k=kernel, d=d: cloud.kernel_sum(k.formula(d), Q)
            )
            rows.append(
                Row(
                    f"{kernel}, d = {d}, against Gaussian",
                    ours / other,
                    "≥ 0.5",
                    f"{evaluations / other:.2e} values/s",
                )
            )
        W = np.random.default_rng(1).normal(size=(len(X), d + 1))
        many = seconds(lambda cloud=cloud, Q=Q, g=gaussian, W=W: cloud.kernel_sum(g, Q, W), 3)
        rows.append(
            Row(
                f"{d + 1} columns of weights, d = {d}",
                many / ours,
                "little extra",
                "time against one column",
            )
        )
    for d in (50, 784):
        X = normal(20_000, d)
        cloud = engines.open("cpu").load(X)
        ours = seconds(
            lambda cloud=cloud, X=X, d=d: cloud.kernel_sum(
                km.Gaussian(d**0.5).formula(d), X[:1024]
            ),
            3,
        )
        product = seconds(lambda X=X: X[:1024] @ X.T, 3)
        rows.append(
            Row(
                f"Gaussian, d = {d}, against its matrix product",
                ours / product,
                "–",
                f"{2e4 * 1024 / ours:.2e} values/s",
            )
        )
    return rows


def c_loops(d: int) -> dict[str, object]:
    """The plain loop, compiled for both layouts; empty without a compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return {}
    folder = Path(tempfile.mkdtemp())
    loops = {}
    for name, index in (("rows", f"j*{d}+t"), ("columns", "t*n+j")):
        library = folder / f"{name}.so"
        flags = [
            "-O3",
            "-march=native",
            "-ffast-math",
            "-fopenmp",
            "-shared",
            "-fPIC",
            f"-DD={d}",
            f"-DLAYOUT={index}",
        ]
        subprocess.run(
            [compiler, *flags, str(HERE / "plain_loop.c"), "-o", str(library), "-lm"], check=True
        )
        loops[name] = c_call(ctypes.CDLL(str(library)).kernel_sum, name == "columns")
    return loops


def c_call(function, columns: bool):
    prepared: dict[int, np.ndarray] = {}

    def run(X: np.ndarray, w: np.ndarray, Q: np.ndarray) -> np.ndarray:
        points = prepared.setdefault(id(X), np.ascontiguousarray(X.T if columns else X))
        out = np.empty(len(Q))
        address = [a.ctypes.data_as(ctypes.c_void_p) for a in (points, w, Q, out)]
        half = ctypes.c_double(0.5)
        function(
            address[0],
            address[1],
            ctypes.c_long(len(X)),
            address[2],
            ctypes.c_long(len(Q)),
            half,
            address[3],
        )
        return out

    return run


def narrow_sums() -> list[Row]:
    """Sums that leave out what float64 cannot see, against the full sum."""
    rows = []
    for d in (1, 2, 3):
        X = normal(1_000_000, d)
        for q in (512, 3000):
            cloud, Q = engines.open("cpu").load(X), X[:q].copy()
            radial = km.Gaussian(km.bandwidth.scott(X)).formula(d)
            quick = seconds(lambda cloud=cloud, Q=Q, r=radial: cloud.kernel_sum(r, Q), 3)
            threshold, narrow.WORTHWHILE = narrow.WORTHWHILE, -1.0
            full = seconds(lambda cloud=cloud, Q=Q, r=radial: cloud.kernel_sum(r, Q), 2)
            narrow.WORTHWHILE = threshold
            rows.append(
                Row(
                    f"n = 10⁶, d = {d}, {q} queries, Scott",
                    full / quick,
                    "≥ 5 (d = 2, 3)",
                    f"{quick:.3f} s against {full:.3f} s",
                )
            )
    return rows


def traversals() -> list[Row]:
    """Exact farthest-first against fpsample (float32, one thread, d ≤ 8) and against one pass per
    centre.
    """
    rows = []
    for d in (3, 5):
        X = normal(1_000_000, d)
        ours = seconds(lambda X=X: km.k_center(X, 3000, first=0), 3)
        peer = fpsample_seconds(X, 3000)
        detail = "fpsample not installed" if peer is None else f"{ours:.3f} s against {peer:.3f} s"
        rows.append(
            Row(
                f"n = 10⁶, d = {d}, k = 3000, against fpsample",
                None if peer is None else ours / peer,
                "≤ 1, aim 0.7",
                detail,
            )
        )
    high = {
        "n = 200 000, d = 50, k = 1340": (normal(200_000, 50), 1340),
        "MNIST 60 000 × 784, k = 734": (mnist(), 734),
    }
    for name, (X, k) in high.items():
        if X is None:
            rows.append(Row(name, None, "≥ 4", "data not at hand"))
            continue
        ours = seconds(lambda X=X, k=k: km.k_center(X, k, first=0), 1)
        columns = np.ascontiguousarray(X.T)  # not on the loop's clock
        loop = seconds(lambda C=columns, k=k: one_pass_per_center(C, 0, k), 1)
        rows.append(
            Row(
                f"{name}, against one pass per centre",
                loop / ours,
                "≥ 4",
                f"{ours:.2f} s against {loop:.2f} s, one thread",
            )
        )
    return rows


def fpsample_seconds(X: np.ndarray, k: int) -> float | None:
    try:
        import fpsample
    except ImportError:
        return None
    single = X.astype(np.float32)
    return min(
        seconds(lambda h=h: fpsample.bucket_fps_kdline_sampling(single, k, h=h, start_idx=0), 2)
        for h in (5, 7, 9)
    )


def mnist() -> np.ndarray | None:
    import gzip

    path = DATA / "mnist" / "train-images-idx3-ubyte.gz"
    if not path.exists():
        return None
    return (
        np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16)
        .reshape(60_000, 784)
        .astype(np.float64)
    )


@njit(cache=True)
def one_pass_per_center(XT, first, k):
    """The textbook loop, coordinate-major so that it vectorises."""
    d, n = XT.shape
    nearest, squared = np.full(n, np.inf), np.empty(n)
    chosen, j = np.empty(k, np.int64), first
    for a in range(k):
        chosen[a] = j
        squared[:] = 0.0
        for t in range(d):
            row, c = XT[t], XT[t, j]
            for i in range(n):
                z = row[i] - c
                squared[i] += z * z
        for i in range(n):
            nearest[i] = min(nearest[i], squared[i])
        j = np.argmax(nearest)
    return chosen


def complete_fit() -> list[Row]:
    """A whole fit against one n × k kernel sum, and the memory it takes."""
    X = normal(1_000_000, 5)
    km.sparse_kernel_mean(X[:20_000], k=300, selection="kcenter", random_state=0)
    fit = seconds(lambda: km.sparse_kernel_mean(X, k=3000, selection="kcenter", random_state=0), 2)
    radial = km.Gaussian(km.bandwidth.scott(X)).formula(5)
    one_sum = seconds(lambda: engines.open("cpu").load(X).kernel_sum(radial, X[:3000]), 2)
    grown = memory_in_a_fresh_process()
    matrices = grown - 1.5 * X.nbytes
    return [
        Row(
            "n = 10⁶, d = 5, k = 3000, against one n × k sum",
            fit / one_sum,
            "≤ 3",
            f"{fit:.2f} s against {one_sum:.2f} s",
        ),
        Row(
            "growth of peak memory against the input",
            grown / X.nbytes,
            "≤ 1.5 plus k × k matrices",
            f"{grown / 1e6:.0f} MB; beyond 1.5× the input: {matrices / (3000**2 * 8):.2f} k × k "
            "matrices",
        ),
    ]


def memory_in_a_fresh_process() -> int:
    """Growth of the resident set by a fit after a small one: here, memory kept from earlier fits
    would hide it.
    """
    return fresh_growth(
        "from benchmarks.measuring import peak_growth\n"
        "from benchmarks.speed import km, normal\n"
        "X = normal(1_000_000, 5)\n"
        "fit = lambda X, k: km.sparse_kernel_mean(X, k=k, selection='kcenter', random_state=0)\n"
        "fit(X[:100_000], 300)\n"
        "print(peak_growth(lambda: fit(X, 3000)))"
    )


def weights() -> list[Row]:
    """Exact simplex weights against SciPy's nnls; the growing factor against LAPACK."""
    rows = []
    X = banana()
    cases = (
        [(3000, 0.31, "kcenter"), (1000, 0.31, "random"), (1000, 0.31, "kcenter")]
        if X is not None
        else []
    )
    for k, sigma, selection in cases:
        mean = km.sparse_kernel_mean(X, bandwidth=sigma, k=k, selection=selection, random_state=0)
        factor = Factor(mean.kernel.radial(2, "rkhs"))
        factor.append(mean.centers, mean.kappa)
        L, y = factor.lower(k), factor.y
        ours = seconds(lambda L=L, y=y: simplex.minimise(L, y), 2)
        peer = seconds(lambda L=L, y=y: simplex.nonnegative_least_squares(L, y), 1)
        alpha = simplex.minimise(L, y)
        zz = engines.open("cpu").load(X).quadratic(mean.kernel.radial(2, "rkhs"))
        gap = simplex.frank_wolfe_gap(L, y, alpha) / zz
        detail = (
            f"{ours:.2f} s against {peer:.2f} s; gap/zz {gap:.0e}; "
            f"{np.count_nonzero(alpha)} positive"
        )
        rows.append(
            Row(
                f"simplex, banana σ = {sigma}, {selection}, k = {k}",
                peer / ours,
                "≤ 3 s at k = 3000; gap/zz ≤ 1e-11",
                detail,
            )
        )
    rows.append(cholesky_path())
    return rows


def banana() -> np.ndarray | None:
    path = DATA / "benchmark11" / "banana.npz"
    return np.load(path)["X"] if path.exists() else None


def cholesky_path() -> Row:
    from scipy.linalg import cholesky, solve_triangular

    C, k = normal(3000, 5), 3000
    radial = km.Gaussian(0.5).formula(5)
    kappa = engines.open("cpu").load(C).kernel_sum(radial, C)
    K = gram(radial, C, C) + 1e-10 * np.eye(k)

    def grown() -> None:
        factor, start = Factor(radial), 0
        while start < k:
            stop = min(k, start + max(32, start // 4))
            factor.append(C[start:stop], kappa[start:stop])
            start = stop

    def lapack() -> None:
        solve_triangular(
            cholesky(K, lower=True, check_finite=False), kappa, lower=True, check_finite=False
        )

    path, once = seconds(grown, 3), seconds(lapack, 3)
    entries = seconds(lambda: gram(radial, C, C), 3) / 2
    detail = f"{path:.2f} s, of which {entries:.2f} s fill the Gram matrix, against {once:.2f} s"
    return Row(
        "Cholesky path, k = 3000, against potrf and one solve",
        (path - entries) / once,
        "≤ 1.5",
        detail,
    )


def evaluation() -> list[Row]:
    """A fitted mean at many points, and at one point at a time."""
    X = normal(100_000, 3)
    mean = km.sparse_kernel_mean(X, k=1000, selection="kcenter", random_state=0)
    Q = normal(1_000_000, 3, seed=1)
    cloud, radial = engines.open("cpu").load(mean.centers), mean.kernel.formula(3)
    whole = seconds(lambda: mean(Q), 3)
    bare = seconds(lambda: cloud.kernel_sum(radial, Q, mean.weights), 3)
    one = normal(1, 3)
    small = km.sparse_kernel_mean(X, k=1, random_state=0)
    call = seconds(lambda: [small(one) for _ in range(1000)], 3) / 1000
    return [
        Row(
            "10⁶ points, k = 1000, against the bare kernel_sum",
            whole / bare,
            "≤ 1.2",
            f"{whole:.2f} s against {bare:.2f} s",
        ),
        Row(
            "one point at a time, k = 1: overhead of a call",
            None,
            "< 50 µs",
            f"{1e6 * call:.0f} µs",
        ),
    ]


def atoms() -> list[Row]:
    """Evaluation per atom against evaluation per point, both by the plain loop over pairs."""
    rows = []
    k = 1024
    for d in (2, 3, 5, 7, 10):
        C, Q, w = normal(k, d), normal(20_000, d, seed=1), np.full(k, 1.0 / k)
        roots = 0.3 * np.random.default_rng(2).normal(size=(k, d, d))
        S = roots @ np.swapaxes(roots, 1, 2)
        engine, radial = engines.open("cpu"), km.Gaussian(0.5 * d**0.5).formula(d)
        loaded = {  # so few points are not in the order of a tree, and nothing is left out
            "point": engine.load(C),
            "scalar": engine.load_atoms(Atoms(C, np.trace(S, axis1=1, axis2=2) / d)),
            "full": engine.load_atoms(Atoms(C, S)),
        }
        times = dict.fromkeys(loaded, np.inf)
        for _ in range(3):  # in turns, so that all meet the same load
            for kind, sums in loaded.items():
                times[kind] = min(times[kind], seconds(lambda: sums.kernel_sum(radial, Q, w), 3))
        for kind, goal in (("scalar", "≤ 1.15"), ("full", "reported")):
            detail = ", ".join(
                f"{1e9 * times[name] / k / len(Q):.2f} ns" for name in (kind, "point")
            )
            rows.append(
                Row(
                    f"d = {d}, {kind} ÷ point",
                    times[kind] / times["point"],
                    goal,
                    f"{detail} a pair",
                )
            )
    return rows


def growth() -> list[Row]:
    """Time of a fit against n, and the exponent of the line through it."""
    rows = []
    for name, options in (("k = 1000", {"k": 1000}), ("automatic k", {})):
        sizes = [10**4, 10**5, 10**6, 10**7]
        times = []
        for n in sizes:
            X = normal(n, 3)
            times.append(
                seconds(
                    lambda X=X, o=options: km.sparse_kernel_mean(
                        X, selection="kcenter", random_state=0, **o
                    ),
                    1,
                )
            )
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        detail = ", ".join(f"{t:.2f} s" for t in times) + " for 10⁴ … 10⁷"
        rows.append(
            Row(
                f"exponent of n, d = 3, {name}",
                slope,
                "≤ 1.05" if "k" in options else "reported",
                detail,
            )
        )
    return rows


TABLES = {
    "Kernel sums": kernel_sums,
    "Narrow kernels": narrow_sums,
    "Farthest-first": traversals,
    "A complete fit": complete_fit,
    "Weights": weights,
    "Evaluation": evaluation,
    "Atoms": atoms,
    "Growth": growth,
}


if __name__ == "__main__":
    run(
        "Speed of the cpu engine",
        "Written by `make bench`; see [performance.md](performance.md).",
        TABLES,
    )
