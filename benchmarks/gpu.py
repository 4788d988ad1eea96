"""``python -m benchmarks.gpu``: the gpu engine on the CUDA device at hand, as Markdown tables with
their rooflines.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import kernelmean as km
from kernelmean import engines
from kernelmean.kernels import Atoms

HEADER = """## Measured

By `python -m benchmarks.gpu`; the roofline counts what the multiprocessors could do at their
highest clock if every unit were always busy (float32: d differences, d squares, weight and one
exponential per pair).
"""
SPECIAL, SINGLE, DOUBLE = (
    16,
    128,
    64,
)  # results per clock and multiprocessor of a Hopper chip: exp2, float32, float64
EXPONENTIAL = 17  # float64 operations of one exponential, read off the compiled loop
GOALS = {
    ("float32", 2): 1.0,
    ("float32", 5): 0.9,
    ("float32", 10): 0.6,
}  # 10¹² kernel values per second


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Best of several runs to the end of all device work, after one that compiles."""
    action()
    torch.cuda.synchronize()
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def machine() -> str:
    import triton

    p = torch.cuda.get_device_properties(0)
    versions = f"torch {torch.__version__}, Triton {triton.__version__}, NumPy {np.__version__}"
    return (
        f"{p.name}, {p.multi_processor_count} multiprocessors at up to {clock() / 1e9:.2f} "
        f"GHz; host with {os.cpu_count()} cores; {versions}."
    )


def clock() -> float:
    """Highest clock of the multiprocessors, in Hz."""
    query = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    return 1e6 * float(
        subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    )


def roofline(precision: str, d: int) -> float:
    """Gaussian values per second if every unit were always busy: d differences, d squares, weight,
    exponential.

    In float64 the rate is multiplied by as well.
    """
    rate = torch.cuda.get_device_properties(0).multi_processor_count * clock()
    if precision == "float64":
        return rate * DOUBLE / (2 * d + 2 + EXPONENTIAL)
    return min(rate * SPECIAL, rate * SINGLE / (2 * d + 2))


def table(title: str, head: str, rows: list[str]) -> str:
    columns = head.count("|") + 1
    return (
        "\n".join(
            [
                f"### {title}",
                "",
                f"| {head} |",
                "|" + " --- |" * columns,
                *(f"| {row} |" for row in rows),
            ]
        )
        + "\n"
    )


def cloud(n: int, d: int, seed: int) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, d))).cuda()


def error(precision: str, d: int) -> float:
    """Largest error over queries, relative to Σ|w|φ, with signed weights, against float64."""
    rng = np.random.default_rng(d)
    X, Q, w = rng.normal(size=(20_000, d)), rng.normal(size=(200, d)), rng.normal(size=20_000)
    radial, naive = km.Gaussian(0.5 * math.sqrt(d)).radial(d, "rkhs"), engines.open("naive").load(X)
    actual = engines.open("gpu", precision=precision).load(X).kernel_sum(radial, Q, w)
    return float(
        np.max(
            np.abs(actual - naive.kernel_sum(radial, Q, w)) / naive.kernel_sum(radial, Q, np.abs(w))
        )
    )


def torch_rate(d: int) -> float:
    """Plain torch in float32: blocks of cdist, exp and a product."""
    X, Q, w = (
        cloud(200_000, d, 0).float(),
        cloud(20_000, d, 1).float(),
        torch.ones(200_000, device="cuda"),
    )
    return (
        len(X)
        * len(Q)
        / seconds(lambda: [torch.exp(-0.5 * torch.cdist(q, X) ** 2) @ w for q in Q.split(4096)])
    )


def keops_rate(d: int) -> float | None:
    """pykeops in float32, where it is installed."""
    if importlib.util.find_spec("pykeops") is None:
        return None
    from pykeops.torch import LazyTensor

    X, Q = cloud(1_000_000, d, 0).float(), cloud(200_000, d, 1).float()
    exponent = -0.5 * ((LazyTensor(Q[:, None]) - LazyTensor(X[None])) ** 2).sum(-1)
    return len(X) * len(Q) / seconds(lambda: exponent.exp().sum(1))


def cpu_rate(d: int) -> float | None:
    """The cpu engine on two threads of this host, where Numba is installed."""
    if importlib.util.find_spec("numba") is None:
        return None
    rng = np.random.default_rng(0)
    loaded = engines.open("cpu", threads=2).load(rng.normal(size=(200_000, d)))
    Q, radial = rng.normal(size=(4096, d)), km.Gaussian(1.0).radial(d, "rkhs")
    return 200_000 * 4096 / seconds(lambda: loaded.kernel_sum(radial, Q))


