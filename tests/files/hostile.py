"""Files made to do harm: small ones that promise to be huge, others that are not what they say."""

from __future__ import annotations

import bz2
import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.files import formats
from tests.files.formats import pa

X = np.random.default_rng(0).normal(size=(40, 3))

# Each is a name, what writes the file, and what is said of it.
CASES: dict[str, tuple[str, Callable[[Path], object], str]] = {}


def case(title: str, name: str, said: str):
    """Enter a function that gives the bytes of a file, or writes it, under its title."""

    def enter(make):
        def write(path: Path) -> None:
            content = make(path) if make.__code__.co_argcount else make()
            if isinstance(content, bytes):
                path.write_bytes(content)

        CASES[title] = name, write, said
        return make

    return enter


def npy(shape: str, descr: str = "'<f8'", values: bytes = b"", version: int = 1) -> bytes:
    header = (
        f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117)
        + b"\n"
    )
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header + values


def zipped(packing: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


# Arrays

DAMAGED = r"damaged or incomplete: it should hold \(.*\) values and has \d+ bytes"
SHAPE = "at least one row and one column are needed"
for title, shape, said in (
    ("no rows, many columns", "(0, 3000000000)", SHAPE),
    ("no columns, many rows", "(3000000000, 0)", SHAPE),
    ("many rows that are not there", "(1000000000000, 2)", DAMAGED),
    (
        "more bytes than there are numbers for",
        "(4611686018427387904, 4611686018427387904, 16)",
        DAMAGED,
    ),
    ("a negative shape", "(-3, -2)", "its shape is"),
    ("a shape of words", "('a', 2)", "cannot be read as npy"),
    ("a shape that is no shape", "7", "cannot be read as npy"),
    ("a deep shape", "(" * 5000, "cannot be read as npy"),
):
    CASES[f"npy: {title}"] = "x.npy", (lambda path, shape=shape: path.write_bytes(npy(shape))), said
    if "(-3" not in shape and "'" not in shape and shape.startswith("(") and len(shape) < 100:
        CASES[f"npz: {title}"] = (
            "x.npz",
            (lambda path, shape=shape: path.write_bytes(zipped(X__npy=npy(shape)))),
            r"it should hold|GB or more|columns, but at most|" + SHAPE,
        )
case("npy: objects", "x.npy", "cannot be read as npy|real numbers")(
    lambda: npy("(2, 2)", "'|O'", b"\x80" * 64)
)
case("npy: records", "x.npy", "real numbers are needed")(
    lambda: npy("(2,)", "[('a', '<f8'), ('b', '<f8')]", bytes(32))
)
case("npy: a type without size", "x.npy", SHAPE)(lambda: npy("(10, 10)", "'<U0'"))
case("npy: a type that is none", "x.npy", "cannot be read as npy")(
    lambda: npy("(1, 1)", "'<f7'", bytes(8))
)
case("npy: an unknown version", "x.npy", "cannot be read as npy")(
    lambda: npy("(1, 1)", values=bytes(8), version=9)
)
case("npy: one row of a million columns", "x.npy", "at most 1048576 are read")(
    lambda: npy("(1, 1048577)", "'|u1'", bytes(1048577))
)
case("npy: ninety dimensions", "x.npy", "cannot be read as npy")(
    lambda: npy(f"(2, {'1, ' * 89})", values=bytes(16))
)
case("npz: text only", "x.npz", "x.npz cannot be read as npz: readme.txt: ")(
    lambda: zipped(readme__txt=b"some words")
)
case("npz: an array that is text", "x.npz", "x.npz cannot be read as npz: X.npy: ")(
    lambda: zipped(X__npy=b"some words")
)
case("npz: less than it says", "x.npz", r"x\.npz:X cannot be read: it should hold \(1000, 2\)")(
    lambda: zipped(X__npy=npy("(1000, 2)", values=bytes(80)))
)
case("npz: a wrong checksum", "x.npz", "Bad CRC-32")(
    lambda: zipped(
        X__npy=npy("(4, 2)", values=b"abcdefgh" * 8), packing=zipfile.ZIP_STORED
    ).replace(b"abcdefgh", b"abcdefgi")
)
case("idx: no rows, many columns", "x.idx", SHAPE)(
    lambda: b"\0\0\x08\2" + struct.pack(">II", 0, 1 << 31)
)
case("idx: values that are not there", "x.idx", DAMAGED)(
    lambda: b"\0\0\x0e\3" + struct.pack(">III", *[(1 << 32) - 1] * 3)
)
case("idx: many dimensions", "x.idx", "damaged or incomplete")(lambda: b"\0\0\x08\xff" + bytes(99))
case("idx: values that are not there, packed", "x.idx.gz", DAMAGED + "|GB or more")(
    lambda: gzip.compress(b"\0\0\x08\2" + struct.pack(">II", 1 << 16, 1 << 15) + bytes(10))
)
case("idx: half a gzip file", "x.idx.gz", "cannot be read as idx")(
    lambda: gzip.compress(b"\0\0\x08\1" + struct.pack(">I", 86400) + X.tobytes() * 90)[:-300]
)

# Text

case("csv: noise", "x.csv", "cannot be read|is empty|holds|columns")(
    lambda: np.random.default_rng(1).bytes(5000)
)
case("csv: a line without end", "x.csv", "a row is longer than 8388608 bytes")(
    lambda: b"a,b\n" + b"1" * (20 << 20)
)
case("csv: a bomb without lines", "x.csv.gz", "a row is longer than 8388608 bytes")(
    lambda: gzip.compress(bytes(200 << 20), 1)
)
case("csv: a bomb of empty lines", "x.csv.bz2", "begins with 8388608 bytes of empty lines")(
    lambda: bz2.compress(b"\n" * (20 << 20), 1)
)
case("csv: a bomb in quotes", "x.csv.gz", "never closed")(
    lambda: gzip.compress(b'a,b\n1,"' + b"\n" * (60 << 20), 1)
)
case("csv: a quote never closed", "x.csv", "never closed|Expected 2 columns")(
    lambda: b'a,b\n1,2\n3,"4\n5,6\n'
)
case("csv: no gzip file", "x.csv.gz", "cannot be read")(lambda: b"a,b\n1,2\n")
case("csv: half a gzip file", "x.csv.gz", "cannot be read")(
    lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 9000)[:-9]
)
case("csv: noise in a gzip file", "x.csv.gz", "cannot be read")(
    lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 9000)[:30] + b"noise" * 9
)
case("csv: no bzip2 file", "x.csv.bz2", "cannot be read")(lambda: b"BZh9 and then something else")
case("csv: no zstd file", "x.csv.zst", "cannot be read")(
    lambda: b"(\xb5/\xfd and then something else"
)
case("csv: UTF-16", "x.csv", "it is in UTF-16")(lambda: "a,b\n1,2\n".encode("utf-16"))
case("csv: the same name ten thousand times", "x.csv", "two columns called 'a'")(
    lambda: b",".join([b"a"] * 10_000) + b"\n"
)

