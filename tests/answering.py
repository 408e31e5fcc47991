"""Studies with exclusion rules, and people who go through them at a stated speed with stated answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from small_study import Clock, small_study
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import Question
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.definition.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store import ParticipantView, Store

RIGHT = {"screening-1": 2, "screening-2": 1}  # in the small study


def declared(study: Study, *rules: Mapping[str, Any]) -> Study:
    """The study with these exclusion rules, and a hash of its own."""
    spec = study.spec.model_copy(update={"exclusion": [ExclusionRule(**rule) for rule in rules]})
    return replace(study, spec=spec, hash=uuid4().hex * 2)


def small(*rules: Mapping[str, Any], **choices: Any) -> Study:
    """The study of `small_study` under a new title, with these exclusion rules."""
    return declared(small_study(title=uuid4().hex, **choices), *rules)


def forward(*rules: Mapping[str, Any], test: int = 8, **options: Any) -> Study:
    """Forward simulation with two items to learn from and no screening test; nothing is trained."""
    protocol = {"name": "forward", "learning": 2, "test": test}
    material = sample_material(
        protocol,
        {"learning": 2, "test": test},
        options={"title": uuid4().hex, "screening": False, **options},
    )
    return declared(compose_study(material, make_protocol(material.spec.protocol), ""), *rules)


def answer_step(
    store: Store, token: str, clock: Clock, seconds: float, choose: Callable[[Question], str], **client: Any
) -> ParticipantView:
    """Shows the step that is due, waits, and answers it; what was shown."""
    where = store.show(token)
    assert where is not None
    assert where.screen is not None
    clock.advance(seconds)
    given = {question.name: choose(question) for question in where.screen.questions}
    store.submit(token, where.ord, where.nonce, given, client)
    return where


def first_option(question: Question) -> str:
    """The first answer, or a word; the right answers to the screening test of the small study."""
    return "words" if question.kind == "text" else str(RIGHT.get(question.name, 1))


def go_to(store: Store, token: str, clock: Clock, phase: str) -> None:
    """Answers everything before a phase, in ten seconds a page."""
    while (where := store.look(token)) is not None and where.phase is not None and where.phase.key != phase:
        answer_step(store, token, clock, 10, first_option)


def answer_all(
    store: Store,
    token: str,
    clock: Clock,
    seconds: Iterable[float],
    choose: Callable[[Question], str] = first_option,
) -> None:
    """Answers as many steps as there are times."""
    for each in seconds:
        answer_step(store, token, clock, each, choose)


def finish(
    store: Store,
    token: str,
    clock: Clock,
    seconds: float = 10,
    choose: Callable[[Question], str] = first_option,
) -> None:
    """Answers everything that is left."""
    while (where := store.look(token)) is not None and where.status == "active":
        answer_step(store, token, clock, seconds, choose)
