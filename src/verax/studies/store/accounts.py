"""Accounts of experimenters, with roles in some of a database's studies, sessions, and second factors.

Of a password only its argon2 hash is stored, of a session only the hash of its token.
"""

from __future__ import annotations

import base64
import hmac
import secrets
import struct
import time
import unicodedata
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore
from typing import Literal, get_args
from urllib.parse import quote

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from verax.errors import VeraxError
from verax.studies.store.clock import SECOND, micros, to_micros, utc_now
from verax.studies.store.identifiers import new_token, token_hash
from verax.studies.store.people import Transaction, act
from verax.studies.store.store import Store
from verax.studies.store.tables import actions, experimenters, roles, sessions

CODE_SECONDS = 30  # for which a code is shown
DIGITS = 6
SECRET_BYTES = 20
# A phone's clock may be half a minute off, either way.
AROUND = (0, -1, 1)


def new_secret() -> str:
    """A secret that nobody can guess, as apps take it."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def code_at(secret: str, period: int) -> str:
    """The code that is shown in a period of half a minute."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", period), "sha1")
    start = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFF_FFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def period_of(
    secret: str, code: str, seconds: float, after: int | None = None, in_a_row: int = 1
) -> int | None:
    """The period whose code it is, now or a moment ago; None if it is none, or not later than the last one used.

    More codes than are needed are taken too, as long as they follow each other; the period is that of the last one.

    Args:
        secret: of the account.
        code: what was typed; blanks are passed over.
        seconds: since 1970.
        after: the period of the last code that was used.
        in_a_row: how many codes of periods that follow each other are needed.
    """
    typed, now = "".join(code.split()), int(seconds // CODE_SECONDS)
    count = max(in_a_row, 2 if len(typed) == 2 * DIGITS else 1)
    for period in (now + shift for shift in AROUND):
        fresh = after is None or period > after
        right = "".join(code_at(secret, period - back) for back in reversed(range(count))).encode()
        if hmac.compare_digest(right, typed.encode("utf-8", "replace")) and fresh:
            return period
    return None


def second_factor_link(secret: str, study: str, name: str) -> str:
    """What apps read from a square, or from a link."""
    label = quote(f"{study}:{name}", safe="")
    return f"otpauth://totp/{label}?secret={secret}&issuer={quote(study, safe='')}"


FAILED = "failed sign-in"  # an action
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1000
LONGEST_NAME = 64
SESSION_SECONDS = 12 * 3600
# Wrong codes with the right password, after which two codes in a row are asked for. Who has the phone can always show
# them, so that nobody is locked out by somebody who knows the password; and nobody guesses twelve digits.
MOST_WRONG_CODES = 5
NOBODY = "nobody"  # whom a record of a failed sign-in names where there is no account
RECORD_SECONDS = 3600  # in which tries to sign in are one record
DEVICE_SECONDS = 180 * 24 * 3600  # for which a browser is known in which somebody has signed in
# Who did something may also be one of these; see the table of actions.
NOT_PEOPLE = ("command line", "participant", "server", NOBODY)

_hasher = PasswordHasher()
# A hash takes 64 MB for its time: a crowd that signs in must not take all memory.
_hashing = BoundedSemaphore(2)

# An owner may do everything, a helper watch, open and pause, a reader watch.
Role = Literal["owner", "helper", "reader"]
ROLES: tuple[Role, ...] = get_args(Role)

_here = and_(roles.c.experimenter_id == experimenters.c.id, roles.c.study_id == bindparam("study_id"))
ACCOUNT = (
    select(
        *(
            experimenters.c[name]
            for name in ("id", "password_hash", "second_factor", "last_code", "wrong_codes")
        ),
        roles.c.role,
    )
    .outerjoin_from(experimenters, roles, _here)
    .where(experimenters.c.name == bindparam("name"))
)
SESSION = (
    select(experimenters.c.name, roles.c.role)
    .join_from(sessions, experimenters)
    .join(roles, _here)
    .where(sessions.c.token_hash == bindparam("token_hash"), sessions.c.expires_at > bindparam("now"))
)
USE_CODE = (
    update(experimenters)
    .where(
        experimenters.c.id == bindparam("who"),
        func.coalesce(experimenters.c.last_code, -1) < bindparam("period"),
    )
    .values(last_code=bindparam("period"), wrong_codes=0)
)
COUNT_WRONG_CODE = (
    update(experimenters)
    .where(experimenters.c.id == bindparam("who"))
    .values(wrong_codes=experimenters.c.wrong_codes + 1)
)
LAST_RECORD = (
    select(actions.c.id, actions.c.data)
    .where(
        actions.c.study_id == bindparam("study_id"),
        actions.c.type == FAILED,
        actions.c.by == bindparam("name"),
        actions.c.at > bindparam("since"),
    )
    .order_by(actions.c.id.desc())
    .limit(1)
    .with_for_update()
)


@dataclass(frozen=True)
class Experimenter:
    """Somebody who is signed in."""

    name: str
    role: Role = "owner"


@dataclass(frozen=True)
class SignInFailure:
    """Why nobody was signed in, for the records and not for whoever tried.

    Attributes:
        what: was wrong.
        account: whether there is one of this name in the study.
    """

    what: Literal["no such account", "wrong password", "wrong code"]
    account: bool = True

    def __bool__(self) -> bool:
        return False


def add_account(store: Store, name: str, password: str, role: Role = "owner") -> None:
    """A new account, with a role in this study and in no other.

    Raises:
        VeraxError: the name is taken or no name, or the password is too short.
    """
    name = _checked_name(name)
    record = {"name": name, "password_hash": _hash(password), "created_at": to_micros(store.clock())}

    def add(connection: Connection) -> None:
        added = connection.execute(insert(experimenters), record).inserted_primary_key
        assert added is not None
        connection.execute(insert(roles), _role_record(store, added[0], role))

    try:
        store.database.write(add)
    except IntegrityError as error:
        raise VeraxError(
            f"There is an account {name!r} already; choose another name, set its password with --new-password, or give "
            "it a role in this study with --role."
        ) from error


def has_account(store: Store, name: str) -> bool:
    """Whether the database has an account of this name, whatever it may do in this study."""
    keys = {"name": plain_name(name), "study_id": store.study_id}
    return store.database.read(lambda connection: connection.execute(ACCOUNT, keys).one_or_none()) is not None


def set_role(store: Store, name: str, role: Role) -> None:
    """Gives an account a role in this study; what it may do in others stays."""
    name = plain_name(name)

    def set_it(connection: Connection) -> None:
        account = _account(connection, name, store)
        connection.execute(delete(roles).where(*_role_of(account, store)))
        connection.execute(insert(roles), _role_record(store, account, role))

    store.database.write(set_it)


def set_second_factor(store: Store, name: str, secret: str | None) -> None:
    """From now on the account needs a code of this secret to sign in, or none; its sessions end."""
    name = plain_name(name)

    def change(connection: Connection) -> None:
        account = _account(connection, name, store)
        values = {"second_factor": secret, "last_code": None, "wrong_codes": 0}
        connection.execute(update(experimenters).where(experimenters.c.id == account).values(**values))
        connection.execute(delete(sessions).where(sessions.c.experimenter_id == account))

    store.database.write(change)


def change_password(store: Store, name: str, password: str) -> None:
    """Gives an account another password, and ends its sessions."""
    name, hashed = plain_name(name), _hash(password)

    def change(connection: Connection) -> None:
        account = _account(connection, name, store)
        connection.execute(
            update(experimenters).where(experimenters.c.id == account).values(password_hash=hashed)
        )
        connection.execute(delete(sessions).where(sessions.c.experimenter_id == account))

    store.database.write(change)


def remove_account(store: Store, name: str) -> None:
    """Takes an account out of this study, and away with its sessions if it is in no other; what it did is on record."""
    name = plain_name(name)

    def remove(connection: Connection) -> None:
        account = _account(connection, name, store)
        connection.execute(delete(roles).where(*_role_of(account, store)))
        elsewhere = connection.execute(select(roles.c.id).where(roles.c.experimenter_id == account)).first()
        if elsewhere is None:
            connection.execute(delete(sessions).where(sessions.c.experimenter_id == account))
            connection.execute(delete(experimenters).where(experimenters.c.id == account))

    store.database.write(remove)


def sign_in(store: Store, name: str, password: str, code: str = "") -> str | SignInFailure:
    """The token of a new session, or what is wrong, which is kept on record and takes as long whatever it is.

    Args:
        store: of the study: an account without a role in it is none.
        name: of the account.
        password: of the account.
        code: of the second factor, for accounts that have one; two in a row after many wrong ones.
    """
    name, nobodys = plain_name(name), nobodys_hash()
    keys = {"name": name, "study_id": store.study_id}
    account = store.database.read(lambda connection: connection.execute(ACCOUNT, keys).one_or_none())
    right = _is_password(password, nobodys if account is None else account.password_hash)
    if account is None or account.role is None:
        return _failed(store, NOBODY, SignInFailure("no such account", account=False))
    if not right:
        return _failed(store, name, SignInFailure("wrong password"))
    token, now = new_token(), to_micros(store.clock())
    period = None
    if account.second_factor is not None:
        in_a_row = 2 if account.wrong_codes >= MOST_WRONG_CODES else 1
        # Phones show the true time: if the machine's clock was set since the server started, that one is right.
        seconds = time.time() if store.clock is utc_now else now / SECOND
        period = period_of(account.second_factor, code, seconds, account.last_code, in_a_row)
        if period is None:
            return _failed(store, name, SignInFailure("wrong code"), account.id)
    record = {
        "token_hash": token_hash(token),
        "experimenter_id": account.id,
        "created_at": now,
        "expires_at": now + micros(SESSION_SECONDS),
    }

    def begin(connection: Connection) -> bool:
        used = {"who": account.id, "period": period}
        if period is not None and connection.execute(USE_CODE, used).rowcount == 0:
            return False  # somebody was faster with the same code
        connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
        connection.execute(insert(sessions), record)
        return True

    try:
        return token if store.database.write(begin) else _failed(store, name, SignInFailure("wrong code"))
    except IntegrityError:  # the account was removed at this very moment
        return _failed(store, NOBODY, SignInFailure("no such account", account=False))


def signed_in(store: Store, token: str) -> Experimenter | None:
    """Whose session it is; None if it is over or never was."""
    wanted = {"token_hash": token_hash(token), "now": to_micros(store.clock()), "study_id": store.study_id}
    session = store.database.read(lambda connection: connection.execute(SESSION, wanted).one_or_none())
    return None if session is None else Experimenter(session.name, session.role)


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


def _role_record(store: Store, account: int, role: Role) -> dict[str, object]:
    return {"experimenter_id": account, "study_id": store.study_id, "role": role}


def _role_of(account: int, store: Store) -> tuple[ColumnElement[bool], ...]:
    return roles.c.experimenter_id == account, roles.c.study_id == store.study_id


def _failed(store: Store, name: str, wrong: SignInFailure, count_for: int | None = None) -> SignInFailure:
    """Keeps on record that somebody could not sign in: one record an hour for each name, with how often."""

    def keep(work: Transaction) -> None:
        if count_for is not None:
            work.connection.execute(COUNT_WRONG_CODE, {"who": count_for})
        keys = {"study_id": work.study_id, "name": name, "since": work.now - micros(RECORD_SECONDS)}
        record = work.connection.execute(LAST_RECORD, keys).one_or_none()
        if record is None:
            act(work, name, FAILED, {wrong.what: 1})
            return
        data = record.data | {wrong.what: record.data.get(wrong.what, 0) + 1}
        work.connection.execute(update(actions).where(actions.c.id == record.id).values(data=data))

    store.write(keep)
    return wrong


def _account(connection: Connection, name: str, store: Store) -> int:
    account = connection.execute(ACCOUNT, {"name": name, "study_id": store.study_id}).one_or_none()
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
