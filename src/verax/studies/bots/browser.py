"""A small browser: one connection that is kept, cookies, and the patience of somebody who presses the button again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlencode, urlsplit

from verax.errors import VeraxError

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
# A connection that is silent for so many seconds is given up.
SILENCE = 30.0
COME_AGAIN = (429, 503)


class NoAnswer(VeraxError):  # noqa: N818
    """The server did not answer, for longer than somebody waits."""


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    location: str
    html: str


class Browser:
    """Asks one server. What is lost on the way is asked again: pages can bear that.

    Args:
        url: the study's first page.
        patience: for how many seconds it asks again.
        pause: waits so many seconds; a true answer ends the waiting for good.
    """

    def __init__(
        self, url: str, *, patience: float, pause: Callable[[float], bool | None] = time.sleep
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise VeraxError(f"{url!r} is not the address of a study; give one such as http://127.0.0.1:8000")
        make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = make(parts.hostname, parts.port, timeout=SILENCE)
        self._folder = parts.path.rstrip("/")
        self._url = url
        self._patience = patience
        self._pause = pause
        self._cookies: dict[str, str] = {}

    def get(self, path: str) -> Answer:
        """Asks for a page."""
        return self._ask("GET", path, None)

    def post(self, path: str, form: Mapping[str, str]) -> Answer:
        """Sends a form."""
        return self._ask("POST", path, urlencode(form))

    def twin(self) -> Browser:
        """Another window of the same browser."""
        other = Browser(self._url, patience=self._patience, pause=self._pause)
        other._cookies = dict(self._cookies)
        return other

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def address(self, path: str) -> str:
        """Where a page of the study is on the server; redirects name the whole path already."""
        return path if path.startswith(f"{self._folder}/") else self._folder + path

    def _ask(self, method: str, path: str, body: str | None) -> Answer:
        until = time.monotonic() + self._patience
        wait = FIRST_PAUSE
        while True:
            try:
                answer = self._once(method, path, body)
                problem = f"it said {answer.status}"
            except (OSError, HTTPException) as error:
                self._connection.close()
                answer, problem = None, str(error) or type(error).__name__
            if answer is not None and answer.status not in COME_AGAIN:
                return answer
            if time.monotonic() + wait > until:
                raise NoAnswer(f"{self._url} did not answer for {self._patience:g} seconds ({problem}).")
            if self._pause(wait):
                raise NoAnswer("Told to stop while waiting for an answer.")
            wait = min(2 * wait, LONGEST_PAUSE)

    def _once(self, method: str, path: str, body: str | None) -> Answer:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, self.address(path), body, headers)
        response = self._connection.getresponse()
        html = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.split(";", 1)[0].partition("=")
            self._cookies[name] = value
        return Answer(response.status, response.headers.get("Location", ""), html)
