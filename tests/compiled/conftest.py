"""These tests are about compiled loops, on data for which nothing would be compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compiling import compiled_loops


@pytest.fixture(autouse=True)
def loops_are_compiled() -> Iterator[None]:
    with compiled_loops():
        yield
