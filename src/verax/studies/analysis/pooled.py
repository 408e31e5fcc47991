"""The one analysis of several studies together: what they are called, who answered in which, and who counts once.

Protocols say with a `Several` what their tables over studies are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from verax.phrases import say as say_phrase
from verax.studies.analysis.primary import FindingsCollector, linked_note
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.results.study_summary import Options

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "pooled")


class PooledStudy(Protocol):
    """What is read here of one of the studies."""

    @property
    def answers(self) -> pd.DataFrame:
        """Of people who may count."""


S = TypeVar("S", bound=PooledStudy)


class Several(ABC, Generic[S]):
    """What tells one analysis of several studies from another."""

    def order(self, data: Analysed) -> int:  # noqa: ARG002
        """By which studies are sorted; as they were given where it is the same."""
        return 0

    @abstractmethod
    def title(self, data: Analysed) -> str:
        """What a study is called; several of one name are told apart by their place."""

    @abstractmethod
    def study(self, data: Analysed, title: str, place: int) -> S:
        """One study as the tables need it; ``place`` is where it stood among those that were given."""

    def called(self, title: str) -> str:
        """A study in a sentence."""
        return title

    @abstractmethod
    def add(self, gathered: FindingsCollector, studies: Sequence[S], options: Options) -> None:
        """Adds tables and figures over all studies in which somebody answered."""

    def over_people(self, key: str) -> bool:  # noqa: ARG002
        """Whether a table counts people over studies, so that it says how many of them are linked."""
        return False


def pool(studies: Sequence[Analysed], options: Options, several: Several[S]) -> Findings:
    """The tables over several studies, and what cannot be told.

    Args:
        studies: that share a pooled analysis.
        options: of the analysis.
        several: whose tables they are.
    """
    placed = sorted(enumerate(studies), key=lambda one: several.order(one[1]))
    titles = told_apart([several.title(data) for _, data in placed])
    gathered = FindingsCollector()
    answered = []
    for (place, data), title in zip(placed, titles, strict=True):
        study = several.study(data, title, place)
        if len(study.answers):
            answered.append(study)
        else:
            gathered.problems.append(say("no-answers", study=several.called(title)))
    if answered:
        several.add(gathered, answered, options)
    note = linked_note(studies)
    gathered.tables = [
        replace(table, notes=(*table.notes, note)) if several.over_people(table.key) else table
        for table in gathered.tables
    ]
    return gathered.findings(None, (), None)


def told_apart(names: Sequence[str]) -> list[str]:
    """What studies are called; where several are called the same, with their place among these."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]
