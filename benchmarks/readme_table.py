"""The table of the README: densities of a sample in the plane, by five packages.

    python -m benchmarks.readme_table            # measure what is not stored, write the table
    python -m benchmarks.readme_table --fresh    # measure everything again
    python -m benchmarks.readme_table --write    # write it again from the stored figures
    python -m benchmarks.readme_table --check    # fail if a page shows another table

The sample is drawn from a density that is known in closed form, so that errors are those against
the truth. Every kernel density estimate has the same kernel and bandwidth, found by leaving rows
out. Times are wall time or CPU seconds, whichever is less: for a peer that runs on one core these
are the seconds that it takes on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import pickle
import platform
import re
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import kernelmean as km
from benchmarks.measuring import machine

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_suffix(".json")
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
BEGIN, END = "<!-- table: python -m benchmarks.readme_table -->", "<!-- end of the table -->"
N, NEW, TAIL = 100_000, 10_000, 0.01
ERROR = 0.01  # what the sparse copy is asked for
SHARES = (0.4, 0.3, 0.2, 0.1)  # ring, arc, skewed, heavy-tailed
COMPONENTS = (16, 32, 64)  # of GaussianMixture, of which BIC chooses
ONCE = 5.0  # seconds, above which a measurement is not repeated
GRID = 2048  # points of KDEpy's grid in either direction


# --- the density
# --------------------------------------------------------------------------------------------------


def draw(n: int, seed: int) -> np.ndarray:
    """Rows of a ring, an arc, a skewed cloud and one with heavy tails."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(2.0, 0.15, n)
    ring = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    x = rng.uniform(-1.8, 1.8, n)
    arc = np.column_stack([x, 0.5 * x**2 - 4.2 + rng.normal(0.0, 0.12, n)])
    along = rng.gamma(2.0, 0.6, n)
    skewed = np.column_stack([2.6 + along, 0.35 * along + rng.normal(0.0, 0.25, n)])
    heavy = 0.35 * rng.standard_t(4.0, (n, 2))
    kind = rng.choice(4, n, p=SHARES)
    return np.choose(kind[:, None], [ring, arc, skewed, heavy])


def true_log_density(X: np.ndarray) -> np.ndarray:
    """log f at rows in the units of :func:`draw`."""
    x, y = X.T
    radius, along = np.hypot(x, y), x - 2.6
    parts = [
        stats.norm.pdf(radius, 2.0, 0.15) / (2.0 * np.pi * radius),
        stats.uniform.pdf(x, -1.8, 3.6) * stats.norm.pdf(y, 0.5 * x**2 - 4.2, 0.12),
        stats.gamma.pdf(along, 2.0, scale=0.6) * stats.norm.pdf(y, 0.35 * along, 0.25),
        stats.t.pdf(x / 0.35, 4.0) * stats.t.pdf(y / 0.35, 4.0) / 0.35**2,
    ]
    return np.log(np.array(SHARES) @ np.array(parts))


class Sample(NamedTuple):
    """Rows to fit, rows to score, and the truth at these, in units in which the covariance of the
    fitted rows is the identity: SciPy's kernel then is as round as everybody's.
    """

    X: np.ndarray  # (N, 2)
    new: np.ndarray  # (NEW, 2)
    truth: np.ndarray  # (NEW,) log-density


def sample(n: int = N, new: int = NEW) -> Sample:
    X, Q = draw(n, seed=0), draw(new, seed=1)
    L = np.linalg.cholesky(np.cov(X.T))
    units = np.linalg.inv(L).T
    truth = true_log_density(Q) + np.log(np.diag(L)).sum()
    return Sample(X @ units, Q @ units, truth)


# --- the contenders
# --------------------------------------------------------------------------------------------------


class Contender(NamedTuple):
    """How one package fits, how it scores, and how large what it keeps is."""

    fit: Callable[[], Any]
    score: Callable[[Any, np.ndarray], np.ndarray]
    size: Callable[[Any], int]


def pickled(model: object) -> int:
    """Bytes of the model as Python stores it; of the rows alone where it cannot be stored."""
    try:
        return len(pickle.dumps(model))
    except (AttributeError, pickle.PicklingError):
        return int(model.dataset.nbytes)  # type: ignore[attr-defined]


