"""Files that are whole or absent: written beside their place, and renamed when done."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # only writing ends so


def refuse_other_than_files(path: Path) -> None:
    """A ValueError where something is there that a file must not take the place of.

    That is a folder, a device or a pipe.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder, but a file is to be written there.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe, but a file is to be written there.")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` if nothing fails.

    It vanishes if anything fails, Ctrl-C included.
    """
    target = Path(path)
    refuse_other_than_files(target)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(
            error.errno, os.strerror(error.errno), str(target)
        ) from error  # libraries leave out which file it was
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()
