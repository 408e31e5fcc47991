"""How right somebody was: after each guess of a training, and at the very end.

Nobody is told while a measure is still to come: a score between two rounds of predictions would teach what the
explanations are there to teach. In a training the model's answer is shown in any case, and on the last page all answers
are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import bindparam, select

from verax.studies.model.screen import Meaning
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.studies.store.people import Transaction
from verax.studies.store.tables import responses, steps

GIVEN = (
    select(steps.c.ord, steps.c.item, responses.c.answers)
    .join_from(steps, responses)
    .where(
        steps.c.participant_id == bindparam("who"),
        steps.c.phase.in_(bindparam("phases", expanding=True)),
        steps.c.item.is_not(None),
    )
    .order_by(steps.c.ord)
)


@dataclass(frozen=True)
class Tally:
    """How many answers were right, of how many; ``last`` is whether the latest was."""

    right: int
    answers: int
    last: bool = False


def training_tally(work: Transaction, participant: int, phase: str, screen: str) -> Tally | None:
    """What is said where an answer of a training is repeated beside the model's; None on other pages."""
    protocol = make_protocol(work.study.spec.protocol)
    if work.study.phases[phase].kind != "training" or work.study.screens[screen].echo != protocol.scored:
        return None
    return _tally(work, participant, [phase], protocol)


def final_tally(work: Transaction, participant: int) -> Tally | None:
    """All answers that count; None where the spec keeps it to itself, or nothing was answered."""
    if not work.study.spec.about.score:
        return None
    phases = [phase.key for phase in work.study.phases.values() if phase.kind == "test"]
    return _tally(work, participant, phases, make_protocol(work.study.spec.protocol))


def _tally(work: Transaction, participant: int, phases: Iterable[str], protocol: Protocol) -> Tally | None:
    rows = work.connection.execute(GIVEN, {"who": participant, "phases": list(phases)}).all()
    scored = [
        protocol.score(work.study.items[item], given[protocol.scored]) > 0
        for _, item, given in rows
        if _is_given(given, protocol.scored)
    ]
    return Tally(sum(scored), len(scored), scored[-1]) if scored else None


def _is_given(answers: Mapping[str, Meaning | None], name: str) -> bool:
    return answers.get(name) is not None
