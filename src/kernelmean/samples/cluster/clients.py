"""Which cluster: the one given, the current one, or a local one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask.dataframe
import distributed

from kernelmean.engines.cluster import Engine

ANSWER = 10.0  # seconds within which a scheduler must answer

log = logging.getLogger("kernelmean")


def connect(engine: Engine) -> Any:
    """The client of an engine; without any, workers in threads of this process, which need no guard
    in scripts.
    """
    if isinstance(engine.client, distributed.Client):
        return engine.client
    if isinstance(engine.client, str):
        return _at(engine.client)
    try:
        return distributed.get_client()
    except ValueError:
        client = distributed.Client(processes=False, n_workers=1, dashboard_address=":0")
        threads = sum(client.nthreads().values())
        log.info("no Dask client yet: started a local one with %d threads in this process", threads)
        return client


@contextmanager
def processes(count: int) -> Iterator[Any]:
    """The client of so many local processes of one thread each."""
    options = {
        "n_workers": count,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
    }
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def parquet(files: Sequence[str], columns: Sequence[str], weight: str | None) -> tuple[Any, Any]:
    """Parquet files as a Dask frame that the workers read, and a column of weights."""
    frame = dask.dataframe.read_parquet(list(files))
    return frame[list(columns)], None if weight is None else frame[weight].to_dask_array()


def _at(address: str) -> Any:
    """The client of a scheduler, one per address."""
    known = [client for client in distributed.Client._instances if client.status == "running"]
    found = next(
        (client for client in known if client.scheduler and client.scheduler.address == address),
        None,
    )
    if found is not None:
        return found
    try:
        return distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address}: {error}") from error
