"""What is done to every value that is read: nothing, arcsinh(x/c), or the logarithm.

The second is usual for cytometry.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kernelmean._types import Points

KINDS = "arcsinh:150 (any positive number), log or none"


class Transform(NamedTuple):
    """x ↦ arcsinh(x/cofactor), or log x."""

    kind: str
    cofactor: float = 1.0

    def __call__(self, X: Points) -> Points:
        """The transformed values; log x is not finite for x ≤ 0."""
        if self.kind == "arcsinh":
            stretched: Points = np.arcsinh(X / self.cofactor)
            return stretched
        with np.errstate(divide="ignore", invalid="ignore"):
            logged: Points = np.log(X)
        return logged

    def inverse(self, Y: Points) -> Points:
        """The values that the transform takes to these; ∞ where a float does not hold them."""
        with np.errstate(over="ignore"):
            if self.kind == "arcsinh":
                # x = c·sinh y
                shrunk: Points = self.cofactor * np.sinh(Y)
                return shrunk
            raised: Points = np.exp(Y)
        return raised

    def __str__(self) -> str:
        return self.kind if self.kind == "log" else f"arcsinh:{self.cofactor:.15g}"


def parse(text: str | None) -> Transform | None:
    """``"arcsinh:150"``, ``"arcsinh"`` (c = 1), ``"log"``, ``"none"`` or None."""
    if text is None or text == "none":
        return None
    kind, colon, number = text.partition(":")
    if kind == "log" and not colon:
        return Transform("log")
    if kind == "arcsinh":
        try:
            cofactor = float(number) if colon else 1.0
        except ValueError:
            cofactor = math.nan
        if 0.0 < cofactor < math.inf:
            return Transform("arcsinh", cofactor)
    raise ValueError(f"unknown transform {text!r}; choose {KINDS}.")