def saved(density: Any) -> int:
    """Bytes of the model file."""
    place = ROOT / ".cache" / "readme.km"
    place.parent.mkdir(exist_ok=True)
    (density if hasattr(density, "save") else density.mean_).save(place)
    return place.stat().st_size


def contenders(X: np.ndarray, h: float) -> dict[str, Contender]:
    """By the name in the table."""
    from scipy.stats import gaussian_kde
    from sklearn.neighbors import KernelDensity

    def by_method(model: Any, Q: np.ndarray) -> np.ndarray:
        return model.score_samples(Q)

    return {
        f"`kernelmean.KernelDensity(error={ERROR})`": Contender(
            lambda: km.KernelDensity(bandwidth=h, error=ERROR, random_state=0).fit(X),
            by_method,
            saved,
        ),
        "`kernelmean.SparseKDE()`, the likeliest density": Contender(
            lambda: km.SparseKDE(random_state=0).fit(X), by_method, saved
        ),
        "scikit-learn `KernelDensity`": Contender(
            lambda: KernelDensity(bandwidth=h).fit(X), by_method, pickled
        ),
        "SciPy `gaussian_kde`": Contender(
            lambda: gaussian_kde(X.T, bw_method=h), lambda model, Q: model.logpdf(Q.T), pickled
        ),
        "KDEpy `FFTKDE`, interpolated": Contender(lambda: on_grid(X, h), between_nodes, pickled),
        "scikit-learn `GaussianMixture`, by BIC": Contender(lambda: mixture(X), by_method, pickled),
    }


def on_grid(X: np.ndarray, h: float) -> Any:
    """KDEpy's density at the nodes of a grid, with an interpolator between them."""
    from KDEpy import FFTKDE
    from scipy.interpolate import RegularGridInterpolator

    axes = [
        np.linspace(low - 1.0, high + 1.0, GRID)
        for low, high in zip(X.min(0), X.max(0), strict=True)
    ]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(nodes)
    return RegularGridInterpolator(
        axes, values.reshape(GRID, GRID), bounds_error=False, fill_value=0.0
    )


def between_nodes(interpolator: Any, Q: np.ndarray) -> np.ndarray:
    """Log-densities; rounding of the transform can leave values below zero, which count as tiny."""
    return np.log(np.maximum(interpolator(Q), np.finfo(float).tiny))


def mixture(X: np.ndarray) -> Any:
    from sklearn.mixture import GaussianMixture

    fits = [GaussianMixture(k, random_state=0).fit(X) for k in COMPONENTS]
    return min(fits, key=lambda fit: fit.bic(X))


# --- measuring
# --------------------------------------------------------------------------------------------------


