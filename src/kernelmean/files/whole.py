"""Files that are whole or absent: written beside their place, and renamed when done."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; it takes the place of ``path`` if nothing fails, and vanishes if anything does, Ctrl-C included."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()
