"""The figures of the guides: a module for each guide, a function for each figure."""
