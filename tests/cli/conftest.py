"""Commands run in a folder that has their inputs and nothing else."""

from __future__ import annotations

import pytest

from tests.cli.inputs import call, write_inputs


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
