"""``docs/scaling.md`` and its picture, from the figures of ``benchmarks.cluster``; the prose is in
``scaling.txt`` beside this.
"""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

CORES = 16  # per machine, in the arithmetic for larger samples
NETWORK = 1.25e9  # bytes per second: 10 Gbit/s
OVERHEAD = 0.25e9  # bytes of a worker without points
SPEED_GOAL, OVERHEAD_GOAL = 1.6, 0.15
GOALS_FOR = {"speed": 2e7, "memory": 1e8}  # points at which the goals are set


def power(n: float) -> str:
    """10⁸, 2·10⁷."""
    digits = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    exponent = len(f"{int(n)}") - 1
    factor = n / 10**exponent
    return f"{'' if factor == 1 else f'{factor:g}·'}10{str(exponent).translate(digits)}"


def size(number: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f} B"


def verdict(met: bool, piece: str, n: float) -> str:
    """Whether a goal is met, where it was measured at the size that the goal is set for."""
    if n != GOALS_FOR[piece]:
        return f"set for n = {power(GOALS_FOR[piece])}"
    return "met" if met else "not met"


def speed_table(found: dict[str, Any]) -> str:
    faster, over = found["one"] / found["two"], found["one"] / found["plain"] - 1.0
    lines = [
        f"n = {power(found['n'])}, d = {found['d']}, k = {found['k']}, farthest-first selection, "
        "optimal weights; seconds, best of",
        f"{found['repeats']}; the points are in memory (on the workers, in {found['parts']} "
        "partitions) before the clock starts.",
        "",
        "| | seconds | goal |",
        "| --- | ---: | --- |",
        f'| `engine="cpu"`, one thread | {found["plain"]:.1f} | |',
        f"| cluster, one process of one thread | {found['one']:.1f} | |",
        f"| cluster, two processes of one thread each | {found['two']:.1f} | |",
        f"| speed-up of the second process | {faster:.2f}× | at least {SPEED_GOAL}×: "
        f"{verdict(faster >= SPEED_GOAL, 'speed', found['n'])} |",
        f"| one process against the plain engine | {100 * over:+.0f} % | at most "
        f"+{100 * OVERHEAD_GOAL:.0f} %: {verdict(over <= OVERHEAD_GOAL, 'speed', found['n'])} |",
        "",
        "The three chose "
        f"{'the same rows, index for index' if found['same'] else '**different rows**'}.",
        "",
        f"Measured on: {found['machine']}",
    ]
    return "\n".join(lines)


def memory_table(found: dict[str, Any]) -> str:
    peak = max(found["peaks"])
    good = peak <= found["limit"] and found["spilled"] == 0 and found["survived"]
    lines = [
        f"n = {power(found['n'])}, d = {found['d']}, k = {found['k']} from Parquet files of a "
        "million rows, two workers of one thread with a",
        f"limit of {size(found['limit'])} each that Dask enforces (it would spill, pause, then "
        "kill).",
        "",
        "| | |",
        "| --- | --- |",
        f"| from the files to the fitted mean | {found['seconds']:.0f} s |",
        f"| highest resident set of a worker | {size(peak)} (limit {size(found['limit'])}: "
        f"{verdict(good, 'memory', found['n'])}) |",
        f"| highest resident set of the client | {size(found['client'])} |",
        f"| spilled to disk | {size(found['spilled'])} |",
        "| per point, both workers | "
        f"{sum(found['peaks']) / found['n'] - 2 * OVERHEAD / found['n']:.0f} bytes above "
        f"{size(OVERHEAD)} per process |",
        "",
        "![Memory of the workers while the fit runs](scaling.png)",
        "",
        f"Measured on: {found['machine']}",
    ]
    return "\n".join(lines)


def stream_table(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    return "\n".join(
        [
            f'`km.sparse_kernel_mean(km.read(folder), k={found["k"]}, selection="kcenter")` '
            f"on n = {power(found['n'])}, d = {found['d']}: "
            f"{found['seconds']:.0f} s, and the resident set grew by {size(found['growth'])}, "
            f"{found['growth'] / found['n']:.1f} bytes a point.",
            "",
            f"Measured on: {found['machine']}",
        ]
    )


def rounds_table(found: dict[str, Any]) -> str:
    lines = [
        f"n = {power(found['n'])}, d = {found['d']}, k = {found['k']}:",
        "",
        "| parts | rounds | sent to all parts, per round | offers that come back, per round |",
        "| ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['parts']} | {row['rounds']} | {size(row['sent'])} | {size(row['came'])} |"
        for row in found["table"]
    ]
    waits = ", ".join(
        f"{1e3 * wait['median']:.0f} ms with {wait['processes']}" for wait in found["latency"]
    )
    lines += [
        "",
        f"A question that asks for nothing takes {waits} worker processes on one machine.",
    ]
    return "\n".join(lines)


def large_table(figures: dict[str, Any]) -> str:
    """n points on M machines: the measured seconds per point and core, the measured bytes per point
    and round.
    """
    speed, memory, rounds = figures["speed"], figures["memory"], figures["rounds"]
    per_point = speed["one"] / speed["n"]
    held = (sum(memory["peaks"]) - 2 * OVERHEAD) / memory["n"] / memory["d"] * speed["d"]
    wait = max(entry["median"] for entry in rounds["latency"])
    widest = rounds["table"][-1]
    count, traffic = widest["rounds"], (widest["sent"] + widest["came"]) / widest["parts"]
    lines = [
        f"From the tables above: {1e9 * per_point:.0f} ns per point and core for k = "
        f"{speed['k']}, d = {speed['d']}; {held:.0f} bytes a point on its "
        f"worker; {count} rounds of {size(traffic)} per part, each waiting {1e3 * wait:.0f} ms. "
        f"With machines of {CORES} cores, one part per core, and "
        f"{NETWORK * 8 / 1e9:.0f} Gbit/s at the client:",
        "",
        "| points | machines | computing | rounds | memory per machine |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for n in (1e9, 1e10):
        for machines in (10, 100):
            parts = machines * CORES
            computing = per_point * n / parts
            talking = count * (wait + parts * traffic / NETWORK)
            lines.append(
                f"| {power(n)} | {machines} | {computing:.2g} s | {talking:.1f} s | "
                f"{size(held * n / machines)} |"
            )
    return "\n".join(lines)


def picture(path: Path, found: dict[str, Any]) -> None:
    import matplotlib.pyplot as plt

    curve = list(zip(*found["curve"], strict=True))
    figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    for i, name in enumerate(("first worker", "second worker", "client")):
        axes.plot(curve[0], [value / 1e9 for value in curve[1 + i]], label=name)
    axes.axhline(found["limit"] / 1e9, color="0.5", linestyle="--", label="limit of a worker")
    axes.set(xlabel="seconds", ylabel="resident set (GB)", ylim=(0.0, 1.3 * found["limit"] / 1e9))
    axes.legend(frameon=False, ncols=4, loc="upper center", fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def write(folder: Path, figures: dict[str, Any]) -> None:
    """The page, and the picture of the memory."""
    prose = Template((Path(__file__).parent / "scaling.txt").read_text())
    page = prose.substitute(
        speed=speed_table(figures["speed"]),
        memory=memory_table(figures["memory"]),
        stream=stream_table(figures.get("stream")),
        rounds=rounds_table(figures["rounds"]),
        large=large_table(figures),
    )
    (folder / "scaling.md").write_text(page)
    picture(folder / "scaling.png", figures["memory"])
