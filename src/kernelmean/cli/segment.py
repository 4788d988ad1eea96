"""``kernelmean segment``: a picture in segments of like colour and place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import declare, results
from kernelmean.cli import options as o

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernelmean.meanshift.segmentation import Segmentation

MAX_LISTED = 20  # segments in the table, the largest

Picture = Annotated[
    Path,
    declare.Argument(metavar="IMAGE", help="png, jpg, tiff or webp; or an array in npy or npz."),
]
Output = Annotated[
    Path,
    declare.Option(
        "-o", "--output", metavar="SEGMENTS.png", help="Where to write the segmented picture."
    ),
]
Color = Annotated[
    str, declare.Option(metavar="lab|rgb", help="The space in which colours are compared.")
]
Spatial = Annotated[float, declare.Option(min=0.0, help="Weight of the position; 0 leaves it out.")]
Bandwidth = Annotated[
    str | None, declare.Option(metavar="RULE|NUMBER", help="Wider: fewer segments.")
]
Number = Annotated[
    int | None,
    declare.Option("--n-segments", min=1, help="So many segments, whatever the contrast."),
]
Contrast = Annotated[
    float, declare.Option(min=0.0, help="Neighbours that differ by less are one segment.")
]
Plain = Annotated[
    bool, declare.Option("--plain", help="Clusters of pixels as they are, connected or not.")
]
MinSize = Annotated[
    int | None,
    declare.Option(
        min=1,
        help="Smaller regions, in pixels, join a neighbour.",
        show_default="1/8000 of the picture",
    ),
]


def command(
    image: Picture,
    output: Output,
    n_segments: Number = None,
    contrast: Contrast = 0.05,
    plain: Plain = False,
    min_size: MinSize = None,
    color: Color = "lab",
    spatial: Spatial = 1.0,
    bandwidth: Bandwidth = None,
    k: o.Centers = "auto",
    spread: o.SpreadName = o.Spread.auto,
    report: o.Report = None,
    engine: o.Engine = o.EngineName.cpu,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Segments of a picture, by mean shift.

    Pixels that climb to the same peak of a sparse density of colour and position are a region, and
    neighbouring regions that hardly differ are one segment, in its mean colour.

    \b
    Examples:
      kernelmean segment photo.jpg -o segments.png
      kernelmean segment photo.jpg -o segments.png --n-segments 12 --report page.html
      kernelmean segment photo.jpg -o segments.png --plain --bandwidth 0.1 --min-size 50
    """
    import kernelmean as km
    from kernelmean.files import read_image

    _refuse(image, output, report)
    chosen = o.settings(bandwidth=bandwidth, k=k, spread=spread, engine=engine, seed=seed)
    with results.working(quiet):
        rgb = read_image(image)
        found = km.segment_image(
            rgb,
            n_segments=n_segments,
            contrast=None if plain else contrast,
            min_size=min_size,
            color=color,
            spatial=spatial,
            **chosen,
        )
        _write(output, found)
        paged = {} if report is None else results.written(report, _page(rgb, found, image))
    mean = found.clustering.mean.expansion
    facts = {
        "picture": str(image),
        "pixels": int(found.labels.size),
        "segments": found.n_segments,
        "centres": mean.k,
        "spread": mean.atoms.kind,
        "output": str(output),
        **paged,
    }
    results.show(facts, as_json, largest=_largest(found, None if as_json else MAX_LISTED))


def _refuse(image: Path, output: Path, report: Path | None) -> None:
    """An error, before any work is done, where a result could not be written."""
    from kernelmean.files import image_format

    o.ready(output)
    o.ready(report)
    o.keep_apart([output, report], [str(image)])
    image_format(output)


def _page(rgb: NDArray[Any], found: Segmentation, image: Path) -> str:
    from kernelmean.pictures.html import segmentation_page

    return segmentation_page(rgb, found, settings={"file": image}, command=results.command_line())


def _write(output: Path, found: Segmentation) -> None:
    from kernelmean.files import write_image
    from kernelmean.pictures.segmentation import mode_picture

    write_image(output, mode_picture(found))


def _largest(found: Segmentation, count: int | None) -> list[dict[str, Any]]:
    """The segments, the largest first: number, pixels, share of the picture, colour."""
    from kernelmean.pictures.segmentation import segments_by_size

    told = segments_by_size(found)
    columns = (told.numbers.tolist(), told.pixels.tolist(), told.shares.tolist(), told.codes)
    return [
        {"segment": number, "pixels": pixels, "share": share, "colour": code}
        for number, pixels, share, code in list(zip(*columns, strict=True))[:count]
    ]
