"""``python -m benchmarks [names]``: print the tables, and write them where ``--output`` says."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.measuring import machine, table
from benchmarks.speed import TABLES

HEADER = "# Speed of the cpu engine\n\nWritten by `make bench`; see [performance.md](performance.md).\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(TABLES)}; all if none is given")
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    parts = [f"{HEADER}\nMeasured on: {machine()}\n"]
    print(parts[0], flush=True)
    for name, measure in TABLES.items():
        if not arguments.names or name in arguments.names:
            parts.append(table(name, measure()))
            print(parts[-1], flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
