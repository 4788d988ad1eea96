"""Figure 6: the error indicator E_k against k on the banana set, and where each selection stops.

The selections are k-centre and random.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from paper.experiment import Claim, Desk, Experiment, Goal, Parts, Picture, Row, Values

SIGMA, TOL, RUNS = 0.31, 1e-9, 100
PAPER = {"k-centre": 197, "random": 240}
ACCEPTED = {"k-centre": (165, 230), "random": (200, 280)}
METHODS: dict[str, dict[str, Any]] = {
    "k-centre": {"selection": "kcenter", "patience": 1},
    "random": {"selection": "random", "patience": 1},
    "k-centre, patience 10": {"selection": "kcenter", "patience": 10},
    "greedy, patience 10": {"selection": "greedy", "patience": 10},
}
COLOURS = dict(zip(METHODS, ("C0", "C1", "C2", "C3"), strict=True))
RUNS_OF_BEST = 20


def curves(X: np.ndarray, sigma: float, options: dict[str, Any], runs: int) -> list[np.ndarray]:
    """E_1 … E_{k_0} of every run, in units of g(0)."""
    same = {"bandwidth": sigma, "tol": TOL, "k_max": len(X)}
    return [
        km.sparse_kernel_mean(X, **same, **options, random_state=run).indicator
        for run in range(runs)
    ]


def padded(found: list[np.ndarray], length: int) -> np.ndarray:
    """(runs, length): E_k = E_{k_0} for k > k_0, as in the paper's figure."""
    return np.stack([np.pad(E, (0, max(length - len(E), 0)), mode="edge")[:length] for E in found])


def square_norm(X: np.ndarray, sigma: float) -> float:
    """‖z̄‖², so that ‖z̄ − z_k‖² = ‖z̄‖² + E_k."""
    full = km.kernel_mean(X, bandwidth=sigma)
    return full.inner(full)


def relative(E: np.ndarray, squared: float) -> np.ndarray:
    """‖z̄ − z_k‖/‖z̄‖."""
    return np.sqrt(np.maximum(squared + E, 0.0) / squared)


def banana(desk: Desk) -> Values:
    """All runs of all methods."""
    X, _ = desk.source.benchmark("banana")
    squared = square_norm(X, SIGMA)
    values: Values = {"n": len(X), "squared_norm": squared}
    found = {
        name: curves(X, SIGMA, METHODS[name], RUNS if name in PAPER else RUNS_OF_BEST)
        for name in METHODS
    }
    length = max(len(E) for runs in found.values() for E in runs)
    for name, runs in found.items():
        E = padded(runs, length)
        values[name] = {
            "k_0": [len(E) for E in runs],
            "error_at_stop": [float(e) for e in relative(E[:, -1], squared)],
            "indicator": [float(e) for e in E.mean(axis=0).round(7)],
            "error": [float(f"{e:.4g}") for e in relative(E, squared).mean(axis=0)],
        }
    return values


def rows(parts: Parts) -> list[Row]:
    """Where each selection stops, what it has reached there, and where the curves cross."""
    if "banana" not in parts:
        return []
    found, table = parts["banana"], "Figure 6: error indicator on banana"
    made = []
    for name, figure in PAPER.items():
        k_0, (low, high) = np.array(found[name]["k_0"]), ACCEPTED[name]
        goal = Goal(f"{low}–{high}", bool(low <= k_0.mean() <= high))
        made.append(
            Row(table, f"mean k_0, {name}", figure, float(k_0.mean()), None, "", spread(k_0), goal)
        )
    for name in PAPER:
        errors = found[name]["error_at_stop"]
        sentence = (
            f"Median of runs from {min(errors):.1e} to {max(errors):.1e}: one small step "
            "is no evidence of convergence."
        )
        made.append(
            Row(
                table,
                f"relative error at the stop, {name}",
                None,
                float(np.median(errors)),
                None,
                "",
                sentence,
            )
        )
    for name in (name for name in METHODS if name not in PAPER):
        k_0, errors = np.array(found[name]["k_0"]), found[name]["error_at_stop"]
        made.append(Row(table, f"mean k_0, {name}", None, None, float(k_0.mean()), "", spread(k_0)))
        sentence = f"Median of runs from {min(errors):.1e} to {max(errors):.1e}."
        made.append(
            Row(
                table,
                f"relative error at the stop, {name}",
                None,
                None,
                float(np.median(errors)),
                "",
                sentence,
            )
        )
    ahead = overtaking(found)
    sentence = (
        "By the mean of all runs; the paper: random is ahead at first, k-centre later. "
        f"{returning(ahead, found)}"
    )
    made.append(
        Row(
            table,
            "k at which k-centre overtakes random",
            None,
            ahead[0] if ahead else None,
            None,
            "",
            sentence.strip(),
        )
    )
    return made


