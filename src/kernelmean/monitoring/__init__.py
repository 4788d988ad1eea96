"""Watching a stream of rows: since when, and in what, it differs from a reference."""
