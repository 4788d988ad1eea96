"""What a stream is compared with: from a model, a saved monitor or a file of rows to a monitor."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kernelmean.mean.value import SparseKernelMean
    from kernelmean.monitoring.monitor import DriftMonitor

RUN_LENGTH = 10_000
WINDOW = 1000
SEED = 0


class Asked(NamedTuple):
    """The options of a monitor; None for those that were not given."""

    run_length: float | None
    window: int | None
    columns: str | None
    transform: str | None
    drop_na: bool
    seed: int | None

    def settings(self) -> dict[str, Any]:
        """The keyword arguments of the library, but for columns."""
        return {
            "run_length": RUN_LENGTH if self.run_length is None else self.run_length,
            "window": WINDOW if self.window is None else self.window,
            "random_state": SEED if self.seed is None else self.seed,
        }


def opened(path: str) -> DriftMonitor | SparseKernelMean | None:
    """What a model file holds; None where it is a file of rows."""
    import kernelmean as km

    if not _is_model(Path(path)):
        return None
    found = km.load(path)
    if not isinstance(found, km.DriftMonitor | km.SparseKernelMean):
        raise ValueError(
            f"{path} says where samples differ, which is nothing to compare rows with: give a "
            "model that fit has written, a file of rows, or a saved monitor."
        )
    return found


def _is_model(path: Path) -> bool:
    """By the name's ending, or by what it begins with."""
    from kernelmean.mean.storage import MAGIC

    if path.suffix == ".km" or not path.is_file():
        return path.suffix == ".km"
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def monitor_of(
    path: str, known: DriftMonitor | SparseKernelMean | None, asked: Asked
) -> DriftMonitor:
    """A monitor that begins, or that goes on."""
    import kernelmean as km

    if known is None:
        source = km.read(
            path, columns=asked.columns, transform=asked.transform, drop_na=asked.drop_na
        )
        return km.DriftMonitor(source, **asked.settings())
    _refuse_another_transform(path, known, asked.transform)
    if isinstance(known, km.DriftMonitor):
        _refuse_to_change(path, asked)
        return known
    monitor = km.DriftMonitor(known, columns=_names(asked.columns), **asked.settings())
    if monitor.transform is None:
        monitor.transform = asked.transform
    return monitor


def _names(columns: str | None) -> list[str] | None:
    """Names in a line, as :func:`kernelmean.read` takes them."""
    if columns is None:
        return None
    return [name.strip() for name in next(csv.reader([columns], skipinitialspace=True), [])]


def _refuse_to_change(path: str, asked: Asked) -> None:
    """A ValueError where an option asks for another monitor than the one that goes on."""
    given = {
        "--run-length": asked.run_length,
        "--window": asked.window,
        "--columns": asked.columns,
        "--seed": asked.seed,
    }
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{path} is a saved monitor, which goes on as it was: {name} cannot be changed; "
                "leave it out, or begin anew with a model or rows."
            )


def _refuse_another_transform(
    path: str, known: DriftMonitor | SparseKernelMean, asked: str | None
) -> None:
    from kernelmean.files.transforms import parse
    from kernelmean.monitoring.monitor import DriftMonitor

    open_yet = known.transform is None and not isinstance(known, DriftMonitor)
    if asked is None or open_yet or parse(asked) == parse(known.transform):
        return
    made = known.transform or "no transform"
    raise ValueError(f"{path} was made after {made}, so --transform {asked} does not fit it.")
