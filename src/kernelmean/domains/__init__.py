"""Where the values of columns can lie: bounds, periods, spheres and categories."""

from kernelmean.domains.asked import DomainAsked, outside_error
from kernelmean.domains.domain import Domain, Embedded
from kernelmean.domains.images import Cuts, Group, Images
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere

__all__ = [
    "Bounds",
    "Categorical",
    "Cuts",
    "Domain",
    "DomainAsked",
    "Embedded",
    "Group",
    "Images",
    "Kind",
    "Periodic",
    "Sphere",
    "outside_error",
]
