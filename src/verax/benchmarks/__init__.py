"""Tests without people: models whose true reasons are known, and automatic measures."""
