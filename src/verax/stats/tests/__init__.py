"""Tests of differences, and how many of them at once keep their promise."""
