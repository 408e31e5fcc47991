"""What a study's answers say: one module per protocol or question, all ending in one summary of plain values."""

from verax.studies.analysis import forward, graded, reverse_turing
from verax.studies.analysis.analyse import analyse, analysed
from verax.studies.analysis.base import (
    Analysed,
    Column,
    Court,
    Figure,
    Findings,
    Options,
    Primary,
    PrimaryEstimate,
    Table,
    analyses,
    analysis,
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
    "analyses",
    "analysis",
    "forward",
    "graded",
    "reverse_turing",
]
