"""Files are whole or absent."""

from __future__ import annotations

import errno
import os
import sys

import numpy as np
import pytest

import kernelmean as km
from kernelmean.files import atomic_write, image_format, table_writer, write_image, writing
from tests.files.formats import Image, pa

ENDINGS = ["parquet", "feather", "arrow", "csv", "tsv", "csv.gz", "tsv.gz"]


@pytest.mark.parametrize(
    "ending", [*ENDINGS, *(f"{ending} without pyarrow" for ending in ENDINGS if "sv" in ending)]
)
def test_a_table_is_read_back(tmp_path, ending, monkeypatch):
    if ending.endswith("pyarrow"):
        monkeypatch.setattr(writing, "has_arrow", lambda: False)
        ending = ending.partition(" ")[0]
    path = tmp_path / f"t.{ending}"
    with table_writer(path) as write:
        for start in (0, 5):
            write(
                {
                    "row": np.arange(start, start + 5),
                    "value": np.linspace(0, 1, 5) / 3,
                    "name": list("abcd\u00e9"),
                }
            )
        assert not path.exists()
    assert np.asarray(km.read(path, columns="row,value"))[:, 0].tolist() == list(range(10))
    np.testing.assert_array_equal(
        np.asarray(km.read(path, columns="value")).ravel(), np.tile(np.linspace(0, 1, 5) / 3, 2)
    )
    assert (
        km.read(path, columns="row", labels="name").load().labels.tolist() == list("abcd\u00e9") * 2
    )
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("arrow", [True, False])
def test_names_with_delimiters_and_quotes_survive(tmp_path, monkeypatch, arrow):
    monkeypatch.setattr(writing, "has_arrow", lambda: arrow)
    names = ["a,b", 'c"d', "e\tf", "<script>"]
    with table_writer(tmp_path / "t.csv") as write:
        write({"name": names, "x": [1.0, 2.0, 3.0, 4.0]})
    assert pa.csv.read_csv(tmp_path / "t.csv")["name"].to_pylist() == names


def test_both_writers_say_the_same(tmp_path, monkeypatch):
    values = {
        "n": [1, 2, 3],
        "x": np.array([0.1, 1e300, np.nan]),
        "t": [True, False, None],
        "s": ["a", None, "b c"],
    }
    for arrow in (True, False):
        monkeypatch.setattr(writing, "has_arrow", lambda arrow=arrow: arrow)
        with table_writer(tmp_path / f"{arrow}.csv") as write:
            write(values)
    first, second = (pa.csv.read_csv(tmp_path / f"{arrow}.csv") for arrow in (True, False))
    assert first.equals(second)


def _interrupted(write):
    write({"row": np.arange(5)})
    raise KeyboardInterrupt


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_leaves_what_was_there(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), table_writer(path) as write:
        _interrupted(write)
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_cannot_be_written_is_said_before_anything_is(tmp_path):
    with (
        pytest.raises(ValueError, match=r"t\.xlsx names no table format"),
        table_writer(tmp_path / "t.xlsx"),
    ):
        pass
    with pytest.raises(ValueError, match="nothing to write"), table_writer(tmp_path / "t.csv"):
        pass
    with pytest.raises(ValueError, match=r"t\.gif names no picture format"):
        image_format(tmp_path / "t.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(ImportError, match=r"writing .*t\.parquet needs pyarrow"),
        table_writer(tmp_path / "t.parquet"),
    ):
        pytest.fail("nothing can be written here")


def test_a_file_takes_its_place_at_the_end(tmp_path):
    target = tmp_path / "t.txt"
    with atomic_write(target) as beside:
        beside.write_text("new")
        assert not target.exists()
        assert beside.parent == tmp_path
    assert target.read_text() == "new"
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "none" / "t.txt") as beside:
        beside.write_text("new")


def _filled(path):
    path.write_text("some")
    raise OSError(errno.ENOSPC, "Error writing bytes to file")


def test_a_full_disk_is_named_with_the_file(tmp_path):
    with (
        pytest.raises(OSError, match=rf"\[Errno 28\] No space left on device: '{tmp_path}/t.txt'"),
        atomic_write(tmp_path / "t.txt") as beside,
    ):
        _filled(beside)
    assert list(tmp_path.iterdir()) == []


def test_pictures(tmp_path):
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    write_image(tmp_path / "t.png", pixels)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "t.png")), pixels)
    assert [file.name for file in tmp_path.iterdir()] == ["t.png"]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="device or a pipe"), atomic_write(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(ValueError, match="is a folder"), atomic_write(tmp_path):
        pass
