from __future__ import annotations

from datetime import timedelta

import pytest

from small_study import begin, do_step, finish, walk_to
from store_tools import rows
from verax.studies.store import Submitted
from verax.studies.store.tables import events, participants, responses, steps


def states(store):
    """Of the steps of the test phase."""
    return [state for phase, state in rows(store, steps.c.phase, steps.c.state) if phase == "test"]


def types(store):
    return [type for (type,) in rows(store, events.c.type)]


def lateness(store):
    """Of the answers in the test phase."""
    timed = {id for id, phase in rows(store, steps.c.id, steps.c.phase) if phase == "test"}
    return [late for step_id, late in rows(store, responses.c.step_id, responses.c.late) if step_id in timed]


def test_a_deadline_is_fixed_by_the_first_display(store, clock):
    token = begin(store)
    for _ in range(3):
        do_step(store, token)
    clock.advance(100)  # before the page is opened no time runs
    assert store.look(token).deadline is None
    first = store.show(token)
    assert first.deadline == clock.now + timedelta(seconds=60)
    assert first.seconds_left == 60
    clock.advance(12.5)
    second = store.show(token)
    assert (second.deadline, second.seconds_left) == (first.deadline, 47.5)
    assert store.consent(token, True).deadline == first.deadline
    clock.advance(100)
    third = store.show(token)
    assert (third.deadline, third.seconds_left, third.nonce) == (first.deadline, 0, first.nonce)


def test_only_the_phases_with_a_limit_have_deadlines(store):
    token = begin(store)
    timed = {}
    while store.look(token).status == "active":
        where = do_step(store, token)
        timed.setdefault(where.phase.key, set()).add(where.deadline is not None)
    assert timed == {key: {key == "test"} for key in store.study.phases}


def test_views_are_counted_and_reloads_are_noted(store):
    token = begin(store)
    store.show(token)
    store.show(token)
    store.look(token)
    store.show(token)
    assert rows(store, steps.c.views)[0] == (3,)
    assert types(store) == ["reload", "reload"]


def test_an_answer_up_to_two_seconds_after_the_deadline_is_in_time(open_with, clock):
    store = open_with(timing={"item_seconds": 10})
    token = begin(store)
    where = walk_to(store, token, "test")
    clock.advance(12)
    assert store.submit(token, where.ord, where.nonce, {"prediction": "1"}, {}).stored
    where = store.show(token)
    clock.advance(12.000001)
    assert store.submit(token, where.ord, where.nonce, {"prediction": "1", "rating": "1"}, {}).stored
    assert lateness(store) == [False, True]


def test_the_limit_of_a_phase_counts_from_the_first_display_of_its_first_step(open_with, clock):
    store = open_with(timing={"session_minutes": 2, "item_seconds": 100})
    token = begin(store)
    first = walk_to(store, token, "test")
    assert first.seconds_left == 100  # the item's limit is nearer
    clock.advance(50)
    do_step(store, token)
    second = store.show(token)
    assert second.deadline == first.deadline + timedelta(seconds=20)  # the phase's limit is nearer
    clock.advance(90)
    do_step(store, token)
    third = store.show(token)  # opened after the end of the phase: shown, and late from the beginning
    assert (third.deadline, third.seconds_left) == (second.deadline, 0)
    assert finish(store, token).status == "complete"
    assert lateness(store) == [False, True, True]


def test_a_closed_phase_skips_what_is_left_of_it_and_says_so(open_with, clock):
    store = open_with(timing={"session_minutes": 1, "late": "close"})
    token = begin(store)
    walk_to(store, token, "test")
    do_step(store, token)
    where = store.show(token)
    assert where.number_in_phase == 2
    clock.advance(62)
    assert store.show(token).number_in_phase == 2  # an answer may still be on its way
    clock.advance(0.000001)
    after = store.show(token)
    assert after.phase.key == "about"
    assert states(store) == ["closed", "expired", "expired"]
    assert finish(store, token).status == "complete"


def test_an_answer_to_a_closed_phase_is_kept_as_an_event(open_with, clock):
    store = open_with(timing={"session_minutes": 1, "late": "close"})
    token = begin(store)
    where = walk_to(store, token, "test")
    clock.advance(63)
    assert store.submit(token, where.ord, where.nonce, {"prediction": "2"}, {}) == Submitted()
    assert states(store) == ["expired"] * 3
    [(ord, type, data)] = rows(store, events.c.ord, events.c.type, events.c.data)
    assert (ord, type, data["given"]) == (where.ord, "late", {"prediction": "2"})
    assert store.show(token).phase.key == "about"
    # The same page once more: too late as well, and nobody is moved.
    assert store.submit(token, where.ord, where.nonce, {"prediction": "2"}, {}) == Submitted()
    assert store.look(token).phase.key == "about"


def test_a_phase_is_closed_before_a_new_step_of_it_would_be_shown(open_with, clock):
    store = open_with(timing={"session_minutes": 1, "late": "close"})
    token = begin(store)
    where = walk_to(store, token, "test")
    clock.advance(61)  # in the two seconds of grace
    assert store.submit(token, where.ord, where.nonce, {"prediction": "2"}, {}).stored
    assert store.show(token).phase.key == "about"
    assert states(store) == ["closed", "expired", "expired"]
    assert lateness(store) == [False]


def test_the_limit_of_an_item_closes_that_item_alone(open_with, clock):
    store = open_with(timing={"item_seconds": 20, "late": "close"})
    token = begin(store)
    walk_to(store, token, "test")
    clock.advance(23)
    where = store.show(token)
    assert (where.number_in_phase, where.seconds_left) == (2, 20)
    assert states(store) == ["expired", "open", "pending"]
    assert where.echo is None
    assert finish(store, token).status == "complete"


def test_the_last_phase_may_run_out_and_the_code_is_given_all_the_same(open_with, clock):
    """Everything that could be answered is; what could not says so."""
    store = open_with(timing={"session_minutes": 1, "late": "close"})
    token = begin(store)
    walk_to(store, token, "test")
    mine = steps.c.participant_id == store.look(token).participant
    store.database.write(lambda connection: connection.execute(steps.delete().where(steps.c.ord > 8, mine)))
    clock.advance(100)
    where = store.show(token)
    assert where.status == "complete"
    assert where.completion_code


def test_who_comes_back_after_the_hold_ran_out_goes_on_and_holds_a_place_again(open_with, clock):
    store = open_with(rows=1, target=1, timing={"hold_minutes": 10})
    token = begin(store)
    before = store.show(token)
    clock.advance(601)
    assert store.enter()  # the place could be had
    after = store.show(token)
    assert (after.ord, after.nonce) == (before.ord, before.nonce)
    assert types(store) == ["resume", "reload"]
    until = rows(store, participants.c.hold_until)[0][0]
    assert until == int((clock.now + timedelta(minutes=10)).timestamp()) * 1_000_000


def test_limits_without_end_are_taken_for_very_long_ones(open_with, clock):
    endless = float("inf")
    store = open_with(timing={"item_seconds": endless, "session_minutes": endless, "hold_minutes": endless})
    token = begin(store)
    assert walk_to(store, token, "test").seconds_left > 1e9
    assert finish(store, token).status == "complete"


def test_a_step_that_cannot_be_shown_is_said_and_not_looked_at_for_ever(store):
    """Somebody has closed the step behind the store's back."""
    token = begin(store)
    mine = steps.c.participant_id == store.show(token).participant
    store.database.write(
        lambda connection: connection.execute(steps.update().where(mine).values(state="closed"))
    )
    with pytest.raises(RuntimeError, match="the last one looked at was 1"):
        store.show(token)
