"""What identifies people: tokens of their pages, codes that they type, and keyed hashes of a platform's ids."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verax.errors import VeraxError
from verax.studies.definition.study import Study

# No letter or digit that looks like another one.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 10
TOKEN_BYTES = 24


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_for(secret: str, code: str) -> str:
    """The token of whoever has the code: the same each time, so that nothing but its hash need be stored."""
    digest = hmac.digest(secret.encode(), code.encode(), "sha256")
    return base64.urlsafe_b64encode(digest[:TOKEN_BYTES]).decode()


def token_hash(token: str) -> str:
    """What the database knows of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def pseudonym(secret: str, token_hash: str) -> str:
    """What a participant is called outside of the database; without the secret nobody can tell who it is."""
    return "p" + hmac.digest(secret.encode(), f"pseudonym {token_hash}".encode(), "sha256").hex()[:10]


def new_code(person: str = "") -> str:
    """A code that is easy to read and type; it begins like the other codes of a person, if they had one before."""
    return person + "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH - len(person)))


def person_of_code(code: str) -> str:
    """What all codes of one person begin with."""
    return code[:PERSON_LENGTH]


def code_link(key: bytes | None, code: str | None) -> str | None:
    """By what people who come by codes are known in other studies; None where the study does not ask for it."""
    if key is None or code is None:
        return None
    return _digest(key, "link", "code", person_of_code(typed_code(code))).hex()


def typed_code(text: str) -> str:
    """The code that somebody typed, whatever the case, spaces and hyphens."""
    return "".join(letter for letter in text.upper() if letter in ALPHABET)


# As many characters of a code are the same in all codes of one person: the rest is not to be guessed from another code.
PERSON_LENGTH = 5
KEY_FILE = "person.key"
# In the folder that holds the folders of several studies, which then know the same people.
LINK_FILE = "link.key"
KEY_BYTES = 32
LENT = "~"  # which no token begins with
NONCE_BYTES, SEAL_BYTES = 12, 12


@dataclass(frozen=True)
class PlatformPerson:
    """Somebody whom a platform sent.

    Attributes:
        platform: "prolific" or "mturk".
        hash: keyed, of the platform's id of the person: the same each time they come.
        token: opens their pages: the same each time too.
        return_to: what the platform must be told at the end.
        session: keyed hash of the platform's session or assignment with which they come; None where none is asked for.
        link: keyed hash that is the same in other studies with the same key, where the study asks people for that.
    """

    platform: str
    hash: str
    token: str
    return_to: Mapping[str, str] | None = None
    session: str | None = None
    link: str | None = None


def known_person(
    key: bytes,
    study_hash: str,
    platform: str,
    id: str,
    return_to: Mapping[str, str] | None = None,
    session: str | None = None,
    link_key: bytes | None = None,
) -> PlatformPerson:
    """The person with this id on this platform, in this study: the same id is somebody else in another one.

    With the key of a set of studies there is one thing more that is the same in all of them, the link.
    """
    return PlatformPerson(
        platform,
        _digest(key, "person", study_hash, platform, id).hex(),
        base64.urlsafe_b64encode(_digest(key, "token", study_hash, platform, id)[:TOKEN_BYTES]).decode(),
        return_to,
        None if session is None else _digest(key, "session", study_hash, platform, id, session).hex(),
        None if link_key is None else _digest(link_key, "link", platform, id).hex(),
    )


def lent_token(key: bytes, token: str) -> str:
    """What opens the pages of a token to whoever came a second time by a platform's ids alone.

    It shows the way on, but not the token itself, which is the participant's own and may delete everything.
    """
    nonce = _digest(key, "nonce", token)[:NONCE_BYTES]
    sealed = _xor(base64.urlsafe_b64decode(token), _digest(key, "lent", nonce.hex()))
    seal = _digest(key, "seal", nonce.hex(), sealed.hex())[:SEAL_BYTES]
    return LENT + base64.urlsafe_b64encode(nonce + sealed + seal).decode()


def is_lent(shown: str) -> bool:
    """Whether it looks like what `lent_token` gives."""
    return shown.startswith(LENT)


def token_behind(key: bytes, lent: str) -> str | None:
    """The token behind what `lent_token` gave; None for what it never gave."""
    try:
        content = base64.b64decode(lent.removeprefix(LENT), b"-_", validate=True)
    except ValueError:
        return None
    nonce, sealed, seal = content[:NONCE_BYTES], content[NONCE_BYTES:-SEAL_BYTES], content[-SEAL_BYTES:]
    right = _digest(key, "seal", nonce.hex(), sealed.hex())[:SEAL_BYTES]
    if len(sealed) != TOKEN_BYTES or not hmac.compare_digest(seal, right):
        return None
    return base64.urlsafe_b64encode(_xor(sealed, _digest(key, "lent", nonce.hex()))).decode()


def _xor(content: bytes, stream: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(content, stream, strict=False))


def platform_key(study: Study, folder: str | Path) -> bytes | None:
    """The key of a study whose people come from a platform; other studies need none."""
    return person_key(folder) if study.spec.entry in ("prolific", "mturk") else None


def link_key(study: Study, folder: str | Path) -> bytes | None:
    """The key by which studies beside each other know the same people, where the study asks them; None if it does not.

    It lies beside the study's folder, not in it, so that all studies in one place have the same.
    """
    return person_key(Path(folder).resolve().parent, LINK_FILE) if study.spec.recruiting.link else None


def person_key(folder: str | Path, name: str = KEY_FILE) -> bytes:
    """The key in a study's folder, made when it is first asked for; only its owner can read the file.

    It is no part of the study's hash, of exports or of backups: without it nobody can tell who is who.
    """
    path = Path(folder) / name
    try:
        if not path.exists():
            _make(path)
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        raise VeraxError(f"The key {str(path)!r} cannot be read or made ({error.strerror}).") from error
    except ValueError as error:
        raise VeraxError(f"{str(path)!r} is no key of a study; put the old file back.") from error
    if len(key) != KEY_BYTES:
        raise VeraxError(f"{str(path)!r} is no key of a study: it has {len(key)} bytes, not {KEY_BYTES}.")
    return key


def _make(path: Path) -> None:
    """Two processes that begin at once find the same key: whoever links it first has made it."""
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(secrets.token_hex(KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _digest(key: bytes, *parts: str) -> bytes:
    # Each part with its length, so that no two lists of parts look alike.
    message = b"".join(b"%d:%s" % (len(part), part) for part in map(str.encode, parts))
    return hmac.digest(key, message, "sha256")
