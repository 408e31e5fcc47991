"""``verax study account`` as a person types it."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from real_parts import LONG
from small_study import small_study
from verax.studies.definition.study_files import load_study, save_study
from verax.studies.store import open_store
from verax.studies.store.accounts import sign_in

TESTS = Path(__file__).parents[1]


@pytest.fixture
def study(folder):
    save_study(small_study(), folder / "study")
    return folder / "study"


@pytest.fixture
def account(verax, monkeypatch, study):
    """Runs the command with a password in its standard input."""

    def run(*arguments: str, password: str = ""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{password}\nanother line\n"))
        return verax("study", "account", "study", *arguments)

    return run


def lets_in(study: Path, password: str, database: str = "") -> bool:
    url = database or f"sqlite:///{study / 'answers.sqlite'}"
    with closing(open_store(load_study(study), url)) as store:
        return isinstance(sign_in(store, "anna", password), str)


def test_an_account_is_made_changed_and_removed(account, study):
    made = account("anna", password="correct horse battery")
    assert (made.status, made.err) == (0, "")
    assert made.out == (
        "The account 'anna' is made. Next: verax study serve study, and sign in at /experimenter.\n"
    )
    assert lets_in(study, "correct horse battery")

    again = account("anna", password="correct horse battery")
    assert (again.status, again.out) == (2, "")
    assert "There is an account 'anna' already" in again.err

    changed = account("anna", "--new-password", password="another password")
    assert (changed.status, "has a new password" in changed.out) == (0, True)
    assert lets_in(study, "another password")
    assert not lets_in(study, "correct horse battery")

    removed = account("anna", "--remove")
    assert (removed.status, removed.out) == (0, "The account 'anna' is removed.\n")
    assert not lets_in(study, "another password")
    assert "There is no account 'anna'" in account("anna", "--remove").err


def test_another_database_is_named_by_its_url(account, study, folder):
    url = f"sqlite:///{folder / 'elsewhere.sqlite'}"
    assert account("anna", "--database", url, password="correct horse battery").status == 0
    assert lets_in(study, "correct horse battery", url)
    assert not (study / "answers.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "password", "sentence"),
    [
        (("anna",), "short", "The password has 5 characters; choose one with at least 10"),
        (("anna",), "", "The password has 0 characters"),
        (("command line",), "correct horse battery", "cannot be the name of an account"),
        (("anna", "--remove", "--new-password"), "", "Give only one of --remove"),
        (("nobody", "--new-password"), "correct horse battery", "There is no account 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(account, study, arguments, password, sentence):
    ended = account(*arguments, password=password)
    assert (ended.status, ended.out) == (2, "")
    assert sentence in ended.err
    assert not lets_in(study, password or "nothing")


def in_a_terminal(study: Path, *typed: str) -> tuple[int, str]:
    """How the command ended in a terminal of its own, and everything that stood on it."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(TESTS)])}
    command = [sys.executable, "-m", "verax.cli.main", "study", "account", str(study), "anna"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        waiting = list(typed)
        while True:
            try:
                piece = os.read(ours, 1000)
            except OSError:  # the other end is closed
                break
            shown += piece
            if waiting and shown.endswith((b"Password: ", b"Once more: ")):
                os.write(ours, f"{waiting.pop(0)}\n".encode())
        os.close(ours)
        return process.wait(LONG), shown.decode()


def test_a_password_is_asked_for_twice_and_never_seen(study):
    status, shown = in_a_terminal(study, "correct horse battery", "correct horse battery")
    assert (status, "is made" in shown) == (0, True)
    assert "Password: " in shown
    assert "Once more: " in shown
    assert "horse" not in shown
    assert lets_in(study, "correct horse battery")


def test_who_types_no_password_changes_nothing(study):
    status, shown = in_a_terminal(study, "\x04")
    assert (status, "No password was typed; nothing was changed." in shown) == (2, True)


def test_two_passwords_that_differ_make_no_account(study):
    status, shown = in_a_terminal(study, "correct horse battery", "correct horse batery")
    assert (status, "The two passwords differ; nothing was changed." in shown) == (2, True)
    assert not lets_in(study, "correct horse battery")


def test_roles_and_a_second_factor_from_the_command_line(account, study):
    assert account("anna", "--role", "reader", password="correct horse battery").status == 0
    changed = account("anna", "--role", "helper")
    assert (changed.status, changed.out) == (0, "The account 'anna' is a helper of this study now.\n")
    assert (
        "There is no role 'king'; there are: owner, helper, reader" in account("anna", "--role", "king").err
    )
    assert "only one of" in account("anna", "--role", "owner", "--remove").err
    given = account("anna", "--second-factor")
    assert (given.status, "otpauth://totp/" in given.out) == (0, True)
    assert not lets_in(study, "correct horse battery")
    assert account("anna", "--no-second-factor").status == 0
    assert lets_in(study, "correct horse battery")
    assert "There is no account 'ben'" in account("ben", "--second-factor").err
