"""Codes that an app shows for half a minute, as RFC 6238 has it: the second factor of an account."""

from __future__ import annotations

import base64
import hmac
import secrets
import struct
from urllib.parse import quote

SECONDS = 30  # for which a code is shown
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
    typed, now = "".join(code.split()), int(seconds // SECONDS)
    count = max(in_a_row, 2 if len(typed) == 2 * DIGITS else 1)
    for period in (now + shift for shift in AROUND):
        fresh = after is None or period > after
        right = "".join(code_at(secret, period - back) for back in reversed(range(count))).encode()
        if hmac.compare_digest(right, typed.encode("utf-8", "replace")) and fresh:
            return period
    return None


def address(secret: str, study: str, name: str) -> str:
    """What apps read from a square, or from a link."""
    label = quote(f"{study}:{name}", safe="")
    return f"otpauth://totp/{label}?secret={secret}&issuer={quote(study, safe='')}"
