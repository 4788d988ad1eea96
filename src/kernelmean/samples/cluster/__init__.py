"""Samples on the workers of a Dask cluster, and how they are asked."""
