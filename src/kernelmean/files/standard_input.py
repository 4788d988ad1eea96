"""Standard input as a file: what comes is kept beside, since a fit reads its rows several times."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

NAME = "-"  # as commands write it
TITLE = "standard input"  # as messages do
COPIED_BYTES = 1 << 20  # at a time
# The first bytes that say what it is, and the ending that says so to readers; readers themselves
# know the formats that need no ending.
BEGINNINGS = (
    (b"\x1f\x8b", ".csv.gz"),
    (b"{", ".jsonl"),
    (b"\x93NUMPY", ".npy"),
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"FCS", ".fcs"),
    (b"\x89PNG", ".png"),
    (b"\xff\xd8", ".jpg"),
)

_kept: list[Path] = []


def kept() -> Path:
    """All of standard input in a file of its own, which is gone when the program ends."""
    if not _kept:
        folder = Path(tempfile.mkdtemp(prefix="kernelmean-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _kept.append(_copied(folder))
    return _kept[0]


def titled(text: str) -> str:
    """A message that speaks of standard input, not of the file that it is kept in."""
    for path in _kept:
        text = text.replace(str(path), TITLE)
    return text


def forget() -> None:
    """Read anew when asked again."""
    _kept.clear()


def _copied(folder: Path) -> Path:
    raw = getattr(sys.stdin, "buffer", sys.stdin)
    plain = folder / "rows"
    with plain.open("wb") as file:
        shutil.copyfileobj(raw, file, COPIED_BYTES)
    with plain.open("rb") as file:
        head = file.read(64).lstrip()
    ending = next((ending for start, ending in BEGINNINGS if head.startswith(start)), ".csv")
    target = plain.with_suffix(ending)
    os.replace(plain, target)
    return target
