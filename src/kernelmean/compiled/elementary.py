"""exp, log1p, powers, sin and cos without a call to the C library, which would stop the
vectorisation of the loop around it.

Range reduction, a Chebyshev-fitted polynomial, and exponent bits. No reassociation here: adding and
subtracting MAGIC rounds to an integer only while the compiler keeps the order. Errors are a few
units in the last place.
"""

from __future__ import annotations

import math

import numpy as np

from kernelmean.compiled.compiling import ORDERED_MATH, part

MAGIC = 1.5 * 2.0**52  # added to a float64 it leaves the nearest integer in the low bits
LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
SMALLEST_EXPONENT = (
    -708.0
)  # exp of less is flushed to zero: subnormal numbers would cost more than they carry
SMALLEST_POWER = -1021.0  # the same, of two
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
TWO_OVER_PI = 0.6366197723675814
QUARTER_PI = 0.7854767  # a little more: the polynomials reach that far, and n is rounded
HALF_PI_HIGH = 1.5707963267341256
HALF_PI_MIDDLE = 6.07710049817245e-11
HALF_PI_LOW = 8.333742918520879e-20


@part(ORDERED_MATH)
def exp(x):
    """eˣ = 2ⁿ eʳ, n = round(x log₂e), |r| ≤ ln(2)/2; zero below −708, for x ≤ 709."""
    y = max(x, SMALLEST_EXPONENT)
    shifted = y * LOG2_E + MAGIC
    n = shifted - MAGIC
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    p = 2.5110049204818658e-08
    p = p * r + 2.763265472252779e-07
    p = p * r + 2.755724088722987e-06
    p = p * r + 2.4801485441561313e-05
    p = p * r + 0.00019841269890076403
    p = p * r + 0.0013888888952352863
    p = p * r + 0.008333333333319589
    p = p * r + 0.04166666666648795
    p = p * r + 0.1666666666666668
    p = p * r + 0.5000000000000019
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    value = np.int64(bits).view(np.float64)
    return value if x >= SMALLEST_EXPONENT else 0.0


@part(ORDERED_MATH)
def log_of_mantissa(e, f):
    """e ln2 + log(1 + f) = e ln2 + 2 artanh(f/(2+f)),  √½ ≤ 1 + f < √2."""
    s = f / (2.0 + f)
    z = s * s
    p = 0.14616585424888623
    p = p * z + 0.15331710618210773
    p = p * z + 0.18182889455674947
    p = p * z + 0.22222211130259878
    p = p * z + 0.2857142862600327
    p = p * z + 0.39999999999899444
    p = p * z + 0.666666666666667
    return e * LN2_HIGH + (2.0 * s + (s * z * p + e * LN2_LOW))


@part(ORDERED_MATH)
def split(u, rest):
    """(e, f) such that u + rest = 2ᵉ(1 + f), √½ ≤ 2⁻ᵉu < √2; rest is below the last place of u."""
    e, mantissa = exponent_and_mantissa(u)
    scale = np.int64((1023 - e if e < 1023 else 0) << 52).view(np.float64)
    return e, (mantissa - 1.0) + rest * scale


@part(ORDERED_MATH)
def exponent_and_mantissa(u):
    """(e, 2⁻ᵉu), √½ ≤ 2⁻ᵉu < √2."""
    bits = np.float64(u).view(np.int64)
    e = (bits - SQRT_HALF_BITS) >> 52
    return e, np.int64(bits - (e << 52)).view(np.float64)


@part(ORDERED_MATH)
def log(x):
    """log x for x positive and normal, or inf."""
    e, mantissa = exponent_and_mantissa(x)
    value = log_of_mantissa(e, mantissa - 1.0)
    return (
        value if x < np.inf else np.inf
    )  # a choice between two values vectorises, one between two ways does not


@part(ORDERED_MATH)
def log1p(x):
    """log(1 + x) for x ≥ 0, with what rounding takes from 1 + x."""
    u = 1.0 + x
    e, f = split(u, x - (u - 1.0))
    value = log_of_mantissa(e, f)
    return value if x < np.inf else np.inf


