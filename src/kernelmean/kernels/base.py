"""What every radial kernel can say of itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np

from kernelmean import _checks, _shown
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels.radials import Formula, RadialDensity, RadialFunction, Slope
from kernelmean.kernels.traits import KernelTraits

LOG2 = math.log(2.0)  # a profile is half its peak where a Gaussian's r²/2σ² is this
SPACES = ("rkhs", "l2")  # where inner products are taken; names as users write them


class Kernel(ABC):
    """A radial kernel of fixed scale, φ(r) = c · profile(r²).

    Abstract: Gaussian, Laplacian, Student, Cauchy and Radial are final. In the RKHS the inner
    product g of φ(·, x) and φ(·, x′) is the profile; in L2 it is φ∗φ with φ normalised to integrate
    to one. Constants are logarithms, because in hundreds of dimensions none of them fits a float.

    Attributes
    ----------
    name : str
        As files and errors have it.
    traits : KernelTraits
        What is known of the family; nothing, unless it is declared.

    See Also
    --------
    kernelmean.Gaussian, kernelmean.Laplacian, kernelmean.Student, kernelmean.Cauchy : The families.
    kernelmean.Radial : A kernel from a function of one's own.

    Examples
    --------
    >>> import kernelmean as km
    >>> isinstance(km.Gaussian(1.0), km.kernels.Kernel)
    True
    """

    name: ClassVar[str]
    traits: ClassVar[KernelTraits] = KernelTraits()

    def __repr__(self) -> str:
        names = map(attrgetter("name"), fields(self)) if is_dataclass(self) else ()
        return _shown.brief(self, names)

    @property
    @abstractmethod
    def length(self) -> float:
        """The kernel's own length, in units of the data: σ, γ or √β."""

    @abstractmethod
    def formula(self, d: int) -> Formula:
        """The profile φ/φ(0).

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        Formula
            A function of r², with its traits.
        """

    @abstractmethod
    def decay(self, d: int) -> Formula:
        """−d(φ/φ(0))/ds, s = rate · r²: what gradients and mean shift sum.

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        Formula
            A function of r²; at a kink of φ it is 0. Where the profile is logarithmic, it is the
            profile times a factor.
        """

    @abstractmethod
    def log_density_constant(self, d: int) -> float:
        """The logarithm of the constant c with which the kernel integrates to one.

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        float
            log c, with ∫ c·profile = 1 over R^d.

        Raises
        ------
        ValueError
            Where the profile has no integral in d dimensions.

        See Also
        --------
        profile : The kernel without the constant.

        Examples
        --------
        >>> import math, kernelmean as km
        >>> round(math.exp(km.Gaussian(1.0).log_density_constant(1)), 4)
        0.3989
        """

    @abstractmethod
    def l2_radial(self, d: int) -> RadialFunction:
        """(φ∗φ)/(φ∗φ)(0).

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        Formula or Table
            A function of r².
        """

    @abstractmethod
    def l2_log_peak(self, d: int) -> float:
        """The logarithm of (φ∗φ)(0) for φ normalised to integrate to one.

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        float
            The logarithm of ∫φ².
        """

    @abstractmethod
    def slope(self, d: int, space: Space) -> Slope:
        """−d(g/g(0))/d(r²); at a kink of g, where there is no direction of descent, 0.

        Parameters
        ----------
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product g is taken.

        Returns
        -------
        Slope
            A constant and a function of r².
        """

    @abstractmethod
    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        """Random scales τ such that g/g(0) = E cos(ω·r), ω = τZ with Z standard normal in R^d.

        Parameters
        ----------
        size : int
            How many.
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product g is taken.
        rng : numpy.random.Generator
            Where the draws come from.

        Returns
        -------
        ndarray of shape (size,)
            The scales, in units of one over the data's.
        """

    def has_spectrum(self, space: Space) -> bool:
        """Whether :meth:`spectral_scales` can be asked for.

        Parameters
        ----------
        space : {"rkhs", "l2"}
            Where the inner product is taken.

        Returns
        -------
        bool
            True for the families of the library.
        """
        return True

    @abstractmethod
    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        """Random points with density φ about 0.

        Parameters
        ----------
        size : int
            How many.
        d : int
            Number of coordinates.
        rng : numpy.random.Generator
            Where the draws come from.

        Returns
        -------
        ndarray of shape (size, d)
            The points.

        See Also
        --------
        log_density_constant : Says whether φ is a density.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.Gaussian(1.0).sample(5, 2, np.random.default_rng(0)).shape
        (5, 2)
        """

    @abstractmethod
    def rescaled(self, bandwidth: float, d: int) -> Self:
        """The same family at another scale.

        Parameters
        ----------
        bandwidth : float
            The kernel's own length: σ, γ or √β.
        d : int
            Number of coordinates.

        Returns
        -------
        Kernel
            A kernel of the same family.

        See Also
        --------
        matching : As wide as a given Gaussian.

        Examples
        --------
        >>> import kernelmean as km
        >>> km.Student(3.0, 1.0).rescaled(2.0, 2)
        Student(alpha=3.0, beta=4.0)
        """

    @abstractmethod
    def matching(self, sigma: float, d: int) -> Self:
        """The same family with the half-maximum radius of a Gaussian.

        Parameters
        ----------
        sigma : float
            The bandwidth σ of that Gaussian; φ is half its peak at r = σ√(2 ln 2).
        d : int
            Number of coordinates.

        Returns
        -------
        Kernel
            A kernel of the same family.

        See Also
        --------
        rescaled : At a given length of its own.

        Examples
        --------
        >>> import math, kernelmean as km
        >>> kernel = km.Cauchy(1.0).matching(1.0, 2)
        >>> kernel.profile(2 * math.log(2), 2).round(4)
        np.float64(0.5)
        """

    def convolved(self, other: Self) -> Self:
        """The kernel of the family that is the convolution of two of its members.

        Asked for only where the family declares ``closed_under_convolution``.

        Parameters
        ----------
        other : Kernel
            Another kernel of the same family.

        Returns
        -------
        Kernel
            The kernel whose density is φ∗φ′.

        Raises
        ------
        NotImplementedError
            If the family is not closed under convolution.

        See Also
        --------
        cross : The inner product of two kernels.

        Examples
        --------
        >>> import kernelmean as km
        >>> km.Gaussian(3.0).convolved(km.Gaussian(4.0))
        Gaussian(bandwidth=5.0)
        """
        raise NotImplementedError(f"{self.name} kernels are not closed under convolution.")

    def profile(self, r2: Any, d: int) -> Vector:
        """φ/φ(0) at squared distances.

        Parameters
        ----------
        r2 : array_like
            Squared distances.
        d : int
            Number of coordinates.

        Returns
        -------
        ndarray
            Values between 0 and 1, in the shape of ``r2``.

        See Also
        --------
        log_density_constant : What makes it a density.

        Examples
        --------
        >>> import kernelmean as km
        >>> km.Gaussian(1.0).profile([0.0, 2.0], 2).round(4)
        array([1.    , 0.3679])
        """
        return self.formula(d)(np.asarray(r2, dtype=np.float64))

    def radial(self, d: int, space: Space) -> RadialFunction:
        """g/g(0), the function that fills every Gram matrix.

        Parameters
        ----------
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product g is taken.

        Returns
        -------
        Formula or Table
            A function of r².
        """
        return self.formula(d) if space == "rkhs" else self.l2_radial(d)

    def log_peak(self, d: int, space: Space) -> float:
        """The logarithm of g(0).

        Parameters
        ----------
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product g is taken.

        Returns
        -------
        float
            The logarithm of the squared norm of φ(·, x); 0 in the RKHS.
        """
        return 0.0 if space == "rkhs" else self.l2_log_peak(d)

    def inner(self, r2: Any, d: int, space: Space) -> Vector:
        """g = ⟨φ(·, x), φ(·, x′)⟩ at squared distances.

        Parameters
        ----------
        r2 : array_like
            Squared distances of x and x′.
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product is taken.

        Returns
        -------
        ndarray
            Inner products, in the shape of ``r2``.

        See Also
        --------
        cross : The same between two different kernels.

        Examples
        --------
        >>> import kernelmean as km
        >>> km.Gaussian(1.0).inner([0.0, 4.0], 2, "l2").round(4)
        array([0.0796, 0.0293])
        """
        _checks.choice(space, "space", SPACES)
        value: Vector = np.exp(
            self.radial(d, space).log(np.asarray(r2, dtype=np.float64)) + self.log_peak(d, space)
        )
        return value

    def cross(self, other: Kernel, d: int, space: Space) -> RadialDensity:
        """⟨φ(·, x), φ′(·, x′)⟩ between two kernels.

        Parameters
        ----------
        other : Kernel
            φ′.
        d : int
            Number of coordinates.
        space : {"rkhs", "l2"}
            Where the inner product is taken.

        Returns
        -------
        RadialDensity
            The inner product divided by its peak, and the logarithm of the peak.

        Raises
        ------
        ValueError
            Where it is not known: the kernels differ, and are not two of a family that is closed
            under convolution, in L2.

        See Also
        --------
        inner : The same between two equal kernels, as numbers.

        Examples
        --------
        >>> import math, kernelmean as km
        >>> product = km.Gaussian(3.0).cross(km.Gaussian(4.0), 1, "l2")
        >>> round(math.exp(product.log_peak), 4)
        0.0798
        """
        if self == other:
            return RadialDensity(self.radial(d, space), self.log_peak(d, space))
        if space == "l2" and self.traits.closed_under_convolution and isinstance(other, type(self)):
            wide = self.convolved(other)
            return RadialDensity(wide.formula(d), wide.log_density_constant(d))
        raise ValueError(
            f"the kernels differ ({self} and {other}): inner products need equal kernels, or two "
            "Gaussian or two Cauchy kernels in space='l2'."
        )

    def marginal(self, d: int, m: int) -> RadialDensity:
        """∫ φ over d − m of its d coordinates, for φ normalised to integrate to one.

        Parameters
        ----------
        d : int
            Number of coordinates.
        m : int
            Number of coordinates that are left.

        Returns
        -------
        RadialDensity
            The density in m dimensions.

        Raises
        ------
        ValueError
            Where it is not known, or φ has no integral in d dimensions.

        See Also
        --------
        log_density_constant : Says whether φ has an integral.

        Examples
        --------
        >>> import math, kernelmean as km
        >>> round(math.exp(km.Gaussian(2.0).marginal(3, 1).log_peak), 4)
        0.1995
        """
        self.log_density_constant(d)  # without an integral there is no marginal, and it says so
        if m < d and not self.traits.closed_marginals:
            raise ValueError(
                f"the marginals of {self} are not known; only its slices can be drawn."
            )
        return self._marginal(d, m)

    def _marginal(self, d: int, m: int) -> RadialDensity:
        """The same kernel in m dimensions: right for m = d, or if marginals stay in the family."""
        return RadialDensity(self.formula(m), self.log_density_constant(m))
