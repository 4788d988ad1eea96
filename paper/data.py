"""The data sets of the paper and their stand-ins: from a folder, or from OpenML if public.

Folder: ``benchmark11/<name>.npz`` (X, y), ``mnist/*.gz`` (the four idx files),
``flow_<name>/flow_<name>.npz`` (X, offsets and labels) and
``images/mondrian_composition_a_487x500.npz`` (rgb).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BENCHMARKS = (
    "banana",
    "image",
    "ringnorm",
    "breast-cancer",
    "heart",
    "thyroid",
    "diabetes",
    "german",
    "twonorm",
    "waveform",
    "iris",
)
OPENML = {  # name and version there
    "banana": ("banana", 1),
    "ringnorm": ("ringnorm", 1),
    "breast-cancer": ("breast-cancer", 1),
    "heart": ("heart-statlog", 1),
    "thyroid": ("thyroid-new", 1),
    "diabetes": ("diabetes", 1),
    "german": ("credit-g", 1),
    "twonorm": ("twonorm", 1),
    "waveform": ("waveform-5000", 1),
    "iris": ("iris", 1),
}
AGAINST_THE_REST = ("thyroid", "waveform")  # the benchmark has two classes there, OpenML three
FLOW = {"lakes36": "36 samples of lake water", "itn15": "15 samples of blood"}


class Missing(Exception):
    """A data set that is not in the folder and cannot be fetched, in one sentence."""


class Flow(NamedTuple):
    """Samples of flow cytometry on the scale that suits their channels."""

    name: str
    samples: list[np.ndarray]  # (n_l, d) each
    groups: list[str]  # water, or group of patients
    families: list[str]  # lake, or group of patients


class Digits(NamedTuple):
    """MNIST: pixels from 0 to 1."""

    X: np.ndarray  # (60000, 784)
    y: np.ndarray
    X_test: np.ndarray  # (10000, 784)
    y_test: np.ndarray


@dataclass(frozen=True)
class Source:
    """Where data comes from."""

    folder: Path | None = None

    def benchmark(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """One of the 11 sets, z-scored, with its labels."""
        path = self._file("benchmark11", f"{name}.npz")
        if path is not None:
            with np.load(path, allow_pickle=False) as file:
                return file["X"].astype(np.float64), file["y"]
        if name not in OPENML:
            raise Missing(
                f"{name} is not on OpenML with the two classes of the benchmark; give its folder "
                "as DATA."
            )
        X, y = fetched(*OPENML[name])
        labels = np.unique(y, return_inverse=True)[1]
        return scored(X), np.minimum(labels, 1) if name in AGAINST_THE_REST else labels

    def mnist(self) -> Digits:
        """Training and test images."""
        if self._file("mnist") is not None:
            return Digits(*(part for kind in ("train", "t10k") for part in self._idx(kind)))
        X, y = fetched("mnist_784", 1)
        X, y = X / 255.0, y.astype(int)
        return Digits(X[:60_000], y[:60_000], X[60_000:], y[60_000:])

    def flow(self, name: str) -> Flow:
        """``lakes36`` by arcsinh; ``itn15`` by log10 of the markers.

        Light scatter is divided by 256 channels, as many as a decade has.
        """
        path = self._file(f"flow_{name}", f"flow_{name}.npz")
        if path is None:
            raise Missing(
                f"flow_{name} ({FLOW[name]}) is on no server that scikit-learn knows; give its "
                "folder as DATA."
            )
        with np.load(path, allow_pickle=False) as file:
            X, offsets = file["X"].astype(np.float64), file["offsets"]
            groups, families = (
                (file["water"], file["lake"]) if "water" in file else (file["group"], file["group"])
            )
        X = (
            np.arcsinh(X)
            if name == "lakes36"
            else np.column_stack([X[:, :2] / 256.0, np.log10(X[:, 2:])])
        )
        return Flow(
            name, [X[a:b] for a, b in pairwise(offsets)], groups.tolist(), families.tolist()
        )

    def mondrian(self) -> np.ndarray:
        """(487, 500, 3) uint8."""
        path = self._file("images", "mondrian_composition_a_487x500.npz")
        if path is None:
            raise Missing(
                "The Mondrian image is on no server that scikit-learn knows; give its folder as "
                "DATA."
            )
        with np.load(path, allow_pickle=False) as file:
            return file["rgb"]

    def _file(self, *parts: str) -> Path | None:
        path = None if self.folder is None else self.folder.joinpath(*parts)
        return path if path is not None and path.exists() else None

    def _idx(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        def read(name: str, skip: int) -> np.ndarray:
            return np.frombuffer(
                gzip.decompress((self.folder / "mnist" / name).read_bytes()), np.uint8, offset=skip
            )

        y = read(f"{kind}-labels-idx1-ubyte.gz", 8)
        return read(f"{kind}-images-idx3-ubyte.gz", 16).reshape(len(y), 784) / 255.0, y.astype(int)


def fetched(name: str, version: int) -> tuple[np.ndarray, np.ndarray]:
    """A set from OpenML as numbers, rows with gaps dropped.

    What is text is coded in sorted order.
    """
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml(name, version=version, as_frame=True, parser="auto")
    except (OSError, ValueError) as error:
        raise Missing(
            f"{name} could not be fetched from OpenML ({type(error).__name__}); give its folder "
            "as DATA."
        ) from error
    frame = found.data.copy()
    frame["__target__"] = found.target
    frame = frame.dropna()
    coded = np.column_stack(
        [codes(frame[column]) for column in frame.columns if column != "__target__"]
    )
    return coded, frame["__target__"].to_numpy()


def codes(column: Any) -> np.ndarray:
    """Numbers as they are, categories by their rank."""
    values = column.to_numpy()
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return np.unique(values.astype(str), return_inverse=True)[1].astype(np.float64)


def scored(X: np.ndarray) -> np.ndarray:
    """Mean 0 and sample standard deviation 1, as the benchmark has them.

    Constant columns are dropped.
    """
    spread = X.std(axis=0, ddof=1)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]
