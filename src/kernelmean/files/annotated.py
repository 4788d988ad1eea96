"""Annotated matrices of single cells: .h5ad, the file of AnnData.

Only what is asked for is read. Coordinates are columns of tables: ``obsm:X_pca`` is an embedding,
``X`` the expression of all genes, ``layers:NAME`` another such matrix. Single columns are called as
``scanpy.get.obs_df`` calls them: ``X_pca-0``, the name of a gene, or that of a column of ``obs``,
which may hold labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Points, Vector
from kernelmean.files.faults import first_line
from kernelmean.files.optional_imports import need
from kernelmean.files.reader import BLOCK_NUMBERS, Block, Labels

USUAL = "X_pca"  # of several embeddings the one that scverse takes where none is named


class Place(NamedTuple):
    """Where a column is: an element of the file, and which of its columns, None for the element."""

    element: str
    column: int | str | None = None


@dataclass(frozen=True)
class AnnotatedReader:
    """One .h5ad file; ``tables`` are names that stand for several columns."""

    path: Path
    names: list[str]  # of the table that is taken where none is named
    places: Mapping[str, Place]  # of every column
    tables: Mapping[str, Sequence[str]]
    aliases: Mapping[str, str]
    count: int
    named = True

    @lazy
    def extras(self) -> Sequence[str]:
        """Columns of ``obs``, of other embeddings, and genes."""
        own = set(self.names)
        return [name for name in self.places if name not in own]

    def refused(self, columns: Sequence[str]) -> str | None:
        """Columns of ``obs`` may hold words."""
        with _opened(self.path) as file:
            for name in columns:
                place = self.places[name]
                if place.column is None and _values(file[place.element]).dtype.kind not in "biuf":
                    return f"column {name!r} holds words or categories"
        return None

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """The rows, in order; sparse matrices become dense block by block."""
        step = max(1, BLOCK_NUMBERS // max(1, len(columns)))
        with _opened(self.path) as file:
            parts = _Parts(file, [self.places[name] for name in columns])
            found = [_values(file[self.places[name].element]) for name in self._of_obs(labels)]
            for start in range(0, self.count, step):
                rows = slice(start, min(start + step, self.count))
                words = tuple(values[rows] for values in found)
                yield Block(parts.numbers(rows), words, rows.stop / self.count)

    def _of_obs(self, labels: Sequence[str]) -> Sequence[str]:
        odd = next((name for name in labels if self.places[name].column is not None), None)
        if odd is not None:
            raise ValueError(f"{self.path}: {odd!r} is no column of obs, which labels are.")
        return labels


def read_h5ad(path: Path) -> AnnotatedReader:
    """The names of all that the file holds; the numbers are read when they are asked for."""
    with _opened(path) as file:
        count = _index(file, "obs", path).shape[0]
        if not count:
            raise ValueError(f"{path} has no rows.")
        observed = {name: Place(f"obs/{name}") for name in _listed(file["obs"])}
        embedded = {key: _embedding(file["obsm"][key], key) for key in file.get("obsm", {})}
        genes = _unique(np.asarray(_index(file, "var", path).asstr()[:], dtype=str).tolist())
        matrices = _matrices(file, genes)
    tables = {f"obsm:{key}": list(columns) for key, columns in embedded.items()}
    tables |= {name: list(columns) for name, columns in matrices.items()}
    aliases = {f"obs:{name}": name for name in observed}
    places = {f"var:{gene}": place for gene, place in matrices.get("X", {}).items()}
    for columns in (*matrices.values(), *embedded.values(), observed):  # the last of a name counts
        places |= columns
    if "X" in tables:
        tables["X"] = [gene if places[gene].element == "X" else f"var:{gene}" for gene in genes]
    default = _default(tables)
    tables = {key: tables[f"obsm:{key}"] for key in embedded} | tables
    return AnnotatedReader(path, default, places, tables, aliases, count)


def _unique(names: list[str]) -> list[str]:
    """Names of which each is there once, as ``var_names_make_unique`` of AnnData makes them."""
    known = set(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        fresh = name
        while seen[name] and fresh in known:
            fresh = f"{name}-{seen[name]}"
            seen[name] += 1
        seen[name] = max(seen[name], 1)
        known.add(fresh)
        found.append(fresh)
    return found


def _default(tables: Mapping[str, list[str]]) -> list[str]:
    """X_pca, or the only embedding, or the matrix where there is none; nothing where unclear."""
    embeddings = [name for name in tables if name.startswith("obsm:")]
    if f"obsm:{USUAL}" in tables:
        return tables[f"obsm:{USUAL}"]
    if not embeddings:
        return tables.get("X", [])
    return tables[embeddings[0]] if len(embeddings) == 1 else []


def _embedding(element: Any, key: str) -> dict[str, Place]:
    """The columns of an element of obsm, an array or a frame."""
    if _is_frame(element):
        return {f"{key}-{name}": Place(f"obsm/{key}", name) for name in _listed(element)}
    return {f"{key}-{j}": Place(f"obsm/{key}", j) for j in range(_shape(element)[1])}


def _matrices(file: Any, genes: list[str]) -> dict[str, dict[str, Place]]:
    """The columns of X by gene, and of each layer by its name and gene."""
    found = {}
    if "X" in file and _shape(file["X"])[1:] == (len(genes),):
        found["X"] = {gene: Place("X", j) for j, gene in enumerate(genes)}
    for key in file.get("layers", {}):
        places = {f"{key}:{gene}": Place(f"layers/{key}", j) for j, gene in enumerate(genes)}
        found[f"layers:{key}"] = places
    return found


class _Parts:
    """Columns of several elements, side by side, in the order in which they were asked for."""

    def __init__(self, file: Any, places: list[Place]) -> None:
        self._places = places
        self._file = file
        names = dict.fromkeys(place.element for place in places)
        self._elements = {name: _readable(file[name]) for name in names}

    def numbers(self, rows: slice) -> Points:
        """(m, columns) numbers, NaN where one is missing."""
        found = np.empty((rows.stop - rows.start, len(self._places)))
        for name, element in self._elements.items():
            mine = [j for j, place in enumerate(self._places) if place.element == name]
            found[:, mine] = _columns(element, rows, [self._places[j].column for j in mine])
        return found


def _columns(element: Any, rows: slice, columns: list[Any]) -> Points | Vector:
    """Some columns of some rows of an array, a sparse matrix or a frame."""
    if columns == [None]:
        return _values_of(element)[rows].astype(np.float64)[:, None]
    if hasattr(element, "columns"):
        return np.asarray(element[columns].to_numpy(np.float64, na_value=np.nan)[rows])
    part = element[rows]
    dense = part[:, columns].toarray() if hasattr(part, "toarray") else np.asarray(part)[:, columns]
    return np.asarray(dense, dtype=np.float64)


def _readable(element: Any) -> Any:
    """What can be cut into rows: the array itself, which stays in the file, or what it encodes."""
    io = need("anndata.io", "reading .h5ad", "anndata")
    kind = element.attrs.get("encoding-type", "")
    if kind in ("csr_matrix", "csc_matrix"):
        return io.sparse_dataset(element)
    return element if kind == "array" and element.ndim == 2 else io.read_elem(element)


def _values(element: Any) -> Labels:
    """A column of obs: numbers as they are, with NaN for missing ones; else objects."""
    return _values_of(need("anndata.io", "reading .h5ad", "anndata").read_elem(element))


def _values_of(column: Any) -> Labels:
    pandas = need("pandas", "reading .h5ad", "anndata")
    series = pandas.Series(column)
    if pandas.api.types.is_numeric_dtype(series.dtype):
        plain = isinstance(series.dtype, np.dtype)
        return np.asarray(series if plain else series.to_numpy(np.float64, na_value=np.nan))
    words = series.astype(object)
    return np.asarray(words.where(words.notna(), None), dtype=object)


def _listed(frame: Any) -> list[str]:
    """The columns of a frame in the file, in their order."""
    return [str(name) for name in frame.attrs["column-order"]]


def _index(file: Any, name: str, path: Path) -> Any:
    """The names of the rows of obs or var."""
    if name not in file or not _is_frame(file[name]):
        raise ValueError(
            f"{path} holds no table {name!r} as AnnData writes it since version 0.7; open it with "
            "anndata and write it again."
        )
    return file[name][file[name].attrs["_index"]]


def _is_frame(element: Any) -> bool:
    return str(element.attrs.get("encoding-type", "")) == "dataframe"


def _shape(element: Any) -> tuple[int, ...]:
    """Of a dense or a sparse matrix."""
    return tuple(map(int, element.attrs.get("shape", getattr(element, "shape", ()))))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, with errors of every kind, as damaged files make them, under its name."""
    need("anndata.io", f"reading {path}", "anndata")
    h5py = need("h5py", f"reading {path}", "anndata")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except Exception as error:
        if str(path) in str(error) and isinstance(error, ValueError):
            raise
        raise ValueError(f"{path} cannot be read as .h5ad: {first_line(error)}.") from error
