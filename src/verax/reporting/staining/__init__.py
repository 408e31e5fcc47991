"""The report of a staining run."""
