"""A study moves to another database while people answer: nothing is lost, nothing is there twice, nobody stops."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from contextlib import closing

import pytest
from sqlalchemy import make_url, select, text, update

from crowd import Crowd, told_and_stored, wait_until
from real_parts import LONG
from small_study import begin, do_step, finish, small_study
from store_tools import rows, try_to_move
from verax.errors import VeraxError
from verax.studies.store import open_store
from verax.studies.store.database import relocate
from verax.studies.store.database.engine import open_database
from verax.studies.store.database.location import OLD, present_url
from verax.studies.store.database.relocate import move
from verax.studies.store.tables import events, metadata, participants, studies


@pytest.fixture
def place(request, tmp_path):
    """Makes the URL of a new database of a kind."""

    names = iter("abc")

    def new(kind: str) -> str:
        if kind == "postgresql":
            return request.getfixturevalue("postgres_url")
        return f"sqlite:///{tmp_path / next(names)}.sqlite"

    return new


@pytest.fixture
def study():
    return small_study(rows=1, target=10_000)


def content(url: str, prefix: str = "") -> dict[str, list[list[str]]]:
    """All rows of all tables, as text, but for where a study was moved."""
    found = {}
    with closing(open_database(url)) as database:
        for table in metadata.sorted_tables:
            names = ", ".join(
                f"CAST({column.name!r} AS text)".replace("'", '"')
                for column in table.columns
                if column.name != "moved_to"
            )
            query = text(f'SELECT {names} FROM "{prefix}{table.name}"')
            plain = {"true": "1", "false": "0"}  # how each database writes a boolean
            found[table.name] = sorted(
                [plain.get(value, value) or "NULL" for value in row]
                for row in database.read(lambda connection, query=query: connection.execute(query).all())
            )
    return found


@pytest.mark.parametrize(
    ("before", "after"), [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite")]
)
def test_every_answer_is_there_once_after_a_move_under_way(place, study, before, after):
    source = place(before)
    first, second = open_store(study, source), open_store(study, source)  # as two processes would
    target = place(after)
    crowd = Crowd([first, second] * 2)
    with crowd.at_work():
        crowd.wait_for(20)
        moved = move(study, source, target)
        crowd.wait_for(20)
    with closing(open_store(study, target)) as store:
        told_and_stored(crowd.told, store)
        # Everybody holds another number: nobody took part twice.
        numbers = rows(store, participants.c.number)
        assert len(set(numbers)) == len(numbers)
        assert moved.rows["response"] < len(crowd.told)  # some were stored before it, some after it
    for store in (first, second):
        assert finish(store, begin(store)).status == "complete"
        store.close()


@pytest.mark.parametrize("before", ["sqlite", "postgresql"])
def test_everything_is_moved_as_it_is(place, before):
    study = small_study(entry="code", target=40)
    source = place(before)
    store = open_store(study, source)
    used, unused = store.make_codes(2)
    token = store.enter(code=used)
    store.consent(token, True)
    do_step(store, token)
    store.show(token)
    store.event(token, "blur", {"text": "Ünï\t\\N \\. \n\"quoted\" 'text' 😀", "none": None, "share": 0.1})
    store.set_state("paused")
    target = place("sqlite" if before == "postgresql" else "postgresql")
    there = content(source)
    move(study, source, target)
    assert content(source, OLD) == there == content(target)
    assert sum(map(len, there.values())) > 15
    assert store.look(token).status == "paused"
    store.set_state("open")
    assert store.enter(code=used) == token
    # The new database goes on counting where the old one stopped.
    assert store.look(store.enter(code=unused)).participant == 2
    assert finish(store, token).status == "complete"
    store.close()


def test_a_page_after_the_move_shows_what_is_true_after_it(place, study):
    source, target = place("sqlite"), place("postgresql")
    old = open_store(study, source)
    token = begin(old)
    move(study, source, target)
    with closing(open_store(study, target)) as new:
        do_step(new, token)
        late = begin(new)
        assert old.look(token).ord == 2
        assert old.look(late).status == "active"
        with old.database.snapshot() as connection:
            assert len(connection.execute(select(participants.c.id)).all()) == 2
    old.close()


def test_whoever_opens_the_old_database_is_sent_to_the_new_one(place, study, caplog):
    source, middle, target = place("sqlite"), place("postgresql"), place("sqlite")
    with closing(open_store(study, source)) as store:
        token = begin(store)
    move(study, source, middle)
    move(study, source, target)
    assert present_url(source) == present_url(middle) == target
    caplog.clear()
    with closing(open_store(study, source)) as store:
        assert store.look(token).status == "active"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert f"The answers of {make_url(source).database} were moved to postgresql" in caplog.text
    with pytest.raises(VeraxError, match=r"a\.sqlite is the old database of a move; name an empty one"):
        move(study, source, source)


def test_an_older_program_finds_nothing_to_write_to_in_the_old_database(place, study):
    source = place("sqlite")
    open_store(study, source).close()
    move(study, source, place("postgresql"))
    with closing(sqlite3.connect(make_url(source).database)) as old:
        tables = {name for (name,) in old.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == {f"{OLD}{table.name}" for table in metadata.sorted_tables} | {"alembic_version"}


def fill(store, count: int) -> None:
    """Enough rows that copying them takes a while."""
    who = store.look(begin(store)).participant
    many = [
        {"participant_id": who, "ord": 1, "type": "blur", "at": number, "data": {"text": "x" * 200}}
        for number in range(count)
    ]
    store.database.write(lambda connection: connection.execute(events.insert(), many))


def held(path: str) -> bool:
    """Whether somebody else is writing."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


