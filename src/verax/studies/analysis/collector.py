"""What an analysis finds on the way: a part that cannot be estimated leaves a sentence, and the others go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from verax.errors import VeraxError
from verax.results.figures import Figure
from verax.results.tables import Table
from verax.studies.protocol.findings import Findings
from verax.studies.results.summary import CourtLine, Primary, Sensitivity

T = TypeVar("T")


@dataclass
class Gathered:
    """Tables, figures and estimators so far, and what could not be estimated."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    estimators: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def tried(self, what: str, make: Callable[[], T]) -> T | None:
        """What is made, or None and the reason among the problems."""
        try:
            return make()
        except VeraxError as error:
            self.problems.append(f"{what} cannot be estimated: {error}")
            return None

    def add(self, what: str, make: Callable[[], Table | None]) -> Table | None:
        """Adds a table if it can be made."""
        table = self.tried(what, make)
        if table is not None:
            self.tables.append(table)
        return table

    def findings(
        self, primary: Primary | None, courts: tuple[CourtLine, ...], sensitivity: Sensitivity | None
    ) -> Findings:
        """All of it, beside the primary analysis."""
        return Findings(
            primary=primary,
            courts=courts,
            tables=tuple(self.tables),
            figures=tuple(self.figures),
            estimators=self.estimators,
            sensitivity=sensitivity,
            problems=tuple(self.problems),
        )
