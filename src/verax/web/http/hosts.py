"""Under which names a study is served: whoever asks for another host is told so, and gets no page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from verax.errors import VeraxError

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
