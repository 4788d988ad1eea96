"""A difference in one small file, and back: the format is that of :mod:`kernelmean.mean.storage`.

Words and short numbers are in the header, arrays beside it. Every part is checked when it is read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmean import kernels
from kernelmean._types import Matrix, Vector
from kernelmean.comparison.columns import Effect
from kernelmean.comparison.groups import GroupDifferences
from kernelmean.comparison.histograms import Histograms
from kernelmean.comparison.regions import Region, Regions
from kernelmean.comparison.result import Component, TwoSampleTest
from kernelmean.comparison.typical import TypicalRows
from kernelmean.comparison.value import Difference
from kernelmean.mean import storage
from kernelmean.mean.expansion import KernelMean

KIND = "difference"
GROUPS = "group differences"
OF_REGION = ("center", "lower", "upper")  # (d,) each
EFFECT_NUMBERS = len(Effect._fields) - 1
Arrays = storage.Arrays


def save(found: Difference, path: str | os.PathLike[str]) -> None:
    """Write it beside the target and rename."""
    storage.write(path, *_packed(found))


def save_groups(found: GroupDifferences, path: str | os.PathLike[str]) -> None:
    """The same for several groups: the arrays of each have its number before their names."""
    packed = [_packed(each) for each in found.differences]
    header: dict[str, Any] = {
        "kind": GROUPS,
        "names": list(found.names),
        "p_values": list(found.p_values),
        "order": [int(i) for i in found.order],
        "groups": [own for own, _ in packed],
    }
    arrays = {
        f"{i}/{name}": array for i, (_, own) in enumerate(packed) for name, array in own.items()
    }
    storage.write(path, header, arrays)


def _packed(found: Difference) -> tuple[dict[str, Any], Arrays]:
    header: dict[str, Any] = {
        "kind": KIND,
        "names": list(found.names),
        "columns": list(found.column_names),
        "points": list(found.n_points),
        "sizes": [found.mean_a.n_points, found.mean_b.n_points],
        "level": found.level,
        "test": _test_words(found.test),
        "kernel": kernels.describe(found.mean_a.kernel),
        "regions": [_region_words(region) for region in found.regions],
        "effects": [list(effect.columns) for effect in (*found.columns, *found.pairs)],
    }
    return header, _arrays(found)


def unpacked(header: dict[str, Any], arrays: Arrays) -> Difference | GroupDifferences:
    """What a header and arrays hold; any error says that they hold nothing."""
    return _groups(header, arrays) if header["kind"] == GROUPS else _difference(header, arrays)


def _groups(header: dict[str, Any], arrays: Arrays) -> GroupDifferences:
    found = []
    for i, own in enumerate(header["groups"]):
        start = f"{i}/"
        mine = {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}
        found.append(_difference(own, mine))
    names = tuple(str(name) for name in header["names"])
    p_values = tuple(float(p) for p in header["p_values"])
    order = np.array(header["order"], dtype=np.intp)
    if not (
        len(names) == len(p_values) == len(found)
        and np.array_equal(np.sort(order), np.arange(len(found)))
    ):
        raise ValueError("there is not one of everything for each group")
    return GroupDifferences(names, tuple(found), p_values, order)


def _difference(header: dict[str, Any], arrays: Arrays) -> Difference:
    d = len(header["columns"])
    _require_shapes(arrays, d)
    effects = _effects(header["effects"], arrays["effects"])
    sizes = tuple(int(n) for n in header["points"])
    means = [
        _mean(header, arrays, weights, float(n))
        for weights, n in zip(("weights_a", "weights_b"), header["sizes"], strict=True)
    ]
    return Difference(
        names=_two(header["names"]),
        column_names=tuple(str(name) for name in header["columns"]),
        n_points=(sizes[0], sizes[1]),
        test=_test(header["test"], arrays),
        level=float(header["level"]),
        mean_a=means[0],
        mean_b=means[1],
        regions=_regions(header["regions"], arrays),
        columns=effects[:d],
        pairs=effects[d:],
        histograms=_histograms(arrays, d),
        typical_a=_typical(arrays, "a"),
        typical_b=_typical(arrays, "b"),
    )


def _arrays(found: Difference) -> Arrays:
    mean = found.mean_a
    effects = [effect[1:] for effect in (*found.columns, *found.pairs)]
    arrays: Arrays = {
        "null": found.test.null,
        "centers": mean.centers,
        "weights_a": mean.weights,
        "weights_b": found.mean_b.weights,
        "effects": np.array(effects, dtype=np.float64).reshape(len(effects), EFFECT_NUMBERS),
        "cells": found.regions.cells,
        "cell_labels": found.regions.cell_labels.astype(np.int64),
    }
    if mean.scale is not None:
        arrays["scale"] = mean.scale
    if mean.spreads is not None:
        arrays["spreads"] = mean.spreads
    for name in OF_REGION:
        rows = [getattr(region, name) for region in found.regions]
        arrays[f"region_{name}"] = np.array(rows, dtype=np.float64).reshape(-1, mean.dimension)
    for which, rows_of in (("a", found.typical_a), ("b", found.typical_b)):
        arrays[f"typical_rows_{which}"] = rows_of.indices.astype(np.int64)
        arrays[f"typical_points_{which}"] = rows_of.points
        arrays[f"typical_values_{which}"] = rows_of.values
    for j, edges in enumerate(found.histograms.edges):
        arrays[f"edges_{j}"] = np.asarray(edges)
        arrays[f"shares_a_{j}"] = np.asarray(found.histograms.shares_a[j])
        arrays[f"shares_b_{j}"] = np.asarray(found.histograms.shares_b[j])
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _test_words(test: TwoSampleTest) -> dict[str, Any]:
    return {
        "statistic": test.statistic,
        "p_value": test.p_value,
        "bins": list(test.bins),
        "bin_size": test.bin_size,
        "k": test.k,
        "kernel": kernels.describe(test.kernel),
        "components": [
            [kernels.describe(part.kernel), part.ridge, part.p_value] for part in test.components
        ],
    }


def _test(words: dict[str, Any], arrays: Arrays) -> TwoSampleTest:
    null: Vector = arrays["null"]
    null.flags.writeable = False
    components = tuple(
        Component(kernels.restore(kernel), ridge, float(p))
        for kernel, ridge, p in words["components"]
    )
    return TwoSampleTest(
        float(words["statistic"]),
        float(words["p_value"]),
        null,
        _pair_of_counts(words["bins"]),
        int(words["bin_size"]),
        None if words["k"] is None else int(words["k"]),
        kernels.restore(words["kernel"]),
        arrays.get("scale"),
        components,
    )


def _mean(header: dict[str, Any], arrays: Arrays, weights: str, size: float) -> KernelMean:
    return KernelMean(
        centers=arrays["centers"],
        weights=arrays[weights],
        kernel=kernels.restore(header["kernel"]),
        space="l2",
        scale=arrays.get("scale"),
        n_points=size,
        spreads=arrays.get("spreads"),
    )


def _region_words(region: Region) -> dict[str, Any]:
    return {
        "more": region.more,
        "shares": list(region.shares),
        "interval": [region.low, region.high],
        "counts": list(region.counts),
        "q_value": region.q_value,
        "columns": [int(column) for column in region.columns],
        "cells": [int(cell) for cell in region.cells],
    }


def _regions(words: Sequence[dict[str, Any]], arrays: Arrays) -> Regions:
    found = []
    for i, told in enumerate(words):
        a, b = (float(share) for share in told["shares"])
        low, high = (float(end) for end in told["interval"])
        center, lower, upper = (arrays[f"region_{name}"][i] for name in OF_REGION)
        found.append(
            Region(
                more=int(told["more"]),
                shares=(a, b),
                difference=b - a,
                low=low,
                high=high,
                counts=_pair_of_counts(told["counts"]),
                q_value=float(told["q_value"]),
                center=center,
                lower=lower,
                upper=upper,
                columns=tuple(int(column) for column in told["columns"]),
                cells=np.array(told["cells"], dtype=np.intp),
            )
        )
    labels = arrays["cell_labels"].astype(np.intp)
    return Regions(tuple(found), arrays["cells"], arrays.get("scale"), labels)


def _effects(names: Sequence[Sequence[str]], numbers: Matrix) -> tuple[Effect, ...]:
    return tuple(
        Effect(tuple(str(name) for name in own), *row)
        for own, row in zip(names, numbers.tolist(), strict=True)
    )


def _histograms(arrays: Arrays, d: int) -> Histograms:
    edges, first, second = (
        tuple(arrays[f"{name}_{j}"] for j in range(d)) for name in ("edges", "shares_a", "shares_b")
    )
    return Histograms(edges, first, second)


def _typical(arrays: Arrays, which: str) -> TypicalRows:
    return TypicalRows(
        arrays[f"typical_rows_{which}"].astype(np.intp),
        arrays[f"typical_points_{which}"],
        arrays[f"typical_values_{which}"],
    )


def _require_shapes(arrays: Arrays, d: int) -> None:
    """Arrays that belong together have as many rows and columns, and finite numbers."""
    k = len(arrays["centers"])
    expected = {
        "centers": (k, d),
        "weights_a": (k,),
        "weights_b": (k,),
        "scale": (d, d),
        "cells": (len(arrays["cell_labels"]), d),
    }
    for name, array in arrays.items():
        if array.shape != expected.get(name, array.shape):
            raise ValueError(f"array {name!r} has the wrong shape")
        if not np.isfinite(array).all():
            raise ValueError(f"array {name!r} is not finite")
    spreads = arrays.get("spreads")
    if spreads is not None and spreads.shape not in ((k,), (k, d, d)):
        raise ValueError("array 'spreads' has the wrong shape")


def _two(names: Sequence[Any]) -> tuple[str, str]:
    first, second = (str(name) for name in names)
    return first, second


def _pair_of_counts(counts: Sequence[Any]) -> tuple[int, int]:
    first, second = (int(count) for count in counts)
    if min(first, second) < 0 or not math.isfinite(first + second):
        raise ValueError("a count is negative")
    return first, second
