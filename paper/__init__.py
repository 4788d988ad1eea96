"""The paper's experiments (section 6), run with this library: one short module each."""
