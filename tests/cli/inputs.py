"""The files that the examples of the help and of README speak of, small; and how to run a command
in this process.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kernelmean.cli import main
from tests.files import formats
from tests.files.formats import pa

SPECIES = np.array(["adelie", "chinstrap", "gentoo"])


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def call(capsys, *arguments: object) -> Done:
    """The command in this process, from its arguments to its exit code."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return Done(ended.value.code or 0, *capsys.readouterr())


def cloud(n: int, seed: int, shift: float = 0.0, d: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) + shift


def write_tables(folder: Path) -> None:
    X, w = cloud(300, 0), np.arange(1.0, 301.0)
    columns = {"x": X[:, 0], "y": X[:, 1]}
    for name, more in (("data", {"w": w}), ("new", {}), ("before", {}), ("after", {})):
        pa.csv.write_csv(pa.table(columns | more), folder / f"{name}.csv")
    pa.parquet.write_table(pa.table(columns), folder / "data.parquet")
    kind, y = np.arange(240) % 3, cloud(240, 1)
    points = {"x": y[:, 0] + 4 * kind, "y": y[:, 1]}
    pa.csv.write_csv(pa.table(points | {"species": SPECIES[kind]}), folder / "train.csv")
    pa.csv.write_csv(
        pa.table({name: values[kind < 2] for name, values in points.items()}), folder / "test.csv"
    )
    patient = np.repeat(["anna", "bert", "carl", "dora"], 60)
    groups = points | {"patient": patient, "site": np.where(patient < "c", "north", "south")}
    pa.parquet.write_table(pa.table(groups), folder / "cells.parquet")


def write_others(folder: Path) -> None:
    events = np.abs(cloud(200, 2, d=3)) * 1000
    for name in ("cells", "a", "b", "patient1", "patient2", "patient3"):
        formats.write_fcs(folder / f"{name}.fcs", events + 10 * len(name))
    images = (
        np.random.default_rng(3).integers(0, 256, size=(120, 1, 3))
        // np.array([1, 2, 8])[np.arange(120) % 3, None, None]
    )
    for name, rows in (("train", images), ("test", images[:60])):
        formats.zipped(formats.write_idx(folder / f"{name}-idx3-ubyte", rows, 0x08, ">u1"))
    formats.zipped(formats.write_idx(folder / "train-idx1-ubyte", np.arange(120) % 3, 0x08, ">u1"))
    picture = np.zeros((20, 24, 3), np.uint8)
    picture[:10], picture[10:, :12] = (200, 30, 30), (20, 20, 220)
    formats.Image.fromarray(picture).save(folder / "photo.jpg", quality=95)


def write_inputs(folder: Path) -> Path:
    """Every input of every example but for models, which the examples make, or
    :func:`write_models`.
    """
    write_tables(folder)
    write_others(folder)
    return folder


def write_models(folder: Path, capsys) -> None:
    """model.km, a.km and b.km."""
    for name in ("model", "a", "b"):
        done = call(
            capsys,
            "fit",
            folder / "new.csv",
            "-o",
            folder / f"{name}.km",
            "--k",
            12,
            "--no-certificate",
        )
        assert done.code == 0, done.err


def answer(done: Done) -> dict:
    """What a command printed with --json."""
    assert done.code == 0, done.err
    return json.loads(done.out)


def written(path: str):
    """A table that a command wrote, as a frame."""
    return (
        pa.parquet.read_table(path).to_pandas()
        if path.endswith("parquet")
        else pa.csv.read_csv(path).to_pandas()
    )
