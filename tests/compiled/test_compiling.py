"""Compiled code on disk: found again, safe under several processes, done without where nothing can
be written.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import kernelmean
from kernelmean.compiled import compiling

SOURCE = Path(kernelmean.__file__).parent

# Two loops, one of which calls the kernel: most processes below compile them anew, however small.
JOB = """
import hashlib
import numpy as np
import kernelmean as km
from kernelmean import _work
_work.LEAST_WORK = 0.0
X = np.random.default_rng(0).normal(size=(500, 2))
cloud = km.engines.open("cpu", threads=2).load(X)
values = cloud.kernel_sum(km.Gaussian(0.5).radial(2, "rkhs"), X[:9])
digest = hashlib.sha256(values.tobytes()).hexdigest()
print("RESULT", digest, repr(float(values.sum())))
"""


def environment(cache, source=SOURCE, **more):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "KERNELMEAN_"))
    }
    return (
        env
        | {
            "PYTHONPATH": str(source.parent),
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        | more
    )


def start(code, env, warnings="error"):
    return subprocess.Popen(
        [sys.executable, "-W", warnings, "-c", code],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out


def run(code, env):
    return finish(start(code, env))


def warned(code, env):
    """What a process printed, and its one warning."""
    process = start(code, env, warnings="always")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert err.count("CacheWarning: ") == 1, err
    assert err.startswith("<string>:"), err  # the line of the user, not one of ours
    return out, err


def result(out):
    found = re.findall(r"^RESULT (\w+) (\S+)$", out, re.MULTILINE)
    assert len(found) == 1, out
    return found[0][0], float(found[0][1])


def files(cache):
    return {
        path.relative_to(cache): (path.stat().st_mtime_ns, path.read_bytes())
        for path in Path(cache).rglob("*.nb?")
    }


def names(cache):
    return {str(path) for path in files(cache)}


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache that one process has filled, and what that process computed."""
    cache = tmp_path_factory.mktemp("cache")
    out = run(JOB, environment(cache, NUMBA_DEBUG_CACHE="1"))
    return cache, out


def test_the_first_process_fills_the_cache(warm):
    cache, out = warm
    assert sum(name.endswith(".nbc") for name in names(cache)) == 2
    assert "data saved to" in out
    assert "data loaded from" not in out


def test_a_second_process_compiles_nothing(warm):
    """Every loop is a hit, and no file is touched."""
    cache, first = warm
    before = files(cache)
    out = run(JOB, environment(cache, NUMBA_DEBUG_CACHE="1"))
    assert files(cache) == before
    assert "data saved to" not in out
    assert out.count("data loaded from") == first.count("data saved to")
    assert result(out) == result(first)


def test_each_specialisation_has_files_of_its_own(warm):
    """One index and one data file per name: nothing that two processes could number differently."""
    cache, _ = warm
    indices = [name for name in names(cache) if name.endswith(".nbi")]
    data = [name for name in names(cache) if name.endswith(".nbc")]
    assert sorted(name.removesuffix(".nbi") for name in indices) == sorted(
        name.removesuffix(".1.nbc") for name in data
    )


