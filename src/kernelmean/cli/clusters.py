"""``--scheduler`` and ``--workers``: the work of a command on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare

if TYPE_CHECKING:
    from kernelmean.files import Source

Scheduler = Annotated[
    str | None,
    declare.Option(
        metavar="tcp://HOST:PORT",
        help="Fit on the workers of this Dask scheduler, which read the files.",
    ),
]
Workers = Annotated[
    int | None,
    declare.Option(
        min=1, metavar="N", help="Fit on so many local processes of one thread each, through Dask."
    ),
]


@contextmanager
def engine(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """The engine of a cluster, or None where none was asked for."""
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise ValueError(
            "--scheduler names a cluster and --workers starts one: give one of the two."
        )
    import kernelmean as km

    km.engines.open("cluster")  # says what is missing, if anything is
    if scheduler is not None:
        yield km.engines.open("cluster", client=scheduler)
        return
    from kernelmean.samples.cluster import clients

    with clients.processes(workers or 1) as client:
        yield km.engines.open("cluster", client=client)


def sample(source: Source) -> tuple[Any, Any]:
    """What to fit and its weights: a Dask frame where workers can read the files themselves, else
    the source, read here.
    """
    from kernelmean.files import readable

    path = Path(source.path)
    if (
        readable(str(path)) != str(path)
        or not (path.suffix in (".parquet", ".pq") or path.is_dir())
        or source.transform is not None
        or source.drop_na
    ):
        return source, source.weights
    from kernelmean.files.tables import parquet_files
    from kernelmean.samples.cluster import clients

    return clients.parquet(
        [str(file.resolve()) for file in parquet_files(path)], source.wanted, source.weight
    )
