"""Where a study is over for somebody: what the platform that sent them wants to be told, and the way back there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse

from verax.studies.model.spec import StudySpec
from verax.web.http.pages import notice, site_of

# Pages after which nothing is paid unless an address for them is given.
UNPAID = ("declined", "screened-out", "full", "closed", "withdrawn")
GIVE_BACK = {
    "prolific": "Please return your submission on Prolific, so that somebody else can take the place.",
    "mturk": "Please return the HIT on MTurk, so that somebody else can take it.",
}
SUBMIT = "/mturk/externalSubmit"


def over(
    request: Request,
    name: str,
    *,
    token: str = "",
    status: int | None = None,
    more: Sequence[str] = (),
    leaving: tuple[str, str] | None = None,
) -> HTMLResponse:
    """A notice at the end of somebody's way, with the way back to the platform; see `notice`."""
    spec = site_of(request).study.spec
    way_on = way_back(spec, name)
    if way_on is None and name in UNPAID and spec.entry in GIVE_BACK:
        more = (*more, GIVE_BACK[spec.entry])
    return notice(request, name, token=token, status=status, more=more, way_on=way_on, leaving=leaving)


def completion(request: Request, token: str) -> dict[str, Any]:
    """What the last page has besides the code: a way back, or MTurk's form."""
    site = site_of(request)
    told = site.store.return_to(token) if site.study.spec.entry == "mturk" else None
    return {
        "way_on": way_back(site.study.spec, "complete"),
        "submit": None if told is None else (f"{told['host']}{SUBMIT}", told["assignmentId"]),
    }


def way_back(spec: StudySpec, name: str) -> tuple[str, str] | None:
    """The words of the button that leads back from a page, and its address."""
    url = spec.recruiting.urls.get(name)
    if url is None:
        return None
    host = urlsplit(url).hostname or ""
    return ("Return to Prolific" if f".{host}".endswith(".prolific.com") else "Go on", url)
