"""What users pass is checked here, once, at the public call; nothing below checks again."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from kernelmean._frames import as_frame, is_named
from kernelmean._random import Streams
from kernelmean._types import (
    EPS,
    ArrayLike,
    Batches,
    IntVector,
    Matrix,
    Points,
    RandomState,
    Vector,
)

LARGEST = 1e150  # squares of larger numbers overflow
# Repeated rows that a weight can mean: beyond, every float is an integer and none is a count.
LARGEST_COUNT = 2.0**53
MAPPED = 1 << 23  # numbers: up to 64 MiB in float64, a mapped file is simply read
HOST_MEMORY = (1, 3, 11)  # DLPack: plain, and pinned for CUDA or ROCm


def points(X: ArrayLike, name: str = "X", columns: int | None = None) -> Points:
    """An (n, d) array of finite float64 numbers; a view of X where X is that already."""
    A = _array(X, name)
    table_shape(A.shape, name, columns)
    if A.dtype.kind not in "biuf" and (odd := odd_column(X)) is not None:
        raise TypeError(
            f"{name} has a column that is not numeric: {odd}; drop it, or encode it as numbers."
        )
    return _finite(_float64(A, name), name)


def incomplete_points(X: Any, name: str, columns: int) -> Points:
    """(n, d) numbers in which NaN stands for what is missing: NaN, None, NA, nothing in a file."""
    if hasattr(X, "keep_na"):  # a file, whose gaps are refused unless they are asked for
        X = replace(X, keep_na=not X.drop_na)
    A = _array(X, name)
    table_shape(A.shape, name, columns)
    if A.dtype.kind == "O":
        A = np.array([np.nan if _is_nothing(v) else v for v in A.ravel()], object).reshape(A.shape)
    found = _float64(A, name)
    known = found[~np.isnan(found)]
    if len(known):
        _finite(known, name)
    return found


def _is_nothing(value: Any) -> bool:
    """Whether it is None, or pandas' NA, which does not even know whether it differs from NA."""
    if isinstance(value, numbers.Real | np.bool_):
        return False
    return value is None or (value != value) is value  # noqa: PLR0124


def odd_column(X: object) -> str | None:
    """The first column of a frame that holds anything but numbers, and what it holds.

    None for arrays, and where all columns hold numbers.
    """
    names = getattr(X, "columns", None)
    if names is None or isinstance(X, np.ndarray) or not hasattr(X, "__getitem__"):
        return None
    for name in names:
        values = np.asarray(X[name])
        if values.dtype.kind not in "biuf":
            odd = next(
                (value for value in values.ravel() if not isinstance(value, numbers.Real)), None
            )
            if odd is not None:
                return f"{name!r} holds {odd.item() if isinstance(odd, np.generic) else odd!r}"
    return None


def table_shape(shape: Sequence[int], name: str, columns: int | None = None) -> None:
    """One row per point, one column per coordinate, at least one of each."""
    if len(shape) != 2:
        hint = {
            0: "got a single number; give one row per point",
            1: f"got one dimension; use {name}.reshape(-1, 1) for one column, {name}.reshape(1, "
            "-1) for one point",
        }.get(
            len(shape),
            f"got {len(shape)} dimensions; flatten all but the first with "
            f"{name}.reshape(len({name}), -1)",
        )
        raise ValueError(f"{name} must be a table of shape (points, coordinates): {hint}.")
    if shape[0] == 0 or shape[1] == 0:
        raise ValueError(
            f"{name} has shape {tuple(shape)}: at least one point and one column are needed."
        )
    if columns is not None and shape[1] != columns:
        raise ValueError(
            f"{name} has {shape[1]} columns, but {columns} are expected as in the fitted data."
        )


def on_device(X: object) -> bool:
    """Whether an array speaks DLPack and lives elsewhere than in the memory of the host."""
    ask = None if isinstance(X, np.ndarray) else getattr(X, "__dlpack_device__", None)
    return ask is not None and ask()[0] not in HOST_MEMORY


def is_collection(X: object) -> bool:
    """Whether X is a Dask array or frame."""
    return callable(getattr(X, "__dask_graph__", None)) and not is_named(X)


def is_batched(X: object) -> TypeGuard[Batches]:
    """Whether X is a source of batches rather than an array; asking costs no pass over it."""
    return callable(getattr(X, "batches", None)) and hasattr(type(X), "__array__")


