"""A sample on a device: a torch tensor that no function copies to the host unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud, Summary
from kernelmean.engines.gpu import Engine as DeviceEngine
from kernelmean.engines.gpu.arrays import Tensor, take_in
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import Sample


@dataclass(frozen=True, eq=False)
class TensorSample(Sample):
    """A tensor of finite numbers, in the precision that it came in."""

    X: Tensor
    on_device = True

    @classmethod
    def check(cls, X: Any, name: str, columns: int | None = None) -> TensorSample:
        """An array on a device, checked there and not copied."""
        return cls(take_in(X, name, columns))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of coordinates."""
        n, d = self.X.shape
        return int(n), int(d)

    def rows(self, indices: IntVector) -> Points:
        """Some of the points, copied to the host."""
        return _on_host(self.X[indices])

    def restrict(self, rows: IntVector) -> TensorSample:
        """The sample of these rows, in any order."""
        return TensorSample(self.X[rows])

    def map(self, matrix: Matrix, origin: Vector) -> TensorSample:
        """A(x − origin) for every row, on the device."""
        points = self.X.double()
        mapped = (points - points.new_tensor(origin)) @ points.new_tensor(matrix.T)
        return TensorSample(mapped)

    def join(self, others: Sequence[TensorSample]) -> TensorSample:
        """The rows of several samples, one after another."""
        return TensorSample(torch.cat([self.X, *(other.X for other in others)]))

    def blocks(self) -> Iterator[Points]:
        """All points, copied to the host."""
        yield self.array()

    def on_host(self) -> ArraySample:
        """The same points in the memory of this process."""
        return ArraySample(self.array())

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """``function`` of the tensor, where it is."""
        return function(self.X)

    def array(self) -> Points:
        """All points, copied to the host."""
        return _on_host(self.X)

    def load(self, engine: Engine, weights: Vector | None = None) -> PointCloud:
        """The points in an engine; that of the device takes them without a copy."""
        return engine.load(self.X, weights)

    def summary(self, weights: Vector | None = None) -> Summary:
        """Counts, moments and quantiles, computed on the device."""
        return DeviceEngine(device=str(self.X.device)).load(self.X, weights).summary

    def require_finite(self, name: str) -> None:
        """Raise a ValueError where numbers are too large to square."""
        take_in(self.X, name, None)


def _on_host(X: Tensor) -> Points:
    """A tensor as a NumPy array of float64 numbers."""
    points: Points = X.double().cpu().numpy()
    return points
