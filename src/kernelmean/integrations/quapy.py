"""Class proportions as a quantifier of QuaPy, the library for quantification."""

from __future__ import annotations

from kernelmean.files.optional_imports import need
from kernelmean.proportions.estimator import ClassProportions

need("quapy.method.base", "kernelmean.integrations.quapy", "quapy")  # says what to install

from quapy.method.base import BaseQuantifier  # noqa: E402


class KernelMeanQuantifier(ClassProportions, BaseQuantifier):  # type: ignore[misc]
    """:class:`kernelmean.ClassProportions` wherever QuaPy asks for a quantifier.

    It has the parameters, attributes and costs of :class:`kernelmean.ClassProportions`. QuaPy's
    protocols call its ``fit`` and ``predict``, ``GridSearchQ`` copies it and sets its parameters,
    and ``quantify`` is QuaPy's older name for ``predict``.

    See Also
    --------
    kernelmean.ClassProportions : The same estimator without QuaPy.

    Examples
    --------
    >>> import numpy as np
    >>> from quapy.method.base import BaseQuantifier
    >>> from kernelmean.integrations.quapy import KernelMeanQuantifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> X = rng.normal(size=(400, 2)) + 2.0 * y[:, None]
    >>> model = KernelMeanQuantifier(bandwidth="median", random_state=0).fit(X, y)
    >>> isinstance(model, BaseQuantifier), model.quantify(X).round(1)
    (True, array([0.5, 0.5]))
    """