# Pictures


def png(width: int, height: int, packed: bytes = b"x\x9c") -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )


def tiff(width: int, height: int) -> bytes:
    fields = [
        (256, width),
        (257, height),
        (258, 8),
        (259, 1),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, height),
        (279, 9),
    ]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in fields)
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(fields)) + entries + bytes(4)


HOLLOW = "far more than [0-9]+ bytes can hold|cannot be read as a picture"
case("png: a hundred million pixels", "x.png", "12000 times 9000 pixels, far more than")(
    lambda: png(12_000, 9_000)
)
case("png: four thousand million pixels", "x.png", HOLLOW)(lambda: png(65_000, 65_000))
case("png: half a picture", "x.png", "cannot be read as a picture")(
    lambda: png(64, 64, zlib.compress(bytes(700)))
)
case("tiff: a hundred million pixels", "x.tiff", HOLLOW)(lambda: tiff(12_000, 9_000))
case("tiff: no pixels", "x.tiff", "cannot be read as a picture")(lambda: tiff(0, 0))
case("jpg: a beginning", "x.jpg", "cannot be read as a picture")(
    lambda: b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
)


@case("webp: one colour, many pixels", "x.webp", HOLLOW)
def _webp(path: Path) -> None:
    formats.Image.new("L", (16_000, 6_000)).convert("RGB").save(path, lossless=True, method=0)


# Cytometry


def fcs(path: Path, **changes: str) -> bytes:
    """A right file with some keywords changed, padded so that nothing moves."""
    content = formats.write_fcs(path, X).read_bytes()
    head, text, rest = content[:58], content[58:1024].rstrip().decode(), content[1024:]
    words = text[1:-1].split("/")
    pairs = dict(zip(words[::2], words[1::2], strict=True)) | {
        f"${key}": value for key, value in changes.items()
    }
    text = "/" + "/".join(f"{key}/{value}" for key, value in pairs.items()) + "/"
    head = head[:18] + f"{58 + len(text) - 1:>8}".encode() + head[26:]
    return (head + text.encode()).ljust(1024) + rest


