"""Reading posted forms, no longer than a limit."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from verax.web.participant.step_page import FIELD

LARGEST = 64 * 1024
MOST_FIELDS = 200

Form = Mapping[str, str]


def posted(handler: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads a form and calls the handler with it, in a thread, where it may wait for a database."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request)
        return await run_in_threadpool(handler, request, form)

    return endpoint


async def read_form(request: Request) -> Form:
    """The fields of a form; the last value of a field that came twice.

    Raises:
        HTTPException: 413 for more than 64 kB, 400 for what is no form.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise HTTPException(413)
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise HTTPException(400) from error


def answers(form: Form) -> dict[str, str]:
    """The answers by question: places in the lists of options, and texts."""
    return {field.removeprefix(FIELD): value for field, value in form.items() if field.startswith(FIELD)}


def client_times(form: Form) -> dict[str, Any]:
    """What the browser measured; nothing where it has no script or sends something else."""
    try:
        measured = json.loads(form.get("client", ""))
    except (ValueError, RecursionError):
        return {}
    return measured if isinstance(measured, dict) else {}


def step_number(form: Form) -> int:
    """The step that the form belongs to; -1, which no step has, where it does not say."""
    number = form.get("ord", "")
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else -1
