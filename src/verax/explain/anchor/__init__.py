"""Anchors (Ribeiro, Singh and Guestrin 2018): rules that keep a prediction, for texts and tables."""
