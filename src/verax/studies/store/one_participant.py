"""One participant as an experimenter opens them: what they answered and when, and whether they are excluded by hand.

Outside of the database participants are known by a pseudonym; everybody's is made again to find whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from verax.errors import VeraxError
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.identifiers import pseudonym
from verax.studies.store.participant.enter import retakes
from verax.studies.store.people import UNBLINDING, Transaction, act, is_blind, state_of
from verax.studies.store.store import Store
from verax.studies.store.tables import exclusions, participants, responses, steps

# The rule under which somebody is excluded by a person and not by the program.
BY_HAND = "by-hand"
# Questions that not all conditions ask: that they were answered tells the condition.
TELLING = ("rating", "method")
LONGEST_REASON = 300
WITHHELD = "(own words, withheld)"

EVERYBODY = select(participants.c.id, participants.c.token_hash).where(
    participants.c.study_id == bindparam("study_id")
)
PERSON = select(participants).where(participants.c.id == bindparam("who"))
ANSWERED = (
    select(steps, responses.c.answers, responses.c.late)
    .outerjoin_from(steps, responses)
    .where(steps.c.participant_id == bindparam("who"), steps.c.opened_at.is_not(None))
    .order_by(steps.c.ord)
)
RULES = select(exclusions).where(exclusions.c.participant_id == bindparam("who")).order_by(exclusions.c.at)


@dataclass(frozen=True)
class Answered:
    """A page that somebody was shown: where it stands, what was answered, and after how many seconds."""

    ord: int
    phase: str
    item: str | None
    condition: str | None
    answers: Mapping[str, object]
    seconds: float | None
    late: bool


@dataclass(frozen=True)
class Excluded:
    """A rule that holds, or held until ``lifted`` (ISO 8601), for somebody, and what speaks for it."""

    rule: str
    evidence: Mapping[str, object]
    at: str
    lifted: str | None


@dataclass(frozen=True)
class OneParticipant:
    """All that an experimenter is shown of a participant; times are ISO 8601.

    While the study runs experimenters are blind: nothing says in which condition somebody is, so that nobody is
    excluded for it. ``row``, ``steps`` and the conditions of pages are then None; pages and answers that only some
    conditions ask for are left out, and pages are counted without them.
    """

    name: str
    bot: bool
    status: str
    row: int | None
    number: int | None
    came: str
    agreed: str | None
    finished: str | None
    steps: int | None
    answered: tuple[Answered, ...]
    exclusions: tuple[Excluded, ...]
    retake_of: str | None
    blind: bool

    @property
    def by_hand(self) -> Excluded | None:
        """The exclusion by hand that is in force."""
        return next((one for one in self.exclusions if one.rule == BY_HAND and one.lifted is None), None)


def open_participant(store: Store, name: str, *, free_text: bool = True) -> OneParticipant | None:
    """The participant of a pseudonym; None if there is none.

    Args:
        store: of the study.
        name: the pseudonym.
        free_text: with what people wrote in their own words; otherwise `WITHHELD` stands there.
    """
    with store.snapshot() as work:
        found = _find(work, name)
        return None if found is None else _opened(work, name, found[0], free_text)


def exclude(store: Store, name: str, reason: str, *, by: str) -> None:
    """Marks somebody as excluded by hand; nothing is deleted, and the reason stands in the export.

    Raises:
        VeraxError: no reason is given, or there is no such participant.
    """
    reason = " ".join(reason.split())[:LONGEST_REASON]
    if not reason:
        raise VeraxError("Say why: a reason is kept with every exclusion by hand.")
    store.write(_exclude, name, reason, by)


def unblind(store: Store, *, by: str) -> None:
    """Shows conditions beside answers from now on; who did it, and when, stays on record."""
    store.write(lambda work: act(work, by, UNBLINDING, {}) if is_blind(work) else None)


def include(store: Store, name: str, *, by: str) -> None:
    """Takes an exclusion by hand back; that it was there stays on record."""
    store.write(_include, name, by)


def delete_answers(store: Store, name: str, *, by: str) -> int | None:
    """Ends somebody's part at their wish and deletes what they gave; how many answered pages, None for nobody."""
    found = store.read(_find, name)
    left = None if found is None else store.withdraw_known("token_hash", found[1], delete=True, by=by)
    return None if left is None else left.deleted


