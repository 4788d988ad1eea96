"""A mean on a domain in one file, and back: the format is that of :mod:`kernelmean.mean.storage`.

The mean inside is packed as it is without a domain; the domain itself is in the header.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean._types import IntVector, Matrix
from kernelmean.domains import Bounds, Categorical, Cuts, Domain, Kind, Periodic, Sphere

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean
    from kernelmean.mean.value import SparseKernelMean

KIND = "mean on a domain"
OWN = ("log_shares", "log_quantiles")
PREFIX = "domain "
SLACK = 1e-6  # by which probabilities of categories may miss the sum one

Level = str | int | float | bool


def packed(mean: DomainMean) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """What a file holds of the mean: a header and arrays."""
    pack = getattr(mean.base, "packed", None)
    if pack is None:
        raise ValueError(
            "a full mean is its data, and has no file: fit a sparse one to save it, with "
            "sparse=True."
        )
    header, arrays = pack()
    outer = {
        "kind": KIND,
        "inner": header,
        "domain": domain_to_json(mean.domain),
        "columns": None if mean.columns is None else list(mean.columns),
        "transform": mean.transform,
    }
    own = {PREFIX + name: getattr(mean, name) for name in OWN if getattr(mean, name) is not None}
    if mean.cut is not None:
        own[PREFIX + "cut"] = mean.cut.astype(np.int64)  # a file has numbers only
    return outer, {**arrays, **own}


def domain_to_json(domain: Domain) -> dict[str, Any]:
    """A domain as JSON can hold it."""
    return {
        "kinds": [_kind_to_json(kind) for kind in domain.kinds],
        "spheres": [list(pair) for pair in domain.spheres],
        "levels": [[_level_to_json(level) for level in levels] for levels in domain.levels],
        "cuts": [float(cut) for cut in domain.cuts],
    }


def _kind_to_json(kind: Kind | None) -> dict[str, Any] | None:
    if kind is None:
        return None
    if isinstance(kind, Bounds):
        ends = (kind.lower, kind.upper)
        return {"bounds": [None if math.isinf(end) else float(end) for end in ends]}
    if isinstance(kind, Periodic):
        return {"period": kind.period, "start": kind.start}
    if isinstance(kind, Sphere):
        return {"sphere": kind.unit}
    known = kind.categories
    named = None if known is None else [_level_to_json(level) for level in known]
    return {"categories": named, "smoothing": kind.smoothing}


def _level_to_json(level: Any) -> Level:
    """A category as a word, a number or a truth; numbers of NumPy as those of Python."""
    plain = level.item() if isinstance(level, np.generic) else level
    if not _is_level(plain):
        raise ValueError(
            f"the category {level!r} cannot be saved: only words, finite numbers and truths can; "
            "name the categories so."
        )
    found: Level = plain
    return found


def _is_level(value: Any) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    return type(value) in (str, int, bool)


def domain_of_json(found: Any) -> Domain:
    """A domain from a header; a ValueError or TypeError where it is none."""
    if not isinstance(found, dict):
        raise TypeError("the domain is none")
    kinds = tuple(_kind_of_json(kind) for kind in found["kinds"])
    spheres = tuple((_position(a, kinds), _position(b, kinds)) for a, b in found["spheres"])
    on_spheres = [t for pair in spheres for t in pair]
    if sorted(on_spheres) != [t for t, kind in enumerate(kinds) if isinstance(kind, Sphere)]:
        raise ValueError("longitudes and latitudes do not belong together")
    if any(kinds[a] != kinds[b] for a, b in spheres):
        raise ValueError("longitude and latitude have different units")
    levels = tuple(_levels_of_json(some) for some in found["levels"])
    cuts = tuple(_finite(cut) for cut in found["cuts"])
    domain = Domain(kinds, spheres, levels, cuts)
    if len(levels) != len(domain.categories) or len(cuts) != len(domain.periodic):
        raise ValueError("the domain names too many or too few levels or cuts")
    if not kinds:
        raise ValueError("the domain has no columns")
    return domain


def _kind_of_json(found: Any) -> Kind | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise TypeError("a column of the domain is of no kind")
    if set(found) == {"bounds"}:
        low, high = found["bounds"]
        return Bounds(
            -math.inf if low is None else _finite(low), math.inf if high is None else _finite(high)
        )
    if set(found) == {"period", "start"}:
        return Periodic(_finite(found["period"]), _finite(found["start"]))
    if set(found) == {"sphere"}:
        return Sphere(found["sphere"])
    if set(found) == {"categories", "smoothing"}:
        named = found["categories"]
        smoothing = found["smoothing"]
        return Categorical(
            None if named is None else _levels_of_json(named),
            None if smoothing is None else _finite(smoothing),
        )
    raise ValueError("a column of the domain is of no kind")


def _levels_of_json(found: Any) -> tuple[Level, ...]:
    if not isinstance(found, list) or not found or not all(map(_is_level, found)):
        raise ValueError("the levels of a column are no list of words, numbers or truths")
    if len(set(found)) < len(found):
        raise ValueError("a level appears twice")
    return tuple(found)


def _position(found: Any, kinds: tuple[Kind | None, ...]) -> int:
    if type(found) is not int or not 0 <= found < len(kinds):
        raise ValueError("a sphere has columns that are not there")
    return found


def _finite(found: Any) -> float:
    if type(found) not in (int, float) or not math.isfinite(found):
        raise ValueError("a number of the domain is not finite")
    return float(found)


def check_shares(shares: Matrix | None, k: int, domain: Domain) -> None:
    """A ValueError for what are not k rows of logarithms of probabilities, column by column."""
    if (shares is None) != (not domain.levels):
        raise ValueError("categories and their probabilities do not come together")
    if shares is None:
        return
    if shares.shape != (k, sum(domain.sizes)) or shares.dtype != np.float64:
        raise ValueError("the probabilities of the categories have the wrong type or shape")
    if not (shares <= SLACK).all():
        raise ValueError("a probability of a category is above one, or none")
    for part in np.split(shares, np.cumsum(domain.sizes)[:-1], axis=1):
        if (np.abs(np.exp(part).sum(axis=1) - 1.0) > SLACK).any():
            raise ValueError("the probabilities of the categories do not sum to one")


def cuts_of(
    found: np.ndarray[Any, Any] | None, inner: SparseKernelMean, domain: Domain
) -> Cuts | None:
    """Where components end at bounds; a ValueError for bounds that are none, or where one leans."""
    if found is None:
        return None
    if found.shape != (inner.k, len(domain.lines)) or found.dtype != np.int64:
        raise ValueError("array 'cut' has the wrong type or shape")
    cut = found.astype(bool)
    if (cut != found).any() or (cut & ~domain.group.moves).any():
        raise ValueError("a component ends at bounds that are not there")
    if inner.spreads is not None and inner.spreads.ndim == 3:
        for a, t in zip(*np.nonzero(cut), strict=True):
            if np.delete(inner.spreads[a, t], t).any():
                raise ValueError("a component that ends at a bound leans on other columns")
    return cut


def check_inner(inner: SparseKernelMean, domain: Domain) -> None:
    """A ValueError for a mean whose coordinates are not those of the domain."""
    if inner.dimension != domain.coordinates:
        raise ValueError("the mean inside has other coordinates than the domain")
    if not inner.kernel.traits.spreads:
        raise ValueError("the mean inside has a kernel that is not Gaussian")
    m = len(domain.lines)
    blocks = [np.array([t]) for t in np.flatnonzero(domain.group.moves)]
    blocks += [m + 3 * i + np.arange(3) for i in range(len(domain.spheres))]
    for block in blocks:
        _check_block(inner.scale, block, "scale")
    full = inner.spreads is not None and inner.spreads.ndim == 3
    for i in range(len(domain.spheres)) if full else ():
        assert inner.spreads is not None
        for spread in inner.spreads:
            _check_block(spread, m + 3 * i + np.arange(3), "spread")


def _check_block(A: Matrix | None, block: IntVector, what: str) -> None:
    """A ValueError where the rows and columns of a block are not c·I there, and 0 elsewhere."""
    if A is None:
        return
    wanted = np.zeros((len(block), len(A)))
    wanted[np.arange(len(block)), block] = A[block[0], block[0]]
    slack = 1e-9 * np.abs(A).max()
    if (np.abs(A[block] - wanted) > slack).any() or (np.abs(A[:, block].T - wanted) > slack).any():
        raise ValueError(f"a {what} mixes coordinates that a bound, a period or a sphere has")