def spread(k_0: np.ndarray) -> str:
    """How many runs, the range of k_0 and its standard deviation, as a sentence."""
    return (
        f"{len(k_0)} runs from {k_0.min()} to {k_0.max()}, standard deviation "
        f"{k_0.std(ddof=1):.0f}."
    )


def overtaking(found: Values) -> list[int]:
    """Every k at which the mean E of k-centre falls below that of random, or rises above it."""
    below = np.array(found["k-centre"]["indicator"]) < np.array(found["random"]["indicator"])
    return (np.flatnonzero(np.diff(below)) + 2).tolist()


def returning(ahead: list[int], found: Values) -> str:
    """Where k-centre falls behind again, as a sentence; empty where it does not."""
    if len(ahead) < 2:
        return ""
    early = sorted(found["k-centre"]["k_0"])[:3]
    return (
        f"From k = {ahead[1]} on the mean of k-centre is above again, by the runs that "
        f"stopped at k_0 = {', '.join(map(str, early))} and are padded."
    )


def draw(parts: Parts, folder: Path) -> list[Picture]:
    """The paper's curve, and the relative error it stands for."""
    if "banana" not in parts:
        return []
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    found = parts["banana"]
    for name, colour in COLOURS.items():
        k = np.arange(1, len(found[name]["error"]) + 1)
        stop = np.mean(found[name]["k_0"])
        if name in PAPER:
            left.plot(k[:150], found[name]["indicator"][:150], color=colour, label=name)
        right.semilogy(k, found[name]["error"], color=colour, label=name)
        right.axvline(stop, color=colour, linestyle=":", linewidth=1)
    left.set(xlabel="k", ylabel="E_k", title="As in the paper: mean of 100 runs")
    right.set(xlabel="k", ylabel="‖z̄ − z_k‖ / ‖z̄‖", title="The error behind it; dotted: mean k_0")
    left.legend()
    right.legend()
    figure.savefig(folder / "error_indicator.png", dpi=110)
    plt.close(figure)
    caption = (
        "Figure 6: the indicator of k-centre and random centres on banana, and the "
        "relative error with longer patience."
    )
    return [Picture("error_indicator.png", caption)]


def claims() -> list[Claim]:
    """On the first two principal components of scikit-learn's digits."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    X = PCA(2, random_state=0).fit_transform(load_digits().data)
    X /= X.std(axis=0)
    squared, used = square_norm(X, SIGMA), ("k-centre", "random", "k-centre, patience 10")
    E = {name: curves(X, SIGMA, METHODS[name], 10) for name in used}
    early = {name: float(np.median(padded(E[name], 20)[:, -1])) for name in PAPER}
    errors = {name: relative(padded(found, 800)[:, -1], squared) for name, found in E.items()}
    at = {
        name: float(np.median(relative(padded(E[name], 200)[:, -1], squared)))
        for name in ("k-centre, patience 10", "random")
    }
    steps = max(float(np.diff(run).max()) for found in E.values() for run in found)
    stops = {name: [len(run) for run in found] for name, found in E.items()}
    return [
        Claim("E_k never rises", steps <= 0.0, f"largest step {steps:.1e}"),
        Claim(
            "random is ahead at k = 20",
            early["random"] < early["k-centre"],
            f"E {early['random']:.4f}, {early['k-centre']:.4f}",
        ),
        Claim(
            "k-centre is ahead at k = 200",
            at["k-centre, patience 10"] < at["random"],
            f"errors {at}",
        ),
        Claim(
            "patience 10 ends with less error than one step",
            float(np.median(errors["k-centre, patience 10"]))
            < 0.2 * float(np.median(errors["k-centre"])),
            f"{np.median(errors['k-centre, patience 10']):.1e} against "
            f"{np.median(errors['k-centre']):.1e}",
        ),
        Claim(
            "the one-step rule stops anywhere, ten steps do not",
            np.ptp(stops["k-centre"]) / np.mean(stops["k-centre"])
            > 2 * np.ptp(stops["k-centre, patience 10"]) / np.mean(stops["k-centre, patience 10"]),
            f"k_0 {min(stops['k-centre'])}–{max(stops['k-centre'])} and "
            f"{min(stops['k-centre, patience 10'])}–{max(stops['k-centre, patience 10'])}",
        ),
    ]


EXPERIMENT = Experiment(
    name="error_indicator",
    title="Error indicator (Figure 6)",
    about=(
        "The paper plots E_k = ‖z̄ − z_k‖² − ‖z̄‖² on banana for k-centre and for random "
        "centres, k_max = n, ε = 1e-9, averaged over 100 "
        "runs. σ = 0.31 is the bandwidth at which its k_0 is found. Best settings: ten small "
        "steps in a row instead of one (patience), and "
        "the greedy selection."
    ),
    parts={"banana": banana},
    rows=rows,
    draw=draw,
    claims=claims,
)
