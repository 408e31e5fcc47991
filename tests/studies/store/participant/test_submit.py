from __future__ import annotations

import math

import pytest

from small_study import FAILED, answers, begin, do_step, finish, walk_to
from store_tools import rows
from verax.studies.store import Submitted
from verax.studies.store.tables import events, participants, responses, steps

SECOND = 1_000_000


def stored(store):
    """By ord: what was answered, at which positions, late or not."""
    ord_of = dict(rows(store, steps.c.id, steps.c.ord))
    found = rows(store, responses.c.step_id, responses.c.answers, responses.c.positions, responses.c.late)
    return {ord_of[step_id]: tuple(answer) for step_id, *answer in found}


def test_answers_are_stored_as_what_they_mean_beside_where_they_stood(store):
    finish(store, begin(store))
    assert stored(store) == {
        1: ({}, {}, False),
        2: ({"screening-1": 2, "screening-2": 1}, {"screening-1": 2, "screening-2": 1}, False),
        5: ({}, {}, False),
        6: ({"prediction": 1}, {"prediction": 2}, False),
        7: ({"prediction": 1, "rating": 7}, {"prediction": 2, "rating": 7}, False),
        8: ({}, {}, False),
        9: ({"reason": "Out of curiosity."}, {}, False),
        10: ({"strategy": "By heart."}, {}, False),
        11: ({}, {}, False),
    }


def test_every_time_of_server_and_browser_is_kept(store, clock):
    token = begin(store)
    clock.advance(5)
    where = store.show(token)
    clock.advance(7.25)
    client = {
        "shown": 1893456005000.5,
        "first_input": "310.25",
        "visible_ms": 7000,
        "blurs": 2,
        "submitted": -3,
    }
    store.submit(token, where.ord, where.nonce, {}, client)
    began = 1893499200 * SECOND  # noon of the first of January 2030
    assert rows(store, steps.c.opened_at, steps.c.closed_at)[0] == (began + 5 * SECOND, began + 12_250_000)
    assert rows(store, responses.c.received_at, responses.c.client) == [
        (
            began + 12_250_000,
            {
                "shown": 1893456005000.5,
                "first_input": 310.25,
                "visible_ms": 7000,
                "blurs": 2,
                "refused": ["submitted"],
            },
        )
    ]


def test_a_submission_that_comes_again_is_logged_and_moves_nobody(store):
    token = begin(store)
    where = walk_to(store, token, "test")
    first = store.submit(token, where.ord, where.nonce, {"prediction": "1"}, {})
    second = store.submit(token, where.ord, where.nonce, {"prediction": "2"}, {"blurs": 1})
    assert (first, second) == (Submitted(stored=True), Submitted(duplicate=True))
    assert store.look(token).ord == where.ord + 1
    assert stored(store)[where.ord][0] == {"prediction": 0}
    assert rows(store, events.c.ord, events.c.type, events.c.data) == [
        (
            where.ord + 1,
            "duplicate",
            {"ord": where.ord, "given": {"prediction": "2"}, "client": {"blurs": 1}},
        )
    ]


def test_only_the_page_that_was_shown_can_answer_a_step(store):
    token = begin(store)
    do_step(store, token)
    where = store.look(token)
    good = {"screening-1": "2", "screening-2": "1"}
    assert store.submit(token, where.ord, where.nonce, good, {}) == Submitted()  # never displayed
    where = store.show(token)
    for ord, nonce in [
        (where.ord, "guess"),
        (where.ord, ""),
        (where.ord + 1, where.nonce),
        (where.ord - 1, where.nonce),
        (0, where.nonce),
        (-1, where.nonce),
        (10**30, where.nonce),
    ]:
        assert store.submit(token, ord, nonce, good, {}) == Submitted()
    assert store.look(token).ord == where.ord
    assert list(stored(store)) == [1]
    assert [type for (type,) in rows(store, events.c.type)] == ["stale"] * 5
    assert store.submit(token, where.ord, where.nonce, good, {}).stored


def test_what_is_wrong_with_answers_is_said_by_question_and_nothing_is_stored(store):
    token = begin(store)
    walk_to(store, token, "test")
    do_step(store, token)
    where = store.show(token)
    before = stored(store)
    submitted = store.submit(token, where.ord, where.nonce, {"prediction": "3", "unknown": "1"}, {})
    assert submitted.errors == {
        "prediction": "This is not one of the answers; please choose again.",
        "rating": "Please choose an answer.",
    }
    assert not submitted.stored
    assert stored(store) == before
    assert store.look(token).ord == where.ord
    # What was written so far is not lost if the participant never comes back.
    type, data = rows(store, events.c.type, events.c.data)[-1]
    assert (type, data["given"]) == ("refused", {"prediction": "3", "unknown": "1"})


