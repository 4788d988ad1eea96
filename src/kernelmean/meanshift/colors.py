"""Images as arrays: what counts as one, values from 0 to 1, colours as the eye sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean._types import Matrix, Points

SPACES = ("rgb", "lab")  # in which colours are compared

# CIE: linear sRGB to XYZ, and the white point D65 as its row sums
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
DELTA = 6 / 29  # CIE: below DELTA³ a line takes the place of the cube root


def as_unit_values(image: ArrayLike) -> NDArray[np.float64]:
    """(rows, columns, 1 or 3) values in [0, 1].

    Integers are divided by the largest of their type, and alpha is composited over white.
    """
    A = np.asarray(image)
    if A.ndim == 2:
        A = A[:, :, None]
    if A.ndim != 3 or A.shape[2] not in (1, 2, 3, 4) or 0 in A.shape:
        raise ValueError(
            "an image has shape (rows, columns) for grey, or (rows, columns, channels) with 1 to "
            "4 channels, "
            f"got {np.shape(image)}."
        )
    V = _unit(A)
    if V.shape[2] in (2, 4):
        alpha = V[:, :, -1:]
        V = alpha * V[:, :, :-1] + (1.0 - alpha)
    return V


def _unit(A: NDArray[Any]) -> NDArray[np.float64]:
    if A.dtype == bool:
        return A.astype(np.float64)
    if A.dtype in (np.uint8, np.uint16):
        return A / float(np.iinfo(A.dtype).max)
    if A.dtype.kind != "f":
        raise TypeError(
            f"the image holds values of type {A.dtype}; give uint8, uint16, bool, or floats from "
            "0 to 1."
        )
    low = float(A.min())
    high = float(A.max())
    if not (low >= 0.0 and high <= 1.0):
        raise ValueError(
            f"an image of floats must lie between 0 and 1, but its values reach from {low:g} to "
            f"{high:g}; "
            "divide by 255 or convert to uint8."
        )
    return A.astype(np.float64)


def like(values: NDArray[np.float64], image: ArrayLike) -> NDArray[Any]:
    """Values in [0, 1] in the type of the image given, without its alpha."""
    A = np.asarray(image)
    shaped = values[:, :, 0] if A.ndim == 2 else values
    if A.dtype in (np.uint8, np.uint16):
        return np.rint(shaped * np.iinfo(A.dtype).max).astype(A.dtype)
    return shaped.astype(A.dtype if A.dtype.kind == "f" else np.float64)


def compared(values: NDArray[np.float64], space: str) -> NDArray[np.float64]:
    """(rows, columns, 1 or 3) values in [0, 1] as colours of a space; of grey ones L alone."""
    if space == "rgb":
        return values
    rows, columns, channels = values.shape
    three = lab(np.broadcast_to(values, (rows, columns, 3)).reshape(-1, 3))
    return three.reshape(rows, columns, 3)[:, :, :channels]


def lab(rgb: Points) -> Points:
    """sRGB in [0, 1] to CIE L*a*b* (D65), divided by 100.

    Distances are about those that the eye sees.
    """
    # Linear light: c/12.92 up to .04045, then ((c + .055)/1.055)^2.4.
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    # f(t) = t^{1/3} above δ³, below it the tangent t/(3δ²) + 4/29
    t = linear @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    x, y, z = np.where(t > DELTA**3, np.cbrt(t), t / (3 * DELTA**2) + 4 / 29).T
    # L = 116 f(Y) − 16,  a = 500 (f(X) − f(Y)),  b = 200 (f(Y) − f(Z))
    found: Matrix = np.stack([1.16 * y - 0.16, 5.0 * (x - y), 2.0 * (y - z)], axis=1)
    return found
