"""Models of every kind for ``kernelmean query``, small; and what it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from kernelmean.cli import main

ODD_NAMES = ("a<b", "x y", "x", "1", "p,q")
COPY = ("--bandwidth", "scott", "--k", 30, "--no-certificate")


def fitted(*arguments: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fit", *map(str, arguments)])
    assert not ended.value.code


def write_rows(folder: Path) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(size=(300, 2)), rng.normal(4.0, 0.5, (150, 2))])
    two[:, 1] += 0.5 * two[:, 0]
    tables = {
        "two": (two, "x,y"),
        "three": (rng.normal(size=(200, 3)), "x,y,z"),
        "one": (two[:, :1], "x"),
        "positive": (np.exp(two), "x,y"),
        "odd": (rng.normal(size=(200, 5)), '"a<b","x y",x,1,"p,q"'),
    }
    for name, (rows, head) in tables.items():
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header=head, comments="")
    np.save(folder / "bare.npy", two)
    return {name: folder / f"{name}.csv" for name in tables} | {"bare": folder / "bare.npy"}


def write_models(folder: Path) -> Path:
    """model.km has covariances that are tilted, copy.km diagonal ones."""
    rows = write_rows(folder)
    fitted(rows["two"], "-o", folder / "model.km")
    fitted(rows["three"], "-o", folder / "copy.km", *COPY)
    fitted(rows["one"], "-o", folder / "one.km")
    fitted(rows["positive"], "-o", folder / "log.km", "--transform", "log")
    fitted(rows["two"], "-o", folder / "arcsinh.km", "--transform", "arcsinh:5", *COPY)
    fitted(rows["odd"], "-o", folder / "odd.km", *COPY)
    fitted(rows["bare"], "-o", folder / "bare.km", *COPY)
    fitted(rows["two"], "-o", folder / "laplacian.km", "--kernel", "laplacian", *COPY)
    fitted(rows["two"], "-o", folder / "signed.km", "--signed", *COPY[2:])
    replace(km.load(folder / "copy.km"), columns=("a", "b", "a")).save(folder / "twins.km")
    X = np.load(rows["bare"])
    km.difference(X[::2], X[1::2], random_state=0).save(folder / "difference.km")
    (folder / "half.km").write_bytes((folder / "model.km").read_bytes()[:500])
    (folder / "bare.npy").unlink()
    return folder


def strict(text: str) -> dict:
    """JSON as its standard has it, without NaN and Infinity."""

    def refused(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refused)
