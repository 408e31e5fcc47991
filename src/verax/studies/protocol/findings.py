"""What an analysis is given and what it finds.

The analysis of a protocol is one function from `Analysed` to `Findings`, which the protocol names in its `analysis`.
What is the same for all protocols (the flow of participants, attrition, balance, which analyses were planned) is added
by `verax.studies.analysis.analyse`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from verax.results.figures import Figure
from verax.results.tables import Table
from verax.studies.results.item_results import ItemResult
from verax.studies.results.options import Options, People
from verax.studies.results.summary import CourtLine, Primary, Sensitivity

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.model.spec_tables import Condition
    from verax.studies.model.study import Study


# What the name of somebody who is known in several studies begins with.
LINKED = "person "


@dataclass(frozen=True, eq=False)
class Analysed:
    """The answers that an analysis works on, of people or of bots only. Columns: `verax.studies.answers.schema`.

    Attributes:
        study: the study.
        scored: the question whose answers have scores.
        parameters: of the protocol, by name.
        responses: answers in all phases of those who completed the study and are not excluded (per protocol).
        participants: these people, one row each.
        intended: answers of everybody who got a place and answered something in a test phase, exclusions ignored
            (intention to treat).
        intended_participants: these people, one row each.
        conditions: the study's conditions, in the order of the spec.
        people: whether they are people or bots.
    """

    study: Study
    scored: str
    parameters: Mapping[str, object]
    responses: pd.DataFrame
    participants: pd.DataFrame
    intended: pd.DataFrame
    intended_participants: pd.DataFrame
    conditions: tuple[Condition, ...]
    people: People = "participants"

    def person(self, study: int) -> Mapping[str, str]:
        """By participant, who that is in an analysis of several studies: the same in all of them for linked people.

        Args:
            study: the place of this study among them, which tells apart whom nothing links.
        """
        links = self.intended_participants if "link" in self.intended_participants else None
        known = {} if links is None else dict(zip(links["participant"], links["link"], strict=True))
        everybody = {*self.participants["participant"], *self.intended_participants["participant"]}
        return {
            name: f"{LINKED}{known[name]}" if isinstance(known.get(name), str) else f"{study}:{name}"
            for name in map(str, everybody)
        }

    @property
    def control(self) -> str | None:
        """The name of the condition without explanations, if there is one."""
        return next((condition.name for condition in self.conditions if condition.kind == "none"), None)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the conditions that show something, in the order of the spec."""
        return tuple(condition.name for condition in self.conditions if condition.kind != "none")

    @property
    def explained_methods(self) -> tuple[str, ...]:
        """The names of the conditions that show a method's explanations, random controls left out."""
        return tuple(condition.name for condition in self.conditions if condition.kind == "method")


@dataclass(frozen=True)
class Findings:
    """What the analysis of a protocol found.

    Attributes:
        primary: the primary analysis; None where nothing of it can be estimated (``problems`` says why).
        courts: one line per method.
        tables: in the order of the report.
        figures: in the order of the report.
        estimators: by name, plain values: every estimator in full.
        sensitivity: the primary estimates in all variants; None where there is nothing to vary.
        problems: what could not be estimated, and why; one sentence each.
        items: what became of single items, where that is told.
    """

    primary: Primary | None = None
    courts: tuple[CourtLine, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    estimators: Mapping[str, object] = field(default_factory=dict)
    sensitivity: Sensitivity | None = None
    problems: tuple[str, ...] = ()
    items: tuple[ItemResult, ...] = ()


Analysis = Callable[[Analysed, Options], Findings]


@dataclass(frozen=True)
class ProtocolAnalysis:
    """The analysis of one protocol.

    Attributes:
        run: the function.
        keys: the keys of all tables that it may make, so that a plan that names one which cannot be made is understood.
        pooled: makes tables over several studies whose protocols have this same function here; None if there are none.
    """

    run: Analysis
    keys: tuple[str, ...] = ()
    pooled: Callable[[Sequence[Analysed], Options], Findings] | None = None
