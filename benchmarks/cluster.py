"""Fits beyond one process and beyond memory: ``python -m benchmarks.cluster PIECE``.

Each piece is measured on its own:

    speed    the plain engine with one thread against clusters of one and two processes
    memory   a fit from a folder of Parquet files on two workers with a limit each
    rounds   how many questions a fit asks, and how many bytes each sends
    page     docs/scaling.md and its picture from what was measured

Figures are kept in ``docs/scaling.json``: a piece that is measured again replaces its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = DOCS / "scaling.json"
CHUNK = 1_000_000  # rows per file, and per partition where nothing else is said
# partitions of the timed fits: each has a tree of its own, and few large ones cost less than many
# small ones
PARTS = 2
SEED = 7


def rows(part: int, size: int, d: int) -> np.ndarray:
    """One partition: a mixture of five normals, the same wherever it is made."""
    rng = np.random.default_rng((SEED, part))
    middles = np.random.default_rng(SEED).normal(scale=3.0, size=(5, d))
    return middles[rng.integers(5, size=size)] + rng.normal(size=(size, d))


def sizes(n: int, most: int = CHUNK) -> list[int]:
    return [min(most, n - start) for start in range(0, n, most)]


def fit(X: Any, k: int, engine: Any) -> dict[str, Any]:
    """The paper's selection and optimal weights, timed."""
    import kernelmean as km

    start = time.perf_counter()
    mean = km.sparse_kernel_mean(X, k=k, selection="kcenter", random_state=0, engine=engine)
    took = time.perf_counter() - start
    return {
        "seconds": took,
        "indices": hashlib.sha256(mean.indices.astype("<i8").tobytes()).hexdigest()[:16],
        "cover": mean.cover,
    }


