"""Options that several commands share, and what they do with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from kernelmean.cli import declare

DEFAULT_KERNEL = "gaussian"  # the registry's own; to look there takes time, which help needs not


def _kernels() -> Sequence[str]:
    """Kernels that a name and a bandwidth describe."""
    from kernelmean.kernels import registry

    return registry.names()


Data = Annotated[
    str,
    declare.Argument(
        metavar="DATA",
        help="A file: npy, npz, csv, tsv, jsonl, parquet, feather, arrow, fcs, h5ad, idx or a "
        "picture; - is standard input.",
    ),
]
Columns = Annotated[
    str | None,
    declare.Option(
        metavar="A,B,...", help="Columns to use, by name; all by default. FCS: channels or markers."
    ),
]
TransformName = Annotated[
    str | None,
    declare.Option(
        "--transform",
        metavar="arcsinh:150|log|none",
        help="What to do to every value that is read.",
    ),
]
DropNa = Annotated[
    bool, declare.Option("--drop-na", help="Leave out rows with missing or infinite values.")
]
Domain = Annotated[
    str | None,
    declare.Option(
        metavar="'age>=0,hour%24,...'",
        help="Where the values of columns can lie: bounds (age>=0, 0<=share<=1), periods "
        "(hour%24), words or other categories (species:category), longitude and latitude "
        "(lon/lat:sphere). The density is zero outside, and its integral inside is one.",
    ),
]
Bandwidth = Annotated[
    str,
    declare.Option(
        metavar="RULE|NUMBER",
        help="scott, silverman, iqr, median, mode or likelihood; or the kernel's own length.",
    ),
]
DensityBandwidth = Annotated[
    str,
    declare.Option(
        metavar="auto|RULE|NUMBER",
        help="auto, by the likelihood of rows that are left out; scott, silverman, iqr, median, "
        "mode or likelihood; or the kernel's own length. With --signed auto is scott.",
    ),
]
Centers = Annotated[str, declare.Option("--k", metavar="auto|INT", help="Number of centres.")]
Error = Annotated[
    float | None,
    declare.Option(
        metavar="NUMBER",
        help="A relative error to reach, such as 0.01: as few centres as do, in the place of --k.",
    ),
]
Seed = Annotated[
    int,
    declare.Option(
        min=0, help="Seed of everything that is drawn: the same seed gives the same result."
    ),
]
Quiet = Annotated[bool, declare.Option("--quiet", "-q", help="No progress bars.")]
AsJson = Annotated[bool, declare.Option("--json", help="Results as JSON.")]
Debug = Annotated[bool, declare.Option("--debug", help="Show a traceback where something fails.")]
Report = Annotated[
    Path | None,
    declare.Option(metavar="FILE.html", help="Write a page with pictures, to open in a browser."),
]


class Scale(StrEnum):
    """Maps of the data before the kernel sees it."""

    none = "none"
    std = "std"
    cov = "cov"

    @property
    def setting(self) -> str | None:
        """What the library calls it."""
        return None if self is Scale.none else self.value


class DensityScale(StrEnum):
    """The same for densities, whose columns are made alike unless one says otherwise."""

    auto = "auto"
    none = "none"
    std = "std"
    cov = "cov"

    @property
    def setting(self) -> str | None:
        """What the library calls it."""
        return None if self is DensityScale.none else self.value


class Target(StrEnum):
    """What a density is to be near to."""

    auto = "auto"
    kde = "kde"
    likelihood = "likelihood"


class Selection(StrEnum):
    """Ways to choose centres."""

    auto = "auto"
    kcenter = "kcenter"
    greedy = "greedy"
    kmeans_plus = "kmeans++"
    kmeans = "kmeans"
    random = "random"


class Spread(StrEnum):
    """Widths that centres may have."""

    auto = "auto"
    none = "none"
    scalar = "scalar"
    full = "full"

    @property
    def setting(self) -> str | None:
        """What the library calls it."""
        return None if self is Spread.none else self.value


class EngineName(StrEnum):
    """Where the sums are done."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"


Kernel = Annotated[str, declare.Option(choices=_kernels, help="Shape of the kernel.")]
ScaleName = Annotated[
    Scale,
    declare.Option(
        "--scale", help="Divide by the standard deviations, or whiten by the covariance."
    ),
]
DensityScaleName = Annotated[
    DensityScale,
    declare.Option(
        "--scale",
        help="Divide every column by its width, by quantiles (auto) or the standard deviation "
        "(std), or whiten by the covariance (cov). With --signed or a number as bandwidth auto is "
        "none.",
    ),
]
TargetName = Annotated[
    Target,
    declare.Option(
        "--target",
        help="What the density is to be near to: the kernel density estimate of all rows, which it "
        "copies with an error that is measured (kde), or the density that the rows come from, "
        "judged by rows that are held out (likelihood). auto is likelihood, unless a bandwidth, "
        "--k, another kernel, --error, --selection, --refine or --spread none ask for a copy.",
    ),
]
SelectionName = Annotated[Selection, declare.Option("--selection", help="How centres are chosen.")]
SpreadName = Annotated[
    Spread,
    declare.Option(
        "--spread", help="Centres are points (none), or Gaussians, round or of any shape."
    ),
]
Engine = Annotated[
    EngineName,
    declare.Option(help="Where the sums are done; auto takes a GPU where it is worth it."),
]


def number_or_word(text: str) -> float | str:
    """A bandwidth: a number where it is one, else the name of a rule."""
    try:
        return float(text)
    except ValueError:
        return text


def whole_or_auto(text: str) -> int | str:
    """A number of centres, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--k must be auto or a whole number, got {text!r}.") from None


def settings(
    *,
    engine: EngineName,
    seed: int,
    bandwidth: str | None = None,
    kernel: str | None = None,
    scale: Scale | DensityScale | None = None,
    target: Target | None = None,
    k: str | None = None,
    selection: Selection | None = None,
    spread: Spread | None = None,
) -> dict[str, Any]:
    """The options of a fit as keyword arguments of the library; those not given are left out."""
    found: dict[str, Any] = {"engine": engine.value, "random_state": seed}
    if bandwidth is not None:
        found["bandwidth"] = number_or_word(bandwidth)
    if kernel is not None:
        found["kernel"] = kernel
    if scale is not None:
        found["scale"] = scale.setting
    if target is not None:
        found["target"] = target.value
    if k is not None:
        found["k"] = whole_or_auto(k)
    if selection is not None:
        found["selection"] = selection.value
    if spread is not None:
        found["spread"] = spread.setting
    return found


def ready_for_table(path: Path | None) -> None:
    """The same for a table, and a ValueError where the name says no format."""
    if path is not None and str(path) != "-":
        ready(path)
        from kernelmean.files import table_format

        table_format(path)


def keep_apart(written: Iterable[Path | None], read: Iterable[str]) -> None:
    """A ValueError where an output would take the place of an input or of another output."""
    taken = {
        os.path.realpath(path.split(".npz:")[0] + ".npz" if ".npz:" in path else path)
        for path in read
    }
    for path in (path for path in written if path is not None and str(path) != "-"):
        if os.path.realpath(path) in taken:
            raise ValueError(
                f"{path} is named twice: it is read from or written to already, and would be lost."
            )
        taken.add(os.path.realpath(path))


def ready(path: Path | None) -> None:
    """A ValueError, before any work is done, where nothing can be written to this path."""
    if path is None:
        return
    from kernelmean.files import refuse_other_than_files

    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"the folder {folder} for {path.name} does not exist.")
    refuse_other_than_files(path)
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: no permission in {folder}.")
