"""One-time codes, against the numbers of RFC 6238 and RFC 4226."""

from __future__ import annotations

import base64

import pytest

from verax.studies.store.accounts import CODE_SECONDS, code_at, new_secret, period_of, second_factor_link

SECRET = base64.b32encode(b"12345678901234567890").decode()


# Appendix B of RFC 6238 has eight digits; six of them are the last six.
@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_the_codes_of_the_rfc(seconds, code):
    assert code_at(SECRET, seconds // CODE_SECONDS) == code
    assert period_of(SECRET, f"{code[:3]} {code[3:]}", seconds) == seconds // CODE_SECONDS


def test_a_clock_may_be_half_a_minute_off_and_no_more():
    period = 41_152_263
    code = code_at(SECRET, period)
    found = [period_of(SECRET, code, (period + shift) * CODE_SECONDS + 15) for shift in (-2, -1, 0, 1, 2)]
    assert found == [None, period, period, period, None]


def test_a_code_is_good_once():
    code = code_at(SECRET, 1000)
    assert period_of(SECRET, code, 30_000, after=999) == 1000
    assert period_of(SECRET, code, 30_000, after=1000) is None


@pytest.mark.parametrize("typed", ["", "0", "287082x", "é", "\x00", "9" * 1000])
def test_what_is_no_code(typed):
    assert period_of(SECRET, typed, 59) is None


def test_secrets_differ_and_apps_can_read_them():
    assert new_secret() != new_secret()
    assert len(base64.b32decode(new_secret())) == 20
    assert (
        second_factor_link("ABC", "A & B", "anna")
        == "otpauth://totp/A%20%26%20B%3Aanna?secret=ABC&issuer=A%20%26%20B"
    )
