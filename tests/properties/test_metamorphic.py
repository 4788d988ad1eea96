"""What every answer does when the data change in a way that has one right answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import _checks, samples
from kernelmean.samples import files as streaming
from tests.properties import subjects
from tests.properties.subjects import CPU, FINE, SUBJECTS, Case, Fact, cases, holding

pytestmark = pytest.mark.fuzz

STABLE = (
    "kcenter",
    "kmeans++",
    "random",
    "given",
)  # rounding does not change which centres these take, on a grid
ROUNDING = 1e-6  # of the largest number: an optimum of condition 1e12 has that many digits


def generic(
    scales: tuple[str | None, ...] = (None, "std", "cov"), **options: Any
) -> st.SearchStrategy[Case]:
    """No two different pairs of points are equally far apart.

    A few distinct points, whitened, are a regular simplex: copies come without a scale.
    """
    drawn = cases(kinds=("normal",), scales=scales, grid=FINE, **options)
    return (
        drawn | cases(kinds=("duplicates",), scales=(None,), grid=FINE, **options)
        if None in scales
        else drawn
    )


@dataclass(frozen=True)
class Change:
    """How facts follow when a case changes: x ↦ factor·x·turn + shift, rows to where they went."""

    factor: float = 1.0
    turn: Any = None
    shift: Any = 0.0
    rows: Any = None  # (n,) where each row of the first case is in the second
    back: Any = None  # (n′,) which row of the first case each row of the second is; −1 for none
    exact: bool = False
    skip: frozenset[str] = field(default_factory=frozenset)

    def points(self, X: np.ndarray) -> np.ndarray:
        turned = X if self.turn is None else X[:, self.turn[0]] * self.turn[1]
        return self.factor * turned + self.shift

    def compare(self, name: str, before: Fact, after: Fact) -> None:
        a, b, floor = before.value, after.value, max(before.floor, after.floor)
        if before.kind in self.skip or (a is None and b is None):
            return
        if before.kind == "rows" and a is not None and b is not None:
            a, b = self._followed(a, b)
            np.testing.assert_array_equal(b, a, err_msg=name)
        elif before.kind in ("same", "rows"):
            assert b == a if not isinstance(a, np.ndarray) else np.array_equal(a, b), (name, a, b)
        elif before.kind in ("each", "each point"):
            if before.kind == "each" and not self.exact:
                return
            a = np.asarray(a) if before.kind == "each" else self.points(np.asarray(a))
            b = np.asarray(b)
            b = b if self.rows is None else b[self.rows]
            a = a if self.back is None else a[self.back]
            self._close(name, a, b, floor * self.factor)
        elif before.kind == "points":
            self._close(name, self.points(np.asarray(a)), np.asarray(b))
        elif before.kind == "log":
            a = np.asarray(a) + before.power * math.log(self.factor)
            self._close(name, a, np.asarray(b), _log_slack(a, floor))
        elif before.kind == "number":
            unit = self.factor**before.power
            self._close(name, np.asarray(a) * unit, np.asarray(b), floor * unit)
        elif self.exact:
            np.testing.assert_array_equal(b, a, err_msg=name)

    def _followed(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers of both cases in the same terms."""
        return a if self.rows is None else self.rows[a], b if self.back is None else self.back[b]

    def _close(self, name: str, a: np.ndarray, b: np.ndarray, floor: Any = 0.0) -> None:
        if self.exact:
            np.testing.assert_array_equal(b, a, err_msg=name)
            return
        size = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        with np.errstate(invalid="ignore"):  # infinite ones, which must be the same
            far = ~(np.abs(b - a) <= np.maximum(ROUNDING * size, floor)) & (a != b)
        np.testing.assert_allclose(np.where(far, b, a), a, rtol=ROUNDING, err_msg=name)


def _log_slack(logs: np.ndarray, floor: float) -> Any:
    """What a difference of ``floor`` of the largest value means for each logarithm."""
    if not floor or np.isneginf(logs).all():
        return 0.0
    return floor * np.exp(np.minimum(np.max(logs) - logs, 700.0))


