"""What a study's answers say: one module per question, all ending in one summary."""

from verax.results.figures import Figure
from verax.results.tables import Column, Table
from verax.studies.analysis.analyse import analyse, analysed
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.results.study_summary import MethodLine, Options, Primary, PrimaryEstimate, Summary

__all__ = [
    "Analysed",
    "Column",
    "Figure",
    "Findings",
    "MethodLine",
    "Options",
    "Primary",
    "PrimaryEstimate",
    "Summary",
    "Table",
    "analyse",
    "analysed",
]
