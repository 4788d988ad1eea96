"""``make fuzz``: the property tests with a large budget of new examples, and a page that says what
the last run has found.

python -m tests.fuzzing --examples 500 --output docs/development/fuzzing.md
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- last run: written by make fuzz -->", "<!-- end -->"
EXAMPLES = re.compile(r"- (\d+) passing, (\d+) failing, and (\d+) invalid test cases")
TEST = re.compile(r"^(tests/[\w/]+\.py)::", re.MULTILINE)
FAILED = re.compile(r"^FAILED (.*?)(?: - .*)?$", re.MULTILINE)


class Run(NamedTuple):
    """What a run did."""

    examples: dict[str, int]  # by test file
    failed: list[str]
    minutes: float


def run(examples: int, arguments: list[str]) -> Run:
    """All property tests, on both cores of a small machine."""
    command = [
        *(
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "-m",
            "fuzz or hypothesis",
            "--hypothesis-profile=fuzz",
        ),
        *("--hypothesis-show-statistics", *arguments),
    ]
    env = os.environ | {"KERNELMEAN_EXAMPLES": str(examples), "OPENBLAS_NUM_THREADS": "1"}
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    minutes = (time.monotonic() - start) / 60
    sys.stdout.write(done.stdout[-20_000:] + done.stderr[-2000:])
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}")
    return Run(counted(done.stdout), FAILED.findall(done.stdout), minutes)


def counted(printed: str) -> dict[str, int]:
    """Examples by test file, from Hypothesis' statistics."""
    found: dict[str, int] = {}
    for section in re.split(r"\n(?=tests/[\w/]+\.py::)", printed):
        where = TEST.match(section)
        if where is not None:
            total = sum(
                int(passing) + int(failing) for passing, failing, _ in EXAMPLES.findall(section)
            )
            found[where[1]] = found.get(where[1], 0) + total
    return {name: count for name, count in sorted(found.items()) if count}


def table(result: Run, examples: int) -> str:
    """The run as a piece of the page."""
    total = sum(result.examples.values())
    today = datetime.datetime.now(datetime.UTC).date()
    lines = [
        f"{today}: {_grouped(total)} examples in {result.minutes:.0f} minutes on two cores, at "
        f"most {_grouped(examples)} for "
        f"each test, and {_grouped(2 * examples)} seeds or more for each test of calibration; "
        f"{len(result.failed)} tests failed.",
        "",
        "| tests | examples |",
        "| --- | ---: |",
        *(f"| `{name}` | {_grouped(count)} |" for name, count in result.examples.items()),
    ]
    return "\n".join(
        [
            *lines,
            *(
                ["", "Failed:", "", *(f"- `{name}`" for name in result.failed)]
                if result.failed
                else []
            ),
        ]
    )


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def rewritten(page: str, result: Run, examples: int) -> str:
    """The page with this run in the place of the last."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(result, examples)}\n\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=500, help="of each property")
    parser.add_argument("--output", type=Path, help="the page to bring up to date")
    known, arguments = parser.parse_known_args()
    result = run(known.examples, arguments)
    if known.output is not None:
        known.output.write_text(rewritten(known.output.read_text(), result, known.examples))
    sys.exit(bool(result.failed))


if __name__ == "__main__":
    main()
