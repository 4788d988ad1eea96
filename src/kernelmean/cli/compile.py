"""``kernelmean compile``: the compiled loops ahead of time, for images and clusters."""

from __future__ import annotations

import os
import re
import tempfile
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean import _progress
from kernelmean.cli import declare, results
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from kernelmean.cli.representative import Piece

MOST_DIMENSIONS = 100  # compiled ahead of time; from 17 on they share their loops
RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def command(
    dimensions: Annotated[
        str, declare.Option(metavar="1-10", help="Numbers of columns: 2, 1-10 or 1-3,5.")
    ] = "1-10",
    kernels: Annotated[
        str,
        declare.Option(metavar="A,B,...", help="gaussian, laplacian, cauchy; or all."),
    ] = o.DEFAULT_KERNEL,
    jobs: Annotated[
        int | None,
        declare.Option(min=1, help="Processes side by side.", show_default="one for each core"),
    ] = None,
    clean: Annotated[
        bool, declare.Option("--clean", help="First remove loops that no version in use can load.")
    ] = False,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compile ahead of time what large fits need, and keep it on disk.

    Loops are kept in NUMBA_CACHE_DIR, or beside the installed package, or in the home directory: in
    the first of these that can be written. They serve processors of the same kind.

    \b
    Examples:
      kernelmean compile
      kernelmean compile --dimensions 2,3 --kernels gaussian,laplacian --jobs 4
      NUMBA_CACHE_DIR=/opt/loops kernelmean compile --dimensions 1-5
    """
    asked = parsed_dimensions(dimensions)
    named = parsed_kernels(kernels)
    from kernelmean.cli.representative import pieces
    from kernelmean.compiled import stored

    _refuse_nowhere(stored.written())
    removed = stored.remove_stale() if clean else []
    before = {loop.files[0] for loop in stored.loops()}
    start = time.perf_counter()
    with results.working(quiet):
        _run(pieces(named, asked), jobs)
    found = [loop for loop in stored.loops() if loop.state is stored.State.here]
    facts: dict[str, Any] = {
        "compiled": sum(loop.files[0] not in before for loop in found),
        "loops": len(found),
        "seconds": round(time.perf_counter() - start, 1),
        "megabytes": round(sum(loop.size for loop in found) / 1e6, 1),
        "folders": sorted({str(loop.files[0].parent) for loop in found}),
    }
    results.show(facts | ({"removed": len(removed)} if clean else {}), as_json)


def parsed_dimensions(text: str) -> list[int]:
    """The numbers that ``1-3,5`` stands for; a ValueError that says what is wrong."""
    found: set[int] = set()
    for part in text.split(","):
        match = RANGE.fullmatch(part.strip())
        first, last = (0, 0) if match is None else (int(match[1]), int(match[2] or match[1]))
        if not 1 <= first <= last <= MOST_DIMENSIONS:
            raise ValueError(
                f"--dimensions takes numbers of columns such as 2, 1-10 or 1-3,5, from 1 to "
                f"{MOST_DIMENSIONS}, got {text!r}."
            )
        found.update(range(first, last + 1))
    return sorted(found)


def parsed_kernels(text: str) -> list[str]:
    """The kernels that are named, each once; a ValueError for others."""
    from kernelmean.kernels import registry

    known = list(registry.names())
    if text.strip() == "all":
        return known
    named = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in named:
        if name not in known:
            raise ValueError(f"--kernels takes all, or some of {', '.join(known)}; got {name!r}.")
    return named


def _refuse_nowhere(folders: list[Path]) -> None:
    if not folders:
        asked = os.environ.get("NUMBA_CACHE_DIR")
        where = f"NUMBA_CACHE_DIR={asked}" if asked else "the folder of compiled loops"
        raise ValueError(
            f"{where} cannot be written: set NUMBA_CACHE_DIR to a folder that can, and to the same "
            "one where the loops are used."
        )


def _run(work: list[Piece], jobs: int | None) -> None:
    """All pieces of work, in several processes."""
    from multiprocessing import get_context

    from kernelmean.cli import representative
    from kernelmean.compiled.threads import default_count

    count = min(jobs or default_count(), len(work))
    with (
        tempfile.TemporaryDirectory() as turns,
        ProcessPoolExecutor(
            count, get_context("spawn"), representative.begin, (Path(turns),)
        ) as pool,
    ):
        futures = [pool.submit(piece.run) for piece in work]
        try:
            for done in _progress.track(as_completed(futures), "compiling", len(futures)):
                done.result()
        finally:
            _cancel(futures)


def _cancel(futures: list[Future[None]]) -> None:
    for future in futures:
        future.cancel()
