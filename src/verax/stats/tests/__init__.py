"""Tests of differences: paired units, permutations, equivalence, and corrections for many of them at once."""