def facts(name: str, case: Case) -> dict[str, Fact] | str:
    """The facts, or what kind of error there is; the arrays given are as before."""
    arrays = {entry.name: getattr(case, entry.name) for entry in fields(case)}
    before = {
        key: np.array(value)
        for key, value in arrays.items()
        if isinstance(value, np.ndarray | list | pd.DataFrame)
    }
    try:
        return SUBJECTS[name].ask(case)
    except (ValueError, UserWarning) as error:  # warnings are errors here
        return type(error).__name__
    finally:
        for key, value in before.items():
            np.testing.assert_array_equal(
                np.asarray(arrays[key]), value, err_msg=f"{name} has changed {key}"
            )


def check(name: str, case: Case, other: Case, change: Change) -> None:
    agree(name, facts(name, case), facts(name, other), change)


def agree(
    name: str, first: dict[str, Fact] | str, second: dict[str, Fact] | str, change: Change
) -> None:
    if isinstance(first, str) or isinstance(second, str):
        assert first == second
        return
    assert first.keys() == second.keys()
    for key, fact in first.items():
        change.compare(f"{name}: {key}", fact, second[key])


# --- nothing is forgotten
# ------------------------------------------------------------------------------------------------


def test_every_public_name_is_a_subject_or_excused():
    covered = {name for found in SUBJECTS.values() for name in found.covers}
    assert subjects.public_names() - covered - subjects.EXCUSED.keys() == set()
    assert covered & subjects.EXCUSED.keys() == set()


def test_whatever_takes_weights_is_asked_about_absent_rows():
    covered = {
        name
        for found in SUBJECTS.values()
        if {"absent", "counts"} <= found.holds
        for name in found.covers
    }
    weighted = set(subjects.weighted_names())
    assert {
        "k_center",
        "SparseKDE.partial_fit",
        "bandwidth.scott",
        "SparseKernelMean.certificate",
    } <= weighted
    assert weighted - covered == set()


# --- weights
# --------------------------------------------------------------------------------------------------


