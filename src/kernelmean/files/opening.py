"""Which format a file has, by its name; by its first bytes where the name says nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from kernelmean.files import annotated, arrays, cytometry, images, json_lines, tables, text
from kernelmean.files.reader import Reader

ENDINGS: dict[str, Callable[[Path], Reader]] = {
    ".npy": arrays.read_npy,
    **dict.fromkeys(text.ENDINGS, text.read_text),
    **dict.fromkeys(json_lines.ENDINGS, json_lines.read_json_lines),
    ".parquet": tables.read_parquet,
    ".pq": tables.read_parquet,
    ".feather": tables.read_ipc,
    ".arrow": tables.read_ipc,
    ".fcs": cytometry.read_fcs,
    ".h5ad": annotated.read_h5ad,
    ".idx": arrays.read_idx,
    **dict.fromkeys(images.FORMATS, images.read_pixels),
}
STARTS: dict[bytes, Callable[[Path], Reader]] = {
    b"\x93NUMPY": arrays.read_npy,
    b"PAR1": tables.read_parquet,
    b"ARROW1": tables.read_ipc,
    b"FCS": cytometry.read_fcs,
}
ODD = re.compile("[\ud800-\udfff]")  # how Python keeps bytes of a name that are not UTF-8
IDX = re.compile(r"(^|[.-])idx\d*(-u?(byte|short|int|float|double))?$")


def open_reader(path: str | os.PathLike[str]) -> Reader:
    """The reader of a file; ``file.npz:NAME`` is one array of several."""
    name = os.fspath(path)
    archive, colon, key = name.rpartition(":")
    if colon and archive.endswith(".npz") and not Path(name).exists():
        return arrays.read_npz(_present(Path(archive)), key)
    file = _present(Path(name))
    if file.is_dir():
        return tables.read_parquet(file)
    if file.suffix.lower() == ".npz":
        return arrays.read_npz(file, None)
    return _by_name(file)(file)


def readable(name: str) -> str:
    """A name, or text with names in it, that can be shown and written.

    U+FFFD stands for every byte that is not UTF-8.
    """
    return ODD.sub("\ufffd", name)


def short_name(path: str | os.PathLike[str]) -> str:
    """The name of a file without its folder and without the ending that says its format.

    Other dots belong to the name.
    """
    file = Path(path)
    if file.suffix.lower() in text.COMPRESSIONS:
        file = file.with_suffix("")
    return file.stem if file.suffix.lower() in {".npz", *ENDINGS} else file.name


def _present(path: Path) -> Path:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if not path.is_dir() and path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    return path


def _by_name(file: Path) -> Callable[[Path], Reader]:
    compressed = file.suffix.lower() in text.COMPRESSIONS
    name = (file.stem if compressed else file.name).lower()
    if IDX.search(name):
        return arrays.read_idx
    found = ENDINGS.get(Path(name).suffix)
    if found is not None and (not compressed or Path(name).suffix in text.ENDINGS):
        return found
    with file.open("rb") as opened:
        head = opened.read(8)
    found = next((reader for start, reader in STARTS.items() if head.startswith(start)), None)
    if found is None:
        known = sorted({".npz", ".csv.gz", *ENDINGS} - {".pq", ".txt", ".jpeg", ".tif", ".ndjson"})
        raise ValueError(
            f"{file} has no ending that says what it is; known are {', '.join(known)} and "
            "MNIST's idx."
        )
    return found