def test_texts_of_any_kind_come_back_as_written(store):
    token = begin(store)
    where = walk_to(store, token, "about")
    assert store.submit(token, where.ord, where.nonce, {"reason": "x" * 10_001}, {}).errors == {
        "reason": "Please write at most 10,000 characters; there are 10,001 now."
    }
    written = "Zoë said: “so ⟦0⟧ it is” 🙂 '; DROP TABLE response; -- \\u0000 %s {} \t\n" + "𝄞" * 9_000
    assert store.submit(token, where.ord, where.nonce, {"reason": f"\x00{written}\x00"}, {}).stored
    assert stored(store)[where.ord][0] == {"reason": written}


def test_insane_times_of_a_browser_do_not_hinder_an_answer(store):
    token = begin(store)
    where = store.show(token)
    client = {
        "shown": math.nan,
        "a": math.inf,
        "b": -1,
        "c": 1e300,
        "d": 10**400,
        "e": "\x00",
        "f\x00": {},
        "ok": 1,
    }
    assert store.submit(token, where.ord, where.nonce, {}, client).stored
    [(kept,)] = rows(store, responses.c.client)
    assert kept == {"ok": 1, "refused": ["shown", "a", "b", "c", "d", "e", "f"]}


def test_who_passes_the_screening_test_skips_the_further_tries(store):
    token = begin(store)
    do_step(store, token)
    do_step(store, token)
    assert store.look(token).phase.key == "learning"
    assert [state for (state,) in rows(store, steps.c.state)][:5] == [
        "closed",
        "closed",
        "skipped",
        "skipped",
        "pending",
    ]


def test_who_fails_reads_the_instructions_again_and_may_try_once_more(store):
    token = begin(store)
    do_step(store, token)
    do_step(store, token, FAILED)
    assert do_step(store, token).step.screen == "instructions-again:everybody"
    assert do_step(store, token).step.screen == "screening:everybody"
    assert finish(store, token).status == "complete"
    assert [state for (state,) in rows(store, steps.c.state)] == ["closed"] * 11


def test_who_fails_the_last_try_is_out_and_frees_the_place(open_with):
    store = open_with(rows=1, target=1)
    token = begin(store)
    for given in (None, FAILED, None, FAILED):
        do_step(store, token, given)
    where = store.show(token)
    assert (where.status, where.completion_code) == ("screened-out", None)
    assert rows(store, participants.c.status, participants.c.finished_at)[0][0] == "screened-out"
    assert begin(store)  # the one place is free again
    # Nothing can be answered any more.
    assert store.submit(token, 4, where.nonce, FAILED, {}) == Submitted()


def test_a_study_without_a_screening_test_has_none(open_with):
    store = open_with(attempts=0)
    token = begin(store)
    do_step(store, token)
    assert store.look(token).phase.key == "learning"
    assert finish(store, token).status == "complete"


def test_the_answer_before_is_shown_in_the_words_of_the_page(store):
    for names_of_classes, prediction, read in (
        (("A", "B"), "1", "A"),
        (("B", "A"), "1", "B"),
        (("A", "B"), "2", "B"),
    ):
        token = begin(store)
        walk_to(store, token, "test")
        do_step(store, token)
        do_step(store, token, {"prediction": prediction, "rating": "4"})
        where = store.show(token)
        assert (where.step.screen, where.names, where.echo) == ("feedback", names_of_classes, read)
        assert store.look(token).echo == read


def test_the_completion_code_needs_every_answer(store):
    """Somebody takes an answer out of the database: then there is no code, and the last answer is not half stored."""
    token = begin(store)
    walk_to(store, token, "debrief")
    answered = next(id for id, ord in rows(store, steps.c.id, steps.c.ord) if ord == 6)
    gone = responses.delete().where(responses.c.step_id == answered)
    store.database.write(lambda connection: connection.execute(gone))
    where = store.show(token)
    with pytest.raises(RuntimeError, match="an answer is missing"):
        store.submit(token, where.ord, where.nonce, answers(where.screen), {})
    assert store.look(token).status == "active"
    assert rows(store, participants.c.completion_code) == [(None,)]
