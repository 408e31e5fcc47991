"""``verax study freeze``, ``backup``, ``restore`` and ``move`` as a person types them."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from small_study import begin, do_step, finish, small_study
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store


@pytest.fixture
def study(folder):
    """A built study in the current folder."""
    return save_study(small_study(), folder / "small")


@pytest.fixture
def answered(study):
    """Somebody has answered one page; their token."""
    with closing(open_store(study, "sqlite:///small/answers.sqlite")) as store:
        token = begin(store)
        do_step(store, token)
    return token


def test_a_freeze_prints_what_to_register_and_nothing_else_there(verax, study):
    ended = verax("study", "freeze", "small")
    assert ended.status == 0
    assert ended.out.startswith("A small study\n\nProtocol         small_study:Small")
    assert f"Hash             {study.hash}\n" in ended.out
    assert "not counted, since there was no database of answers" in ended.out
    assert "Frozen in small/freeze.json" in ended.err
    again = verax("study", "freeze", "small")
    assert (again.status, again.out) == (2, "")
    assert again.err.startswith("Error: The study in 'small' is frozen since 20")


def test_a_freeze_tells_who_took_part_before_and_cannot_be_made_anew_then(verax, answered):
    assert "1 had agreed to take part" in verax("study", "freeze", "small").out
    ended = verax("study", "freeze", "small", "--again")
    assert ended.status == 2
    assert "people have agreed to take part (1)" in ended.err


def test_nobody_is_counted_in_a_database_that_is_not_there(verax, study, folder):
    ended = verax("study", "freeze", "small", "--database", "sqlite:///typing-mistake.sqlite")
    assert (ended.status, ended.out) == (2, "")
    assert "There is no database typing-mistake.sqlite, so nobody can be counted there" in ended.err
    assert not (folder / "typing-mistake.sqlite").exists()
    assert not (folder / "small" / "freeze.json").exists()


def test_bots_are_no_people(verax, study):
    with closing(open_store(study, "sqlite:///small/answers.sqlite")) as store:
        store.consent(store.enter(is_bot=True), True)
    assert "nobody had agreed to take part" in verax("study", "freeze", "small").out
    assert verax("study", "freeze", "small", "--again").status == 0


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "small", "--port", "0"],
        ["codes", "small", "--n", "1"],
        ["bots", "small", "--n", "1"],
        ["backup", "small", "--out", "a.backup"],
        ["restore", "small", "a.backup"],
        ["move", "small", "--to", "sqlite:///b.sqlite"],
        ["status", "small"],
        ["export", "small", "--out", "out"],
        ["analyze", "small", "--out", "out"],
        ["freeze", "small"],
    ],
    ids=lambda command: command[0],
)
def test_a_changed_study_does_not_run_under_the_old_hash(verax, study, folder, command):
    verax("study", "freeze", "small")
    save_study(small_study(target=7), folder / "small")
    ended = verax("study", *command)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert f"as {study.hash[:12]} and is " in ended.err
    assert "put the frozen files back, or build the changed study into a new folder" in ended.err


def test_nothing_is_built_over_a_frozen_study(verax, study, folder):
    verax("study", "freeze", "small")
    (folder / "spec.toml").write_text(
        'title = "T"\ndataset = "reviews.csv"\nprotocol = { name = "forward" }\nconditions = [{ name = "none" }]\n'
    )
    ended = verax("study", "build", "spec.toml", "--out", "small", "--force")
    assert ended.status == 2
    assert "is frozen since" in ended.err
    assert "choose another --out" in ended.err


def test_a_backup_and_back(verax, study, answered):
    made = verax("study", "backup", "small", "--out", "a.backup")
    assert (made.status, made.err) == (0, "")
    assert "1 participants and 1 answered pages of " in made.out
    again = verax("study", "backup", "small", "--out", "a.backup")
    assert again.status == 2
    assert "--force" in again.err
    assert verax("study", "backup", "small", "--out", "a.backup", "--force").status == 0
    refused = verax("study", "restore", "small", "a.backup")
    assert refused.status == 2
    assert "holds answers" in refused.err
    back = verax("study", "restore", "small", "a.backup", "--force")
    assert back.status == 0
    assert "What was there before is now " in back.out
    with closing(open_store(study, "sqlite:///small/answers.sqlite")) as store:
        assert finish(store, answered).status == "complete"


def test_a_study_is_moved_and_the_old_command_still_works(verax, study, answered, postgres_url):
    ended = verax("study", "move", "small", "--to", postgres_url)
    assert ended.status == 0
    assert "1 participants and 1 answered pages were moved to postgresql" in ended.out
    assert "answers waited for " in ended.out
    assert "password" not in ended.out
    status = verax("study", "status", "small", "--json")
    assert status.status == 0
    assert json.loads(status.out)["hash"] == study.hash
    with closing(open_store(study, "sqlite:///small/answers.sqlite")) as store:
        assert finish(store, answered).status == "complete"
    back = verax("study", "move", "small", "--to", "sqlite:///later.sqlite")
    assert back.status == 0
    assert "1 participants and 9 answered pages" in back.out
