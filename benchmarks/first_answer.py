"""``python -m benchmarks.first_answer``: the time from starting Python to a first answer, in fresh
processes.

Cold: nothing is compiled, since NUMBA_CACHE_DIR is empty. Warm: the same again.
"""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import Row, run

ROUNDS = 2  # the best of so many processes counts
LARGE_ROUNDS = 1  # beyond a thousand rows
LIMIT = 900.0  # seconds for one process
ROOT = Path(__file__).parents[1]
SIZES = {(1000, 2): 1.0, (20_000, 5): 3.0, (100_000, 5): None}  # goals: seconds beyond an import
WARM_GOAL = 1.0
IMPORT_GOAL = 0.5
DEMO_GOAL, DIMENSION_GOAL = 9.0, 3.0
FEWEST = min(n for n, _ in SIZES)
MOST_IN_A_GRID = 2  # dimensions of an FFTKDE

SCIKIT_LEARN = "import sklearn"
ROWS = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, {d})); X[::3] += 3.0
y = (np.arange({n}) % 3 == 0).astype(int)
"""

OURS = {
    "SparseKDE": "km.SparseKDE(random_state=0).fit(X).score_samples(X[:100])",
    "SparseKDE, a copy": "km.SparseKDE(target='kde', random_state=0).fit(X).score_samples(X[:100])",
    "KernelDensity": "km.KernelDensity(bandwidth=0.5).fit(X).score_samples(X[:100])",
    "gaussian_kde": "km.gaussian_kde(X.T)(X[:100].T)",
    "SparseKDEClassifier": "km.SparseKDEClassifier(random_state=0).fit(X, y).predict(X[:100])",
    "SparseKDEOutlierDetector": "km.SparseKDEOutlierDetector(random_state=0).fit(X).predict(X)",
    "MeanShift": "km.MeanShift(random_state=0).fit(X).labels_",
    "DistributionEmbedding": "km.DistributionEmbedding(embedding='mds', random_state=0)"
    ".fit_transform(np.array_split(X, 5))",
    "DriftMonitor": "km.DriftMonitor(X[::2], random_state=0).update(X[1::2])",
    "ClassProportions": "km.ClassProportions(random_state=0).fit(X[::2], y[::2]).predict(X[1::2])",
    "sparse_kernel_mean": "km.sparse_kernel_mean(X, random_state=0)(X[:100])",
    "kernel_mean": "km.kernel_mean(X)(X[:100])",
    "k_center": "km.k_center(X, 100, first=0)",
    "mmd": "km.mmd(X[::2], X[1::2], random_state=0)",
    "mmd_test": "km.mmd_test(X[::2], X[1::2], random_state=0)",
    "kl_divergence": "km.kl_divergence(X[::2], X[1::2], random_state=0)",
    "difference": "km.difference(X[::2], X[1::2], random_state=0)",
}
COMMANDS = {
    "kernelmean fit": "fit rows.csv -o other.km --quiet",
    "kernelmean score": "score model.km rows.csv -o scores.csv --quiet",
    "kernelmean query": "query model.km",
    "kernelmean info": "info model.km",
    "kernelmean compare": "compare rows.csv later.csv --quiet",
    "kernelmean monitor": "monitor rows.csv later.csv --quiet",
    "kernelmean embed": "embed rows.csv later.csv model.csv --method mds --quiet",
    "kernelmean proportions": "proportions labelled.csv later.csv --label label --quiet",
}
PEERS = {
    "scikit-learn KernelDensity": "from sklearn.neighbors import KernelDensity as K\n"
    "K(bandwidth=0.5).fit(X).score_samples(X[:100])",
    "scikit-learn GaussianMixture": "from sklearn.mixture import GaussianMixture as G\n"
    "G(3, random_state=0).fit(X).score_samples(X[:100])",
    "SciPy gaussian_kde": "from scipy.stats import gaussian_kde\ngaussian_kde(X.T)(X[:100].T)",
    "KDEpy FFTKDE": "from KDEpy import FFTKDE\nFFTKDE(bw=0.5).fit(X).evaluate(64)",
    "pynndescent, neighbours": "from pynndescent import NNDescent\n"
    "NNDescent(X, random_state=0).query(X[:100])",
    "stumpy, matrix profile": "import stumpy\nstumpy.stump(X[:, 0].copy(), 50)",
}
# What the compiler alone makes slow, and what trains classifiers, takes as long for more rows.
FEW_ROWS_ONLY = ("pynndescent", "stumpy", "ClassProportions", "proportions")
MANY_ROWS = (  # of commands and of measures, those that are measured on the most rows too
    "SparseKDE",
    "SparseKDE, a copy",
    "KernelDensity",
    "MeanShift",
    "sparse_kernel_mean",
    "kernel_mean",
    "k_center",
    "mmd_test",
    "kernelmean fit",
    "kernelmean score",
    *PEERS,
)


class Process(NamedTuple):
    """How a fresh process ended: its seconds, what it printed, and what went wrong."""

    seconds: float
    out: str
    failed: str


class Times(NamedTuple):
    """The best seconds with nothing compiled, and with everything; and the worst of all."""

    cold: float
    warm: float
    failed: str = ""
    worst: float = 0.0


def fresh(arguments: list[str], loops: Path, folder: Path | None = None) -> Process:
    """Python in a process of its own, with its compiled loops in a folder of their own."""
    _installed()
    env = os.environ | {"NUMBA_CACHE_DIR": str(loops), "PYTHONPATH": _path()}
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=env,
            cwd=folder or ROOT,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Process(LIMIT, "", f"longer than {LIMIT:.0f} s")
    seconds = time.perf_counter() - start
    said = done.stderr.strip().splitlines() or [""]
    allowed = (0, 3)  # 3: a monitor that has seen an alarm
    return Process(seconds, done.stdout, "" if done.returncode in allowed else said[-1])


@cache
def _installed() -> None:
    """Write the bytecode of our modules, as an installer does."""
    compileall.compile_dir(ROOT / "src", quiet=1)


def _path() -> str:
    given = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([str(ROOT / "src"), *filter(None, given.split(os.pathsep))])


def measured(
    cases: dict[str, list[str]], folder: Path | None = None, rounds: int = ROUNDS
) -> dict[str, Times]:
    """Every case cold and warm, in turns, so that all meet the same load."""
    found: dict[str, Times] = {}
    for _ in range(rounds):
        for name, arguments in cases.items():
            before = found.get(name, Times(np.inf, np.inf))
            if before.failed:
                continue
            with tempfile.TemporaryDirectory() as loops:
                cold = fresh(arguments, Path(loops), folder)
                warm = cold if cold.failed else fresh(arguments, Path(loops), folder)
            found[name] = Times(
                min(before.cold, cold.seconds),
                min(before.warm, warm.seconds),
                warm.failed,
                max(before.worst, cold.seconds, warm.seconds),
            )
    return found


def script(code: str, n: int, d: int) -> list[str]:
    """The arguments of Python for some code over n rows of d columns."""
    return ["-c", ROWS.format(n=n, d=d) + code]


@cache
def answers(n: int, d: int) -> dict[str, Times]:
    """All that is measured at one size, importing scikit-learn among it."""
    cases = {name: script(f"import kernelmean as km\n{code}", n, d) for name, code in OURS.items()}
    cases |= {name: script(code, n, d) for name, code in PEERS.items()}
    cases |= {name: ["-m", "kernelmean", *line.split()] for name, line in COMMANDS.items()}
    asked = {name: arguments for name, arguments in cases.items() if _asked(name, n, d)}
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        _write_inputs(folder, n, d)
        rounds = ROUNDS if n == FEWEST else LARGE_ROUNDS
        alone = {SCIKIT_LEARN: ["-c", SCIKIT_LEARN]}
        # Alone it is measured more often: everything else is told beyond it.
        before = measured(alone, folder, ROUNDS + 1)
        return before | measured(asked, folder, rounds)


def _asked(name: str, n: int, d: int) -> bool:
    """Whether a case is measured at this size."""
    if "FFTKDE" in name and d > MOST_IN_A_GRID:
        return False
    if n > FEWEST and any(few in name for few in FEW_ROWS_ONLY):
        return False
    return n < max(size for size, _ in SIZES) or name in MANY_ROWS


def _write_inputs(folder: Path, n: int, d: int) -> None:
    """The files that the commands read."""
    names = [f"x{t}" for t in range(d)]
    made: dict[str, object] = {}
    exec(ROWS.format(n=n, d=d), made)
    X, y = made["X"], made["y"]
    assert isinstance(X, np.ndarray)
    head = ",".join(names)
    for name, rows in {"rows": X, "later": X + 0.1, "model": X - 0.1}.items():
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header=head, comments="")
    labelled = np.column_stack([X, y])
    np.savetxt(
        folder / "labelled.csv", labelled, delimiter=",", header=f"{head},label", comments=""
    )
    loops = folder / "loops"
    done = fresh(["-m", "kernelmean", "fit", "rows.csv", "-o", "model.km"], loops, folder)
    if done.failed:
        raise RuntimeError(done.failed)
    shutil.rmtree(loops, ignore_errors=True)


def table(n: int, d: int) -> Callable[[], list[Row]]:
    """One line for each case: the seconds with nothing compiled, beyond importing scikit-learn."""

    def rows() -> list[Row]:
        times = answers(n, d)
        alone = times[SCIKIT_LEARN]
        start = min(alone.cold, alone.warm)
        goal = SIZES[n, d]
        noise = (
            f"{start:.2f} s; at worst {alone.worst:.2f} s, which tells how quiet the machine was"
        )
        found = [Row("importing scikit-learn alone", None, "–", noise)]
        for name, own in times.items():
            if name != SCIKIT_LEARN:
                found.append(_row(name, own, start, goal))
        return found

    return rows


def _row(name: str, own: Times, start: float, goal: float | None) -> Row:
    if own.failed:
        missing = re.search(r"No module named '(\w+)", own.failed)
        why = f"{missing[1]} is not installed" if missing else f"failed: {own.failed}"
        return Row(name, None, "–", why)
    beyond = own.cold - start
    judged = name not in PEERS and name not in ("ClassProportions", "kernelmean proportions")
    goals = f"≤ {goal:g} s, warm ≤ {WARM_GOAL:g} s" if goal and judged else "–"
    missed = goal is not None and judged and (beyond > goal or own.warm - start > WARM_GOAL)
    return Row(
        name,
        f"{beyond:.2f} s{' ✗' if missed else ''}",
        goals,
        f"cold {own.cold:.2f} s in all, warm {own.warm:.2f} s, which is {own.warm - start:.2f} s "
        "beyond",
    )


def imports() -> list[Row]:
    """What importing costs, beside Python itself."""
    cases = {
        "python": ["-c", ""],
        "import kernelmean": ["-c", "import kernelmean"],
        "import kernelmean, and a fit's name": [
            "-c",
            "import kernelmean as km; km.sparse_kernel_mean",
        ],
        "kernelmean --help": ["-m", "kernelmean", "--help"],
        "import numba": ["-c", "import numba"],
        SCIKIT_LEARN: ["-c", SCIKIT_LEARN],
    }
    times = measured(cases)
    bare = times["python"].warm
    return [
        Row(
            name,
            f"{own.warm - bare:.2f} s{_missed(name, own.warm - bare)}",
            f"≤ {IMPORT_GOAL:g} s" if "kernelmean" in name else "–",
            own.failed or f"{own.warm:.2f} s in all, of which Python takes {bare:.2f} s",
        )
        for name, own in times.items()
        if name != "python"
    ]


def _missed(name: str, seconds: float) -> str:
    return " ✗" if "kernelmean" in name and seconds > IMPORT_GOAL else ""


FITS = ROWS + (
    "import time, kernelmean as km\n"
    "for d in (5, 4):\n"
    "    start = time.perf_counter()\n"
    "    km.SparseKDE(random_state=0).fit(X[:, :d].copy()).score_samples(X[:100, :d])\n"
    "    print(time.perf_counter() - start)\n"
)


def large() -> list[Row]:
    """The first fit of the demonstration, and another dimension in the same process."""
    return [_demo(), _second_dimension()]


def _demo() -> Row:
    seconds: dict[str, float] = {"cold": np.inf, "warm": np.inf}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            for name, best in seconds.items():
                figure = Path(folder) / "demo.png"
                arguments = ["-m", "kernelmean", "demo", "--quiet", "--figure", str(figure)]
                done = fresh(arguments, Path(folder) / "loops")
                found = re.search(r"^fit +([\d.]+) s$", done.out, re.MULTILINE)
                if found is None:
                    return Row("the demo's first fit", None, "–", f"failed: {done.failed}")
                seconds[name] = min(best, float(found[1]))
    return Row(
        "the first fit of `kernelmean demo`, 10⁶ × 3",
        f"{seconds['cold']:.1f} s{' ✗' if seconds['cold'] > DEMO_GOAL else ''}",
        f"≤ {DEMO_GOAL:g} s",
        f"warm {seconds['warm']:.1f} s",
    )


def _second_dimension() -> Row:
    cold, warm = np.full(2, np.inf), np.full(2, np.inf)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as loops:
            for best in (cold, warm):
                done = fresh(["-c", FITS.format(n=100_000, d=5)], Path(loops))
                if done.failed:
                    return Row("a second dimension", None, "–", f"failed: {done.failed}")
                np.minimum(best, np.array(done.out.split(), dtype=float), out=best)
    more = cold[1] - warm[1]
    return Row(
        "a second dimension: SparseKDE on 10⁵ × 4 after 10⁵ × 5",
        f"{more:.2f} s more{' ✗' if more > DIMENSION_GOAL else ''}",
        f"≤ {DIMENSION_GOAL:g} s more than warm",
        f"10⁵ × 5: {cold[0]:.2f} s, warm {warm[0]:.2f} s; 10⁵ × 4: {cold[1]:.2f} s, warm "
        f"{warm[1]:.2f} s",
    )


def _name(n: int, d: int) -> str:
    return f"{n:,} × {d}".replace(",", " ")


TABLES = {
    "Imports": imports,
    **{_name(*size): table(*size) for size in SIZES},
    "Large fits": large,
}

INTRODUCTION = f"""Written by `make bench`. How long it takes from starting Python to a first
answer, in a process of its own; the best of {ROUNDS} for 1000 rows and for large fits, one for
others. Cold: NUMBA_CACHE_DIR is an empty folder, as in a new container. Warm: the same process
again. The bytecode of Python's modules is there, as an installer leaves it. The figure is the cold
time beyond that of importing scikit-learn alone; ✗ marks a missed goal. Anything else that runs on
the machine makes every figure larger.

Work that NumPy, SciPy and BLAS have done before a compiler has started compiles nothing, and the
sizes of the data alone decide that. What is larger compiles what it needs, once, and keeps it on
disk; [`kernelmean compile`](terminal.md#compile-ahead-of-time) does so ahead of time.
`ClassProportions` trains classifiers and has no goal, nor has 100 000 × 5. Peers make their own
first call. Those that stand on Numba compile in it, which takes as long for any number of rows;
KDEpy's grid is for two dimensions. A command reads its rows from a csv file, and `monitor` goes on
to the end of a second one, learning anew after each alarm."""

if __name__ == "__main__":
    run("The first answer", INTRODUCTION, TABLES)
