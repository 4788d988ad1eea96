"""Flow cytometry: FCS 2.0 to 3.1, through flowio."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kernelmean.files.faults import first_line
from kernelmean.files.optional_imports import need
from kernelmean.files.reader import ArrayReader

# Instruments whose header and text disagree: the text is right. Of several data sets the first is
# read, and the way to the others, which may lead in a circle, is not followed.
LENIENT = {"ignore_offset_discrepancy": True, "nextdata_offset": 0}


def read_fcs(path: Path) -> ArrayReader:
    """Events by channel, gains and logarithmic amplifiers undone.

    A channel has its name ($PnN) and its marker ($PnS). Of several data sets in one file it is the
    first.
    """
    flowio = need("flowio", f"reading {path}")
    try:
        with path.open("rb") as handle, warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            file = flowio.FlowData(_Bounded(handle), **LENIENT)
            events = _events(file)
    except Exception as error:  # flowio believes what it reads, and fails in many ways
        raise ValueError(f"{path} cannot be read as FCS: {first_line(error)}.") from error
    names = [name.strip() for name in file.pnn_labels]
    markers = {
        marker.strip(): name
        for name, marker in zip(names, file.pns_labels, strict=True)
        if marker.strip()
    }
    return ArrayReader(
        events, names, {marker: name for marker, name in markers.items() if marker not in names}
    )


def _events(file: Any) -> Any:
    if file.data_type.upper() not in ("I", "F", "D"):
        raise ValueError(f"its values are of the type {file.data_type!r}")
    if file.events is None:
        raise ValueError("its integers have an unusual number of bits")
    events = file.as_array(preprocess=True)
    if events.shape[1] != len(file.pnn_labels) or not len(events):
        raise ValueError(
            f"it has {len(file.pnn_labels)} names for {events.shape[1]} channels and "
            f"{len(events)} events"
        )
    return events


class _Bounded:
    """An open file that reads no more than it has, however much is asked for.

    Otherwise memory would be taken before the end is met.
    """

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._size = os.fstat(handle.fileno()).st_size
        self.name = "the file"
        self.seek = handle.seek
        self.tell = handle.tell
        self.close = handle.close

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes."""
        return self._handle.read(min(size, self._size))
