"""Experimenters' accounts and sessions, in both databases."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import select

from verax.errors import VeraxError
from verax.studies.store import accounts
from verax.studies.store.tables import actions, experimenters, sessions

PASSWORD = "correct horse battery"


@pytest.fixture
def anna(store) -> str:
    """The name of an account; the database is shared by many tests."""
    name = f"anna {uuid4().hex[:8]}"
    accounts.add_account(store, name, PASSWORD)
    return name


def hashes(store, name: str) -> list[str]:
    query = select(experimenters.c.password_hash).where(experimenters.c.name == name)
    return store.database.read(lambda connection: list(connection.execute(query).scalars()))


def session_hashes(store) -> set[str]:
    return set(
        store.database.read(
            lambda connection: list(connection.execute(select(sessions.c.token_hash)).scalars())
        )
    )


def test_who_has_the_password_gets_a_session(store, anna):
    token = accounts.sign_in(store, anna, PASSWORD)
    assert accounts.signed_in(store, token) == accounts.Experimenter(anna)


@pytest.mark.parametrize(
    "wrong", ["", PASSWORD.upper(), PASSWORD + " ", PASSWORD[:-1], "x" * 5000, "\x00\ud800"]
)
def test_a_wrong_password_gives_none(store, anna, wrong):
    assert isinstance(accounts.sign_in(store, anna, wrong), accounts.SignInFailure)


@pytest.mark.parametrize("name", ["", "nobody", "' OR 1=1 --", "\x00", "\ud800", "x" * 5000])
def test_a_wrong_name_gives_none(store, name):
    assert isinstance(accounts.sign_in(store, name, PASSWORD), accounts.SignInFailure)


def test_an_unknown_name_takes_the_work_of_a_known_one(store, anna, monkeypatch):
    """Counted, not timed: each asks argon2 once, with the same parameters."""
    asked = []
    check = accounts._is_password
    monkeypatch.setattr(accounts, "_is_password", lambda *given: asked.append(given[1]) or check(*given))
    accounts.sign_in(store, anna, "a wrong password")
    accounts.sign_in(store, "nobody", "a wrong password")
    assert len(asked) == 2
    assert asked[0] == hashes(store, anna)[0]
    assert {hashed.rsplit("$", 2)[0] for hashed in asked} == {"$argon2id$v=19$m=65536,t=3,p=4"}


def test_neither_passwords_nor_tokens_are_stored(store, anna):
    token = accounts.sign_in(store, anna, PASSWORD)
    (stored,) = hashes(store, anna)
    assert stored.startswith("$argon2id$")
    assert PASSWORD not in stored
    assert token not in session_hashes(store)
    assert all(len(one) == 64 for one in session_hashes(store))


def test_two_accounts_with_one_password_have_different_hashes(store, anna):
    accounts.add_account(store, f"{anna} 2", PASSWORD)
    assert hashes(store, anna) != hashes(store, f"{anna} 2")


def test_a_session_ends_after_twelve_hours(store, anna, clock):
    token = accounts.sign_in(store, anna, PASSWORD)
    clock.advance(12 * 3600 - 1)
    assert accounts.signed_in(store, token) is not None
    clock.advance(1)
    assert accounts.signed_in(store, token) is None
    before = session_hashes(store)
    accounts.sign_in(store, anna, PASSWORD)
    assert len(before - session_hashes(store)) >= 1  # what is over is cleared away


def test_signing_out_ends_one_session(store, anna):
    first, second = (accounts.sign_in(store, anna, PASSWORD) for _ in range(2))
    accounts.sign_out(store, first)
    assert accounts.signed_in(store, first) is None
    assert accounts.signed_in(store, second) is not None


@pytest.mark.parametrize("token", ["", "x", "\x00", "\ud800"])
def test_a_token_that_was_never_given_is_nobodys(store, token):
    assert accounts.signed_in(store, token) is None


def test_a_new_password_takes_the_place_of_the_old_one_and_ends_all_sessions(store, anna):
    token = accounts.sign_in(store, anna, PASSWORD)
    accounts.change_password(store, anna, "another password")
    assert accounts.signed_in(store, token) is None
    assert isinstance(accounts.sign_in(store, anna, PASSWORD), accounts.SignInFailure)
    assert accounts.sign_in(store, anna, "another password")


def test_a_removed_account_lets_nobody_in(store, anna):
    token = accounts.sign_in(store, anna, PASSWORD)
    accounts.remove_account(store, anna)
    assert accounts.signed_in(store, token) is None
    assert isinstance(accounts.sign_in(store, anna, PASSWORD), accounts.SignInFailure)
    with pytest.raises(VeraxError, match=r"There is no account 'anna .*' in this database"):
        accounts.remove_account(store, anna)
    with pytest.raises(VeraxError, match="There is no account"):
        accounts.change_password(store, anna, PASSWORD)


def test_a_name_is_taken_once(store, anna):
    with pytest.raises(VeraxError, match=r"There is an account 'anna .*' already"):
        accounts.add_account(store, f" {anna} ", "another password")
    assert accounts.sign_in(store, anna, PASSWORD)


def test_a_weak_password_is_refused_with_its_length(store):
    with pytest.raises(VeraxError, match="The password has 9 characters; choose one with at least 10"):
        accounts.add_account(store, "eve", "123456789")
    with pytest.raises(VeraxError, match="at most 1,000"):
        accounts.add_account(store, "eve", "x" * 1001)
    assert hashes(store, "eve") == []


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b", "x" * 65, "command line", "participant"])
def test_what_cannot_be_a_name_is_refused(store, name):
    with pytest.raises(VeraxError, match="cannot be the name of an account"):
        accounts.add_account(store, name, PASSWORD)


def test_an_accent_may_be_written_in_two_ways(store):
    name = f"Åsa {uuid4().hex[:8]}"
    accounts.add_account(store, name, "caf\u00e9 au lait")
    assert accounts.sign_in(store, name.replace("Å", "A\u030a"), "cafe\u0301 au lait")


def test_who_changed_the_state_is_on_record_once(store):
    store.set_state("paused", by="anna")
    store.set_state("paused", by="ben")
    store.set_state("open")
    query = (
        select(actions.c.by, actions.c.type)
        .where(actions.c.study_id == store.study_id)
        .order_by(actions.c.id)
    )
    found = store.database.read(lambda connection: connection.execute(query).all())
    assert [tuple(one) for one in found] == [("anna", "paused"), ("command line", "open")]


# ---- Roles and the second factor


def test_an_account_of_one_study_is_none_in_another_of_the_same_database(open_with):
    mine, other = open_with(), open_with()
    name = f"anna {uuid4().hex[:8]}"
    accounts.add_account(mine, name, PASSWORD, "helper")
    token = accounts.sign_in(mine, name, PASSWORD)
    assert accounts.signed_in(mine, token) == accounts.Experimenter(name, "helper")
    assert isinstance(accounts.sign_in(other, name, PASSWORD), accounts.SignInFailure)
    assert accounts.signed_in(other, token) is None
    # Once it has a role there, it has that one.
    accounts.set_role(other, name, "reader")
    assert accounts.signed_in(other, token).role == "reader"
    assert accounts.signed_in(mine, token).role == "helper"
    # And it goes only where it is removed.
    accounts.remove_account(mine, name)
    assert accounts.signed_in(mine, token) is None
    assert accounts.signed_in(other, token).role == "reader"
    accounts.remove_account(other, name)
    assert not accounts.has_account(other, name)


def test_a_second_factor_is_asked_for_and_each_code_is_good_once(store, anna, clock):
    secret = accounts.new_secret()
    accounts.set_second_factor(store, anna, secret)
    now = int(clock().timestamp() // accounts.CODE_SECONDS)
    code = accounts.code_at(secret, now)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD), accounts.SignInFailure)
    assert isinstance(
        accounts.sign_in(store, anna, PASSWORD, "000000" if code != "000000" else "000001"),
        accounts.SignInFailure,
    )
    assert isinstance(accounts.sign_in(store, anna, "a wrong password", code), accounts.SignInFailure)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, code), str)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, code), accounts.SignInFailure)
    clock.advance(accounts.CODE_SECONDS)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, accounts.code_at(secret, now + 1)), str)
    accounts.set_second_factor(store, anna, None)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD), str)


def code_now(secret: str, clock, later: int = 0) -> str:
    return accounts.code_at(secret, int(clock().timestamp() // accounts.CODE_SECONDS) + later)


def wrong_code(secret: str, clock) -> str:
    right = {code_now(secret, clock, shift) for shift in (-1, 0, 1)}
    return next(code for code in map(str, range(100_000, 100_005)) if code not in right)


def test_after_many_wrong_codes_two_in_a_row_are_asked_for_and_nobody_is_locked_out(store, anna, clock):
    """Who has the password but not the phone must not guess six digits, nor keep the owner out by trying."""
    secret = accounts.new_secret()
    accounts.set_second_factor(store, anna, secret)
    for _ in range(accounts.MOST_WRONG_CODES + 1):
        assert accounts.sign_in(store, anna, PASSWORD, wrong_code(secret, clock)) == accounts.SignInFailure(
            "wrong code"
        )
    # The right code alone could have been guessed by now.
    assert accounts.sign_in(store, anna, PASSWORD, code_now(secret, clock)) == accounts.SignInFailure(
        "wrong code"
    )
    two = code_now(secret, clock, -1) + code_now(secret, clock)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, f"{two[:6]} {two[6:]}"), str)
    assert accounts.sign_in(store, anna, PASSWORD, two) == accounts.SignInFailure("wrong code")  # used
    clock.advance(accounts.CODE_SECONDS)
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, code_now(secret, clock)), str)


def test_wrong_passwords_do_not_count_as_wrong_codes(store, anna, clock):
    secret = accounts.new_secret()
    accounts.set_second_factor(store, anna, secret)
    for _ in range(accounts.MOST_WRONG_CODES + 1):
        accounts.sign_in(store, anna, "a wrong password", wrong_code(secret, clock))
    assert isinstance(accounts.sign_in(store, anna, PASSWORD, code_now(secret, clock)), str)


def test_failed_tries_are_on_record_once_an_hour_for_each_name(store, anna, clock):
    def records() -> list[tuple[str, dict]]:
        query = (
            select(actions.c.by, actions.c.data)
            .where(actions.c.study_id == store.study_id, actions.c.type == accounts.FAILED)
            .order_by(actions.c.id)
        )
        return [tuple(row) for row in store.database.read(lambda connection: connection.execute(query).all())]

    for name, password in [(anna, "wrong password"), (anna, "another one"), ("my secret password", "anna")]:
        accounts.sign_in(store, name, password)
    assert records() == [(anna, {"wrong password": 2}), ("nobody", {"no such account": 1})]
    clock.advance(accounts.RECORD_SECONDS)
    accounts.sign_in(store, anna, "wrong password")
    assert records()[2:] == [(anna, {"wrong password": 1})]
    assert accounts.sign_in(store, anna, PASSWORD)
    assert len(records()) == 3
