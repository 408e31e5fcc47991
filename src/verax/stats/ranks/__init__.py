"""Ranks: average ranks of methods, rank correlation, and tests of ranks."""
