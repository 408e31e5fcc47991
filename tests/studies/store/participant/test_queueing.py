"""A crowd of invented people does not take a study from those who answer."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from small_study import finish
from verax.studies.store import Refused
from verax.studies.store.participant.placing import FIRST_SECONDS, WAITING_SECONDS, crowd
from verax.studies.store.tables import participants

ONE = ("203.0.113.7", "203.0.113.0")


def came(store, origin=ONE) -> str:
    """Somebody who came from an address and agreed."""
    token = store.enter(origin=origin)
    store.consent(token, True)
    return token


def statuses(store, tokens) -> list[str]:
    return [store.look(token).status for token in tokens]


def answer(store, token, clock, seconds: float) -> None:
    """Answers pages, each in so many seconds, up to the first with a question."""
    while True:
        where = store.show(token)
        clock.advance(seconds)
        given = {question.name: "1" for question in where.screen.questions}
        assert store.submit(token, where.ord, where.nonce, given, {}).stored
        if where.screen.questions:
            return


def test_one_address_holds_a_part_of_the_places_and_only_for_a_short_time(open_with, clock):
    store = open_with(rows=2, target=30)
    invented = [came(store) for _ in range(75)]
    found = statuses(store, invented)
    assert found.count("active") == 20  # a third of 60
    other = came(store, origin=("198.51.100.9", "198.51.100.0"))
    assert statuses(store, [other]) == ["active"]
    clock.advance(FIRST_SECONDS)
    late = [came(store, origin=(f"192.0.{number}.1", f"192.0.{number}.0")) for number in range(60)]
    assert statuses(store, late) == ["active"] * 60


def test_a_network_of_addresses_is_bounded_too(open_with, clock):
    store = open_with(rows=2, target=30)
    invented = [came(store, origin=(f"203.0.113.{number}", "203.0.113.0")) for number in range(75)]
    assert statuses(store, invented).count("active") == 30


def test_who_answers_a_question_holds_the_place_as_long_as_ever(open_with, clock):
    store = open_with(rows=2, target=30)
    token = came(store)
    held, origin = held_of(store)
    assert held == FIRST_SECONDS
    assert origin is not None
    assert "203.0.113" not in origin
    answer(store, token, clock, 3.0)
    held, origin = held_of(store)
    assert (held, origin) == (3600, None)


def test_an_answer_in_no_time_proves_nothing(open_with, clock):
    store = open_with(rows=2, target=30)
    token = came(store)
    answer(store, token, clock, 0.2)
    held, origin = held_of(store)
    assert held == FIRST_SECONDS
    assert origin is not None


def held_of(store) -> tuple[float, str | None]:
    query = select(participants.c.hold_until, participants.c.last_seen_at, participants.c.origin).where(
        participants.c.study_id == store.study_id
    )
    until, seen, origin = store.database.read(lambda one: one.execute(query).one())
    return (until - seen) / 1e6, origin


def test_a_class_behind_one_address_takes_places_in_turns(open_with, clock):
    store = open_with(rows=2, target=30)
    people = [came(store) for _ in range(30)]
    assert statuses(store, people[20:]) == ["full"] * 10
    for token in people[:20]:
        answer(store, token, clock, 2.0)
    # Whoever waits is offered a place, in the order in which they came.
    assert statuses(store, people[20:]) == ["consent"] * 10
    for token in people[20:]:
        store.consent(token, True)
    assert statuses(store, people) == ["active"] * 30


def test_who_finds_no_place_waits_in_a_queue_and_is_let_in_in_order(open_with, clock):
    store = open_with(rows=1, target=1)
    first = came(store)
    waiting = [store.enter(origin=(f"198.51.100.{number}", "x")) for number in range(3)]
    assert [store.show(token).queue for token in waiting] == [1, 2, 3]
    store.withdraw(first)
    assert [store.look(token).status for token in waiting] == ["consent", "full", "full"]
    # The second cannot pass the first by pressing the button.
    store.consent(waiting[1], True)
    assert store.look(waiting[1]).status == "full"
    # The first has closed the page.
    clock.advance(WAITING_SECONDS - 1)
    for token in waiting[1:]:
        store.show(token)
    clock.advance(2)
    assert [store.look(token).status for token in waiting[1:]] == ["consent", "full"]
    store.consent(waiting[1], True)
    assert store.look(waiting[1]).status == "active"


def test_where_all_are_done_nobody_waits(open_with, clock):
    store = open_with(rows=1, target=1)
    finish(store, came(store))
    with pytest.raises(Refused) as refused:
        store.enter(origin=ONE)
    assert refused.value.reason == "full"


def test_the_experimenter_can_see_it(open_with, clock):
    store = open_with(rows=2, target=30)
    for _ in range(75):
        came(store)
    assert store.read(crowd) == (55, 20, 20)


def test_a_crowd_that_may_have_no_more_places_holds_up_nobody_behind_it(open_with, clock):
    store = open_with(rows=2, target=30)
    invented = [came(store) for _ in range(75)]
    honest = [came(store, origin=(f"192.0.{number}.1", f"192.0.{number}.0")) for number in range(41)]
    assert statuses(store, honest) == ["active"] * 40 + ["full"]
    late = honest[-1]
    assert store.look(late).queue == 1  # those before may have no place, however many are free
    store.withdraw(honest[0])
    assert statuses(store, [late]) == ["consent"]
    store.consent(late, True)
    assert statuses(store, [late]) == ["active"]
    # A program that goes on asking for all of its ids is before nobody either once its places are over.
    for token in invented:
        store.show(token)
    store.withdraw(honest[1])
    last = came(store, origin=("198.51.100.9", "198.51.100.0"))
    assert statuses(store, [last]) == ["active"]


def test_of_a_crowd_in_the_queue_only_as_many_come_first_as_may_have_a_place(open_with, clock):
    store = open_with(rows=1, target=30)
    first = [came(store, origin=(f"192.0.{number}.1", f"192.0.{number}.0")) for number in range(30)]
    crowd_of_one = [came(store) for _ in range(50)]
    after = came(store, origin=("198.51.100.9", "198.51.100.0"))
    # Ten of the crowd may have a place each; nobody waits for the other forty.
    assert store.look(after).queue == 11
    for token in first[:11]:
        store.withdraw(token)
    assert statuses(store, [*crowd_of_one[:10], after]) == ["consent"] * 11
    store.consent(after, True)
    assert statuses(store, [after]) == ["active"]