def sums() -> str:
    rows = []
    for precision, q in (("float32", 1 << 19), ("float64", 1 << 17)):
        for d in (1, 2, 3, 5, 10, 20, 50, 100, 784):
            n, radial = (
                1_000_000 if d <= 20 else 200_000,
                km.Gaussian(math.sqrt(d)).radial(d, "rkhs"),
            )
            Q = cloud(q if d <= 20 else q // 16, d, 1)
            loaded = engines.open("gpu", precision=precision).load(cloud(n, d, 0))
            rate = n * len(Q) / seconds(lambda: loaded.kernel_sum(radial, Q))
            goal = GOALS.get((precision, d))
            share = f"{100 * rate / roofline(precision, d):.0f} %" if d <= 10 else "–"
            others = (
                [f"{torch_rate(d) / 1e12:.3f}", _rate(keops_rate(d))]
                if precision == "float32" and d <= 10
                else ["–", "–"]
            )
            cpu = cpu_rate(d) if precision == "float64" and d <= 10 else None
            ratio = "–" if cpu is None else f"{rate / cpu:.0f}"
            goals = "–" if goal is None else str(goal)
            cells = [
                precision,
                str(d),
                f"{rate / 1e12:.3f}",
                goals,
                share,
                f"{error(precision, d):.0e}",
            ]
            rows.append(" | ".join([*cells, *others, ratio]))
    head = (
        "precision | d | 10¹² values/s | goal | of roofline | error, of the absolute terms | "
        "torch | pykeops | × cpu engine, 2 threads"
    )
    return table("Gaussian sums, queries and points on the device", head, rows)


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate / 1e12:.3f}"


def atoms() -> str:
    """What an atom costs beside a point, in the same loop; matrices are summed in float64."""
    rows = []
    rng = np.random.default_rng(0)
    for precision, q in (("float32", 1 << 19), ("float64", 1 << 17)):
        for d in (2, 3, 5, 7, 10):
            engine = engines.open("gpu", precision=precision)
            radial, Q, C = km.Gaussian(math.sqrt(d)).radial(d, "rkhs"), cloud(q, d, 1), 1 << 17
            centers, s2 = rng.normal(size=(C, d)), rng.uniform(0.2, 1.0, C) * d
            wide = Atoms(centers, s2)
            level = np.exp(-wide.blurred(float(d)).log_heights)  # as high as points: equal weights
            signed = rng.normal(size=C)
            A = rng.normal(size=(1 << 12, d, d))
            full = engine.load_atoms(Atoms(centers[: 1 << 12], A @ np.swapaxes(A, 1, 2)))
            points, scalars = engine.load(centers), engine.load_atoms(wide)

            def each(load: Any, w: Any) -> float:
                return seconds(lambda: load.kernel_sum(radial, Q, w), 5) / len(w)

            point = each(points, np.ones(C))
            few = each(engine.load(centers[: 1 << 12]), np.ones(1 << 12))
            cells = [
                f"{q / point / 1e12:.3f}",
                f"{each(scalars, level) / point:.2f}",
                f"{each(scalars, signed) / each(points, signed):.2f}",
                f"{each(full, np.ones(1 << 12)) / few:.2f}",
            ]
            rows.append(" | ".join([precision, str(d), *cells]))
    head = (
        "precision | d | points, 10¹² values/s | scalar ÷ point (goal 1.15) | "
        "the same with signed weights | full ÷ point"
    )
    return table("Evaluation per atom, by the plain pair loop", head, rows)


def kernels() -> str:
    radials = {
        "Laplacian": km.Laplacian(2.0).radial(5, "rkhs"),
        "Student (α = 2.2)": km.Student(2.2, 5.0).radial(5, "rkhs"),
        "Cauchy": km.Cauchy(5.0).radial(5, "rkhs"),
        "L2 Laplacian (a table)": km.Laplacian(2.0).radial(5, "l2"),
        "one's own, 1/(1 + s + s²/2)": km.Radial(
            lambda s: 1.0 / (1.0 + s + 0.5 * s * s), 2.0
        ).radial(5, "rkhs"),
    }
    X, Q, rows = cloud(1_000_000, 5, 0), cloud(1 << 17, 5, 1), []
    for name, radial in radials.items():
        rates = []
        for precision in ("float32", "float64"):
            loaded = engines.open("gpu", precision=precision).load(X)
            rates.append(
                f"{len(X) * len(Q) / seconds(lambda: loaded.kernel_sum(radial, Q)) / 1e12:.3f}"
            )
        rows.append(" | ".join([name, *rates]))
    log = [engines.open("gpu", precision=p).load(X) for p in ("float32", "float64")]
    radial = km.Gaussian(2.0).radial(5, "rkhs")
    rates = [
        f"{len(X) * len(Q) / seconds(lambda: loaded.log_kernel_sum(radial, Q)) / 1e12:.3f}"
        for loaded in log
    ]
    return table(
        "Other kernels, d = 5, 10¹² values/s",
        "kernel | float32 | float64",
        [*rows, " | ".join(["log of the Gaussian sum", *rates])],
    )


