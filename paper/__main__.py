"""Run experiments, write results, docs/paper.md and the pages beside it.

Call it by ``python -m paper [names] [--data DIR] [--fresh] [--quick] [--page]``.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from paper import page
from paper.data import Source
from paper.experiment import RESULTS, Desk, Experiment, Result

NAMES = ("embedding_kme", "embedding_kl", "proportions", "meanshift", "kl_table", "error_indicator")


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 where a claim of the quick check fails."""
    given = parsed(arguments)
    if given.quick:
        return quick([experiment(name) for name in given.names or NAMES])
    if not given.page:
        desk = Desk(Source(given.data), RESULTS)
        for name, parts in wanted(given.names).items():
            result = experiment(name).run(desk, parts, given.fresh)
            print(f"{name}: {len(result.rows)} rows", *result.absent, sep="\n  ", flush=True)
    page.write([found for name in NAMES if (found := Result.load(name)) is not None])
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m paper", description=f"Experiments: {', '.join(NAMES)}."
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="some experiments, or parts of one as experiment:part; all if none is given",
    )
    place = os.environ.get("KERNELMEAN_DATA")
    parser.add_argument(
        "--data", type=Path, default=Path(place) if place else None, help="folder of the data sets"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="also compute again what is so long that it is computed once",
    )
    parser.add_argument(
        "--quick", action="store_true", help="check the claims on small public data; writes nothing"
    )
    parser.add_argument(
        "--page", action="store_true", help="only write the pages from the stored results"
    )
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name.split(":")[0] not in NAMES]:
        parser.error(f"no experiment {unknown[0]!r}; choose from {', '.join(NAMES)}")
    return given


def experiment(name: str) -> Experiment:
    """The experiment of the module of that name."""
    found: Experiment = importlib.import_module(f"paper.{name}").EXPERIMENT
    return found


def wanted(names: Sequence[str]) -> dict[str, list[str]]:
    """Experiments with the parts asked for; none means all."""
    chosen: dict[str, list[str]] = {}
    for name in names or NAMES:
        head, _, part = name.partition(":")
        if part and part not in experiment(head).parts:
            raise SystemExit(
                f"{head} has no part {part!r}; choose from {', '.join(experiment(head).parts)}"
            )
        chosen.setdefault(head, []).extend([part] if part else [])
    return chosen


def quick(experiments: Sequence[Experiment]) -> int:
    """Every claim on small public data; 1 where one fails."""
    failed = 0
    for each in experiments:
        start = time.perf_counter()
        claims = each.claims()
        print(f"{each.title} ({time.perf_counter() - start:.1f} s)")
        for claim in claims:
            print(
                f"  {'holds' if claim.holds else 'FAILS'}: {claim.words} ({claim.figures})",
                flush=True,
            )
        failed += sum(not claim.holds for claim in claims)
    print(f"{failed} claims fail" if failed else "all claims hold")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