@part(ORDERED_MATH)
def power_of_mantissa(e, f, a):
    """(2ᵉ(1 + f))ᵃ = 2ⁿ 2ʳ,  n + r = a(e + log₂(1 + f)), |r| ≤ ½; zero below 2⁻¹⁰²¹.

    In base 2 nothing is multiplied by log 2, and r = a log₂(1 + f) + (a e − n) loses nothing to a
    large a e. The logarithm is within 2e-16 of itself and 2ʳ within 4e-16, rounding apart.
    """
    s = f / (2.0 + f)
    z = s * s
    p = 0.24291608542091292
    p = p * z + 0.2614442493504987
    p = p * z + 0.3206163881322994
    p = p * z + 0.4121984020482744
    p = p * z + 0.5770780172463286
    p = p * z + 0.9617966939243345
    p = p * z + 2.885390081777927
    log2 = s * p
    shifted = (e + log2) * a + MAGIC
    n = shifted - MAGIC
    r = a * log2 + (a * e - n)
    q = 7.072585949269223e-09
    q = q * r + 1.0208690299958306e-07
    q = q * r + 1.321544258792169e-06
    q = q * r + 1.5252657260200837e-05
    q = q * r + 0.0001540353044173605
    q = q * r + 0.0013333558230164974
    q = q * r + 0.009618129107606888
    q = q * r + 0.05550410866444772
    q = q * r + 0.24022650695910097
    q = q * r + 0.69314718055995
    q = q * r + 1.0
    bits = np.float64(q).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    value = np.int64(bits).view(np.float64)
    return value if n >= SMALLEST_POWER else 0.0


@part(ORDERED_MATH)
def power_of_one_plus(x, a):
    """(1 + x)ᵃ for x ≥ 0 ≥ a."""
    u = 1.0 + x
    e, f = split(u, x - (u - 1.0))
    return power_of_mantissa(e, f, a)


@part(ORDERED_MATH)
def small_power_of_one_plus(x, a):
    """(1 + x)ᵃ for x ≥ 0 ≥ a, without what rounding takes from 1 + x: |a| half units in the last
    place.
    """
    e, mantissa = exponent_and_mantissa(1.0 + x)
    return power_of_mantissa(e, mantissa - 1.0, a)


@part()
def sqrt(x):
    """√x, one instruction."""
    return math.sqrt(x)


@part(ORDERED_MATH)
def cos_sin(x):
    """(cos x, sin x): x = nπ/2 + r, |r| ≤ π/4, the quadrant n mod 4 picks and signs.

    To rounding for |x| up to about 2²⁰, to rounding of x beyond; where x no longer says which
    quadrant, still bounded.
    """
    shifted = x * TWO_OVER_PI + MAGIC
    n = shifted - MAGIC
    r = ((x - n * HALF_PI_HIGH) - n * HALF_PI_MIDDLE) - n * HALF_PI_LOW
    r = min(max(r, -QUARTER_PI), QUARTER_PI)
    z = r * r
    s = 1.591810123027412e-10
    s = s * z - 2.5051131455427946e-08
    s = s * z + 2.755731610068303e-06
    s = s * z - 0.0001984126983675497
    s = s * z + 0.008333333333330946
    s = s * z - 0.16666666666666666
    sine = r + r * z * s
    c = -1.1382614868556325e-11
    c = c * z + 2.0876146024689747e-09
    c = c * z - 2.7557317270560326e-07
    c = c * z + 2.4801587298763433e-05
    c = c * z - 0.0013888888888887395
    c = c * z + 0.041666666666666664
    cosine = 1.0 - 0.5 * z + z * z * c
    quadrant = np.float64(shifted).view(np.int64) & 3
    swap = (quadrant & 1) == 1
    cos_value = sine if swap else cosine
    sin_value = cosine if swap else sine
    cos_value = -cos_value if (quadrant == 1) | (quadrant == 2) else cos_value
    sin_value = -sin_value if quadrant >= 2 else sin_value
    return cos_value, sin_value
