"""Names of kernels: Python, files and the command line read one table."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import kernelmean as km
from kernelmean import kernels
from kernelmean.cli import options
from kernelmean.cli.declare import parameters
from kernelmean.cli.fit import command
from kernelmean.kernels import registry


def test_the_command_line_offers_what_a_name_and_a_bandwidth_describe():
    (kernel,) = (each for each in parameters(command) if each.name == "kernel")
    assert list(kernel.type.choices) == list(registry.names())
    assert kernel.default == options.DEFAULT_KERNEL == registry.DEFAULT
    for name in kernel.type.choices:
        assert kernels.family(name).name == name


@pytest.mark.parametrize("entry", registry.KERNELS, ids=lambda entry: entry.name)
def test_every_row_is_consistent(entry):
    """A name is either enough, with a unit of its class, or there is something to say instead."""
    assert (entry.unit is None) == bool(entry.instead)
    if entry.unit is not None:
        assert type(entry.unit) is entry.kernel
        assert entry.unit.length == 1.0
        assert set(vars(entry.unit)) == set(entry.parameters)
    if entry.kernel is not None:
        assert entry.kernel.name == entry.name
    for name in (entry.name, *entry.aliases):
        if entry.instead:
            with pytest.raises(ValueError, match=r"instead|give an instance") as raised:
                kernels.family(name)
            assert str(raised.value) == entry.instead
        else:
            assert kernels.family(name) == entry.unit


def test_no_name_stands_for_two_kernels():
    names = [name for entry in registry.KERNELS for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["box", None, 3, ["gaussian"]])
def test_an_unknown_name_lists_names_and_aliases(name):
    with pytest.raises(
        ValueError, match="choose from 'gaussian', 'laplacian', 'exponential', 'cauchy'"
    ):
        kernels.family(name)


def test_a_kernel_that_is_not_in_the_table_must_be_given_again():
    """Its name and its length are kept, and another kernel is refused."""
    own = km.Radial(lambda s: 1.0 / (1.0 + s), 0.7)
    unknown = {"name": "matern", "bandwidth": 0.7}
    assert kernels.describe(own) == {"name": "radial", "bandwidth": 0.7}
    assert not kernels.restorable(unknown)
    assert kernels.restorable(kernels.describe(km.Student(2.0, 1.0)))
    for given in (None, km.Gaussian(1.0), own):
        with pytest.raises(ValueError, match="give the same one"):
            kernels.restore(unknown, given)


def test_a_file_written_with_a_family_of_ones_own_is_read_with_it(tmp_path):
    """As kernel= of load: only its length comes from the file."""
    from tests.kernels.test_traits import Power

    X = np.random.default_rng(0).normal(size=(100, 2))
    mean = km.sparse_kernel_mean(X, kernel=Power(0.7), k=8, random_state=0)
    mean.save(tmp_path / "m.km")
    with pytest.raises(ValueError, match=r"load\(path, kernel="):
        km.load(tmp_path / "m.km")
    again = km.load(tmp_path / "m.km", kernel=Power(3.0))
    assert again.kernel == Power(0.7)
    np.testing.assert_array_equal(again(X[:5]), mean(X[:5]))


MODULES = sorted(module.name for module in pkgutil.iter_modules(kernels.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    """Every Examples section below kernels/, of classes, methods and functions."""
    result = doctest.testmod(importlib.import_module(f"kernelmean.kernels.{name}"))
    assert result.failed == 0
