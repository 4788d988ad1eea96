"""The same loops in plain torch: what a device without Triton runs, and what tests the host's logic
on any machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernelmean.engines.gpu.arrays import PADDING, Rest, Tensor
from kernelmean.engines.gpu.plan import Plan
from kernelmean.engines.gpu.radial import FUNCTIONS, source
from kernelmean.kernels.radials import Formula

PAIRS = 1 << 20  # distances at a time
PRODUCTS = 1 << 24  # coordinates at a time that matrices of atoms are multiplied by
LOWERED = PADDING
AT_ONCE = 32  # float32 squares added before their sum is


def kernel_sums(
    plan: Plan,
    X: Tensor,
    n: int,
    W: Tensor,
    Q: Tensor,
    shift: Tensor | None = None,
    rest: Rest | None = None,
) -> Tensor:
    """(c, q): Σ_j W_cj g, or Σ_j exp(W_cj + log g − shift_i) where a shift is given; ``rest``: see
    :func:`squared_distances`.
    """
    return tracked_sums(plan, X, n, W, Q, shift, rest)[0]


def tracked_sums(
    plan: Plan,
    X: Tensor,
    n: int,
    W: Tensor,
    Q: Tensor,
    shift: Tensor | None = None,
    rest: Rest | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`kernel_sums`, and with it (2, c, q): Σ|term| and Σ|term| r²."""
    value, log_value = _functions(plan)
    total = torch.zeros((len(W), Q.shape[1]), dtype=torch.float64, device=X.device)
    sizes = torch.zeros((2, len(W), Q.shape[1]), dtype=torch.float64, device=X.device)
    for cols in _pieces(n, Q.shape[1], plan):
        r2 = _stretched(plan, Q, X, cols, rest)
        w = W[:, None, cols]
        terms = (
            w * value(r2) if shift is None else torch.exp(w + (log_value(r2) - shift[:, None]))
        ).double()
        total += terms.sum(dim=2)
        sizes += torch.stack([terms.abs().sum(dim=2), (terms.abs() * r2).sum(dim=2)])
    return total, sizes


def kernel_pulls(
    plan: Plan, X: Tensor, n: int, w: Tensor, Q: Tensor, shift: Tensor | None = None
) -> Tensor:
    """(d, q): the terms of kernel_sums times x_j − q_i."""
    value, log_value = _functions(plan)
    pulls = torch.zeros((len(X), Q.shape[1]), dtype=torch.float64, device=X.device)
    for cols in _pieces(n, Q.shape[1], plan):
        r2 = _stretched(plan, Q, X, cols)
        terms = (
            w[0, cols] * value(r2)
            if shift is None
            else torch.exp(w[0, cols] + (log_value(r2) - shift[:, None]))
        )
        pulls += torch.stack(
            [(terms * (x[None, cols] - q[:, None])).sum(dim=1) for x, q in zip(X, Q, strict=True)]
        )
    return pulls


def dot_sums(
    plan: Plan, X: Tensor, n: int, W: Tensor, Q: Tensor, norms: tuple[Tensor, Tensor]
) -> Tensor:
    """(1, q): Σ_j w_j g by matrix products, for float32 in high dimension."""
    value, _ = _functions(plan)
    total = torch.zeros((len(W), Q.shape[1]), dtype=torch.float64, device=X.device)
    for cols in _pieces(n, Q.shape[1]):
        r2 = norms[1][:, None] + norms[0][None, cols] - 2.0 * (Q.T @ X[:, cols])
        r2 = _shortened(plan, r2.clamp(min=0.0), cols)
        total += W[:, cols].double() @ value(r2).T.double()
    return total