def is_streamed(X: object) -> bool:
    """Whether X is read from a file as it is needed, and never all at once.

    So are mapped arrays of more than 64 MiB, whose owner chose not to load them, and sources of
    batches that :func:`fits_in_memory` refuses. Nothing else decides this.
    """
    if is_batched(X):
        return not fits_in_memory(X.shape[0] * X.shape[1])
    return isinstance(X, np.memmap) and X.ndim == 2 and X.size > MAPPED


def fits_in_memory(numbers: int) -> bool:
    """Whether so many float64 numbers take little, or at most a quarter of the memory at hand."""
    return numbers <= numbers_in_memory()


def numbers_in_memory() -> int:
    """The most float64 numbers that do."""
    return max(MAPPED, free_memory() // 32)


def free_memory() -> int:
    """Bytes that can be had without swapping, about."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def weights(sample_weight: ArrayLike | None, n: int) -> Vector | None:
    """N nonnegative finite weights with a positive sum, or None for equal weights."""
    if sample_weight is None:
        return None
    w = _float64(_array(sample_weight, "sample_weight"), "sample_weight")
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape}, but one weight per point is needed: ({n},)."
        )
    _finite(w, "sample_weight")
    if (w < 0).any():
        raise ValueError(f"sample_weight must be nonnegative; the smallest is {w.min():g}.")
    if not w.any():
        raise ValueError("sample_weight is zero everywhere; at least one weight must be positive.")
    return w if w.max() <= LARGEST_COUNT and (w == np.rint(w)).all() else _in_reach(w)


def positive_rows(weights: Vector | None) -> tuple[IntVector | None, Vector | None]:
    """Rows of positive weight (None: all of them) and their weights.

    A weight of zero means an absent row.
    """
    if weights is None or weights.all():
        return None, weights
    rows = np.flatnonzero(weights)
    return rows, weights[rows]


def _in_reach(w: Vector) -> Vector:
    """Weights that are no counts, in units of the largest of them.

    So their squares and sums neither vanish nor overflow. The unit is a power of two, which changes
    no digit of any share. Equal weights, whatever their value, are as none.
    """
    largest = w.max()
    if ((w == largest) | (w == 0.0)).all():
        return (w > 0.0).astype(np.float64)
    scaled: Vector = np.ldexp(w, 1 - int(np.frexp(largest)[1]))
    return scaled


def labels(y: ArrayLike, n: int, rows: IntVector | None = None) -> IntVector:
    """Class numbers 0, 1, … of n labels of any sortable kind, or of those of some rows.

    There must be at least two classes.
    """
    A = _array(y, "y")
    if A.shape != (n,):
        raise ValueError(f"y has shape {A.shape}, but one label per point is needed: ({n},).")
    try:
        classes, numbers = np.unique(A if rows is None else A[rows], return_inverse=True)
    except TypeError as error:
        raise TypeError(
            "y mixes labels that cannot be ordered; use numbers or strings throughout."
        ) from error
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}); at least two are needed.")
    return numbers.astype(np.intp)


def row_indices(indices: ArrayLike, n: int) -> IntVector:
    """Distinct rows of X, each from 0 to n − 1, in the order given."""
    I = np.asarray(indices)
    if I.ndim != 1 or I.size == 0 or I.dtype.kind not in "iu":
        raise ValueError(
            "selection as an array must be a one-dimensional, non-empty array of integer row "
            "numbers."
        )
    I = I.astype(np.intp)
    if I.min() < 0 or I.max() >= n:
        raise ValueError(
            f"selection names rows from {I.min()} to {I.max()}, but X has rows 0 to {n - 1}."
        )
    if len(np.unique(I)) < len(I):
        raise ValueError("selection names a row more than once; give distinct rows.")
    return I


def linear_map(A: ArrayLike, d: int) -> Matrix:
    """A regular (d, d) matrix that maps the data before the kernel sees it."""
    M = points(A, "scale")
    if M.shape != (d, d):
        raise ValueError(
            f"scale has shape {M.shape}, but a matrix for {d} columns has shape ({d}, {d})."
        )
    # Rows of length one: units that differ make no matrix singular.
    lengths = np.linalg.norm(M, axis=1, keepdims=True)
    regular = (lengths > 0.0).all() and np.linalg.cond(M / lengths) < 0.1 / EPS
    if not regular:
        raise ValueError("scale is a singular matrix, to rounding; a regular one is needed.")
    return M


def count(value: Any, name: str, least: int = 1) -> int:
    """A whole number, at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    return int(value)


def number(value: Any, name: str, *, least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite real number, ≥ ``least`` and > ``above``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not math.isfinite(value) or value < least or value <= above:
        limit = f"greater than {above:g}" if above > least else f"at least {least:g}"
        raise ValueError(f"{name} must be a finite number {limit}, got {value!r}.")
    return float(value)


def length(value: Any, name: str) -> float:
    """A positive number whose square is one too."""
    checked = number(value, name, above=0.0)
    if not 1.0 / LARGEST <= checked <= LARGEST:
        raise ValueError(
            f"{name} must lie between {1.0 / LARGEST:g} and {LARGEST:g}, got {value!r}."
        )
    return checked


def choice(value: Any, name: str, options: Collection[Any]) -> Any:
    """One of a few names; the error lists them."""
    if not any(
        value is option or (isinstance(value, str) and value == option) for option in options
    ):
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(map(repr, options))}.")
    return value


def streams(random_state: RandomState) -> Streams:
    """The one source of chance: None, a seed, a Generator or a RandomState as in scikit-learn.

    The last two move on by this.
    """
    if isinstance(random_state, Streams):
        return random_state
    if random_state is None:
        return Streams(int.from_bytes(os.urandom(16), "little"))
    if isinstance(random_state, np.random.RandomState):
        return Streams(_joined(random_state.randint(0, 2**31, size=4)))
    if isinstance(random_state, np.random.Generator):
        return Streams(_joined(random_state.integers(0, 2**31, size=4)))
    if not isinstance(random_state, (int, np.integer)) or isinstance(random_state, bool):
        raise TypeError(
            f"random_state must be None, a whole number or a NumPy generator, got {random_state!r}."
        )
    return Streams(count(random_state, "random_state", least=0))


def _joined(words: IntVector) -> int:
    """One large number from several of 31 bits."""
    return sum(int(word) << (31 * i) for i, word in enumerate(words))


def refuse_codes(X: object, name: str = "X") -> None:
    """A ValueError for a file of which columns were read as categories: codes are no numbers."""
    levels = getattr(X, "levels", None) if is_batched(X) else None
    if levels:
        raise ValueError(
            f"columns of {name} hold categories ({', '.join(map(repr, levels))}), which are no "
            "numbers: give domain= where it is taken, or read the numeric columns alone."
        )


def _array(X: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    X = as_frame(X)
    refuse_codes(X, name)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            f"{name} is a sparse matrix, but dense arrays are needed; use {name}.toarray() if it "
            "fits."
        )
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError(
            f"{name} has masked entries ({np.count_nonzero(np.ma.getmaskarray(X))} of {X.size}); "
            "remove or impute them first."
        )
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"{name} cannot be read as an array: its rows seem to differ in length."
        ) from error


