"""A mean on a domain comes back from its file to the last bit, and nothing else does."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.domains import Categorical, Domain, Periodic, Sphere
from kernelmean.mean import domain_storage, storage
from kernelmean.mean.loading import load_mean
from tests.mean.on_domain.densities import FLAT, KINDS, flat, mixed, rows_of


def sparse(mean: km.DomainMean) -> km.DomainMean:
    """The same with a sparse mean inside, which a file can hold."""
    base = mean.base
    X = np.random.default_rng(0).normal(size=(30, base.dimension))
    fitted = km.sparse_kernel_mean(X, bandwidth=0.5, k=4, space="l2", constraint="simplex")
    kept = ("centers", "weights", "kernel", "scale", "spreads", "n_points")
    inner = replace(
        fitted,
        radii=np.full(base.k, np.inf),
        indices=None,
        kappa=None,
        indicator=None,
        center_mass=None,
        stop_reason="likelihood",
        **{name: getattr(base, name) for name in kept},
    )
    return replace(mean, base=inner)


def assert_same(a: km.DomainMean, b: km.DomainMean) -> None:
    for value, other in ((a, b), (a.base, b.base)):
        for entry in fields(value):
            left, right = getattr(value, entry.name), getattr(other, entry.name)
            if isinstance(left, np.ndarray):
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right)
            elif entry.name not in ("domain", "base", "engine"):
                assert left == right or (math.isnan(left) and math.isnan(right)), entry.name
    assert (a.domain.kinds, a.domain.spheres) == (b.domain.kinds, b.domain.spheres)
    assert (a.domain.levels, a.domain.cuts) == (b.domain.levels, b.domain.cuts)
    types = [[type(level) for level in levels] for levels in b.domain.levels]
    assert types == [[type(level) for level in levels] for levels in a.domain.levels]


MEANS = {
    **{name: lambda name=name: flat(name) for name in FLAT},
    **{f"mixed-{spread}": lambda spread=spread: mixed(spread) for spread in KINDS},
    "only categories": lambda: mixed().marginal(["colour", "kind"]),
    "only a place": lambda: mixed().marginal(["lon", "lat"]),
}


@pytest.mark.parametrize("read", [km.load, load_mean])
@pytest.mark.parametrize("name", MEANS)
def test_every_field_comes_back_to_the_last_bit(tmp_path, name, read):
    mean = replace(
        sparse(MEANS[name]()), transform="log", log_quantiles=np.linspace(-3.0, 0.1, 1001)
    )
    mean.save(tmp_path / "mean.km")
    again = read(tmp_path / "mean.km")
    assert_same(mean, again)
    rows = mean.sample(5, random_state=0)
    np.testing.assert_array_equal(again(rows), mean(rows))
    assert again.columns == mean.columns


def test_levels_of_every_type_and_settings_of_kinds_come_back(tmp_path):
    kinds = (
        Categorical(("a", 1, 0.5, False), smoothing=0.125),
        Sphere("radians"),
        Sphere("radians"),
        Periodic(0.1, start=-0.7),
    )
    levels = (("a", 1, 0.5, False),)
    domain = Domain(kinds, ((2, 1),), levels, (-0.65,))
    base = flat("three").base
    inner = km.KernelMean(
        np.full((2, 4), 0.3), np.array([0.5, 0.5]), base.kernel, "l2", None, 2, "naive"
    )
    mean = sparse(km.DomainMean(inner, domain, np.log(np.full((2, 4), 0.25))))
    mean.save(tmp_path / "mean.km")
    assert_same(mean, km.load(tmp_path / "mean.km"))


@pytest.mark.parametrize("spread", KINDS)
@pytest.mark.parametrize("name", ["half-line, ended", "box, ended"])
def test_where_components_end_comes_back(tmp_path, name, spread):
    mean = sparse(flat(name, spread))
    mean.save(tmp_path / "mean.km")
    again = km.load(tmp_path / "mean.km")
    assert again.cut.dtype == bool
    assert 0 < again.cut.sum() < again.cut.size
    np.testing.assert_array_equal(again.cut, mean.cut)
    assert not again.cut.flags.writeable
    rows = rows_of(mean, 30)
    np.testing.assert_array_equal(again.log(rows), mean.log(rows))
    folded = replace(mean, cut=None)
    assert (again.log(rows) != folded.log(rows)).any()


def test_a_mean_of_which_no_component_ends_has_a_file_without_ends(tmp_path):
    mean = sparse(flat("box"))
    _, arrays = domain_storage.packed(mean)
    assert "domain cut" not in arrays
    mean.save(tmp_path / "mean.km")
    assert km.load(tmp_path / "mean.km").cut is None


def test_a_full_mean_and_odd_categories_have_no_file(tmp_path):
    with pytest.raises(ValueError, match="fit a sparse one to save it"):
        flat("interval").save(tmp_path / "mean.km")
    mean = sparse(mixed().marginal(["colour"]))
    odd = replace(mean, domain=replace(mean.domain, levels=((("a", "b"), "c", "d"),)))
    with pytest.raises(ValueError, match=r"category \('a', 'b'\) cannot be saved"):
        odd.save(tmp_path / "mean.km")
    assert not list(tmp_path.iterdir())


def damaged(header, *path, value):
    """The header with one entry replaced."""
    place = header
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value


WRONG = {
    "no domain": (("domain",), None, "the domain is none"),
    "no mean inside": (("inner",), [], "no mean inside"),
    "unknown kind": (("domain", "kinds", 1), {"range": 1}, "of no kind"),
    "a word as a kind": (("domain", "kinds", 1), "bounds", "of no kind"),
    "crossed bounds": (("domain", "kinds", 1), {"bounds": [2.0, 1.0]}, "must lie below"),
    "bounds that are words": (("domain", "kinds", 1), {"bounds": ["0", None]}, "not finite"),
    "no period": (("domain", "kinds", 5), {"period": 0, "start": 0}, "period"),
    "a period that is true": (("domain", "kinds", 5), {"period": True, "start": 0}, "not finite"),
    "unknown unit": (("domain", "kinds", 2), {"sphere": "gon"}, "unit"),
    "two units": (("domain", "kinds", 2), {"sphere": "radians"}, "different units"),
    "half a sphere": (("domain", "kinds", 2), None, "do not belong together"),
    "a sphere elsewhere": (("domain", "spheres"), [[2, 17]], "not there"),
    "a sphere twice": (("domain", "spheres"), [[2, 4], [2, 4]], "do not belong together"),
    "no levels": (("domain", "levels", 0), [], "no list of words"),
    "levels that are lists": (("domain", "levels", 0), [["a"], ["b"], ["c"]], "no list of words"),
    "a level twice": (("domain", "levels", 0), ["a", "a", "b"], "twice"),
    "too few levels": (("domain", "levels"), [["a", "b", "c"]], "too many or too few"),
    "too few of one": (("domain", "levels", 0), ["a", "b"], "probabilities"),
    "too many cuts": (("domain", "cuts"), [0.0, 1.0], "too many or too few"),
    "a cut that is a word": (("domain", "cuts"), ["0"], "not finite"),
    "other coordinates": (("domain", "kinds", 3), {"categories": None, "smoothing": None}, "many"),
    "names": (("columns",), ["a"], "one name per column"),
    "transform": (("transform",), "tanh", "unknown transform"),
    "transform that is none": (("transform",), 3, "not a word"),
    "kernel": (("inner", "kernel"), {"name": "laplacian", "gamma": 1.0}, ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_malicious_header_is_told(tmp_path, name):
    path, value, message = WRONG[name]
    header, arrays = domain_storage.packed(sparse(mixed()))
    damaged(header, *path, value=value)
    storage.write(tmp_path / "mean.km", header, arrays)
    with pytest.raises(ValueError, match=f"does not hold a mean on a domain.*{message}"):
        km.load(tmp_path / "mean.km")


def _shares(change):
    def apply(arrays):
        found = np.array(arrays["domain log_shares"])
        arrays["domain log_shares"] = change(found)

    return apply


ARRAYS = {
    "absent": (lambda arrays: arrays.pop("domain log_shares"), "do not come together"),
    "too narrow": (_shares(lambda A: A[:, :-1]), "wrong type or shape"),
    "whole numbers": (_shares(lambda A: A.astype(np.int64)), "wrong type or shape"),
    "NaN": (_shares(lambda A: A * np.nan), "above one, or none"),
    "too large": (_shares(np.abs), "above one"),
    "too small": (_shares(lambda A: A - 1.0), "do not sum to one"),
    "quantiles": (
        lambda arrays: arrays.update({"domain log_quantiles": np.zeros(3)}),
        "log_quantiles",
    ),
    "unknown": (lambda arrays: arrays.update(more=np.zeros(3)), "unknown array 'more'"),
    "turned scale": (
        lambda arrays: arrays.update(scale=np.eye(6) + 0.1 * np.ones((6, 6))),
        "a scale mixes coordinates",
    ),
    "uneven sphere": (
        lambda arrays: arrays.update(scale=np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 2.0])),
        "a scale mixes coordinates",
    ),
    "uneven spread": (
        lambda arrays: arrays.update(spreads=np.tile(np.diag(np.arange(6.0)), (6, 1, 1))),
        "a spread mixes coordinates",
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_malicious_arrays_are_told(tmp_path, name):
    change, message = ARRAYS[name]
    header, arrays = domain_storage.packed(sparse(mixed()))
    change(arrays)
    storage.write(tmp_path / "mean.km", header, arrays)
    with pytest.raises(ValueError, match=f"does not hold a mean on a domain.*{message}"):
        load_mean(tmp_path / "mean.km")


def _cut(change):
    def apply(arrays):
        arrays["domain cut"] = change(np.array(arrays["domain cut"]))

    return apply


def _at(place, value):
    def change(cut):
        cut[place] = value
        return cut

    return change


NOT_THERE = "ends at bounds that are not there"
LEANS = "that ends at a bound leans on other columns"
CUTS = {
    "too few components": (_cut(lambda cut: cut[:-1]), "array 'cut' has the wrong type or shape"),
    "too few columns": (_cut(lambda cut: cut[:, :-1]), "array 'cut' has the wrong type or shape"),
    "a list": (_cut(np.ravel), "array 'cut' has the wrong type or shape"),
    "fractions": (_cut(lambda cut: 0.5 * cut), "array 'cut' has the wrong type or shape"),
    "no bounds": (_cut(_at((0, 2), 1)), NOT_THERE),
    "neither true nor false": (_cut(_at((0, 0), 2)), NOT_THERE),
    "less than false": (_cut(_at((1, 0), -1)), NOT_THERE),
    "a folded one that leans": (_cut(_at((1, 0), 1)), LEANS),
    "one that leans": (lambda arrays: arrays["spreads"].__iadd__(np.full((3, 3), 1e-3)), LEANS),
}


@pytest.mark.parametrize("name", CUTS)
def test_ends_that_cannot_be_are_told(tmp_path, name):
    change, message = CUTS[name]
    header, arrays = domain_storage.packed(sparse(flat("box, ended")))
    arrays = {entry: np.array(values) for entry, values in arrays.items()}
    change(arrays)
    storage.write(tmp_path / "mean.km", header, arrays)
    with pytest.raises(ValueError, match=f"does not hold a mean on a domain.*{message}"):
        km.load(tmp_path / "mean.km")


def test_a_changed_byte_is_told(tmp_path):
    path = tmp_path / "mean.km"
    sparse(mixed()).save(path)
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    path.write_bytes(bytes(contents))
    with pytest.raises(ValueError, match="checksum"):
        km.load(path)
