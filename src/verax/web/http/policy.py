"""What browsers are told of every page: nothing from elsewhere, nothing inline, in nobody's frame, kept nowhere."""

from __future__ import annotations

from verax.studies.definition.spec import StudySpec

_OWN = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'"
POLICY = f"{_OWN}; form-action 'self'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# For pages that came by https: the browser asks for this host in no other way for a year.
HSTS = {"Strict-Transport-Security": "max-age=31536000"}


def headers_for(scheme: str) -> dict[str, str]:
    """The headers of every answer."""
    return HEADERS | HSTS if scheme == "https" else HEADERS


MTURK = "https://www.mturk.com"
SANDBOX = "https://workersandbox.mturk.com"


def mturk_host(spec: StudySpec) -> str:
    """Where MTurk is told that somebody is done."""
    return SANDBOX if spec.recruiting.sandbox else MTURK


def policy_for(spec: StudySpec) -> str:
    """The policy of participants' pages: MTurk shows a study in a frame of its own, and takes a form at the end."""
    if spec.entry != "mturk":
        return POLICY
    return f"{_OWN}; form-action 'self' {mturk_host(spec)}; frame-ancestors https://*.mturk.com"