def plain(n: int, d: int, k: int) -> dict[str, Any]:
    """One process, one thread, the cpu engine as it is."""
    import kernelmean as km

    engine = km.engines.open("cpu", threads=1)
    fit(rows(0, 20_000, d), k, engine)  # compiles
    return fit(
        np.concatenate([rows(i, size, d) for i, size in enumerate(sizes(n, -(-n // PARTS)))]),
        k,
        engine,
    )


def cluster(processes: int, n: int, d: int, k: int) -> dict[str, Any]:
    """Workers of one thread each; the points are on them before the clock starts."""
    import dask.array as da
    import distributed
    from dask import delayed

    from kernelmean.samples.cluster import collections as tables

    def spread(parts: list[int]) -> Any:
        blocks = [
            da.from_delayed(delayed(rows)(i, size, d), (size, d), float)
            for i, size in enumerate(parts)
        ]
        X = da.concatenate(blocks).persist()
        distributed.wait(X)
        return X

    options = {
        "n_workers": processes,
        "threads_per_worker": 1,
        "processes": True,
        "memory_limit": 0,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options) as local, distributed.Client(local):
        tables.HERE = 0
        fit(spread([20_000] * processes), k, "cluster")  # compiles on every worker
        return fit(spread(sizes(n, -(-n // PARTS))), k, "cluster")


def alone(name: str, *arguments: int) -> dict[str, Any]:
    """A measurement in a process of its own, one thread for BLAS."""
    code = (
        f"from benchmarks import cluster; import json; print(json.dumps(cluster.{name}{arguments}))"
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    guarded = f"if __name__ == '__main__':\n    {code}"
    done = subprocess.run(
        [sys.executable, "-c", guarded],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **threads},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def speed(n: int, d: int, k: int, repeats: int) -> dict[str, Any]:
    """Alternating, the best of several; all three must choose the same rows."""
    found: dict[str, list[dict[str, Any]]] = {"plain": [], "one": [], "two": []}
    for _ in range(repeats):
        found["plain"].append(alone("plain", n, d, k))
        found["one"].append(alone("cluster", 1, n, d, k))
        found["two"].append(alone("cluster", 2, n, d, k))
        print({name: round(runs[-1]["seconds"], 2) for name, runs in found.items()}, flush=True)
    same = len({run["indices"] for runs in found.values() for run in runs}) == 1
    best = {name: min(run["seconds"] for run in runs) for name, runs in found.items()}
    return {"n": n, "d": d, "k": k, "parts": PARTS, "repeats": repeats, "same": same, **best}


# --- memory
# --------------------------------------------------------------------------------------------------


def write_parquet(folder: Path, n: int, d: int) -> None:
    """Files of a million rows, written once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for i, size in enumerate(sizes(n)):
        path = folder / f"part-{i:05d}.parquet"
        if not path.exists():
            X = rows(i, size, d)
            beside = path.with_suffix(".writing")
            pq.write_table(
                pa.table({f"x{t}": X[:, t] for t in range(d)}), beside, compression="zstd"
            )
            beside.rename(path)


class Watch(threading.Thread):
    """Resident sets of processes, by the clock."""

    def __init__(self, pids: list[int], every: float) -> None:
        super().__init__(daemon=True)
        self._pids, self._every, self._over = pids, every, threading.Event()
        self.times: list[float] = []
        self.bytes: list[list[int]] = []

    def run(self) -> None:
        import psutil

        watched, start = [psutil.Process(pid) for pid in self._pids], time.perf_counter()
        while not self._over.wait(self._every):
            self.bytes.append([process.memory_info().rss for process in watched])
            self.times.append(round(time.perf_counter() - start, 2))

    def stop(self) -> None:
        self._over.set()
        self.join()


def memory(n: int, d: int, k: int, folder: Path, limit: float) -> dict[str, Any]:
    """From Parquet to the fit on two workers of one thread, each limited by Dask."""
    import dask.dataframe as dd
    import distributed

    write_parquet(folder, n, d)
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "memory_limit": int(limit),
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        pids = list(client.run(os.getpid).values())
        watch = Watch([*pids, os.getpid()], max(0.05, n / 1e8))
        watch.start()
        start = time.perf_counter()
        files = sorted(str(path) for path in folder.glob("part-*.parquet"))[: len(sizes(n))]
        found = fit(dd.read_parquet(files), k, "cluster")
        total = time.perf_counter() - start
        watch.stop()
        spilled = client.run(_spilled)
        survived = list(client.run(os.getpid).values()) == pids
    curve = [[t, *values] for t, values in zip(watch.times, watch.bytes, strict=True)]
    step = max(1, len(curve) // 200)
    peak = [max(row[1 + i] for row in curve) for i in range(3)]
    return {
        "n": n,
        "d": d,
        "k": k,
        "limit": limit,
        "seconds": total,
        "indices": found["indices"],
        "peaks": peak[:2],
        "client": peak[2],
        "spilled": sum(spilled.values()),
        "survived": survived,
        "curve": curve[::step],
    }


def _spilled(dask_worker: Any) -> int:
    total = getattr(dask_worker.data, "spilled_total", None)
    return 0 if total is None else int(total.disk)


def stream(n: int, d: int, k: int, folder: Path) -> dict[str, Any]:
    """The same fit without a cluster, batch by batch from the folder; peak of the resident set
    above the start.
    """
    code = (
        "import json, time, kernelmean as km, hashlib\n"
        "from benchmarks.measuring import peak_growth\n"
        "from benchmarks import cluster\n"
        f"km.sparse_kernel_mean(cluster.rows(0, 20000, {d}), k=50, selection='kcenter', "
        "random_state=0)\n"
        f"found = []\nsource = km.read({str(folder)!r})\n"
        f"grown = peak_growth(lambda: found.append(cluster.fit(source, {k}, 'cpu')))\n"
        "print(json.dumps({**found[0], 'growth': grown}))"
    )
    write_parquet(folder, n, d)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return {"n": n, "d": d, "k": k, **json.loads(done.stdout.splitlines()[-1])}


# --- rounds
# --------------------------------------------------------------------------------------------------


def rounds(n: int, d: int, k: int, counts: list[int]) -> dict[str, Any]:
    """Questions of a fit and the bytes of their arguments and answers, by the number of parts, in
    this process.
    """
    import kernelmean as km
    from kernelmean.engines.parts import PointCloud
    from kernelmean.engines.parts.part import Part
    from kernelmean.engines.parts.part_index import PartIndex

    engine = km.engines.open("cpu")
    X = np.concatenate([rows(i, size, d) for i, size in enumerate(sizes(n))])

    class Counted:
        """Parts beside one another, whose letters are weighed."""

        def __init__(self, parts: list[Part]) -> None:
            self._parts, self.letters = parts, []
            self.sizes, self.dimension = np.array([len(part.X) for part in parts]), d

        def each(self, question: str, *arguments: Any, own: Any = None) -> list[Any]:
            further = [()] * len(self._parts) if own is None else own
            asked = [
                None if mine is None else getattr(part, question)(*arguments, *mine)
                for part, mine in zip(self._parts, further, strict=True)
            ]
            sent, came = (
                len(pickle.dumps((arguments, further))),
                sum(len(pickle.dumps(answer)) for answer in asked),
            )
            self.letters.append((question, sent, came))
            return asked

    table = []
    for count in counts:
        parts = Counted([Part(piece, None, engine) for piece in np.array_split(X, count)])
        walk = PointCloud(PartIndex(parts)).traverse(0)
        walk.take(k)
        offers = [letter for letter in parts.letters if letter[0] == "offer"]
        sent, came = np.mean([row[1] for row in offers]), np.mean([row[2] for row in offers])
        table.append(
            {"parts": count, "rounds": len(offers), "sent": float(sent), "came": float(came)}
        )
    return {"n": n, "d": d, "k": k, "table": table}


def latency(processes: int) -> dict[str, Any]:
    """Seconds of one question that asks for nothing, on a cluster of processes."""
    import dask.array as da
    import distributed

    from kernelmean import samples
    from kernelmean.samples.cluster import collections as tables

    tables.HERE = 0
    with (
        distributed.LocalCluster(
            n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        distributed.Client(local),
    ):
        X = samples.check(da.ones((1000, 2), chunks=(100, 2)), "cluster")
        parts = X.remote_parts()
        times = []
        for _ in range(100):
            start = time.perf_counter()
            parts.each("facts")
            times.append(time.perf_counter() - start)
    return {"processes": processes, "median": float(np.median(times[10:]))}


# --- the command
# --------------------------------------------------------------------------------------------------


def keep(name: str, figures: dict[str, Any]) -> None:
    from benchmarks.measuring import machine

    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    known[name] = {**figures, "machine": machine()}
    FIGURES.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps({key: value for key, value in figures.items() if key != "curve"}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("piece", choices=("speed", "memory", "stream", "rounds", "page"))
    parser.add_argument("--n", type=float, help="points; by default those of the page")
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, default=Path("build/scaling"), help="where the Parquet files are"
    )
    parser.add_argument("--limit", type=float, default=4e9, help="bytes per worker")
    given = parser.parse_args()
    if given.piece == "speed":
        keep("speed", speed(int(given.n or 2e7), 5, given.k, given.repeats))
    elif given.piece == "memory":
        keep("memory", memory(int(given.n or 1e8), 3, given.k, given.folder, given.limit))
    elif given.piece == "stream":
        keep("stream", stream(int(given.n or 1e8), 3, given.k, given.folder))
    elif given.piece == "rounds":
        found = rounds(int(given.n or 1e6), 5, given.k, [1, 2, 20, 200])
        keep("rounds", {**found, "latency": [latency(1), latency(2)]})
    else:
        from benchmarks.scaling import write

        write(DOCS, json.loads(FIGURES.read_text()))


if __name__ == "__main__":
    main()
