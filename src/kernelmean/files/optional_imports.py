"""Libraries that only some files need: imported when such a file is met, named when missing."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, task: str, extra: str = "files") -> Any:
    """The module, or one sentence that says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = {"PIL": "Pillow"}.get(module.partition(".")[0], module.partition(".")[0])
        raise ImportError(
            f"{task} needs {package}, which is not installed: pip install 'kernelmean[{extra}]'."
        ) from error


def has_arrow() -> bool:
    """Whether text can be read and written by pyarrow.

    That is several times as fast as the standard library.
    """
    try:
        importlib.import_module("pyarrow.csv")
    except ImportError:
        return False
    return True
