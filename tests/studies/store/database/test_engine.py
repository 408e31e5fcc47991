from __future__ import annotations

import threading
from operator import methodcaller

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from real_parts import LONG
from small_study import begin, small_study
from store_tools import open_once, run_together
from verax.errors import VeraxError
from verax.studies.store import open_store
from verax.studies.store.database.engine import open_database
from verax.studies.store.tables import metadata


def test_the_migrations_make_the_tables_that_the_code_uses(store):
    def differences(connection):
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata)

    assert store.database.write(differences) == []


def test_the_database_of_another_version_is_refused_in_a_sentence(store_url):
    store = open_store(small_study(), store_url)
    store.database.write(
        lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    )
    with pytest.raises(VeraxError, match=r"another version of Verax.*use that version"):
        open_store(store.study, store_url)
    store.close()


def test_a_database_with_other_tables_is_refused_before_anything_is_read(store_url):
    store = open_store(small_study(), store_url)
    store.database.write(
        lambda connection: connection.execute(
            text("ALTER TABLE participant RENAME COLUMN language TO tongue")
        )
    )
    with pytest.raises(
        VeraxError, match=r"another version of Verax: it has no participant.language; use that"
    ):
        open_store(store.study, store_url)
    store.close()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("answers", "'answers' is not the URL of a database"),
        ("sqlite://", "need a file"),
        ("sqlite:///:memory:", "need a file"),
        ("sqlite:////no/such/folder/x.db", "There is no folder '/no/such/folder'"),
        ("mysql://localhost/x", "SQLite or PostgreSQL; 'mysql' is neither"),
        ("postgresql://somebody:hidden@127.0.0.1:1/x", "cannot be used"),
    ],
)
def test_a_bad_url_is_one_sentence_without_the_password(url, sentence):
    with pytest.raises(VeraxError, match=sentence) as caught:
        open_store(small_study(), url)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_way_to_write_postgresql_is_the_driver_that_comes_with_verax(scheme):
    database = open_database(f"{scheme}://somebody:hidden@127.0.0.1:1/x")
    assert [engine.url.drivername for engine in database.engines] == ["postgresql+psycopg"]
    assert database.name == "postgresql+psycopg://somebody:***@127.0.0.1:1/x"
    database.close()


def test_an_error_does_not_tell_what_people_answered(store):
    work = methodcaller("execute", text("INSERT INTO nowhere VALUES (:answer)"), {"answer": "a secret"})
    for run in (store.database.read, store.database.write):
        with pytest.raises(DBAPIError, match="nowhere") as caught:
            run(work)
        assert "a secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("These are my notes, and they are no database." * 100)
    with pytest.raises(VeraxError, match=r"notes\.txt' cannot be used"):
        open_store(small_study(), f"sqlite:///{tmp_path / 'notes.txt'}")


def test_sqlite_waits_for_the_disk_and_for_other_processes(tmp_path):
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")

    def settings(connection):
        names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys", "query_only")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert database.write(settings) == ["wal", 2, 8_000, 1, 0]
    assert database.read(settings) == ["wal", 2, 8_000, 1, 1]
    database.close()


def test_only_its_owner_may_read_a_new_file_and_an_older_one_stays_as_it_is(tmp_path):
    for name in ("new.db", "shared.db"):
        open_store(small_study(), f"sqlite:///{tmp_path / name}").close()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    (tmp_path / "shared.db").chmod(0o660)
    store = open_store(small_study(), f"sqlite:///{tmp_path / 'shared.db'}")
    begin(store)
    beside = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("shared.db*")}
    store.close()
    assert beside == {"shared.db": 0o660, "shared.db-wal": 0o660, "shared.db-shm": 0o660}


def test_reading_goes_on_while_somebody_writes(store):
    inside, go_on = threading.Event(), threading.Event()

    def slow(connection):
        connection.execute(text(f"UPDATE study SET consented = 77 WHERE id = {store.study_id}"))
        inside.set()
        assert go_on.wait(LONG)

    writer = threading.Thread(target=store.database.write, args=(slow,))
    writer.start()
    assert inside.wait(LONG)
    count = text(f"SELECT consented FROM study WHERE id = {store.study_id}")
    assert store.database.read(lambda connection: connection.execute(count).scalar()) == 0
    go_on.set()
    writer.join()
    assert store.database.read(lambda connection: connection.execute(count).scalar()) == 77


def test_work_that_fails_is_undone_and_hurts_nobody_else(store):
    """Twenty threads at once, so that they share commits; every third one fails after it has changed something."""
    start = threading.Barrier(20)
    heard = {}

    def work(number, connection):
        connection.execute(text(f"UPDATE study SET consented = consented + 1 WHERE id = {store.study_id}"))
        if number % 3 == 0:
            raise KeyError(number)
        return number

    def run(number):
        start.wait()
        try:
            heard[number] = store.database.write(lambda connection: work(number, connection))
        except KeyError as error:
            heard[number] = error.args

    run_together(run, range(20))
    assert heard == {number: (number,) if number % 3 == 0 else number for number in range(20)}
    count = text(f"SELECT consented FROM study WHERE id = {store.study_id}")
    assert store.database.read(lambda connection: connection.execute(count).scalar()) == 13


def test_of_those_who_share_a_commit_that_fails_only_the_cause_is_told(tmp_path):
    """A foreign key that is checked only by the commit makes the commit of all fail; then each commits alone."""
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    for statement in (
        "CREATE TABLE a (id INTEGER PRIMARY KEY)",
        "CREATE TABLE b (a_id INTEGER REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED)",
    ):
        database.write(methodcaller("exec_driver_sql", statement))
    start = threading.Barrier(8)
    failed = []

    def run(number):
        statement = "INSERT INTO b VALUES (999)" if number == 3 else "INSERT INTO a VALUES (NULL)"
        start.wait()
        try:
            database.write(methodcaller("exec_driver_sql", statement))
        except IntegrityError:
            failed.append(number)

    run_together(run, range(8))
    assert failed == [3]
    count = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)"
    assert database.read(lambda connection: connection.exec_driver_sql(count).one()) == (7, 0)
    database.close()


def test_a_restart_of_postgresql_is_not_noticed(postgres_url):
    store = open_store(small_study(), postgres_url)
    token = begin(store)
    where = store.show(token)
    cut = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> :own"
    )

    def cut_all_others():
        other = create_engine(postgres_url, poolclass=NullPool)
        with other.connect() as connection:
            own = connection.execute(text("SELECT pg_backend_pid()")).scalar()
            connection.execute(cut, {"own": own})

    cut_all_others()
    assert store.submit(token, where.ord, where.nonce, {}, {}).stored
    cut_all_others()
    assert store.show(token).ord == 2
    store.close()


def test_two_servers_may_start_on_an_empty_database_at_once(store_url, processes):
    numbers = processes.run([(open_once, store_url, small_study())] * 2)
    assert numbers == [1, 1]
