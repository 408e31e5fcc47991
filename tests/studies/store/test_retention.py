"""What is due is deleted, and nothing else."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select, text

from small_study import answers, begin, do_step, finish
from store_tools import rows, run_together
from verax.studies.store.clock import to_micros
from verax.studies.store.participant import withdraw as withdraw_module
from verax.studies.store.participant.withdraw import Purged
from verax.studies.store.people import acted
from verax.studies.store.tables import codes, consents, events, participants, responses, steps

DAY = 24 * 3600


def test_the_days_count_from_when_somebody_was_last_seen(open_with, clock):
    store = open_with(retention_days=30)
    early = begin(store)
    do_step(store, early)
    clock.advance(20 * DAY)
    late = begin(store)
    do_step(store, late)
    clock.advance(10 * DAY - 1)
    assert (store.due(), store.purge()) == (0, Purged(0, 0))
    clock.advance(1)
    assert store.due() == 1
    assert store.purge() == Purged(1, 1)
    assert (store.due(), store.purge()) == (0, Purged(0, 0))
    assert store.look(early) is None
    assert store.look(late).status == "active"
    assert len(rows(store, responses.c.step_id)) == 1


def test_who_is_seen_again_has_a_new_term(open_with, clock):
    store = open_with(retention_days=30)
    token = begin(store)
    clock.advance(29 * DAY)
    do_step(store, token)
    clock.advance(29 * DAY)
    assert store.purge().people == 0
    assert store.look(token).status == "active"


def test_nothing_of_somebody_is_left_and_nobody_can_be_recognised(open_with, clock):
    store = open_with(retention_days=1, entry="prolific")
    tokens = [store.enter(platform="prolific", person=person) for person in ("P1", "P2", "P3")]
    for token in tokens[:2]:
        store.consent(token, True)
        do_step(store, token)
    finish(store, tokens[0])
    hashes = {store.person_hash("prolific", person) for person in ("P1", "P2", "P3")}
    clock.advance(DAY)
    assert store.purge() == Purged(3, 10)
    for column in (steps.c.id, responses.c.step_id, events.c.id, consents.c.id):
        assert rows(store, column) == []
    left = rows(store, *participants.c)
    assert not any(known in repr(left) for known in hashes)
    assert all(store.look(token) is None for token in tokens)
    # Who completed the study has still done so: the place is not given away again.
    kept = rows(store, participants.c.status, participants.c.number, participants.c.steps)
    assert kept == [("complete", 1, 0), ("withdrawn", 2, 0), ("invited", None, 0)]


def test_who_comes_back_while_it_is_deleted_is_gone_or_has_lost_nothing(open_with, clock):
    for _ in range(4):
        store = open_with(retention_days=1)
        token = begin(store)
        where = do_step(store, token)
        clock.advance(2 * DAY)

        def come_back(_, store=store, token=token):
            shown = store.show(token)
            if shown is not None:
                store.submit(token, shown.ord, shown.nonce, answers(shown.screen), {})

        def delete(_, store=store):
            store.purge()

        run_together(lambda work: work(None), [come_back, delete, come_back])
        left = [rows(store, column) for column in (steps.c.id, responses.c.step_id, events.c.id)]
        if store.look(token) is None:
            assert left == [[], [], []]
        else:
            assert len(left[0]) == where.steps
            assert len(left[1]) >= 2
            assert store.due() == 0


def test_a_tombstone_is_due_too_and_so_is_its_code(open_with, clock):
    store = open_with(retention_days=1, entry="code")
    used, unused = store.make_codes(2)
    store.withdraw(store.enter(code=used), delete=True)
    clock.advance(DAY)
    assert store.purge() == Purged(1, 0)
    mine = select(codes.c.code).where(codes.c.study_id == store.study_id)
    assert store.database.read(lambda connection: connection.execute(mine).scalars().all()) == [unused]


def test_without_retention_days_nothing_is_ever_due(store, clock):
    token = begin(store)
    clock.advance(36_500 * DAY)
    assert (store.due(), store.purge()) == (0, Purged(0, 0))
    assert store.look(token).status == "active"


def test_another_study_of_the_database_is_left_alone(open_with, clock):
    one, other = open_with(retention_days=1), open_with(retention_days=365)
    tokens = [begin(store) for store in (one, other)]
    clock.advance(2 * DAY)
    assert one.purge().people == 1
    assert other.look(tokens[1]).status == "active"


def test_many_are_deleted_some_at_a_time_and_noted(open_with, clock, monkeypatch):
    monkeypatch.setattr(withdraw_module, "DUE", withdraw_module.DUE.limit(3))
    store = open_with(retention_days=1, target=10)
    for _ in range(8):
        do_step(store, begin(store))
    clock.advance(DAY)
    assert store.purge(by="server") == Purged(8, 8)
    done = store.read(acted, 10)
    assert [(one.by, one.type, one.data) for one in done] == [
        ("server", "purge", {"people": 2, "answers": 2}),
        ("server", "purge", {"people": 3, "answers": 3}),
        ("server", "purge", {"people": 3, "answers": 3}),
    ]


def test_whoever_was_away_for_the_term_or_longer_is_deleted_and_nobody_else(open_with, clock):
    store = open_with(retention_days=30, target=10)
    days = [0, 1, 29.9999, 30, 30.0001, 31, 400]
    people = [store.enter() for _ in days]
    move = text("UPDATE participant SET last_seen_at = :seen WHERE id = :id")
    for token, away in zip(people, days, strict=True):
        seen = to_micros(clock.now - timedelta(days=away))
        values = {"seen": seen, "id": store.look(token).participant}
        store.database.write(lambda connection, values=values: connection.execute(move, values))
    assert store.due() == 4
    assert store.purge().people == 4
    assert [store.look(token) is None for token in people] == [False, False, False, True, True, True, True]
    count = select(func.count()).where(participants.c.study_id == store.study_id)
    assert store.database.read(lambda connection: connection.execute(count).scalar()) == len(days)
