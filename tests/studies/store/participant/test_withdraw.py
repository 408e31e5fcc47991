"""Who leaves: what is kept, what is deleted, and that they cannot come back."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, insert, select

from small_study import answers, begin, do_step, finish, walk_to
from store_tools import rows, run_together
from verax.studies.store.clock import to_micros
from verax.studies.store.identifiers import token_hash
from verax.studies.store.people import acted
from verax.studies.store.tables import consents, events, exclusions, metadata, participants, responses, steps


def traces(store, participant_id: int) -> dict[str, int]:
    """By table, of all that there are: how many rows belong to somebody, by themselves or by a step."""
    found = {}
    for table in metadata.sorted_tables:
        if "participant_id" in table.c:
            query = select(func.count()).where(table.c.participant_id == participant_id)
        elif "step_id" in table.c:
            query = (
                select(func.count())
                .select_from(table.join(steps))
                .where(steps.c.participant_id == participant_id)
            )
        else:
            continue
        found[table.name] = store.database.read(
            lambda connection, query=query: connection.execute(query).scalar()
        )
    return found


def leave_traces(store, token: str) -> int:
    """Somebody of whom every table has something; their number in the database."""
    walk_to(store, token, "test")
    where = store.show(token)  # a reload
    store.event(token, "blur", {"n": 1})
    excluded = {"participant_id": where.participant, "rule": "late", "evidence": {}, "at": 0}
    store.database.write(lambda connection: connection.execute(insert(exclusions), excluded))
    return where.participant


def test_the_tests_below_know_every_table_that_has_something_of_somebody(open_with):
    """A new table with a participant's data fails here, until it is emptied too."""
    store = open_with(entry="code")
    token = store.enter(code=store.make_codes(1)[0])
    store.consent(token, True)
    found = traces(store, leave_traces(store, token))
    assert all(found.values()), found
    assert set(found) == {"consent", "step", "response", "event", "exclusion", "code"}


def test_who_deletes_is_gone_from_every_table_but_a_tombstone(open_with, clock):
    store = open_with(entry="code")
    codes_made = store.make_codes(2)
    token, other = (store.enter(code=code) for code in codes_made)
    for one in (token, other):
        store.consent(one, True)
    gone, stays = leave_traces(store, token), leave_traces(store, other)
    before = traces(store, stays)
    clock.advance(60)
    assert store.withdraw(token, delete=True).status == "withdrawn"
    # The code by which they came is kept, so that it opens the page that says that they have left.
    assert {table: count for table, count in traces(store, gone).items() if count} == {"code": 1}
    assert traces(store, stays) == before
    person = dict(zip(participants.c.keys(), rows(store, *participants.c)[0], strict=True))
    now = to_micros(clock())
    assert person | {"version": "", "study_id": 0} == {
        "id": gone,
        "study_id": 0,
        "token_hash": token_hash(token),
        "status": "withdrawn",
        "is_bot": False,
        "number": 1,
        "design_row": person["design_row"],
        "names": None,
        "answer_order": None,
        "phases": 0,
        "steps": 0,
        "current": 0,
        "hold_until": None,
        "version": "",
        "created_at": now,
        "consented_at": now,
        "last_seen_at": now,
        "finished_at": now,
        "completion_code": None,
        "platform": "code",
        "person_hash": None,
        "return_to": None,
        "session_hash": None,
        "link_hash": None,
        "origin": None,
        "subnet": None,
        "language": None,
        "events": 0,
        "event_bytes": 0,
        "unkept": 0,
    }
    # By the code they come to the page that says so, and to nothing else.
    assert store.enter(code=codes_made[0]) == token
    assert store.show(token).status == "withdrawn"
    assert store.consent(token, True).status == "withdrawn"


def test_who_stops_and_keeps_may_delete_later(store):
    token = begin(store)
    do_step(store, token)
    assert store.withdraw(token).status == "withdrawn"
    assert len(rows(store, responses.c.step_id)) == 1
    assert store.withdraw(token, delete=True).steps == 0
    assert rows(store, responses.c.step_id) == []
    assert rows(store, consents.c.id) == []


