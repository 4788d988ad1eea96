"""Means of an endless stream in bounded memory: equals are merged with equals, as in a tree."""

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
    are kept. With at most ``k`` centres in each, the state does not grow with the number of points
    but for that logarithm.

    Parameters
    ----------
    k : int or None, default=None
        The most centres of a merged mean; None for as many as the largest mean that came by.
    constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None, default=None
        The constraint on the weights of merged means; "simplex" for densities.
    means : tuple of SparseKernelMean, default=()
        The state: a few means, the one of most points first.
    errors : tuple of float, default=()
        What the merges behind each of these means have cost at most, in the norm.

    See Also
    --------
    merge : Merges means once.
    SparseKDE.partial_fit : A density estimate of a stream.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng, kernel, stream = np.random.default_rng(0), km.Gaussian(0.5), km.MeanStream(k=50)
    >>> for _ in range(5):
    ...     batch = rng.normal(size=(1000, 2))
    ...     stream = stream.add(km.sparse_kernel_mean(batch, kernel=kernel, k=50))
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
        """The stream after one more sample's mean; the stream itself is not changed.

        Parameters
        ----------
        mean : SparseKernelMean
            The mean of the new sample, with the kernel, space and scale of the others.
        error : float, default=0.0
            What is known of its error in the norm, such as that of its certificate.

        Returns
        -------
        MeanStream
            The new stream.

        Raises
        ------
        TypeError
            If ``mean`` is no sparse kernel mean.

        See Also
        --------
        merge : Two streams as one.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> km.MeanStream().add(mean).add(mean).mean.n_points
        4
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
        """Two streams as one, such as those of two machines.

        Parameters
        ----------
        other : MeanStream
            A stream of means of the same kernel, space and scale.

        Returns
        -------
        MeanStream
            The stream of both, with the ``k`` and the constraint of this one.

        See Also
        --------
        add : One more sample's mean.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> stream = km.MeanStream().add(mean)
        >>> stream.merge(stream).mean.n_points
        4
        """
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
        """The mean of everything that came by, on at most k centres.

        Returns
        -------
        SparseKernelMean
            The merged mean; an empty stream raises a ValueError.
        """
        return self._everything()[0]

    @property
    def error(self) -> float:
        """What lies between the mean of all that came by and :attr:`mean`, at most.

        Returns
        -------
        float
            The errors that were given and those of all merges, by their weights, in the norm.
        """
        return self._everything()[1]

    def with_error(self) -> SparseKernelMean:
        """The mean of everything, with :attr:`error` as its ``merging_error``.

        Returns
        -------
        SparseKernelMean
            The same as :attr:`mean`, which also knows the error.

        See Also
        --------
        add : Where errors of samples are given.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> km.MeanStream().add(mean, error=0.5).with_error().merging_error
        0.5
        """
        mean, error = self._everything()
        return replace(mean, merging_error=error)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the stream to one file, without pickle; it goes on from there.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file.

        See Also
        --------
        load : Reads the stream again.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     km.MeanStream().add(mean).save(pathlib.Path(folder) / "stream.km")
        ...     km.MeanStream.load(pathlib.Path(folder) / "stream.km").mean.k
        2
        """
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
        """Read a stream from its file.

        Parameters
        ----------
        path : str or os.PathLike
            A file that :meth:`save` wrote.
        kernel : Kernel or None, default=None
            The kernel, which is only needed where it is the user's own (:class:`Radial`).

        Returns
        -------
        MeanStream
            The stream as it was saved.

        Raises
        ------
        ValueError
            If the file is damaged or of another kind, or if it needs ``kernel``.

        See Also
        --------
        save : Writes the file.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     km.MeanStream(k=50).save(pathlib.Path(folder) / "stream.km")
        ...     km.MeanStream.load(pathlib.Path(folder) / "stream.km").k
        50
        """
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
        if merged.kappa is None and merged.k == sum(mean.k for mean in means):
            return [merged], [before]  # nothing was merged
        return [merged], [before + merging_error(means, merged)]


def _level(arrays: storage.Arrays, level: int) -> dict[str, Any]:
    prefix = f"{level}/"
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
