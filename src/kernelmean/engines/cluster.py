"""Many machines: samples stay in parts on the workers of a Dask cluster.

Each part is in a point cloud of the worker's own engine.

A worker's engine is "gpu" where it has a device, else "cpu" with the worker's number of threads.
Only offers, sums and centres travel; see :mod:`kernelmean.engines.parts` for how they combine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dask
import distributed

from kernelmean import _checks, engines
from kernelmean._types import Points, Vector
from kernelmean.kernels import Atoms

LOCALS = ("auto", "cpu", "gpu", "naive")

__all__ = ["Engine"]


@dataclass(frozen=True)
class Engine:
    """Which cluster, and which engine computes on its workers.

    Arrays that come without a cluster, such as centres, get a point cloud here.

    Parameters
    ----------
    client : a ``distributed.Client``, or the address of a scheduler; None for the current client,
        or else a local one.
    local : the engine of the workers: "auto" ("gpu" where there is a device, else "cpu"), or the
        name of one.
    """

    client: Any = None
    local: str = "auto"
    name: str = field(default="cluster", init=False)

    def __post_init__(self) -> None:
        _checks.choice(self.local, "local", LOCALS)
        if not (self.client is None or isinstance(self.client, str | distributed.Client)):
            raise TypeError(
                "client must be a distributed.Client or the address of a scheduler, got "
                f"{self.client!r}."
            )

    def load(self, X: Points, weights: Vector | None = None) -> engines.PointCloud:
        """A point cloud on this machine, for centres and other arrays.

        Samples on the workers are loaded there, each part by the worker's own engine.
        """
        return self._here().load(X, weights)

    def load_atoms(self, atoms: Atoms) -> engines.KernelSums:
        """Atoms on this machine: there are few, and queries on the workers come to them."""
        return self._here().load_atoms(atoms)

    def _here(self) -> engines.Engine:
        return engines.precise(engines.open("cpu" if self.local == "auto" else self.local))


assert dask  # both packages are needed, and named where they are missing
