"""Pages in HTML (``km.report``); they live in :mod:`kernelmean.pictures.html`."""

from kernelmean.pictures.html import *  # noqa: F403
