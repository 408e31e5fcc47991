"""Where a study is over for somebody: leaving it, and the way back to the platform that sent them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from verax.studies.model.spec import StudySpec
from verax.web.http.forms import Form
from verax.web.http.pages import page, see_other, site_of
from verax.web.participant.addresses import leave_address, place
from verax.web.participant.notices import notice, unknown

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


def completion(request: Request, token: str) -> dict[str, object]:
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


def ask_to_leave(request: Request) -> Response:
    """Asks once more. Nothing is noted: who goes back has never left."""
    if request.method == "HEAD":
        return Response(status_code=204)
    token = request.path_params["token"]
    where = site_of(request).store.look(token)
    if where is None:
        return unknown(request)
    if where.status == "withdrawn" and where.steps == 0:
        return see_other(place(request, token))
    context = {
        "action": leave_address(request, token),
        "back": place(request, token),
        # Who is done, or has stopped, can only have it deleted.
        "stops": where.status not in ("complete", "withdrawn"),
        "gave": where.steps > 0,
        "complete": where.status == "complete",
    }
    return page(request, "leave.html", context)


def leave(request: Request, form: Form) -> Response:
    """Ends somebody's part; a form without a choice, which our page never sends, asks again."""
    token = request.path_params["token"]
    choice = form.get("choice")
    if choice not in ("keep", "delete"):
        return see_other(leave_address(request, token))
    if site_of(request).store.withdraw(token, delete=choice == "delete") is None:
        return unknown(request)
    return see_other(place(request, token))
