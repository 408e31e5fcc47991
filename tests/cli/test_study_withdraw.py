"""``verax study withdraw`` and ``verax study purge`` as a person types them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from small_study import begin, do_step, finish, small_study
from verax.studies.definition.study_files import load_study, save_study
from verax.studies.store import open_store, platform_key
from verax.studies.store.tables import responses

PID = "5f3c0a2b9d1e4f0012345678"


@pytest.fixture
def opened(folder):
    """Saves a small study and opens its store, as a server would."""

    def start(clock=lambda: datetime.now(UTC), **choices):
        save_study(small_study(**choices), folder / "study")
        study = load_study(folder / "study")
        url = f"sqlite:///{folder / 'study' / 'answers.sqlite'}"
        return open_store(study, url, clock=clock, key=platform_key(study, folder / "study"))

    return start


def answers(store) -> int:
    query = select(func.count()).select_from(responses)
    return store.database.read(lambda connection: connection.execute(query).scalar())


def test_somebody_is_deleted_by_the_completion_code_as_it_was_written_down(opened, verax):
    with closing(opened()) as store:
        code = finish(store, begin(store)).completion_code
        do_step(store, begin(store))
        done = verax("study", "withdraw", "study", "--completion-code", f" {code[:4].lower()}-{code[4:]} ")
        assert (done.status, done.err) == (0, "")
        assert done.out == (
            "Participant 1 has left; 9 answered pages were deleted. Delete backups and exports too.\n"
        )
        assert answers(store) == 1
        again = verax("study", "withdraw", "study", "--completion-code", code)
        assert (again.status, again.out) == (2, "")
        assert f"Nobody in the study in 'study' is known by --completion-code '{code}'" in again.err


def test_somebody_is_deleted_by_their_link(opened, verax):
    with closing(opened()) as store:
        for ending in ("", "/", "/leave"):
            token = begin(store)
            do_step(store, token)
            done = verax("study", "withdraw", "study", "--link", f"https://example.org/a/p/{token}{ending}")
            assert done.status == 0
            assert "1 answered page was deleted" in done.out
            assert store.look(token).status == "withdrawn"
        assert answers(store) == 0


@pytest.mark.parametrize("platform", ["prolific", "mturk"])
def test_somebody_is_deleted_by_the_platforms_id(opened, verax, platform):
    with closing(opened(entry=platform)) as store:
        token = store.enter(platform=platform, person=PID)
        store.consent(token, True)
        do_step(store, token)
        done = verax("study", "withdraw", "study", f"--{platform}", PID)
        assert (done.status, answers(store)) == (0, 0)
        other = verax("study", "withdraw", "study", f"--{platform}", "somebody-else")
        assert "Nobody in the study in 'study'" in other.err


def test_who_withdraws_must_be_said_in_one_way(opened, verax):
    opened().close()
    none = verax("study", "withdraw", "study")
    two = verax("study", "withdraw", "study", "--link", "a", "--completion-code", "b")
    wrong = verax("study", "withdraw", "study", "--prolific", PID)
    assert [one.status for one in (none, two, wrong)] == [2, 2, 2]
    assert "exactly one of --completion-code, --prolific, --mturk, --link; none of them was given" in none.err
    assert "2 of them were given" in two.err
    assert "People enter the study in 'study' by 'link', so nobody has an id for --prolific" in wrong.err


def test_without_the_key_of_the_served_folder_no_id_is_known(opened, verax, folder):
    opened(entry="prolific").close()
    (folder / "study" / "person.key").unlink()
    ended = verax("study", "withdraw", "study", "--prolific", PID)
    assert "needs the key person.key" in ended.err
    assert not (folder / "study" / "person.key").exists()


def test_what_is_due_is_deleted_and_said(opened, verax):
    long_ago = datetime.now(UTC) - timedelta(days=31)
    with closing(opened(clock=lambda: long_ago, retention_days=30)) as store:
        for _ in range(2):
            do_step(store, begin(store))
        dry = verax("study", "purge", "study", "--dry-run")
        assert dry.out == "2 participants were last seen 30 days ago or before; nothing was deleted.\n"
        assert answers(store) == 2
        done = verax("study", "purge", "study")
        assert done.out == "2 participants were last seen 30 days ago or before; 2 answered pages deleted.\n"
        assert answers(store) == 0
        assert verax("study", "purge", "study").out.startswith("0 participants were")


def test_a_study_that_promises_no_deletion_is_not_purged(opened, verax):
    opened().close()
    ended = verax("study", "purge", "study")
    assert (ended.status, ended.out) == (2, "")
    assert "its spec has no retention_days" in ended.err


@pytest.mark.parametrize("command", [["withdraw", "study", "--link", "x"], ["purge", "study"]])
def test_a_database_that_is_not_there_is_a_sentence_and_is_not_made(opened, verax, folder, command):
    opened(retention_days=1).close()
    ended = verax("study", *command, "--database", "sqlite:///typing-mistake.sqlite")
    assert (ended.status, ended.out) == (2, "")
    assert "'typing-mistake.sqlite' does not exist" in ended.err
    assert not (folder / "typing-mistake.sqlite").exists()
