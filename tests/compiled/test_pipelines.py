"""Parts of compiled loops have no machine code of their own, unless Numba has changed."""

import gc

import numba
import numpy as np
import pytest

from kernelmean.compiled import pipelines
from kernelmean.compiled.compiling import compile_function, part


def loop_over(double):
    def loop(x):
        for i in range(len(x)):
            x[i] = double(x[i])

    return compile_function(loop, numba.void(numba.float64[::1]), None)


def doubled(loop):
    x = np.arange(3.0)
    loop(x)
    return x


def make_part():
    return part()(lambda x: 2.0 * x)


def test_a_part_serves_loops_and_is_no_machine_code_itself():
    double = make_part()
    np.testing.assert_array_equal(doubled(loop_over(double)), [0.0, 2.0, 4.0])
    library = double.overloads[(numba.float64,)].library
    assert isinstance(library, pipelines._Uncompiled)
    assert not library.codegen._engine.is_symbol_defined(
        double.overloads[(numba.float64,)].fndesc.mangled_name
    )


def test_two_loops_share_a_part():
    double = make_part()
    loops = [loop_over(double), loop_over(double)]
    np.testing.assert_array_equal(doubled(loops[0]), doubled(loops[1]))


def test_a_part_called_from_python_raises():
    double = make_part()
    with pytest.raises(KeyError):
        double(1.0)


def test_parts_go_the_ordinary_way_where_libraries_have_changed(monkeypatch):
    monkeypatch.setattr(pipelines, "SKIPPED", ("_no_such_method",))
    double = make_part()
    np.testing.assert_array_equal(doubled(loop_over(double)), [0.0, 2.0, 4.0])
    assert not isinstance(double.overloads[(numba.float64,)].library, pipelines._Uncompiled)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_after_compiling(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        loop_over(make_part())
        assert gc.isenabled() == enabled
        with pytest.raises(numba.TypingError):
            loop_over(part()(lambda x: x.no_such_attribute))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