def _float64(A: np.ndarray[Any, Any], name: str) -> Points:
    if A.dtype.kind in "biuf":
        return np.asarray(A, dtype=np.float64)
    if A.dtype.kind == "O":
        return _from_objects(A, name)
    kind = {
        "c": "complex numbers",
        "U": "strings",
        "S": "bytes",
        "M": "dates",
        "m": "time differences",
    }
    found = kind.get(A.dtype.kind, f"values of type {A.dtype}")
    raise TypeError(f"{name} holds {found}, but real numbers are needed.")


def _from_objects(A: np.ndarray[Any, Any], name: str) -> Points:
    """Object arrays pass when every entry is a real number (mixed-type frames give these)."""
    if not all(isinstance(v, numbers.Real) for v in A.ravel()):
        odd = next(v for v in A.ravel() if not isinstance(v, numbers.Real))
        raise TypeError(
            f"{name} is an object array that holds {odd!r}, but real numbers are needed."
        )
    return A.astype(np.float64)


def _finite(A: Points, name: str) -> Points:
    # Extremes are finite just when every entry is: two passes without a mask in the common case.
    low = A.min()
    high = A.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = A.size - np.count_nonzero(np.isfinite(A))
        what = "NaN" if np.isnan(A).any() else "infinite values"
        raise ValueError(
            f"{name} holds {what} ({bad} of {A.size} entries are not finite); remove or impute "
            "them first."
        )
    within_reach(float(low), float(high), name)
    return A


def within_reach(low: float, high: float, name: str) -> None:
    """Extremes whose squares are numbers too."""
    if max(-low, high) > LARGEST:
        raise ValueError(
            f"{name} holds values beyond {LARGEST:g}, whose squares overflow; rescale it first."
        )
