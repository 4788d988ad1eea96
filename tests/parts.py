"""Parts of a sample in this process, to test what combines them: kept, read anew each time, or
losing their memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelmean.engines.parts import PointCloud
from kernelmean.engines.parts.part import Part
from kernelmean.engines.parts.part_index import PartIndex

KINDS = ("kept", "lean", "forgetful")


class Beside:
    """Parts side by side; "forgetful" ones forget all traversals after every third question."""

    def __init__(self, parts: list[Part], kind: str) -> None:
        self._parts, self._kind, self._asked = parts, kind, 0
        self.sizes = np.array([len(part.X) for part in parts])
        self.dimension = parts[0].X.shape[1]

    def each(self, question: str, *arguments: Any, own: Any = None) -> list[Any]:
        self._asked += 1
        further = [()] * len(self._parts) if own is None else own
        answers = [
            None if mine is None else getattr(part, question)(*arguments, *mine)
            for part, mine in zip(self._parts, further, strict=True)
        ]
        for i, part in enumerate(self._parts):
            if self._kind == "lean":
                self._parts[i] = Part(part.X, part.weights, part.engine, part.known, lean=True)
            elif self._kind == "forgetful" and self._asked % 3 == i % 3:
                part.known.clear()
        return answers


def cloud_of_parts(
    engine: Any, X: np.ndarray, cuts: Any, weights: Any = None, kind: str = "kept"
) -> PointCloud:
    """The point cloud of X cut in parts before the rows ``cuts``."""
    pieces = [rows for rows in np.split(np.arange(len(X)), sorted(cuts)) if len(rows)]
    parts = [
        Part(X[rows], None if weights is None else weights[rows], engine, lean=kind == "lean")
        for rows in pieces
    ]
    return PointCloud(PartIndex(Beside(parts, kind)))
