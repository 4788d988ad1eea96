"""What importing costs: nothing heavy before it is used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernelmean as km

HEAVY = (
    "numba",
    "llvmlite",
    "sklearn",
    "scipy",
    "torch",
    "dask",
    "matplotlib",
    "PIL",
    "click",
    "tqdm",
    "pandas",
)


def run(*arguments):
    env = os.environ | {"PYTHONPATH": str(Path(km.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def loaded_by(code):
    """Which heavy packages are in sys.modules after the code."""
    report = (
        f"import sys\n{code}\nprint('LOADED', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = run("-c", report)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_by("import kernelmean") == set()


def test_importing_the_package_does_not_even_import_numpy():
    assert loaded_by("import kernelmean, sys\nassert 'numpy' not in sys.modules") == set()


@pytest.mark.parametrize(
    "code",
    [
        "import kernelmean as km; km.Gaussian(1.0)",
        "import kernelmean as km; dir(km); km.__version__",
    ],
)
def test_kernels_and_names_need_nothing_heavy(code):
    assert loaded_by(code) == set()


TOUCHED = """
import sys
import kernelmean as km
HEAVY = {heavy!r}
loaded = set()
for name in {names!r}:
    getattr(km, name)
    new = {{module for module in HEAVY if module in sys.modules}} - loaded
    loaded |= new
    if new:
        print(name, *sorted(new))
"""


def test_names_import_nothing_that_they_do_not_use():
    """Compilers, devices, clusters and pictures wait until something needs them.

    What scikit-learn imports by itself, pandas where it is installed, comes with the estimators.
    """
    heavy = ("numba", "torch", "dask", "distributed", "pandas", "matplotlib", "plotly")
    done = run("-c", TOUCHED.format(heavy=heavy, names=list(km.__all__)))
    assert done.returncode == 0, done.stderr
    seen = {module for line in done.stdout.splitlines() for module in line.split()[1:]}
    assert seen - loaded_by("import sklearn.base") == set(), done.stdout


def test_opening_an_engine_needs_no_compiler():
    for name in ("naive", "cpu"):
        assert "numba" not in loaded_by(f"import kernelmean as km; km.engines.open({name!r})")


def test_fitting_does_not_import_what_it_does_not_use():
    """scikit-learn, matplotlib, click, torch and dask have no part in a fit."""
    code = (
        "import kernelmean as km, numpy as np; "
        "km.sparse_kernel_mean(np.arange(20.0).reshape(-1, 1), k=3, engine='naive')"
    )
    assert loaded_by(code) & {"numba", "sklearn", "matplotlib", "click", "torch", "dask"} == set()


@pytest.mark.parametrize("module", ["kernelmean", "kernelmean.cli"])
def test_help_needs_no_compiler_and_no_scikit_learn(module):
    """``kernelmean --help``: run in place, then ask what was imported."""
    call = (
        "runpy.run_module('kernelmean', run_name='__main__')"
        if module == "kernelmean"
        else "import kernelmean.cli as c; c.main()"
    )
    code = f"""
import contextlib, io, runpy, sys
sys.argv = ["kernelmean", "--help"]
out = io.StringIO()
try:
    with contextlib.redirect_stdout(out):
        {call}
except SystemExit as done:
    assert not done.code, done.code
assert "demo" in out.getvalue(), out.getvalue()
"""
    assert (
        loaded_by(code) & {"numba", "llvmlite", "sklearn", "scipy", "torch", "dask", "matplotlib"}
        == set()
    )


def test_the_command_says_what_it_can_do():
    done = run("-m", "kernelmean", "--help")
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
    assert done.stderr == ""
    assert km.__version__ in run("-m", "kernelmean", "--version").stdout


def test_an_unknown_command_ends_with_exit_code_2():
    done = run("-m", "kernelmean", "no-such-command")
    assert done.returncode == 2
    assert "no-such-command" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_engine_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown engine 'gpo'; choose from 'naive', 'cpu'"):
        km.engines.open("gpo")


def test_an_engine_is_its_own_name():
    engine = km.engines.open("naive")
    assert km.engines.open(engine) is engine
    assert [km.engines.open(name).name for name in ("naive", "cpu")] == ["naive", "cpu"]
    assert km.engines.open("auto").name in ("cpu", "gpu")


@pytest.mark.parametrize("thing", [3, None, object()])
def test_what_is_no_engine_is_refused(thing):
    with pytest.raises(TypeError, match="engine must be a name"):
        km.engines.open(thing)
