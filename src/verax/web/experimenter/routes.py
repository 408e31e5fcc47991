"""What experimenters ask of the server: signing in, the live page of the study, its state, and an export."""

from __future__ import annotations

from typing import Literal, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from verax.studies.store.accounts import LONGEST_NAME, plain_name, sign_in, sign_out
from verax.web.experimenter.live_page import live, news
from verax.web.experimenter.sign_in import (
    Visit,
    experimenter_page,
    guarded,
    guarded_form,
    home,
    open_door,
    own_form,
    shut_door,
    visit_of,
)
from verax.web.experimenter.zip_export import export
from verax.web.http.forms import Form, shown_or_posted
from verax.web.http.pages import see_other, site_of
from verax.web.http.rate_limits import client_key, limits_of, too_many

WRONG = "The name or the password is wrong."


def experimenter_routes() -> list[Route]:
    """The addresses of experimenters; all but the door are for those who are signed in."""
    return [
        Route("/experimenter", guarded(live)),
        Route("/experimenter/live", guarded(news)),
        Route("/experimenter/state", guarded_form(set_state), methods=["POST"]),
        Route("/experimenter/export", guarded_form(export), methods=["POST"]),
        Route("/experimenter/sign-out", guarded_form(leave), methods=["POST"]),
        Route("/experimenter/sign-in", shown_or_posted(door, own_form(enter)), methods=["GET", "POST"]),
    ]


def door(request: Request) -> Response:
    """The page to sign in."""
    if visit_of(request) is not None:
        return see_other(home(request))
    return _door(request)


def enter(request: Request, form: Form) -> Response:
    """Begins a session, or says that the name or the password is wrong, but not which."""
    name = plain_name(form.get("name", ""))[:LONGEST_NAME]
    limits = limits_of(request)
    wait = (
        limits.sign_in_from.allow(client_key(request))
        or limits.sign_in_as.allow(name)
        or limits.sign_in.allow("")
    )
    if wait:
        return too_many(request, wait, ("Sign in", home(request, "/sign-in")))
    token = sign_in(site_of(request).store, name, form.get("password", ""))
    return _door(request, name=name, problem=WRONG) if token is None else open_door(request, token)


def leave(request: Request, visit: Visit, form: Form) -> Response:  # noqa: ARG001
    """Ends the session."""
    sign_out(site_of(request).store, visit.token)
    return shut_door(request)


def set_state(request: Request, visit: Visit, form: Form) -> Response:
    """Opens, pauses or closes the study; before it is closed it is asked once more."""
    state = form.get("state", "")
    if state not in ("open", "paused", "closed"):
        raise HTTPException(400)
    if state == "closed" and form.get("sure") != "yes":
        return experimenter_page(request, "experimenter_close.html", {"visit": visit})
    site_of(request).store.set_state(cast(Literal["open", "paused", "closed"], state), by=visit.name)
    return see_other(home(request))


def _door(request: Request, *, name: str = "", problem: str = "") -> Response:
    context = {"name": name, "problem": problem}
    return experimenter_page(request, "experimenter_door.html", context, status=403 if problem else 200)
