"""Conditions compared between people: accuracy before and after explanations, and ratings."""
