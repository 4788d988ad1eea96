"""Clusters around the modes of a density, and image segmentation by them."""
