"""How a study stands: every number worked by hand, in both databases."""

from __future__ import annotations

import pytest

from answering import answer_all, finish, first_option, forward, go_to, small
from small_study import FAILED, begin, do_step
from verax.codec import decode, encode
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.flat_records import participant_records
from verax.studies.definition.study import DesignRow
from verax.studies.store.one_participant import unblind
from verax.studies.store.status import overview


def test_a_study_that_nobody_came_to(opened):
    store = opened(small(target=3))
    seen = overview(store, frozen="2029-12-31T00:00:00+00:00")
    assert (seen.title, seen.hash, seen.state) == (store.study.spec.title, store.study.hash, "open")
    assert (seen.frozen, seen.at) == ("2029-12-31T00:00:00+00:00", "2030-01-01T12:00:00+00:00")
    for group in (seen.people, seen.bots):
        assert (group.came, group.counts, group.phases, group.dropped, group.excluded) == (0, {}, (), {}, {})
        assert [(row.row, row.target, row.complete, row.active, row.left) for row in group.rows] == [
            (0, 3, 0, 0, 0),
            (1, 3, 0, 0, 0),
        ]
    assert (seen.last, seen.due, seen.retention_days) == ((), 0, None)


@pytest.fixture
def busy(opened, clock):
    """One complete, one who left in the test, one who failed the screening, one who declined, one asked, one active."""
    store = opened(small({"rule": "left"}, {"rule": "too-fast"}, rows=1, target=9, retention_days=1))
    finish(store, begin(store), clock)
    go_to(store, begin(store), clock, "test")
    clock.advance(3600)
    failed = begin(store)
    for given in ({}, FAILED, {}, FAILED):
        do_step(store, failed, given)
    store.consent(store.enter(), False)
    store.enter()
    answer_all(store, begin(store), clock, [5])
    bot = store.enter(is_bot=True)
    store.consent(bot, True)
    finish(store, bot, clock, seconds=1)
    apply_exclusions(store)
    return store


def test_everybody_is_counted_once_people_and_bots_apart(busy):
    seen = overview(busy)
    assert seen.people.counts == {
        "complete": 1,
        "left": 1,
        "screened-out": 1,
        "declined": 1,
        "invited": 1,
        "active": 1,
    }
    assert seen.bots.counts == {"complete": 1}
    assert (seen.people.came, seen.bots.came) == (6, 1)


def test_the_places_of_the_design(busy):
    seen = overview(busy)
    [row] = seen.people.rows
    assert (row.target, row.complete, row.active, row.left) == (9, 1, 1, 1)
    [row] = seen.bots.rows
    assert (row.target, row.complete, row.active, row.left) == (9, 1, 0, 0)


def test_where_people_dropped_out(busy):
    assert overview(busy).people.dropped == {"test": 1, "screening": 1}


def test_exclusions_by_rule(busy):
    seen = overview(busy)
    assert (seen.people.excluded, seen.bots.excluded) == ({"left": 1}, {"too-fast": 1})


def test_an_exclusion_that_was_lifted_does_not_count(opened, clock):
    store = opened(small({"rule": "left"}))
    token = begin(store)
    clock.advance(3600)
    apply_exclusions(store)
    assert overview(store).people.excluded == {"left": 1}
    store.show(token)
    apply_exclusions(store)
    assert overview(store).people.excluded == {}


def test_who_did_something_last(busy, clock):
    clock.advance(60)
    last = overview(busy, last=2).last
    names = [record["participant"] for record in participant_records(busy)]
    assert [(one.bot, one.status, one.phase, one.step, one.steps) for one in last] == [
        (True, "complete", "debrief", 11, 11),
        (False, "active", "screening", 2, None),
    ]
    assert [one.participant for one in last] == names[::-1][:2]
    assert [(one.minutes, one.ago) for one in last] == [(9 / 60, 1.0), (5 / 60, 1 + 9 / 60)]
    assert [one.rules for one in last] == [("too-fast",), ()]
    everybody = overview(busy).last
    assert [one.status for one in everybody[2:]] == [
        "invited",
        "declined",
        "screened-out",
        "left",
        "complete",
    ]


def test_rows_of_people_are_told_once_the_study_is_closed_or_unblinded(busy):
    """In a study between people the row is the condition; bots are nobody to be fair to."""
    assert {one.row for one in overview(busy).last if not one.bot} == {None}
    assert [one.row for one in overview(busy).last if one.bot] == [0]
    unblind(busy, by="anna")
    assert {one.row for one in overview(busy).last if one.status in ("left", "complete")} == {0}
    assert {one.steps for one in overview(busy).last if one.status in ("left", "complete")} == {11}


def test_quartiles_of_the_minutes_in_each_part(opened, clock):
    """Eight predictions at 6, 12 and 30 seconds: 0.8, 1.6 and 4 minutes; quartiles 1.2, 1.6 and 2.8."""
    store = opened(forward())
    for seconds in (6, 12, 30):
        token = begin(store)
        go_to(store, token, clock, "pre")
        answer_all(store, token, clock, [seconds] * 8)
    token = begin(store)
    go_to(store, token, clock, "pre")
    answer_all(store, token, clock, [500])  # in the middle: not counted
    phases = {one.phase: one for one in overview(store).people.phases}
    assert list(phases) == ["instructions", "about-learning", "learning", "about-pre", "pre"]
    pre = phases["pre"]
    assert (pre.people, pre.title) == (3, "First predictions")
    assert (pre.low, pre.median, pre.high) == pytest.approx((1.2, 1.6, 2.8))
    assert phases["learning"].people == 4
    assert phases["learning"].median == pytest.approx(20 / 60)


def test_the_time_between_pages_does_not_count(opened, clock):
    store = opened(forward())
    token = begin(store)
    answer_all(store, token, clock, [6, 6])
    clock.advance(10_000)
    answer_all(store, token, clock, [6, 6])
    assert {one.phase: one.median for one in overview(store).people.phases}["learning"] == pytest.approx(0.2)


def test_whose_time_is_over(busy, clock):
    assert overview(busy).due == 0
    clock.advance(24 * 3600 - 30)
    seen = overview(busy)
    assert (seen.retention_days, seen.due) == (1, 2)  # the others were there within the last half minute
    clock.advance(60)
    assert overview(busy).due == 7


def test_a_paused_study_says_so(opened):
    store = opened(small())
    store.set_state("paused")
    assert overview(store).state == "paused"


def test_studies_in_one_database_do_not_mix(opened, clock):
    first, second = opened(small({"rule": "too-fast"})), opened(small())
    finish(first, begin(first), clock, seconds=1, choose=first_option)
    apply_exclusions(first)
    seen = overview(second)
    assert (seen.people.came, seen.people.phases, seen.people.excluded, seen.last) == (0, (), {}, ())


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"condition": "lime"}, "lime"),
        ({"rounds": [{"condition": "a", "group": 1}, {"condition": "b", "group": 0}]}, "a, b"),
        ({"block": 3, "conditions": {"i001": "a"}}, "block 3"),
        ({"conditions": [0, 1]}, "conditions: 0, 1"),
    ],
)
def test_what_a_row_gives_in_words(cells, said):
    row = decode(DesignRow, {"number": 0, "target": 1, "cells": cells})
    assert row.cells.in_words() == said
    assert encode(row.cells) == cells
