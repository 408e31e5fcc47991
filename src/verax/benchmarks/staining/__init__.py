"""Data staining (Sippy, Bansal and Weld 2020): models that err in a known way, and explainers that should show it."""
