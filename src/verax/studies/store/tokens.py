"""What opens a participant's pages, and the codes that people type."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

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


def new_code() -> str:
    """A code that is easy to read and type."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def typed_code(text: str) -> str:
    """The code that somebody typed, whatever the case, spaces and hyphens."""
    return "".join(letter for letter in text.upper() if letter in ALPHABET)
