"""scikit-learn façades: constructors store, ``fit`` checks once and delegates to the applications."""
