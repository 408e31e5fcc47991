"""What an analysis is given and what it finds: `verax.studies.protocol.findings`, where it was called before."""

from verax.studies.protocol.findings import (
    Analysed,
    Analysis,
    Column,
    Court,
    Estimator,
    Figure,
    Findings,
    Options,
    People,
    Primary,
    PrimaryEstimate,
    ProtocolAnalysis,
    Table,
)

__all__ = [
    "Analysed",
    "Analysis",
    "Column",
    "Court",
    "Estimator",
    "Figure",
    "Findings",
    "Options",
    "People",
    "Primary",
    "PrimaryEstimate",
    "ProtocolAnalysis",
    "Table",
]
