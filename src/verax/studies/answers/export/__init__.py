"""A study's answers as files: CSV, JSON lines and Parquet, with a codebook that says what everything means."""

from verax.studies.answers.export.write import FORMATS, Exported, export_study

__all__ = ["FORMATS", "Exported", "export_study"]
