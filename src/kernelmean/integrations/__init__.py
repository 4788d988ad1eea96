"""Doors to other libraries, one module for each; a module imports its library, this package none.

``kernelmean.integrations.anndata``, ``.xarray``, ``.river`` and ``.quapy`` are called as the extras
that bring their libraries; ``.array_api`` is for torch and CuPy.
"""
