"""Forms are taken from the study's own pages, not from those of other sites."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from verax.web.http.forms import Form, posted

# The browser's word on who sends a form: our own page, or somebody who typed the address.
OWN = ("same-origin", "none")


def own_posted(handler: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for forms of our own pages; see `posted`."""
    endpoint = posted(handler)

    async def checked(request: Request) -> Response:
        check_origin(request)
        return await endpoint(request)

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
