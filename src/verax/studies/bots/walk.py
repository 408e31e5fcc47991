"""One simulated person's way through the pages: in, consent, step by step, to the completion code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from types import MappingProxyType
from typing import Literal

from verax.errors import VeraxError
from verax.studies.bots.album import Album
from verax.studies.bots.browser import Answer, Browser
from verax.studies.bots.html_page import read_page
from verax.studies.bots.language import LanguagePerson
from verax.studies.bots.page import Page
from verax.studies.bots.person import Person
from verax.studies.bots.profiles import DoubleClicker, Reloader
from verax.studies.store.participant.posted import FIELD
from verax.studies.store.participant.submit import SIMULATED

# What a page may take on its way after its limit; somebody who is late waits longer.
AFTER_LIMIT = 2.5
# How often a page may come back before it is clear that it always will.
MOST_TRIES = 5
# Notices at which somebody's way may end; any other one is a problem.
ENDS = ("full", "closed", "screened-out", "declined", "withdrawn")

# "simulated" does not wait either, but says how long people would have taken; the study's clock goes by that.
Pace = Literal["human", "fast", "simulated"]


@dataclass(frozen=True)
class Acknowledged:
    """An answer that the server said it has stored.

    Attributes:
        ord: the step.
        question: its name; empty for a page that asks nothing.
        position: the place of the chosen option; None for a text, and where nothing was answered.
        at: when it was said, in seconds since 1970.
    """

    ord: int
    question: str
    position: int | None
    at: float


@dataclass(frozen=True)
class BotRun:
    """What became of one simulated person.

    Attributes:
        number: from 1.
        profile: the person's.
        status: "complete", "left", "failed", "not-begun", or the notice at which it ended, such as "screened-out".
        token: what opens the person's pages.
        pages: how many steps were shown.
        sent: how many pages were sent, copies not counted.
        acknowledged: the answers that are stored, by the server's word.
        completion_code: given at the end.
        seconds: from the first page to the last.
        problem: what went wrong, if it failed.
    """

    number: int
    profile: str
    status: str = "failed"
    token: str = ""
    pages: int = 0
    sent: int = 0
    acknowledged: tuple[Acknowledged, ...] = ()
    completion_code: str = ""
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class Manner:
    """How people go through the pages.

    Attributes:
        pace: "human" looks at pages as long as people do, "fast" does not wait at all.
        stop: set when everybody shall leave.
        told: called with every page whose answers are acknowledged.
    """

    pace: Pace
    stop: Event
    told: Callable[[tuple[Acknowledged, ...]], None]


def walk(
    person: Person | LanguagePerson,
    browser: Browser,
    bot_pass: str,
    manner: Manner,
    studies: Mapping[str, Album] = MappingProxyType({}),
) -> BotRun:
    """Goes through the study; whatever happens is in what is returned.

    Args:
        person: who goes.
        browser: with which.
        bot_pass: of the study's store.
        manner: how.
        studies: where several are served together, by folder: the person is given one of them.
    """
    run = BotRun(person.number, str(person.profile))
    begun = time.monotonic()
    way = _Way(person, browser, manner)
    try:
        refused = way.enter(bot_pass)
        for folder, album in studies.items():
            if f"{folder}/p/" in way.address:
                person.meet(album)
        status = refused or way.go()
        run = replace(run, status=status)
    except VeraxError as error:
        stopped = manner.stop.is_set()
        run = replace(run, status="left") if stopped else replace(run, problem=str(error))
    finally:
        browser.close()
    return replace(
        run,
        token=way.address.rpartition("/")[2],
        pages=way.pages,
        sent=way.sent,
        acknowledged=tuple(way.acknowledged),
        completion_code=way.completion_code,
        seconds=time.monotonic() - begun,
    )


class _Way:
    """Where somebody is, and what was acknowledged on the way."""

    def __init__(self, person: Person | LanguagePerson, browser: Browser, manner: Manner) -> None:
        self.address = ""
        self.pages = 0
        self.sent = 0
        self.acknowledged: list[Acknowledged] = []
        self.completion_code = ""
        self._person = person
        self._browser = browser
        self._manner = manner

    def enter(self, bot_pass: str) -> str:
        """Looks at the first page and comes in; the name of the notice if that is refused."""
        self._browser.get("/")
        answer = self._browser.post("/enter", {"bot": bot_pass})
        if answer.status != 303:
            return _refused(answer)
        self.address = answer.location
        return ""

    def go(self) -> str:
        """All pages to the end; what became of the person."""
        tries, before = 0, ("", 0)
        while not self._manner.stop.is_set():
            page = read_page(self._browser.get(self.address).html)
            tries = tries + 1 if (page.kind, page.ord) == before else 1
            before = (page.kind, page.ord)
            if tries > MOST_TRIES:
                raise VeraxError(f"The page {page.kind!r}, step {page.ord}, came back {MOST_TRIES} times.")
            match page.kind:
                case "consent":
                    self._browser.post(self.address, {"consent": "yes"})
                case "step":
                    self.pages += 1
                    if self._person.leaves(page):
                        return "left"
                    self._do(page)
                case "complete":
                    self.completion_code = page.completion_code
                    return "complete"
                case _:
                    return _end(page.kind)
        return "left"

    def _do(self, page: Page) -> None:
        if any(answer.ord == page.ord for answer in self.acknowledged):
            raise VeraxError(f"Step {page.ord} is asked again, though its answers were acknowledged.")
        opened = time.monotonic()
        reloader = self._person.profile.habit(Reloader)
        for _ in range(reloader.times if reloader else 0):
            self._browser.get(self.address)
        given = self._person.answer(page)
        self._wait(page)
        if self._manner.stop.is_set():
            return
        form = {**page.hidden, **{FIELD + name: answer for name, answer in given.items()}}
        if "client" in form:
            simulated = self._person.seconds(page) if self._manner.pace == "simulated" else 0.0
            form["client"] = _times(opened, simulated)
        self.sent += 1
        answer = self._send(form)
        if answer.status == 422:
            raise VeraxError(f"The answers {given} to step {page.ord} were refused.")
        if answer.status != 303:
            raise VeraxError(f"Step {page.ord} was answered with the status {answer.status}.")
        # After its limit a page that closes is answered like any other, but nothing of it is stored.
        if not page.closes or page.limit is None or time.monotonic() - opened < page.limit:
            self._note(page, given)

    def _wait(self, page: Page) -> None:
        """Looks at the page."""
        late = page.limit is not None and self._person.is_late(page.ord)
        seconds = self._person.seconds(page) if self._manner.pace == "human" else 0.0
        if late:
            assert page.limit is not None
            seconds = max(seconds, page.limit + AFTER_LIMIT)
        if seconds:
            self._manner.stop.wait(seconds)

    def _send(self, form: dict[str, str]) -> Answer:
        clicker = self._person.profile.habit(DoubleClicker)
        if clicker is None or clicker.copies == 1:
            return self._browser.post(self.address, form)
        windows = [self._browser.twin() for _ in range(clicker.copies)]
        with ThreadPoolExecutor(clicker.copies) as threads:
            answers: list[Answer] = list(threads.map(lambda window: window.post(self.address, form), windows))
        for window in windows:
            window.close()
        return next((answer for answer in answers if answer.status != 303), answers[0])

    def _note(self, page: Page, given: dict[str, str]) -> None:
        at = time.time()
        positions = {
            asked.name: int(given[asked.name]) if asked.labels and asked.name in given else None
            for asked in page.questions
        }
        told = tuple(
            Acknowledged(page.ord, name, position, at) for name, position in (positions or {"": None}).items()
        )
        self.acknowledged += told
        self._manner.told(told)


def _refused(answer: Answer) -> str:
    """The name of the notice; a pass that is not the study's is our mistake."""
    kind = read_page(answer.html).kind
    if kind == "no-bot":
        raise VeraxError(
            "The server did not take the bots' pass; name the database that it stores its answers in with --database."
        )
    return _end(kind)


def _end(kind: str) -> str:
    if kind not in ENDS:
        raise VeraxError(f"The server showed the page {kind!r}, which leads nowhere.")
    return kind


def _times(opened: float, simulated: float = 0.0) -> str:
    """What a browser's script would say of its times, in milliseconds."""
    spent = round(1000 * (time.monotonic() - opened + simulated))
    times = {"shown": 0, "blurs": 0, "submitted": spent, "visible_ms": spent}
    return json.dumps(times | {SIMULATED: round(1000 * simulated)} if simulated else times)
