"""Distances between distributions and between clusterings."""
