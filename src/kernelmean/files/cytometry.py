"""Flow cytometry: FCS 2.0 to 3.1, through flowio."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from kernelmean.files.needing import need
from kernelmean.files.reader import ArrayReader

LENIENT = {"ignore_offset_discrepancy": True}  # instruments whose header and text disagree: the text is right


def read_fcs(path: Path) -> ArrayReader:
    """Events by channel, gains and logarithmic amplifiers undone; a channel has its name ($PnN) and its marker ($PnS).

    Of several data sets in one file it is the first.
    """
    flowio = need("flowio", f"reading {path}")
    broken = (flowio.exceptions.FlowIOException, ValueError, KeyError, EOFError, IndexError, TypeError, struct.error)
    try:
        with path.open("rb") as handle:  # flowio leaves its own open where it fails
            file = _first_data_set(flowio, handle)
            events = file.as_array(preprocess=True)
    except broken as error:
        raise ValueError(f"{path} cannot be read as FCS: {error}") from error
    names = [name.strip() for name in file.pnn_labels]
    markers = {marker.strip(): name for name, marker in zip(names, file.pns_labels, strict=True) if marker.strip()}
    return ArrayReader(events, names, {marker: name for marker, name in markers.items() if marker not in names})


def _first_data_set(flowio: Any, handle: BinaryIO) -> Any:
    try:
        return flowio.FlowData(handle, **LENIENT)
    except flowio.exceptions.MultipleDataSetsError:
        handle.seek(0)
        return flowio.read_multiple_data_sets(handle, **LENIENT)[0]
