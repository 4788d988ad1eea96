"""The pages and the picture of ``benchmarks.peers``, from its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.contenders import (
    COMPRESS,
    FEW,
    FEWER_STEPS,
    HERDING,
    OVERSAMPLING,
    PEERS,
    STEPS,
    THINNING,
)
from benchmarks.measuring import Row, table

ROUNDING = 1e-6  # errors of peers below this are rounding
CLOSE, EQUAL = 1.05, 1.0005
OURS = ("auto", "refine")
BEFORE = "points"  # "auto" with spread=None: what it was before centres had spreads
MARK = {True: "", False: " ✗", None: ""}
SETS_ON_A_PAGE = 3  # of data, cell by cell


def best_peer(cell: dict) -> tuple[str, float]:
    """The peer of least error; coreax's own weights count where they were better."""
    errors = {name: error for name, error in cell["error"].items() if name not in (*OURS, BEFORE)}
    if "own" in cell:
        errors[HERDING] = min(errors[HERDING], cell["own"][0])
    name = min(errors, key=lambda name: errors[name])
    return name, errors[name]


def ratio(cell: dict, ours: str) -> float:
    """Our error over that of the best peer."""
    return cell["error"][ours] / best_peer(cell)[1]


def auto_met(cell: dict) -> bool | None:
    """Lowest of all, or within 5 %; no verdict where the best is rounding."""
    return None if best_peer(cell)[1] < ROUNDING else ratio(cell, "auto") <= CLOSE


def refine_goal(cell: dict) -> float | None:
    """½ where the best peer is between 1e-6 and .1, .8 up to .3."""
    best = best_peer(cell)[1]
    if cell["kernel"] != "gaussian" or not ROUNDING <= best <= 0.3:
        return None
    return 0.5 if best <= 0.1 else 0.8


def refine_met(cell: dict) -> bool | None:
    goal = refine_goal(cell)
    return None if goal is None else ratio(cell, "refine") <= goal


def laplacian_met(cell: dict) -> bool | None:
    judged = cell["kernel"] == "laplacian" and auto_met(cell) is not None
    return ratio(cell, "auto") <= EQUAL if judged else None


def faster(ours: str, theirs: str, clock: str = "time") -> Callable[[dict], bool | None]:
    """Whether we took no longer than a peer that took part."""

    def met(cell: dict) -> bool | None:
        there = ours in cell["time"] and theirs in cell[clock]
        return cell["time"][ours] <= cell[clock][theirs] if there else None

    return met


class Count(NamedTuple):
    goal: str
    met: int
    of: int
    missed: str


def _count(
    goal: str,
    cells: Iterable[dict],
    met: Callable[[dict], bool | None],
    measure: Callable[[dict], float],
) -> Count:
    verdicts = [(cell, met(cell)) for cell in cells]
    missed = [cell for cell, verdict in verdicts if verdict is False]
    worst = max(missed, key=measure, default=None)
    label = "–" if worst is None else f"{measure(worst):.2f}: {_name(worst)}"
    return Count(
        goal, sum(v is True for _, v in verdicts), sum(v is not None for _, v in verdicts), label
    )


def _name(cell: dict) -> str:
    return (
        f"{cell['data']}, {cell['kernel']}, {cell['width']}, {cell['space']}, "
        f"{cell['weights']}, k = {cell['k']}"
    )


GROUPS = {
    ("rkhs", "signed"): "RKHS, signed",
    ("rkhs", "simplex"): "RKHS, simplex",
    ("l2", "signed"): "L2, signed",
    ("l2", "simplex"): "L2, simplex",
}


def _group(cell: dict) -> tuple[str, str]:
    return cell["space"], cell["weights"]


def summary(cells: list[dict]) -> list[Count]:
    """How often each goal was met, and where it was missed most."""
    half, most = ([c for c in cells if refine_goal(c) == goal] for goal in (0.5, 0.8))
    auto, refine = (lambda c: ratio(c, "auto")), (lambda c: ratio(c, "refine"))
    counts = [
        _count(
            f"`auto` at most 1.05 × the best peer, {words}",
            [c for c in cells if _group(c) == group],
            auto_met,
            auto,
        )
        for group, words in GROUPS.items()
    ]
    counts += [
        _count("`auto` at most 1.05 × the best peer, in all", cells, auto_met, auto),
        _count(
            "`auto` the lowest of all",
            cells,
            lambda c: None if auto_met(c) is None else auto(c) <= EQUAL,
            auto,
        ),
        _count("Laplacian: `auto` no worse than the best peer", cells, laplacian_met, auto),
        _count(
            "`refine` at most 0.5 × the best peer, that peer in 1e-6 … 0.1",
            half,
            refine_met,
            refine,
        ),
        _count(
            "`refine` at most 0.8 × the best peer, that peer in 0.1 … 0.3", most, refine_met, refine
        ),
    ]
    for ours in OURS:
        for theirs, clock, words in (
            (HERDING, "time", f"{HERDING} with weights"),
            (HERDING, "selecting", f"{HERDING} without"),
            (COMPRESS, "time", f"{COMPRESS} with weights"),
        ):

            def measure(c, o=ours, t=theirs, k=clock):
                return c["time"].get(o, 0.0) / c[k].get(t, np.inf)

            counts.append(
                _count(
                    f"`{ours}` in no more time than {words}",
                    cells,
                    faster(ours, theirs, clock),
                    measure,
                )
            )
    return counts


