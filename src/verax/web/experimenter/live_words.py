"""What stands on the live page, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verax.studies.definition.study import Study
from verax.studies.store.accounts import FAILED
from verax.studies.store.status import Group, ParticipantStatus, PhaseTime
from verax.text import plain

STATUSES = {
    "invited": "Has not agreed yet",
    "declined": "Did not agree",
    "full": "Found no place",
    "active": "Inside",
    "left": "Left",
    "complete": "Finished",
    "screened-out": "Screened out",
    "withdrawn": "Withdrew",
}
ACTIONS = {
    "open": "opened the study",
    "paused": "paused the study",
    "closed": "closed the study",
    "export": "exported the answers",
    "withdrawal": "ended a participant's part",
    "exclusion": "excluded a participant",
    "inclusion": "took an exclusion back",
    "unblinding": "looked at conditions before the study was closed",
    "new share link": "made a new link to share",
    "purge": "deleted answers whose time was over",
    FAILED: "could not sign in",
}


@dataclass(frozen=True)
class Person:
    """A participant in a line."""

    name: str
    row: str
    status: str
    kind: str
    where: str
    time: str
    ago: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class PhaseLine:
    """A phase in a line: who is behind it, how long they took, and who was lost in it."""

    title: str
    times: PhaseTime | None
    dropped: int


def person_in_words(study: Study, seen: ParticipantStatus) -> Person:
    """Where a participant is."""
    return Person(
        name=seen.participant,
        row="" if seen.row is None else str(seen.row),
        status=STATUSES.get(seen.status, seen.status),
        kind=seen.status,
        where=_where(study, seen),
        time="" if seen.minutes is None else minutes(seen.minutes),
        ago=_ago(seen.ago),
        rules=seen.rules,
    )


def by_phase(study: Study, group: Group) -> list[PhaseLine]:
    """The phases that anybody has behind them or was lost in."""
    times = {time.phase: time for time in group.phases}
    known = [*times, *(phase for phase in group.dropped if phase not in times)]
    return [
        PhaseLine(phase_title(study, phase), times.get(phase), group.dropped.get(phase, 0)) for phase in known
    ]


def extremes(study: Study, people: Sequence[ParticipantStatus]) -> tuple[Person, Person] | None:
    """Who of those who finished was the fastest, and who the slowest; None for fewer than two."""
    finished = [person for person in people if person.status == "complete" and person.minutes is not None]
    if len(finished) < 2:
        return None
    finished.sort(key=lambda person: person.minutes or 0)
    return person_in_words(study, finished[0]), person_in_words(study, finished[-1])


def minutes(count: float) -> str:
    """So many minutes: seconds where there are few, hours where there are many."""
    if count < 1:
        return f"{max(0, round(60 * count))} s"
    if count < 10:
        return f"{count:.1f} min"
    return f"{count:.0f} min" if count < 120 else f"{count / 60:.1f} h"


def done_in_words(type: str, data: Mapping[str, object]) -> str:
    """What was done to the study, and how."""
    given = [(name, value) for name, value in data.items() if value is not None and value is not False]
    how = ", ".join(name if value is True else f"{name}: {plain(value)}" for name, value in given)
    return f"{ACTIONS.get(type, type)}{f' ({how})' if how else ''}"


def _where(study: Study, seen: ParticipantStatus) -> str:
    if seen.phase is None or seen.status not in ("active", "left", "screened-out"):
        return ""
    return f"{phase_title(study, seen.phase)}, page {seen.step} of {seen.steps}"


def phase_title(study: Study, phase: str) -> str:
    """What a phase is called on pages."""
    known = study.phases.get(phase)
    if known is None or not known.title:
        return phase
    # Instructions have the title of the part that follows them.
    alike = [other for other in study.phases.values() if other.title == known.title]
    return f"{known.title} (instructions)" if known.kind == "instructions" and len(alike) > 1 else known.title


def _ago(count: float) -> str:
    if count < 1:
        return "just now"
    if count < 120:
        return f"{count:.0f} min ago"
    return f"{count / 60:.0f} h ago" if count < 48 * 60 else f"{count / 1440:.0f} days ago"
