"""Fits whose centres have a width of their own, and the choice between them and points."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, StopReason, Vector
from kernelmean.coefficients import (
    Path,
    Progress,
    Stopping,
    atom_refinement,
    full_refinement,
)
from kernelmean.fitting.holdout import held_out
from kernelmean.fitting.points import PointFit, searched
from kernelmean.fitting.refine import free_or_exact, refined_points, rows_to_refine_on
from kernelmean.fitting.spreads import Kinds, full_fits
from kernelmean.kernels import Atoms, SpreadKind
from kernelmean.mean.gauge import Candidate, Gauge
from kernelmean.selection import OffData, Task
from kernelmean.selection.auto import every_point_is_a_center, held, select
from kernelmean.selection.cells import TooWideError, cell_atoms, path_of, trimmed_atoms
from kernelmean.selection.contest import Contest
from kernelmean.selection.criterion import Criterion, Entry, Selected
from kernelmean.selection.greedy import MAX_ROWS_ALL_CANDIDATES

ERROR = 0.01  # relative error that is enough where the number of atoms is open
# The first steps gain most; after ten no Gaussian cell of ``benchmarks.spreads`` is above 0.9 of
# the error of points.
POLISH_ATOMS = 10  # steps by which "auto" moves and widens atoms of a small sample
MAX_K_POLISH = 640  # atoms up to which their algebra takes no longer than the choice itself
POLISH_MANY_ATOMS = 5  # steps for more atoms than that, up to
MAX_K_SOME_POLISH = 1280  # atoms, whose algebra takes tenths of a second a step
MAX_FULL_ALGEBRA = 2e8  # k²d³: operations up to which a step of full atoms takes tenths of a second
# Coordinates: in fewer, scalar spreads did as well at equal numbers on the sets beside the peers.
LEAST_FULL_DIMENSION = 5
# Points that store as many numbers as k full atoms, as a share of the sample: with more of them,
# points are near exactness and win at equal numbers (``benchmarks.spreads``; seen first on cover).
MAX_FULL_SHARE = 0.3
PROBE_ATOMS = 128  # with which the kind of spread of a density is found where their number is open


@dataclass(frozen=True)
class AtomFit:
    """A fit that may have atoms: what it needs besides their number."""

    criterion: Criterion
    which: str | IntVector
    rule: Stopping
    kinds: Kinds
    steps: int  # of refinement, that were asked for
    gauge: Gauge
    weights: Vector | None  # of the rows
    progress: Progress
    error: float | None = None  # to be reached, where that decides on the number

    def selected(self) -> Selected:
        """The best of what may be, with as many atoms as asked for or as many as it takes."""
        if self.rule.k is not None:
            return self.at(self.rule.k)
        if self.error is not None:
            return self._searched(self.error)
        if None not in self.kinds:
            return self._of_likeliest_kind()._searched()
        return self._density_of_open_size() if self.density else self._mean_of_open_size()

    def at(self, k: int) -> Selected:
        """The best with k atoms; for a density, the kind is the one that explains other rows."""
        able = self._affordable(k)
        fit = replace(able, kinds=(able._likeliest(k),)) if self.density else able
        try:
            return AtomsOf(fit, k).best()
        except TooWideError:
            if None not in self.kinds:
                raise
            return AtomsOf(replace(self, kinds=(None,)), k).best()

    def _affordable(self, k: int) -> AtomFit:
        """Without covariances where so many do not fit memory, unless they were asked for."""
        d = self.criterion.task.cloud.summary.dimension
        if self.kinds == ("full",) or full_fits(k, d):
            return self
        return replace(self, kinds=tuple(kind for kind in self.kinds if kind != "full"))

    def _likeliest(self, k: int) -> SpreadKind | None:
        """The kind of spread whose density of some rows is the likeliest at others."""
        if len(self.kinds) == 1 or every_point_is_a_center(self.task_of(k)):
            return self.kinds[0]
        criterion = held_out(self.criterion, k)
        few = criterion.task.cloud.summary.count <= k  # all of them would be centres
        trial = replace(self, criterion=self.criterion if few else criterion, weights=None, steps=0)
        return AtomsOf(trial, k).best().path.atoms.kind

    def _mean_of_open_size(self) -> Selected:
        """Points, as many as their own rule asks for, unless they end above the error."""
        points = self._points.honest()
        if self._enough(points):
            return points
        try:
            atoms = self._spread_only()._searched()
        except TooWideError:
            return points
        rival = Entry.of(self.criterion, atoms)
        return atoms if self.criterion.prefers(rival, Entry.of(self.criterion, points)) else points

    def _density_of_open_size(self) -> Selected:
        """Atoms as many as reach the error, unless points explain other rows better."""
        if every_point_is_a_center(self.criterion.task):
            return self._points.honest()
        criterion = held_out(self.criterion, self.rule.limit)
        trial = replace(self, criterion=criterion, weights=None, steps=0)
        try:
            atoms = self._spread_only()._of_likeliest_kind()._searched()
            kind = atoms.path.atoms.kind
            rival = AtomsOf(replace(trial, kinds=(kind,)), atoms.path.k).best()
        except TooWideError:
            return self._points.honest()
        points = trial._points.by(self.rule)
        preferred = criterion.prefers(Entry.of(criterion, rival), Entry.of(criterion, points))
        return atoms if preferred else self._points.honest()

    def _of_likeliest_kind(self) -> AtomFit:
        """For a density, with the kind of spread that is the likeliest at a moderate size."""
        if not self.density:
            return self
        return replace(self, kinds=(self._likeliest(min(PROBE_ATOMS, self.rule.limit)),))

    def _spread_only(self) -> AtomFit:
        return replace(self, kinds=tuple(kind for kind in self.kinds if kind is not None))

    def task_of(self, k: int) -> Task:
        """The task of exactly k centres."""
        return replace(self.criterion.task, limit=k, fixed=True)

    @property
    def density(self) -> bool:
        """Whether the likelihood decides."""
        return self.criterion.task.density

    @property
    def _points(self) -> PointFit:
        """Centres without spreads, as many as their own rule asks for."""
        return PointFit(self.criterion, "auto", self.rule, self.steps, self.gauge, self.progress)

    def _enough(self, selected: Selected) -> bool:
        """Whether the error, with two standard errors to spare, is low enough."""
        candidate = Candidate.on(selected.path.factor, selected.weights)
        return self.gauge.reaches(candidate, ERROR)

    def _searched(self, error: float = ERROR) -> Selected:
        """As few atoms as reach the error, or the most that may be."""
        return searched(self._tried, self.gauge, error, self.rule.limit, self.criterion)

    def _tried(self, k: int, last: bool) -> Selected | None:
        """The best with k atoms; None where their cells are too wide and more atoms may follow."""
        try:
            return self.at(k)
        except TooWideError:
            if last:
                raise
            return None


class AtomsOf:
    """The candidates of one number of atoms."""

    def __init__(self, fit: AtomFit, k: int) -> None:
        self._fit = fit
        self._k = k
        self._rule = Stopping(k, k, 0.0, 1)
        self._criterion = replace(fit.criterion, task=fit.task_of(k))

    def best(self) -> Selected:
        """The kind of spread that serves best."""
        if not self._auto or every_point_is_a_center(self._criterion.task):
            return self._of_selection()
        if None not in self._fit.kinds:
            return self._best_atoms(None)
        points = refined_points(self._points, self._criterion, self._fit.steps, polish=True)
        try:
            return self._best_atoms(points)
        except TooWideError:
            return points

    def _best_atoms(self, found: Selected | None) -> Selected:
        """The best of the kinds of spread, or what was found before if that is better."""
        kinds = self._fit.kinds
        if "scalar" in kinds:
            found = self._better(self._scalar, found)
        if "full" in kinds and (kinds == ("full",) or self._full_is_worth_it()):
            found = self._better(self._full(), found)
        assert found is not None
        return found

    @property
    def _auto(self) -> bool:
        return isinstance(self._fit.which, str) and self._fit.which == "auto"

    def _of_selection(self) -> Selected:
        """The cells of the centres of one selection."""
        points = select(self._fit.which, self._criterion, self._rule, self._fit.progress)
        kind = self._fit.kinds[0]
        if kind is None:
            return refined_points(points, self._criterion, self._fit.steps, polish=self._auto)
        atoms = cell_atoms(self._criterion.task.cloud, points.path.centers, kind)
        return self._refined(self._solved(atoms, points.path.source.name), self._fit.steps)

    def _better(self, rival: Selected, best: Selected | None) -> Selected:
        if best is None:
            return rival
        criterion = self._criterion
        preferred = criterion.prefers(Entry.of(criterion, rival), Entry.of(criterion, best))
        return rival if preferred else best

    @lazy
    def _contest(self) -> Contest:
        if None in self._fit.kinds or self._small:
            return held(self._criterion, self._rule, self._fit.progress)
        return Contest(self._criterion, self._rule, self._fit.progress)

    @lazy
    def _points(self) -> Selected:
        """The best points, before they are moved."""
        return self._contest.winner()

    @property
    def _small(self) -> bool:
        """Whether steps cost little, and the error is what counts."""
        task = self._criterion.task
        few = task.cloud.summary.size <= MAX_ROWS_ALL_CANDIDATES and self._k <= MAX_K_SOME_POLISH
        return few and not task.density

    @lazy
    def _scalar(self) -> Selected:
        """Atoms of the cells of centroids or, on a small sample, of the best points; moved.

        The better of the two before any step is nearly always the better one after it.
        """
        task = self._criterion.task
        start = self._solved(
            cell_atoms(task.cloud, self._contest.centroid_points(0), "scalar"), "kmeans"
        )
        if self._small:
            points = self._points.path
            atoms = trimmed_atoms(task, points.centers, self._fit.weights)
            start = self._better(self._solved(atoms, points.source.name), start)
        return self._refined(start, self._steps)

    def _full(self) -> Selected:
        """Atoms of the cells of centroids, moved where that is cheap."""
        cloud = self._criterion.task.cloud
        atoms = cell_atoms(cloud, self._contest.centroid_points(0), "full")
        affordable = len(atoms) ** 2 * atoms.dimension**3 <= MAX_FULL_ALGEBRA
        steps = self._steps if affordable else self._fit.steps
        return self._refined(self._solved(atoms, "kmeans"), steps)

    @property
    def _steps(self) -> int:
        if not self._small:
            return self._fit.steps
        return max(self._fit.steps, POLISH_ATOMS if self._k <= MAX_K_POLISH else POLISH_MANY_ATOMS)

    def _full_is_worth_it(self) -> bool:
        """Whether so few full atoms as store the same numbers are better than scalar ones."""
        d = self._criterion.task.cloud.summary.dimension
        fewer = 2 * self._k // (d + 1)  # k(d + 2) numbers at (d + 1)(d + 2)/2 each
        points = 0.5 * self._k * (d + 2)  # of d + 1 numbers each, that store as many
        n = self._criterion.task.cloud.summary.size
        if d < LEAST_FULL_DIMENSION or fewer < 1 or points > MAX_FULL_SHARE * n:
            return False
        rival = AtomsOf(replace(self._fit, kinds=("full",)), fewer).best()
        return self._better(rival, self._scalar) is rival

    def _solved(self, atoms: Atoms, name: str) -> Selected:
        reason: StopReason = "distinct" if len(atoms) < self._k else "fixed"
        path = path_of(self._criterion.task, atoms, name, reason)
        self._fit.progress.advance(path.k, self._fit.rule.limit)
        return Selected(path, self._criterion.weights(path.factor, path.k))

    def _refined(self, start: Selected, steps: int) -> Selected:
        """Atoms after so many steps in centres and spreads; never worse than before."""
        if not steps:
            return start
        end = self._descended(start.path.atoms, steps)
        if end is None:
            return start
        factor = atom_refinement.by_share(end)
        alpha = self._criterion.weights(factor, factor.size)
        if not factor.objective(alpha) < start.path.factor.objective(start.weights):
            return start
        name = start.path.source.name.removesuffix("+refined") + "+refined"
        source = OffData(name, self._criterion.task.cloud, factor.centers, factor.kappa)
        return Selected(Path(factor.size, start.path.reason, factor, None, source), alpha)

    def _descended(self, atoms: Atoms, steps: int) -> atom_refinement.Moved | None:
        task = self._criterion.task
        solve = free_or_exact(self._criterion)
        rng = rows_to_refine_on(task)
        if atoms.kind == "full":
            return full_refinement.refine(
                task.cloud, task.radial, solve, task.engine, atoms, steps, rng
            )
        return atom_refinement.refine(
            task.cloud, task.radial, solve, task.engine, atoms, steps, rng
        )
