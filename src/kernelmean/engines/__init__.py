"""Engines load points into point clouds; what leaves a point cloud is small and NumPy.

Every point cloud has the same few operations (:class:`PointCloud`). The k × k algebra is not done
here: it has one home for all engines. Adding hardware means adding one module with these methods.

Examples
--------
>>> import numpy as np, kernelmean as km
>>> cloud = km.engines.open("naive").load(np.array([[0.0], [3.0]]))
>>> cloud.kernel_sum(km.Gaussian(1.0).radial(1, "rkhs"), np.array([[0.0]])).round(3)
array([0.506])
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Points, Vector
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.engines.optional_protocols import (
    CompactCloud,
    EliminatingCloud,
    Elimination,
    FarthestOffers,
    OfferingCloud,
    OrthonormalBasis,
    PreciseEngine,
    Projections,
    ThreadedEngine,
)
from kernelmean.engines.protocols import (
    Distances,
    Engine,
    Nearest,
    Picks,
    PointCloud,
    Shift,
    Summary,
    Traversal,
)
from kernelmean.engines.rounds import CloudOffers
from kernelmean.kernels import RadialFunction

ENGINES = ("naive", "cpu", "gpu", "cluster", "auto")
EXTRAS = {
    "torch": "gpu",
    "dask": "cluster",
    "distributed": "cluster",
}  # which extra brings a package
WORTH = (
    1e10  # kernel values from which "auto" wakes a device up: some seconds of work for a few cores
)

__all__ = [
    "ENGINES",
    "CompactCloud",
    "Distances",
    "EliminatingCloud",
    "Elimination",
    "Engine",
    "FarthestOffers",
    "Nearest",
    "OfferingCloud",
    "OrthonormalBasis",
    "Picks",
    "PointCloud",
    "PreciseEngine",
    "Projections",
    "Shift",
    "Summary",
    "ThreadedEngine",
    "Traversal",
    "choose",
    "elimination",
    "farthest_offers",
    "host",
    "in_parts",
    "keep",
    "open",
    "orthonormal_basis",
    "over",
    "points",
    "precise",
    "queries",
    "thread_count",
    "together",
]

if TYPE_CHECKING:  # engines are imported when they are opened; here they are held to the protocol
    from kernelmean.engines import cluster, cpu, gpu, naive, parts

    _conforming: list[type[Engine]] = [
        naive.Engine,
        cpu.Engine,
        gpu.Engine,
        parts.Engine,
        cluster.Engine,
    ]
    _threaded: type[ThreadedEngine] = cpu.Engine
    _precise: list[type[PreciseEngine]] = [gpu.Engine, parts.Engine]
    _eliminating: type[EliminatingCloud] = gpu.PointCloud
    _offering: list[type[OfferingCloud]] = [cpu.PointCloud, gpu.PointCloud]
    _compact: type[CompactCloud] = cpu.PointCloud


def open(engine: str | Engine, **options: Any) -> Engine:
    """An engine by name (heavy imports happen here and nowhere else), or the instance given.

    "auto" is "gpu" where torch and a CUDA device are present, else "cpu"; :func:`choose` also asks
    whether it is worth it.

    Parameters
    ----------
    engine : "naive", "cpu", "gpu", "auto", or an engine.
    **options : of the engine: ``threads`` for "cpu", ``precision`` and ``device`` for "gpu".

    Returns
    -------
    Engine
        Costs nothing but imports; O(n·d) memory is taken when points are loaded.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.engines.open("cpu", threads=1).name
    'cpu'
    """
    if not isinstance(engine, str):
        if not isinstance(engine, Engine):
            raise TypeError(
                f"engine must be a name ({', '.join(map(repr, ENGINES))}) or an engine, got "
                f"{engine!r}."
            )
        return engine
    name = _checks.choice(engine, "engine", ENGINES)
    if name == "auto":
        name = "gpu" if _device_present() else "cpu"
    try:
        module = importlib.import_module(f"kernelmean.engines.{name}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ImportError(
            f"engine={name!r} needs {package}, which is not installed: pip install "
            f"'kernelmean[{name}]', or use engine='cpu'."
        ) from error
    opened: Engine = module.Engine(**options)
    return opened


def choose(engine: str | Engine, X: object, count: float) -> Engine:
    """:func:`open`, where "auto" takes a device if the points are on one, or if ``count`` kernel
    values are worth one.

    A sample in parts gets an engine that asks every part's own point cloud.
    """
    if _is_table(X):
        opened: Engine = importlib.import_module("kernelmean.engines.parts").Engine(open(engine))
        return opened
    if engine == "auto" and not _checks.on_device(X):
        return open("gpu" if count >= WORTH and _device_present() else "cpu")
    return open("gpu" if engine == "auto" else engine)


def precise(engine: Engine) -> Engine:
    """The engine for coefficients, inner products and certificates: its sums are in float64."""
    return engine.precise() if isinstance(engine, PreciseEngine) else engine


def thread_count(engine: Engine) -> int:
    """How many threads of this machine the engine shares its work among; 1 if it does not say."""
    return engine.threads if isinstance(engine, ThreadedEngine) else 1


def elimination(cloud: PointCloud, radial: RadialFunction, size: int) -> Elimination | None:
    """What a point cloud offers for the k × k algebra of up to ``size`` centres; None where that is
    better done on the host.
    """
    return cloud.elimination(radial, size) if isinstance(cloud, EliminatingCloud) else None


def orthonormal_basis(
    cloud: PointCloud, radial: RadialFunction, size: int
) -> OrthonormalBasis | None:
    """What a point cloud offers for greedy selection of up to ``size`` centres; None where that is
    better done on the host.
    """
    return cloud.orthonormal_basis(radial, size) if isinstance(cloud, EliminatingCloud) else None


def farthest_offers(
    cloud: PointCloud, sample: WeightedPoints, squared: Vector | None = None
) -> FarthestOffers:
    """Distances to centres from anywhere: the point cloud's own way, or by its nearest centres.

    ``sample`` is what was loaded. With ``squared``, the distances to earlier centres, these are
    lowered in place and nothing else is kept.
    """
    if isinstance(cloud, OfferingCloud):
        return cloud.farthest_offers(squared)
    known = np.full(len(sample.X), np.inf) if squared is None else squared
    return CloudOffers(cloud, sample.p, known)


def points(
    X: ArrayLike, engine: str | Engine, name: str = "X", columns: int | None = None
) -> Points:
    """:func:`kernelmean._checks.points` for an engine: what is on a device, in a file or on a
    cluster stays there.

    Where that is not in one piece, what comes back stands in for an array
    (:class:`kernelmean.engines.parts.protocol.Table`).
    """
    if _is_table(X):
        _checks.table_shape(X.shape, name, columns)  # type: ignore[union-attr]
        return X  # type: ignore[return-value]
    if (
        _checks.is_collection(X)
        or (isinstance(engine, str) and engine == "cluster")
        or _is_cluster(engine)
    ):
        return _spread(X, engine, name, columns)
    return queries(X, engine, name, columns)


def queries(
    X: ArrayLike, engine: str | Engine, name: str = "Q", columns: int | None = None
) -> Points:
    """:func:`points` that are no sample but places to evaluate at: arrays stay here whatever the
    engine.
    """
    if _is_table(X):
        return X  # type: ignore[return-value]
    if _checks.is_collection(X):
        lazily: Points = _cluster().queries(X, name, columns)
        return lazily
    if _checks.is_streamed(X):
        streamed: Points = importlib.import_module("kernelmean.samples.files").take_in(
            X, name, columns
        )
        return streamed
    if not _checks.on_device(X):
        return _checks.points(X, name, columns)
    where = engine if isinstance(engine, str) else getattr(engine, "name", None)
    if where not in ("gpu", "auto"):
        raise TypeError(
            f"{name} is on a device, but engine={where!r} works on the host: use engine='gpu', "
            f"or copy {name} to NumPy."
        )
    open("gpu")  # says what is missing, if anything is
    taken: Points = importlib.import_module("kernelmean.engines.gpu.arrays").take_in(
        X, name, columns
    )
    return taken


def keep(X: Points, rows: IntVector | None) -> Points:
    """Some rows of checked points, wherever they are; all for None."""
    if rows is None:
        return X
    kept: Points = X.keep(rows) if _is_table(X) else X[rows]  # type: ignore[attr-defined]
    return kept


def present(X: Points, weights: Vector | None) -> tuple[IntVector | None, Points, Vector | None]:
    """The rows of checked points that count (None: all), the points and their weights: a weight of
    zero means an absent row.

    Every public function passes here before it looks at a point, so that absent rows have no part
    in any result.
    """
    rows, positive = _checks.positive_rows(weights)
    return rows, keep(X, rows), positive


def in_parts(X: object, engine: str | Engine = "cpu") -> bool:
    """Whether :func:`points` leaves X where it is, in a file or on a cluster."""
    return (
        _is_table(X)
        or _checks.is_collection(X)
        or _checks.is_streamed(X)
        or engine == "cluster"
        or _is_cluster(engine)
    )


def together(samples: Sequence[Points]) -> Points:
    """Several checked samples as one; those in parts come from one table, whose rows they share."""
    first = samples[0]
    if not _is_table(first):
        return np.concatenate(samples)
    joined: Points = first.together(samples[1:])  # type: ignore[attr-defined]
    return joined


def over(X: Points, function: Callable[[Points], Any]) -> Any:
    """function(X), part by part where X is not in one piece; a Dask collection gives a Dask array,
    computed when asked for.
    """
    return X.over(function) if _is_table(X) else function(X)  # type: ignore[attr-defined]


def host(X: Points) -> Points:
    """Checked points as a NumPy array: themselves, or a copy from the device."""
    if _is_table(X):
        raise TypeError(
            "this needs all points in memory, but they are in a file or on a cluster: use a "
            "sparse mean, or load them first."
        )
    return X if isinstance(X, np.ndarray) else X.double().cpu().numpy()


def _spread(X: ArrayLike, engine: str | Engine, name: str, columns: int | None) -> Points:
    """A sample in parts on the workers of a cluster, whatever the engine is called."""
    opened = open(engine if _is_cluster(engine) else "cluster")
    spread: Points = _cluster().take_in(X, opened, name, columns)
    return spread


def _cluster() -> Any:
    open("cluster")  # says what is missing, if anything is
    return importlib.import_module("kernelmean.samples.cluster.collections")


def _is_cluster(engine: str | Engine) -> bool:
    return not isinstance(engine, str) and getattr(engine, "name", None) == "cluster"


def _is_table(X: object) -> bool:
    """Whether X is in parts and has passed the door."""
    if isinstance(X, np.ndarray) or _checks.is_collection(
        X
    ):  # what Dask delays has every attribute
        return False
    return callable(getattr(X, "over", None)) and callable(getattr(X, "mapped", None))


@functools.cache
def _device_present() -> bool:
    """Whether torch is installed and finds a CUDA device; torch is imported only where it is
    installed.
    """
    return importlib.util.find_spec("torch") is not None and bool(
        importlib.import_module("torch").cuda.is_available()
    )
