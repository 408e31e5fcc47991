"""Accounts of experimenters, and their sessions. A database has its own, for all studies in it.

Of a password only its argon2 hash is stored, of a session only the hash of its token.
"""

from __future__ import annotations

import hmac
import unicodedata
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from verax.errors import VeraxError
from verax.studies.store.clock import micros, to_micros
from verax.studies.store.store import Store
from verax.studies.store.tables import experimenters, sessions
from verax.studies.store.tokens import new_token, token_hash

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1000
LONGEST_NAME = 64
SESSION_SECONDS = 12 * 3600
DEVICE_SECONDS = 180 * 24 * 3600  # for which a browser is known in which somebody has signed in
# Who did something may also be one of these; see the table of actions.
NOT_PEOPLE = ("command line", "participant", "server")

_hasher = PasswordHasher()
# A hash takes 64 MB for its time: a crowd at the door must not take all memory.
_hashing = BoundedSemaphore(2)

ACCOUNT = select(experimenters.c.id, experimenters.c.password_hash).where(
    experimenters.c.name == bindparam("name")
)
SESSION = (
    select(experimenters.c.name)
    .join_from(sessions, experimenters)
    .where(sessions.c.token_hash == bindparam("token_hash"), sessions.c.expires_at > bindparam("now"))
)


@dataclass(frozen=True)
class Experimenter:
    """Somebody who is signed in."""

    name: str


def add_account(store: Store, name: str, password: str) -> None:
    """A new account.

    Raises:
        VeraxError: the name is taken or no name, or the password is too short.
    """
    name = _checked_name(name)
    record = {"name": name, "password_hash": _hash(password), "created_at": to_micros(store.clock())}

    def add(connection: Connection) -> None:
        connection.execute(insert(experimenters), record)

    try:
        store.database.write(add)
    except IntegrityError as error:
        raise VeraxError(
            f"There is an account {name!r} already; choose another name, or set its password with --new-password."
        ) from error


def change_password(store: Store, name: str, password: str) -> None:
    """Gives an account another password, and ends its sessions."""
    name, hashed = plain_name(name), _hash(password)

    def change(connection: Connection) -> None:
        account = _account(connection, name)
        connection.execute(
            update(experimenters).where(experimenters.c.id == account).values(password_hash=hashed)
        )
        connection.execute(delete(sessions).where(sessions.c.experimenter_id == account))

    store.database.write(change)


def remove_account(store: Store, name: str) -> None:
    """Removes an account and its sessions; what its owner did stays on record."""
    name = plain_name(name)

    def remove(connection: Connection) -> None:
        account = _account(connection, name)
        connection.execute(delete(sessions).where(sessions.c.experimenter_id == account))
        connection.execute(delete(experimenters).where(experimenters.c.id == account))

    store.database.write(remove)


def sign_in(store: Store, name: str, password: str) -> str | None:
    """The token of a new session; None if the name or the password is wrong, which takes as long for either."""
    name, nobodys = plain_name(name), nobodys_hash()
    account = store.database.read(
        lambda connection: connection.execute(ACCOUNT, {"name": name}).one_or_none()
    )
    right = _is_password(password, nobodys if account is None else account.password_hash)
    if account is None or not right:
        return None
    token, now = new_token(), to_micros(store.clock())
    record = {
        "token_hash": token_hash(token),
        "experimenter_id": account.id,
        "created_at": now,
        "expires_at": now + micros(SESSION_SECONDS),
    }

    def begin(connection: Connection) -> None:
        connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
        connection.execute(insert(sessions), record)

    try:
        store.database.write(begin)
    except IntegrityError:
        return None  # the account was removed at this very moment
    return token


def signed_in(store: Store, token: str) -> Experimenter | None:
    """Whose session it is; None if it is over or never was."""
    wanted = {"token_hash": token_hash(token), "now": to_micros(store.clock())}
    session = store.database.read(lambda connection: connection.execute(SESSION, wanted).one_or_none())
    return None if session is None else Experimenter(session.name)


def sign_out(store: Store, token: str) -> None:
    """Ends a session."""
    end = delete(sessions).where(sessions.c.token_hash == token_hash(token))
    store.database.write(lambda connection: connection.execute(end))


def new_device(store: Store, name: str) -> str:
    """What a browser keeps in which somebody has signed in: it proves that, and lets nobody in by itself."""
    id = new_token()
    return f"{id}.{store.keyed(f'device {id} {plain_name(name)}')}"


def is_known_device(store: Store, name: str, shown: str) -> bool:
    """Whether somebody has signed in under this name in a browser that keeps this."""
    id, _, mark = shown.partition(".")
    right = store.keyed(f"device {id} {plain_name(name)}")
    return hmac.compare_digest(mark.encode("utf-8", "replace"), right.encode())


def plain_name(name: str) -> str:
    """The name as it is stored: no half characters and no NUL, which no database takes."""
    return unicodedata.normalize("NFC", name).encode("utf-8", "replace").decode().replace("\x00", "").strip()


@cache
def nobodys_hash() -> str:
    """The hash of a password that nobody has: names without an account are checked against it."""
    return _hasher.hash(new_token())


def _account(connection: Connection, name: str) -> int:
    account = connection.execute(ACCOUNT, {"name": name}).one_or_none()
    if account is None:
        raise VeraxError(f"There is no account {name!r} in this database; check the name.")
    return int(account.id)


def _is_password(password: str, hashed: str) -> bool:
    with _hashing:
        try:
            return _hasher.verify(hashed, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False


def _hash(password: str) -> str:
    if len(password) < SHORTEST_PASSWORD:
        raise VeraxError(
            f"The password has {len(password)} characters; choose one with at least {SHORTEST_PASSWORD}, such as four "
            "words that do not belong together."
        )
    if len(password) > LONGEST_PASSWORD:
        raise VeraxError(
            f"The password has {len(password):,} characters; choose one with at most {LONGEST_PASSWORD:,}."
        )
    with _hashing:
        return _hasher.hash(_bytes(password))


def _bytes(password: str) -> bytes:
    # Keyboards differ in how they write an accent.
    return unicodedata.normalize("NFC", password[:LONGEST_PASSWORD]).encode("utf-8", "surrogatepass")


def _checked_name(name: str) -> str:
    plain = plain_name(name)
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable() or plain != name.strip():
        raise VeraxError(
            f"{name!r} cannot be the name of an account; choose 1 to {LONGEST_NAME} characters that can be printed."
        )
    if plain in NOT_PEOPLE:
        raise VeraxError(f"{plain!r} cannot be the name of an account, as records use it; choose another.")
    return plain
