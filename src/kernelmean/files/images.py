"""Pictures, through Pillow: as arrays for segmentation, as tables of pixels for densities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.files.arrays import load_npy, load_npz
from kernelmean.files.needing import need
from kernelmean.files.reader import ArrayReader
from kernelmean.files.whole import whole

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF", ".webp": "WEBP"}
PLAIN = ("1", "L", "I", "F", "I;16", "RGB", "RGBA")  # modes whose arrays mean what they say


def read_pixels(path: Path) -> ArrayReader:
    """One row per pixel, row by row: red, green and blue, or grey; without alpha."""
    pixels = read_image(path)
    if pixels.ndim == 2:
        return ArrayReader(pixels.reshape(-1, 1), ["grey"])
    return ArrayReader(pixels[..., :3].reshape(-1, 3), ["red", "green", "blue"])


def read_image(path: str | Path) -> np.ndarray[Any, Any]:
    """(rows, columns) or (rows, columns, channels); the array of an npy or npz file is taken as a picture too."""
    path = Path(path)
    if path.suffix == ".npy":
        return np.asarray(load_npy(path))
    if path.suffix == ".npz":
        pictures = [array for array in load_npz(path).values() if array.ndim == 3 and array.shape[2] in (3, 4)]
        if len(pictures) != 1:
            raise ValueError(f"{path} holds {len(pictures)} arrays of shape (rows, columns, 3), but one picture is needed.")
        return pictures[0]
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path} is no picture that can be read; the formats are {', '.join(FORMATS)}, .npy and .npz.")
    return _decoded(path)


def _decoded(path: Path) -> np.ndarray[Any, Any]:
    pillow = need("PIL.Image", f"reading {path}")
    try:
        with pillow.open(path) as image:
            palette = image.mode not in PLAIN
            turned = need("PIL.ImageOps", f"reading {path}").exif_transpose(image)
            return np.asarray(turned.convert("RGBA" if image.has_transparency_data else "RGB") if palette else turned)
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
        raise ValueError(f"{path} cannot be read as a picture: {error}") from error


def write_image(path: str | Path, pixels: np.ndarray[Any, Any]) -> None:
    """A picture by the ending of its name, whole or absent."""
    path = Path(path)
    kind = image_format(path)
    pillow = need("PIL.Image", f"writing {path}")
    with whole(path) as beside:
        pillow.fromarray(pixels).save(beside, format=kind)


def image_format(path: str | Path) -> str:
    """What a picture of this name is written as."""
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(f"{path} names no picture format that can be written; the endings are {', '.join(FORMATS)}.")
    return kind
