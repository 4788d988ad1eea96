"""Work that knows no steps shows the time that goes by, and leaves nothing behind."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _progress


def test_a_phase_tells_its_name_and_the_time(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(_progress, "TICK_SECONDS", 0.01)
    with _progress.shown(), _progress.phase("measuring"):
        time.sleep(0.1)
    assert "measuring 00:00" in capsys.readouterr().err
    assert "_tick" not in " ".join(thread.name for thread in threading.enumerate())


def test_nobody_is_told_who_did_not_ask(capsys):
    with _progress.phase("measuring"):
        pass
    assert capsys.readouterr().err == ""


def test_a_phase_ends_with_an_error(monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    with pytest.raises(ValueError, match="wrong"), _progress.shown(), _progress.phase("measuring"):
        raise ValueError("wrong")
    assert "_tick" not in " ".join(thread.name for thread in threading.enumerate())


def test_every_long_part_of_a_fit_shows_itself(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(_progress, "TICK_SECONDS", 0.001)
    X = np.random.default_rng(0).normal(size=(2000, 2))
    with _progress.shown():
        km.SparseKDE(random_state=0).fit(X)
        said = capsys.readouterr().err
        km.SparseKDE(random_state=0, target="kde", k=20).fit(X)
    assert "trying 2 components" in said
    assert "fitting every row" in said
    assert "bandwidth" in capsys.readouterr().err
