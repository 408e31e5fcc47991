"""A study's answers as they are at one moment, and what the study says about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.clock import to_micros
from verax.studies.store.store import Store
from verax.studies.store.tables import studies


@dataclass(frozen=True)
class View:
    """A study's answers as they are at one moment.

    Attributes:
        study: the frozen study.
        study_id: its number in the database.
        connection: sees the database of that moment.
        secret: the study's, from which pseudonyms are made.
        now: the moment, in microseconds since 1970.
        identifying: whether records have the columns that could lead to a person.
        free_text: whether they have what people wrote.
    """

    study: Study
    study_id: int
    connection: Connection
    secret: str
    now: int
    identifying: bool = False
    free_text: bool = False

    @cached_property
    def items(self) -> Mapping[str | None, tuple[Any, ...]]:
        """By item: label, prediction, whether it is right, prediction of the variant, whether it flips."""
        known: dict[str | None, tuple[Any, ...]] = {None: (None,) * 5}  # a step may have no item
        for item in self.study.items.values():
            variant = (None, None) if item.variant is None else (item.variant.prediction, item.flips)
            known[item.id] = (item.label, item.prediction, item.correct, *variant)
        return known

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """By phase: its kind."""
        return {key: phase.kind for key, phase in self.study.phases.items()}

    @cached_property
    def scored(self) -> str:
        """The name of the scored question."""
        return make_protocol(self.study.spec.protocol).scored

    @cached_property
    def score(self) -> Callable[[str, Any], float]:
        """What an answer to the scored question about an item is worth."""
        protocol, items = make_protocol(self.study.spec.protocol), self.study.items
        known: dict[tuple[str, Any], float] = {}

        def worth(item: str, meaning: Any) -> float:
            if (item, meaning) not in known:
                known[item, meaning] = protocol.score(items[item], meaning)
            return known[item, meaning]

        return worth

    @cached_property
    def asked(self) -> Mapping[str, Mapping[str, bool]]:
        """By screen: its questions, and whether each is answered in own words."""
        return {
            key: {question.name: question.kind == "text" for question in screen.questions}
            for key, screen in self.study.screens.items()
        }


@contextmanager
def view(store: Store, *, identifying: bool = False, free_text: bool = False) -> Iterator[View]:
    """The study's answers as they are now; those that arrive meanwhile are not seen."""
    with store.database.snapshot() as connection:
        secret = connection.execute(
            select(studies.c.secret).where(studies.c.id == store.study_id)
        ).scalar_one()
        yield View(
            store.study, store.study_id, connection, secret, to_micros(store.clock()), identifying, free_text
        )
