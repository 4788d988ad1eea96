"""Embedding of distributions by Kullback–Leibler divergences (Table 2, Figs. 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.embedding.distances import Comparison
from kernelmean.fitting.recipe import Recipe
from paper import embedding
from paper.data import Missing
from paper.embedding import BEST, FEW, PAPER, SETS, timed, timed_on_all_cores
from paper.experiment import Claim, Desk, Experiment, Goal, Parts, Picture, Row, Values, values_of
from paper.generators import GENERATORS

PIECES = {"lakes36": 3, "itn15": 1}  # of the full matrix, each some minutes
HELD_OUT = {
    "lakes36": 1000,
    "itn15": 5000,
}  # points of each second half that the sweep averages over
REMARKS = {
    "lakes36": "",
    "itn15": "halves of 5000 points: the full matrix takes seconds; ",
}  # on what differs
FIGURES = {"full": 2.18 * 3600, "selection": 5 * 60.0, "distances": 2 * 60.0}
RANGES = {"share": (0.22, 0.9), "selection_s": (60.0, 7.25 * 60), "distances_s": (35.0, 160.0)}
SETTINGS: dict[str, tuple[str | None, dict[str, Any]]] = {  # None: the library's own densities
    "paper": ("simplex-projection", PAPER),
    "exact": ("simplex", PAPER),
    "best": (None, FEW),
    "many": (None, BEST),
}


def split(samples: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The halves that densities are fitted on, and those that divergences are averaged over."""
    # By the seed that the stored full matrices were made with.
    orders = [np.random.default_rng(0).permutation(len(X)) for X in samples]
    cuts = [(len(X) + 1) // 2 for X in samples]
    pairs = list(zip(samples, orders, cuts, strict=True))
    return [X[order[:cut]] for X, order, cut in pairs], [X[order[cut:]] for X, order, cut in pairs]


def made(samples: Sequence[np.ndarray], setting: str) -> Recipe:
    """Densities: L2, weights on the simplex."""
    constraint, options = SETTINGS[setting]
    if constraint is None:
        return embedding.recipe(samples, **options).for_densities()
    return replace(embedding.recipe(samples, constraint=constraint, **options), space="l2")


def fit(
    samples: Sequence[np.ndarray], recipe: Recipe, most: int | None = None
) -> tuple[float, float, list[Any], np.ndarray]:
    """Densities on the first halves, then d(p, q) = D(p|q) + D(q|p) over the second halves.

    Of these it may be some points only.
    """
    first, second = split(samples)
    second = [X[:most] for X in second]
    selecting, means = timed(lambda: recipe.means(embedding.checked(first)))
    comparing, (D, _) = timed(
        lambda: Comparison("kl", recipe, means, embedding.checked(second)).distances()
    )
    return selecting, comparing, means, D


def full_logs(name: str, piece: int, desk: Desk) -> Values:
    """The mean over each second half of log f_b, for every so manyth full density f_b."""
    samples = desk.source.flow(name).samples
    first, second = split(samples)
    recipe = Recipe(embedding.recipe(samples).kernel, None, space="l2", sparse=False)
    models = {
        b: recipe.mean(embedding.checked([first[b]])[0])
        for b in range(piece, len(samples), PIECES[name])
    }
    Q, sizes = np.concatenate(second), np.array([len(X) for X in second])
    for model in models.values():
        model.log(Q[:10])  # compiles and loads
    starts = np.cumsum(sizes) - sizes
    spent, logs = timed_on_all_cores(
        lambda: {
            str(b): (np.add.reduceat(model.log(Q), starts) / sizes).tolist()
            for b, model in models.items()
        }
    )
    return {"seconds": spent, "logs": logs, "bandwidth": recipe.kernel.length}


def full_matrix(name: str, parts: Parts) -> tuple[np.ndarray, float]:
    """D(a|b) = mean over a of log f_a − log f_b, both directions added, and the seconds of all."""
    names = [f"{name}_full_{piece}" for piece in range(PIECES[name])]
    if absent := [part for part in names if part not in parts]:
        raise Missing(f"{name} needs its part {absent[0]} first.")
    logs = {int(b): column for part in names for b, column in parts[part]["logs"].items()}
    M = np.column_stack([logs[b] for b in range(len(logs))])
    divergences = np.diag(M)[:, None] - M
    return np.maximum(divergences + divergences.T, 0.0), sum(
        parts[part]["seconds"] for part in names
    )


def sparse(name: str, desk: Desk) -> Values:
    """Sparse densities by projection as in the paper, by exact weights, and with best settings.

    They are compared with the full matrix.
    """
    flow = desk.source.flow(name)
    D, _ = full_matrix(name, values_of("embedding_kl", desk.results))
    fit(flow.samples[:2], made(flow.samples, "best"))  # compiles
    run = partial(fit, flow.samples)
    found = {
        setting: embedding.repeated(run, made(flow.samples, setting), D, flow.groups)
        for setting in SETTINGS
    }
    full = {
        "coordinates": np.round(embedding.embedded(D), 5).tolist(),
        "same_group": embedding.replicates(D, flow.groups),
    }
    return {**found, "full": full, "groups": flow.groups, "sizes": [len(X) for X in flow.samples]}


def sweep(name: str, setting: str, piece: int, desk: Desk) -> Values:
    """Ten runs for every ε, fewer with best settings.

    D₀ times are scaled from the points that are averaged over to all.
    """
    samples = desk.source.flow(name).samples
    recipe, sizes = made(samples, setting), [(len(X) + 1) // 2 for X in samples]
    D = fit(samples, replace(recipe, sparse=False), HELD_OUT[name])[3]
    fit(samples[:2], recipe)  # compiles
    runs = embedding.RUNS if setting == "paper" else embedding.BEST_RUNS
    rows = embedding.sweep(
        partial(fit, samples, most=HELD_OUT[name]), recipe, D, sizes, piece, runs
    )
    whole = sum(len(X) // 2 for X in samples) / sum(
        min(len(X) // 2, HELD_OUT[name]) for X in samples
    )
    return {"rows": [{**row, "distances_s": whole * row["distances_s"]} for row in rows]}


def rows(parts: Parts) -> list[Row]:
    """Table 2 and the figures' numbers, for each data set."""
    return embedding.rows_of_both(parts, table_rows, ("Table 2, Fig. 3", "Fig. 4"), RANGES)


def table_rows(table: str, name: str, parts: Parts) -> list[Row]:
    """Times, their ratio, the embedding's faithfulness.

    k-centre with exact weights is in the sentences.
    """
    part, (_, seconds) = parts[f"{name}_sparse"], full_matrix(name, parts)
    paper, exact, best, many = (part[setting] for setting in SETTINGS)
    totals = [each["selection_s"] + each["distances_s"] for each in (paper, best)]
    theirs = FIGURES["selection"] + FIGURES["distances"]
    slower = seconds / (many["selection_s"] + many["distances_s"])
    beside = {
        key: f"k-centre with exact simplex weights: {exact[key]:.3g}; best settings with up to "
        f"3√n centres: {many[key]:.3g}"
        for key in ("relative_error", "unexplained", "same_group")
    }
    return [
        Row(
            table,
            "full: D",
            FIGURES["full"],
            seconds,
            None,
            "s",
            "densities on one half of "
            f"{sum(part['sizes'])} points, averaged over the other; "
            f"σ = {parts[f'{name}_full_0']['bandwidth']:.3g}",
        ),
        Row(
            table,
            "sparse: selection and weights",
            FIGURES["selection"],
            paper["selection_s"],
            best["selection_s"],
            "s",
            "fastest of three runs",
        ),
        Row(
            table, "sparse: D", FIGURES["distances"], paper["distances_s"], best["distances_s"], "s"
        ),
        Row(table, "sparse: total", theirs, *totals, "s"),
        Row(
            table,
            "full ÷ sparse",
            18.7,
            seconds / totals[0],
            seconds / totals[1],
            "×",
            f"{REMARKS[name]}best settings with up to 3√n centres: {slower:.3g}×",
            Goal("≥ 20×", seconds / totals[1] >= 20),
        ),
        Row(
            table,
            "k₀ over the samples",
            None,
            *(f"{min(each['k'])} to {max(each['k'])}" for each in (paper, best)),
            sentence="centres with weight: {} to {}; {} to {}".format(
                *(edge(each["with_weight"]) for each in (paper, best) for edge in (min, max))
            ),
        ),
        Row(
            table,
            "‖D − D₀‖/‖D‖",
            None,
            paper["relative_error"],
            best["relative_error"],
            sentence=beside["relative_error"],
        ),
        Row(
            table,
            "1 − R² after Procrustes",
            None,
            paper["unexplained"],
            best["unexplained"],
            sentence=beside["unexplained"],
        ),
        Row(
            table,
            "nearest sample is of the same group",
            None,
            paper["same_group"],
            best["same_group"],
            sentence=f"{part['full']['same_group']:.3g} with full densities; "
            f"{beside['same_group']}",
        ),
    ]


def draw(parts: Parts, folder: Path) -> list[Picture]:
    """Figs. 3 and 4."""
    title = "ISOMAP of Kullback–Leibler divergences: full (circles) and sparse (dots)"
    return embedding.draw_all(
        parts, folder, ("embedding_kl", title, "Kullback–Leibler divergences"), ("Fig. 3", "Fig. 4")
    )


def claims() -> list[Claim]:
    """On Breiman's generators: four samples of each of three laws, three coordinates."""
    rng = np.random.default_rng(0)
    groups = [name for name in GENERATORS for _ in range(4)]
    samples = [GENERATORS[name](2000, rng)[0][:, 5:8] for name in groups]
    D = fit(samples, replace(made(samples, "best"), sparse=False))[3]
    paper, exact, best = (
        embedding.judged(D, fit(samples, made(samples, setting))[3], groups)
        for setting in ("paper", "exact", "best")
    )
    errors = [each["relative_error"] for each in (paper, exact, best)]
    return [
        Claim(
            "sparse divergences are near the full ones with best settings",
            errors[2] < 0.05,
            f"{errors[2]:.2g}",
        ),
        Claim(
            "exact simplex weights come nearer than projected ones",
            errors[1] < errors[0],
            f"{errors[1]:.2g} against {errors[0]:.2g}",
        ),
        Claim(
            "the sparse embedding is the full one, 1 − R² < 1 %",
            best["unexplained"] < 0.01,
            f"{best['unexplained']:.2g}",
        ),
    ]


EXPERIMENT = Experiment(
    "embedding_kl",
    "Euclidean embedding of distributions, Kullback–Leibler divergence of densities",
    """As before, with the symmetrised Kullback–Leibler divergence between kernel density
estimates in place of the distance in the RKHS: every sample is split at random, densities are
fitted on the first halves and log-ratios averaged over the second. Centres: at most the largest
integer below 3√n of the half that is fitted, ε = 1e-10. The paper's settings: k-centre, stop at
the first small step, coefficients (optimal in L2) projected on the simplex. Best settings:
`selection="auto"`, `patience=10`, exact nonnegative weights in L2, at most 150 centres as before
(not tried with other limits); the defaults, up to 3√n centres, and k-centre with exact weights,
are named in the last column. The sweep over ε averages over 1000 points of each second half of
`flow_lakes36`; its D₀ times are scaled to all of them.""",
    {
        **{
            f"{name}_full_{piece}": partial(full_logs, name, piece)
            for name in SETS
            for piece in range(PIECES[name])
        },
        **{f"{name}_sparse": partial(sparse, name) for name in SETS},
        **{
            f"{name}_sweep_{piece}": partial(sweep, name, "paper", piece)
            for name in SETS
            for piece in range(embedding.PIECES)
        },
        **{
            f"{name}_sweep_best_{piece}": partial(sweep, name, "many", piece)
            for name in SETS
            for piece in range(embedding.PIECES)
        },
    },
    rows,
    draw,
    claims,
    kept=frozenset(f"lakes36_full_{piece}" for piece in range(PIECES["lakes36"])),
)
