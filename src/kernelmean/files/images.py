"""Pictures, through Pillow: as arrays for segmentation, as tables of pixels for densities."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.files.arrays import Archive, load_npy
from kernelmean.files.atomic import atomic_write
from kernelmean.files.faults import first_line
from kernelmean.files.optional_imports import need
from kernelmean.files.reader import ArrayReader

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WEBP",
}
SMALL_BYTES = 1 << 24  # that any picture may take in memory
# Bytes of a picture for each byte of its file, at most: zlib reaches 1032, of channels that take
# three bytes of four.
MAX_EXPANSION = 1500
PLAIN = ("1", "L", "I", "F", "I;16", "RGB", "RGBA")  # modes whose arrays mean what they say


def read_pixels(path: Path) -> ArrayReader:
    """One row per pixel, row by row: red, green and blue, or grey; without alpha."""
    pixels = read_image(path)
    if pixels.ndim == 2:
        return ArrayReader(pixels.reshape(-1, 1), ["grey"])
    return ArrayReader(pixels[..., :3].reshape(-1, 3), ["red", "green", "blue"])


def read_image(path: str | Path) -> np.ndarray[Any, Any]:
    """(rows, columns) or (rows, columns, channels) values of a picture.

    The array of an npy or npz file is taken as a picture too.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return np.asarray(load_npy(path))
    if path.suffix.lower() == ".npz":
        archive = Archive(path)
        pictures = [
            name
            for name, header in archive.headers.items()
            if len(header.shape) == 3 and header.shape[2] in (3, 4)
        ]
        if len(pictures) != 1:
            raise ValueError(
                f"{path} holds {len(pictures)} arrays of shape (rows, columns, 3), but one "
                "picture is needed."
            )
        return archive.load(pictures[0])
    if path.suffix.lower() not in FORMATS:
        raise ValueError(
            f"{path} is no picture that can be read; the formats are {', '.join(FORMATS)}, .npy "
            "and .npz."
        )
    return _decoded(path)


def _decoded(path: Path) -> np.ndarray[Any, Any]:
    pillow = need("PIL.Image", f"reading {path}")
    try:
        with warnings.catch_warnings():
            # Pillow warns of large pictures, which are looked at here, and of harmless damage.
            warnings.simplefilter("ignore")
            with pillow.open(path) as image:
                _refuse_hollow(image, path)
                palette = image.mode not in PLAIN
                turned = need("PIL.ImageOps", f"reading {path}").exif_transpose(image)
                return np.asarray(
                    turned.convert("RGBA" if image.has_transparency_data else "RGB")
                    if palette
                    else turned
                )
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except Exception as error:  # decoders meet damage with errors of every kind
        raise ValueError(f"{path} cannot be read as a picture: {first_line(error)}.") from error


def _refuse_hollow(image: Any, path: Path) -> None:
    """A ValueError, before memory is taken, for a picture far larger than its file can hold."""
    decoded = 4 * image.width * image.height
    held = path.stat().st_size
    if decoded > max(SMALL_BYTES, MAX_EXPANSION * held):
        raise ValueError(
            f"it should have {image.width} times {image.height} pixels, far more than {held} "
            "bytes can hold"
        )


def write_image(path: str | Path, pixels: np.ndarray[Any, Any]) -> None:
    """A picture by the ending of its name, whole or absent."""
    path = Path(path)
    kind = image_format(path)
    pillow = need("PIL.Image", f"writing {path}")
    with atomic_write(path) as beside:
        pillow.fromarray(pixels).save(beside, format=kind)


def image_format(path: str | Path) -> str:
    """What a picture of this name is written as."""
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(
            f"{path} names no picture format that can be written; the endings are "
            f"{', '.join(FORMATS)}."
        )
    return kind
