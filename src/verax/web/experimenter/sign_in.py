"""Who asks for experimenters' pages: the session's cookie, where forms were sent from, passwords.

Passwords are checked apart from everything else: a crowd that tries to sign in holds up no participant.

A check takes a tenth of a second and 64 MB. So there is one thread for it, with little right to the processor, and a
short queue. A browser in which somebody has signed in before has a thread of its own: whatever strangers try, it is
let in.

Who asks for experimenters' pages: the session's cookie, and the checks that a form was sent from these pages.

Each form holds a token made from its session's, which other sites cannot read; and browsers say where a form is from.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from verax.phrases import Slot, say
from verax.studies.store.accounts import DEVICE_SECONDS, ROLES, SESSION_SECONDS, Role, signed_in
from verax.web.pages import POLICY, page, root, see_other, site_of
from verax.web.requests import Form, check_origin, posted

T = TypeVar("T")

MOST_WAITING = 20
NICE = 10


class Full(Exception):  # noqa: N818
    """Too many wait already."""


class Queue:
    """Does one thing after the other, in a thread of its own; whoever finds a long queue is sent away."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="password", initializer=_step_back)
        self._most = most
        self._waiting = 0

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns.

        Raises:
            Full: it was not even begun.
        """
        if self._waiting >= self._most:
            raise Full
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Ends the thread; who still waits is not let in."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class PasswordChecks:
    """The two queues of those who sign in.

    Attributes:
        strangers: for browsers that are not known.
        known: for those in which somebody has signed in before.
    """

    def __init__(self) -> None:
        self.strangers = Queue()
        self.known = Queue()

    def close(self) -> None:
        """Ends both threads."""
        self.strangers.close()
        self.known.close()


def _step_back() -> None:
    """Lets the threads of participants go first."""
    with suppress(OSError, AttributeError):  # where threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


FORM_TOKEN = "form"
# As for participants, but the script may ask this server for news, and forms say where they come from.
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; connect-src 'self'",
    "Referrer-Policy": "same-origin",
}


@dataclass(frozen=True)
class Visit:
    """Somebody who is signed in.

    Attributes:
        name: of the account.
        token: of the session.
        role: what the account may do in this study.
    """

    name: str
    token: str
    role: Role = "owner"

    @property
    def form_token(self) -> str:
        """What every form of this session holds."""
        return hmac.digest(self.token.encode(), b"form", "sha256").hex()


def home(request: Request, path: str = "") -> str:
    """The address of an experimenters' page."""
    return f"{root(request)}/experimenter{path}"


def experimenter_page(
    request: Request, template: str, context: Mapping[str, object], status: int = 200
) -> HTMLResponse:
    """A page for experimenters.

    Args:
        request: what is answered.
        template: its file.
        context: what this template needs besides what all do.
        status: of HTTP.
    """
    shared = {"home": home(request), "visit": None}
    answer = page(request, template, shared | dict(context), status)
    answer.headers.update(HEADERS)
    return answer


def notice_page(request: Request, case: str, status: int, text: str = "", **slots: Slot) -> HTMLResponse:
    """A page of words, with the way back: the phrase of a case, and the one with its text unless that is given."""
    says = text or say("experimenter", f"{case}-text", **slots)
    words = {"heading": say("experimenter", case, **slots), "says": says}
    return experimenter_page(request, "experimenter_notice.html", words, status)


def guarded(handler: Callable[[Request, Visit], Response]) -> Callable[[Request], Response]:
    """A page for those who are signed in; others are sent to the page to sign in."""

    def endpoint(request: Request) -> Response:
        visit = visit_of(request)
        return to_sign_in(request) if visit is None else handler(request, visit)

    return endpoint


def guarded_form(
    handler: Callable[[Request, Visit, Form], Response], may: Collection[Role] = ROLES
) -> Callable[[Request], Awaitable[Response]]:
    """Takes the forms of those who are signed in, sent from their own pages.

    Args:
        handler: what is done then.
        may: the roles that may do it.
    """

    def checked(request: Request, form: Form) -> Response:
        visit = visit_of(request)
        if visit is None:
            return to_sign_in(request)
        sent = form.get(FORM_TOKEN, "").encode("utf-8", "replace")
        if not hmac.compare_digest(sent, visit.form_token.encode()):
            return not_from_here(request)
        return handler(request, visit, form) if visit.role in may else not_yours(request, visit)

    return own_form(checked)


def own_form(handler: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Takes forms, but none that another site sent."""

    def checked(request: Request, form: Form) -> Response:
        return not_from_here(request) if is_foreign(request) else handler(request, form)

    return posted(checked)


def visit_of(request: Request) -> Visit | None:
    """Who asks, if they are signed in."""
    token = request.cookies.get(_cookie(request))
    experimenter = signed_in(site_of(request).store, token) if token else None
    return Visit(experimenter.name, token, experimenter.role) if experimenter and token else None


def has_session(request: Request) -> bool:
    """Whether the browser says that it has a session; whether it is one, the database knows."""
    return _cookie(request) in request.cookies


def start_session(request: Request, token: str, device: str) -> Response:
    """Lets the browser in for as long as its session lasts, and marks it as one in which somebody has signed in."""
    answer = see_other(home(request))
    _set_cookie(request, answer, _cookie(request), token, SESSION_SECONDS)
    _set_cookie(request, answer, device_cookie(request), device, DEVICE_SECONDS)
    return answer


def _set_cookie(request: Request, answer: Response, name: str, value: str, seconds: int) -> None:
    answer.set_cookie(
        name,
        value,
        max_age=seconds,
        path=home(request),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def end_session(request: Request) -> Response:
    """Lets the browser forget its session."""
    answer = see_other(home(request, "/sign-in"))
    answer.delete_cookie(
        _cookie(request),
        path=home(request),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return answer


def not_yours(request: Request, visit: Visit) -> Response:
    """The answer to a form that an account's role does not cover."""
    return notice_page(request, "role-too-small", 403, role=visit.role)


def not_from_here(request: Request) -> Response:
    """The answer to a form of another site, or of a session that is over."""
    return notice_page(request, "not-from-here", 403)


def to_sign_in(request: Request) -> Response:
    """Where whoever is not signed in is sent."""
    address = home(request, "/sign-in")
    if "hx-request" in request.headers:
        # The script follows redirects by itself, and would put the page to sign in into the middle of the page.
        return Response(status_code=401, headers={"HX-Redirect": address})
    return see_other(address)


def device_cookie(request: Request) -> str:
    """The name of the cookie by which a browser is known again, when others try to keep its owner out."""
    return f"verax-known-{site_of(request).study.hash[:12]}"


def _cookie(request: Request) -> str:
    """The cookie's name: studies on one host must not take each other's."""
    return f"verax-experimenter-{site_of(request).study.hash[:12]}"


def is_foreign(request: Request) -> bool:
    """Whether another site's page sent the form."""
    try:
        check_origin(request)
    except HTTPException:
        return True
    # These pages, unlike participants', tell this server their origin: who hides it is somebody else.
    return "sec-fetch-site" not in request.headers and request.headers.get("origin") == "null"
