"""Files in: every format as rows of numbers, streamed if possible. Files out: whole or absent."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelmean.files import categories as categories_
from kernelmean.files import transforms
from kernelmean.files.annotated import AnnotatedReader
from kernelmean.files.atomic import atomic_write, refuse_other_than_files
from kernelmean.files.faults import not_numeric
from kernelmean.files.images import image_format, read_image, write_image
from kernelmean.files.opening import open_reader, readable, short_name
from kernelmean.files.reader import Labels, Reader
from kernelmean.files.source import Batch, Source, Table, column_values
from kernelmean.files.writing import TableWriter, standard_output, table_format, table_writer

__all__ = [
    "Batch",
    "Source",
    "Table",
    "TableWriter",
    "atomic_write",
    "column_names",
    "coordinate_names",
    "has_column",
    "image_format",
    "read",
    "read_columns",
    "read_image",
    "readable",
    "refuse_other_than_files",
    "short_name",
    "standard_output",
    "table_format",
    "table_writer",
    "write_image",
]


def read(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | str | None = None,
    transform: str | None = None,
    weights: str | None = None,
    labels: str | None = None,
    drop_na: bool = False,
    categories: Sequence[str] | str | Mapping[str, Sequence[Any] | None] | None = None,
) -> Source:
    """A file as a sample that every fit takes, read in batches and again in every pass.

    It is never read all at once unless asked for. The format follows the name's ending: npy
    (mapped), npz, csv and tsv (also .gz, .bz2, .zst), jsonl and ndjson (an object a line), parquet
    (a file or a folder of them), feather and arrow, FCS 2.0 to 3.1, h5ad (AnnData), idx (MNIST,
    also .gz), and png, jpg, tiff, webp as one row per pixel. Text, parquet, arrow and h5ad are
    streamed. ``file.npz:NAME`` is one array of several. Arrays, idx and text need nothing but the
    core; h5ad needs the extra ``anndata``, the others, and .zst, the extra ``files``.

    Parameters
    ----------
    path : str or os.PathLike
        A file, or a folder of parquet files, which are taken in the natural order of their names.
    columns : sequence of str, str or None, default=None
        The names of the coordinates in the order wanted, as a list or separated by commas (a name
        with a comma in quotes). By default they are all columns but those of weights and labels.
        Without names in the file they are "0", "1", …. FCS channels go by $PnN or by marker, $PnS.
        Of h5ad "obsm:X_pca" is a whole embedding, which is also the default, "X_pca-0" one column
        of it, "X" all genes; genes and columns of obs go by their names.
    transform : str or None, default=None
        What is done to every coordinate: "arcsinh:150" (x ↦ arcsinh(x/150), for any positive
        number), "log" or "none".
    weights : str or None, default=None
        The column of sample weights; see ``Source.weights``.
    labels : str or None, default=None
        A column of labels of any kind, or a file with one label per row; see ``Source.labels``.
    drop_na : bool, default=False
        Whether to leave out rows with a value that is missing or not finite, which are an error
        otherwise.
    categories : sequence of str, str, mapping or None, default=None
        The coordinates that hold words, truths or numbers without an order, for a ``domain`` with
        :class:`Categorical`. Their values are read as codes, which ``Source.levels`` explains; to
        learn what values there are takes a pass over the file. A mapping gives the values, or None
        for those that occur; the code of any other value is −1. ``transform`` leaves them alone.

    Returns
    -------
    Source
        The sample: ``shape``, ``columns``, ``batches(rows)``, ``load()``. Iterating gives (m, d)
        float64 blocks, ``np.asarray`` the whole. A pass takes O(n·d) time, and memory for one block
        where the format is streamed.

    Raises
    ------
    ValueError
        If the format is unknown, or a column is absent, named twice or not numeric, and none of
        ``categories``.
    ImportError
        If the format needs a package that is not installed.

    See Also
    --------
    Source : What it returns.
    sparse_kernel_mean : Takes it in the place of an array.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, kernelmean as km
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "points.npy"
    ...     np.save(path, np.arange(6.0).reshape(2, 3))
    ...     km.read(path, columns="0,2").load().points
    array([[0., 2.],
           [3., 5.]])
    """
    return sample_of(
        open_reader(path), os.fspath(path), columns, transform, weights, labels, drop_na, categories
    )


def sample_of(
    reader: Reader,
    name: str,
    columns: Sequence[str] | str | None,
    transform: str | None,
    weights: str | None = None,
    labels: str | None = None,
    drop_na: bool = False,
    categories: Sequence[str] | str | Mapping[str, Sequence[Any] | None] | None = None,
) -> Source:
    """The same of a reader that is known, under a name for messages."""
    _no_twins(reader, name)
    known = _Names(reader, name)
    weight = None if weights is None else known.find(weights)
    label, given = (None, None) if labels is None else known.labels(labels)
    chosen, asked = known.coordinates(columns, {weight, label})
    levels = {} if categories is None else known.levels(categories, chosen)
    if levels:
        reader = categories_.CodedReader(reader, levels)
    refused = reader.refused([*chosen, *([] if weight is None else [weight])])
    if refused is not None:
        raise ValueError(not_numeric(name, refused))
    if not chosen:
        raise ValueError(f"{name} has no columns left for coordinates.")
    return Source(
        name,
        reader,
        chosen,
        asked if reader.named or levels else None,
        transforms.parse(transform),
        weight,
        label,
        given,
        bool(drop_na),
        levels={own: levels[n] for n, own in zip(chosen, asked, strict=True) if n in levels},
    )


def coordinate_names(
    path: str | os.PathLike[str],
    columns: Sequence[str] | str | None = None,
    weights: str | None = None,
) -> list[str]:
    """The names that the coordinates of ``read`` have, whatever they hold; "0", "1", … if none."""
    reader = open_reader(path)
    _no_twins(reader, os.fspath(path))
    known = _Names(reader, os.fspath(path))
    return known.coordinates(columns, {None if weights is None else known.find(weights)})[1]


def column_names(path: str | os.PathLike[str]) -> list[str] | None:
    """The columns of a file, where it names them."""
    reader = open_reader(path)
    return reader.names if reader.named else None


def has_column(path: str | os.PathLike[str], name: str) -> bool:
    """Whether a file has a column of this name, which need be no coordinate."""
    reader = open_reader(path)
    return reader.named and (name in reader.names or name in reader.extras)


def read_columns(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None
) -> dict[str, Labels]:
    """Whole columns of any kind, by name: small tables that describe samples."""
    reader = open_reader(path)
    known = _Names(reader, os.fspath(path))
    return {
        name: column_values(reader, known.find(name))
        for name in (reader.names if columns is None else columns)
    }


class _Names:
    """The columns of a file by name."""

    def __init__(self, reader: Reader, path: str) -> None:
        self._reader = reader
        self._path = path
        self._names = {*reader.names, *reader.extras}
        self._tables = reader.tables if isinstance(reader, AnnotatedReader) else {}

    def find(self, name: str) -> str:
        """The column of this name or alias."""
        name = self._reader.aliases.get(name, name)
        if name not in self._names:
            raise ValueError(
                f"{self._path} has no column {name!r}; its columns are {self._known()}."
            )
        return name

    def split(self, columns: Sequence[str] | str) -> list[str]:
        """Names as they were given; that of a table stands for all its columns."""
        named = [
            [name] if name in self._names else self._tables.get(name, [name])
            for name in _split(columns)
        ]
        return [name for several in named for name in several]

    def listed(self, columns: Sequence[str] | str) -> list[str]:
        """Several, each once."""
        found = [self.find(name) for name in self.split(columns)]
        twice = _twice(found)
        if twice is not None:
            raise ValueError(f"columns names {twice!r} twice.")
        return found

    def coordinates(
        self, columns: Sequence[str] | str | None, others: set[str | None]
    ) -> tuple[list[str], list[str]]:
        """Those asked for, or all but ``others``: by their names, and as they were asked for."""
        if columns is None:
            found = [column for column in self._reader.names if column not in others]
            if not found and self._tables:
                raise ValueError(
                    f"which table of {self._path} holds the points? Say columns='obsm:NAME' "
                    f"(--columns obsm:NAME); it holds {', '.join(self._tables)}."
                )
            return found, found
        return self.listed(columns), self.split(columns)

    def levels(
        self,
        categories: Sequence[str] | str | Mapping[str, Sequence[Any] | None],
        chosen: Sequence[str],
    ) -> dict[str, tuple[Any, ...]]:
        """The values of the columns of categories, where not given those that occur."""
        given = categories if isinstance(categories, Mapping) else dict.fromkeys(_split(categories))
        names = dict(zip(map(self.find, given), given.values(), strict=True))
        odd = next((name for name in names if name not in chosen), None)
        if odd is not None:
            raise ValueError(
                f"categories names {odd!r}, which is none of the coordinates of {self._path}: "
                f"{', '.join(map(repr, chosen))}."
            )
        learned = categories_.learned(
            self._reader, [name for name, levels in names.items() if levels is None], self._path
        )
        return {
            name: learned[name] if levels is None else tuple(levels)
            for name, levels in names.items()
        }

    def labels(self, name: str) -> tuple[str | None, Labels | None]:
        """The column, or the values of another file."""
        if name in self._names or name in self._reader.aliases or not Path(name).exists():
            return self.find(name), None
        other = open_reader(name)
        if len(other.names) != 1:
            raise ValueError(
                f"{name} has {len(other.names)} columns, but a file of labels has one."
            )
        return None, column_values(other, other.names[0])

    def _known(self) -> str:
        names = [*self._tables, *self._reader.names, *self._reader.extras, *self._reader.aliases]
        shown = ", ".join(map(repr, names[:20]))
        return shown if len(names) <= 20 else f"{shown}, … ({len(names)} in all)"


def _split(columns: Sequence[str] | str) -> list[str]:
    if isinstance(columns, str):  # as a line of csv, so that quotes keep a comma within a name
        names = [name.strip() for name in next(csv.reader([columns], skipinitialspace=True), [])]
    else:
        names = list(map(str, columns))
    if not names or "" in names:
        raise ValueError(
            f"columns must be names separated by commas, or a list of names, got {columns!r}."
        )
    return names


def _no_twins(reader: Reader, path: str) -> None:
    twice = _twice(reader.names)
    if twice is not None:
        raise ValueError(f"{path} has two columns called {twice!r}; rename one.")


def _twice(names: list[str]) -> str | None:
    """The first name that is there more than once."""
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)
