"""The laws of allocation on the real store, under random arrivals, completions, departures and returns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from small_study import FAILED, Clock, begin, do_step, finish, small_study
from store_tools import rows
from verax.studies.store import Refused, open_store
from verax.studies.store.tables import participants

HOLD = 10 * 60
ROWS = 3
TARGET = 2


def design_rows(store):
    return [row for (row,) in rows(store, participants.c.design_row)]


def test_arrivals_in_sequence_are_never_more_than_one_apart(open_with):
    store = open_with(rows=ROWS, target=4, with_items=False)
    for arrival in range(1, ROWS * 4 + 1):
        begin(store)
        counts = Counter(design_rows(store))
        assert sum(counts.values()) == arrival
        assert max(counts.values()) - min(counts.get(row, 0) for row in range(ROWS)) <= 1
    with pytest.raises(Refused):
        store.enter()


def test_a_latin_square_stays_balanced_when_every_second_participant_leaves(open_with, clock):
    store = open_with(rows=ROWS, target=2, with_items=False, timing={"hold_minutes": HOLD / 60})
    arrivals = 0
    while True:
        try:
            token = begin(store)
        except Refused:
            break
        arrivals += 1
        if arrivals % 2:
            finish(store, token)
        else:
            clock.advance(HOLD + 1)
    assert arrivals == 11  # six who complete it, and five between them who left
    complete = [
        row
        for row, status in rows(store, participants.c.design_row, participants.c.status)
        if status == "complete"
    ]
    square = {row.number: row.cells["conditions"] for row in store.study.rows}
    cells = Counter((group, condition) for row in complete for group, condition in enumerate(square[row]))
    assert cells == {(group, condition): 2 for group in range(ROWS) for condition in range(ROWS)}


@dataclass
class Person:
    """What the model knows of a participant."""

    token: str
    row: int
    hold_until: float
    status: str = "active"
    returned: bool = False


class Arrivals(RuleBasedStateMachine):
    """A store beside a model of it that counts people itself."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        study = small_study(
            title=uuid4().hex,
            rows=ROWS,
            target=TARGET,
            with_items=False,
            timing={"hold_minutes": HOLD / 60},
        )
        self.store = open_store(study, self.url, clock=self.clock)
        self.began = self.clock.now
        self.people: list[Person] = []

    def time(self) -> float:
        return (self.clock.now - self.began).total_seconds()

    def taken(self) -> Counter[int]:
        return Counter(
            person.row
            for person in self.people
            if person.status == "complete" or (person.status == "active" and person.hold_until > self.time())
        )

    def active(self) -> list[Person]:
        return [person for person in self.people if person.status == "active"]

    def held(self, person: Person) -> None:
        """Somebody does something: a place is held (again)."""
        person.returned |= person.hold_until <= self.time()
        person.hold_until = self.time() + HOLD

    @rule()
    def arrive(self) -> None:
        self.somebody_arrives()

    def somebody_arrives(self) -> bool:
        before = self.taken()
        free = [row for row in range(ROWS) if before[row] < TARGET]
        try:
            token = begin(self.store)
        except Refused:
            assert free == []
            return False
        row = design_rows(self.store)[-1]
        assert row in free
        assert before[row] == min(before[row] for row in free)
        self.people.append(Person(token, row, self.time() + HOLD))
        return True

    @precondition(active)
    @rule(data=st.data())
    def complete(self, data) -> None:
        person = data.draw(st.sampled_from(self.active()))
        self.held(person)
        assert finish(self.store, person.token).status == "complete"
        person.status = "complete"

    @precondition(active)
    @rule(data=st.data())
    def do_something(self, data) -> None:
        person = data.draw(st.sampled_from(self.active()))
        self.held(person)
        do_step(self.store, person.token)
        person.status = self.store.look(person.token).status

    @precondition(active)
    @rule(data=st.data())
    def only_look(self, data) -> None:
        """Looking keeps nobody's place, except that who comes back holds one again."""
        person = data.draw(st.sampled_from(self.active()))
        if person.hold_until <= self.time():
            self.held(person)
        self.store.show(person.token)

    @precondition(active)
    @rule(data=st.data())
    def fail_the_screening(self, data) -> None:
        person = data.draw(st.sampled_from(self.active()))
        self.held(person)
        while (where := self.store.look(person.token)).status == "active":
            do_step(self.store, person.token, FAILED if where.phase.key == "screening" else None)
        person.status = where.status  # complete, for who had passed it before

    @precondition(active)
    @rule(data=st.data())
    def withdraw(self, data) -> None:
        person = data.draw(st.sampled_from(self.active()))
        self.store.withdraw(person.token)
        person.status = "withdrawn"

    @rule(minutes=st.sampled_from([1, 4, 9, 10, 11, 30]))
    def wait(self, minutes) -> None:
        self.clock.advance(minutes * 60)

    def teardown(self) -> None:
        """Those who are left go away; then people come until nobody is let in."""
        try:
            self.clock.advance(HOLD + 1)
            while self.somebody_arrives():
                finish(self.store, self.people[-1].token)
                self.people[-1].status = "complete"
            assert rows(self.store, participants.c.status, participants.c.design_row) == [
                (person.status, person.row) for person in self.people
            ]
            for row in range(ROWS):
                complete = [
                    person for person in self.people if (person.status, person.row) == ("complete", row)
                ]
                assert len(complete) >= TARGET
                # More than the target only by those who came back after their place was given away.
                assert len(complete) - sum(person.returned for person in complete) <= TARGET
        finally:
            self.store.close()


def test_rows_stay_balanced_under_random_arrivals_departures_and_returns(shared_url):
    machine = type("ArrivalsHere", (Arrivals,), {"url": shared_url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=6,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
