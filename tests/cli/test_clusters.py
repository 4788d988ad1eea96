"""``kernelmean fit`` on a cluster of processes that it starts, or that is there already."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import call, cloud
from tests.files.formats import pa

distributed = pytest.importorskip("distributed")

from kernelmean.samples.cluster import collections as tables  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "default"
)  # of Dask itself, on every start and end of a process
OPTIONS = ("--k", 15, "--selection", "kcenter", "--no-certificate", "--json")


@pytest.fixture
def folder(tmp_path):
    """Parquet files of unequal size, to be read in the natural order of their names."""
    X, place = cloud(900, 0), tmp_path / "points"
    place.mkdir()
    for name, rows in (("2", slice(0, 100)), ("10", slice(100, 900))):
        columns = {"x": X[rows, 0], "y": X[rows, 1], "w": np.arange(1.0, 901.0)[rows]}
        pa.parquet.write_table(pa.table(columns), place / f"part-{name}.parquet")
    return place


def test_workers_and_scheduler_fit_what_one_process_fits(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tables, "HERE", 0)
    assert (
        call(capsys, "fit", folder, "-o", tmp_path / "plain.km", "--weights", "w", *OPTIONS).code
        == 0
    )
    done = call(
        capsys, "fit", folder, "-o", tmp_path / "two.km", "--weights", "w", "--workers", 2, *OPTIONS
    )
    assert done.code == 0, done.err
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options, protocol="tcp") as cluster:
        where = cluster.scheduler_address
        ended = call(
            capsys,
            "fit",
            folder,
            "-o",
            tmp_path / "given.km",
            "--scheduler",
            where,
            "--columns",
            "x,y",
            *OPTIONS,
        )
        for client in [c for c in distributed.Client._instances if c.status == "running"]:
            client.close()
    assert ended.code == 0, ended.err
    plain, two, given = (km.load(tmp_path / f"{name}.km") for name in ("plain", "two", "given"))
    np.testing.assert_array_equal(two.centers, plain.centers)
    np.testing.assert_allclose(two.weights, plain.weights, rtol=1e-8)
    assert two.columns == given.columns == ("x", "y")
    assert given.n_points == 900


def test_one_of_the_two_flags(folder, tmp_path, capsys):
    done = call(
        capsys,
        "fit",
        folder,
        "-o",
        tmp_path / "m.km",
        "--workers",
        1,
        "--scheduler",
        "tcp://127.0.0.1:9",
    )
    assert done.code == 2
    assert "one of the two" in done.err
