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
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import Vector
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
    KernelSums,
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
# Which extra brings a package.
EXTRAS = {"torch": "gpu", "dask": "cluster", "distributed": "cluster"}
# Kernel values from which "auto" wakes a device up: some seconds of work for a few cores.
WORTH_A_DEVICE = 1e10

__all__ = [
    "ENGINES",
    "CompactCloud",
    "Distances",
    "EliminatingCloud",
    "Elimination",
    "Engine",
    "FarthestOffers",
    "KernelSums",
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
    "is_cluster",
    "open",
    "orthonormal_basis",
    "precise",
    "thread_count",
]

if TYPE_CHECKING:  # engines are imported when they are opened; here they are held to the protocol
    from kernelmean.engines import cluster, cpu, gpu, naive, parts

    _conforming: list[type[Engine]] = [
        naive.Engine,
        cpu.Engine,
        gpu.Engine,
        cluster.Engine,
    ]
    _threaded: type[ThreadedEngine] = cpu.Engine
    _precise: type[PreciseEngine] = gpu.Engine
    _combined: type[PointCloud] = parts.PointCloud
    _eliminating: type[EliminatingCloud] = gpu.PointCloud
    _offering: list[type[OfferingCloud]] = [cpu.PointCloud, gpu.PointCloud]
    _compact: type[CompactCloud] = cpu.PointCloud


def open(engine: str | Engine, **options: Any) -> Engine:
    """An engine by name, or the instance given; heavy imports happen here and nowhere else.

    "auto" is "gpu" where torch and a CUDA device are present, else "cpu"; a fit with
    ``engine="auto"`` also asks whether the device is worth it.

    Parameters
    ----------
    engine : {'naive', 'cpu', 'gpu', 'cluster', 'auto'} or Engine
        The name of an engine, or an engine, which is returned as it is.
    **options : dict
        The options of the engine: ``threads`` for "cpu", ``precision`` and ``device`` for "gpu".

    Returns
    -------
    Engine
        The engine. Opening costs nothing but imports; O(n·d) memory is taken when points are
        loaded.

    Raises
    ------
    ImportError
        If the engine needs a package that is not installed.
    TypeError
        If ``engine`` is neither a name nor an engine.
    ValueError
        If no engine has that name.

    See Also
    --------
    sparse_kernel_mean : Takes an engine, or the name of one.

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


def choose(engine: str | Engine, count: float, on_device: bool = False) -> Engine:
    """Open an engine; "auto" takes a device where it is worth it.

    It is if the points are on a device already, or if ``count`` kernel values are to be computed
    that would take a few cores some seconds.
    """
    if engine == "auto" and not on_device:
        return open("gpu" if count >= WORTH_A_DEVICE and _device_present() else "cpu")
    return open("gpu" if engine == "auto" else engine)


def is_cluster(engine: str | Engine) -> bool:
    """Whether an engine, or the name of one, spreads samples over a cluster."""
    return (engine if isinstance(engine, str) else open(engine).name) == "cluster"


def precise(engine: Engine) -> Engine:
    """The engine for coefficients, inner products and certificates: its sums are in float64."""
    return engine.precise() if isinstance(engine, PreciseEngine) else engine


def thread_count(engine: Engine) -> int:
    """How many threads of this machine the engine shares its work among; 1 if it does not say."""
    return engine.threads if isinstance(engine, ThreadedEngine) else 1


def elimination(cloud: PointCloud, radial: RadialFunction, size: int) -> Elimination | None:
    """What a point cloud offers for the k × k algebra of so many centres; None: use the host."""
    return cloud.elimination(radial, size) if isinstance(cloud, EliminatingCloud) else None


def orthonormal_basis(
    cloud: PointCloud, radial: RadialFunction, size: int
) -> OrthonormalBasis | None:
    """What a point cloud offers for greedy selection of so many centres; None: use the host."""
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


@functools.cache
def _device_present() -> bool:
    """Whether torch is installed and finds a CUDA device."""
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").cuda.is_available())
