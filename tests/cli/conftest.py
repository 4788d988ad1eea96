"""Commands run in a folder that has their inputs and nothing else."""

from __future__ import annotations

import pytest

from tests.cli import queried
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


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return queried.write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def query(capsys, tmp_path, models, monkeypatch):
    """``kernelmean query`` in a folder that has its models and nothing else."""
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: call(capsys, "query", *arguments)


@pytest.fixture
def ask(query):
    """The answers, as JSON has them."""

    def asked(*arguments):
        done = query(*arguments, "--json")
        assert (done.code, done.err) == (0, ""), done.err
        return queried.strict(done.out)

    return asked
