"""What a density on a domain can be asked: its numbers are a mixture that is folded."""
