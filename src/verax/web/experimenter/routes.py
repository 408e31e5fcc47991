"""What experimenters ask of the server: signing in, the live page, one participant, the state of the study."""

from __future__ import annotations

import logging
from functools import partial
from typing import Literal, cast

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from verax.errors import VeraxError
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
from verax.studies.store.one_participant import (
    OneParticipant,
    delete_answers,
    exclude,
    include,
    open_participant,
    unblind,
)
from verax.text import plain
from verax.web.experimenter.live_page import (
    export,
    live,
    news,
    phase_title,
    replace_link,
    say,
    shared,
    with_link,
)
from verax.web.experimenter.sign_in import (
    Full,
    PasswordChecks,
    Visit,
    device_cookie,
    end_session,
    experimenter_page,
    guarded,
    guarded_form,
    has_session,
    home,
    is_foreign,
    not_from_here,
    not_yours,
    notice_page,
    start_session,
    visit_of,
)
from verax.web.pages import see_other, site_of
from verax.web.requests import Form, client_key, limits_of, read_form, too_many


def participant(request: Request, visit: Visit) -> Response:
    """The page of one participant."""
    return _page(request, visit, _opened(request, visit))


def judge(request: Request, visit: Visit, form: Form) -> Response:
    """Excludes somebody with a reason, or takes that back; or shows the conditions, which is kept on record."""
    store, name = site_of(request).store, _opened(request, visit).name
    try:
        if form.get("do") == "unblind":
            unblind(store, by=visit.name)
        elif form.get("do") == "include":
            include(store, name, by=visit.name)
        else:
            exclude(store, name, form.get("reason", ""), by=visit.name)
    except VeraxError as error:
        return _page(request, visit, _opened(request, visit), problem=str(error), status=400)
    return see_other(home(request, f"/participant/{name}"))


def withdraw(request: Request, visit: Visit, form: Form) -> Response:
    """Deletes what somebody gave, once it was asked whether that is meant."""
    person = _opened(request, visit)
    if form.get("sure") != "yes":
        return _page(request, visit, person, sure=True)
    deleted = delete_answers(site_of(request).store, person.name, by=visit.name)
    return notice_page(request, "has-left", 200, name=person.name, pages=deleted or 0)


def _opened(request: Request, visit: Visit) -> OneParticipant:
    """The participant; readers watch, but do not see what people wrote in their own words."""
    store, name = site_of(request).store, request.path_params["name"]
    person = open_participant(store, name, free_text=visit.role != "reader")
    if person is None:
        raise HTTPException(404)
    return person


def _page(
    request: Request,
    visit: Visit,
    person: OneParticipant,
    *,
    problem: str = "",
    sure: bool = False,
    status: int = 200,
) -> Response:
    study = site_of(request).study
    context = {
        "visit": visit,
        "person": person,
        "status": say(f"status-{person.status}"),
        "part": lambda phase: phase_title(study, phase),
        "plain": plain,
        "problem": problem,
        "sure": sure,
    }
    return experimenter_page(request, "experimenter_participant.html", context, status)


OWNER: tuple[Role, ...] = ("owner",)
NOT_READERS: tuple[Role, ...] = ("owner", "helper")
QUEUE_SECONDS = 10.0  # after which whoever found a long queue may try again

logger = logging.getLogger("verax.web")


def experimenter_routes() -> list[Route]:
    """The addresses of experimenters; all but the page to sign in are for those who are signed in."""
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
        Route("/experimenter/sign-in", sign_in_page, methods=["GET", "POST"]),
    ]


async def sign_in_page(request: Request) -> Response:
    """The page to sign in, and its form. Neither waits for a thread that participants need."""
    if request.method == "POST":
        form = await read_form(request)
        return not_from_here(request) if is_foreign(request) else await _enter(request, form)
    if has_session(request) and await run_in_threadpool(visit_of, request) is not None:
        return see_other(home(request))
    return _sign_in_form(request)


async def _enter(request: Request, form: Form) -> Response:
    """Begins a session, or says that the name or the password is wrong, but not which."""
    name = plain_name(form.get("name", ""))[:LONGEST_NAME]
    try:
        session = await _try(request, name, form.get("password", ""), form.get("code", ""))
    except Full:
        session = QUEUE_SECONDS
    if isinstance(session, float | int):
        return too_many(request, session, (say("sign-in"), home(request, "/sign-in")))
    return (
        _sign_in_form(request, name=name, problem=say("wrong-sign-in"))
        if session is None
        else start_session(request, *session)
    )


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
    return end_session(request)


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


def _sign_in_form(request: Request, *, name: str = "", problem: str = "") -> Response:
    context = {"name": name, "problem": problem}
    return experimenter_page(request, "experimenter_sign_in.html", context, status=403 if problem else 200)
