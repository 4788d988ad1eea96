"""``kernelmean segment``: a picture in segments of like colour and place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelmean.cli import options as o
from kernelmean.cli import results

if TYPE_CHECKING:
    from kernelmean._types import Vector
    from kernelmean.meanshift.images import Segmentation

LISTED = 20  # segments in the table


def command(
    image: Annotated[
        Path,
        typer.Argument(metavar="IMAGE", help="png, jpg, tiff or webp; or an array in npy or npz."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="SEGMENTS.png", help="Where to write the segmented picture."
        ),
    ],
    color: Annotated[
        str, typer.Option(metavar="lab|rgb", help="The space in which colours are compared.")
    ] = "lab",
    spatial: Annotated[
        float, typer.Option(min=0.0, help="Weight of the position; 0 leaves it out.")
    ] = 1.0,
    bandwidth: Annotated[
        str | None, typer.Option(metavar="RULE|NUMBER", help="Wider: fewer segments.")
    ] = None,
    k: o.Centers = "auto",
    min_size: Annotated[
        int, typer.Option(min=1, help="Smaller segments, in pixels, join their neighbours.")
    ] = 1,
    report: o.Report = None,
    engine: o.Engine = o.EngineName.cpu,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Segments of a picture, by mean shift.

    Pixels that climb to the same peak of a sparse density of colour and position are one segment,
    in its mean colour.

    \b
    Examples:
      kernelmean segment photo.jpg -o segments.png
      kernelmean segment photo.jpg -o segments.png --bandwidth 0.1 --min-size 50 --report segments.html
    """
    import numpy as np

    import kernelmean as km
    from kernelmean.files import image_format, read_image, write_image

    o.ready(output)
    o.ready_for_report(report)
    o.keep_apart([output, report], [str(image)])
    image_format(output)
    width: dict[str, Any] = {} if bandwidth is None else {"bandwidth": o.number_or_word(bandwidth)}
    with results.working(quiet):
        rgb = read_image(image)
        found = km.segment_image(
            rgb,
            color=color,
            spatial=spatial,
            k=o.whole_or_auto(k),
            min_size=min_size,
            engine=engine.value,
            random_state=seed,
            **width,
        )
        if report is not None:
            from kernelmean.pictures.html import segmentation_page

            results.write_text(
                report,
                segmentation_page(
                    rgb, found, settings={"file": image}, command=results.command_line()
                ),
            )
        colors = np.round(255.0 * found.colors).astype(np.uint8)
        write_image(
            output, colors[found.labels] if colors.shape[1] == 3 else colors[found.labels, 0]
        )
    facts = {
        "picture": str(image),
        "pixels": int(found.labels.size),
        "segments": found.n_segments,
        "output": str(output),
    }
    results.show(facts, as_json, largest=_largest(found, None if as_json else LISTED))


def _largest(found: Segmentation, count: int | None) -> list[dict[str, Any]]:
    """The segments, the largest first: number, pixels, share of the picture, colour."""
    order = (-found.sizes).argsort(kind="stable")[:count].tolist()
    pixels = found.sizes.tolist()
    shares = (found.sizes / found.labels.size).tolist()
    return [
        {"segment": s, "pixels": pixels[s], "share": shares[s], "colour": _hex(found.colors[s])}
        for s in order
    ]


def _hex(color: Vector) -> str:
    """As a web page would say it; grey has one channel."""
    channels = color.tolist() * (3 // len(color))
    return "#" + "".join(f"{round(255 * value):02x}" for value in channels)
