"""Ranks: average ranks of methods, rank correlation and the methods it needs, and Mann-Whitney's test."""
