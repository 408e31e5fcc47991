"""What a participant does, step by step: phases, steps, and how the screening test is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verax.studies.model.screen import Meaning


@dataclass(frozen=True)
class Phase:
    """A part of a study, as participants know it.

    Attributes:
        key: its name in the data: "learning", "pre", "training-2".
        title: its name on the page.
        kind: what it is for; only "test" phases are analysed, "screening" decides who goes on.
        session_seconds: a limit for the whole phase, counted from the first display of its first step.
        item_seconds: a limit for each of its steps, counted from its first display.
        late: "flag" keeps answers after a limit and flags them. "close" takes none: an item's limit closes that step
            alone, and the next one is shown; the session's limit closes the phase, and its other steps are skipped.
        leaf: whether earlier pages of the phase may be looked at again until it is over.
    """

    key: str
    title: str
    kind: Literal["instructions", "screening", "learning", "training", "test", "questions", "debrief"]
    session_seconds: float | None = None
    item_seconds: float | None = None
    late: Literal["flag", "close"] = "flag"
    leaf: bool = False


@dataclass(frozen=True)
class Step:
    """One screen in one participant's way.

    Attributes:
        phase: the key of its phase.
        screen: the key of its screen in the study.
        item: the item that it is about.
        condition: what is shown beside the item.
    """

    phase: str
    screen: str
    item: str | None = None
    condition: str | None = None


@dataclass(frozen=True)
class Screening:
    """How the screening test is judged.

    Attributes:
        answers: the right answer (what the option means) by question.
        pass_mark: right answers needed.
        attempts: how often it may be tried; instructions are shown again before each.
    """

    answers: Mapping[str, Meaning] = field(hash=False)
    pass_mark: int = 0
    attempts: int = 1

    def passed(self, given: Mapping[str, object]) -> bool:
        """Whether the answers suffice."""
        right = sum(given.get(name) == answer for name, answer in self.answers.items())
        return bool(right >= self.pass_mark)
