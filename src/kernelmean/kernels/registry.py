"""Names of kernels: one table for Python, model files and the command line.

A new family is one more row. What ``kernel="…"`` takes, what a model file holds, what the command
line offers and what errors say all follow from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelmean import _checks
from kernelmean.kernels.base import Kernel
from kernelmean.kernels.custom import Radial
from kernelmean.kernels.gaussian import Gaussian
from kernelmean.kernels.laplacian import Laplacian
from kernelmean.kernels.student import Cauchy, Student

DEFAULT = "gaussian"  # the kernel where none is named


@dataclass(frozen=True)
class Entry:
    """One name, and what it stands for.

    Parameters
    ----------
    name : str
        As users, files and the command line write it.
    kernel : type or None
        The class; None for a kernel that is not offered.
    parameters : tuple of str
        The numbers that make up an instance, as a model file holds them.
    aliases : tuple of str
        Other names that Python takes.
    unit : Kernel or None
        The kernel of length 1, where name and bandwidth say all.
    instead : str
        What to say where they do not.
    restorable : bool
        Whether name and parameters say all there is to know: not for a user's own function.
    """

    name: str
    kernel: type[Kernel] | None = None
    parameters: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    unit: Kernel | None = None
    instead: str = ""
    restorable: bool = True


def _compact(name: str, sigma: str) -> Entry:
    """A kernel of compact support, and the σ of equal spread in one dimension."""
    instead = (
        f"kernel {name!r} has compact support and is not offered; use kernel='gaussian' instead, "
        f"with bandwidth {sigma} for the same spread as {name!r} of bandwidth h in one dimension."
    )
    return Entry(name, instead=instead)


KERNELS = (
    Entry("gaussian", Gaussian, ("bandwidth",), unit=Gaussian(1.0)),
    # scikit-learn's name is the other one
    Entry("laplacian", Laplacian, ("scale",), ("exponential",), unit=Laplacian(1.0)),
    Entry("cauchy", Cauchy, ("beta",), unit=Cauchy(1.0)),
    Entry(
        "student",
        Student,
        ("alpha", "beta"),
        instead="kernel 'student' has two parameters: give an instance, km.Student(alpha, beta).",
    ),
    Entry(
        "radial",
        Radial,
        ("bandwidth",),
        instead="kernel 'radial' is made of a function: give an instance, km.Radial(profile, h).",
        restorable=False,
    ),
    _compact("tophat", "h/√3"),
    _compact("epanechnikov", "h/√5"),
    _compact("linear", "h/√6"),
    _compact("cosine", "0.435·h"),
)

_BY_NAME = {name: entry for entry in KERNELS for name in (entry.name, *entry.aliases)}


def names() -> tuple[str, ...]:
    """The kernels that a name and a bandwidth describe.

    Returns
    -------
    tuple of str
        Their names, without aliases.

    Examples
    --------
    >>> from kernelmean.kernels import registry
    >>> registry.names()
    ('gaussian', 'laplacian', 'cauchy')
    """
    return tuple(entry.name for entry in KERNELS if entry.unit is not None)


def family(name: str) -> Kernel:
    """The kernel of that name at length 1, to be given its bandwidth.

    Parameters
    ----------
    name : str
        A name or an alias.

    Returns
    -------
    Kernel
        An instance of length 1.

    Raises
    ------
    ValueError
        For an unknown name, and for one that does not say all; the message says what to do.

    Examples
    --------
    >>> from kernelmean.kernels import family
    >>> family("exponential")
    Laplacian(scale=1.0)
    """
    entry = _BY_NAME.get(name) if isinstance(name, str) else None
    if entry is not None and entry.instead:
        raise ValueError(entry.instead)
    units = {key: found.unit for key, found in _BY_NAME.items() if found.unit is not None}
    unit: Kernel = units[_checks.choice(name, "kernel", units)]
    return unit


def describe(kernel: Kernel) -> dict[str, float | str]:
    """Name and numbers, as a model file holds them.

    Parameters
    ----------
    kernel : Kernel
        Any kernel. Of a user's own, and of a family that is not in the table, only the length is
        kept.

    Returns
    -------
    dict
        "name", and a number for each parameter.

    See Also
    --------
    restore : The way back.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.kernels.describe(km.Student(3.0, 0.5))
    {'name': 'student', 'alpha': 3.0, 'beta': 0.5}
    """
    entry = _BY_NAME.get(kernel.name)
    if entry is None or not entry.restorable:
        return {"name": kernel.name, "bandwidth": float(kernel.length)}
    values = vars(kernel)
    return {"name": kernel.name, **{key: float(values[key]) for key in entry.parameters}}


def restorable(description: Mapping[str, float | str]) -> bool:
    """Whether a description says all: else the kernel must be given again.

    Parameters
    ----------
    description : mapping
        What :func:`describe` gave.

    Returns
    -------
    bool
        False for a user's own function and for a family that is not in the table.
    """
    entry = _BY_NAME.get(str(description["name"]))
    return entry is not None and entry.kernel is not None and entry.restorable


def restore(description: Mapping[str, float | str], own: Kernel | None = None) -> Kernel:
    """The kernel that :func:`describe` described.

    Parameters
    ----------
    description : mapping
        What :func:`describe` gave.
    own : Kernel, optional
        The kernel at any length, where the description does not say all.

    Returns
    -------
    Kernel
        Equal to the one described.

    Raises
    ------
    ValueError
        Where the kernel must be given again and was not, or another one was.

    Examples
    --------
    >>> from kernelmean import kernels
    >>> kernels.restore({"name": "cauchy", "beta": 2.0})
    Cauchy(beta=2.0)
    """
    name = str(description["name"])
    if restorable(description):
        return _made(_BY_NAME[name], description)
    if own is None or own.name != name:
        raise ValueError(
            "this model uses a kernel of its author's own: give the same one, load(path, "
            "kernel=km.Radial(...))."
        )
    return own.rescaled(float(description["bandwidth"]), 0)


def _made(entry: Entry, description: Mapping[str, float | str]) -> Kernel:
    """An instance from the numbers of a description."""
    assert entry.kernel is not None, "only entries with a class are restorable"
    numbers = {key: float(value) for key, value in description.items() if key != "name"}
    kernel: Kernel = entry.kernel(**numbers)
    return kernel


def is_gaussian(kernel: Any) -> bool:
    """Whether a kernel, or the name of one, is that of a Gaussian.

    Parameters
    ----------
    kernel : str or Kernel
        A name, an alias or a kernel.

    Returns
    -------
    bool
        True for a Gaussian of any bandwidth.
    """
    if isinstance(kernel, Kernel):
        return isinstance(kernel, Gaussian)
    return isinstance(kernel, str) and isinstance(family(kernel), Gaussian)
