"""Commands run in a folder that has their inputs and nothing else."""

from __future__ import annotations

import pytest

import kernelmean as km
from tests.cli.inputs import call, write_inputs
from tests.comparison import stand_in


@pytest.fixture(autouse=True)
def _quick_difference(monkeypatch):
    """A difference that takes no time: what commands make of it is tested here."""
    monkeypatch.setattr(km, "difference", stand_in.difference, raising=False)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    return write_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture
def run(capsys, tmp_path, inputs, monkeypatch):
    """A command in a folder that has the inputs and nothing else."""
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: call(capsys, *arguments)
