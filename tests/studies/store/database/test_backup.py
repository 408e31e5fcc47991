"""A backup while answers arrive, and putting it back."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowd import Crowd, told_and_stored
from small_study import begin, do_step, finish, small_study
from store_tools import backup_on_a_full_disk, rows
from verax.errors import VeraxError
from verax.studies.store import open_store
from verax.studies.store.database.backup import backup, restore
from verax.studies.store.database.relocate import move
from verax.studies.store.tables import events, participants, responses, steps

STUDY = small_study(rows=1, target=10_000)


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def ask(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def store(store_url):
    with closing(open_store(STUDY, store_url)) as opened:
        yield opened


def test_a_backup_holds_all_that_was_stored_before_it_and_people_go_on(store, store_url, tmp_path):
    crowd = Crowd([store] * 4)
    copies = []
    with crowd.at_work():
        for number in range(3):
            crowd.wait_for(10)
            copies.append((list(crowd.told), backup(store_url, tmp_path / f"{number}.backup", study=STUDY)))
        crowd.wait_for(10)
    for told, made in copies:
        with closing(open_store(STUDY, sqlite_url(made.path))) as copy:
            told_and_stored(told, copy)
            # It is one moment: who has moved on has an answer, and an answer has a closed step.
            answered = {step for (step,) in rows(copy, responses.c.step_id)}
            closed = {id for id, state in rows(copy, steps.c.id, steps.c.state) if state == "closed"}
            assert answered == closed
            assert len(answered) == made.rows["response"]
            assert len(rows(copy, participants.c.id)) == made.rows["participant"]
    told_and_stored(crowd.told, store)


def test_a_backup_is_one_file_for_its_owner_alone(store, store_url, tmp_path):
    begin(store)
    before = os.umask(0)  # whatever the user allows
    made = backup(store_url, tmp_path / "a.backup")
    os.umask(before)
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.bytes == made.path.stat().st_size
    assert {path.name for path in tmp_path.iterdir()} - {"a.backup"} <= {
        f"answers.sqlite{ending}" for ending in ("", "-wal", "-shm")
    }
    assert ask(made.path, "PRAGMA journal_mode") == [("delete",)]


def test_an_older_backup_is_replaced_only_if_told(store, store_url, tmp_path):
    made = backup(store_url, tmp_path / "a.backup")
    before = made.path.read_bytes()
    begin(store)
    with pytest.raises(VeraxError, match=r"There is a file .*a\.backup' already; .* --force"):
        backup(store_url, tmp_path / "a.backup")
    assert made.path.read_bytes() == before
    assert backup(store_url, tmp_path / "a.backup", force=True).rows["participant"] == 1
    assert ask(made.path, "SELECT count(*) FROM participant") == [(1,)]


def test_what_was_deleted_is_not_in_a_backup(store, store_url, tmp_path):
    token = begin(store)
    store.event(token, "blur", {"text": "an answer that is taken back"})
    with_it = backup(store_url, tmp_path / "before.backup")
    assert b"an answer that is taken back" in with_it.path.read_bytes()
    store.database.write(lambda connection: connection.execute(events.delete()))
    without = backup(store_url, tmp_path / "after.backup")
    assert b"an answer that is taken back" not in without.path.read_bytes()


def test_a_full_disk_is_a_sentence_and_leaves_the_old_backup(store, store_url, tmp_path, processes):
    begin(store)
    made = backup(store_url, tmp_path / "a.backup")
    before = made.path.read_bytes()
    (said,) = processes.run([(backup_on_a_full_disk, store_url, made.path, 30_000)])
    assert said == (
        f"'{made.path}' could not be written (disk I/O error); make room or choose another place. What was there "
        "before is unchanged."
    )
    assert made.path.read_bytes() == before
    assert not (tmp_path / ".a.backup.unfinished").exists()


def test_what_cannot_be_backed_up_is_a_sentence(tmp_path):
    with pytest.raises(VeraxError, match=r"There is no database .*, so there is nothing to back up"):
        backup(sqlite_url(tmp_path / "none.sqlite"), tmp_path / "a.backup")
    assert list(tmp_path.iterdir()) == []
    with closing(open_store(small_study(title="Another"), sqlite_url(tmp_path / "other.sqlite"))):
        with pytest.raises(VeraxError, match="holds no answers to this study"):
            backup(sqlite_url(tmp_path / "other.sqlite"), tmp_path / "a.backup", study=STUDY)
        with pytest.raises(VeraxError, match="could not be written"):
            backup(sqlite_url(tmp_path / "other.sqlite"), tmp_path / "no folder" / "a.backup")
    with pytest.raises(VeraxError, match="is a folder"):
        backup(sqlite_url(tmp_path / "other.sqlite"), tmp_path)
    with pytest.raises(VeraxError, match="'answers' is not the URL of a database"):
        backup("answers", tmp_path / "a.backup")
    with pytest.raises(VeraxError, match=r"The database postgresql.* cannot be used"):
        backup("postgresql://somebody@127.0.0.1:1/x", tmp_path / "a.backup")
    (tmp_path / "notes").write_text("no database" * 1000)
    with pytest.raises(VeraxError, match=r"notes cannot be used \(file is not a database\)"):
        backup(sqlite_url(tmp_path / "notes"), tmp_path / "a.backup")
    assert not (tmp_path / "a.backup").exists()


def test_a_backup_of_a_study_that_was_moved_is_of_the_new_database(tmp_path, postgres_url):
    source = sqlite_url(tmp_path / "a.sqlite")
    with closing(open_store(STUDY, source)) as store:
        move(STUDY, source, postgres_url)
        begin(store)
        assert backup(source, tmp_path / "a.backup").rows["participant"] == 1


# ---- Putting it back


@pytest.fixture(
    params=[("sqlite", "sqlite"), ("sqlite", "postgresql"), ("postgresql", "sqlite")], ids="-to-".join
)
def half(request, tmp_path):
    """A backup of one kind of database with somebody in the middle, their token, and an empty database."""
    urls = [
        request.getfixturevalue("postgres_url")
        if kind == "postgresql"
        else sqlite_url(tmp_path / f"{name}.sqlite")
        for kind, name in zip(request.param, ("here", "elsewhere"), strict=True)
    ]
    with closing(open_store(STUDY, urls[0])) as store:
        token = begin(store)
        do_step(store, token)
        store.show(token)
    return backup(urls[0], tmp_path / "half.backup").path, token, urls[1]


def test_people_go_on_after_a_restoration(half):
    path, token, elsewhere = half
    done = restore(STUDY, path, elsewhere)
    assert (done.rows["participant"], done.rows["response"], done.aside) == (1, 1, None)
    with closing(open_store(STUDY, elsewhere)) as store:
        assert store.look(token).ord == 2
        assert finish(store, token).status == "complete"
        assert store.look(begin(store)).participant == 2
    with pytest.raises(VeraxError, match=r"holds answers \(.*participant: 2"):
        restore(STUDY, path, elsewhere)


def test_a_database_that_was_only_opened_makes_way(half):
    path, token, elsewhere = half
    open_store(STUDY, elsewhere).close()
    restore(STUDY, path, elsewhere)
    with closing(open_store(STUDY, elsewhere)) as store:
        assert store.look(token).ord == 2


@pytest.fixture
def file_backup(tmp_path):
    """A SQLite database with one participant, and a backup from before they came."""
    file = tmp_path / "answers.sqlite"
    open_store(STUDY, sqlite_url(file)).close()
    made = backup(sqlite_url(file), tmp_path / "empty.backup")
    with closing(open_store(STUDY, sqlite_url(file))) as store:
        begin(store)
    return file, made.path


def test_force_gives_the_old_file_another_name(file_backup):
    file, path = file_backup
    with pytest.raises(VeraxError, match=r"holds answers .*--force it gets another name"):
        restore(STUDY, path, sqlite_url(file))
    done = restore(STUDY, path, sqlite_url(file), force=True)
    assert done.aside.name.startswith("answers.sqlite.before-")
    assert ask(done.aside, "SELECT count(*) FROM participant") == [(1,)]
    assert ask(file, "SELECT count(*) FROM participant") == [(0,)]


def test_a_database_in_use_is_not_replaced(file_backup):
    file, path = file_backup
    with closing(open_store(STUDY, sqlite_url(file))) as store:
        with pytest.raises(VeraxError, match="is in use; stop the server first"):
            restore(STUDY, path, sqlite_url(file), force=True)
        do_step(store, begin(store))
    assert ask(file, "SELECT count(*) FROM participant") == [(2,)]


def test_a_journal_whose_database_is_gone_is_not_taken_for_the_new_ones(file_backup):
    file, path = file_backup
    file.with_name("answers.sqlite-wal").write_bytes(b"of another database")
    file.unlink()
    done = restore(STUDY, path, sqlite_url(file))
    assert done.aside.with_name(done.aside.name + "-wal").read_bytes() == b"of another database"
    assert ask(file, "PRAGMA integrity_check") == [("ok",)]


def test_what_is_no_backup_of_the_study_is_a_sentence(file_backup, tmp_path):
    file, path = file_backup
    url = sqlite_url(tmp_path / "new.sqlite")
    with pytest.raises(VeraxError, match="There is no backup"):
        restore(STUDY, tmp_path / "none", url)
    with pytest.raises(VeraxError, match=r"is no backup of this study .*it holds 'A small study'"):
        restore(small_study(title="Another"), path, url)
    with pytest.raises(VeraxError, match="is the database itself"):
        restore(STUDY, file, sqlite_url(file), force=True)
    (tmp_path / "text").write_text("no database" * 1000)
    with pytest.raises(VeraxError, match="is damaged or no database"):
        restore(STUDY, tmp_path / "text", url)
    with closing(sqlite3.connect(tmp_path / "plain.sqlite")) as plain:
        plain.execute("CREATE TABLE notes (note)")
    with pytest.raises(VeraxError, match="it holds no study"):
        restore(STUDY, tmp_path / "plain.sqlite", url)
    damaged = bytearray(path.read_bytes())
    damaged[4096:8192] = bytes(4096)
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(VeraxError, match="is damaged or no database"):
        restore(STUDY, tmp_path / "damaged", url)
    assert not (tmp_path / "new.sqlite").exists()


def test_a_backup_of_a_newer_version_is_refused(file_backup, tmp_path):
    _, path = file_backup
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(VeraxError, match="another version of Verax"):
        restore(STUDY, path, sqlite_url(tmp_path / "new.sqlite"))
