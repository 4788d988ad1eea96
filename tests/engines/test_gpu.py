"""The gpu engine against the naive one, operation by operation.

On a CUDA device the compiled loops are tested; without one, the same point clouds run in plain
torch, which tests all that happens on the host: rounds, transfers, number formats, messages.
Tolerances are those the engine states: 1e-6 of the sum of absolute terms in float32, 1e-13 in
float64; whatever compares or selects agrees bit for bit.
"""

import builtins
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import _checks, engines
from kernelmean.kernels import Atoms
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.pursuit import HostDirections
from tests.strategies import clouds

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'kernelmean[gpu]'")

HAS_DEVICE = torch.cuda.is_available()
NO_DEVICE = (
    "no CUDA device: the compiled loops are not tested here, only the host's logic, in plain torch"
)
on_a_device = pytest.mark.skipif(not HAS_DEVICE, reason=NO_DEVICE)
DEVICES = ["cpu", pytest.param("cuda", marks=on_a_device)]
TOLERANCES = {"float32": 1e-6, "float64": 1e-13}

LARGE = 10**4  # centres for which k × k algebra is the device's

naive = engines.open("naive")


def compact_profile(s):
    """Wendland's, with a branch."""
    if s < 4.0:
        return (1.0 - s / 4.0) ** 3 * (0.75 * s + 1.0)
    return 0.0


def mixed_profile(s):
    """Functions of math and numpy, a constant of the module, max."""
    return math.exp(-s) * max(0.1, 1.0 / (1.0 + np.sqrt(s) ** 2)) * TOLERANCES["float32"] * 1e6


RADIALS = {
    "gaussian-rkhs": lambda d: km.Gaussian(math.sqrt(d)).radial(d, "rkhs"),
    "laplacian-rkhs": lambda d: km.Laplacian(math.sqrt(d)).radial(d, "rkhs"),
    "laplacian-l2": lambda d: km.Laplacian(math.sqrt(d)).radial(d, "l2"),
    "student-rkhs": lambda d: km.Student(2.2, float(d)).radial(d, "rkhs"),
    "student-l2": lambda d: km.Student(d / 2 + 1, float(d * d)).radial(d, "l2"),
    "cauchy-l2": lambda d: km.Cauchy(float(d * d)).radial(d, "l2"),
    "gaussian-decay": lambda d: km.Gaussian(math.sqrt(d)).decay(d),
    "laplacian-decay": lambda d: km.Laplacian(math.sqrt(d)).decay(d),
    "student-decay": lambda d: km.Student(2.2, float(d)).decay(d),
    "own-compact": lambda d: km.Radial(compact_profile, 2.0 * math.sqrt(d)).radial(d, "rkhs"),
    "own-mixed": lambda d: km.Radial(mixed_profile, math.sqrt(d)).radial(d, "rkhs"),
}
PAIRS = [(name, d) for name in RADIALS for d in (3, 17)]
PAIRS += [("gaussian-rkhs", d) for d in (1, 8, 16, 40, 300, 1024)]


def cloud(n, d, seed=0):
    """Points, queries of which three are points, positive weights, signed columns of which one is
    zero.
    """
    rng = np.random.default_rng((seed, n, d))
    X = rng.normal(size=(n, d))
    W = rng.normal(size=(n, 6))
    W[:, 2] = 0.0
    return (
        X,
        np.concatenate([X[: min(3, n)], rng.normal(size=(20, d))]),
        rng.uniform(0.1, 2.0, n),
        W,
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_sums_agree_with_the_naive_ones(device, precision, name, d):
    """Own weights, signed columns, logarithms: relative to the sum of absolute terms."""
    radial = RADIALS[name](d)
    tolerance = TOLERANCES[precision]
    for n in (1, 400):
        X, Q, w, W = cloud(n, d)
        expected, actual = (
            naive.load(X, w),
            engines.open("gpu", precision=precision, device=device).load(X, w),
        )
        sums = expected.kernel_sum(radial, Q)
        np.testing.assert_allclose(actual.kernel_sum(radial, Q), sums, rtol=tolerance)
        np.testing.assert_allclose(
            np.exp(actual.log_kernel_sum(radial, Q)), sums, rtol=2 * tolerance
        )
        columns, terms = actual.kernel_sum(radial, Q, W), expected.kernel_sum(radial, Q, np.abs(W))
        assert (np.abs(columns - expected.kernel_sum(radial, Q, W)) <= tolerance * terms).all()
        assert (columns[:, 2] == 0.0).all()
        single = actual.kernel_sum(radial, Q, np.ascontiguousarray(W[:, 1]))
        assert (np.abs(single - columns[:, 1]) <= tolerance * terms[:, 1]).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (4500, 3), (300, 20)])
