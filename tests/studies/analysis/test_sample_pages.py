"""Where people stopped, page by page, and suspected retakes in the report, from a real database."""

from __future__ import annotations

from contextlib import closing

import pytest

from small_study import FAILED, Clock, begin, do_step, finish, small_study
from verax.studies.analysis.analyse import analysed
from verax.studies.analysis.sample import left_by_page, retake_problems
from verax.studies.answers.collect import collect
from verax.studies.store import open_store
from verax.studies.store.participant.enter import note_retake


@pytest.fixture
def store(tmp_path):
    clock = Clock()
    study = small_study(timing={"hold_minutes": 5}, target=9)
    with closing(open_store(study, f"sqlite:///{tmp_path / 'a.sqlite'}", clock=clock)) as opened:
        opened.moved = clock
        yield opened


def test_pages_are_counted_at_which_people_left_or_were_screened_out(store):
    finish(store, begin(store))
    for _ in range(2):  # left on their third page
        token = begin(store)
        for _ in range(2):
            do_step(store, token)
    out = begin(store)
    for given in (None, FAILED, None, FAILED):
        do_step(store, out, given)
    store.moved.advance(3600)
    collected = collect(store)
    (table,) = left_by_page(collected, analysed(collected))
    rows = [(row["page"], row["left"], row["withdrew"], row["screened_out"]) for row in table.rows]
    assert rows == [(3, 2, 0, 0), (5, 0, 0, 1)]
    assert "page 3" in table.sentence


def test_who_stayed_makes_no_table_and_nobody_is_suspected(store):
    finish(store, begin(store))
    collected = collect(store)
    assert left_by_page(collected, analysed(collected)) == ()
    assert retake_problems(collected, analysed(collected)) == []


def test_suspected_retakes_are_said(store):
    first, second = begin(store), begin(store)
    finish(store, first)
    finish(store, second)
    store.write(note_retake, second, first)
    collected = collect(store)
    (said,) = retake_problems(collected, analysed(collected))
    assert said.startswith("One person may have taken part twice")
    assert "1 of them analysed" in said
