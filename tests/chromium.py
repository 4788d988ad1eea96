"""The browser that pages are opened in."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def started(playwright):
    """The Chromium of this machine; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here; as root on Debian: apt-get install -y chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    running = playwright.chromium.launch(executable_path=found, args=arguments)
    yield running
    running.close()