def log_peaks(plan: Plan, X: Tensor, n: int, log_w: Tensor, Q: Tensor) -> Tensor:
    """(q,): max_j log w_j + log g."""
    _, log_value = _functions(plan)
    top = torch.full((Q.shape[1],), -torch.inf, dtype=X.dtype, device=X.device)
    for cols in _pieces(n, Q.shape[1], plan):
        terms = log_value(_stretched(plan, Q, X, cols)) + log_w[0, cols]
        top = torch.maximum(top, terms.amax(dim=1))
    return top


def fourier_sums(X: Tensor, n: int, w: Tensor, frequencies: Tensor, origin: Tensor) -> Tensor:
    """(2, M): Σ_j w_j (cos, sin)(ω·(x_j − origin)) in float64."""
    total = torch.zeros((2, frequencies.shape[1]), dtype=torch.float64, device=X.device)
    for cols in _pieces(n, frequencies.shape[1]):
        phase = frequencies.T @ (X[:, cols] - origin[:, None])
        total += torch.stack([torch.cos(phase) @ w[0, cols], torch.sin(phase) @ w[0, cols]])
    return total


def lower(
    X: Tensor, centers: Tensor, near: Tensor, labels: Tensor | None = None, first_label: int = 0
) -> Tensor:
    """near ← min(near, ‖x − c‖²) over the rows of ``centers``, with their labels; the largest of
    each block.
    """
    for a, center in enumerate(centers, start=first_label):
        r2 = squared_distances(center[:, None], X)[0]
        if labels is not None:
            labels[r2 < near] = a
        torch.minimum(near, r2, out=near)
    return near.reshape(-1, LOWERED).amax(dim=1)


def pick(
    P: Tensor, near: Tensor, rows: Tensor, bar: tuple[Tensor, Tensor], most: int
) -> tuple[Tensor, Tensor]:
    """Rows and squared radii of the next centres among the pool; ``near`` is lowered by them."""
    picked: list[int] = []
    squared: list[float] = []
    bound = float(bar[0])
    rival = int(bar[1])
    while len(picked) < most:
        far = float(near.max())
        j = int(torch.nonzero(near == far)[0])
        row = int(rows[j])
        if far <= 0.0 or far < bound or (far == bound and row >= rival):
            break
        picked.append(row)
        squared.append(far)
        torch.minimum(near, squared_distances(P[:, j : j + 1], P)[0], out=near)
    return torch.tensor(picked, dtype=torch.int64, device=P.device), torch.tensor(
        squared, dtype=torch.float64, device=P.device
    )


def squared_distances(Q: Tensor, X: Tensor, rest: Rest | None = None) -> Tensor:
    """(q, n) by direct differences, added in coordinate order; from coordinates in two parts where
    there is a ``rest``.
    """
    if rest is not None:
        return _careful_distances(Q, X, rest)
    if (
        X.dtype == torch.float32 and len(X) > AT_ONCE
    ):  # a thousand squares round no worse than a few
        return sum(
            squared_distances(Q[t : t + AT_ONCE], X[t : t + AT_ONCE])
            for t in range(0, len(X), AT_ONCE)
        )
    total = torch.zeros((Q.shape[1], X.shape[1]), dtype=X.dtype, device=X.device)
    for q, x in zip(Q, X, strict=True):
        z = x[None, :] - q[:, None]
        total += z * z
    return total


def _careful_distances(Q: Tensor, X: Tensor, rest: Rest) -> Tensor:
    """Σ(z + e)² = Σz² + Σe(2z + e): the first sum has no rounding where it is below 32, the second
    is small.
    """
    total = torch.zeros((Q.shape[1], X.shape[1]), dtype=X.dtype, device=X.device)
    small = torch.zeros_like(total)
    for q, x, q_rest, x_rest in zip(Q, X, rest[1], rest[0], strict=True):
        z = x[None, :] - q[:, None]
        e = x_rest[None, :] - q_rest[:, None]
        total += z * z
        small += e * (2.0 * z + e)
    return (total + small).clamp(min=0.0)


