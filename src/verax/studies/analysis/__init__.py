"""What a study's answers say: one module per protocol or question, all ending in one summary of plain values."""

from verax.studies.analysis.analyse import analyse, analysed
from verax.studies.protocol.findings import (
    Analysed,
    Column,
    Court,
    Figure,
    Findings,
    Options,
    Primary,
    PrimaryEstimate,
    Table,
)

__all__ = [
    "Analysed",
    "Column",
    "Court",
    "Figure",
    "Findings",
    "Options",
    "Primary",
    "PrimaryEstimate",
    "Table",
    "analyse",
    "analysed",
]
