"""What experimenters ask of the server: signing in, the live page of the study, its state, and an export."""

from __future__ import annotations

import logging
from functools import partial
from typing import Literal, cast

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from verax.studies.store.accounts import (
    LONGEST_NAME,
    Role,
    SignInFailure,
    is_known_device,
    new_device,
    plain_name,
    sign_in,
    sign_out,
)
from verax.web.experimenter.live_page import live, news, shared
from verax.web.experimenter.participant_page import judge, participant, withdraw
from verax.web.experimenter.password_checks import Full, PasswordChecks
from verax.web.experimenter.share_link import replace_link, with_link
from verax.web.experimenter.sign_in import (
    Visit,
    device_cookie,
    experimenter_page,
    guarded,
    guarded_form,
    has_session,
    home,
    is_foreign,
    not_from_here,
    not_yours,
    open_door,
    shut_door,
    visit_of,
)
from verax.web.experimenter.zip_export import export
from verax.web.http.forms import Form, read_form
from verax.web.http.pages import see_other, site_of
from verax.web.http.rate_limits import client_key, limits_of, too_many

WRONG = "The name, the password or the code is wrong."
OWNER: tuple[Role, ...] = ("owner",)
NOT_READERS: tuple[Role, ...] = ("owner", "helper")
QUEUE_SECONDS = 10.0  # after which whoever found a long queue may try again

logger = logging.getLogger("verax.web")


def experimenter_routes() -> list[Route]:
    """The addresses of experimenters; all but the door are for those who are signed in."""
    return [
        Route("/experimenter", guarded(live)),
        Route("/experimenter/live", guarded(news)),
        Route("/experimenter/participant/{name}", guarded(participant)),
        Route("/experimenter/participant/{name}/judge", guarded_form(judge, may=OWNER), methods=["POST"]),
        Route(
            "/experimenter/participant/{name}/withdraw", guarded_form(withdraw, may=OWNER), methods=["POST"]
        ),
        Route("/experimenter/share", guarded_form(replace_link, may=OWNER), methods=["POST"]),
        Route("/experimenter/shared/{key}", with_link(shared)),
        Route("/experimenter/shared/{key}/live", with_link(news)),
        Route("/experimenter/state", guarded_form(set_state, may=NOT_READERS), methods=["POST"]),
        Route("/experimenter/export", guarded_form(export, may=OWNER), methods=["POST"]),
        Route("/experimenter/sign-out", guarded_form(leave), methods=["POST"]),
        Route("/experimenter/sign-in", door, methods=["GET", "POST"]),
    ]


async def door(request: Request) -> Response:
    """The page to sign in, and its form. Neither waits for a thread that participants need."""
    if request.method == "POST":
        form = await read_form(request)
        return not_from_here(request) if is_foreign(request) else await _enter(request, form)
    if has_session(request) and await run_in_threadpool(visit_of, request) is not None:
        return see_other(home(request))
    return _door(request)


async def _enter(request: Request, form: Form) -> Response:
    """Begins a session, or says that the name or the password is wrong, but not which."""
    name = plain_name(form.get("name", ""))[:LONGEST_NAME]
    try:
        session = await _try(request, name, form.get("password", ""), form.get("code", ""))
    except Full:
        session = QUEUE_SECONDS
    if isinstance(session, float | int):
        return too_many(request, session, ("Sign in", home(request, "/sign-in")))
    return _door(request, name=name, problem=WRONG) if session is None else open_door(request, *session)


async def _try(request: Request, name: str, password: str, code: str) -> tuple[str, str] | float | None:
    """A session and the mark of a known browser; None for what is wrong; or the seconds to wait."""
    checks, limits = cast(PasswordChecks, request.app.state.password_checks), limits_of(request)
    store, address = site_of(request).store, client_key(request)
    device = request.cookies.get(device_cookie(request), "")
    known = bool(device) and await checks.known.run(partial(is_known_device, store, name, device))
    key = f"device {device}" if known else f"{address} {name}"
    # Whoever has to wait for longer is sent away before they wait in a queue.
    wait = limits.wrong_passwords.wait_here(key) or (0.0 if known else limits.sign_in_from.wait_here(address))
    if wait:
        return wait

    def attempt() -> tuple[str, str] | float | None:
        wait = limits.wrong_passwords.wait(key) or (0.0 if known else limits.sign_in_from.allow(address))
        if wait:
            return wait
        found = sign_in(store, name, password, code)
        if isinstance(found, SignInFailure):
            limits.wrong_passwords.allow(key)
            # Not the name that was typed, unless it is an account's: people type passwords into the wrong field.
            whom = f"as {name!r}" if found.account else "under a name without an account"
            logger.warning("A try to sign in %s from %s failed: %s.", whom, address, found.what)
            return None
        return found, new_device(store, name)

    return await (checks.known if known else checks.strangers).run(attempt)


def leave(request: Request, visit: Visit, form: Form) -> Response:  # noqa: ARG001
    """Ends the session."""
    sign_out(site_of(request).store, visit.token)
    return shut_door(request)


def set_state(request: Request, visit: Visit, form: Form) -> Response:
    """Opens, pauses or closes the study; before it is closed it is asked once more."""
    state = form.get("state", "")
    if state not in ("open", "paused", "closed"):
        raise HTTPException(400)
    if state == "closed" and visit.role != "owner":
        return not_yours(request, visit)
    if state == "closed" and form.get("sure") != "yes":
        return experimenter_page(request, "experimenter_close.html", {"visit": visit})
    site_of(request).store.set_state(cast(Literal["open", "paused", "closed"], state), by=visit.name)
    return see_other(home(request))


def _door(request: Request, *, name: str = "", problem: str = "") -> Response:
    context = {"name": name, "problem": problem}
    return experimenter_page(request, "experimenter_door.html", context, status=403 if problem else 200)
