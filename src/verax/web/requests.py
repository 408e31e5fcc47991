"""Which requests are taken: for which hosts, of what size, from whose pages, and how often.

A limiter holds a bucket of tokens for each key. Trying takes one, and they grow back at a rate; whoever finds none is
told how long to wait. The buckets are in the database, so that limits hold over all processes of a deployment; each
process remembers what it saw of them, and sends away whoever has to wait without asking the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from verax.errors import VeraxError
from verax.phrases import say
from verax.studies.store import Store
from verax.studies.store.buckets import Buckets
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.web.pages import page

NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:]+")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
HEALTH = "/health"


class AllowedHosts:
    """Passes requests for the named hosts on; all of them if none is named.

    What is written into pages and links then is one of these names, whatever a request says. Programs on the same
    machine may ask for its health under the machine's own names.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str] = ()) -> None:
        self._app = app
        self._names = frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] == "http" and self._names and not self._is_ours(scope):
            answer = PlainTextResponse("No study is served under this name.\n", 421)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        asked = Headers(scope=scope).get("host", "").lower()
        name = re.sub(r":\d*$", "", asked).strip("[]")
        return name in self._names or (scope["path"] == HEALTH and name in LOOPBACK)


def host_names(given: str) -> list[str]:
    """Names with commas between, as browsers write them: in small letters, without a port."""
    names = [name.strip().lower() for name in given.split(",") if name.strip()]
    for name in names:
        if not NAME.fullmatch(name):
            raise VeraxError(
                f"{name!r} is not the name of a host; write one such as study.example.org, without https:// and port, "
                "and commas between if there are several."
            )
    return names


# Of a form, in bytes. A letter takes up to nine: the longest text passes in any language, and so do several usual ones.
LARGEST = 16 * LONGEST_TEXT
MOST_FIELDS = 200
BODY_SECONDS = 30  # until a form has arrived
DISCARD_SECONDS, MOST_DISCARDED = 1, 16 * LARGEST  # of what follows in a form that is too large

Form = Mapping[str, str]


