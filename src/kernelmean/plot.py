"""Matplotlib displays (``km.plot``); they live in :mod:`kernelmean.pictures.matplotlib`."""

from kernelmean.pictures.matplotlib import *  # noqa: F403
