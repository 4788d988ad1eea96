"""The paper's experiments (section 6), run with this library: one module each, short because the
library does the work.
"""
