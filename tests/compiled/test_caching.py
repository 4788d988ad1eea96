"""What is said of compiling, to whom, and turns among processes."""

from __future__ import annotations

import warnings

import pytest

import kernelmean as km
from kernelmean import _progress
from kernelmean.compiled import caching


@pytest.fixture(autouse=True)
def untold(monkeypatch):
    """As in a process that has compiled nothing."""
    monkeypatch.setattr(caching, "_seconds", 0.0)
    monkeypatch.setattr(caching, "_told", False)
    monkeypatch.setattr(caching, "_warned", False)
    monkeypatch.setattr(caching, "asked_for", lambda: "")


def test_who_watches_is_told_once_after_two_seconds(capsys):
    with _progress.shown():
        caching.kept(1.5, "folder")
        assert capsys.readouterr().err == ""
        caching.kept(1.0, "folder")
        assert capsys.readouterr().err == "kernelmean: compiling once, cached afterwards\n"
        caching.kept(9.0, "folder")
    assert capsys.readouterr() == ("", "")


def test_nobody_is_told_who_did_not_ask(capsys):
    caching.kept(60.0, "folder")
    assert capsys.readouterr() == ("", "")


def test_one_warning_in_a_process():
    with pytest.warns(km.CacheWarning, match="in a or b, and every process"):
        caching.not_kept(["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caching.not_kept(["a", "b"])


def test_another_folder_than_the_one_that_was_asked_for(monkeypatch):
    monkeypatch.setattr(caching, "asked_for", lambda: "/asked")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        caching.kept(0.1, "/asked/below")
    with pytest.warns(km.CacheWarning, match="NUMBA_CACHE_DIR=/asked cannot be written"):
        caching.kept(0.1, "/elsewhere")


def test_folders_before_the_one_that_is_written_are_read(monkeypatch):
    monkeypatch.setattr(caching, "places", lambda file: ["a", "b", "c"])
    assert caching.readable("x.py", "a") == ["a"]
    assert caching.readable("x.py", "b") == ["a", "b"]
    assert caching.readable("x.py", None) == ["a", "b", "c"]
    assert caching.readable("x.py", "z") == ["z"]


def test_a_turn_is_taken_once_and_given_back(tmp_path, monkeypatch):
    assert caching.begin("loop") is False  # nobody shares
    monkeypatch.setattr(caching, "_turns", tmp_path)
    assert caching.begin("loop") is True
    assert caching.begin("loop") is False  # it is ours already
    caching.end("loop")
    assert caching.begin("loop") is True
    caching.end("loop")
    caching.end("loop")
