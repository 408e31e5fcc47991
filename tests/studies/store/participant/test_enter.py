"""People whom a platform sends: recognised whenever and wherever they come, and stored as a keyed hash alone."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from small_study import finish, small_study
from store_tools import rows, run_together
from verax.studies.store import Refused, open_store
from verax.studies.store.identifiers import known_person
from verax.studies.store.tables import participants

PID = "5f3c0a2b9d1e4f0012345678"


def test_the_same_person_comes_back_to_the_same_place(open_with):
    store = open_with(entry="prolific", rows=1, target=1)
    token = store.enter(platform="prolific", person=PID)
    store.consent(token, True)
    assert store.enter(platform="prolific", person=PID) == token  # also now that the study is full
    store.set_state("closed")
    assert store.enter(platform="prolific", person=PID) == token
    assert finish(store, token).status == "complete"
    assert rows(store, participants.c.platform, participants.c.status) == [("prolific", "complete")]


def test_of_one_person_who_comes_eight_times_at_once_one_participant_is_made(open_with):
    for _ in range(5):
        store = open_with(entry="prolific")
        found = run_together(lambda _, store=store: store.enter(platform="prolific", person=PID), range(8))
        assert len(set(found)) == 1
        assert len(rows(store, participants.c.id)) == 1


def test_different_people_at_once_are_different_participants(open_with):
    store = open_with(entry="prolific")
    found = run_together(lambda number: store.enter(platform="prolific", person=f"{PID}{number}"), range(8))
    assert len(set(found)) == 8
    assert len(rows(store, participants.c.id)) == 8


def test_an_id_is_stored_as_a_keyed_hash_alone(shared_url):
    study = small_study(entry="mturk", title="Keyed")
    store = open_store(study, shared_url, key=b"k" * 32)
    store.enter(platform="mturk", person=PID, return_to={"assignmentId": "A1", "host": "h"})
    [row] = rows(store, *participants.c)
    assert PID not in repr(row)
    assert known_person(b"k" * 32, study.hash, "mturk", PID).hash in row
    store.close()
    # Without a key of its own, a secret of the database is the key: other databases, other hashes.
    other = open_store(study, shared_url)
    assert other.person_hash("mturk", PID) != known_person(b"k" * 32, study.hash, "mturk", PID).hash
    other.close()


def test_one_person_in_two_studies_of_a_database_has_two_tokens(shared_url):
    """Tokens are unique in a database, and the same key may serve both."""
    stores = [
        open_store(small_study(entry="prolific", title=title), shared_url, key=b"k" * 32)
        for title in ("First of two", "Second of two")
    ]
    tokens = [store.enter(platform="prolific", person=PID) for store in stores]
    assert tokens[0] != tokens[1]
    assert stores[1].look(tokens[0]) is None
    for store in stores:
        store.close()


def test_who_takes_a_task_on_mturk_again_hands_in_the_new_assignment(open_with):
    store = open_with(entry="mturk")
    first, second = {"assignmentId": "A1", "host": "h"}, {"assignmentId": "A2", "host": "h"}
    token = store.enter(platform="mturk", person="W1", return_to=first)
    assert store.return_to(token) == first
    assert store.enter(platform="mturk", person="W1", return_to=second) == token
    assert store.return_to(token) == second
    assert store.return_to("nobody") is None


@pytest.mark.parametrize("entry", ["prolific", "mturk"])
def test_nobody_enters_a_platforms_study_without_an_id_but_bots(open_with, entry):
    store = open_with(entry=entry)
    with pytest.raises(Refused) as refused:
        store.enter()
    assert refused.value.reason == "ids-needed"
    assert store.look(store.enter(is_bot=True)).status == "consent"


@pytest.mark.parametrize(("state", "reason"), [("paused", "paused"), ("closed", "closed")])
def test_a_new_person_is_refused_like_anybody_else(open_with, state, reason):
    store = open_with(entry="prolific")
    store.set_state(state)
    with pytest.raises(Refused) as refused:
        store.enter(platform="prolific", person=PID)
    assert refused.value.reason == reason
    assert rows(store, participants.c.id) == []


def test_where_people_came_from_is_kept(open_with):
    by_code = open_with(entry="code")
    by_code.enter(code=by_code.make_codes(1)[0])
    by_link = open_with()
    by_link.enter()
    assert rows(by_code, participants.c.platform) == [("code",)]
    assert rows(by_link, participants.c.platform) == [("link",)]


def test_nothing_to_return_is_no_value_at_all(open_with):
    """JSON has a null of its own, which a query for empty fields would miss."""
    store = open_with(entry="prolific")
    store.enter(platform="prolific", person=PID)
    count = text(f"SELECT count(*) FROM participant WHERE study_id = {store.study_id} AND return_to IS NULL")
    assert store.database.read(lambda connection: connection.execute(count).scalar()) == 1
