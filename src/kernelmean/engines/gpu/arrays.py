"""Transfers and number formats, in one place: what comes in, what it becomes on the device, what
goes out.

Points keep the precision they come in (float64 from the host; float32 or float64 on a device,
without a copy). Exact operations read them as float64. Single-precision sums read a copy rounded to
float32 *about the middle of the data* and in units of the kernel's own length, so that neither an
offset nor a rate costs digits; coordinates have an error of 2⁻²⁴ of their distance from the middle,
and where that is too much they come in two parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import Vector

Tensor: TypeAlias = torch.Tensor
Rest: TypeAlias = tuple[
    Tensor, Tensor
]  # the second parts of points and of queries, in columns like their first

PADDING = 512  # points are padded to a multiple of this, with weight zero
GRID = (
    2.0**-9
    # lengths of the kernel: squares of up to 32 of multiples of it add up without rounding in
    # float32
)
FARTHEST = (
    2.0**55
    # in units of the kernel's length; squares of as many as 1024 such coordinates stay finite in
    # float32
)


def take_in(X: Any, name: str, columns: int | None) -> Tensor:
    """A table on a device as a tensor, without a copy; checked there."""
    try:
        A: Tensor = X.detach() if torch.is_tensor(X) else torch.from_dlpack(X)
    except (RuntimeError, BufferError, AssertionError) as error:
        raise ValueError(
            f"{name} is on a device that torch cannot read ({error}); copy it to the host first."
        ) from error
    _checks.table_shape(A.shape, name, columns)
    if A.is_complex():
        raise TypeError(f"{name} holds complex numbers, but real numbers are needed.")
    A = A if A.dtype in (torch.float32, torch.float64) else A.to(torch.float64)
    low, high = (float(extreme) for extreme in torch.aminmax(A))
    if not (math.isfinite(low) and math.isfinite(high)):
        bad = A.numel() - int(torch.isfinite(A).sum())
        raise ValueError(
            f"{name} holds NaN or infinite values ({bad} of {A.numel()} entries); remove or "
            "impute them first."
        )
    _checks.within_reach(low, high, name)
    return A


def to_device(X: Any, device: torch.device) -> Tensor:
    """A checked array on the engine's device; host arrays are float64."""
    if torch.is_tensor(X):
        return X.to(device)
    # A copy, since an axis of one entry may keep its negative step in a contiguous array.
    A = np.array(X, order="C") if any(step < 0 for step in X.strides) else X
    return torch.from_numpy(A if A.flags.writeable else np.asarray(_Unlocked(A))).to(device)


class _Unlocked:
    """The memory of a read-only array, without its mark: nothing here writes to it, but torch would
    warn.

    Filters of warnings belong to the process: two threads that each change and restore them can
    leave them changed.
    """

    def __init__(self, A: np.ndarray[Any, Any]) -> None:
        self._owner = A  # its memory must outlive the view
        interface = A.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def to_host(A: Tensor) -> np.ndarray[Any, Any]:
    """What leaves the point cloud is NumPy."""
    return A.cpu().numpy()


def double_columns(X: Tensor, padding: int = PADDING) -> Tensor:
    """(d, n padded) in float64: coordinate by coordinate, the first point repeated at the end."""
    n, d = X.shape
    columns = torch.empty((d, padded(n, padding)), dtype=torch.float64, device=X.device)
    columns[:, :n] = X.T
    columns[:, n:] = X[0].to(torch.float64)[:, None]
    return columns


class Frame(NamedTuple):
    """Where single precision measures from, and in which unit: y = unit · (x − origin)."""

    origin: Tensor  # (d,) float64
    unit: float

    @property
    def squared_unit(self) -> float:
        return self.unit * self.unit

    def columns(self, X: Tensor, padding: int = PADDING) -> Tensor:
        """(d, n padded) in float32: y, rounded."""
        return self._filled(X, padding, self._coordinate)

    def scaled(self, X: Tensor, factors: Tensor, padding: int = PADDING) -> Tensor:
        """(d, n padded) in float32: y times the factor of each point (n,), rounded once."""
        exact = factors.double()
        return self._filled(X, padding, lambda X, t: exact * self._coordinate(X, t))

    def split(self, X: Tensor, padding: int = PADDING) -> tuple[Tensor, Tensor]:
        """y in two parts, (d, n padded) in float32 each: multiples of GRID, and the rest."""
        high = self._filled(X, padding, lambda X, t: (self._coordinate(X, t) / GRID).round() * GRID)
        return high, self._filled(
            X, padding, lambda X, t: self._coordinate(X, t) - high[t, : len(X)].double()
        )

    def _coordinate(self, X: Tensor, t: int) -> Tensor:
        return ((X[:, t].to(torch.float64) - self.origin[t]) * self.unit).clamp(-FARTHEST, FARTHEST)

    def _filled(
        self, X: Tensor, padding: int, coordinate: Callable[[Tensor, int], Tensor]
    ) -> Tensor:
        n, d = X.shape
        columns = torch.empty((d, padded(n, padding)), dtype=torch.float32, device=X.device)
        for t in range(d):  # a column at a time: no float64 copy of the whole
            columns[t, :n] = coordinate(X, t)
        columns[:, n:] = columns[:, :1]
        return columns


class Rounded:
    """The points as float32 columns for one kernel."""

    def __init__(self, frame: Frame, X: Tensor, roots: Tensor | None = None) -> None:
        self.frame = frame
        self._X = X
        self._roots = roots  # (n,) the factors F of atoms, as float32 has them

    @lazy
    def columns(self) -> Tensor:
        """Rounded, for the plain loop."""
        return self.frame.columns(self._X)

    @lazy
    def mirrored(self) -> Tensor:
        """−F_a c_a of atoms, rounded, for the plain loop in few dimensions."""
        assert self._roots is not None, "there are atoms"
        return self.frame.scaled(self._X, -self._roots)

    @lazy
    def split(self) -> tuple[Tensor, Tensor]:
        """In two parts, for the careful one."""
        return self.frame.split(self._X)

    @lazy
    def largest(self) -> float:
        """The largest squared norm."""
        return float((self.columns * self.columns).sum(dim=0).max())


def middle(X: Tensor) -> Tensor:
    """A point amid the sample, whatever a few far ones do: the medians of at most 16384 rows."""
    return X[:: max(1, len(X) // 8192)].to(torch.float64).median(dim=0).values


def padded(n: int, padding: int) -> int:
    """The least multiple of ``padding`` that holds n."""
    return -(-n // padding) * padding


def spread(w: Tensor, n: int, dtype: torch.dtype, fill: float = 0.0) -> Tensor:
    """(c, n padded): columns of weights, ``fill`` where there are no points."""
    rows = torch.full((w.shape[1], n), fill, dtype=dtype, device=w.device)
    rows[:, : len(w)] = w.T
    return rows


def vector(w: Vector | Tensor, device: torch.device) -> Tensor:
    """Weights in float64 on the device."""
    return to_device(w, device).to(torch.float64)
