"""How the documentation site is made: examples that run, figures read from generated pages,
docstrings as reference.
"""