WRONG = "cannot be read as FCS"
for title, changes in {
    "a channel for every man": {"PAR": "8000000000"},
    "no channels": {"PAR": "0"},
    "an analysis that is not there": {"BEGINANALYSIS": "0", "ENDANALYSIS": "900000000000"},
    "data beyond the end": {"ENDDATA": "900000000000"},
    "data before the beginning": {"BEGINDATA": "-900000000000"},
    "odd bits": {"DATATYPE": "I", "P1B": "7"},
    "a range of many digits": {"DATATYPE": "I", "P1R": "9" * 300},
    "a type that is none": {"DATATYPE": "Q"},
    "a byte order that is none": {"BYTEORD": "x", "PAR": "7"},
    "a number that is none": {"TOT": "many"},
}.items():
    CASES[f"fcs: {title}"] = (
        "x.fcs",
        (lambda path, changes=changes: path.write_bytes(fcs(path, **changes))),
        WRONG,
    )
case("fcs: a text that is not there", "x.fcs", WRONG)(
    lambda: b"FCS3.1    " + b"      5899999999" * 3
)
case("fcs: text that is a pattern", "x.fcs", WRONG)(lambda path: fcs(path).replace(b"/", b"("))


# Tables


def patched(content: bytes, old: bytes, new: bytes) -> bytes:
    assert old in content
    return content.replace(old, new)


@case("parquet: more rows than there are", "x.parquet", "x.parquet")
def _parquet(path: Path) -> bytes:
    pa.parquet.write_table(pa.table({"a": np.arange(500.0)}), path)
    return patched(
        path.read_bytes(), b"\xe8\x07", b"\xff\x7f"
    )  # 500 and 8191, as the footer writes them


@case("parquet: a footer of four gigabytes", "x.parquet", "cannot be read")
def _parquet_footer(path: Path) -> bytes:
    pa.parquet.write_table(pa.table({"a": np.arange(500.0)}), path)
    return path.read_bytes()[:-8] + b"\xff\xff\xff\xff" + b"PAR1"


@case("arrow: more rows than there are", "x.arrow", "cannot be read")
def _arrow(path: Path) -> bytes:
    with pa.ipc.new_file(str(path), formats.table(X).schema) as writer:
        writer.write_table(formats.table(X))
    return patched(path.read_bytes(), struct.pack("<q", 40), struct.pack("<q", 1 << 40))


@case("feather: a buffer of a terabyte", "x.feather", "cannot be read")
def _feather(path: Path) -> bytes:
    pa.feather.write_feather(pa.table({"a": np.zeros(1000)}), path, compression="zstd")
    return patched(path.read_bytes(), struct.pack("<q", 8000), struct.pack("<q", 1 << 40))


@case("arrow: labels that are not there", "x.arrow", "cannot be read")
def _dictionary(path: Path) -> bytes:
    values = pa.DictionaryArray.from_arrays(
        pa.array([77] * 40, pa.int32()), pa.array(np.arange(78.0))
    )
    with pa.ipc.new_file(str(path), pa.schema({"a": values.type})) as writer:
        writer.write_table(pa.table({"a": values}))
    return patched(
        path.read_bytes(), struct.pack("<40i", *[77] * 40), struct.pack("<40i", *[77 << 20] * 40)
    )


# Models


@case("km: a kernel that takes 285 GiB", "x.km", r"takes a Student kernel with alpha up to 1e\+06")
def _model(path: Path) -> bytes:
    import kernelmean as km
    from kernelmean.mean import storage

    km.sparse_kernel_mean(
        X, kernel=km.Student(3.0, 1.0), space="l2", k=3, random_state=0, engine="naive"
    ).save(path)
    header, arrays = storage.read(path)
    header["kernel"]["alpha"] = 1e12
    return storage._pack(header, arrays)


@case("km: a transform that is none", "x.km", "unknown transform")
def _transformed(path: Path) -> bytes:
    import kernelmean as km
    from kernelmean.mean import storage

    km.sparse_kernel_mean(X, k=3, random_state=0, engine="naive").save(path)
    header, arrays = storage.read(path)
    return storage._pack(header | {"transform": "sqrt"}, arrays)


case("km: no model, but large", "x.km", "is not a kernelmean model")(
    lambda path: sparse(path, 1 << 32)
)


def sparse(path: Path, size: int) -> None:
    """A file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
