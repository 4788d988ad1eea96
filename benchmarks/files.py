"""``python -m benchmarks.files``: files larger than the memory that scoring them may use, made in a
temporary folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import kernelmean as km
from benchmarks.measuring import Row, run

COLUMNS = 5
CENTERS = 64
GROUP = 1_000_000  # rows at a time
PARQUET, CSV = 2e9, 5e8  # bytes
LIMIT = 1.5e9  # bytes of memory


class Scored(NamedTuple):
    """What the command needed."""

    rows: int
    file_bytes: int
    peak_bytes: int
    seconds: float


class Watch(threading.Thread):
    """The largest resident set of a process so far, until it ends.

    By the system's own mark for the program: what ``wait4`` says counts the process that started it
    as well.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._status, self.peak = Path(f"/proc/{pid}/status"), 0

    def run(self) -> None:
        while (found := self._mark()) is not None:
            self.peak = max(self.peak, found)
            time.sleep(0.01)

    def _mark(self) -> int | None:
        try:
            lines = self._status.read_text().splitlines()
        except OSError:  # the process has ended
            return None
        kilobytes = next((line.split()[1] for line in lines if line.startswith("VmHWM")), None)
        return None if kilobytes is None else 1024 * int(kilobytes)


def blocks(rows: int) -> Iterator[pa.RecordBatch]:
    """Normal points of incompressible digits."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, GROUP):
        X = rng.normal(size=(COLUMNS, min(GROUP, rows - start)))
        yield pa.record_batch({f"x{j}": column for j, column in enumerate(X)})


def write(path: Path, size: float) -> int:
    """About so many bytes of points; how many rows that is."""
    rows = max(1, int(size / (8 * COLUMNS if path.suffix == ".parquet" else 19.6 * COLUMNS)))
    batches = blocks(rows)
    first = next(batches)
    if path.suffix == ".parquet":
        writer = pa.parquet.ParquetWriter(
            path, first.schema, compression="none", use_dictionary=False
        )
    else:
        writer = pa.csv.CSVWriter(path, first.schema)
    with writer:
        writer.write_batch(first) if path.suffix == ".parquet" else writer.write(first)
        for batch in batches:
            writer.write_batch(batch) if path.suffix == ".parquet" else writer.write(batch)
    return rows


def score(folder: Path, name: str, size: float) -> Scored:
    """``kernelmean score`` in a process of its own, watched while it runs."""
    path, model = folder / name, folder / "model.km"
    rows = write(path, size)
    X = np.random.default_rng(1).normal(size=(20_000, COLUMNS))
    density = km.SparseKDE(k=CENTERS, selection="kmeans", random_state=0).fit(X)
    density.save(model)
    command = [
        sys.executable,
        "-m",
        "kernelmean",
        "score",
        str(model),
        str(path),
        "-o",
        str(folder / "scores.parquet"),
    ]
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "--threshold", "0.01", "--json"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        watched = Watch(process.pid)
        watched.start()
        facts = json.loads(process.stdout.read())
    elapsed = time.perf_counter() - start
    watched.join()
    assert (process.returncode, facts["rows"]) == (0, rows), facts
    found = Scored(rows, path.stat().st_size, watched.peak, elapsed)
    path.unlink()
    return found


def scoring() -> list[Row]:
    """Peak memory of scoring, from the start of the process to its end."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("points.parquet", PARQUET), ("points.csv", CSV)):
            found = score(Path(folder), name, size)
            case = (
                f"{found.file_bytes / 1e9:.1f} GB of {name.partition('.')[2]}, "
                f"{found.rows / 1e6:.1f}·10⁶ rows, d = {COLUMNS}"
            )
            detail = (
                f"{found.seconds:.0f} s, {1e6 * found.seconds / found.rows:.2f} µs a row "
                f"with reading and writing, k = {CENTERS}"
            )
            within = f"≤ {LIMIT / 1e9:.1f} GB"
            rows.append(Row(case, f"{found.peak_bytes / 1e9:.2f} GB", within, detail))
    return rows


TABLES = {"Memory of `kernelmean score`": scoring}


if __name__ == "__main__":
    run("Files larger than memory", "Written by `make bench`.", TABLES)
