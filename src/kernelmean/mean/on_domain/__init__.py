"""A kernel mean on a domain: bounds, periods, spheres and categories beside plain numbers.

Each component is a product. Its numbers have a Gaussian, of which what lies beyond a bound is
reflected and what lies beyond a period comes round, so that nothing is lost:

    f(x) = Σ_a α_a Σ_g N(g(x); c_a, V_a)/p_a · Π_s h_as(u_s) · Π_j p_aj(l_j).

In some numbers a component can end at the bounds instead, independent of all other numbers: then
there are no g for these, and p_a is the mass that N has between the bounds. Otherwise p_a is 1.

A place on a sphere is a unit vector u, and h_a is what a Gaussian about c_a leaves on the sphere,
normalised there: the von Mises and Fisher distribution with concentration |c_a|/v. Categories
have probabilities p_a. For given categories f is a sum over the centres and their images as any
other, which engines evaluate.
"""

from kernelmean.mean.on_domain.value import DomainMean

__all__ = ["DomainMean"]
