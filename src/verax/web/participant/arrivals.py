"""How participants come: from a platform, as its links say, or back, by their address and their cookie."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from verax.studies.definition.spec import StudySpec
from verax.web.pages import Site, front, mturk_host, site_of

# How long a browser remembers who its participant is.
REMEMBERED = 30 * 24 * 3600
# After the name of that cookie: who it was before somebody else sat down.
BEFORE = "-before"
# A name or an address, perhaps with a port: what else a browser writes there is not repeated in a page.
HOST = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Opened:
    """The place that an address opens.

    Attributes:
        shown: what stands in the address, and in those of all its pages.
        token: of the participant.
        own: whether they came by their own link or cookie; otherwise it was lent to whoever came by a platform's ids.
    """

    shown: str
    token: str
    own: bool


def opened_place(request: Request) -> Opened:
    """Whose place is asked for."""
    shown = request.path_params["token"]
    return Opened(shown, *site_of(request).store.opened_by(shown))


def place(request: Request, shown: str, site: Site | None = None) -> str:
    """The one address of a participant: of the study that was asked, or of another with the same first page."""
    return f"{front(request)}{(site or site_of(request)).folder}/p/{shown}"


def leave_address(request: Request, shown: str) -> str:
    """Where a participant leaves the study."""
    return f"{place(request, shown)}/leave"


def own_link(request: Request, opened: Opened) -> str:
    """The address of a participant as others would type it; empty for whoever has only been lent one."""
    if not opened.own:
        return ""
    scheme, (host, port) = request.scope["scheme"], request.scope.get("server") or ("localhost", None)
    asked = request.headers.get("host", "")
    if not HOST.fullmatch(asked):
        asked = host if port is None else f"{host}:{port}"
    return f"{scheme}://{asked}{place(request, opened.token)}"


def remember(request: Request, answer: Response, token: str, site: Site | None = None) -> None:
    """Lets this browser go on later without its link."""
    _keep(request, answer, (site or site_of(request)).cookie, token)


def forget(request: Request, answer: Response) -> None:
    """Takes back what `remember` did; that somebody took part in this browser is remembered."""
    for site in site_of(request).sites:
        shown = request.cookies.get(site.cookie)
        if shown:
            _keep(request, answer, f"{site.cookie}{BEFORE}", shown)
        answer.delete_cookie(site.cookie, path=f"{front(request)}/", httponly=True, samesite="lax")


def earlier_here(request: Request, site: Site) -> str:
    """The token of somebody who took part in this browser before; empty if nobody did."""
    shown = request.cookies.get(f"{site.cookie}{BEFORE}") or request.cookies.get(site.cookie, "")
    return site.store.opened_by(shown)[0] if shown else ""


def _keep(request: Request, answer: Response, name: str, value: str) -> None:
    answer.set_cookie(
        name,
        value,
        max_age=REMEMBERED,
        path=f"{front(request)}/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="lax",
    )


# What each platform adds to the study's address; the first one says who it is.
PARAMETERS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId", "hitId", "turkSubmitTo"),
}
# What MTurk writes for somebody who only looks.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SIGNATURE = "signature"  # of the id, where links are signed
# Lists of payments hold it as it is, and a cell that begins with a hyphen is a formula.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True)
class Arrival:
    """Somebody whom a platform sent.

    Attributes:
        platform: "prolific" or "mturk".
        person: the platform's id of the person.
        fields: what the platform's link said, to be sent along with the form of the first page.
        session: the platform's id of this visit: Prolific's session, MTurk's assignment.
        return_to: what the platform must be told at the end.
    """

    platform: str
    person: str
    fields: Mapping[str, str]
    session: str
    return_to: Mapping[str, str] | None = None


@dataclass(frozen=True)
class NoArrival:
    """A link that does not say who came; `what` is "missing", "malformed", or a "preview"."""

    what: Literal["missing", "malformed", "preview"]


def arrival(spec: StudySpec, given: Mapping[str, str]) -> Arrival | NoArrival:
    """Who came, from the parameters of a link or the fields of a form, in a study that is entered from a platform."""
    platform = spec.entry
    if platform == "mturk" and given.get("assignmentId") == PREVIEW:
        return NoArrival("preview")
    names = (*PARAMETERS[platform], *([SIGNATURE] if spec.recruiting.signed else []))
    fields = {name: given.get(name, "") for name in names}
    if not all(fields.values()):
        return NoArrival("missing")
    ids = [value for name, value in fields.items() if name != "turkSubmitTo"]
    if not all(ID.fullmatch(value) for value in ids):
        return NoArrival("malformed")
    person = fields[PARAMETERS[platform][0]]
    if platform == "prolific":
        return Arrival(platform, person, fields, fields["SESSION_ID"])
    if not _is_at(fields["turkSubmitTo"], mturk_host(spec)):
        return NoArrival("malformed")
    return Arrival(
        platform,
        person,
        fields,
        fields["assignmentId"],
        {"assignmentId": fields["assignmentId"], "host": mturk_host(spec)},
    )


def _is_at(url: str, host: str) -> bool:
    """Whether an address is at a host: nobody's answer may be sent anywhere else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return f"{parts.scheme}://{parts.netloc}".lower() == host
