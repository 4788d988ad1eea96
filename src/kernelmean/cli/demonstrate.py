"""``kernelmean demo``: the main job, end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kernelmean.cli import declare, results
from kernelmean.cli import options as o

Points = Annotated[int, declare.Option(min=1000, help="Number of points.")]
Figure = Annotated[Path, declare.Option(help="Where to write the figure.")]
Seed = Annotated[int, declare.Option(min=0, help="Seed of the data and of the first centre.")]


def command(
    points: Points = 1_000_000,
    figure: Figure = Path("demo.png"),
    seed: Seed = 0,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Fit a sparse density to a million points in 3-D and compare it with the exact one.

    \b
    Examples:
      kernelmean demo
      kernelmean demo --points 100000 --figure small.png
    """
    o.ready(figure)  # better now than after the work
    from kernelmean.cli.demo import run

    run(points, figure, seed, show_progress=results.on_terminal(quiet))
