"""Coordinates of samples as frames, with the names of samples and of columns."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

import numpy as np

from kernelmean._types import Matrix, Points

OUTPUTS = ("default", "pandas", "polars")

StringVector: TypeAlias = np.ndarray[Any, np.dtype[np.object_]]


def feature_names(coordinates: Points | None, samples: list[Any]) -> StringVector:
    """The names of the coordinates, or of the distances to each sample where there are none."""
    if coordinates is None:
        return np.array([f"distance_{name}" for name in samples], dtype=object)
    return np.array(
        [f"distributionembedding{j}" for j in range(coordinates.shape[1])], dtype=object
    )


def frame(values: Points | Matrix, kind: str, rows: list[Any], columns: StringVector) -> Any:
    """A frame of pandas, whose index has the names of the rows, or of polars, which has none."""
    library = importlib.import_module(kind)
    if kind == "pandas":
        return library.DataFrame(values, index=rows, columns=columns)
    return library.DataFrame(values, schema=columns.tolist(), orient="row")
