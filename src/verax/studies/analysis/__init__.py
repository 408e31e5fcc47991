"""What a study's answers say: one module per protocol or question, all ending in one summary of plain values."""

from verax.studies.analysis.analyse import analyse, analysed
from verax.studies.analysis.between import simulation as forward
from verax.studies.analysis.contract import (
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
from verax.studies.analysis.within import graded
from verax.studies.analysis.within import imitation_findings as reverse_turing

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
