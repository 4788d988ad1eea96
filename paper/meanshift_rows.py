"""Table 4 from the values of its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paper.experiment import Figure, Goal, Parts, Row, Values

PIECES = 4  # of the full run, each some minutes
RADII = (0.5, 1.0, 2.0, 3.0)  # bandwidths within which ends are merged
FIGURES = {
    "full": 4 * 3600.0,
    "skm": (3.26 * 60, 57.0, 0.018, 0.021),
    "lsh": (14.0, 4.2 * 60, 0.034, 0.016),
}


def rows(parts: Parts) -> list[Row]:
    """Table 4, then the same with all 493 centres."""
    pieces = [parts[name] for name in parts if name.startswith("full_")]
    if len(pieces) < PIECES or "sparse" not in parts:
        return []
    # Pieces hold every fourth pixel and cost the same; the median leaves out one that met other
    # work on the machine.
    whole, found = (
        PIECES * float(np.median([piece["seconds"] for piece in pieces])),
        parts["sparse"],
    )
    rows = time_rows(whole, found, pieces) + quality_rows(
        "Table 4: sparse density against full", FIGURES["skm"][2:], found["one_step"], found["best"]
    )
    if "lsh" in parts:
        rows += hashing_rows(whole, parts["lsh"])
    return rows + all_rows(whole, found)


def time_rows(whole: float, found: Values, pieces: list[Values]) -> list[Row]:
    """Preparation, shift and total; the full density beside them."""
    table, runs = "Table 4: times", (median(found["one_step"]), median(found["best"]))
    prepare, shift = ([run[key] for run in runs] for key in ("prepare_s", "shift_s"))
    totals = [a + b for a, b in zip(prepare, shift, strict=True)]
    ratios = [whole / total for total in totals]
    words = (
        f"all {sum(piece['starts'] for piece in pieces)} pixels, σ = "
        f"{pieces[0]['bandwidth']:.3g}; at most {max(piece['steps'] for piece in pieces)} steps, "
        f"{sum(piece['left'] for piece in pieces)} points left"
    )
    one_step = [run["k"] for run in found["one_step"]]
    return [
        Row(table, "full: mean shift", FIGURES["full"], whole, None, "s", words),
        Row(table, "sparse: preparation", FIGURES["skm"][0], *prepare, "s", "median of the runs"),
        Row(table, "sparse: mean shift", FIGURES["skm"][1], *shift, "s"),
        Row(table, "sparse: total", sum(FIGURES["skm"][:2]), *totals, "s"),
        Row(table, "full ÷ sparse", 57.0, *ratios, "×", goal=Goal("≥ 100×", ratios[1] >= 100)),
        Row(
            table,
            "k",
            "≤ 493",
            f"{min(one_step)} to {max(one_step)}",
            str(runs[1]["k"]),
            sentence=f"the one-step rule stops by accident: {len(one_step)} first centres gave "
            f"{', '.join(map(str, one_step))}",
        ),
    ]


def quality_rows(
    table: str,
    paper: tuple[Figure, Figure],
    ours: list[Values],
    best: list[Values],
    goals: bool = True,
) -> list[Row]:
    """d_i, and d_H for each merge radius: medians over the runs, their range in words."""

    def pair(value):
        return tuple(float(np.median([value(run) for run in runs])) for runs in (ours, best))

    def span(value):
        return "; ".join(
            f"{min(map(value, runs)):.3g} to {max(map(value, runs)):.3g}" for runs in (ours, best)
        )

    discrepancy = lambda run: run["d_i"]  # noqa: E731
    found = [
        Row(
            table,
            "d_i at 3σ",
            paper[0],
            *pair(discrepancy),
            sentence=f"median; runs {span(discrepancy)}",
            goal=limit(goals, pair(discrepancy)[1]),
        )
    ]
    for index, radius in enumerate(RADII):
        distance = lambda run, i=index: run["d_h"][i]  # noqa: E731
        counts = [int(np.median([run["clusters"][index] for run in runs])) for runs in (ours, best)]
        sentence = (
            f"runs {span(distance)}; {counts[0]} and {counts[1]} clusters, full "
            f"{ours[0]['reference_clusters'][index]}"
        )
        goal = limit(goals and radius == 1.0, pair(distance)[1])
        found.append(
            Row(
                table,
                f"d_H, ends merged within {radius:g}σ",
                paper[1] if radius == 1.0 else None,
                *pair(distance),
                sentence=sentence,
                goal=goal,
            )
        )
    return found


def limit(held: bool, value: float) -> Goal | None:
    """What best settings are held to."""
    return Goal("≤ 0.02", value <= 0.02) if held else None


def hashing_rows(whole: float, found: Values) -> list[Row]:
    """The paper's other contender."""
    table, (prepare, shift, discrepancy, distance) = (
        "Table 4: locality-sensitive hashing",
        FIGURES["lsh"],
    )
    total = found["prepare_s"] + found["shift_s"]
    return [
        Row(table, "preparation", prepare, found["prepare_s"], None, "s"),
        Row(
            table,
            "mean shift",
            shift,
            found["shift_s"],
            None,
            "s",
            "NumPy, one start after another: compare its quality, not its time",
        ),
        Row(table, "full ÷ LSH", 54.5, whole / total, None, "×"),
        Row(table, "d_i at 3σ", discrepancy, found["d_i"], None),
        *(
            Row(
                table,
                f"d_H, ends merged within {radius:g}σ",
                distance if radius == 1.0 else None,
                found["d_h"][i],
                None,
                sentence=f"{found['clusters'][i]} clusters, full "
                f"{found['reference_clusters'][i]}: points that stop between two clusters "
                "chain them",
            )
            for i, radius in enumerate(RADII)
        ),
    ]


def all_rows(whole: float, found: Values) -> list[Row]:
    """k-centre without a stop: all 493 centres, with projected and with exact weights."""
    table = "Table 4, all 493 centres of k-centre: projected weights, and exact ones as best"
    ours, exact, free = found["all_projected"], found["all_exact"], found["best_auto_k"]
    quality = quality_rows(table, FIGURES["skm"][2:], ours, exact, goals=False)
    total = lambda runs: min(run["prepare_s"] + run["shift_s"] for run in runs)  # noqa: E731
    weights = "with weight: {} and {} of 493".format(
        *(runs[0]["with_weight"] for runs in (ours, exact))
    )
    near = {"d_i at 3σ": 0.02, "d_H, ends merged within 1σ": 0.03}
    held = [
        replace(
            row,
            goal=Goal(
                f"near {near[row.quantity]}", abs(row.ours - near[row.quantity]) <= 0.01, "ours"
            ),
        )
        if row.quantity in near
        else row
        for row in quality
    ]
    automatic = quality_rows("Automatic k (best settings)", (None, None), free, free, goals=False)
    return [
        Row(table, "full ÷ sparse", 57.0, whole / total(ours), whole / total(exact), "×", weights),
        *held,
        Row(
            automatic[0].table,
            "full ÷ sparse",
            57.0,
            None,
            whole / total(free),
            "×",
            f"k = {free[0]['k']}, {free[0]['selection']}",
        ),
        *(replace(row, ours=None, sentence="") for row in automatic),
    ]


def median(runs: list[Values]) -> Values:
    """The run of median total time."""
    return sorted(runs, key=lambda run: run["prepare_s"] + run["shift_s"])[len(runs) // 2]
