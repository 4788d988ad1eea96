"""Arrays as tables: npy (mapped, not loaded), npz, and idx, the format of MNIST.

Headers are believed as far as the bytes behind them go: nothing is allocated for values that the
file does not hold.
"""

from __future__ import annotations

import gzip
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelmean.files.faults import first_line
from kernelmean.files.reader import ArrayReader, Labels, refuse_beyond_memory

Array = np.ndarray[Any, Any]

MAIN = ("X", "data")  # keys of an npz that hold the points, where there are several tables
NAMES = ("columns", "channels", "feature_names")  # keys that may hold the names of its columns
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAX_COLUMNS = 1 << 20  # each has a name, though the file may have spent a byte on it
PIECE_BYTES = 1 << 24  # unpacked at a time
LISTED_ARRAYS = 20  # named in a message, at most


class Header(NamedTuple):
    """What an npy file says of itself."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: Path) -> ArrayReader:
    """One table; the file is mapped, so that only the rows asked for are read."""
    return ArrayReader(_table(load_npy(path), str(path)))


def load_npy(path: Path) -> Array:
    """The array of an npy file, mapped."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise ValueError(f"{path} cannot be read as npy: it does not begin like one.")
        file.seek(0)
        header = _header(file, f"{path} cannot be read as npy")
        held = path.stat().st_size - file.tell()
    _refuse_untrue(header.shape, header.nbytes, held, str(path))
    try:
        values: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as npy: {first_line(error)}.") from error
    return values


def _header(file: Any, wrong: str) -> Header:
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        header = Header(*read(file))
    except (
        Exception
    ) as error:  # the header is a Python literal, and may be wrong in every way that one can be
        raise ValueError(f"{wrong}: {first_line(error)}.") from error
    if min(header.shape, default=0) < 0:
        raise ValueError(f"{wrong}: its shape is {_shown(header.shape)}.")
    return header


def _shown(shape: tuple[int, ...]) -> str:
    """A shape in a sentence."""
    return str(shape) if len(shape) <= 6 else f"({', '.join(map(str, shape[:6]))}, …)"


def _refuse_untrue(shape: tuple[int, ...], needed: int, held: int, name: str) -> None:
    if needed > held:
        raise ValueError(
            f"{name} is damaged or incomplete: it should hold {_shown(shape)} values and has "
            f"{held} bytes of them."
        )
    if math.prod(shape) == 0 or needed == 0:
        raise ValueError(
            f"{name} has the shape {_shown(shape)}: at least one row and one column are needed."
        )


class Archive:
    """The arrays of an npz file: their shapes at once, their values when asked for.

    Members that are no arrays are left out.
    """

    def __init__(self, path: Path) -> None:
        if not zipfile.is_zipfile(path):
            raise ValueError(
                f"{path} cannot be read as npz: it is no zip archive, or a damaged one."
            )
        self.path = path
        self.headers: dict[str, Header] = {}
        self._members: dict[str, str] = {}
        self.broken: dict[
            str, str
        ] = {}  # members that are no arrays, or none that can be read, and why
        try:
            with path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
                for member in archive.namelist():
                    self._add(archive, member)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} cannot be read as npz: {first_line(error)}.") from error

    def _add(self, archive: zipfile.ZipFile, member: str) -> None:
        name = member.removesuffix(".npy")
        try:
            with archive.open(member) as file:
                self.headers[name] = _header(file, member)
                self._members[name] = member
        except Exception as error:  # an error only where it is asked for
            self.broken[name] = first_line(error)

    def load(self, name: str) -> Array:
        """The values of one array; as many are unpacked as there are, whatever the header says."""
        header = self.headers[name]
        label = f"{self.path}:{name}"
        refuse_beyond_memory(header.nbytes, label)
        buffer = bytearray()
        try:
            with (
                self.path.open("rb") as raw,
                zipfile.ZipFile(raw) as archive,
                archive.open(self._members[name]) as file,
            ):
                _header(file, label)
                while len(buffer) < header.nbytes and (
                    piece := file.read(min(PIECE_BYTES, header.nbytes - len(buffer)))
                ):
                    buffer += piece
                file.read(1)  # at the end the checksum is compared
            if len(buffer) < header.nbytes:
                raise ValueError(
                    f"it should hold {_shown(header.shape)} values and has {len(buffer)} bytes "
                    "of them"
                )
            flat: Array = (
                np.frombuffer(buffer, header.dtype) if header.nbytes else np.empty(0, header.dtype)
            )
            return flat.reshape(header.shape, order="F" if header.fortran else "C")
        except Exception as error:  # a damaged archive fails in many ways
            raise ValueError(f"{label} cannot be read: {first_line(error)}.") from error