def hardest() -> str:
    """The stated error, where float32 has it hardest; and what keeping it costs in speed."""
    rng, rows = np.random.default_rng(0), []
    X = rng.normal(size=(20_000, 5))
    sparse = km.sparse_kernel_mean(X, k=500, engine="gpu", random_state=0)
    wide = sparse.kernel.radial(5, "rkhs")
    apart = rng.normal(size=(2000, 2)) + rng.choice([-300.0, 0.0, 500.0], size=(2000, 1))
    unit = km.Gaussian(1.0).radial(2, "rkhs")
    cases = {
        "a sparse mean of 500 centres, d = 5, at its sample and far around it": (
            wide,
            sparse.centers,
            2.0 * X,
            sparse.weights,
        ),
        "one point, at up to 12 lengths": (
            unit,
            np.zeros((1, 2)),
            rng.uniform(-12.0, 12.0, (20_000, 2)),
            np.ones(1),
        ),
        "clusters hundreds of lengths apart": (
            unit,
            apart,
            np.repeat(apart, 5, 0) + rng.normal(size=(10_000, 2)),
            np.ones(2000),
        ),
    }
    for name, (radial, C, Q, w) in cases.items():
        naive = engines.open("naive").load(C)
        expected, size = naive.kernel_sum(radial, Q, w), naive.kernel_sum(radial, Q, np.abs(w))
        found = [
            engines.open("gpu", precision=p).load(C).kernel_sum(radial, Q, w)
            for p in ("float32", "float64")
        ]
        errors = [float(np.max(np.abs(f - expected) / np.maximum(size, 1e-300))) for f in found]
        rows.append(f"{name} | {errors[0]:.0e} | {errors[1]:.0e} | –")
    Y, q = cloud(1_000_000, 5, 0), 1 << 18
    radial, signed = km.Gaussian(math.sqrt(5)).radial(5, "rkhs"), cloud(1_000_000, 1, 2)[:, 0]
    for name, Q, w in (
        ("plain loop: equal weights, queries near the middle", cloud(q, 5, 1), None),
        ("signed weights: how far away the terms are is kept as well", cloud(q, 5, 1), signed),
        (
            "queries far from the middle: coordinates in two parts",
            torch.cat([cloud(q // 2, 5, 1) + 9.0, cloud(q // 2, 5, 3) - 9.0]),
            None,
        ),
    ):
        loaded = engines.open("gpu").load(
            Y
            if w is not None or name.startswith("plain")
            else torch.cat([Y[::2] + 9.0, Y[1::2] - 9.0])
        )
        rows.append(
            f"{name} | – | – | "
            f"{len(Y) * q / seconds(lambda: loaded.kernel_sum(radial, Q, w)) / 1e12:.3f}"
        )
    head = (
        "case | error in float32, of the absolute terms (goal 1e-6) | in float64 (goal 1e-13) "
        "| 10¹² values/s in float32, d = 5"
    )
    return table("Where float32 has it hardest", head, rows)


def farthest() -> str:
    rows = []
    for d in (2, 5, 10):
        X = cloud(10**7, d, 0)
        loaded = engines.open("gpu").load(X)
        time_ = seconds(lambda: loaded.traverse(0).take(10_000))
        rows.append(
            f"{d} | float64 | {time_:.3f} | {'3, and 1 in float32' if d == 5 else '–'} | 10⁷ × "
            "10 000 centres"
        )
    return table(
        "Exact farthest-first, points on the device", "d | precision | seconds | goal | size", rows
    )


def fit() -> str:
    X = np.random.default_rng(0).normal(size=(10**7, 5))
    on_device = torch.from_numpy(X).cuda()
    found: list[Any] = []

    def automatic(points: Any, **options: Any) -> float:
        return seconds(
            lambda: found.append(
                km.sparse_kernel_mean(points, engine="gpu", random_state=0, **options)
            ),
            1,
        )

    rows = []
    for what, points, options in (
        ("farthest-first, points from the host", X, {"selection": "kcenter"}),
        ("farthest-first, points on the device", on_device, {"selection": "kcenter"}),
        ("selection chosen too, points from the host", X, {}),
        ("selection chosen too, points on the device", on_device, {}),
    ):
        time_ = automatic(points, **options)
        rows.append(
            f"automatic k, {what} | {time_:.2f} | 5 | k = {found[-1].k}, stop: "
            f"{found[-1].stop_reason}, {found[-1].selection}"
        )
    mean = found[0]
    evaluation = seconds(lambda: mean(on_device), 2)
    values = mean.k * 1e7 / evaluation / 1e12
    rows.append(
        f"evaluation of the first mean at its 10⁷ points | {evaluation:.3f} | – | {values:.2f} "
        "×10¹² values/s"
    )
    return table("A complete fit of 10⁷ × 5", "case | seconds | goal | detail", rows)


def mmd() -> str:
    folder = Path(os.environ.get("KERNELMEAN_DATA", "data")) / "flow_lakes36" / "flow_lakes36.npz"
    if not folder.exists():
        return f"### The exact MMD matrix\n\nskipped: no data at {folder}; set KERNELMEAN_DATA.\n"
    with np.load(folder, allow_pickle=False) as file:
        X, offsets = np.arcsinh(file["X"].astype(np.float64)), file["offsets"]
    radial = km.Gaussian(km.bandwidth.iqr(X)).radial(X.shape[1], "rkhs")
    results: dict[str, Any] = {}
    rows, pairs = [], len(X) * (len(X) + 1) / 2
    for precision, goal in (("float32", 1), ("float64", 10)):
        engine = engines.open("gpu", precision=precision)

        def matrix() -> None:
            results[precision] = distances(engine, radial, X, offsets)

        time_ = seconds(matrix)
        rows.append(f"{precision} | {time_:.3f} | {goal} | {pairs / time_ / 1e12:.2f}")
    D = results["float64"]
    change = np.abs(results["float32"] - D).max()
    smallest = D[D > 0].min()
    note = (
        f"\nmax |ΔD| of float32 against float64: {change:.1e}; distances are from "
        f"{smallest:.4f} to {D.max():.4f}.\n"
    )
    title = (
        f"The exact MMD matrix of {len(offsets) - 1} samples, {len(X)} points in "
        f"{X.shape[1]} dimensions, from the host"
    )
    return table(title, "precision | seconds | goal | 10¹² values/s", rows) + note


def distances(engine: Any, radial: Any, X: Any, offsets: Any) -> Any:
    """‖z_a − z_b‖ of full kernel means, over half of all pairs of points."""
    on_device, N = torch.from_numpy(X).cuda(), len(offsets) - 1
    G = np.zeros((N, N))
    for a in range(N):
        loaded = engine.load(on_device[offsets[a] : offsets[a + 1]])
        G[a, a] = loaded.quadratic(radial)
        if a + 1 < N:
            values = loaded.kernel_sum(radial, on_device[offsets[a + 1] :])
            G[a, a + 1 :] = np.add.reduceat(values, offsets[a + 1 : -1] - offsets[a + 1]) / np.diff(
                offsets[a + 1 :]
            )
    G = np.triu(G) + np.triu(G, 1).T
    return np.sqrt(np.maximum(np.diag(G)[:, None] + np.diag(G)[None] - 2 * G, 0.0))


TABLES = {
    "sums": sums,
    "hardest": hardest,
    "farthest": farthest,
    "fit": fit,
    "mmd": mmd,
    "kernels": kernels,
    "atoms": atoms,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"some of: {', '.join(TABLES)}; all if none is given"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="also write the tables to this file, below what is above its tables",
    )
    arguments = parser.parse_args()
    above = (
        arguments.output.read_text().split(HEADER[:11])[0]
        if arguments.output and arguments.output.exists()
        else ""
    )
    parts = [f"{HEADER}\nMeasured on: {machine()}\n"]
    print(parts[0], flush=True)
    for name, measure in TABLES.items():
        if not arguments.names or name in arguments.names:
            parts.append(measure())
            print(parts[-1], flush=True)
            if arguments.output:
                arguments.output.write_text(above + "\n".join(parts))


if __name__ == "__main__":
    main()