def timed(action: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Least of wall and CPU seconds over some runs, and what the last of them gave."""
    best, value = float("inf"), None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        value = action()
        best = min(best, time.perf_counter() - wall, time.process_time() - cpu)
        if best > ONCE:
            break
    return best, value


def measure(stored: dict[str, Any]) -> dict[str, Any]:
    """All figures; what is stored is there already."""
    X, new, truth = sample()
    h = stored.get("bandwidth") or float(km.bandwidth.likelihood(X))
    rows: dict[str, Any] = stored.get("rows", {})
    for name, contender in contenders(X, h).items():
        if name not in rows:
            rows[name] = row(contender, X, new, truth, h)
            print(name, rows[name], flush=True)
            RESULTS.write_text(json.dumps({"bandwidth": h, "rows": rows}))
    names = ("kernelmean", "scikit-learn", "scipy", "numpy", "KDEpy")
    return {
        "machine": machine().split(";")[0],
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "n": N,
        "new": NEW,
        "bandwidth": h,
        "true likelihood": float(truth.mean()),
        "rows": {name: rows[name] for name in contenders(X, h)},
    }


def row(
    contender: Contender, X: np.ndarray, new: np.ndarray, truth: np.ndarray, h: float
) -> dict[str, Any]:
    """The figures of one contender; loops of ours are compiled before the clock starts."""
    fit, model = timed(contender.fit, 2)
    if "kernelmean" in type(model).__module__:
        model.score_samples(new[:10])
        fit = min(fit, timed(contender.fit, 1)[0]) if fit < ONCE else fit
    score, found = timed(lambda: contender.score(model, new), 5)
    figures = {"fit": fit, "score": score} | errors(found, truth, "of the truth")
    figures |= {"likelihood": float(found.mean()), "bytes": contender.size(model)}
    if getattr(model, "estimated_error_", None):
        exact = km.KernelDensity(bandwidth=h).fit(X).score_samples(new)
        figures |= errors(found, exact, "of the exact estimate")
        figures["certified"] = float(model.mean_.certificate(X, method="exact").relative_error)
    if hasattr(model, "mean_"):
        figures["k"] = int(model.mean_.k)
    if hasattr(model, "n_components"):
        figures["k"] = int(model.n_components)
    return figures


def errors(found: np.ndarray, wanted: np.ndarray, what: str) -> dict[str, float]:
    """Median relative error of the density: at all new rows, and at the share of least density."""
    off = np.abs(np.expm1(np.clip(found - wanted, None, 50.0)))
    far = np.argsort(wanted)[: int(TAIL * len(wanted))]
    return {f"median {what}": float(np.median(off)), f"tail {what}": float(np.median(off[far]))}


# --- the table
# --------------------------------------------------------------------------------------------------


def table(results: dict[str, Any]) -> str:
    """The table and what it was measured on, in Markdown."""
    rows = results["rows"]
    lines = [
        "| | fit, s | score, s | error, median | error, tail | log-likelihood | model |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        figures = [
            seconds(row["fit"]),
            seconds(row["score"]),
            percent(row["median of the truth"]),
            percent(row["tail of the truth"]),
            f"{row['likelihood']:.3f}",
            size(row["bytes"]),
        ]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    lines += ["", note(results)]
    return "\n".join(lines)


def note(results: dict[str, Any]) -> str:
    """What was measured, on what, and how near the sparse copy is to what it copies."""
    rows = results["rows"]
    copy, peer = next(iter(rows.values())), rows["scikit-learn `KernelDensity`"]
    versions = ", ".join(f"{name} {v}" for name, v in results["versions"].items())
    words = (
        f"{results['n']:,} rows in the plane from a density in closed form, {results['new']:,} new "
        "rows scored; errors are of the density against the true one, at the median new row and "
        f"at the median of the {TAIL:.0%} of least density; log-likelihood per new row "
        f"(of the truth itself {results['true likelihood']:.3f}). All kernel density estimates "
        f"have one bandwidth. The sparse one, {copy['k']} centres, scores about "
        f"{round(peer['score'] / copy['score'], -2):.0f} times as fast as scikit-learn's; it was "
        f"asked for a relative L2 error of {ERROR:.0%} and has {copy['certified']:.2%}, which is "
        f"{percent(copy['median of the exact estimate'])} at the median new row and "
        f"{percent(copy['tail of the exact estimate'])} in that tail. Measured by "
        f"`benchmarks/readme_table.py` on {results['machine']}, Python {results['python']}, "
        f"{versions}."
    )
    return re.sub(r"(\d)%", r"\1 %", words.replace(",000 ", " 000 "))


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %" if share < 1.05 else f"{share:.0f}×"


def size(count: int) -> str:
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def with_table(page: str, text: str) -> str:
    """A page with this table between its marks."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    parser.add_argument("--write", action="store_true", help="from the stored figures")
    parser.add_argument("--check", action="store_true", help="fail where a page shows others")
    arguments = parser.parse_args()
    if not (arguments.write or arguments.check):
        kept = RESULTS.exists() and not arguments.fresh
        stored = json.loads(RESULTS.read_text()) if kept else {}
        RESULTS.write_text(json.dumps(measure(stored), indent=1) + "\n")
    text = table(json.loads(RESULTS.read_text()))
    for page in PAGES:
        shown = page.read_text()
        if arguments.check and with_table(shown, text) != shown:
            raise SystemExit(f"{page.name} shows another table: python -m benchmarks.readme_table")
        if not arguments.check:
            page.write_text(with_table(shown, text))


if __name__ == "__main__":
    main()
