"""Reading in a process of its own, whose memory is bounded: one that dies or hangs is noticed, and
the next one is fresh.

    python -m tests.files.guarded

reads a JSON object per line, does what it says and answers with another.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEBIBYTES = 400  # that reading a tiny file may take, beyond what the process holds
SECONDS = 30


class Guarded:
    """A process that reads files, started when the first is asked for."""

    def __init__(self) -> None:
        self._process = None

    def ask(self, **question) -> dict:
        """What came of it: kind, message, seconds."""
        if self._process is None:
            self._start()
        assert self._process is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], SECONDS)[0]:
            self.close()
            return {"kind": "hang", "message": f"no answer in {SECONDS} s", "seconds": SECONDS}
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self.close()
            return {"kind": "died", "message": f"exit code {code}", "seconds": 0.0}
        return json.loads(line)

    def _start(self) -> None:
        env = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.files.guarded"]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextlib.contextmanager
def bounded(mebibytes: int):
    """At most so much more address space than there is now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + (mebibytes << 20), before[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def read(path: str, how: dict) -> str:
    """Every value of a file, by the library."""
    import numpy as np

    import kernelmean as km

    if path.endswith(".km"):
        mean = km.load(path)
        return f"{mean.k} centres, bound {mean.bound}"
    points = np.asarray(km.read(path, **how))
    assert points.dtype == np.float64
    assert points.ndim == 2
    assert min(points.shape) > 0
    assert np.isfinite(points).all()
    return str(points.shape)


def run(arguments: list[str]) -> str:
    """A command: its exit code and what it says on stderr."""
    from kernelmean.cli import main

    said, code = io.StringIO(), 0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    return f"{code} {said.getvalue()}"


def answer(question: dict) -> dict:
    """What came of one question."""
    start = time.perf_counter()
    try:
        with bounded(question.get("mebibytes", MEBIBYTES)):
            said = (
                run(question["command"])
                if "command" in question
                else read(question["path"], question.get("how", {}))
            )
            kind = "ok"
    except Exception as error:
        kind, said = type(error).__name__, str(error)
    return {"kind": kind, "message": said, "seconds": time.perf_counter() - start}


def serve() -> None:
    """Answer until there are no more questions."""
    import warnings

    import PIL.Image
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    import kernelmean.cli  # noqa: F401  (what is imported is no part of what reading takes)

    warnings.simplefilter("error")
    PIL.Image.init()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
