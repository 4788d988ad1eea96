"""One small file: a line that says what it is, a JSON header, raw arrays, and a checksum.

There is no pickle, and nothing is executed:

    kernelmean model 1 and a line feed | length of the header (8 bytes) | header |
    arrays, float64 or int64, little-endian | SHA-256
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.files.atomic import atomic_write

MAGIC = b"kernelmean model "
VERSION = 1
DIGEST = hashlib.sha256().digest_size
TYPES = {"float64": "<f8", "int64": "<i8"}

Arrays = dict[str, np.ndarray[Any, Any]]


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write beside the target and rename, so that the file is whole or absent."""
    contents = _pack(header, arrays)
    with atomic_write(path) as beside:
        beside.write_bytes(contents)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays; a ValueError that says what is wrong with any other file."""
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:  # before the rest of what may be any file is read
            raise ValueError(f"{name} is not a kernelmean model.")
        contents = MAGIC + file.read()
    version, _, rest = contents[len(MAGIC) :].partition(b"\n")
    if version != str(VERSION).encode():
        shown = version[:20].decode("ascii", "replace")
        raise ValueError(
            f"{name} has format version {shown!r}; this kernelmean reads version {VERSION}."
        )
    if len(rest) < 8 + DIGEST or hashlib.sha256(contents[:-DIGEST]).digest() != contents[-DIGEST:]:
        raise ValueError(f"{name} is damaged or incomplete: its checksum does not match.")
    try:
        return _unpack(rest[:-DIGEST])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(
            f"{name} has the form of a kernelmean model but not its contents ({error})."
        ) from error


def _pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    layout = [{"name": name, "type": str(a.dtype), "shape": a.shape} for name, a in arrays.items()]
    text = json.dumps({**header, "arrays": layout}, allow_nan=False).encode()
    parts = [MAGIC, str(VERSION).encode(), b"\n", len(text).to_bytes(8, "little"), text]
    parts += [np.ascontiguousarray(a, dtype=TYPES[str(a.dtype)]).tobytes() for a in arrays.values()]
    contents = b"".join(parts)
    return contents + hashlib.sha256(contents).digest()


def _unpack(rest: bytes) -> tuple[dict[str, Any], Arrays]:
    length = int.from_bytes(rest[:8], "little")
    header = json.loads(rest[8 : 8 + length].decode())
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise ValueError("its header is none")
    position = 8 + length
    arrays: Arrays = {}
    for entry in header.pop("arrays"):
        dtype = np.dtype(TYPES[entry["type"]])
        shape = tuple(int(size) for size in entry["shape"])
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if min(shape, default=0) < 0 or position + size > len(rest):
            raise ValueError(f"array {entry['name']!r} does not fit the file")
        if entry["name"] in arrays:
            raise ValueError(f"array {entry['name']!r} appears twice")
        flat = np.frombuffer(rest, dtype, count=size // dtype.itemsize, offset=position)
        arrays[entry["name"]] = flat.reshape(shape).astype(entry["type"])
        position += size
    if position != len(rest):
        raise ValueError("bytes are left over")
    return header, arrays
