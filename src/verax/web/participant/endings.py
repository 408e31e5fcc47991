"""Where a study is over for somebody: leaving it, and the way back to the platform that sent them."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from verax.web.http.forms import Form
from verax.web.http.pages import page, see_other, site_of
from verax.web.participant.addresses import leave_address, opened_place, place
from verax.web.participant.notices import RETURN, notice, unknown, way_back

SUBMIT = "/mturk/externalSubmit"


def completion(request: Request, token: str, own_code: str | None) -> dict[str, object]:
    """What the last page has: one code, and a way back or MTurk's form.

    Where an address leads back to the platform, that address says who is done; the only code to show then is the
    platform's, if the address holds one. Two codes on one page would be mixed up.
    """
    site = site_of(request)
    told = site.store.return_to(token) if site.study.spec.entry == "mturk" else None
    way_on = way_back(site.study.spec, "complete")
    return {
        "completion_code": own_code,
        "code": own_code if way_on is None else code_in(way_on[1]),
        "platform": "Prolific" if way_on is not None and way_on[0] == RETURN else "the platform",
        "way_on": way_on,
        "submit": None if told is None else (f"{told['host']}{SUBMIT}", told["assignmentId"]),
    }


def code_in(url: str) -> str:
    """The completion code in a platform's address, such as Prolific's ``?cc=C1ABCDEF``; empty if there is none."""
    return dict(parse_qsl(urlsplit(url).query)).get("cc", "")


def ask_to_leave(request: Request) -> Response:
    """Asks once more. Nothing is noted: who goes back has never left."""
    if request.method == "HEAD":
        return Response(status_code=204)
    opened = opened_place(request)
    where = site_of(request).store.look(opened.token)
    if where is None:
        return unknown(request)
    if where.status == "withdrawn" and where.steps == 0:
        return see_other(place(request, opened.shown))
    if not opened.own and where.status in ("complete", "withdrawn"):
        return notice(request, "not-own", opened=opened)
    context = {
        "action": leave_address(request, opened.shown),
        "back": place(request, opened.shown),
        "own": opened.own,
        # Who is done, or has stopped, can only have it deleted.
        "stops": where.status not in ("complete", "withdrawn"),
        "gave": where.steps > 0,
        "complete": where.status == "complete",
    }
    return page(request, "leave.html", context)


def leave(request: Request, form: Form) -> Response:
    """Ends somebody's part; a form without a choice, which our page never sends, asks again."""
    opened = opened_place(request)
    choice = form.get("choice")
    if choice not in ("keep", "delete"):
        return see_other(leave_address(request, opened.shown))
    if choice == "delete" and not opened.own:
        return notice(request, "not-own", opened=opened)
    if site_of(request).store.withdraw(opened.token, delete=choice == "delete") is None:
        return unknown(request)
    return see_other(place(request, opened.shown))
