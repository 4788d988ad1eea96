"""From a file back to a mean; every part of the file is checked before it is believed."""

from __future__ import annotations

import math
import os
from importlib import import_module
from typing import Any

import numpy as np

from kernelmean import coefficients, kernels
from kernelmean._types import IntVector, Points
from kernelmean.files import transforms
from kernelmean.kernels import Kernel, Spreads
from kernelmean.mean import domain_storage, storage
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import ARRAYS, LEVELS, NUMBERS, WORDS, SparseKernelMean

KNOWN_WORDS: dict[str, tuple[object, ...]] = {
    "space": kernels.SPACES,
    "constraint": coefficients.CONSTRAINTS,
    "solver": coefficients.SOLVERS,
    "stop_reason": ("tol", "k_max", "rank", "distinct", "fixed", "error", "likelihood", "derived"),
}
ROUNDING = 1e-9  # of the largest eigenvalue: as negative as that of a flat cell may be
# Modules that read files of another kind; the topics above know how, and are imported when needed.
READERS = {
    **dict.fromkeys(("difference", "group differences"), "kernelmean.comparison.storing"),
    "drift monitor": "kernelmean.monitoring.storing",
}
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


def load(path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> Any:
    """Read a sparse kernel mean, a difference of samples or a drift monitor from its file.

    Parameters
    ----------
    path : str or os.PathLike
        A file that :meth:`SparseKernelMean.save`, :meth:`DomainMean.save`,
        :meth:`Difference.save` or :meth:`DriftMonitor.save` wrote.
    kernel : Kernel or None, default=None
        The kernel, which is only needed for a mean that was fitted with one of the user's own
        (:class:`Radial`).

    Returns
    -------
    SparseKernelMean, DomainMean, Difference, GroupDifferences or DriftMonitor
        A value that equals the saved one bit for bit. Time and memory O(k·d) for a mean.

    Raises
    ------
    ValueError
        If the file is damaged or of another kind, or if it needs ``kernel``.

    See Also
    --------
    SparseKernelMean.save : Writes the file.
    SparseKDE.load : Reads it as an estimator.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> mean = km.sparse_kernel_mean(X, k=30, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mean.save(pathlib.Path(folder) / "mean.km")
    ...     again = km.load(pathlib.Path(folder) / "mean.km")
    >>> again.distance(mean)
    0.0
    """
    header, arrays = storage.read(path)
    kind = header.get("kind")
    if not (isinstance(kind, str) and kind in READERS):
        return _any_mean_of(path, header, arrays, kernel)
    try:
        return import_module(READERS[kind]).unpacked(header, arrays)
    except (*MALFORMED, IndexError) as error:
        raise ValueError(
            f"{os.fspath(path)} does not hold a {kind} that can be read: {error}"
        ) from error


def load_mean(path: str | os.PathLike[str], kernel: Kernel | None = None) -> Any:
    """Read a SparseKernelMean or a DomainMean.

    A ValueError says so where the file holds something else.
    """
    header, arrays = storage.read(path)
    kind = header.get("kind")
    if isinstance(kind, str) and kind in READERS:
        raise ValueError(f"{os.fspath(path)} holds {_said(kind)}, not a kernel mean.")
    return _any_mean_of(path, header, arrays, kernel)


def _said(kind: str) -> str:
    """What a file of another kind holds, in words."""
    return {
        "difference": "a difference of samples",
        "group differences": "differences of groups",
    }.get(kind, f"a {kind}")


def _any_mean_of(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: storage.Arrays,
    kernel: Kernel | None,
) -> SparseKernelMean | DomainMean:
    """A mean of plain numbers, or one on a domain."""
    if header.get("kind") != domain_storage.KIND:
        return _mean_of(path, header, arrays, kernel)
    try:
        return _unpacked_on_domain(header, arrays)
    except MALFORMED as error:
        raise ValueError(
            f"{os.fspath(path)} does not hold a {domain_storage.KIND} that can be read: {error}"
        ) from error


def _unpacked_on_domain(header: dict[str, Any], arrays: storage.Arrays) -> DomainMean:
    """The mean on a domain of a header and arrays, whose parts agree with one another."""
    own = {name: arrays.pop(domain_storage.PREFIX + name, None) for name in domain_storage.OWN}
    cut = arrays.pop(domain_storage.PREFIX + "cut", None)
    if not isinstance(header["inner"], dict):
        raise TypeError("there is no mean inside")
    inner = unpacked(header["inner"], arrays)
    domain = domain_storage.domain_of_json(header["domain"])
    domain_storage.check_inner(inner, domain)
    domain_storage.check_shares(own["log_shares"], inner.k, domain)
    cut = domain_storage.cuts_of(cut, inner, domain)
    quantiles = own["log_quantiles"]
    wanted = (LEVELS.shape, LEVELS.dtype)
    if quantiles is not None and (quantiles.shape, quantiles.dtype) != wanted:
        raise ValueError("array 'log_quantiles' has the wrong type or shape")
    columns = _columns(header["columns"])
    if columns is not None and len(columns) != domain.dimension:
        raise ValueError("there is not one name per column")
    transform = header["transform"]
    if not (transform is None or isinstance(transform, str)):
        raise ValueError("transform is not a word")
    transforms.parse(transform)
    return DomainMean(inner, domain, own["log_shares"], columns, transform, quantiles, cut)


def _mean_of(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: storage.Arrays,
    kernel: Kernel | None,
) -> SparseKernelMean:
    try:
        return unpacked(header, arrays, kernel)
    except MALFORMED as error:
        raise ValueError(
            f"{os.fspath(path)} does not hold a sparse kernel mean that can be read: {error}"
        ) from error


def unpacked(
    header: dict[str, Any], arrays: storage.Arrays, kernel: Kernel | None = None
) -> SparseKernelMean:
    """The mean of a header and arrays.

    Where they are no mean, the error is of any of the kinds in MALFORMED.
    """
    fields = {**_words(header), **_numbers(arrays.pop("numbers")), **_arrays(arrays)}
    described = header["kernel"]
    if kernel is None and not kernels.restorable(described):
        raise ValueError(
            "it uses a kernel of its author's own: give the same one, load(path, "
            "kernel=km.Radial(...))"
        )
    if fields["columns"] is not None and len(fields["columns"]) != fields["centers"].shape[1]:
        raise ValueError("there is not one name per column")
    restored = kernels.restore(described, kernel)
    if fields["space"] == "l2" and kernel is None:
        # An error where its parameters have no inner product there.
        restored.l2_log_peak(fields["centers"].shape[1])
    if fields.get("spreads") is not None and not restored.traits.spreads:
        raise ValueError("its centres have spreads, but its kernel is not Gaussian")
    transforms.parse(fields["transform"])
    return SparseKernelMean(**fields, kernel=restored)


def _words(header: dict[str, Any]) -> dict[str, Any]:
    words = {name: header[name] for name in WORDS}
    for name, known in KNOWN_WORDS.items():
        if words[name] not in known:
            raise ValueError(f"unknown {name} {words[name]!r}")
    if not isinstance(words["selection"], str):
        raise ValueError("selection is not a word")
    # Absent in files of the first release, as is the rest.
    nested = header.get("nested", False)
    if not isinstance(nested, bool):
        raise ValueError("nested is neither true nor false")
    errors = {name: header.get(name) for name in ("merging_error", "estimated_error")}
    for name, error in errors.items():
        if not (error is None or (isinstance(error, float | int) and 0.0 <= error < math.inf)):
            raise ValueError(f"{name} is no error")
    transform = header.get("transform")
    if not (transform is None or isinstance(transform, str)):
        raise ValueError("transform is not a word")
    return {
        **words,
        "columns": _columns(header.get("columns")),
        "transform": transform,
        "nested": nested,
        **errors,
    }


def _columns(names: Any) -> tuple[str, ...] | None:
    if names is not None and not (
        isinstance(names, list) and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("the names of columns are none")
    return None if names is None else tuple(names)


def _numbers(values: Points) -> dict[str, Any]:
    numbers: dict[str, Any] = dict(zip(NUMBERS, map(float, values), strict=True))
    finite = ("jitter", "n_points")
    if (
        not all(math.isfinite(numbers[name]) for name in finite)
        or numbers["n_points"] <= 0
        or numbers["jitter"] < 0
    ):
        raise ValueError("a number is out of range")
    if math.isnan(numbers["nearest_bound"]):
        numbers["nearest_bound"] = None
    return numbers


def _arrays(arrays: storage.Arrays) -> dict[str, Any]:
    """The arrays by name, their shapes and types agreeing with one another."""
    if unknown := set(arrays) - set(ARRAYS):
        raise ValueError(f"unknown array {sorted(unknown)[0]!r}")
    k, d = arrays["centers"].shape
    shapes = {"centers": (k, d), "scale": (d, d), "log_quantiles": (len(LEVELS),)}
    for name, array in arrays.items():
        wrong_type = array.dtype != (np.int64 if name == "indices" else np.float64)
        full = name == "spreads" and array.shape == (k, d, d)
        wrong_shape = array.shape != shapes.get(name, (k,)) and not full
        if wrong_type or wrong_shape or k == 0 or d == 0:
            raise ValueError(f"array {name!r} has the wrong type or shape")
        if name not in ("radii", "log_quantiles") and not np.isfinite(array).all():
            raise ValueError(f"array {name!r} is not finite")
    _check_spreads(arrays.get("spreads"))
    indices: IntVector | None = arrays["indices"].astype(np.intp) if "indices" in arrays else None
    return {"scale": None, "kappa": None, "indicator": None, **arrays, "indices": indices}


def _check_spreads(spreads: Spreads | None) -> None:
    """Variances are not negative; covariances are symmetric, with no negative eigenvalue."""
    if spreads is None:
        return
    if spreads.ndim == 1:
        valid = bool((spreads >= 0.0).all())
    else:
        valid = np.array_equal(spreads, np.swapaxes(spreads, 1, 2))
        eigenvalues = np.linalg.eigvalsh(spreads) if valid else np.empty((0, 1))
        valid &= bool((eigenvalues[:, 0] >= -ROUNDING * np.abs(eigenvalues[:, -1])).all())
    if not valid:
        raise ValueError("the spreads are no covariances")
