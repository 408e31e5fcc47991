"""What all handlers share: the store, the study, and how a page or a notice is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from verax.studies.model.study import Study
from verax.studies.store import Store
from verax.web.http.assets import asset_name
from verax.web.http.policy import policy_for
from verax.web.http.templating import draw
from verax.web.participant.notices import NOTICES

# How long a browser remembers who its participant is.
REMEMBERED = 30 * 24 * 3600
# A name or an address, perhaps with a port: what else a browser writes there is not repeated in a page.
HOST = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, eq=False)
class Site:
    """A study with its store; in a preview every page says so."""

    store: Store
    study: Study
    preview: bool = False

    @property
    def cookie(self) -> str:
        """The cookie's name: studies on one host must not take each other's participants."""
        return f"verax-{self.study.hash[:12]}"


def site_of(request: Request) -> Site:
    """The site that was asked."""
    return cast(Site, request.app.state.site)


def root(request: Request) -> str:
    """Where the study's addresses begin: empty, or the folder under which it is served."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def place(request: Request, token: str) -> str:
    """The one address of a participant."""
    return f"{root(request)}/p/{token}"


def leave_address(request: Request, token: str) -> str:
    """Where a participant leaves the study."""
    return f"{place(request, token)}/leave"


def own_link(request: Request, token: str) -> str:
    """The address of a participant as others would type it."""
    scheme, (host, port) = request.scope["scheme"], request.scope.get("server") or ("localhost", None)
    asked = request.headers.get("host", "")
    if not HOST.fullmatch(asked):
        asked = host if port is None else f"{host}:{port}"
    return f"{scheme}://{asked}{place(request, token)}"


def page(request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A page of the study.

    Args:
        request: what is answered.
        template: its file.
        context: what this template needs besides what all do.
        status: of HTTP.
    """
    site = site_of(request)
    shared = {
        "study": site.study.spec.title,
        "contact": site.study.spec.texts.contact,
        "preview": site.preview,
        "root": root(request),
        "static": lambda name: f"{root(request)}/static/{asset_name(name)}",
        "link": "",
        "leaving": None,
    }
    answer = HTMLResponse(draw(template, shared | dict(context)), status)
    answer.headers["Content-Security-Policy"] = policy_for(site.study.spec)
    return answer


def notice(
    request: Request,
    name: str,
    *,
    token: str = "",
    status: int | None = None,
    more: Sequence[str] = (),
    way_on: tuple[str, str] | None = None,
    leaving: tuple[str, str] | None = None,
) -> HTMLResponse:
    """A page of words.

    Args:
        request: what is answered.
        name: of the notice.
        token: of the participant to whose place the notice's button leads; it leads to the first page if empty.
        status: of HTTP; the notice's own if None.
        more: what is said besides.
        way_on: another button: its words and its address.
        leaving: the words of a link in the footer and its address, where leaving the study is offered.
    """
    shown = NOTICES[name]
    address = place(request, token) if token else f"{root(request)}/"
    context = {
        "name": name,
        "heading": shown.heading,
        "says": (*shown.says, *more),
        "way_on": way_on or ((shown.way_on, address) if shown.way_on else None),
        "link": own_link(request, token) if token else "",
        "leaving": leaving,
    }
    answer = page(request, "notice.html", context, status or shown.status)
    if shown.retry_after:
        answer.headers["Retry-After"] = str(shown.retry_after)
    return answer


def see_other(address: str) -> RedirectResponse:
    """Sends the browser to an address, to be read with GET."""
    return RedirectResponse(address, 303)


def remember(request: Request, answer: Response, token: str) -> None:
    """Lets this browser go on later without its link."""
    answer.set_cookie(
        site_of(request).cookie,
        token,
        max_age=REMEMBERED,
        path=f"{root(request)}/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="lax",
    )


def forget(request: Request, answer: Response) -> None:
    """Takes back what `remember` did."""
    answer.delete_cookie(site_of(request).cookie, path=f"{root(request)}/", httponly=True, samesite="lax")
