"""``--domain``: where the values of columns can lie, for ``fit``; and models that know it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kernelmean.domains.expressions import DomainByPosition
    from kernelmean.mean.value import SparseKernelMean


class AskedDomain(NamedTuple):
    """What ``--domain`` says of a file."""

    kinds: DomainByPosition  # as ``domain=`` takes it
    categories: dict[str, tuple[Any, ...] | None] | None  # as ``read`` takes them


def asked(text: str, data: str, columns: str | None, weights: str | None) -> AskedDomain:
    """The domain of the coordinates of a file; a ValueError where it is none of theirs."""
    from kernelmean.domains import Categorical
    from kernelmean.domains.expressions import parse
    from kernelmean.files import coordinate_names

    names = coordinate_names(data, columns, weights)
    kinds = parse("--domain", text, names)
    categories = {
        names[key]: kind.categories
        for key, kind in kinds.items()
        if isinstance(kind, Categorical) and isinstance(key, int)
    }
    return AskedDomain(kinds, categories or None)


def refuse_beside(**options: object) -> None:
    """A ValueError for options that know nothing of domains, by their names without dashes."""
    why = {
        "transform": "changes the values that --domain speaks of",
        "signed": "asks for a kernel mean, and a domain is for densities",
        "scheduler": "fits on a cluster, and --domain needs the rows in this process",
        "workers": "fits on a cluster, and --domain needs the rows in this process",
    }
    for name, reason in why.items():
        if options.get(name) not in (None, False, "none"):
            raise ValueError(f"--{name} {reason}: leave one of the two out.")


def load_either(path: Path | str) -> Any:
    """A SparseKernelMean or a DomainMean; a ValueError that says what else the file holds."""
    from kernelmean.mean.loading import load_mean

    return load_mean(path)


def load_without(path: str, command: str) -> SparseKernelMean:
    """A SparseKernelMean, for a command that knows no domains."""
    mean = load_either(path)
    if is_on_domain(mean):
        raise ValueError(
            f"{path} holds a density on a domain, which {command} cannot use: give models that "
            "were fitted without --domain, or files of rows."
        )
    found: SparseKernelMean = mean
    return found


def is_on_domain(mean: object) -> bool:
    """Whether a model knows where the values of its columns lie."""
    from kernelmean.mean.on_domain import DomainMean

    return isinstance(mean, DomainMean)


def is_flat(mean: Any) -> bool:
    """Whether all columns hold numbers, bounded or periodic ones included."""
    return not is_on_domain(mean) or bool(mean.domain.is_flat)


def levels_of(mean: Any) -> dict[int, tuple[Any, ...]]:
    """The categories of the columns that have some, by position."""
    if not is_on_domain(mean):
        return {}
    return dict(zip(mean.domain.categories.tolist(), mean.domain.levels, strict=True))
