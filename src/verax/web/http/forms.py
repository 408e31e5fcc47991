"""Reading posted forms, no longer than a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
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
            async for piece in request.stream():
                body += piece
                if len(body) > LARGEST:
                    # Nobody reads the rest.
                    raise HTTPException(413, headers={"Connection": "close"})
    except TimeoutError as error:
        raise HTTPException(408, headers={"Connection": "close"}) from error
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise HTTPException(400) from error
