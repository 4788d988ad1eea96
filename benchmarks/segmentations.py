"""Segments of photographs against those that people drew: ``python -m benchmarks.segmentations
[--cache FILE]`` measures the peers and prints what each setting reaches.

Agreement is the adjusted Rand index with each of five or six people, on average over them and
then over eight images of the Berkeley set. The images also served to choose our own settings, so
that the best setting of a peer on the same images is the fair one to compare with.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

import kernelmean as km
from benchmarks.cluster_peers import CACHE, kept
from benchmarks.measuring import DATA, Row

GOAL, GOAL_GIVEN, GOAL_TIME = 0.50, 0.57, 20.0


class Photograph(NamedTuple):
    """An image, and what people drew on it: (people, rows, columns)."""

    name: str
    rgb: np.ndarray
    people: np.ndarray

    def agreement(self, labels: np.ndarray) -> float:
        """The adjusted Rand index with people, on average."""
        flat = labels.ravel()
        return float(np.mean([adjusted_rand_score(drawn.ravel(), flat) for drawn in self.people]))

    def among_people(self) -> float:
        """The same for all pairs of people."""
        pairs = combinations([drawn.ravel() for drawn in self.people], 2)
        return float(np.mean([adjusted_rand_score(a, b) for a, b in pairs]))

    def usual_count(self) -> int:
        """The median number of segments that people drew."""
        return round(float(np.median([len(np.unique(drawn)) for drawn in self.people])))


class Score(NamedTuple):
    """Means over the images."""

    agreement: float
    segments: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.agreement:.3f}"


class Peer(NamedTuple):
    """A method of scikit-image, its parameter that matters most, and the values tried."""

    segment: Callable[..., np.ndarray]
    parameter: str
    values: tuple[float, ...]


@cache
def photographs() -> tuple[Photograph, ...]:
    """Those of the data folder; none where it is absent."""
    found = []
    for path in sorted((DATA / "images").glob("bsds500_train_*.npz")):
        with np.load(path, allow_pickle=False) as file:
            name = path.stem.rpartition("_")[2]
            found.append(Photograph(name, file["rgb"], file["segmentations"]))
    return tuple(found)


@cache
def peers() -> dict[str, Peer]:
    from skimage import segmentation

    scales = (50, 100, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000)
    return {
        "felzenszwalb": Peer(segmentation.felzenszwalb, "scale", scales),
        "quickshift": Peer(segmentation.quickshift, "max_dist", (6, 10, 15, 20, 30, 50, 100)),
        "SLIC": Peer(segmentation.slic, "n_segments", (2, 3, 4, 6, 8, 12, 20, 40, 100)),
    }


def score(segment: Callable[[Photograph], np.ndarray]) -> Score:
    """A method on all images; the first of them runs twice, and its second time counts."""
    images = photographs()
    segment(images[0])
    each = []
    for image in images:
        start = time.perf_counter()
        labels = segment(image)
        spent = time.perf_counter() - start
        each.append((image.agreement(labels), len(np.unique(labels)), spent))
    return Score(*(float(mean) for mean in np.mean(each, axis=0)))


def tried(name: str, cache: Path = CACHE) -> dict[str, Score]:
    """A peer by its defaults, then with each value of its parameter; kept between runs."""
    import skimage

    peer = peers()[name]
    rows = np.concatenate([image.rgb.ravel() for image in photographs()])
    settings: dict[str, dict[str, float]] = {"defaults": {}} | {
        f"{peer.parameter} = {value}": {peer.parameter: value} for value in peer.values
    }
    return {
        words: Score(
            *kept(
                f"{name} of scikit-image {skimage.__version__}, {words}",
                rows,
                lambda: score(lambda image: peer.segment(image.rgb, **options)),
                cache,
            )
        )
        for words, options in settings.items()
    }


def people(cache: Path = CACHE) -> list[Row]:
    """Ours by default and with the number of segments, peers by default and at their best, and
    people against each other.
    """
    images = photographs()
    if not images:
        return [Row("photographs", None, f"≥ {GOAL:.2f}", "no images; set KERNELMEAN_DATA")]
    ours = score(lambda image: km.segment_image(image.rgb).labels)
    given = score(lambda image: km.segment_image(image.rgb, n_segments=image.usual_count()).labels)
    rows = [
        Row("kernelmean, defaults", str(ours), f"≥ {GOAL:.2f}", _detail(ours)),
        Row("kernelmean, n_segments as people", str(given), f"≥ {GOAL_GIVEN:.2f}", _detail(given)),
    ]
    quick = np.inf
    for name in peers():
        found = tried(name, cache)
        best = max(found, key=lambda words: found[words].agreement)
        rows += [
            Row(f"{name}, {words}", str(found[words]), "–", _detail(found[words]) + note)
            for words, note in (("defaults", ""), (best, f"; the best of {len(found)} settings"))
        ]
        if name == "felzenszwalb":
            quick = found[best].seconds
    among = float(np.mean([image.among_people() for image in images]))
    counts = f"{np.mean([image.usual_count() for image in images]):.0f} segments"
    rows.append(Row("people, each other", f"{among:.3f}", "–", counts))
    times = f"{ours.seconds:.2f} s and {quick:.2f} s per image"
    case = "seconds, kernelmean ÷ felzenszwalb at its best"
    rows.append(Row(case, ours.seconds / quick, f"≤ {GOAL_TIME:.0f}", times))
    return rows


def _detail(found: Score) -> str:
    return f"{found.segments:.0f} segments, {found.seconds:.2f} s per image"


# What the table on the page needs said; `benchmarks.meanshift` writes it.
NOTE = (
    "the adjusted Rand index with what each of five or six people drew, on average over them and "
    "over eight images of the Berkeley Segmentation Data Set. Methods of scikit-image have their "
    "defaults, then the best of some values of one parameter on the same images."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE, help="where peers are kept")
    options = parser.parse_args()
    for name in peers():
        for words, found in tried(name, options.cache).items():
            print(f"{name}, {words}: {found}, {_detail(found)}", flush=True)
    for image in photographs():
        print(f"people on {image.name}: {image.among_people():.3f}, {image.usual_count()} segments")


if __name__ == "__main__":
    main()
