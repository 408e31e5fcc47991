"""Explanations side by side: highlighted inputs, in the terminal and on a page."""
