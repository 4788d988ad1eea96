"""Class proportions (Table 3, Figure 5): MNIST digits 0–4, full and sparse means, blind guesses."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import kernelmean as km
from kernelmean.proportions import means, solving
from paper import proportions_rows
from paper.experiment import Claim, Desk, Experiment, Values
from paper.mixtures import (
    CLASSES,
    OMEGAS,
    TESTS,
    Classes,
    Half,
    Pool,
    Task,
    bounds_for,
    halves,
    mean_of,
)

TIMED = (0.1, 1.6, 3.1)
METHODS = {"full": None, "cg": "cg", "cholesky": "cholesky"}
EVALUATIONS = {"full": 20, "cg": 200, "cholesky": 200}
# Kernel means of the images themselves, as in the paper.
BEST: dict[str, dict[str, Any]] = {
    which: {"solver": which, "representation": "raw", "random_state": 0}
    for which in ("qp", "moments")
}


def mnist(desk: Desk) -> tuple[Half, Half]:
    """The digits in two halves, from the folder of the data."""
    digits = desk.source.mnist()
    return halves(digits.X, digits.y, digits.X_test, digits.y_test)


def classes_of(half: Half, method: str, seed: int) -> Classes:
    """The kernel means of the classes of one half."""
    return Classes([mean_of(X, METHODS[method], seed) for X in half.groups])


def task(classes: Classes, half: Half, rows: np.ndarray, method: str, seed: int) -> Task:
    """One mixture, given by its rows of the pool, with the class means."""
    return Task(classes, mean_of(half.pool[rows], METHODS[method], seed))


def tests(half: Half, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The test mixtures of the i-th ω, the same for every method."""
    return [half.mixture(OMEGAS[i], np.random.default_rng([1, i, r])) for r in range(TESTS)]