def test_quadratic_and_fourier_sums(device, precision, n, d):
    """Several pieces of a quadratic form; Fourier sums in float64 in either precision."""
    X, _, w, _ = cloud(n, d)
    expected, actual = (
        naive.load(X, w),
        engines.open("gpu", precision=precision, device=device).load(X, w),
    )
    radial = RADIALS["gaussian-rkhs"](d)
    np.testing.assert_allclose(
        actual.quadratic(radial), expected.quadratic(radial), rtol=TOLERANCES[precision]
    )
    frequencies = np.random.default_rng(0).normal(size=(9, d))
    sums = actual.fourier_sum(frequencies, X[0])
    np.testing.assert_allclose(sums, expected.fourier_sum(frequencies, X[0]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("d", [1, 5, 18])
def test_moments_are_sums_of_differences_from_the_query(device, d):
    """(q, 1 + d) in float64 whatever the precision, also far from the origin."""
    X, Q, w, _ = cloud(900, d)
    radial, p = RADIALS["gaussian-rkhs"](d), w / w.sum()
    actual = engines.open("gpu", device=device).load(X + 1e6, w).kernel_moments(radial, Q + 1e6)
    assert actual.shape == (len(Q), 1 + d)
    near, at = (X + 1e6) - 1e6, (Q + 1e6) - 1e6
    terms = radial(((at[:, None] - near[None]) ** 2).sum(axis=2)) * p
    differences = near[None] - at[:, None]
    np.testing.assert_allclose(actual[:, 0], terms.sum(axis=1), rtol=1e-13)
    pulls, size = (
        (terms[..., None] * differences).sum(axis=1),
        (terms[..., None] * np.abs(differences)).sum(axis=1),
    )
    assert (np.abs(actual[:, 1:] - pulls) <= 1e-12 * size).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["gaussian-decay", "laplacian-decay", "student-decay"])
@pytest.mark.parametrize("d", [2, 18])
def test_one_step_of_mean_shift(device, name, d):
    """From points (kinks), from between them, and from so far that every plain sum is zero."""
    X, Q, w, _ = cloud(600, d)
    Q = np.concatenate([Q, np.full((1, d), 300.0)])
    decay = RADIALS[name](d)
    for weights in (None, np.where(np.arange(600) % 3 == 1, 0.0, w)):
        expected, actual = (
            e.load(X, w).shift(decay, Q, weights)
            for e in (naive, engines.open("gpu", device=device))
        )
        assert actual.direction is None  # the step is one
        for mine, theirs in zip(actual[:4], expected[:4], strict=True):
            np.testing.assert_allclose(
                mine, theirs, rtol=1e-11, atol=1e-12
            )  # exponents of 1e5 leave eleven digits


def some_atoms(kind, k, d, seed=0):
    """Atoms of which one is a point and one is a line, in lengths of a kernel of variance d."""
    rng = np.random.default_rng((seed, k, d))
    A = rng.normal(size=(k, d, d))
    A[0] = 0.0
    A[-1, :, 1:] = 0.0
    S = A @ np.swapaxes(A, 1, 2)
    spreads = S if kind == "full" else np.trace(S, axis1=1, axis2=2) / d
    return Atoms(rng.normal(size=(k, d)), spreads)


ATOM_KINDS = ["scalar", "full"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("kind", ATOM_KINDS)
@pytest.mark.parametrize("d", [1, 3, 16, 17, 40])
def test_sums_over_atoms_agree_with_the_naive_ones(device, precision, kind, d):
    """Few and many columns, equal and signed weights, logarithms."""
    radial = RADIALS["gaussian-rkhs"](d)
    tolerance = TOLERANCES[precision]
    engine = engines.open("gpu", precision=precision, device=device)
    for k in (1, 70):
        atoms = some_atoms(kind, k, d)
        _, Q, w, W = cloud(k, d)
        expected, actual = naive.load_atoms(atoms), engine.load_atoms(atoms)
        terms = expected.kernel_sum(radial, Q, np.abs(W))
        columns = actual.kernel_sum(radial, Q, W)
        assert (np.abs(columns - expected.kernel_sum(radial, Q, W)) <= tolerance * terms).all()
        level = np.exp(-atoms.blurred(float(d)).log_heights)  # all atoms as high as points
        for weights in (w, level, np.where(np.arange(k) % 3 == 1, 0.0, w)):
            sums = expected.kernel_sum(radial, Q, weights)
            np.testing.assert_allclose(actual.kernel_sum(radial, Q, weights), sums, rtol=tolerance)
            np.testing.assert_allclose(
                actual.log_kernel_sum(radial, Q, weights),
                expected.log_kernel_sum(radial, Q, weights),
                rtol=2 * tolerance,
                atol=2 * tolerance,
            )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("kind", ATOM_KINDS)
@pytest.mark.parametrize("d", [1, 2, 5, 18])
def test_sums_over_atoms_keep_their_bound_wherever_a_query_is(device, precision, kind, d):
    """Atoms of any width far apart, equal and signed weights, queries in their tails."""
    rng = np.random.default_rng(d)
    k = 120
    widths = rng.choice([0.0, 1e-12, 1e-3, 1.0, 30.0, 1e6], size=k)
    A = rng.normal(size=(k, d, d)) * rng.choice([0.01, 1.0], size=(k, 1, d))
    S = A @ np.swapaxes(A, 1, 2) * widths[:, None, None]
    centers = rng.normal(size=(k, d)) + rng.choice([-200.0, 0.0, 3.0, 500.0], size=(k, 1))
    atoms = Atoms(centers, S if kind == "full" else widths)
    Q = np.concatenate(
        [
            centers + rng.normal(size=(k, d)) * rng.choice([0.1, 1.0, 3.0, 9.0], size=(k, 1)),
            centers[:20] + 40.0,
        ]
    )
    radial = km.Gaussian(1.0).radial(d, "rkhs")
    expected = naive.load_atoms(atoms)
    actual = engines.open("gpu", precision=precision, device=device).load_atoms(atoms)
    for w in (np.ones(k), rng.normal(size=k)):
        sums, terms = (expected.kernel_sum(radial, Q, v) for v in (w, np.abs(w)))
        error = np.abs(actual.kernel_sum(radial, Q, w) - sums)
        # The naive engine loses digits too, where matrices of 1e6 meet coordinates of 500.
        assert (error <= np.maximum(TOLERANCES[precision], 1e-11) * terms + 1e-290).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("d", [1, 2, 5, 16, 17])
def test_wide_atoms_far_away_keep_the_bound_of_single_precision(device, d, monkeypatch):
    """Their coordinates are large, their distances in their own width are not; queries lie where
    points and queries are rounded only once, and nothing is summed again in float64.
    """
    rng = np.random.default_rng(d)
    k = 700
    widths = 10.0 ** rng.uniform(0.0, 5.0, k)
    centers = rng.normal(size=(k, d)) * widths[:, None] / math.sqrt(d)
    atoms = Atoms(centers, widths**2)
    radial = km.Gaussian(1.0).radial(d, "rkhs")
    Q = rng.uniform(-0.6, 0.6, size=(50, d)) + np.median(centers, axis=0)
    weights = np.exp(-atoms.blurred(1.0).log_heights)  # all atoms as high as points
    expected = naive.load_atoms(atoms).kernel_sum(radial, Q, weights)
    actual = engines.open("gpu", precision="float32", device=device).load_atoms(atoms)
    monkeypatch.setattr("kernelmean.engines.gpu.double.Double.sums", None)
    np.testing.assert_allclose(actual.kernel_sum(radial, Q, weights), expected, rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("kind", ATOM_KINDS)
@pytest.mark.parametrize("d", [2, 18])
def test_one_step_of_mean_shift_over_atoms(device, precision, kind, d):
    """From centres, from between them, from where every plain sum is zero, and from afar."""
    atoms = some_atoms(kind, 60, d)
    _, Q, w, _ = cloud(60, d)
    Q = np.concatenate([Q, np.full((1, d), 300.0), np.full((1, d), 1e6)])
    w[5] = 0.0
    decay = RADIALS["gaussian-decay"](d)
    engine = engines.open("gpu", precision=precision, device=device)
    expected, actual = (e.load_atoms(atoms).shift(decay, Q, w) for e in (naive, engine))
    for mine, theirs in zip(actual[:3], expected[:3], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
    reach = 1e-10 * (1.0 + np.abs(Q).max(axis=1, keepdims=True))
    assert (np.abs(actual.step - expected.step) <= reach).all()
    assert (actual.direction is None) == (kind == "scalar")
    # Logarithms of 1e11 leave the naive engine's direction, though not its step, five digits.
    assert (np.abs(actual.pull - expected.pull) <= reach)[:-1].all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ATOM_KINDS)
@pytest.mark.parametrize("d", [1, 5, 18])
def test_points_summed_at_atoms(device, kind, d):
    """In float64 whatever the precision, also far from the origin."""
    X, _, w, _ = cloud(900, d)
    atoms = some_atoms(kind, 70, d)
    far = Atoms(atoms.centers + 1e6, atoms.spreads)
    radial = RADIALS["gaussian-rkhs"](d)
    expected, actual = (e.load(X + 1e6, w) for e in (naive, engines.open("gpu", device=device)))
    np.testing.assert_allclose(
        actual.atom_sum(radial, far), expected.atom_sum(radial, far), rtol=1e-12
    )
    moments = expected.atom_moments(radial, far)
    found = actual.atom_moments(radial, far)
    assert found.shape == moments.shape
    assert (np.abs(found - moments) <= 1e-11 * np.abs(moments).max(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
def test_logarithms_over_atoms_in_784_dimensions(device, precision):
    """Exponents of −10⁴, and heights that no number holds."""
    d = 784
    rng = np.random.default_rng(0)
    atoms = Atoms(rng.normal(size=(30, d)), rng.uniform(0.0, 20.0, 30))
    Q = np.concatenate([atoms.centers[:5], rng.normal(size=(10, d)), 9.0 + atoms.centers[:3]])
    radial = km.Gaussian(1.0).radial(d, "rkhs")
    expected = naive.load_atoms(atoms).log_kernel_sum(radial, Q, np.ones(30))
    assert expected.min() < -700.0
    engine = engines.open("gpu", precision=precision, device=device)
    np.testing.assert_allclose(
        engine.load_atoms(atoms).log_kernel_sum(radial, Q, np.ones(30)),
        expected,
        rtol=2 * TOLERANCES[precision],
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("kind", ATOM_KINDS)
def test_atoms_without_a_width_are_points(device, precision, kind):
    X, Q, w, _ = cloud(90, 3)
    engine = engines.open("gpu", precision=precision, device=device)
    radial = RADIALS["gaussian-rkhs"](3)
    atoms = Atoms(X, np.zeros((90, 3, 3)) if kind == "full" else np.zeros(90))
    np.testing.assert_allclose(
        engine.load_atoms(atoms).kernel_sum(radial, Q, w),
        engine.load(X).kernel_sum(radial, Q, w),
        rtol=2 * TOLERANCES[precision],
    )


def test_only_gaussians_blur_atoms():
    atoms = engines.open("gpu", device="cpu").load_atoms(some_atoms("scalar", 5, 2))
    with pytest.raises(ValueError, match="only a Gaussian"):
        atoms.kernel_sum(RADIALS["laplacian-rkhs"](2), np.zeros((1, 2)), np.ones(5))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spreads_of_cells(device, dtype):
    """Weighted points, some centres without any, some with one; the same on every run."""
    X, _, w, _ = cloud(3000, 4)
    X = X.astype(dtype)
    tensor = torch.from_numpy(X).to(device)
    centers = np.concatenate([X[:20].astype(float), np.full((2, 4), 99.0)])
    expected = naive.load(X.astype(float), w).nearest(centers)
    found = [engines.open("gpu", device=device).load(tensor, w).nearest(centers) for _ in range(2)]
    np.testing.assert_allclose(found[0].variances(), expected.variances(), rtol=1e-12)
    np.testing.assert_allclose(
        found[0].covariances(), expected.covariances(), rtol=1e-11, atol=1e-13
    )
    np.testing.assert_array_equal(found[0].covariances(), found[1].covariances())
    assert (found[0].covariances()[20:] == 0.0).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
def test_an_offset_costs_no_digits(device, precision):
    """Single precision rounds about the middle of the data."""
    X, Q, w, _ = cloud(2000, 3)
    radial, engine = (
        RADIALS["gaussian-rkhs"](3),
        engines.open("gpu", precision=precision, device=device),
    )
    for offset in (1e6, -1e8):
        expected = naive.load(X + offset, w).kernel_sum(radial, Q + offset)
        np.testing.assert_allclose(
            engine.load(X + offset, w).kernel_sum(radial, Q + offset),
            expected,
            rtol=TOLERANCES[precision],
        )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "name", ["gaussian-rkhs", "laplacian-rkhs", "student-rkhs", "laplacian-l2"]
)
@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("signed", [False, True])
def test_single_precision_keeps_its_bound_wherever_a_query_is(device, name, d, signed):
    """Hundreds of lengths from the middle, in tails that one term carries, where float32 has no
    number left: 1e-6 of Σ|w|g.
    """
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d)) + rng.choice([-200.0, 0.0, 3.0, 500.0], size=(300, 1))
    Q = np.concatenate(
        [
            X[:150] + rng.normal(size=(150, d)) * rng.choice([0.1, 1.0, 3.0, 9.0], size=(150, 1)),
            X[:20] + 40.0,
        ]
    )
    w = (
        rng.normal(size=300) * 10.0 ** rng.uniform(-4, 0, 300)
        if signed
        else rng.uniform(0.5, 1.0, 300)
    )
    radial, loaded = RADIALS[name](d), engines.open("gpu", device=device).load(X)
    terms = naive.load(X).kernel_sum(radial, Q, np.abs(w))
    assert (
        np.abs(loaded.kernel_sum(radial, Q, w) - naive.load(X).kernel_sum(radial, Q, w))
        <= 1e-6 * terms
    ).all()
    logs = naive.load(X).log_kernel_sum(radial, Q, np.abs(w))
    np.testing.assert_allclose(
        loaded.log_kernel_sum(radial, Q, np.abs(w)), logs, rtol=1e-12, atol=2e-6
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("scale", [1e-120, 1e-20, 1e20, 1e120])
def test_any_unit_of_length_serves(device, scale):
    """float32 holds no 1e120, but coordinates are in units of the kernel's length."""
    X, Q, w, _ = cloud(300, 3)
    expected = naive.load(X, w).kernel_sum(km.Gaussian(1.5).radial(3, "rkhs"), Q)
    actual = (
        engines.open("gpu", device=device)
        .load(X * scale, w)
        .kernel_sum(km.Gaussian(1.5 * scale).radial(3, "rkhs"), Q * scale)
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("name", RADIALS)
def test_points_out_of_reach_add_nothing(device, precision, name):
    """1e140 is a finite coordinate whose square is out of float32's reach: g there is zero, not a
    NaN.
    """
    X = np.array([[0.0, 0.0, 0.0], [1e140, 0.0, 0.0], [1.0, 1.0, 1.0]])
    radial = RADIALS[name](3)
    values = (
        engines.open("gpu", precision=precision, device=device)
        .load(X)
        .kernel_sum(radial, X[[0, 2]])
    )
    at_itself, near = radial(np.array([0.0, 3.0]))
    np.testing.assert_allclose(values, [(at_itself + near) / 3] * 2, rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", TOLERANCES)
def test_logarithms_reach_far_beyond_the_plain_sum(device, precision):
    """Where the plain sum is zero its logarithm is log g; of nothing it is −inf."""
    loaded = engines.open("gpu", precision=precision, device=device).load(np.zeros((2, 2)))
    Q, radial = np.array([[1e3, 0.0], [0.0, 1e5]]), km.Gaussian(1.0).radial(2, "rkhs")
    assert (loaded.kernel_sum(radial, Q) == 0.0).all()
    np.testing.assert_allclose(
        loaded.log_kernel_sum(radial, Q), [-5e5, -5e9], rtol=TOLERANCES[precision]
    )
    assert (loaded.log_kernel_sum(radial, Q, np.zeros(2)) == -np.inf).all()


@pytest.mark.parametrize("device", DEVICES)
def test_weights_of_any_size_keep_their_digits(device):
    """Columns are scaled before they are rounded to float32."""
    X, Q, _, W = cloud(500, 2)
    radial, loaded = RADIALS["gaussian-rkhs"](2), engines.open("gpu", device=device).load(X)
    for size in (1e-200, 1e200):
        terms = naive.load(X).kernel_sum(radial, Q, np.abs(W)) * size
        expected = naive.load(X).kernel_sum(radial, Q, W) * size
        assert (np.abs(loaded.kernel_sum(radial, Q, W * size) - expected) <= 1e-6 * terms).all()


def lattice(m, d, step=1.0):
    return step * np.stack(np.meshgrid(*[np.arange(m)] * d, indexing="ij"), axis=-1).reshape(
        -1, d
    ).astype(float)


CLOUDS = {
    "normal 3-D": lambda rng: rng.normal(size=(6000, 3)),
    "normal 12-D": lambda rng: rng.normal(size=(1500, 12)),
    "lattice 2-D": lambda rng: lattice(75, 2),
    "lattice of steps 0.1": lambda rng: lattice(75, 2, 0.1),
    "lattice 4-D": lambda rng: lattice(8, 4),
    "binary 64-D": lambda rng: rng.integers(0, 2, (1500, 64)).astype(float),
    "duplicates": lambda rng: np.repeat(rng.normal(size=(50, 2)), 20, axis=0),
    "offset": lambda rng: rng.normal(size=(5000, 2)) + 1e6,
    "one point": lambda rng: rng.normal(size=(1, 4)),
    "constant": lambda rng: np.full((700, 2), 0.3),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CLOUDS)
def test_traversals_agree_index_for_index_and_bit_for_bit(device, name):
    """In pieces, with ties, to exhaustion; the distances too. In either precision: selection is
    always exact.
    """
    X = CLOUDS[name](np.random.default_rng(1))
    first = len(X) // 3
    expected, actual = (
        naive.load(X).traverse(first),
        engines.open("gpu", device=device).load(X).traverse(first),
    )
    for m in (1, 7, 0, 60, 200):
        a, b = expected.take(m), actual.take(m)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.radii, b.radii)
        assert b.indices.dtype == np.intp
        if m in (7, 200):
            mine, theirs = expected.distances(), actual.distances()
            assert mine.cover == theirs.cover
            np.testing.assert_array_equal(mine.coincident()[0], theirs.coincident()[0])
            np.testing.assert_allclose(mine.mean(np.sqrt), theirs.mean(np.sqrt), rtol=1e-13)


@pytest.mark.parametrize("device", DEVICES)
def test_small_pools_change_nothing(device, monkeypatch):
    """Rounds end early, blocks are left out, batches are cut: the order stays."""
    from kernelmean.engines.gpu import traversal

    monkeypatch.setattr(traversal, "POOL", 16)
    monkeypatch.setattr(traversal, "SMALL_POOL", 16)
    monkeypatch.setattr(traversal, "BLOCKS", 2)
    monkeypatch.setattr(traversal, "BATCH", 5)
    rng = np.random.default_rng(2)
    for X in (
        rng.normal(size=(4000, 2)),
        lattice(50, 2),
        rng.integers(0, 2, (2000, 20)).astype(float),
    ):
        expected = naive.load(X).traverse(5).take(120)
        actual = engines.open("gpu", device=device).load(X).traverse(5).take(120)
        np.testing.assert_array_equal(actual.indices, expected.indices)
        np.testing.assert_array_equal(actual.radii, expected.radii)


@given(clouds(max_points=40), st.integers(0, 10**6))
def test_traversals_of_any_cloud(X, seed):
    first = seed % len(X)
    expected = naive.load(X).traverse(first).take(len(X) + 1)
    actual = engines.open("gpu", device="cpu").load(X).traverse(first).take(len(X) + 1)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    np.testing.assert_array_equal(actual.radii, expected.radii)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("d", [2, 17])
def test_nearest_centres(device, d):
    """Masses, means and D² draws; ties go to the lowest centre, further centres may come later,
    some are nobody's.
    """
    X = np.concatenate([lattice(40, 2)[:, [0] * (d - 1) + [1]], np.zeros((5, d))])
    w = np.random.default_rng(3).uniform(0.5, 1.0, len(X))
    centers = np.concatenate([X[10:40:3] + 0.5, np.full((1, d), 1e3)])
    expected, actual = (
        naive.load(X, w).nearest(centers[:5]),
        engines.open("gpu", device=device).load(X, w).nearest(centers[:5]),
    )
    for loaded in (expected, actual):
        loaded.add(centers[5:])
    np.testing.assert_allclose(actual.masses(), expected.masses(), rtol=1e-12)
    np.testing.assert_allclose(actual.means(), expected.means(), rtol=1e-12, atol=1e-12)
    u = np.array([0.0, 0.3, 0.77, 0.3, 0.9999])
    np.testing.assert_array_equal(actual.distances().draws(u), expected.distances().draws(u))
    assert actual.distances().draw(0.5) == expected.distances().draw(0.5)
    at_home = engines.open("gpu", device=device).load(X[:1]).nearest(X[:1]).distances()
    assert at_home.draw(0.5) is None


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weights", [None, "integers", "fractions"])
def test_what_a_point_cloud_knows_of_its_points(device, weights):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5000, 3)) + 1e4
    w = {
        None: None,
        "integers": rng.integers(1, 4, 5000) * 1.0,
        "fractions": rng.uniform(0.1, 1.0, 5000),
    }[weights]
    expected, actual = naive.load(X, w), engines.open("gpu", device=device).load(X, w)
    u, rows = rng.random(50), np.array([3, 1, 4])
    np.testing.assert_array_equal(actual.locate(u), expected.locate(u))
    np.testing.assert_array_equal(actual.rows(rows), X[rows])
    for name in ("size", "count", "dimension", "mean", "std", "covariance"):
        np.testing.assert_allclose(
            getattr(actual.summary, name), getattr(expected.summary, name), rtol=1e-11
        )
    levels = np.array([0.1, 0.5])
    np.testing.assert_array_equal(
        actual.summary.quantiles(levels), expected.summary.quantiles(levels)
    )
    np.testing.assert_array_equal(
        actual.summary.quantile_range(0.25, 0.75), expected.summary.quantile_range(0.25, 0.75)
    )


FITS = {
    "automatic": {"spread": None},
    "scalar atoms": {"selection": "kmeans", "k": 12, "spread": "scalar"},
    "full atoms": {"selection": "kmeans", "k": 12, "spread": "full", "space": "l2"},
    "farthest-first": {"selection": "kcenter"},
    "scaled": {"scale": "cov", "selection": "kcenter"},
    "kmeans++": {"selection": "kmeans++", "k": 30},
    "centroids": {"selection": "kmeans", "k": 12},
    "weighted": {"sample_weight": np.arange(1200) % 3, "spread": None},
    "density": {"space": "l2", "constraint": "simplex", "k": 40, "spread": None},
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", FITS)
def test_a_fit_is_the_same_in_every_engine(device, case, monkeypatch):
    """κ and coefficients in float64 though evaluation is in float32: the mean is that of the naive
    engine.
    """
    monkeypatch.setattr("kernelmean.engines.gpu.FEW", 0)  # k × k algebra on the device too
    X = np.random.default_rng(6).normal(size=(1200, 2))
    engine = engines.open("gpu", device=device)
    expected = km.sparse_kernel_mean(X, engine="naive", random_state=0, bandwidth=0.3, **FITS[case])
    actual = km.sparse_kernel_mean(X, engine=engine, random_state=0, bandwidth=0.3, **FITS[case])
    assert (actual.k, actual.stop_reason) == (expected.k, expected.stop_reason)
    np.testing.assert_allclose(actual.centers, expected.centers, rtol=1e-12)
    np.testing.assert_allclose(actual.kappa, expected.kappa, rtol=1e-13)
    np.testing.assert_allclose(actual.indicator, expected.indicator, rtol=1e-9)
    assert actual.distance(expected) < 1e-7 * math.sqrt(expected.inner(expected))
    Q = X[:100]
    at_home = replace(actual, engine="naive")
    size = replace(at_home, weights=np.abs(actual.weights))(Q)  # Σ|α|φ
    assert (np.abs(actual(Q) - at_home(Q)) <= 1e-6 * size).all()
    np.testing.assert_allclose(
        actual.gradient(Q),
        expected.gradient(Q),
        rtol=1e-6,
        atol=1e-6 * np.abs(expected.gradient(Q)).max(),
    )
    assert actual.certificate(X).relative_error == pytest.approx(
        expected.certificate(X).relative_error, rel=1e-6
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("spread", ["auto", "scalar", "full"])
def test_atoms_that_were_moved_are_as_good_as_those_of_the_host(device, spread):
    """Ten steps of descent lift the last digits of sums, so that only the error can be equal."""
    X = np.random.default_rng(6).normal(size=(1200, 2))
    errors = []
    for engine in ("naive", engines.open("gpu", device=device)):
        mean = km.sparse_kernel_mean(
            X, engine=engine, random_state=0, bandwidth=0.3, k=20, spread=spread
        )
        errors.append(mean.certificate(X).relative_error)
    assert errors[1] == pytest.approx(errors[0], rel=1e-3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["gaussian-rkhs", "laplacian-l2", "student-rkhs"])
def test_a_factor_grown_on_the_device_is_that_of_the_host(device, name):
    """Block by block, and anew with a larger jitter where the Gram matrix is singular."""
    C, radial = np.random.default_rng(9).normal(size=(150, 2)), RADIALS[name](2)
    kappa, loaded = naive.load(C).kernel_sum(radial, C), engines.open("gpu", device=device).load(C)
    host, there = Factor(radial), Factor(radial, engines.elimination(loaded, radial, LARGE))
    for block in np.split(np.arange(150), [40, 90]):
        host.append(C[block], kappa[block])
        there.append(C[block], kappa[block])
    reference = host.lower(150) @ host.lower(150).T
    np.testing.assert_allclose(
        there.lower(150) @ there.lower(150).T,
        reference,
        rtol=0,
        atol=max(1e-13, 2 * abs(there.jitter - host.jitter)),
    )
    np.testing.assert_allclose(there.indicator, host.indicator, rtol=1e-7)
    assert engines.elimination(naive.load(C), radial, LARGE) is None
    assert engines.elimination(loaded, radial, 100) is None


@pytest.mark.parametrize("device", DEVICES)
def test_directions_on_the_device_are_those_of_the_host(device):
    """Picks, new candidates, more picks: what is left of every candidate and of two sides, and of
    the Gram matrix.
    """
    X, radial = np.random.default_rng(10).normal(size=(90, 2)), RADIALS["gaussian-rkhs"](2)
    both = (
        HostDirections(radial),
        engines.orthonormal_basis(engines.open("gpu", device=device).load(X), radial, LARGE),
    )
    picks, coordinates, taken = np.empty(0, np.intp), np.empty((0, 2)), np.zeros((3, 0))
    kappa = np.stack([naive.load(X).kernel_sum(radial, X), np.ones(90)])
    for new, listed in ((X[:0], []), (X[:50], [3, 7, 11]), (X[50:], [60, 20]), (X[:0], [89])):
        shares = [directions.extend(new, picks, coordinates) for directions in both]
        _same_shares(*shares)
        taken = np.concatenate(
            [taken, np.concatenate([shares[1].products, shares[1].squares[None]])], axis=1
        )
        if listed:
            chosen = np.array(listed)
            sides = (kappa[:, chosen] - taken[:2, chosen]).T
            (more, expected), (found, shares) = (
                directions.include(chosen, sides) for directions in both
            )
            np.testing.assert_allclose(found, more, rtol=0, atol=1e-11)
            _same_shares(expected, shares)
            taken += np.concatenate([shares.products, shares.squares[None]])
            picks, coordinates = (
                np.concatenate([picks, chosen]),
                np.concatenate([coordinates, found]),
            )
            for directions in both:
                np.testing.assert_allclose(directions.residual_gram(picks), 0.0, rtol=0, atol=1e-12)
    K = radial(((X[:, None] - X[picks]) ** 2).sum(axis=2))  # Pκ and ‖Pφ‖² by the normal equations
    projected = K @ np.linalg.solve(
        K[picks], np.column_stack([kappa[0, picks], np.ones(len(picks))])
    )
    np.testing.assert_allclose(taken[:2].T, projected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        taken[2], np.einsum("ij,ji->i", K, np.linalg.solve(K[picks], K.T)), rtol=0, atol=1e-9
    )
    assert engines.orthonormal_basis(naive.load(X), radial, LARGE) is None
    assert (
        engines.orthonormal_basis(engines.open("gpu", device=device).load(X), radial, 100) is None
    )


def _same_shares(expected, actual):
    np.testing.assert_allclose(actual.products, expected.products, rtol=0, atol=1e-11)
    np.testing.assert_allclose(actual.squares, expected.squares, rtol=0, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_directions_refuse_what_is_in_their_span(device):
    """A block that rounding has made singular is an error on the device as on the host; nothing is
    added.
    """
    X, radial = np.zeros((3, 2)), RADIALS["gaussian-rkhs"](2)
    for directions in (
        HostDirections(radial),
        engines.orthonormal_basis(engines.open("gpu", device=device).load(X), radial, LARGE),
    ):
        directions.extend(X, np.empty(0, np.intp), np.empty((0, 2)))
        directions.include(np.array([0]), np.ones((1, 2)))
        with pytest.raises(np.linalg.LinAlgError):
            directions.include(np.array([1, 2]), np.ones((2, 2)))
        np.testing.assert_allclose(directions.residual_gram(np.array([1])), 0.0, atol=1e-15)


@pytest.mark.parametrize("device", DEVICES)
def test_a_singular_gram_matrix_raises_the_jitter_on_the_device_too(device):
    C = np.concatenate([np.zeros((30, 1)), np.linspace(0.0, 1e-3, 30)[:, None]])
    radial = km.Gaussian(1.0).radial(1, "rkhs")
    loaded = engines.open("gpu", device=device).load(C)

    def rounded(old, new, jitter):  # what rounding may do, exaggerated
        return engines.elimination(loaded, radial, LARGE)(old, new, jitter - 1e-11)

    factor = Factor(radial, rounded)
    factor.append(C, np.ones(60))
    assert factor.jitter > 1e-12
    assert np.isfinite(factor.y).all()


def test_precise_engines_sum_in_float64():
    engine = engines.open("gpu", device="cpu")
    assert (engine.precision, engines.precise(engine).precision) == ("float32", "float64")
    exact = engines.precise(engine)
    assert engines.precise(exact) is exact
    assert engines.precise(naive) is naive


@on_a_device
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [None, "std"])
def test_points_on_the_device_stay_there(dtype, scale):
    """CUDA tensors, and CuPy arrays where CuPy is installed, give the result of the same numbers on
    the host.
    """
    X = np.random.default_rng(7).normal(size=(2000, 3)).astype(dtype)
    expected = km.sparse_kernel_mean(X, k=25, scale=scale, engine="gpu", random_state=0)
    there = [torch.from_numpy(X).cuda()]
    try:
        import cupy
    except ImportError:
        pass
    else:
        there.append(cupy.asarray(X))
    for given_there in there:
        mean = km.sparse_kernel_mean(given_there, k=25, scale=scale, engine="gpu", random_state=0)
        np.testing.assert_array_equal(mean.indices, expected.indices)
        np.testing.assert_allclose(mean.weights, expected.weights, rtol=1e-7)
        np.testing.assert_allclose(mean(given_there), expected(X), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(
            mean.gradient(given_there), expected.gradient(X), rtol=1e-6, atol=1e-9
        )
        np.testing.assert_array_equal(
            km.k_center(given_there, 9, first=2, engine="auto").indices,
            km.k_center(X, 9, first=2).indices,
        )
        assert mean.certificate(given_there).error == pytest.approx(
            expected.certificate(X).error, rel=1e-6
        )
        with pytest.raises(TypeError, match="engine='gpu'"):
            km.sparse_kernel_mean(given_there, k=5, engine="cpu")


@on_a_device
@pytest.mark.parametrize(("bad", "error", "message"), [
    (lambda X: X[:, 0], ValueError, "table of shape"),
    (lambda X: X.clone().fill_(math.nan), ValueError, "NaN or infinite"),
    (lambda X: X * 1e200, ValueError, "squares overflow"),
    (lambda X: X.to(torch.complex128), TypeError, "complex"),
])  # fmt: skip
def test_bad_points_on_the_device_are_refused_there(bad, error, message):
    X = bad(torch.ones((4, 2), dtype=torch.float64, device="cuda"))
    with pytest.raises(error, match=message):
        km.sparse_kernel_mean(X, engine="gpu")


def test_tensors_are_taken_in_without_a_copy():
    from kernelmean.engines.gpu.arrays import take_in

    for dtype in (torch.float32, torch.float64):
        X = torch.ones((4, 2), dtype=dtype)
        assert take_in(X, "X", 2).data_ptr() == X.data_ptr()
    assert take_in(torch.ones((4, 2), dtype=torch.int32), "X", None).dtype == torch.float64
    for bad, error in (
        (torch.ones(3), ValueError),
        (torch.full((2, 2), math.nan), ValueError),
        (torch.ones((2, 3)), ValueError),
    ):
        with pytest.raises(error):
            take_in(bad, "X", 2)


def test_what_is_on_the_host_is_no_device_array():
    assert not any(_checks.on_device(X) for X in (np.ones(3), torch.ones(3), [1.0], "cuda", None))


class Elsewhere:
    """An array on a device that is not there."""

    shape = (3, 2)

    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize("engine", ["cpu", "naive", naive])
def test_an_array_on_a_device_needs_an_engine_there(engine):
    with pytest.raises(
        TypeError, match=r"X is on a device, but engine='\w+' works on the host: use engine='gpu'"
    ):
        km.k_center(Elsewhere(), 2, engine=engine)


def test_read_only_and_reversed_arrays_are_read():
    X = np.random.default_rng(8).normal(size=(50, 2))
    X.flags.writeable = False
    for rows in (X, X[::-1]):
        loaded = engines.open("gpu", device="cpu").load(rows)
        np.testing.assert_array_equal(loaded.rows(np.arange(50)), rows)


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"precision": "float16"}, ValueError, "precision 'float16'; choose from 'float32', 'float64'"),
    ({"device": "abacus"}, ValueError, "device must name a torch device"),
    ({"device": "meta"}, ValueError, "CUDA device"),
])  # fmt: skip
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        engines.open("gpu", **options)


@pytest.mark.skipif(HAS_DEVICE, reason="there is a CUDA device here")
def test_without_a_device_the_error_says_which_engine_to_use():
    with pytest.raises(RuntimeError, match=r"needs a CUDA device.*engine='cpu'"):
        km.k_center(np.ones((3, 1)), 1, engine="gpu")


def test_auto_is_the_device_only_where_there_is_one_and_enough_work(monkeypatch):
    opened = engines.choose("auto", 10.0)
    assert opened.name == "cpu"
    assert engines.open("auto").name == ("gpu" if HAS_DEVICE else "cpu")
    assert engines.choose("auto", 1e15).name == ("gpu" if HAS_DEVICE else "cpu")
    assert engines.choose("naive", 1e15).name == "naive"
    X = np.random.default_rng(0).normal(size=(300, 2))
    a, b = (
        km.sparse_kernel_mean(X, k=20, engine=engine, random_state=0) for engine in ("auto", "cpu")
    )
    np.testing.assert_allclose(a(X), b(X), rtol=1e-12)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    """No torch: one sentence, and "auto" is "cpu"."""
    import sys

    real = builtins.__import__

    def absent(name, *rest):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *rest)

    for module in [name for name in sys.modules if name.startswith("kernelmean.engines.gpu")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"pip install 'kernelmean\[gpu\]', or use engine='cpu'"):
        engines.open("gpu")


@pytest.mark.parametrize("profile", [
    lambda s: float(s) + 1.0,
    lambda s: [1.0, 0.5][int(s > 1.0)],
    lambda s: math.gamma(1.0 + s) ** -1,
])  # fmt: skip
def test_a_profile_that_no_device_can_run_is_refused_in_one_sentence(profile):
    radial = km.Radial(profile).radial(1, "rkhs")
    with pytest.raises(
        ValueError,
        match=r"cannot compile the profile of this Radial kernel: .* or use engine='cpu'",
    ):
        engines.open("gpu", device="cpu").load(np.zeros((2, 1))).kernel_sum(radial, np.ones((1, 1)))


@pytest.mark.parametrize("profile", [
    lambda s: 1.0 if s < 0.5 else 0.25 if s < 2.0 else 1.0 / (8.0 * s),
    lambda s: abs(math.cos(s)) ** 1.5 / (1.0 + s**3),
    lambda s: 2.0**-s * np.maximum(0.5, 1.0 - s) / np.maximum(0.5, 1.0),
    lambda s: math.pow(1.0 + s, -1.5) - 0.0 * math.sqrt(2.0),
    lambda s: helper(s) * helper(0.0),
])  # fmt: skip
@pytest.mark.parametrize("device", DEVICES)
def test_profiles_with_branches_powers_and_helpers(profile, device):
    radial = km.Radial(profile, 0.7).radial(2, "rkhs")
    X, Q, w, _ = cloud(400, 2)
    actual = (
        engines.open("gpu", precision="float64", device=device).load(X, w).kernel_sum(radial, Q)
    )
    np.testing.assert_allclose(actual, naive.load(X, w).kernel_sum(radial, Q), rtol=1e-12)


def helper(s):
    return math.exp(-s)


@pytest.mark.parametrize("variant", ["nearest", "cross"])
def test_jaakkolas_rule_is_that_of_the_host(variant):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] > 0.2).astype(int)
    found = km.bandwidth.jaakkola(X, y, variant=variant, engine=engines.open("gpu", device="cpu"))
    assert found == pytest.approx(km.bandwidth.jaakkola(X, y, variant=variant), rel=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_two_samples_are_compared_as_on_the_host(device):
    """The test and the regions are those of the host: sums and cells agree to rounding."""
    A, B = np.random.default_rng(0).normal(size=(2, 3000, 3))
    B[:150] = 2.0 + 0.3 * B[:150]
    on_it = engines.open("gpu", device=device)
    options = {"bins": 4, "k": 40, "random_state": 0}  # bins that are loaded one by one
    there, here = (km.mmd_test(A, B, engine=engine, **options) for engine in (on_it, "naive"))
    assert there.p_value == here.p_value
    np.testing.assert_allclose(there.null, here.null, rtol=1e-5)
    there, here = (km.difference(A, B, engine=engine, random_state=0) for engine in (on_it, "cpu"))
    assert there.test.p_value == here.test.p_value
    assert np.array_equal(there.regions.cell_labels, here.regions.cell_labels)
    np.testing.assert_allclose(there(B), here(B), rtol=1e-5, atol=1e-10)
