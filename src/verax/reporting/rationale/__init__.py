"""The report of a verification with rationale models."""