@pytest.mark.parametrize("after", ["sqlite", "postgresql"])
def test_a_move_that_is_killed_leaves_the_study_where_it_was(place, study, processes, after):
    source = place("sqlite")
    store = open_store(study, source)
    fill(store, 10_000)
    target = place(after)
    chance = random.Random(4)
    told = []
    for _ in range(3):
        mover = processes.start(move, study, source, target)
        until = time.monotonic() + LONG
        wait_until(lambda mover=mover: held(store.database.name) or not mover.is_alive(), until)
        time.sleep(chance.random() * 0.1)
        mover.kill()
        mover.join()
        token = begin(store)
        told += [(token, do_step(store, token).ord) for _ in range(3)]
        told_and_stored(told, store)
    if present_url(source) == source:
        assert move(study, source, target).rows["event"] >= 10_000
    assert finish(store, token).status == "complete"
    store.close()
    with closing(open_store(study, target)) as arrived:
        told_and_stored(told, arrived)


def test_a_move_that_fails_after_the_copy_can_be_made_again(place, study):
    source, target = place("sqlite"), place("postgresql")
    store = open_store(study, source)
    token = begin(store)
    name = f"{OLD}event"
    in_the_way = f"CREATE TABLE {name} (id INTEGER)"
    store.database.write(lambda connection: connection.execute(text(in_the_way)))
    with pytest.raises(VeraxError, match=rf"already another table.*{name}.*it goes on where it was"):
        move(study, source, target)
    do_step(store, token)  # in the old database, which the copy does not know
    with pytest.raises(
        VeraxError, match=r"a copy of .* from a move that did not end; the study is in .*a\.sqlite"
    ):
        open_store(study, target)
    store.database.write(lambda connection: connection.execute(text(f"DROP TABLE {name}")))
    move(study, source, target)
    assert store.look(token).ord == 2
    store.close()


def test_a_move_that_is_killed_at_its_very_end_is_ended_by_whoever_comes_next(place, study):
    source, target = place("sqlite"), place("postgresql")
    open_store(study, source).close()
    move(study, source, target)
    with closing(open_database(target)) as database:
        database.write(lambda connection: connection.execute(update(studies).values(moved_to=source)))
    with closing(open_store(study, target)) as store:
        assert (
            store.database.read(lambda connection: connection.execute(select(studies.c.moved_to)).scalar())
            is None
        )


