"""What users pass becomes a checked sample, once, at the public call."""

from __future__ import annotations

import importlib
from typing import Any

from kernelmean import _checks, engines
from kernelmean._frames import as_frame
from kernelmean._types import ArrayLike
from kernelmean.engines import Engine
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import Queries, Sample


def check(
    X: ArrayLike | Sample, engine: str | Engine, name: str = "X", columns: int | None = None
) -> Sample:
    """Points to be fitted: what is on a device, in a file or on a cluster stays there.

    With the engine "cluster", arrays are spread over its workers too.
    """
    X = as_frame(X)
    if isinstance(X, Sample):
        _checks.table_shape(X.shape, name, columns)
        return X
    if _checks.is_collection(X) or engines.is_cluster(engine):
        opened = engines.open(engine if engines.is_cluster(engine) else "cluster")
        spread: Sample = _cluster().check(X, opened, name, columns)
        return spread
    return _check_here(X, engine, name, columns)


def check_queries(
    Q: ArrayLike | Queries, engine: str | Engine, name: str = "Q", columns: int | None = None
) -> Queries:
    """Places to evaluate at: arrays stay here whatever the engine, Dask collections stay lazy."""
    Q = as_frame(Q)
    if isinstance(Q, Queries):
        return Q
    if _checks.is_collection(Q):
        lazily: Queries = _cluster().check_queries(Q, name, columns)
        return lazily
    return _check_here(Q, engine, name, columns)


def lies_elsewhere(X: object, engine: str | Engine = "cpu") -> bool:
    """Whether :func:`check` would leave X, checked or not, in files or on a cluster."""
    if isinstance(X, Sample):
        return not X.resident
    return _checks.is_collection(X) or _checks.is_streamed(X) or engines.is_cluster(engine)


def _check_here(X: ArrayLike, engine: str | Engine, name: str, columns: int | None) -> Sample:
    _checks.refuse_codes(X, name)
    if _checks.is_streamed(X):
        from kernelmean.samples.files import FileSample  # where files are given

        return FileSample.check(X, name, columns)
    if not _checks.on_device(X):
        return ArraySample(_checks.points(X, name, columns))
    where = engine if isinstance(engine, str) else engine.name
    if where not in ("gpu", "auto"):
        raise TypeError(
            f"{name} is on a device, but engine={where!r} works on the host: use engine='gpu', or "
            f"copy {name} to NumPy."
        )
    engines.open("gpu")  # says what is missing, if anything is
    device = importlib.import_module("kernelmean.samples.device")
    taken: Sample = device.TensorSample.check(X, name, columns)
    return taken


def _cluster() -> Any:
    engines.open("cluster")  # says what is missing, if anything is
    return importlib.import_module("kernelmean.samples.cluster.collections")
