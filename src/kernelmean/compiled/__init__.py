"""What several packages compile: elementary functions, threads, triangular solves, tables."""
