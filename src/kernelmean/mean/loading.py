"""From a file back to a mean."""

from __future__ import annotations

import math
import os

import numpy as np

from kernelmean import kernels
from kernelmean.kernels import Kernel
from kernelmean.mean import storage
from kernelmean.mean.value import NUMBERS, WORDS, SparseKernelMean


def load(path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> SparseKernelMean:
    """A mean from its file; ``kernel`` only for one that was fitted with a kernel of the user's own."""
    header, arrays = storage.read(path)
    try:
        numbers = dict(zip(NUMBERS, (None if math.isnan(v) else float(v) for v in arrays.pop("numbers")), strict=True))
        words = {name: header[name] for name in WORDS}
        described = header["kernel"]
    except (KeyError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)} is a kernelmean file, but it does not hold a sparse kernel mean.") from error
    if "indices" in arrays:
        arrays["indices"] = arrays["indices"].astype(np.intp)
    cover = {name: math.nan if numbers[name] is None else numbers[name] for name in ("cover", "incoherence")}
    return SparseKernelMean(
        **{"scale": None, "indices": None, **arrays, **words, **numbers, **cover},
        kernel=kernels.restore(described, kernel),
    )
