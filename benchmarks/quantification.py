"""Class proportions beside QuaPy's methods: ``python -m benchmarks.quantification [tables] [--only
NAME …] [--cache FILE] [--output FILE]``.

``ClassProportions(random_state=0)`` as it is by default, on sets that no rule was chosen on;
`benchmarks.quantification_peers` says how peers get their posteriors. The tables are on the page of
`benchmarks.proportions`. Time and size are in `benchmarks.quantification_time`, intervals and
tests in `benchmarks.quantification_doubt`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import kernelmean as km
from benchmarks import quantification_doubt, quantification_sets, quantification_time
from benchmarks import quantification_peers as peers
from benchmarks.measuring import Row, machine, table
from benchmarks.quantification_peers import CACHE, OWN, Posteriors
from benchmarks.quantification_sets import REPORT, TUNING, Split
from benchmarks.tables import AbsentError
from kernelmean.proportions.families import families
from kernelmean.proportions.pooling import CalibratedPool

OURS = "kernelmean"
CHOSEN = "our"  # the name of the classifier that our estimator chose
SINGLE = 0.97  # of the error of the best single peer, in the geometric mean
WORST = 1.1  # times the error of the best of all on a set
SHOWN = ("EMQ", "KDEyML")  # QuaPy's best as a rule: on each line with both classifiers


def chosen(model: km.ClassProportions, split: Split) -> Posteriors:
    """Posteriors of the classifier that our estimator chose, out of fold for the training rows."""
    pool = model.classifier_
    if pool is None:
        raise AbsentError("our estimator chose the features: it has no posteriors to give")
    return Posteriors(pool.out_of_fold_, pool.predict_proba(split.pool))


@cache
def ours(name: str) -> km.ClassProportions:
    """Our estimator, fitted on a set."""
    split = quantification_sets.load(name)
    return quantification_doubt.ours(split.X, split.y)


@cache
def errors(name: str, kept: Path = CACHE) -> dict[str, float]:
    """The mean absolute error of ours and of each peer with either classifier."""
    split = quantification_sets.load(name)
    samples = peers.drawn(split.pool_labels)
    model = ours(name)
    estimates = model.predict([split.pool[sample.rows] for sample in samples])
    found = {OURS: float(peers.absolute_errors(samples, estimates).mean())}
    for who, P in ((OWN, peers.by_default(split)), (CHOSEN, chosen(model, split))):
        theirs = peers.errors(name, who, P, split, samples, kept)
        found |= {entry(method, who): error for method, error in theirs.items()}
    return found


def entry(method: str, who: str) -> str:
    return f"{method}, {who} classifier"


def by_set(names: Iterable[str] = tuple(REPORT), kept: Path = CACHE) -> list[Row]:
    """Our error over that of the best of all peers, on each set."""
    rows = []
    for name in names:
        try:
            found = errors(name, kept)
        except AbsentError as reason:
            rows.append(Row(name, None, "–", f"skipped: {reason}"))
            continue
        split = quantification_sets.load(name)
        case = f"{name}, {len(split.X)} × {split.X.shape[1]}, {split.classes} classes"
        best = _best(found)
        words = [f"kernelmean {_digits(found[OURS])}", f"best {best} {_digits(found[best])}"]
        words += [f"{method} {_both(found, method)}" for method in SHOWN]
        rows.append(Row(case, found[OURS] / found[best], f"≤ {WORST}", "; ".join(words)))
    return rows


def _best(found: dict[str, float]) -> str:
    return min((who for who in found if who != OURS), key=lambda who: found[who])


def _both(found: dict[str, float], method: str) -> str:
    """An error with either classifier."""
    return " and ".join(_digits(found[entry(method, who)]) for who in (OWN, CHOSEN))


def _digits(error: float) -> str:
    return f"{error:.4f}"


def summary(names: Iterable[str] = tuple(REPORT), kept: Path = CACHE) -> list[Row]:
    """The goals, then the mean rank of each method and its error relative to ours."""
    figures = {name: found for name in names if (found := _unless_absent(name, kept))}
    if not figures:
        return [Row("all", None, "–", "no set or no QuaPy here")]
    entries = list(next(iter(figures.values())))
    E = np.array([[found[who] for who in entries] for found in figures.values()])
    ranks = dict(zip(entries, rankdata(E, axis=1).mean(axis=0), strict=True))
    relative = dict(zip(entries, np.exp(np.log(E / E[:, :1]).mean(axis=0)), strict=True))
    lines = [
        Row(who, f"{ranks[who]:.2f}", "–", f"{relative[who]:.3f} × our error")
        for who in sorted(entries, key=lambda who: ranks[who])
    ]
    return [*_goals(figures, ranks, relative), *lines]


def _unless_absent(name: str, kept: Path) -> dict[str, float]:
    try:
        return errors(name, kept)
    except AbsentError:
        return {}


def _goals(
    figures: dict[str, dict[str, float]], ranks: dict[str, float], relative: dict[str, float]
) -> list[Row]:
    others = [who for who in ranks if who != OURS]
    second, single = (min(others, key=scores.__getitem__) for scores in (ranks, relative))
    worst = {name: found[OURS] / found[_best(found)] for name, found in figures.items()}
    where = max(worst, key=worst.__getitem__)
    return [
        Row(
            f"our mean rank among {len(ranks)} on {len(figures)} sets",
            f"{ranks[OURS]:.2f}",
            f"< {ranks[second]:.2f}",
            f"the best other one is {second}",
        ),
        Row(
            "our error over that of the best single peer, geometric mean",
            1.0 / relative[single],
            f"≤ {SINGLE}",
            single,
        ),
        Row("our error over that of the best of all, largest", worst[where], f"≤ {WORST}", where),
    ]


def best_family(names: Iterable[str] = tuple(REPORT), kept: Path = CACHE) -> list[Row]:
    """Peers with the best single family of our pool, calibrated: what pooling alone is worth."""
    ratios: dict[str, list[float]] = {method: [] for method in SHOWN}
    chosen_families = []
    for name in names:
        errors_here = _unless_absent(name, kept)
        if not errors_here:
            continue
        split = quantification_sets.load(name)
        family, P = alone(ours(name).classifier_, split)
        chosen_families.append(f"{name} {family}")
        samples = peers.drawn(split.pool_labels)
        found = peers.errors(name, f"our {family}", P, split, samples, kept, SHOWN)
        for method in SHOWN:
            ratios[method].append(found[method] / errors_here[OURS])
    means = {method: float(np.exp(np.mean(np.log(found)))) for method, found in ratios.items()}
    return [
        Row(
            f"our error over that of {method} with the best of our families",
            1.0 / means[method],
            f"≤ {SINGLE}",
            f"geometric mean; {', '.join(chosen_families)}",
        )
        for method in SHOWN
    ]


def alone(pool: CalibratedPool, split: Split) -> tuple[str, Posteriors]:
    """The family of our pool with the least loss, and its posteriors, calibrated in our way."""
    name = min(pool.losses_, key=pool.losses_.__getitem__)
    tried = families(split.X, split.classes, pool.random_state)
    classifier = next(family for family in tried if family.name == name).make()
    one = CalibratedPool(classifier, random_state=pool.random_state).fit(split.X, split.y)
    return name, Posteriors(one.out_of_fold_, one.predict_proba(split.pool))


# What the tables on the page need said; `benchmarks.proportions` writes it.
NOTE = (
    "Proportions beside QuaPy: mean absolute errors over "
    f"{peers.PREVALENCES} prevalences by its protocol UPP, samples of {peers.SIZE} rows "
    f"({peers.SMALL_SIZE} from a pool of fewer than {peers.SMALL_POOL}). Peers have their default "
    f'parameters and two classifiers: "{OWN}" is QuaPy\'s default, `LogisticRegression()`, and '
    f'"{CHOSEN}" the calibrated one that kernelmean chose, with the same out-of-fold posteriors. '
    'Two errors of one method are in this order. "One family" gives peers, of the classifiers '
    "that kernelmean pooled, the best one alone, calibrated in the same way. Rules of ours were "
    f"chosen on other sets: {', '.join(TUNING)}."
)
TABLES: dict[str, Callable[[], list[Row]]] = {
    "Proportions beside QuaPy, set by set": by_set,
    "Proportions beside QuaPy, mean ranks": summary,
    "Proportions beside QuaPy, one family": best_family,
    "Time with the same classifier": quantification_time.same_classifier,
    "A million training rows": quantification_time.large,
    "Coverage of intervals": quantification_doubt.coverage,
    "Goodness of fit": quantification_doubt.goodness,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help='"sets", "ranks", "family"; all if none')
    parser.add_argument("--tuning", action="store_true", help="the sets for tuning instead")
    parser.add_argument("--only", nargs="+", help="some sets by name")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where peers are kept")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    some = tuple(options.only or (TUNING if options.tuning else REPORT))
    parts = {
        "sets": lambda: by_set(some, options.cache),
        "ranks": lambda: summary(some, options.cache),
        "family": lambda: best_family(some, options.cache),
    }
    if unknown := set(options.names) - set(parts):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(parts)}")
    pieces = [f"Measured on: {machine()}\n"]
    for name, measure in parts.items():
        if not options.names or name in options.names:
            pieces.append(table(name, measure()))
            print(pieces[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(pieces))


if __name__ == "__main__":
    main()
