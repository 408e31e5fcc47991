"""Many at once, in threads and in processes: one answer is stored, one gets the last place, all find the same page."""

from __future__ import annotations

import threading
from collections import Counter

from sqlalchemy import func, select, text

from real_parts import LONG
from small_study import answers, begin, finish, walk_to
from store_tools import consent_all, rows, run_together, submit_copies
from verax.studies.store import Submitted
from verax.studies.store.database.engine import open_database
from verax.studies.store.tables import events, participants, responses, steps

COPIES = 8


def test_of_eight_copies_of_each_submission_one_is_stored(store):
    token = begin(store)
    answered = 0
    while (where := store.show(token)).status == "active":
        given = answers(where.screen)
        sent = run_together(
            lambda copy, where=where, given=given: store.submit(
                token, where.ord, where.nonce, given, {"copy": copy}
            ),
            range(COPIES),
        )
        assert Counter((one.stored, one.duplicate) for one in sent) == {(True, False): 1, (False, True): 7}
        answered += 1
        later = [ord for ord, state in rows(store, steps.c.ord, steps.c.state) if state == "pending"]
        assert store.look(token).ord == min(later, default=where.ord)
    assert where.status == "complete"
    assert len(rows(store, responses.c.step_id)) == answered == 9
    # Of each page all eight copies are somewhere: one as the response, seven with their payload as events.
    stored = {
        step_id: client["copy"] for step_id, client in rows(store, responses.c.step_id, responses.c.client)
    }
    ord_of = dict(rows(store, steps.c.id, steps.c.ord))
    copies = Counter((ord_of[step_id], copy) for step_id, copy in stored.items())
    for type, data in rows(store, events.c.type, events.c.data):
        assert type == "duplicate"
        copies[data["ord"], data["client"]["copy"]] += 1
    assert copies == Counter(
        {(ord, copy): 1 for ord in (1, 2, 5, 6, 7, 8, 9, 10, 11) for copy in range(COPIES)}
    )


def test_of_copies_from_two_processes_one_is_stored(store, shared_url, processes):
    token = begin(store)
    walk_to(store, token, "test")
    where = store.show(token)
    page = (token, where.ord, where.nonce, answers(where.screen), {})
    calls = [(submit_copies, shared_url, store.study, page, 4)] * 2
    sent = [one for process in processes.run(calls) for one in process]
    assert Counter(sent) == {(True, False): 1, (False, True): 7}
    assert store.look(token).ord == where.ord + 1


def test_different_answers_sent_at_once_do_not_mix(store):
    token = begin(store)
    where = walk_to(store, token, "about")
    sent = run_together(
        lambda number: store.submit(token, where.ord, where.nonce, {"reason": str(number) * 1000}, {}),
        range(6),
    )
    [winner] = [number for number, one in enumerate(sent) if one.stored]
    kept = [answer["reason"] for (answer,) in rows(store, responses.c.answers) if "reason" in answer]
    assert kept == [str(winner) * 1000]


def test_of_two_who_arrive_for_one_place_one_gets_it(open_with):
    for _ in range(5):
        store = open_with(rows=1, target=1)
        tokens = [store.enter(), store.enter()]
        found = run_together(lambda token, store=store: store.consent(token, True).status, tokens)
        assert sorted(found) == ["active", "full"]


def test_of_those_who_arrive_in_two_processes_for_one_place_one_gets_it(open_with, shared_url, processes):
    store = open_with(rows=1, target=1)
    tokens = [store.enter() for _ in range(8)]
    calls = [(consent_all, shared_url, store.study, half) for half in (tokens[:4], tokens[4:])]
    found = [status for process in processes.run(calls) for status in process]
    assert Counter(found) == {"active": 1, "full": 7}


def test_fifty_who_consent_at_once_are_spread_over_the_rows(open_with):
    store = open_with(rows=4, target=20)
    tokens = [store.enter() for _ in range(50)]
    run_together(lambda token: store.consent(token, True), tokens)
    people = rows(store, participants.c.design_row, participants.c.number)
    assert sorted(Counter(row for row, _ in people).values()) == [12, 12, 13, 13]
    assert sorted(number for _, number in people) == list(range(1, 51))