class _Further(Mapping[str, Labels]):
    """Arrays of one value per row, unpacked when they are asked for."""

    def __init__(self, archive: Archive, names: list[str]) -> None:
        self._archive = archive
        self._names = names
        self._loaded = dict[str, Labels]()

    def __getitem__(self, name: str) -> Labels:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._archive.load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_npz(path: Path, key: str | None) -> ArrayReader:
    """The table under ``key``, or X, or data, or the only one.

    Arrays of one value per row are further columns.
    """
    archive = Archive(path)
    chosen = _chosen(archive, key)
    _refuse_unfit(archive.headers[chosen].shape, archive.headers[chosen].dtype, f"{path}:{chosen}")
    values = _table(archive.load(chosen), f"{path}:{chosen}")
    rest = {
        name: header
        for name, header in archive.headers.items()
        if name != chosen and len(header.shape) == 1
    }
    lists = (name for name in NAMES if name in rest and rest[name].dtype.kind == "U")
    names = next((name for name in lists if rest[name].shape[0] == values.shape[1]), None)
    others = [name for name, header in rest.items() if header.shape[0] == len(values)]
    return ArrayReader(
        values,
        None if names is None else archive.load(names).tolist(),
        {},
        _Further(archive, others),
    )


def _chosen(archive: Archive, key: str | None) -> str:
    headers = archive.headers
    path = archive.path
    shapes = ", ".join(
        f"{name} {_shown(header.shape)}" for name, header in list(headers.items())[:LISTED_ARRAYS]
    )
    if not headers:
        raise ValueError(
            f"{path} cannot be read as npz: {next(iter(archive.broken.values()), 'it is empty')}."
        )
    if key is not None:
        if key not in headers:
            why = f" ({archive.broken[key]})" if key in archive.broken else ""
            raise ValueError(f"{path} has no array {key!r}{why}; it holds {shapes}.")
        return key
    tables = [
        name
        for name, header in headers.items()
        if len(header.shape) == 2 and header.dtype.kind in "biuf"
    ]
    found = next((name for name in MAIN if name in tables), tables[0] if len(tables) == 1 else None)
    if found is None and len(headers) == 1:
        return next(iter(headers))
    if found is None:
        raise ValueError(
            f"which array of {path} holds the points? Say {path}:NAME; it holds {shapes}."
        )
    return found


def _table(values: Array, name: str) -> Array:
    """(n, d); one dimension is one column, further ones are flattened."""
    _refuse_unfit(values.shape, values.dtype, name)
    return values.reshape(len(values), -1) if values.ndim != 2 else values


def _refuse_unfit(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    """A ValueError where an array is no table of points."""
    if dtype.kind not in "biuf":
        raise ValueError(f"{name} holds values of type {dtype}, but real numbers are needed.")
    if not shape:
        raise ValueError(f"{name} is a single number; a table with one row per point is needed.")
    if 0 in shape:
        raise ValueError(
            f"{name} has the shape {_shown(shape)}: at least one row and one column are needed."
        )
    if math.prod(shape[1:]) > MAX_COLUMNS:
        raise ValueError(
            f"{name} has {math.prod(shape[1:])} columns, but at most {MAX_COLUMNS} are read; is it "
            "to be transposed?"
        )


def read_idx(path: Path) -> ArrayReader:
    """An idx file: two zero bytes, a type, the number of dimensions, their sizes, the values.

    Sizes take 4 bytes each, big-endian.
    """
    compressed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES or head[3] == 0:
                raise ValueError(
                    f"{path} cannot be read as idx: its first bytes are {head.hex(' ')}."
                )
            sizes = file.read(4 * head[3])
            dtype = np.dtype(IDX_TYPES[head[2]])
            if len(sizes) < 4 * head[3]:
                raise ValueError(f"{path} is damaged or incomplete: it ends within its header.")
            shape = tuple(np.frombuffer(sizes, ">u4").tolist())
            values = (
                _unpacked(file, math.prod(shape) * dtype.itemsize, path)
                if compressed
                else _mapped(path, 4 + 4 * head[3])
            )
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{path} cannot be read as idx: {first_line(error)}.") from error
    if values.size != dtype.itemsize * math.prod(shape):
        raise ValueError(
            f"{path} is damaged or incomplete: it should hold {_shown(shape)} values and has "
            f"{values.size} bytes of them."
        )
    _refuse_unfit(shape, dtype, str(path))
    return ArrayReader(values.view(dtype).reshape(shape[0], -1))


def _mapped(path: Path, start: int) -> Array:
    return (
        np.memmap(path, np.uint8, "r", start)
        if path.stat().st_size > start
        else np.empty(0, np.uint8)
    )


def _unpacked(file: Any, size: int, path: Path) -> Array:
    """So many bytes, or as many as there are; one more where there are more."""
    refuse_beyond_memory(size, str(path))
    buffer = bytearray()
    while len(buffer) <= size and (piece := file.read(min(PIECE_BYTES, size + 1 - len(buffer)))):
        buffer += piece
    return np.frombuffer(buffer, np.uint8)
