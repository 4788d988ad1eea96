"""Many samples as points in a space of few dimensions."""