def test_processes_that_start_at_once_on_an_empty_cache_agree(tmp_path, warm):
    """Three processes wait for the same signal; all succeed, agree, and leave a cache that a fourth
    one only reads.
    """
    go, cache = tmp_path / "go", tmp_path / "cache"
    wait = (
        f"import os, time, numba, numpy\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    )
    processes = [start(wait + JOB, environment(cache)) for _ in range(3)]
    time.sleep(1.0)
    go.touch()
    results = {result(finish(process)) for process in processes}
    assert results == {result(warm[1])}
    assert len(names(cache)) == len(names(warm[0]))
    before = files(cache)
    assert result(run(JOB, environment(cache))) in results
    assert files(cache) == before


def test_another_kind_of_processor_does_not_touch_our_files(warm):
    """A home directory shared by different machines: code for one must never be found under the
    name of the other.
    """
    cache, first = warm
    before = files(cache)
    out = run(JOB, environment(cache, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=""))
    assert result(out)[1] == pytest.approx(result(first)[1], rel=1e-13)
    after = files(cache)
    changed = [str(name) for name in before if after.get(name) != before[name]]
    assert changed == []


def test_damaged_files_are_compiled_anew(tmp_path, warm):
    """A full disk or a broken copy leaves half a file behind: that costs time, not the result."""
    cache = tmp_path / "cache"
    shutil.copytree(warm[0], cache)
    for name in names(cache):
        path = cache / name
        if path.suffix == ".nbc":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert result(run(JOB, environment(cache))) == result(warm[1])


@pytest.fixture
def package(tmp_path):
    """A copy of the sources, with nothing compiled beside it."""
    (tmp_path / "file").write_text("not a directory")
    copy = tmp_path / "source" / "kernelmean"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_a_cache_directory_that_cannot_be_made(tmp_path, warm, package):
    """Below a regular file: not even root can write there. One warning where something is compiled,
    none where nothing is.
    """
    env = environment(tmp_path / "file" / "cache", package)
    out, err = warned(JOB, env)
    assert result(out)[1] == pytest.approx(result(warm[1])[1], rel=1e-15)
    assert f"NUMBA_CACHE_DIR={tmp_path / 'file' / 'cache'} cannot be written" in err
    assert names(package)
    assert result(run(JOB, env)) == result(out)


def test_no_place_to_write_at_all(tmp_path, warm, package):
    """Neither the cache directory, nor beside the sources, nor below the home directory."""
    nowhere = str(tmp_path / "file" / "nowhere")
    for folder in ("engines/cpu", "compiled"):
        (package / folder / "__pycache__").write_text("not a directory either")
    env = environment(nowhere, package, HOME=nowhere, XDG_CACHE_HOME=nowhere)
    out, err = warned(JOB, env)
    assert result(out)[1] == pytest.approx(result(warm[1])[1], rel=1e-15)
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in err
    assert list(tmp_path.rglob("*.nb?")) == []


READ_ONLY = """
from numba.core import caching
def refuse(self):
    raise PermissionError(13, "Permission denied")
caching._CacheLocator.ensure_cache_path = refuse
"""


def test_what_cannot_be_written_is_read_all_the_same(warm):
    """Loops that an image brings serve those who cannot write where they are; no warning."""
    cache, first = warm
    before = files(cache)
    out = run(READ_ONLY + JOB, environment(cache, NUMBA_DEBUG_CACHE="1"))
    assert out.count("data loaded from") == first.count("data saved to")
    assert result(out) == result(first)
    assert files(cache) == before


FULL = """
from numba.core.caching import IndexDataCacheFile
def refuse(self, key, data):
    raise OSError(28, "No space left on device")
IndexDataCacheFile.save = refuse
"""


def test_a_disk_that_is_full_breaks_no_fit(tmp_path, warm):
    out, err = warned(FULL + JOB, environment(tmp_path))
    assert result(out) == result(warm[1])
    assert "No space left on device" in err
    assert names(tmp_path) == set()


OWN = """
import kernelmean as km, numpy as np
def profile(s):
    return {body}
X = np.array([[0.0], [1.0]])
radial = km.Radial(profile).radial(1, "rkhs")
print("RESULT x", float(km.engines.open("cpu").load(X).kernel_sum(radial, X[:1])[0]))
"""


def test_users_profiles_of_one_name_are_not_confused(tmp_path):
    """Same function name, same line, other body, same cache."""
    env = environment(tmp_path)
    assert result(run(OWN.format(body="1.0 / (1.0 + s)"), env))[1] == pytest.approx(0.75, rel=1e-15)
    assert result(run(OWN.format(body="1.0 / (1.0 + 3.0 * s)"), env))[1] == pytest.approx(
        0.625, rel=1e-15
    )


# --- what a file name depends on
# --------------------------------------------------------------------------------------


def twice(x, out):
    out[0] = 2.0 * x


SIGNATURE = numba.types.void(numba.types.float64, numba.types.float64[::1])


@pytest.fixture
def cached_names(tmp_path, monkeypatch):
    """Compile into an empty cache and hand out the names of the index files there."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def compile_and_list(*arguments):
        loop = compiling.compile_function(twice, SIGNATURE, *arguments)
        out = np.zeros(1)
        loop(21.0, out)
        assert out[0] == 42.0
        return {path.name for path in tmp_path.rglob("*.nbi")}

    return compile_and_list


def test_a_file_is_named_by_the_sources(cached_names, monkeypatch):
    """Other sources, other file; the old sources again, no new file."""
    monkeypatch.setattr(compiling, "_source_hash", lambda: "old")
    old = cached_names((1,))
    assert len(old) == 1
    monkeypatch.setattr(compiling, "_source_hash", lambda: "new")
    both = cached_names((1,))
    assert len(both) == 2
    monkeypatch.setattr(compiling, "_source_hash", lambda: "old")
    assert cached_names((1,)) == both


def test_a_file_is_named_by_constants_arithmetic_and_numba(cached_names, monkeypatch):
    seen = cached_names((1,))
    for arguments in [((2,),), (("1",),), ((1, 1),), ((1,), compiling.EXACT_MATH)]:
        more = cached_names(*arguments)
        assert len(more) == len(seen) + 1, arguments
        seen = more
    monkeypatch.setattr(numba, "__version__", "0.0.test")
    assert len(cached_names((1,))) == len(seen) + 1


def test_what_has_no_constants_is_not_written(cached_names):
    assert cached_names(None) == set()


def test_the_hash_sees_every_source_file_that_is_compiled(tmp_path, monkeypatch):
    """One byte more in any module of the engine or of the kernels is another hash."""
    package = tmp_path / "kernelmean"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiling, "__file__", str(package / "compiled" / "compiling.py"))
    source_hash = compiling._source_hash.__wrapped__
    before = source_hash()
    folders = ("compiled", "engines/cpu", "kernels")
    sources = [path for folder in folders for path in (package / folder).glob("*.py")]
    assert {"loops.py", "elementary.py", "radial.py", "radials.py"} <= {
        path.name for path in sources
    }
    for path in sources:
        text = path.read_bytes()
        path.write_bytes(text + b"#")
        assert source_hash() != before, path.name
        path.write_bytes(text)
    assert source_hash() == before
