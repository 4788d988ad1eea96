"""How far two samples are apart: discrepancy, divergence, a test."""