def _far(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X[:1] + 2.0**17 * rng.choice([-1.0, 1.0], size=X.shape[1])


ABSENT = {
    "far": _far,
    "copies": lambda X, rng: X[rng.integers(len(X), size=3)],
    "near": lambda X, rng: X[rng.integers(len(X), size=3)] + 2.0**-10,
    "same": lambda X, rng: np.repeat(_far(X, rng), 4, axis=0),
    "origin": lambda X, rng: np.zeros((2, X.shape[1])),
}


def _with_absent(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, kinds: list[str], place: str, seed: int
) -> tuple[Any, ...]:
    """X, y and w with rows of weight zero, and where the rows of X are."""
    rng = np.random.default_rng(seed)
    extra = np.concatenate([ABSENT[kind](X, rng) for kind in kinds])
    n, m = len(X), len(extra)
    at = {
        "front": np.zeros(m, int),
        "end": np.full(m, n),
        "amid": np.sort(rng.integers(n + 1, size=m)),
    }[place]
    labels = rng.integers(0, 3, size=m)  # the third is a class of absent rows only
    rows = np.arange(n) + np.searchsorted(at, np.arange(n), side="right")
    return np.insert(X, at, extra, axis=0), np.insert(y, at, labels), np.insert(w, at, 0.0), rows


@pytest.mark.parametrize("name", holding("absent"))
@given(
    cases(weights=("ones", "counts", "fractions")),
    st.lists(st.sampled_from(sorted(ABSENT)), min_size=1, max_size=3),
    st.sampled_from(["front", "end", "amid"]),
)
def test_rows_of_weight_zero_are_as_absent(name, case, kinds, place):
    X, y, w, rows = _with_absent(case.X, case.y, case.w, kinds, place, case.seed)
    Z, yz, v, _ = _with_absent(case.Z, case.yz, case.v, kinds, place, case.seed)
    given_rows = rows[case.selection] if isinstance(case.selection, np.ndarray) else case.selection
    other = replace(
        case, X=X, y=y, w=w, Z=Z, yz=yz, v=v, selection=given_rows, first=int(rows[case.first])
    )
    check(name, case, other, Change(rows=rows, exact=True))


@pytest.mark.parametrize("name", holding("counts"))
@given(generic(selections=STABLE, weights=("counts",)))
def test_integer_weights_are_repeated_rows(name, case):
    copies, v = case.w.astype(int), case.v.astype(int)
    back = np.repeat(np.arange(len(case.X)), copies)
    first = np.concatenate([[0], np.cumsum(copies)[:-1]])
    other = replace(
        case,
        X=case.X[back],
        y=case.y[back],
        w=None,
        Z=np.repeat(case.Z, v, axis=0),
        yz=np.repeat(case.yz, v),
        v=None,
        selection=first[case.selection]
        if isinstance(case.selection, np.ndarray)
        else case.selection,
        first=int(first[case.first]),
    )
    check(name, case, other, Change(back=back))


# --- order and place
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", holding("order"))
@given(generic(selections=("given",), weights=("none", "ones", "counts")), st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(name, case, seed):
    """With counts or none: rules that draw do so where weights are fractions."""
    rng = np.random.default_rng(seed)
    order, other_order = rng.permutation(len(case.X)), rng.permutation(len(case.Z))
    rows = np.argsort(order)
    taken = lambda part, by: None if part is None else part[by]  # noqa: E731
    case = replace(case, sparse=False)
    other = replace(
        case,
        X=case.X[order],
        y=case.y[order],
        w=taken(case.w, order),
        Z=case.Z[other_order],
        yz=case.yz[other_order],
        v=taken(case.v, other_order),
        selection=rows[case.selection],
        first=int(rows[case.first]),
    )
    # Of equal points any may be the one that is taken: their places differ, the points do not.
    check(name, case, other, Change(rows=rows, skip=frozenset({"rows"})))


def _moved(case: Case, change: Change) -> Case:
    length = case.kernel.length * (change.factor if case.scale is None else 1.0)
    own = {"X": change.points(case.X), "Z": change.points(case.Z), "Q": change.points(case.Q)}
    return replace(case, kernel=case.kernel.rescaled(length, case.d), **own)


@st.composite
def moves(draw: st.DrawFn, d: int) -> Change:
    """Powers of two, columns in another order and reflected, and shifts up to a million: no
    coordinate loses a digit.
    """
    turn = (
        np.array(draw(st.permutations(range(d)))),
        np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=d, max_size=d))),
    )
    shift = draw(st.lists(st.sampled_from([0.0, 1.0, -1000.0, 2.0**20]), min_size=d, max_size=d))
    factor = draw(st.sampled_from([1.0, 2.0, 0.25, 64.0]))
    return Change(factor, turn, factor * np.array(shift))


@pytest.mark.parametrize("name", holding("move"))
@given(st.data())
def test_answers_move_with_the_data(name, data):
    # Points that are scaled are rounded, and then ties are no ties.
    drawn = data.draw(
        cases(selections=STABLE, scales=(None,)) | generic(("std", "cov"), selections=STABLE)
    )
    case = SUBJECTS[name].suited(drawn)
    if (
        case.scale == "cov"
        # whitened coordinates depend on the order of columns, and so do rules that read them one by
        # one
    ):
        case = replace(case, rule=None)
    change = data.draw(moves(case.d))
    check(name, case, _moved(case, change), change)


@pytest.mark.parametrize("name", holding("stretch"))
@given(generic(selections=STABLE), st.sampled_from([0.3, 1e-5, 7e6]), st.sampled_from([0.0, 1e3]))
def test_answers_stretch_with_the_data(name, case, factor, shift):
    # Coordinates are rounded anew: where the automatic number of centres ends may hang on that.
    case, change = SUBJECTS[name].suited(case), Change(factor, None, factor * shift)
    case = replace(case, k=6 if case.k == "auto" else case.k)
    check(name, case, _moved(case, change), change)