@pytest.mark.parametrize("before", ["sqlite", "postgresql"])
def test_of_two_who_move_it_at_once_one_does(place, study, processes, before):
    source, targets = place(before), [place("sqlite"), place("sqlite")]
    with closing(open_store(study, source)) as store:
        token = begin(store)
        said = processes.run([(try_to_move, study, source, target) for target in targets])
        # Whoever came last found it gone, or moved it on from where the first one had moved it.
        assert "" in said
        assert all(one == "" or "by somebody else" in one for one in said)
        do_step(store, token)
        with closing(open_store(study, present_url(source))) as there:
            told_and_stored([(token, 1)], there)


def test_a_move_gives_way_to_whoever_reads_for_long(place, study, monkeypatch):
    monkeypatch.setattr(relocate, "TRIES", 3)
    source = place("postgresql")
    with closing(open_store(study, source)) as store:
        token = begin(store)
        with store.database.snapshot() as reading:
            with pytest.raises(VeraxError, match=r"could not be held, .* as an export does; try again"):
                move(study, source, place("sqlite"))
            assert len(reading.execute(select(participants.c.id)).all()) == 1
            do_step(store, token)
        move(study, source, place("sqlite"))
        do_step(store, token)


def test_a_database_that_holds_something_is_no_target(place, study):
    source, target = place("sqlite"), place("postgresql")
    with closing(open_store(study, source)) as store, closing(open_store(small_study(), target)) as other:
        begin(store)
        token = begin(other)
        with pytest.raises(
            VeraxError, match=r"is not empty \(rows: 1 in study, 1 in participant.*an empty database"
        ):
            move(study, source, target)
        do_step(store, begin(store))
        do_step(other, token)


def test_a_database_that_was_only_opened_is_empty(place, study):
    source, target = place("sqlite"), place("postgresql")
    open_store(study, target).close()
    with closing(open_store(study, source)) as store:
        token = begin(store)
        move(study, source, target)
        do_step(store, token)


def test_there_must_be_something_to_move_and_a_place_for_it(place, study, tmp_path):
    source = place("sqlite")
    with pytest.raises(VeraxError, match=r"There is no database .* to move"):
        move(study, source, place("sqlite"))
    assert list(tmp_path.iterdir()) == []
    open_store(study, source).close()
    with pytest.raises(VeraxError, match=r"is in .* already"):
        move(study, source, source)
    with pytest.raises(VeraxError, match="another build of the study"):
        move(small_study(), source, place("sqlite"))
    with pytest.raises(
        VeraxError, match=r"could not be moved to postgresql.*it goes on where it was"
    ) as caught:
        move(study, source, "postgresql://somebody:hidden@127.0.0.1:1/x")
    assert "hidden" not in str(caught.value)
    with pytest.raises(VeraxError, match="'answers' is not the URL of a database"):
        move(study, source, "answers")
    with pytest.raises(VeraxError, match=r"The database postgresql.* cannot be used") as caught:
        move(study, "postgresql://somebody:hidden@127.0.0.1:1/x", source)
    assert "hidden" not in str(caught.value)
    with closing(open_store(study, source)) as store:
        do_step(store, begin(store))


def test_a_password_stays_in_the_old_database_which_then_only_its_owner_may_read(place, study):
    source, target = place("sqlite"), place("postgresql")
    file = make_url(source).database
    store = open_store(study, source)
    os.chmod(file, 0o644)
    moved = move(study, source, make_url(target).set(password="hidden").render_as_string(hide_password=False))
    assert moved.password_kept
    assert "hidden" not in moved.target
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert make_url(present_url(source)).password == "hidden"
    do_step(store, begin(store))
    store.close()
