"""Which path the cpu engine takes, for tests that are about one of the two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kernelmean import _work
from kernelmean.engines.cpu import blocks


@contextmanager
def least_work(steps: float) -> Iterator[None]:
    """From how many steps on loops are compiled: 0 for always, infinity for never."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_work, "LEAST_WORK", steps)
        yield


@contextmanager
def compiled_loops() -> Iterator[None]:
    """Compiled loops however small the work is, and a tree from 4096 points on."""
    with least_work(0.0), pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "TREE_POINTS", 4096)
        yield
