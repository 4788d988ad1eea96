"""Small sets of data for examples and guides: no download, no path to set.

Two are real and lie in the package, beside a ``data/README.md`` with their origin and licence; one
is simulated from a fixed seed. Each comes as a :class:`sklearn.utils.Bunch`, as scikit-learn's own
sets do.

Examples
--------
>>> import kernelmean as km
>>> km.datasets.load_flights().data.shape
(20000, 4)
"""

from kernelmean.datasets.cells import load_cells
from kernelmean.datasets.tables import load_flights, load_weather

__all__ = ["load_cells", "load_flights", "load_weather"]
