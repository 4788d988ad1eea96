"""Segments of images: colours, channels, types, and the painting."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import kernelmean as km
from kernelmean.meanshift import colors

RED, BLUE = (220, 40, 30), (30, 60, 200)


def two_halves(rows=20, columns=24):
    image = np.empty((rows, columns, 3), dtype=np.uint8)
    image[:, : columns // 2], image[:, columns // 2 :] = RED, BLUE
    return image


HALVES = np.tile(np.arange(24) // 12, (20, 1))


def same_partition(labels):
    return km.clustering_hausdorff(labels, HALVES) == 0.0


@pytest.mark.parametrize("color", ["lab", "rgb"])
@pytest.mark.parametrize("sparse", [True, False])
def test_two_halves_are_two_segments(color, sparse):
    image = two_halves()
    image.flags.writeable = False
    found = km.segment_image(image, color=color, sparse=sparse)
    assert same_partition(found.labels)
    np.testing.assert_array_equal(found.image, image)
    assert found.image.dtype == np.uint8
    assert found.n_segments == 2
    assert list(found.sizes) == [240, 240]
    assert {tuple(np.rint(255 * c).astype(int)) for c in found.colors} == {RED, BLUE}


def test_noise_is_averaged_away():
    noisy = np.clip(
        two_halves() + np.random.default_rng(0).normal(0, 8, (20, 24, 3)), 0, 255
    ).astype(np.uint8)
    found = km.segment_image(noisy)
    assert same_partition(found.labels)
    np.testing.assert_array_equal(
        found.image[3, 3], np.rint(noisy[:, :12].reshape(-1, 3).mean(axis=0))
    )


def test_types_and_channels_change_nothing():
    """uint8, uint16 and floats; opaque alpha; the same labels and colours."""
    image = two_halves()
    expected = km.segment_image(image)
    opaque = np.dstack([image, np.full((20, 24), 255, np.uint8)])
    for other in (
        image / 255.0,
        (image / 255.0).astype(np.float32),
        image.astype(np.uint16) * 257,
        opaque,
    ):
        found = km.segment_image(other)
        assert (found.labels == expected.labels).all()
        np.testing.assert_allclose(found.colors, expected.colors, atol=1e-6)
        assert found.image.dtype == other.dtype
        assert found.image.shape == (20, 24, 3)


def test_alpha_is_composited_over_white():
    """Where nothing is seen of a colour, white is; half of it is half of both."""
    image = np.dstack([np.zeros((20, 24, 3), np.uint8), np.where(HALVES, 255, 0).astype(np.uint8)])
    found = km.segment_image(image)
    assert same_partition(found.labels)
    assert (found.image[0, 0] == 255).all()
    assert (found.image[0, -1] == 0).all()
    np.testing.assert_allclose(colors.as_unit_values(np.array([[[0.2, 0.5]]])), [[[0.6]]])


@pytest.mark.parametrize("shape", [(20, 24), (20, 24, 1)])
@pytest.mark.parametrize("color", ["lab", "rgb"])
def test_grey_images_have_one_channel(shape, color):
    image = np.where(HALVES, 200, 50).astype(np.uint8).reshape(shape)
    found = km.segment_image(image, color=color)
    assert same_partition(found.labels)
    np.testing.assert_array_equal(found.image, image)
    assert found.clustering.centers.shape[1] == 3


def test_black_and_white():
    found = km.segment_image(HALVES.astype(bool))
    assert same_partition(found.labels)
    assert found.image.dtype == np.float64


@pytest.mark.parametrize(
    "image",
    [
        np.full((30, 20, 3), 7, np.uint8),
        np.full((4, 4), 0.5),
        np.zeros((1, 1, 3)),
        np.ones((3, 3, 4)),
    ],
)
def test_equal_pixels_are_one_segment(image):
    found = km.segment_image(image)
    assert found.n_segments == 1
    assert (found.labels == 0).all()
    np.testing.assert_array_equal(found.image, image[..., :3] if image.ndim == 3 else image)


def bars():
    """Two red bars on blue."""
    image = np.empty((30, 60, 3), np.uint8)
    image[:] = BLUE
    image[:, :10] = image[:, 50:] = RED
    return image


def test_position_tells_equal_colours_apart_just_if_it_counts():
    """Two clusters of colour, three of colour and position; segments are connected anyway."""
    plain = {"contrast": None, "spread": None}
    assert km.segment_image(bars(), spatial=0.0, bandwidth=0.1, **plain).n_segments == 2
    assert km.segment_image(bars(), spatial=1.0, bandwidth=0.12, **plain).n_segments == 3
    assert km.segment_image(bars(), spatial=0.0).n_segments == 3


def test_small_clusters_join_others():
    image = two_halves()
    image[5, 3] = (250, 250, 250)
    plain = {"contrast": None, "bandwidth": 0.1, "sparse": False}
    assert km.segment_image(image, **plain).n_segments == 3
    found = km.segment_image(image, **plain, min_size=5)
    assert found.n_segments == 2
    assert found.sizes.sum() == image.shape[0] * image.shape[1]


def test_small_segments_join_the_neighbour_of_the_most_similar_colour():
    image = two_halves()
    image[5, 11] = (150, 20, 15)  # a darker red beside the blue half
    assert km.segment_image(image, bandwidth=0.05).n_segments == 3
    assert same_partition(km.segment_image(image, bandwidth=0.05, min_size=5).labels)


def test_segments_are_as_many_as_asked_for():
    image = bars()
    image[10:20, 25:35] = (240, 240, 240)
    found = km.segment_image(image, n_segments=3)
    assert found.n_segments == 3
    assert km.segment_image(image).n_segments == 4
    assert km.segment_image(image, n_segments=1).n_segments == 1
    assert km.segment_image(image, n_segments=10**6).n_segments == len(found.tree.sizes)
    same = km.segment_image(image, contrast=None, n_segments=3)
    np.testing.assert_array_equal(same.labels, found.labels)


def test_more_contrast_means_fewer_segments():
    rgb = np.random.default_rng(0).random((12, 16, 3))
    counts = [km.segment_image(rgb, contrast=c).n_segments for c in (0.0, 0.1, 0.2, 0.3, 2.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > counts[-1] == 1


def test_a_sky_that_darkens_slowly_is_one_segment():
    """No boundary in it can be seen, however far its ends are apart."""
    sky = np.tile(np.linspace(0.3, 0.8, 60)[:, None], (1, 80))
    assert km.segment_image(sky).n_segments == 1
    sky[50:] = 0.1
    assert km.segment_image(sky).n_segments == 2


def test_the_scale_of_an_image_changes_little():
    """What is smoothed away and what is too small follow the size of the image."""
    rgb = np.kron(two_halves(), np.ones((12, 12, 1), np.uint8))
    found = km.segment_image(rgb)
    assert km.clustering_hausdorff(found.labels, np.kron(HALVES, np.ones((12, 12)))) == 0.0


@pytest.mark.parametrize(
    ("rgb", "expected"),
    [
        ((1, 1, 1), (100.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
        ((1, 0, 0), (53.2408, 80.0925, 67.2032)),
        ((0, 1, 0), (87.7347, -86.1827, 83.1793)),
        ((0, 0, 1), (32.2970, 79.1875, -107.8602)),
        ((0.5, 0.5, 0.5), (53.3890, 0.0, 0.0)),
        ((0.02, 0.02, 0.02), (1.3983, 0.0, 0.0)),
    ],
)
def test_lab_of_known_colours(rgb, expected):
    """Published values for D65, to the digits in which white points differ."""
    np.testing.assert_allclose(
        100 * colors.lab(np.array([rgb], dtype=float))[0], expected, atol=2e-2
    )


@pytest.mark.parametrize(
    ("image", "options", "error", "words"),
    [
        (np.zeros(5), {}, ValueError, "shape"),
        (np.zeros((4, 4, 5)), {}, ValueError, "channels"),
        (np.zeros((0, 4, 3)), {}, ValueError, "shape"),
        (np.full((4, 4, 3), 128.0), {}, ValueError, "between 0 and 1"),
        (np.full((4, 4, 3), np.nan), {}, ValueError, "between 0 and 1"),
        (np.full((4, 4, 3), 128), {}, TypeError, "uint8"),
        (np.full((4, 4), "red"), {}, TypeError, "uint8"),
        (two_halves(), {"color": "hsv"}, ValueError, "lab"),
        (two_halves(), {"spatial": -1.0}, ValueError, "spatial"),
        (two_halves(), {"min_size": 0}, ValueError, "min_size"),
        (two_halves(), {"n_segments": 0}, ValueError, "n_segments"),
        (two_halves(), {"contrast": -0.1}, ValueError, "contrast"),
        (two_halves(), {"spread": "wide"}, ValueError, "spread"),
        (two_halves(), {"kernel": "laplacian", "spread": "full"}, ValueError, "Gaussian"),
        (two_halves(), {"bandwidth": "wide"}, ValueError, "mode"),
    ],
)
def test_what_is_no_image_is_said(image, options, error, words):
    with pytest.raises(error, match=words):
        km.segment_image(image, **options)


def painting(data, step):
    with np.load(
        data / "images" / "mondrian_composition_a_487x500.npz", allow_pickle=False
    ) as file:
        return file["rgb"][::step, ::step]


@pytest.mark.data
@pytest.mark.parametrize("plain", [True, False])
def test_the_painting_falls_into_its_rectangles(data, plain):
    """Every fourth pixel of Composition A: pixels well within a rectangle share a segment,
    neighbours do not.
    """
    image = painting(data, 4)
    options = {"contrast": None, "bandwidth": "mode", "spread": None} if plain else {}
    found = km.segment_image(image, **options)
    assert 15 <= found.n_segments <= 45
    blocks = {
        "blue": (35, 25),
        "yellow": (35, 62),
        "grey": (35, 90),
        "white": (70, 62),
        "black": (70, 90),
        "red": (95, 35),
    }
    labels = {}
    for name, (i, j) in blocks.items():
        patch = found.labels[i - 4 : i + 5, j - 4 : j + 5]
        labels[name] = np.bincount(patch.ravel()).argmax()
        assert np.mean(patch == labels[name]) > 0.9, name
    assert len(set(labels.values())) == len(labels)
    assert np.abs(found.image.astype(float) - image).mean() < 15


@pytest.mark.data
@pytest.mark.parametrize(
    ("number", "default", "given"),
    [("135069", 0.9, 0.9), ("253036", 0.85, 0.85), ("118035", 0.7, 0.7), ("299091", 0.4, 0.4)],
)
def test_segments_agree_with_those_that_people_drew(data, number, default, given):
    """A bird, elephants, a chapel, a pyramid: mean ARI over five or six people."""
    with np.load(data / "images" / f"bsds500_train_{number}.npz", allow_pickle=False) as file:
        image = file["rgb"]
        drawn = file["segmentations"]
    median = int(np.median([len(np.unique(one)) for one in drawn]))
    found = km.segment_image(image)

    def agreement(labels):
        return np.mean([adjusted_rand_score(one.ravel(), labels.ravel()) for one in drawn])

    assert agreement(found.labels) > default
    assert agreement(found.cut(n_segments=median).labels) > given


@pytest.mark.parametrize("spread", [None, "scalar", "full"])
def test_segments_of_densities_with_and_without_spreads(spread):
    rgb = np.zeros((16, 24, 3))
    rgb[:, 8:] = (0.8, 0.1, 0.1)
    rgb += 0.02 * np.random.default_rng(0).random(rgb.shape)
    found = km.segment_image(rgb, bandwidth=0.15, spatial=0.2, k=12, spread=spread)
    mean = found.clustering.mean.expansion
    assert mean.atoms.kind == spread
    np.testing.assert_array_equal(np.sort(found.sizes), [16 * 8, 16 * 16])