def _figure(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _entry(cell: dict) -> str:
    if best_peer(cell)[1] < ROUNDING:
        return "rounding"
    text = _figure(ratio(cell, "auto")) + MARK[auto_met(cell) and laplacian_met(cell) is not False]
    return text + (
        f" / {_figure(ratio(cell, 'refine'))}{MARK[refine_met(cell)]}"
        if "refine" in cell["error"]
        else ""
    )


def ratios(cells: list[dict]) -> str:
    """One line for each kernel, bandwidth, space and constraint; one column for each k."""
    lines = []
    for name in dict.fromkeys(cell["data"] for cell in cells):
        mine = [cell for cell in cells if cell["data"] == name]
        sizes = sorted({cell["k"] for cell in mine})
        lines += [f"**{name}**, n = {mine[0]['n']}, d = {mine[0]['d']}", ""]
        lines += [
            "| kernel, bandwidth, space, weights | " + " | ".join(f"k = {k}" for k in sizes) + " |"
        ]
        lines += ["| --- |" + " ---: |" * len(sizes)]
        keys = ("kernel", "width", "space", "weights")
        for case in dict.fromkeys(tuple(cell[key] for key in keys) for cell in mine):
            entries = {
                cell["k"]: _entry(cell) for cell in mine if tuple(cell[key] for key in keys) == case
            }
            lines.append(
                f"| {', '.join(case)} | " + " | ".join(entries.get(k, "") for k in sizes) + " |"
            )
        lines.append("")
    return "\n".join(lines)


def by_contender(cells: list[dict]) -> str:
    """Geometric mean of each contender's error over that of the best peer, and how often it was
    that best peer.
    """
    judged = [cell for cell in cells if best_peer(cell)[1] >= ROUNDING]
    groups = [(k, w) for k in ("gaussian", "laplacian") for w in ("signed", "simplex")]
    lines = [
        "| contender | " + " | ".join(f"{k}, {w}" for k, w in groups) + " | best peer in |",
        "| --- |" + " ---: |" * 5,
    ]
    for name in (*OURS, BEFORE, *PEERS):
        entries = []
        for group in groups:
            found = [
                c["error"][name] / best_peer(c)[1]
                for c in judged
                if (c["kernel"], c["weights"]) == group and name in c["error"]
            ]
            entries.append(f"{np.exp(np.mean(np.log(found))):.2f}" if found else "–")
        wins = (
            ""
            if name in (*OURS, BEFORE)
            else str(sum(best_peer(cell)[0] == name for cell in judged))
        )
        lines.append(f"| {name} | " + " | ".join(entries) + f" | {wins} |")
    return "\n".join(lines) + "\n"


def times(cells: list[dict]) -> str:
    """Median warm seconds over the cells of the largest n, weights included."""
    n = max(cell["n"] for cell in cells)
    sizes = sorted({cell["k"] for cell in cells if cell["n"] == n})
    lines = [
        "| seconds | " + " | ".join(f"k = {k}" for k in sizes) + " |",
        "| --- |" + " ---: |" * len(sizes),
    ]
    for weights in ("signed", "simplex"):
        for name in (*OURS, BEFORE, *PEERS):
            mine = [
                c
                for c in cells
                if c["n"] == n
                and c["weights"] == weights
                and name in c["time"]
                and c["space"] == "rkhs"
            ]
            entries = [[c["time"][name] for c in mine if c["k"] == k] for k in sizes]
            lines.append(
                f"| {name}, {weights} | "
                + " | ".join(f"{np.median(e):.3f}" if e else "–" for e in entries)
                + " |"
            )
    return "\n".join(lines) + "\n"


def own_weights(cells: list[dict]) -> str:
    """What coreax's own optimisers reach on its points, and how long both take."""
    lines = [
        "| case | exact weights | coreax's own | seconds | its own |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for cell in (cell for cell in cells if "own" in cell):
        error, seconds = cell["own"]
        facts = (
            f"| {cell['data']}, {cell['weights']}, k = {cell['k']} | "
            f"{cell['error'][HERDING]:.2e} | {error:.2e} "
        )
        lines.append(facts + f"| {cell['time'][HERDING]:.2f} | {seconds:.2f} |")
    return "\n".join(lines) + "\n"


# What to say of figures that were measured before centres had spreads.
POINTS_ONLY = (
    "In this run **auto** and **refine** had points as centres (`spread=None`); what spreads add "
    "to them is on [a page of its own](spreads.md)."
)


def render(results: dict) -> dict[str, str]:
    """The pages, by the names of their files: a summary first."""
    pages = {
        "benchmarks.md": summary_page(results),
        "benchmarks-how.md": joined("# How peers are compared", HOW),
        "benchmarks-times.md": times_page(results),
        "benchmarks-large.md": large_page(results),
    }
    names = list(dict.fromkeys(cell["data"] for cell in results["cells"]))
    for number, first in enumerate(range(0, len(names), SETS_ON_A_PAGE), start=1):
        mine = names[first : first + SETS_ON_A_PAGE]
        cells = [cell for cell in results["cells"] if cell["data"] in mine]
        title = f"# Cell by cell: {', '.join(mine)}"
        pages[f"benchmarks-cells-{number}.md"] = joined(title, CELLS, ratios(cells))
    return pages


def joined(*parts: str) -> str:
    """Paragraphs and tables as one page."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def summary_page(results: dict) -> str:
    """What was reached beside peers, on what, and what failed."""
    cells = results["cells"]
    absent = f" No data for {', '.join(results['absent'])}." if results["absent"] else ""
    counts = summary(cells)
    goals = [f"| {c.goal} | {c.met} of {c.of} | {c.missed} |" for c in counts]
    left_out = (
        f" Left out for want of time: {'; '.join(results['left_out'])}."
        if results["left_out"]
        else ""
    )
    failed = "".join(f"- {line}\n" for line in failures(results))
    quick = " **A quick run: two sets, few k.**" if results["quick"] else ""
    whole = next(c for c in counts if c.goal.endswith("in all"))
    return joined(
        "# Benchmarks against peers",
        "With equal numbers of centres, the error of the default selection was the least, or "
        f"within 5 % of the least, in {whole.met} of {whole.of} cases. A case is a set of data, a "
        "kernel, a bandwidth, a space, a constraint on the weights and a number of centres; the "
        "peers are coreax, goodpoints, scikit-learn and random rows. [How they were compared]"
        "(benchmarks-how.md), [times](benchmarks-times.md), [larger samples](benchmarks-large.md), "
        "and every case [by itself](benchmarks-cells-1.md) are on pages of their own.",
        "![Error against k](benchmarks.png)",
        "" if any(BEFORE in cell["error"] for cell in cells) else POINTS_ONLY,
        "## Goals\n\n| goal | met in | worst miss |\n| --- | ---: | --- |\n" + "\n".join(goals),
        "## Contenders\n\nGeometric mean of error ÷ error of the best peer.\n\n"
        + by_contender(cells),
        f"Written by `make bench-peers` in {results['seconds'] / 60:.0f} "
        f"minutes.{quick}{absent}{left_out}",
        f"Measured on: {results['machine']}  \n"
        + ", ".join(f"{name} {v}" for name, v in results["versions"].items())
        + ".",
        f"**Failed:**\n\n{failed}" if failed else "",
    )


def times_page(results: dict) -> str:
    """How long fits take, and what coreax's own weights are worth."""
    cells = results["cells"]
    first = "; ".join(f"{name} {seconds:.0f} s" for name, seconds in results["first_runs"].items())
    return joined(
        "# Times beside peers",
        "## Times\n\nMedian warm seconds, weights included, RKHS.\n\n" + times(cells),
        f"First runs took longer by, in all: {first}. That is compilation, for coreax anew for "
        "every n, d and k.",
        "## coreax's weights\n\nGaussian, narrow, herding: relative error and seconds.\n\n"
        + own_weights(cells),
        "The GPU engine has [a page of its own](gpu.md).",
    )


def large_page(results: dict) -> str:
    """What needs no comparison of all pairs."""
    return joined(
        "# Larger samples, beside peers",
        "When each selection wins is told on [a page of its own](selection.md).",
        *(
            table(title, [Row(*row) for row in rows]).replace("### ", "## ")
            for title, rows in results["tables"].items()
        ),
    )


def failures(results: dict) -> list[str]:
    """Every step and every contender that failed, with what it said."""
    peers = [
        f"{name}, {_name(c)}: {words}"
        for c in results["cells"]
        for name, words in c.get("failed", {}).items()
    ]
    return results.get("failed", []) + peers


HOW = f"""Relative errors ‖z̄ − z‖/‖z̄‖ in the RKHS and in L2, by `benchmarks/exact.py`: all
pairs in NumPy, in extended precision where the error is below 1e-5; it shares no code with any
contender. Up to 4096 distinct rows of each set, standardised (lakes: arcsinh of one sample; itn:
log10 of the markers), because all pairs must be cheap. Bandwidths: Scott's rule (narrow) and
half the median distance (wide, up to k = 512); Laplacian with the same half-maximum radius. The
mixture is normal in five dimensions, the heavy mixture Student's t(3) in two.

- **auto**: `sparse_kernel_mean(X, k=k)`; **refine**: the same with `refine={STEPS}`, beyond
  {FEW} centres `refine={FEWER_STEPS}`, for the Gaussian. **points**: as auto, with `spread=None`.
- **coreax**: `KernelHerding` and `RPCholesky`, jitted, in float64 (its default, float32, is
  somewhat faster and leaves its weights few digits). Its kernels are the inner product of the
  space, but for the Laplacian in L2 with even d, where it has none and gets the Matérn kernel of
  the nearest order.
- **goodpoints**: `compresspp_kt` with g = {OVERSAMPLING} yields √n′ points, n′ the largest power
  of four up to n: 64 for 4096, and that is the k it is compared at (Gaussian only, since it
  knows no Laplacian). {THINNING}: `kt.thin_K` yields ⌊n/2^m⌋ points; all k here are such sizes.
  Nothing was truncated.
- **k-means++**, **MiniBatchKMeans** (`n_init=3`): scikit-learn. **random**: uniform, without
  replacement.

All peers' points get the exact optimal weights in float64, signed or on the simplex, by the
solver of this library: at least as good as their own (below). Everybody runs alone on the same
cores, with its own default number of threads; times are warm."""

CELLS = """Error of `auto` ÷ error of the best peer, then that of `refine` for the Gaussian; ✗
marks a missed goal (for the Laplacian: `auto` worse than the best peer); "rounding" where the
best peer is below 1e-6."""


def draw(cells: list[dict], path: Path) -> None:
    """Error against k, signed weights in the RKHS: a row for each set, a column for each kernel and
    bandwidth.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = [cell for cell in cells if cell["space"] == "rkhs" and cell["weights"] == "signed"]
    names = list(dict.fromkeys(cell["data"] for cell in shown))
    columns = [(k, w) for k in ("gaussian", "laplacian") for w in ("narrow", "wide")]
    height = 1.7 * len(names) + 1.3
    figure, axes = plt.subplots(len(names), 4, figsize=(11, height), sharex=True, squeeze=False)
    for i, name in enumerate(names):
        for j, (kernel, width) in enumerate(columns):
            mine = [
                c for c in shown if (c["data"], c["kernel"], c["width"]) == (name, kernel, width)
            ]
            _panel(axes[i, j], mine)
            if i == 0:
                axes[i, j].set_title(f"{kernel}, {width}", fontsize=9)
            if i == len(names) - 1:
                axes[i, j].set_xlabel("k", fontsize=8)
        axes[i, 0].set_ylabel(f"{name}, d = {mine[0]['d']}", fontsize=9)
    labels = {
        label: handle
        for ax in axes.flat
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        labels.values(), labels.keys(), loc="lower center", ncols=5, fontsize=8, frameon=False
    )
    figure.suptitle(
        "Relative RKHS error against k, signed optimal weights", fontsize=10, y=1 - 0.12 / height
    )
    figure.tight_layout(rect=(0, 0.45 / height, 1, 1 - 0.3 / height))
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _panel(ax, cells: list[dict]) -> None:
    """One line for each contender; ours above the others."""
    from matplotlib.ticker import LogLocator, NullFormatter

    styles = {"auto": ("C3", "o-", 1.8), "refine": ("k", "s-", 1.8), BEFORE: ("C3", "--", 1.0)}
    for number, contender in enumerate((*PEERS, BEFORE, *OURS)):
        points = sorted(
            (c["k"], max(c["error"][contender], 1e-9)) for c in cells if contender in c["error"]
        )
        marker = "x" if contender == COMPRESS else ".-"
        color, style, line = styles.get(contender, (f"C{number + (number > 2)}", marker, 0.8))
        if points:
            ax.loglog(
                *zip(*points, strict=True), style, color=color, lw=line, ms=3.5, label=contender
            )
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.yaxis.set_major_locator(
        LogLocator(10, subs=(1.0, 2.0, 5.0) if _span(cells) < 100 else (1.0,))
    )
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelsize=6)
    ax.grid(lw=0.3, alpha=0.5)


def _span(cells: list[dict]) -> float:
    errors = [max(error, 1e-9) for cell in cells for error in cell["error"].values()]
    return max(errors) / min(errors)
