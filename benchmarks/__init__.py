"""Timings as ratios within one run, best of several; nothing here is a test."""
