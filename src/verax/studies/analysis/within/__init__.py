"""Conditions compared within people: graded answers and imitation."""
