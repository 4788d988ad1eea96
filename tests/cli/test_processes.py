"""The commands as a user meets them: each in a process of its own, on files of several formats."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _progress
from tests.cli.inputs import cloud, write_inputs
from tests.files import formats

ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(Path(km.__file__).parents[1]),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def start(*arguments, cwd, **options):
    command = [sys.executable, "-m", "kernelmean", *map(str, arguments)]
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(*arguments, cwd, **options):
    with start(*arguments, cwd=cwd, **options) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    write_inputs(folder)
    formats.write_all(folder, cloud(200, 0, d=3))
    return folder


def test_from_files_to_answers(folder):
    """fit (a folder of parquet), score (csv.gz), info, compare (FCS), embed (npy), proportions
    (idx), segment (jpg).
    """
    for i in range(3):
        np.save(folder / f"s{i}.npy", cloud(100, i, i))
    commands = {
        "fit": ["parts", "-o", "m.km", "--k", 10],
        "score": ["m.km", "x.csv.gz", "-o", "s.parquet", "--threshold", 0.1],
        "info": ["m.km"],
        "compare": ["cells.fcs", "b.fcs", "--transform", "arcsinh:150", "--permutations", 99],
        "embed": ["s0.npy", "s1.npy", "s2.npy", "-o", "c.csv", "--neighbors", 2, "--k", 5],
        "proportions": [
            *(
                "train-idx3-ubyte.gz",
                "test-idx3-ubyte.gz",
                "--label",
                "train-idx1-ubyte.gz",
            ),
            *("--bandwidth", 100),
        ],
        "segment": ["photo.jpg", "-o", "segments.png"],
    }
    found = {}
    for name, arguments in commands.items():
        code, out, err = run(name, *arguments, "--json", cwd=folder)
        assert (code, err) == (0, ""), name
        found[name] = json.loads(out)
    assert found["fit"]["points"] == found["score"]["rows"] == found["info"]["points"] == 200
    assert found["score"]["flagged"] == 20
    assert 0 < found["compare"]["p_value"] <= 1
    assert len(found["embed"]["distances"]) == 3
    assert sum(row["proportion"] for row in found["proportions"]["proportions"]) == pytest.approx(
        1.0
    )
    assert found["segment"]["segments"] >= 2
    for made in ("m.km", "s.parquet", "c.csv", "segments.png"):
        assert (folder / made).stat().st_size > 100
    assert not list(folder.glob("*.part")) + list(folder.glob(".*"))


def test_ctrl_c_that_is_lost_in_compiled_code_ends_the_work_at_its_next_step():
    """C code that ignores errors, as looking for an attribute does, may swallow the
    KeyboardInterrupt.
    """
    with _progress.stoppable(), _progress.share("work") as progress:
        progress.reach(0.1)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            progress.reach(0.2)
    progress.reach(0.3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_leaves_no_half_written_file(tmp_path):
    density = km.SparseKDE(k=200, random_state=0).fit(cloud(2000, 0))
    density.save(tmp_path / "m.km")
    rows = np.lib.format.open_memmap(
        tmp_path / "big.npy", mode="w+", dtype=np.float64, shape=(30_000_000, 2)
    )
    del rows  # zeros that take no room on the disk
    before = set(tmp_path.iterdir())
    with start("score", "m.km", "big.npy", "-o", "scores.parquet", cwd=tmp_path) as process:
        deadline = time.monotonic() + 120
        while set(tmp_path.iterdir()) == before:  # until it writes
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    # By exit code or, where Ctrl-C met code that is run by exec, by the signal itself: a shell says
    # 130 of both.
    assert process.returncode in (130, -signal.SIGINT), err
    assert (out, err) == ("", "kernelmean: interrupted; no file was left half-written.\n")
    assert set(tmp_path.iterdir()) == before


def test_a_full_disk_is_one_line(folder):
    """A limit on the size of files stands for the disk: the same error from the same call."""
    before = set(folder.iterdir())
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))  # noqa: E731
    code, out, err = run(
        "fit", "x.npy", "-o", "full.km", "--k", 20, "--no-certificate", cwd=folder, preexec_fn=limit
    )
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "file too large" in err.lower()
    assert set(folder.iterdir()) == before
