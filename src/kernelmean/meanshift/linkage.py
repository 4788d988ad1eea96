"""Single linkage of the ends of mean shift; see :mod:`kernelmean.mean.linkage`."""

from kernelmean.mean.linkage import Links, link

__all__ = ["Links", "link"]
