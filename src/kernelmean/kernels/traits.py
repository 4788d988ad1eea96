"""What is known of a kernel beyond its values, as data that the kernel declares.

Engines and fits have faster or safer ways for functions with certain properties. They never look
at which kernel it is: they ask for the property. A new kernel that declares a trait takes the same
ways as the kernels of the library; one that declares nothing is computed by the general ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RadialTraits:
    """Properties of a radial function g(r²) = factor(s) · φ(s), s = rate · r².

    Each is a claim about the mathematics, and ``tests/kernels/test_traits.py`` checks it. False
    says that nothing is claimed. The first four describe φ, so they stay true when the factor is
    exchanged; the last two describe g.

    Parameters
    ----------
    logarithmic : bool
        log g is computed without computing g first, so it is right where g underflows. Then a sum
        that is lost to underflow is taken again by logarithms (``mean.sums``), the gradient of
        log f and the step of mean shift are quotients of such sums (``mean.expansion``,
        ``mean.climbing``).
    exponential : bool
        φ = exp(−s). Then a sum over a far block factorises into powers of two of few digits, or
        into moments (``engines.cpu.gaussian``), and a device takes points in units in which
        g = 2^(−r²).
    power : bool
        φ = (1 + s)^(−shape). Then the logarithm and the exponential are one function, and where
        2·shape is a whole number a few products and at most one root (``compiled.radial``).
    kink : bool
        φ has a slope in r at distance zero, so that −dφ/ds grows without bound there; by
        convention a decay is 0 at that point. Then mean shift lets a centre hold a point by
        Weiszfeld's rule (``mean.climbing``), and engines report how much holds it.
    decreasing : bool
        g decreases in r. Then its values at the nearest and the farthest point of a box bound it
        within the box, and far blocks can be left out (``engines.cpu.truncated_sums``).
    convex : bool
        g is convex in r². Then, by Jensen, the mean of g over some points is at least g at their
        mean squared distance (``engines.cpu.truncated_sums``), and mean shift never goes down
        (``mean.climbing``).

    See Also
    --------
    KernelTraits : Properties of a whole family.

    Examples
    --------
    >>> from kernelmean.kernels import RadialTraits
    >>> RadialTraits(decreasing=True).convex
    False
    """

    logarithmic: bool = False
    exponential: bool = False
    power: bool = False
    kink: bool = False
    decreasing: bool = False
    convex: bool = False


NOTHING_DECLARED = RadialTraits()  # of a function that nobody has looked into


@dataclass(frozen=True)
class KernelTraits:
    """Properties of a family of kernels, whatever its parameters.

    Parameters
    ----------
    profile : RadialTraits
        Those of φ/φ(0); :meth:`.Kernel.formula` hands them to the engines.
    reliable_slope : bool
        The slope is known in both spaces and has been checked. Then a fit may move centres a few
        steps without being asked to (``fitting.refine``). A function that a user gave is used
        only where moving was asked for.
    closed_marginals : bool
        The integral of φ over some of the coordinates is known: :meth:`.Kernel.marginal` gives
        it. Then pictures show marginals; else they show slices.
    closed_under_convolution : bool
        The convolution of two members of the family is a member: :meth:`.Kernel.convolved` gives
        it. Then two kernel means of different bandwidth have an inner product in L2
        (:meth:`.Kernel.cross`).
    spreads : bool
        The mean of φ over a normal distribution has the closed form of ``kernels.atoms``. Then a
        centre may have a width of its own.

    See Also
    --------
    RadialTraits : Properties of one function.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Laplacian.traits.profile.kink, km.Gaussian.traits.closed_under_convolution
    (True, True)
    """

    profile: RadialTraits = NOTHING_DECLARED
    reliable_slope: bool = False
    closed_marginals: bool = False
    closed_under_convolution: bool = False
    spreads: bool = False


# Of every mixture of Gaussians of different widths: it is completely monotone in r² (Schoenberg
# 1938). All kernels of the library, their inner products and the slopes of these are such mixtures.
GAUSSIAN_MIXTURE = RadialTraits(logarithmic=True, decreasing=True, convex=True)