def _stretched(plan: Plan, Q: Tensor, X: Tensor, cols: slice, rest: Rest | None = None) -> Tensor:
    """(q, n): squared distances of queries and some points, in which atoms have their factors."""
    factors = plan.factors
    if factors is not None and factors.full:
        return full_distances(Q, X[:, cols], factors.values[cols])
    if factors is not None and factors.mirrored:
        return mirrored_distances(Q, X[:, cols], factors.values[cols])
    some = None if rest is None else (rest[0][:, cols], rest[1])
    return _shortened(plan, squared_distances(Q, X[:, cols], some), cols)


def _shortened(plan: Plan, r2: Tensor, cols: slice) -> Tensor:
    """Squared distances (q, n) times the numbers F² of atoms, if there are any."""
    if plan.factors is None:
        return r2
    numbers = plan.factors.values
    return r2 * (numbers[:, None] if plan.factors.of_queries else numbers[cols])


def mirrored_distances(Q: Tensor, X: Tensor, F: Tensor) -> Tensor:
    """(q, n): Σ(F_j q_i + x_j)² for float32 points x_j = −F_j c_j; float64 holds the products, so
    that sums round as those of a fused multiply-add do.
    """
    total = torch.zeros((Q.shape[1], X.shape[1]), dtype=X.dtype, device=X.device)
    for q, x in zip(Q.double(), X.double(), strict=True):
        z = (F.double() * q[:, None] + x).to(X.dtype)
        total += z * z
    return total


def full_distances(Q: Tensor, X: Tensor, F: Tensor) -> Tensor:
    """(q, n): ‖F_j(q_i − x_j)‖² for matrices F (n, d, d), by direct differences."""
    offsets = Q.T[None, :, :] - X.T[:, None, :]
    y = torch.bmm(offsets, F.mT)
    return (y * y).sum(dim=2).T


def values(plan: Plan, r2: Tensor) -> Tensor:
    """g of squared distances."""
    return _functions(plan)[0](r2)


def _pieces(n: int, q: int, plan: Plan | None = None) -> Iterator[slice]:
    """Some points at a time."""
    size = max(1, PAIRS // q)
    if plan is not None and plan.factors is not None and plan.factors.full:
        size = max(1, PRODUCTS // (q * plan.factors.values.shape[2]))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _functions(plan: Plan) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """g and log g of squared distances."""
    if not isinstance(plan.function, Formula):
        return lambda r2: torch.exp(_table_log(plan, r2)), lambda r2: _table_log(plan, r2)
    code = source(plan.function)
    value = _compiled(code.value, "value")
    log_value = _compiled(code.log_value, "log_value")
    return lambda r2: value(plan.rate * r2, plan.shape), lambda r2: log_value(
        plan.rate * r2, plan.shape
    )


@functools.lru_cache(maxsize=512)
def _compiled(text: str, name: str) -> Callable[[Tensor, float], Tensor]:
    names: dict[str, Any] = {function: getattr(torch, function, None) for function in FUNCTIONS}
    names |= {"fabs": torch.abs, "where": torch.where, "zeros_like": torch.zeros_like}
    exec(text, names)  # noqa: S102
    compiled: Callable[[Tensor, float], Tensor] = names[name]
    return compiled


def _table_log(plan: Plan, r2: Tensor) -> Tensor:
    """A quintic in the fraction of a cell of u = log(1 + √s); beyond the last cell a line."""
    assert plan.table is not None
    x = torch.log1p(torch.sqrt(plan.rate * r2)) * plan.shape
    inside = x.clamp(max=float(plan.cells))
    cell = inside.long().clamp(max=plan.cells - 1)
    f = inside - cell
    c = plan.table[cell]
    value = c[..., 5]
    for power in (4, 3, 2, 1, 0):
        value = value * f + c[..., power]
    slope = sum(power * c[..., power] for power in range(1, 6))
    return value + torch.where(x > inside, (x - inside) * slope, torch.zeros_like(x))