# --- the same data in other words
# ------------------------------------------------------------------------------------------


def _read_only(A: np.ndarray) -> np.ndarray:
    B = A.copy()
    B.flags.writeable = False
    return B


def _strided(A: np.ndarray) -> np.ndarray:
    wide = np.full((2 * len(A), *(2 * s for s in A.shape[1:])), np.nan)
    view = wide[tuple(slice(None, None, 2) for _ in A.shape)]
    view[...] = A
    return view


FORMS = {
    "float32": lambda A: A.astype(np.float32),
    "Fortran": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda A: A[::-1].copy()[::-1],
    "read-only": _read_only,
    "list": lambda A: A.tolist(),
    "frame": lambda A: (
        pd.DataFrame(A, columns=[f"x{i}" for i in range(A.shape[1])])
        if A.ndim == 2
        else pd.Series(A)
    ),
    "big-endian": lambda A: A.astype(">f8"),
    "longdouble": lambda A: A.astype(np.longdouble),
}


@pytest.mark.parametrize("name", holding("forms"))
@given(cases(weights=("none", "ones", "counts")), st.sampled_from(sorted(FORMS)))
def test_the_form_of_the_data_does_not_matter(name, case, form):
    put = FORMS[form]
    assume(
        form != "list" or name not in ("procrustes", "discrepancy_index")
    )  # the subject itself cuts arrays
    assume(
        form != "frame" or name not in ("embedding",)
    )  # a list of frames is one of tables with groups
    taken = {key: put(getattr(case, key)) for key in ("X", "Z", "Q")}
    weights = {
        key: None if getattr(case, key) is None else put(getattr(case, key)) for key in ("w", "v")
    }
    check(
        name,
        case,
        replace(case, **taken, **weights),
        Change(rows=np.arange(len(case.X)), exact=True),
    )


@pytest.mark.parametrize("name", holding("again"))
@given(cases())
def test_the_same_seed_gives_the_same_bits_with_any_threads(name, case):
    same = Change(rows=np.arange(len(case.X)), exact=True)
    first = facts(name, case)
    for threads in (1, 2, 3):
        agree(name, first, facts(name, replace(case, engine=CPU[threads])), same)


# --- in parts
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mapped")


def _mapped(A: np.ndarray, path: Path) -> np.ndarray:
    np.save(path, A)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("name", holding("parts"))
@given(generic(selections=STABLE), st.integers(3, 30))
def test_mapped_files_answer_as_arrays(folder, name, case, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_checks, "MAPPED", 0)
        patch.setattr(_checks, "free_memory", lambda: 0)
        patch.setattr(streaming, "BATCH_NUMBERS", batch)
        case = replace(case, sparse=True)  # a full mean is its points, and needs them in memory
        other = replace(
            case, X=_mapped(case.X, folder / "X.npy"), Z=_mapped(case.Z, folder / "Z.npy")
        )
        assert samples.lies_elsewhere(other.X)
        check(name, case, other, Change())


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'kernelmean[cluster]'"
    )
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")  # of Dask itself
@pytest.mark.parametrize("name", ["k_center", "sparse_kernel_mean", "density", "refit"])
@pytest.mark.parametrize("selection", ["kcenter", "kmeans++"])
def test_dask_arrays_answer_as_arrays(client, monkeypatch, name, selection):
    import dask.array as da

    from kernelmean.samples.cluster import collections as tables

    monkeypatch.setattr(tables, "HERE", 0)
    rng = np.random.default_rng(3)
    X, w = subjects.on_grid(rng.normal(size=(50, 2))), rng.integers(0, 3, size=50).astype(float)
    w[7] = 1.0
    case = Case(
        X,
        X,
        X[:7],
        None,
        None,
        w,
        w,
        km.Gaussian(1.0),
        None,
        "std",
        "l2",
        "simplex",
        selection,
        8,
        0,
        7,
        engine=CPU[2],
    )
    check(name, case, replace(case, X=da.from_array(X, chunks=(17, 2))), Change())