def training(half: Half, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The mixture on which the bandwidth of the i-th ω is chosen."""
    return half.mixture(OMEGAS[i], np.random.default_rng([0, i]))


def times(desk: Desk) -> Values:
    """Seconds for the bandwidth and for the proportions, everything from the images on.

    It is measured for some ω.
    """
    first, second = mnist(desk)
    bounds, found = bounds_for(first.X), {}
    for method in METHODS:  # compiles
        small = Half(first.X[:500], first.y[:500], first.pool, first.labels)
        task(classes_of(small, method, 0), small, np.arange(100), method, 0).proportions(5.0)
    for method in METHODS:
        spent = []
        for omega in TIMED:
            i = int(np.argmin(np.abs(OMEGAS - omega)))
            start = time.perf_counter()
            rows, truth = training(first, i)
            searched = task(classes_of(first, method, i), first, rows, method, i)
            sigma, count = searched.best_bandwidth(truth, bounds, EVALUATIONS[method])
            middle = time.perf_counter()
            del searched
            task(
                classes_of(second, method, i), second, tests(second, i)[0][0], method, i
            ).proportions(sigma)
            spent.append(
                {
                    "omega": omega,
                    "sigma_s": middle - start,
                    "pi_s": time.perf_counter() - middle,
                    "evaluations": count,
                }
            )
        found[method] = spent
    sizes = {"classes": [len(X) for X in second.groups], "mixture": second.largest}
    return {"sizes": sizes, "bounds": bounds, "spent": found}


def errors(method: str, desk: Desk) -> Values:
    """ℓ1 errors for every ω; the bandwidth is chosen on one mixture of the first half."""
    return curve(*mnist(desk), method, range(len(OMEGAS)))


def curve(first: Half, second: Half, method: str, places: Sequence[int]) -> Values:
    """Bandwidth, evaluations and errors of the test mixtures, for the ω at these places."""
    bounds, fitted, tested = (
        bounds_for(first.X),
        classes_of(first, method, 0),
        classes_of(second, method, 1),
    )
    pool = Pool(tested, second.pool) if method == "full" else None

    def estimated(sigma: float, drawn: Sequence[np.ndarray], seed: int) -> Sequence[np.ndarray]:
        if pool is not None:
            return pool.proportions(sigma, drawn)
        return [task(tested, second, rows, method, seed).proportions(sigma) for rows in drawn]

    found: Values = {"sigma": [], "evaluations": [], "errors": []}
    for i in places:
        rows, truth = training(first, i)
        sigma, count = task(fitted, first, rows, method, i).best_bandwidth(
            truth, bounds, EVALUATIONS[method]
        )
        drawn = tests(second, i)
        estimates = estimated(sigma, [rows for rows, _ in drawn], i)
        found["sigma"].append(round(sigma, 4))
        found["evaluations"].append(count)
        found["errors"].append(
            [
                round(float(np.abs(pi - truth).sum()), 5)
                for pi, (_, truth) in zip(estimates, drawn, strict=True)
            ]
        )
    return found


def blind(desk: Desk) -> Values:
    """Proportions drawn uniformly, without a look at the sample."""
    _, second = mnist(desk)
    rng, guess = np.random.default_rng(0), np.ones(CLASSES)
    found = [
        [float(np.abs(rng.dirichlet(guess) - truth).sum()) for _, truth in tests(second, i)]
        for i in range(len(OMEGAS))
    ]
    return {"errors": found}


def best(which: str, desk: Desk) -> Values:
    """:class:`kernelmean.ClassProportions` with sparse means and with full ones.

    The bandwidth is found on one half, the test is on the other.
    """
    first, second = mnist(desk)
    options = BEST[which]
    thin = np.concatenate(
        [np.flatnonzero(first.y == c)[: proportions_rows.THINNED] for c in range(CLASSES)]
    )
    found: Values = {}
    for kind, sparse, seen in (("sparse", True, slice(None)), ("full", False, thin)):
        start = time.perf_counter()
        sigma = (
            km.ClassProportions(**options, sparse=sparse)
            .fit(first.X[seen], first.y[seen])
            .search_.best
        )
        middle = time.perf_counter()
        model = km.ClassProportions(**options, sparse=sparse, bandwidth=sigma).fit(
            second.X, second.y
        )
        spent = {"sigma_s": middle - start, "fit_s": time.perf_counter() - middle}
        start = time.perf_counter()
        model.predict(second.pool[tests(second, 0)[0][0]])
        spent["predict_s"] = time.perf_counter() - start
        k = [mean.k for mean in model.means_]
        found[kind] = {
            "sigma": sigma,
            "k": k,
            **spent,
            "errors": tested_at_once(model, second, range(len(OMEGAS))),
        }
    return found


def tested_at_once(
    model: km.ClassProportions, half: Half, places: Sequence[int]
) -> list[list[float]]:
    """ℓ1 errors of all test mixtures: z_c at every point of the pool once, then averages."""
    F = means.values(model.means_, model._represented(half.pool).array())
    system, solver = model._fitted.system, model.solver_
    found = []
    for i in places:
        drawn = tests(half, i)
        pi = solving.solve(system, np.stack([F[rows].mean(axis=0) for rows, _ in drawn]), solver)
        found.append(
            [
                round(float(np.abs(p - truth).sum()), 5)
                for p, (_, truth) in zip(pi, drawn, strict=True)
            ]
        )
    return found


def claims() -> list[Claim]:
    """On scikit-learn's digits 0–4."""
    X, y = load_digits(return_X_y=True)
    X, rng = X / 16.0, np.random.default_rng(0)
    order = rng.permutation(len(y))
    learn, pool = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
    first, second = halves(X[learn], y[learn], X[pool], y[pool])
    places = range(0, len(OMEGAS), 6)
    found = {
        method: proportions_rows.average(curve(first, second, method, places)) for method in METHODS
    }
    guess = np.ones(CLASSES)
    guessed = float(
        np.mean(
            [
                np.abs(rng.dirichlet(guess) - truth).sum()
                for i in places
                for _, truth in tests(second, i)
            ]
        )
    )
    ours = {}
    for kind in (True, False):
        options = {**BEST["moments"], "sparse": kind}
        model = km.ClassProportions(**options).fit(first.X, first.y)
        fitted = km.ClassProportions(**options, bandwidth=model.search_.best)
        ours[kind] = float(np.mean(tested_at_once(fitted.fit(second.X, second.y), second, places)))
    worst = max(found.values())
    return [
        Claim(
            "every estimate is far better than blind",
            worst < 0.4 * guessed,
            f"ℓ1 {worst:.3f} against {guessed:.3f}",
        ),
        Claim(
            "sparse with Cholesky is near full", found["cholesky"] < 1.5 * found["full"], f"{found}"
        ),
        Claim(
            "with best settings sparse is within 10 % of full",
            ours[True] < 1.1 * ours[False],
            f"{ours[True]:.4f}, {ours[False]:.4f}",
        ),
    ]


def part(function: Callable[[str, Desk], Values], name: str) -> Callable[[Desk], Values]:
    """A computation for one method."""
    return partial(function, name)


EXPERIMENT = Experiment(
    name="proportions",
    title="Class proportions (Table 3, Figure 5)",
    about=(
        "MNIST digits 0–4, ω = .1, .2, …, 3.1. Training images make the class means, test images "
        "the mixtures, both in random halves: one for the "
        "bandwidth, one to test. As in the paper: one mixture per ω on which a bounded scalar "
        "search (at most 200 bandwidths with sparse means, 20 "
        "with full ones) finds σ; k-centre with k = 3√n for every class and for the mixture; "
        "weights by conjugate gradients with MATLAB's defaults, "
        "and by Cholesky beside it; the linear system, then projection. The paper does not say "
        "the bounds of its search (here a tenth of and twice the "
        "median distance), nor the size of its mixtures (here as many as can be drawn without "
        "repetition for any proportions). Errors are "
        f"measured against the proportions in the mixture, on {TESTS} mixtures per ω. Times are "
        "for three ω, each from the images on. Best settings: `ClassProportions`, "
        "whose one bandwidth for all ω is searched on the first half (with full means on "
        f"{proportions_rows.THINNED} images per class), by quadratic program and by moment "
        "equations."
    ),
    parts={
        "times": times,
        **{f"errors_{method}": part(errors, method) for method in METHODS},
        "blind": blind,
        **{f"best_{which}": part(best, which) for which in BEST},
    },
    rows=proportions_rows.rows,
    draw=proportions_rows.draw,
    claims=claims,
)
