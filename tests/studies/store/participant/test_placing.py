"""A screening test that is the same for all comes before a row of the design is given."""

from __future__ import annotations

from collections import Counter

import pytest

from small_study import FAILED, answers, begin, do_step, finish
from store_tools import rows
from verax.studies.store import Refused, Submitted
from verax.studies.store.tables import participants, steps


@pytest.fixture
def door(open_with):
    """Two rows of one place each, given after the screening test."""
    return open_with(rows=2, target=1, method="teaches", attempts=2)


def placed(store):
    return rows(store, participants.c.status, participants.c.design_row)


def fail(store, token):
    do_step(store, token)
    do_step(store, token, FAILED)
    do_step(store, token)
    do_step(store, token, FAILED)


def passes(store, token):
    do_step(store, token)
    do_step(store, token)


def test_nobody_has_a_row_before_the_test_is_passed(door):
    token = begin(door)
    assert placed(door) == [("active", None)]
    assert len(rows(door, steps.c.id)) == 4
    passes(door, token)
    ((status, row),) = placed(door)
    assert (status, row in (0, 1)) == ("active", True)
    where = door.show(token)
    assert where.step.phase == "learning"
    assert where.steps == len(rows(door, steps.c.id))
    assert finish(door, token).status == "complete"


def test_who_fails_is_out_without_ever_having_had_a_row_and_the_place_is_free(door):
    first, second = begin(door), begin(door)
    with pytest.raises(Refused):
        door.enter()  # both hold a place while they are at the test
    fail(door, first)
    assert placed(door) == [("screened-out", None), ("active", None)]
    third = begin(door)
    for token in (second, third):
        assert finish(door, token).status == "complete"
    assert Counter(row for status, row in placed(door) if status == "complete") == {0: 1, 1: 1}


def test_a_second_attempt_gives_a_row_as_well(door):
    token = begin(door)
    do_step(door, token)
    do_step(door, token, FAILED)
    passes(door, token)
    assert placed(door)[0][1] is not None


def test_answers_to_pages_that_are_not_planned_yet_are_ignored(door):
    token = begin(door)
    where = door.show(token)
    assert where.steps > 4
    assert door.submit(token, 6, where.nonce, {}, {}) == Submitted()
    assert door.look(token).ord == 1


def test_whoever_passes_when_all_places_were_given_away_is_told_and_gets_the_next_free_one(door, clock):
    late = begin(door)
    do_step(door, late)
    door.show(late)
    clock.advance(3 * 3600)  # the place is not held any more
    others = [begin(door), begin(door)]
    for token in others:
        passes(door, token)
    where = door.show(late)
    door.submit(late, where.ord, where.nonce, answers(where.screen), {})
    assert door.show(late).status == "full"
    door.withdraw(others[0])
    assert door.show(late).status == "consent"
    door.consent(late, True)
    assert door.show(late).step.phase == "learning"
    assert finish(door, late).status == "complete"