def _exclude(work: Transaction, name: str, reason: str, by: str) -> None:
    who = _found(work, name)
    evidence = {"reason": reason, "by": by}
    again = (
        update(exclusions)
        .where(exclusions.c.participant_id == who, exclusions.c.rule == BY_HAND)
        .values(evidence=evidence, at=work.now, lifted_at=None)
    )
    if work.connection.execute(again).rowcount == 0:
        record = {"participant_id": who, "rule": BY_HAND, "evidence": evidence, "at": work.now}
        work.connection.execute(insert(exclusions), record)
    act(work, by, "exclusion", {"participant": name, "reason": reason})


def _include(work: Transaction, name: str, by: str) -> None:
    lift = (
        update(exclusions)
        .where(
            exclusions.c.participant_id == _found(work, name),
            exclusions.c.rule == BY_HAND,
            exclusions.c.lifted_at.is_(None),
        )
        .values(lifted_at=work.now)
    )
    if work.connection.execute(lift).rowcount:
        act(work, by, "inclusion", {"participant": name})


def _found(work: Transaction, name: str) -> int:
    found = _find(work, name)
    if found is None:
        raise VeraxError(f"There is no participant {name!r}; somebody may have been deleted meanwhile.")
    return found[0]


def _find(work: Transaction, name: str) -> tuple[int, str] | None:
    secret = state_of(work).secret
    everybody = work.connection.execute(EVERYBODY, {"study_id": work.study_id})
    return next(((id, token) for id, token in everybody if pseudonym(secret, token) == name), None)


def _opened(work: Transaction, name: str, who: int, free_text: bool) -> OneParticipant:
    person = work.connection.execute(PERSON, {"who": who}).one()
    blind = is_blind(work)
    return OneParticipant(
        name=name,
        bot=person.is_bot,
        status=person.status,
        row=None if blind else person.design_row,
        number=person.number,
        came=_moment(person.created_at) or "",
        agreed=_moment(person.consented_at),
        finished=_moment(person.finished_at),
        steps=None if blind else person.steps,
        answered=tuple(
            Answered(
                ord=ord if blind else step.ord,
                phase=step.phase,
                item=step.item,
                condition=None if blind else step.condition,
                answers={
                    name: value
                    for name, value in _answers(work, step.screen, step.answers or {}, free_text).items()
                    if not (blind and name in TELLING)
                },
                seconds=None if step.closed_at is None else (step.closed_at - step.opened_at) / SECOND,
                late=bool(step.late),
            )
            for ord, step in enumerate(_shown(work, who, blind), start=1)
        ),
        exclusions=tuple(
            Excluded(row.rule, row.evidence, _moment(row.at) or "", _moment(row.lifted_at))
            for row in work.connection.execute(RULES, {"who": who})
        ),
        retake_of=retakes(work, [who]).get(who),
        blind=blind,
    )


def _shown(work: Transaction, who: int, blind: bool) -> Iterator[Any]:
    """The pages that somebody was shown; for blind experimenters without those that only some conditions have."""
    telling = {
        asked.screen for asked in work.study.spec.questions if asked.shown_if and asked.shown_if.condition
    }
    for step in work.connection.execute(ANSWERED, {"who": who}):
        if not (blind and step.screen.rpartition("/")[2] in telling):
            yield step


def _answers(
    work: Transaction, screen: str, answers: Mapping[str, object], free_text: bool
) -> Mapping[str, object]:
    """The answers to a page; what is not known to be a choice counts as somebody's own words."""
    if free_text:
        return answers
    shown = work.study.screens.get(screen)
    chosen = {question.name for question in shown.questions if not question.in_own_words} if shown else set()
    return {name: value if name in chosen else WITHHELD for name, value in answers.items()}


def _moment(at: int | None) -> str | None:
    return None if at is None else from_micros(at).isoformat(timespec="seconds")