def test_who_is_done_has_nothing_to_stop_but_may_delete(store):
    token = begin(store)
    code = finish(store, token).completion_code
    assert store.withdraw(token).status == "complete"
    assert store.withdraw_known("completion_code", code, delete=True, by="command line").deleted == 9
    assert store.look(token).status == "withdrawn"
    assert rows(store, steps.c.id) == []
    assert store.withdraw_known("completion_code", code, delete=True, by="command line") is None


def test_who_has_not_agreed_yet_can_leave_too(store):
    token = store.enter()
    assert store.withdraw(token, delete=True).status == "withdrawn"
    assert store.consent(token, True).status == "withdrawn"
    assert rows(store, participants.c.consented_at, participants.c.number) == [(None, None)]


@pytest.mark.parametrize("platform", ["prolific", "mturk"])
def test_a_person_of_a_platform_who_left_is_recognised(open_with, platform):
    store = open_with(entry=platform)
    back = {"assignmentId": "A1", "host": "h"} if platform == "mturk" else None
    token = store.enter(platform=platform, person="P1", return_to=back)
    store.consent(token, True)
    do_step(store, token)
    person_hash = store.person_hash(platform, "P1")
    assert store.withdraw_known("person_hash", person_hash, delete=True, by="command line").number == 1
    assert store.enter(platform=platform, person="P1", return_to=back) == token
    assert store.show(token).status == "withdrawn"
    assert rows(store, participants.c.person_hash, participants.c.return_to) == [(person_hash, None)]


def test_the_place_of_who_left_is_free_again(open_with):
    store = open_with(rows=1, target=1)
    token = begin(store)
    finish(store, token)
    store.withdraw(token, delete=True)
    assert finish(store, begin(store)).status == "complete"


def test_nothing_more_is_kept_of_who_has_left(store, clock):
    for delete in (False, True):
        token = begin(store)
        where = store.show(token)
        store.withdraw(token, delete=delete)
        before = len(rows(store, events.c.id)), len(rows(store, responses.c.step_id))
        assert store.submit(token, where.ord, where.nonce, answers(where.screen), {}).stored is False
        store.event(token, "blur", {})
        clock.advance(10 * 3600)
        store.show(token)
        assert (len(rows(store, events.c.id)), len(rows(store, responses.c.step_id))) == before


def test_what_was_done_is_noted_once_without_a_name(store):
    token = begin(store)
    store.withdraw(token)
    store.withdraw(token)
    store.withdraw(token, delete=True)
    store.withdraw(token, delete=True)
    done = store.read(acted, 10)
    assert [(one.by, one.type, one.data) for one in done] == [
        ("participant", "withdrawal", {"number": 1, "deleted": True}),
        ("participant", "withdrawal", {"number": 1, "deleted": False}),
    ]


def test_pages_answers_and_events_that_arrive_while_somebody_deletes_leave_nothing(open_with):
    """Holds of no length run out at once, so that each display writes an event too."""
    for _ in range(4):
        store = open_with(timing={"hold_minutes": 1e-9})
        token = begin(store)
        where = walk_to(store, token, "test")
        going_on = threading.Event()

        def bother(number, store=store, token=token, where=where, going_on=going_on):
            while not going_on.is_set():
                store.show(token)
                store.event(token, "blur", {"n": number})
                store.submit(token, where.ord, where.nonce, answers(where.screen), {})

        def end(_, store=store, token=token, going_on=going_on):
            store.withdraw(token, delete=True)
            going_on.set()

        run_together(lambda work: work[0](work[1]), [(bother, 0), (bother, 1), (bother, 2), (end, 3)])
        assert not any(traces(store, where.participant).values())
        assert store.show(token).status == "withdrawn"


def test_a_code_leads_nobody_else_in(open_with):
    store = open_with(entry="code", rows=1, target=1)
    [code] = store.make_codes(1)
    store.withdraw(store.enter(code=code), delete=True)
    assert store.look(store.enter(code=code)).status == "withdrawn"
    assert len(rows(store, participants.c.id)) == 1
