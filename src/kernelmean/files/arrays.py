"""Arrays as tables: npy (mapped, not loaded), npz, and idx, the format of MNIST."""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.files.reader import ArrayReader

Array = np.ndarray[Any, Any]

MAIN = ("X", "data")  # keys of an npz that hold the points, where there are several tables
NAMES = ("columns", "channels", "feature_names")  # keys that may hold the names of its columns
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_npy(path: Path) -> ArrayReader:
    """One table; the file is mapped, so that only the rows asked for are read."""
    return ArrayReader(_table(load_npy(path), str(path)))


def load_npy(path: Path) -> Array:
    """The array of an npy file, mapped."""
    _begins(path, b"\x93NUMPY", "npy")
    try:
        values: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as npy: {error}") from error
    return values


def read_npz(path: Path, key: str | None) -> ArrayReader:
    """The table under ``key``, or X, or data, or the only one; arrays of one value per row are further columns."""
    arrays = load_npz(path)
    chosen = _chosen(arrays, key, path)
    values = _table(arrays[chosen], f"{path}:{chosen}")
    rest = {name: array for name, array in arrays.items() if name != chosen and array.ndim == 1}
    lists = (rest[name] for name in NAMES if name in rest and rest[name].dtype.kind == "U")
    names = next((found for found in lists if len(found) == values.shape[1]), None)
    others = {name: array for name, array in rest.items() if len(array) == len(values)}
    return ArrayReader(values, None if names is None else names.tolist(), {}, others)


def load_npz(path: Path) -> dict[str, Array]:
    """Every array of an npz file."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} cannot be read as npz: it is no zip archive, or a damaged one.")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as npz: {error}") from error


def _begins(path: Path, start: bytes, kind: str) -> None:
    with path.open("rb") as file:
        if file.read(len(start)) != start:
            raise ValueError(f"{path} cannot be read as {kind}: it does not begin like one.")


def _chosen(arrays: dict[str, Array], key: str | None, path: Path) -> str:
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    if key is not None:
        if key not in arrays:
            raise ValueError(f"{path} has no array {key!r}; it holds {shapes}.")
        return key
    tables = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "biuf"]
    found = next((name for name in MAIN if name in tables), tables[0] if len(tables) == 1 else None)
    if found is None and len(arrays) == 1:
        return next(iter(arrays))
    if found is None:
        raise ValueError(f"which array of {path} holds the points? Say {path}:NAME; it holds {shapes}.")
    return found


def _table(values: Array, name: str) -> Array:
    """(n, d); one dimension is one column, further ones are flattened."""
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds values of type {values.dtype}, but real numbers are needed.")
    if values.ndim == 0:
        raise ValueError(f"{name} is a single number; a table with one row per point is needed.")
    return values.reshape(len(values), -1) if values.ndim != 2 else values


def read_idx(path: Path) -> ArrayReader:
    """Two zero bytes, a type, the number of dimensions, their sizes (4 bytes each, big-endian), the values."""
    compressed = path.suffix == ".gz"
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES or head[3] == 0:
                raise ValueError(f"{path} cannot be read as idx: its first bytes are {head.hex(' ')}.")
            shape = tuple(np.frombuffer(file.read(4 * head[3]), ">u4").tolist())
            dtype = np.dtype(IDX_TYPES[head[2]])
            values = np.frombuffer(file.read(), np.uint8) if compressed else np.memmap(path, np.uint8, "r", 4 + 4 * head[3])
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{path} cannot be read as idx: {error}") from error
    if len(shape) != head[3] or values.size != dtype.itemsize * math.prod(shape):
        raise ValueError(f"{path} is damaged or incomplete: it should hold {shape} values and has {values.size} bytes of them.")
    return ArrayReader(_table(values.view(dtype).reshape(shape), str(path)))
