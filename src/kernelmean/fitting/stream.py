"""Means of an endless stream in bounded memory: equals are merged with equals, as in a balanced
tree.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelmean import _checks, coefficients
from kernelmean._types import Constraint
from kernelmean.fitting.merging import merge, merging_error
from kernelmean.kernels import Kernel
from kernelmean.mean import storage
from kernelmean.mean.loading import MALFORMED, unpacked
from kernelmean.mean.value import SparseKernelMean


@dataclass(frozen=True, eq=False)
class MeanStream:
    """The mean of all samples that came by, as a few sparse means of falling weight.

    A new mean is merged with the last one while that stands for no more points, so that every point
    takes part in about log₂ of the number of batches merges, not in all of them, and as many means
    are kept. With the centres of each at most ``k``, the state does not grow with the number of
    points but for that logarithm.

    Parameters
    ----------
    k : most centres of a merged mean; None for as many as the largest mean that came by.
    constraint : of the merged means' weights; "simplex" for densities.
    means, errors : the state: a few means, the weightiest first, and what the merges behind each
        have cost, at most.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng, stream = np.random.default_rng(0), km.MeanStream(k=50)
    >>> for _ in range(5):
    ...     stream = stream.add(km.sparse_kernel_mean(rng.normal(size=(1000, 2)), kernel=km.Gaussian(0.5), k=50))
    >>> stream.mean.n_points, len(stream.means)
    (5000, 2)
    """

    k: int | None = None
    constraint: Constraint = None
    means: tuple[SparseKernelMean, ...] = ()  # the weightiest first
    errors: tuple[float, ...] = ()  # what the merges behind each have cost, at most

    def __post_init__(self) -> None:
        if self.k is not None:
            _checks.count(self.k, "k")
        _checks.choice(self.constraint, "constraint", coefficients.CONSTRAINTS)

    def add(self, mean: SparseKernelMean, error: float = 0.0) -> MeanStream:
        """The stream after one more sample's mean; ``error`` is what is known of it, such as its
        certificate's.
        """
        if not isinstance(mean, SparseKernelMean):
            raise TypeError(
                f"a stream is made of sparse kernel means, got a {type(mean).__name__}."
            )
        means = [*self.means, mean]
        errors = [*self.errors, _checks.number(error, "error", least=0.0)]
        while len(means) > 1 and means[-1].n_points >= means[-2].n_points:
            means[-2:], errors[-2:] = self._merged(means[-2:], errors[-2:])
        return MeanStream(self.k, self.constraint, tuple(means), tuple(errors))

    def merge(self, other: MeanStream) -> MeanStream:
        """Two streams as one, such as those of two machines."""
        together = self
        for mean, error in zip(other.means, other.errors, strict=True):
            means = [*together.means, mean]
            errors = [*together.errors, error]
            order = np.argsort([-found.n_points for found in means], kind="stable")
            together = MeanStream(
                self.k,
                self.constraint,
                tuple(means[i] for i in order),
                tuple(errors[i] for i in order),
            )
            together = together._settled()
        return together

    @property
    def mean(self) -> SparseKernelMean:
        """The mean of everything, on at most k centres."""
        return self._everything()[0]

    @property
    def error(self) -> float:
        """‖mean of all that came by − ``mean``‖, at most: the errors given, and those of all
        merges, by their weights.
        """
        return self._everything()[1]

    def with_error(self) -> SparseKernelMean:
        """:attr:`mean`, which knows :attr:`error`."""
        mean, error = self._everything()
        return replace(mean, merging_error=error)

    def save(self, path: str | os.PathLike[str]) -> None:
        """One file without pickle; the stream goes on from there."""
        packed = [mean.packed() for mean in self.means]
        arrays = {
            f"{level}/{name}": array
            for level, (_, own) in enumerate(packed)
            for name, array in own.items()
        }
        arrays["errors"] = np.array(self.errors, dtype=np.float64)
        storage.write(
            path,
            {
                "stream": [header for header, _ in packed],
                "k": self.k,
                "constraint": self.constraint,
            },
            arrays,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> MeanStream:
        """A stream from its file; ``kernel`` only where that is the user's own."""
        header, arrays = storage.read(path)
        try:
            errors = arrays.pop("errors").tolist()
            found = [_level(arrays, level) for level in range(len(header["stream"]))]
            left = len(arrays) - sum(map(len, found))
            means = [
                unpacked(own, level, kernel)
                for own, level in zip(header["stream"], found, strict=True)
            ]
            if len(errors) != len(means) or left:
                raise ValueError("its parts do not fit together")
            return cls(header["k"], header["constraint"], tuple(means), tuple(errors))
        except MALFORMED as error:
            raise ValueError(
                f"{os.fspath(path)} does not hold a stream of kernel means that can be read: "
                f"{error}"
            ) from error

    def _everything(self) -> tuple[SparseKernelMean, float]:
        if not self.means:
            raise ValueError("the stream is empty: add a mean first.")
        if len(self.means) == 1 and (self.k is None or self.means[0].k <= self.k):
            return self.means[0], self.errors[0]
        means, errors = self._merged(list(self.means), list(self.errors))
        return means[0], errors[0]

    def _settled(self) -> MeanStream:
        """No mean stands for as many points as the one before."""
        means = list(self.means)
        errors = list(self.errors)
        level = len(means) - 1
        while level > 0:
            if means[level].n_points >= means[level - 1].n_points:
                pair = slice(level - 1, level + 1)
                means[pair], errors[pair] = self._merged(means[pair], errors[pair])
            level -= 1
        return MeanStream(self.k, self.constraint, tuple(means), tuple(errors))

    def _merged(
        self, means: list[SparseKernelMean], errors: list[float]
    ) -> tuple[list[SparseKernelMean], list[float]]:
        """One mean for several, with Σ(n_l/N)·error_l + ‖Σ(n_l/N) z_l − z‖."""
        most = max(mean.k for mean in means) if self.k is None else self.k
        merged = merge(means, k=most, constraint=self.constraint)
        before = (
            sum(mean.n_points * error for mean, error in zip(means, errors, strict=True))
            / merged.n_points
        )
        return [merged], [before + merging_error(means, merged)]


def _level(arrays: storage.Arrays, level: int) -> dict[str, Any]:
    prefix = f"{level}/"
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
