"""Reading posted forms, no longer than a limit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from verax.studies.store.participant.posted import LONGEST_TEXT

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


def shown_or_posted(
    show: Callable[[Request], Response], take: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """One endpoint for a page and its form, so that other methods are told both that it takes."""

    async def endpoint(request: Request) -> Response:
        return await (take(request) if request.method == "POST" else run_in_threadpool(show, request))

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
