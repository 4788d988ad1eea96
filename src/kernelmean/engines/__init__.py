"""Engines are point clouds that hold the n points; what leaves a point cloud is small and NumPy.

Every point cloud has the same few doors. The k × k algebra is not done here: it has one home for all
engines. Adding hardware means adding one module with these methods.

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
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import Vector
from kernelmean.engines.arrays import Distances, Summary
from kernelmean.engines.protocols import (
    Elimination,
    Engine,
    Nearest,
    OrthonormalBasis,
    Picks,
    PointCloud,
    Projections,
    Shift,
    Traversal,
)
from kernelmean.engines.rounds import CloudFrontier, Frontier
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
    "Distances",
    "Elimination",
    "Engine",
    "Frontier",
    "Nearest",
    "OrthonormalBasis",
    "Picks",
    "PointCloud",
    "Projections",
    "Shift",
    "Summary",
    "Traversal",
    "choose",
    "directions",
    "elimination",
    "frontier",
    "is_cluster",
    "open",
    "precise",
]


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
        if not callable(getattr(engine, "load", None)):
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
        return open("gpu" if count >= WORTH and _device_present() else "cpu")
    return open("gpu" if engine == "auto" else engine)


def is_cluster(engine: str | Engine) -> bool:
    """Whether an engine, or the name of one, spreads samples over a cluster."""
    return (engine if isinstance(engine, str) else open(engine).name) == "cluster"


def precise(engine: Engine) -> Engine:
    """The engine for coefficients, inner products and certificates: its kernel sums are in float64."""
    switch = getattr(engine, "precise", None)
    exact: Engine = engine if switch is None else switch()
    return exact


def elimination(cloud: PointCloud, radial: RadialFunction, size: int) -> Elimination | None:
    """What a point cloud offers for the k × k algebra of up to ``size`` centres; None where that is better
    done on the host.
    """
    offer = getattr(cloud, "elimination", None)
    offered: Elimination | None = None if offer is None else offer(radial, size)
    return offered


def directions(cloud: PointCloud, radial: RadialFunction, size: int) -> OrthonormalBasis | None:
    """What a point cloud offers for greedy selection of up to ``size`` centres; None where that is better
    done on the host.
    """
    offer = getattr(cloud, "directions", None)
    offered: OrthonormalBasis | None = None if offer is None else offer(radial, size)
    return offered


def frontier(cloud: PointCloud, squared: Vector | None = None) -> Frontier:
    """Distances to centres from anywhere, in rounds: the point cloud's own way, or by its nearest centres.

    With ``squared``, the distances to earlier centres, these are lowered in place and nothing else
    is kept.
    """
    offer = getattr(cloud, "frontier", None)
    if offer is not None:
        offered: Frontier = offer(squared)
        return offered
    near = np.full(cloud.summary.count, np.inf) if squared is None else squared
    p = cloud.summary.sample.p
    return CloudFrontier(cloud, p if isinstance(p, np.ndarray) else p.cpu().numpy(), near)


@functools.cache
def _device_present() -> bool:
    """Whether torch is installed and finds a CUDA device; torch is imported only where it is
    installed.
    """
    return importlib.util.find_spec("torch") is not None and bool(
        importlib.import_module("torch").cuda.is_available()
    )