def test_one_consent_sent_eight_times_takes_one_place(store):
    token = store.enter()
    found = run_together(lambda _: store.consent(token, True).ord, range(COPIES))
    assert found == [1] * COPIES
    assert len(rows(store, steps.c.id)) == 11
    assert rows(store, participants.c.number) == [(1,)]


def test_one_code_typed_on_eight_devices_at_once_is_one_participant(open_with):
    store = open_with(entry="code")
    [code] = store.make_codes(1)
    assert len(set(run_together(lambda _: store.enter(code=code), range(COPIES)))) == 1
    assert len(rows(store, participants.c.id)) == 1


def test_eight_tabs_that_open_a_step_at_once_share_its_deadline(store, clock):
    token = begin(store)
    walk_to(store, token, "learning")
    where = store.look(token)
    store.show(token)
    store.submit(token, where.ord, where.nonce, {}, {})
    shown = run_together(lambda _: store.show(token), range(COPIES))
    assert {one.number_in_phase for one in shown} == {1}
    assert {one.nonce for one in shown} == {shown[0].nonce}
    assert {one.deadline for one in shown} == {shown[0].deadline}
    assert dict(rows(store, steps.c.ord, steps.c.views))[shown[0].ord] == COPIES


def test_pages_are_reloaded_while_answers_come_in(open_with):
    """Readers, writers and events of one participant at once: none waits for another that waits for it.

    Holds of no length run out at once, so that each display renews one and each part of the store writes.
    """
    store = open_with(timing={"hold_minutes": 1e-9})
    tokens = [begin(store) for _ in range(4)]
    done = threading.Event()

    def reload(token):
        while not done.is_set():
            store.show(token)
            store.event(token, "blur", {"n": 1})

    readers = [threading.Thread(target=reload, args=(token,)) for token in tokens * 2]
    for reader in readers:
        reader.start()
    try:
        found = run_together(lambda token: finish(store, token).status, tokens)
    finally:
        done.set()
    for reader in readers:
        reader.join()
    assert found == ["complete"] * 4
    assert len(rows(store, responses.c.step_id)) == 4 * 9


def test_a_submission_waits_for_whoever_holds_the_participant(store):
    """The race, made certain: while somebody is in the middle of a submission, its copy arrives and has to wait."""
    token = begin(store)
    where = store.show(token)
    inside, go_on = threading.Event(), threading.Event()

    def hold(connection):
        connection.execute(
            text("UPDATE participant SET last_seen_at = last_seen_at WHERE id = :id"),
            {"id": where.participant},
        )
        inside.set()
        assert go_on.wait(LONG)

    holder = threading.Thread(target=store.database.write, args=(hold,))
    holder.start()
    assert inside.wait(LONG)
    sent = []
    copies = [
        threading.Thread(target=lambda: sent.append(store.submit(token, where.ord, where.nonce, {}, {})))
        for _ in range(2)
    ]
    for copy in copies:
        copy.start()
    assert store.look(token).ord == where.ord  # looking goes on
    assert sent == []
    go_on.set()
    for thread in (holder, *copies):
        thread.join(LONG)
    assert sorted(sent, key=lambda one: one.stored) == [Submitted(duplicate=True), Submitted(stored=True)]


def test_the_completion_code_is_never_seen_before_all_answers_are(store, shared_url):
    """Another connection looks all the time: whenever it sees the code, it sees a response to every step that asks."""
    asking = [key for key, screen in store.study.screens.items() if screen.questions]
    codes = select(func.count(participants.c.completion_code)).where(
        participants.c.study_id == store.study_id
    )
    answered = (
        select(func.count())
        .select_from(responses)
        .join(steps)
        .join(participants)
        .where(participants.c.study_id == store.study_id, steps.c.screen.in_(asking))
    )
    both = select(codes.scalar_subquery(), answered.scalar_subquery())
    tokens = [begin(store) for _ in range(4)]
    other = open_database(shared_url)
    done, seen = threading.Event(), []

    def watch():
        while not done.is_set():
            seen.append(tuple(other.read(lambda connection: connection.execute(both).one())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run_together(lambda token: finish(store, token), tokens)
    finally:
        done.set()
    watcher.join()
    seen.append(tuple(other.read(lambda connection: connection.execute(both).one())))
    other.close()
    # Screening, prediction, prediction with rating, reason, strategy: five steps that ask.
    assert seen[-1] == (4, 20)
    assert all(answers_there >= 5 * codes_there for codes_there, answers_there in seen)
