"""What a page says in words: settings, versions, the command that makes it again."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata

from kernelmean import __version__
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood
from kernelmean.pictures.embedding import Collection
from kernelmean.pictures.html import page
from kernelmean.pictures.on_domain import inner_of

# packages whose versions can change a result
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
# what a page says of the reason for which a fit stopped
REASONS = {
    "tol": "more centres would change too little (tol)",
    "k_max": "the most centres allowed (k_max)",
    "rank": "the centres span all that rounding can tell apart (rank)",
    "distinct": "every distinct point is a centre",
    "fixed": "the number asked for",
    "error": "the estimated error is small enough (error)",
    "likelihood": "held-out rows ask for no more atoms (likelihood)",
    "derived": "it is a part of another density (derived)",
}
# what a page says of the spread of centres
SPREADS = {
    None: "none, centres are points",
    "scalar": "scalar, a variance for each centre",
    "full": "full, a covariance for each centre",
}


def number(value: float) -> str:
    """A number for people: whole numbers in groups of three, others to four digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", "\u202f")
    return f"{value:.4g}"


def percent(share: float) -> str:
    """A share for people: 8.7 %, 0.03 %, and what is there is not said to be nothing."""
    if 0.0 < abs(share) < 1e-5:
        return "< 0.001 %"
    return f"{100.0 * share:.3g} %"


def percents(shares: Iterable[float], decimals: int = 1) -> list[str]:
    """Shares of one column of a table, with as many decimals each."""
    least = 0.5 * 10.0 ** -(decimals + 2)  # what is rounded to nothing
    return [
        f"< {10.0**-decimals:.{decimals}f} %"
        if 0.0 < share < least
        else f"{100.0 * share:.{decimals}f} %"
        for share in shares
    ]


def fitted(mean: SparseKernelMean | DomainMean) -> dict[str, str]:
    """The settings that a mean remembers; a density by likelihood solves for no weights.

    Of a mean on a domain they are those of the sum over centres inside.
    """
    inner = inner_of(mean)
    assert isinstance(inner, SparseKernelMean)
    scale = "none" if inner.scale is None else f"{inner.dimension} × {inner.dimension} matrix"
    weights = {None: "unconstrained", "simplex": "nonnegative, of sum one"}.get(
        inner.constraint, str(inner.constraint)
    )
    by_likelihood = is_by_likelihood(inner)
    return {
        "kernel": str(inner.kernel),
        "space": {"rkhs": "RKHS", "l2": "L2 (densities)"}[inner.space],
        "scale": scale,
        "selection": str(inner.selection),
        "spread": SPREADS[inner.expansion.atoms.kind],
        "weights": weights,
        **({} if by_likelihood else {"solver": str(inner.solver)}),
        "stopped by": REASONS[inner.stop_reason],
        **({} if by_likelihood else _copied(inner, mean.estimated_error)),
        "engine": inner.engine if isinstance(inner.engine, str) else str(inner.engine.name),
    }


def _copied(inner: SparseKernelMean, estimated_error: float | None) -> dict[str, str]:
    """What is known of a copy of a kernel mean."""
    error = "not known" if estimated_error is None else percent(estimated_error)
    jitter = f"{inner.jitter:.1e}" if inner.jitter else "none"
    return {"estimated relative error": error, "jitter": jitter}


def sample_figures(samples: Collection, i: int) -> list[str]:
    """Points, centres and error of one of the samples that were compared."""
    error = "not measured" if samples.errors is None else f"{samples.errors[i]:.2g}"
    return [number(samples.sizes[i]), number(samples.counts[i]), error]


def settings_section(known: Mapping[str, object], given: Mapping[str, object] | None) -> str:
    """A table of settings: those the result remembers, then those of the caller."""
    rows = list({**known, **(given or {})}.items())
    return page.section(
        "settings", "Settings", page.table("Settings of this run", ("setting", "value"), rows)
    )


def reproduce_section(command: str | Sequence[str], *, drawn: bool = True) -> str:
    """The exact command, to be copied, and the versions that ran it."""
    line = command if isinstance(command, str) else shlex.join(command)
    shown = (
        '<div class="command"><pre tabindex="0" aria-label="Command">'
        f'<code id="command">{page.unbroken(line)}</code></pre>'
        '<button type="button" data-copies="command">Copy</button></div>'
        if line
        else "<p>Made from Python, without a command.</p>"
    )
    software = versions() | ({"Plotly.js": page.PLOTLY_VERSION} if drawn else {})
    table = page.table("Versions", ("software", "version"), list(software.items()))
    return page.section("reproduce", "To make this again", shown, table)


def versions() -> dict[str, str]:
    """What ran: this package, Python, and the packages that count."""
    found = {
        "kernelmean": __version__,
        "Python": platform.python_version(),
        "system": platform.platform(terse=True),
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
