"""Algebra of k × k matrices: the growing Cholesky factor, simplex weights, greedy pursuit."""
