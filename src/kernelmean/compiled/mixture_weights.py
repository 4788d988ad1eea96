"""The posterior of the weights of a mixture, by expectation propagation."""

from __future__ import annotations

import numpy as np

from kernelmean.compiled.compiling import EXACT_MATH, entry, part


@part(EXACT_MATH)
def _taken_out(likelihood, gamma, site, cavity, q):
    """δ = γ − β, and q_c ∝ ℓ_c δ_c that sum to one; False where the row cannot be taken out."""
    mass = 0.0
    least = np.inf
    for c in range(len(gamma)):
        cavity[c] = gamma[c] - site[c]
        least = min(least, cavity[c])
        q[c] = likelihood[c] * cavity[c]
        mass += q[c]
    for c in range(len(gamma)):
        q[c] /= mass
    return least > 0.0 and mass > 0.0


@part(EXACT_MATH)
def _matched_size(cavity, q, total):
    """Σγ of the Dirichlet density with the mean and the Σ Var π_c of Σ_c q_c Dir(δ + e_c).

    E π = (δ + q)/(s + 1) and E π² = (δ + 1)(δ + 2q)/((s + 1)(s + 2)) with s = Σδ; a Dirichlet
    density of size S has Σ(E π − E π²) = S·Σ(E π² − (E π)²).
    """
    above = 0.0
    below = 0.0
    for c in range(len(q)):
        mean = (cavity[c] + q[c]) / (total + 1.0)
        square = (cavity[c] + 1.0) * (cavity[c] + 2.0 * q[c]) / ((total + 1.0) * (total + 2.0))
        above += mean - square
        below += square - mean * mean
    return above / below


@entry(EXACT_MATH)
def propagate(likelihoods, prior, rounds, tol):
    """(C,) exponents γ of the Dirichlet density nearest to Π_c π_c^(α_c−1) Π_i Σ_c π_c ℓ_ic.

    Each row's factor is stood for by Π_c π_c^β_ic. In turn every row is taken out, put back as it
    is, which gives the mixture Σ_c q_c Dir(δ + e_c), and replaced so that the Dirichlet density of
    all has that mixture's mean and spread. Rows that no class explains say nothing.
    """
    n, C = likelihoods.shape
    sites = np.zeros((n, C))
    gamma = prior.copy()
    cavity = np.empty(C)
    q = np.empty(C)
    for _ in range(rounds):
        moved = 0.0
        for i in range(n):
            if not _taken_out(likelihoods[i], gamma, sites[i], cavity, q):
                continue
            total = cavity.sum()
            size = _matched_size(cavity, q, total)
            for c in range(C):
                gamma[c] = size * (cavity[c] + q[c]) / (total + 1.0)
                site = gamma[c] - cavity[c]
                moved += abs(site - sites[i, c])
                sites[i, c] = site
        if moved <= tol * n:
            break
    return gamma
