"""Algebra of k × k matrices: the growing Cholesky factor, weights on the simplex, greedy pursuit."""