def posted(handler: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads a form and calls the handler with it, in a thread, where it may wait for a database."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request)
        return await run_in_threadpool(handler, request, form)

    return endpoint


WAIT_SECONDS = (
    0.25  # in which nobody is done: the database does not answer, and all go on to be told so together
)


class Turns:
    """Lets only so many handlers work at once as the database profits from, in the order of asking.

    Whoever waits does so outside of threads: many threads that wait would take the interpreter from those that work.

    Args:
        places: how many.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._done = 0
        self._watched = False

    async def run(self, handler: Callable[..., Response], *given: object) -> Response:
        """What the handler answers, in a thread, where it may wait for a database."""
        has_place = await self._enter()
        try:
            return await run_in_threadpool(handler, *given)
        finally:
            if has_place:
                self._leave()

    async def _enter(self) -> bool:
        if self._free:
            self._free -= 1
            return True
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._watch()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._leave()  # given a place at this very moment
            raise

    def _leave(self) -> None:
        self._done += 1
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # not somebody who has gone
                turn.set_result(True)
                return
        self._free += 1

    def _watch(self) -> None:
        if not self._watched:
            self._watched = True
            asyncio.get_running_loop().call_later(WAIT_SECONDS, self._look, self._done)

    def _look(self, done_before: int) -> None:
        self._watched = False
        if self._done == done_before:
            while self._waiting:
                turn = self._waiting.popleft()
                if not turn.done():
                    turn.set_result(False)
        elif self._waiting:
            self._watch()


def turns_of(request: Request) -> Turns:
    """The turns of the application that was asked."""
    return cast(Turns, request.app.state.turns)


def shown_or_posted(
    show: Callable[[Request], Response], take: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """One endpoint for a page and its form, so that other methods are told both that it takes."""

    async def endpoint(request: Request) -> Response:
        if request.method == "POST":
            return await take(request)
        return await turns_of(request).run(show, request)

    return endpoint


async def read_form(request: Request) -> Form:
    """The fields of a form; the last value of a field that came twice.

    Raises:
        HTTPException: 413 for more than `LARGEST` bytes, 408 for one that takes too long, 400 for what is no form.
        ClientDisconnect: whoever sent it has gone.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            pieces = request.stream()
            async for piece in pieces:
                body += piece
                if len(body) > LARGEST:
                    await _discard(pieces)
                    raise HTTPException(413, headers={"Connection": "close"})
    except TimeoutError as error:
        raise HTTPException(408, headers={"Connection": "close"}) from error
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise HTTPException(400) from error


async def _discard(pieces: AsyncIterator[bytes]) -> None:
    """Takes what was sent already, for a moment.

    A connection that is closed over unread bytes is reset, and the sender may lose the answer that says why.
    """
    discarded = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            async for piece in pieces:
                discarded += len(piece)
                if discarded > MOST_DISCARDED:
                    return


# The browser's word on who sends a form: our own page, or somebody who typed the address.
OWN = ("same-origin", "none")


def own_posted(handler: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for forms of participants' own pages; see `posted`."""

    async def checked(request: Request) -> Response:
        check_origin(request)
        return await turns_of(request).run(handler, request, await read_form(request))

    return checked


def check_origin(request: Request) -> None:
    """Refuses a form that a page of another site sends.

    Old browsers and programs say nothing of it; they pass, since the token in the address is the secret. Pages that
    are sent without a referrer, as ours, have the origin "null".

    Raises:
        HTTPException: 403.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site not in OWN:
            raise HTTPException(403)
        return
    origin = request.headers.get("origin", "null")
    if origin != "null" and _host(origin) != request.headers.get("host", "").lower():
        raise HTTPException(403)


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


MOST_KEYS = 20_000
# Who waits exactly as long as told must not be refused because of a rounding.
TOLERANCE = 1e-6


class Limiter:
    """So many tries at once, and then so many a second, for each key.

    Only the latest keys are kept in memory: whoever fills it with others is at most let in a little earlier.

    Args:
        rate: tokens that grow back in a second.
        burst: how many there are at most.
        clock: seconds, from any beginning.
        most: keys that are kept.
        name: what is tried, and
        shared: where all processes count it; this process counts for itself if None.
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        most: int = MOST_KEYS,
        name: str = "",
        shared: Buckets | None = None,
    ) -> None:
        self._name = name
        self._shared = shared
        self._token = 1 / rate  # the seconds in which one grows back
        self._burst = burst
        self._clock = clock
        self._most = most
        self._lock = Lock()
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when the bucket of each key is full again

    def allow(self, key: str) -> float:
        """Takes a token: 0 if there was one, otherwise the seconds until there is, and nothing is taken."""
        wait = self.wait_here(key)
        if wait:
            return wait
        if self._shared is not None:
            taken, full_in = self._shared.take(f"{self._name} {key}", self._token, self._burst)
            self._remember(key, full_in)
            return 0.0 if taken else max(self._wait(full_in), TOLERANCE)
        with self._lock:
            now = self._clock()
            full_at = max(self._full_at.get(key, now), now)
            wait = self._wait(full_at - now)
        if wait == 0:
            self._remember(key, full_at + self._token - now)
        return wait

    def wait(self, key: str) -> float:
        """The seconds until there is a token, 0 if there is one; for what is counted only once it has failed."""
        wait = self.wait_here(key)
        if wait or self._shared is None:
            return wait
        return self._wait(self._shared.full_in(f"{self._name} {key}"))

    def wait_here(self, key: str) -> float:
        """The same as far as this process knows, without asking anybody."""
        with self._lock:
            now = self._clock()
            return self._wait(self._full_at.get(key, now) - now)

    def _remember(self, key: str, full_in: float) -> None:
        with self._lock:
            self._full_at[key] = self._clock() + full_in
            self._full_at.move_to_end(key)
            if len(self._full_at) > self._most:
                self._full_at.popitem(last=False)

    def is_full(self, key: str) -> bool:
        """Whether nothing was taken lately, as far as this process knows."""
        with self._lock:
            return self._full_at.get(key, 0) <= self._clock()

    def _wait(self, until_full: float) -> float:
        wait = until_full - (self._burst - 1) * self._token
        return wait if wait > TOLERANCE else 0.0


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of one application.

    Attributes:
        enter: new participants from one address; a class of 60 who press twice pass.
        wrong_codes: codes from one address that were none.
        in_vain_as: pages that one participant sent and that were no answer: stale ones, copies, incomplete ones.
        in_vain_from: the same from one address; whoever sent none of them is not held up by it.
        sign_in_from: tries to sign in from one address.
        wrong_passwords: under one name from one address, or in one browser that is known; so nobody locks out the
            owner of a name.
    """

    enter: Limiter
    wrong_codes: Limiter
    in_vain_as: Limiter
    in_vain_from: Limiter
    sign_in_from: Limiter
    wrong_passwords: Limiter


# Tokens a second, and how many there are at most.
RATES = {
    "enter": (2.0, 240),
    "wrong_codes": (1 / 10, 60),
    "in_vain_as": (1.0, 100),
    "in_vain_from": (5.0, 600),
    "sign_in_from": (1 / 10, 10),
    "wrong_passwords": (1 / 30, 6),
}


def make_limits(store: Store | None = None, clock: Callable[[], float] = time.monotonic) -> Limits:
    """The limits of a study, counted in its database; without one, by this process alone."""
    shared = None if store is None else Buckets(store)
    limiters = {
        name: Limiter(rate, burst, clock=clock, name=name, shared=shared)
        for name, (rate, burst) in RATES.items()
    }
    return Limits(**limiters)


def limits_of(request: Request) -> Limits:
    """The limits of the application that was asked."""
    return cast(Limits, request.app.state.limits)


def client_key(request: Request) -> str:
    """Where a request comes from: the address, or of an IPv6 address the network, of which one home has a whole one."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
    return str(address)


def origin_of(request: Request) -> tuple[str, str]:
    """Where a request comes from, and the network around it: of IPv4 256 addresses, of IPv6 what a site has."""
    key = client_key(request)
    try:
        address = ip_address(key)
    except ValueError:
        return key, key
    bits = 80 if isinstance(address, IPv6Address) else 8
    return key, str(type(address)(int(address) >> bits << bits))


def too_many(request: Request, seconds: float, way_on: tuple[str, str] | None = None) -> Response:
    """The page for somebody who has to wait.

    Args:
        request: what is answered.
        seconds: how long.
        way_on: the words of a button and its address.
    """
    whole = max(1, math.ceil(seconds))
    unit, time = ("seconds", whole) if whole < 90 else ("minutes", math.ceil(whole / 60))
    context = {
        "heading": say("participant", "too-many-tries"),
        "says": (say("participant", "too-many-tries-text", unit=unit, time=time),),
        "way_on": way_on,
    }
    answer = page(request, "notice.html", context, status=429)
    answer.headers["Retry-After"] = str(whole)
    return answer
