"""Participants and items crossed: estimates that treat both as random, between people and within them."""
