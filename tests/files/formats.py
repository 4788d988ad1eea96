"""Small real files of every format that is read, all with the same 3 columns."""

from __future__ import annotations

import gzip
import importlib
import struct
from pathlib import Path

import numpy as np
import pytest

reason = "needs pip install 'kernelmean[files]'"
pa = pytest.importorskip("pyarrow", reason=reason)
flowio = pytest.importorskip("flowio", reason=reason)
Image = pytest.importorskip("PIL.Image", reason=reason)

for module in ("csv", "feather", "ipc", "parquet"):
    importlib.import_module(f"pyarrow.{module}")

NAMES = ["a", "b", "c"]


def table(X, **more):
    return pa.table({name: X[:, j] for j, name in enumerate(NAMES)} | more)


def write_csv(path: Path, X, delimiter=",", **more) -> Path:
    pa.csv.write_csv(table(X, **more), path, pa.csv.WriteOptions(delimiter=delimiter))
    return path


def zipped(path: Path) -> Path:
    target = path.with_name(path.name + ".gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


def write_folder(path: Path, X, parts=12) -> Path:
    path.mkdir()
    for i, part in enumerate(np.array_split(X, parts)):
        pa.parquet.write_table(table(part), path / f"part.{i}.parquet")
    return path


def write_stream(path: Path, X) -> Path:
    with pa.ipc.new_stream(str(path), table(X).schema) as writer:
        writer.write_table(table(X), max_chunksize=77)
    return path


def write_idx(path: Path, X, code=0x0E, kind=">f8") -> Path:
    path.write_bytes(
        bytes([0, 0, code, X.ndim])
        + struct.pack(f">{X.ndim}I", *X.shape)
        + X.astype(kind).tobytes()
    )
    return path


def write_fcs(path: Path, X, version="3.1", markers=("", "", "CD3")) -> Path:
    """Float events by hand, so that every version of the standard is met: header, text, data."""
    names = ["FSC-A", "SSC-A", "FL1"]
    values = np.asarray(X, dtype="<f4").tobytes()
    words = {
        "$BYTEORD": "1,2,3,4",
        "$DATATYPE": "F",
        "$MODE": "L",
        "$NEXTDATA": "0",
        "$PAR": str(X.shape[1]),
        "$TOT": str(len(X)),
        "$BEGINANALYSIS": "0",
        "$ENDANALYSIS": "0",
        "$BEGINSTEXT": "0",
        "$ENDSTEXT": "0",
        "$BEGINDATA": "1024",
        "$ENDDATA": str(1024 + len(values) - 1),
    }
    for j, name in enumerate(names, start=1):
        words |= {f"$P{j}N": name, f"$P{j}B": "32", f"$P{j}R": "1024", f"$P{j}E": "0,0"}
        words |= {f"$P{j}S": markers[j - 1]} if markers[j - 1] else {}
    text = "/" + "/".join(f"{key}/{value}" for key, value in words.items()) + "/"
    header = f"FCS{version}    " + "".join(
        f"{n:>8}" for n in (58, 58 + len(text) - 1, 1024, 1024 + len(values) - 1, 0, 0)
    )
    path.write_bytes((header + text).ljust(1024).encode("ascii") + values)
    return path


def write_all(folder: Path, X) -> dict[str, Path]:
    """One file of each kind; float64 but for FCS."""
    files = {"csv": write_csv(folder / "x.csv", X), "tsv": write_csv(folder / "x.tsv", X, "\t")}
    files["semicolon"] = write_csv(folder / "semicolon.csv", X, ";")
    files["csv.gz"], files["tsv.gz"] = zipped(files["csv"]), zipped(files["tsv"])
    np.savetxt(folder / "plain.csv", X, delimiter=",", fmt="%.17g")
    files["plain"] = folder / "plain.csv"
    np.save(folder / "x.npy", X)
    np.savez(folder / "x.npz", X=X)
    files |= {"npy": folder / "x.npy", "npz": folder / "x.npz"}
    files["parquet"], files["feather"], files["arrow"] = (
        folder / "x.parquet",
        folder / "x.feather",
        folder / "x.arrow",
    )
    pa.parquet.write_table(table(X), files["parquet"], row_group_size=70)
    pa.feather.write_feather(table(X), files["feather"], chunksize=55)
    with pa.ipc.new_file(str(files["arrow"]), table(X).schema) as writer:
        writer.write_table(table(X))
    files["stream"] = write_stream(folder / "stream.arrow", X)
    files["folder"] = write_folder(folder / "parts", X)
    files["idx"] = write_idx(folder / "x-idx2-double", X)
    files["idx.gz"] = zipped(files["idx"])
    files |= {
        f"fcs{version}": write_fcs(folder / f"v{version[0]}{version[2]}.fcs", X, version)
        for version in ("2.0", "3.0", "3.1")
    }
    return files
