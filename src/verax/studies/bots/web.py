"""Simulated people on the web: a small browser, the way of one through the pages, and many at once."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Lock
from types import MappingProxyType
from urllib.parse import urlencode, urlsplit

from verax.errors import VeraxError
from verax.options import default_of
from verax.studies.bots.language import LanguagePerson, Reader
from verax.studies.bots.page import Page, read_page
from verax.studies.bots.person import Album, SimulatedPerson, make_album
from verax.studies.bots.profiles import DoubleClicker, Mixture, Profile, Reloader, as_mixture
from verax.studies.definition.options import BotsSpec, Pace
from verax.studies.definition.study import Study
from verax.studies.store.participant.posted import FIELD
from verax.studies.store.participant.steps import SIMULATED
from verax.studies.store.together import folder_of

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


# What a page may take on its way after its limit; somebody who is late waits longer.
AFTER_LIMIT = 2.5
# How often a page may come back before it is clear that it always will.
MOST_TRIES = 5
# Notices at which somebody's way may end; any other one is a problem.
ENDS = ("full", "closed", "screened-out", "over-quota", "declined", "withdrawn")

# "simulated" does not wait either, but says how long people would have taken; the study's clock goes by that.


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
    person: SimulatedPerson | LanguagePerson,
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

    def __init__(self, person: SimulatedPerson | LanguagePerson, browser: Browser, manner: Manner) -> None:
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
            asked.name: int(given[asked.name])
            if asked.labels and not asked.kind and asked.name in given
            else None
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


# How many seconds somebody tries again where no answer comes.


@dataclass(frozen=True)
class Progress:
    """How far all of them are: how many have ended, and how many pages were acknowledged."""

    ended: int
    pages: int


def run_bots(
    study: Study,
    url: str,
    bot_pass: str,
    profiles: Mixture | Profile | str,
    n: int,
    *,
    seed: int = 0,
    concurrent: int = 10,
    pace: Pace = "fast",
    progress: Callable[[Progress], None] | None = None,
    patience: float = default_of(BotsSpec, "patience"),
    stop: Event | None = None,
    others: Sequence[Study] = (),
    reader: Reader | None = None,
) -> list[BotRun]:
    """Sends simulated people through a study that is served; what became of each.

    Args:
        study: as it is served: they know the right answers from it, and find out from the pages where they are.
        url: the study's first page.
        bot_pass: of the study's store, see `Store.bot_pass`.
        profiles: who they are, such as ``"helped(by=0.1)=0.8,guesser=0.2"``.
        n: how many.
        seed: of all their decisions.
        concurrent: how many at once.
        pace: "human" looks at pages as long as people do, "fast" does not wait.
        progress: called after every page.
        patience: for how many seconds they try again where no answer comes, as while the server is restarted.
        stop: when it is set, everybody leaves.
        others: studies that are served together with this one.
        reader: a language model that takes part in their place, with nothing but what stands on the pages.
    """
    check_counts(n, concurrent)
    people = as_mixture(profiles).people(n, seed) if reader is None else [reader.profile] * n
    album, ended, stopped = make_album(study), _Count(progress), stop or Event()
    studies = {folder_of(study): album} | {folder_of(other): make_album(other) for other in others}
    manner = Manner(pace, stopped, ended.told)

    def go(number: int) -> BotRun:
        if stopped.is_set():
            return BotRun(number, str(people[number - 1]), "not-begun")
        person: SimulatedPerson | LanguagePerson
        if reader is None:
            person = SimulatedPerson(album, people[number - 1], seed, number)
        else:
            tested = None if study.screening is None else study.screening.answers
            person = LanguagePerson(reader, seed, number, tested)
        # Who is waiting for an answer leaves too.
        browser = Browser(url, patience=patience, pause=stopped.wait)
        done = walk(person, browser, bot_pass, manner, studies)
        ended.one_more()
        return done

    threads = ThreadPoolExecutor(concurrent, "bot")
    try:
        return list(threads.map(go, range(1, n + 1)))
    except BaseException:
        stopped.set()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def check_counts(n: int, concurrent: int) -> None:
    """Refuses numbers of people that are none."""
    if n < 1 or concurrent < 1:
        raise VeraxError(f"{n} bots, {concurrent} at once, are nobody; give at least 1 of each.")


class _Count:
    """Counts what all threads tell."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self._progress = progress
        self._lock = Lock()
        self._ended = self._pages = 0

    def told(self, answers: tuple[Acknowledged, ...]) -> None:  # noqa: ARG002
        self._count(pages=1)

    def one_more(self) -> None:
        self._count(ended=1)

    def _count(self, *, ended: int = 0, pages: int = 0) -> None:
        with self._lock:
            self._ended += ended
            self._pages += pages
            if self._progress is not None:
                self._progress(Progress(self._ended, self._pages))


def summarise(runs: Sequence[BotRun]) -> dict[str, object]:
    """What became of all: by status and profile, pages sent and acknowledged, and what went wrong."""
    return {
        "bots": len(runs),
        "status": dict(Counter(run.status for run in runs).most_common()),
        "profiles": dict(Counter(run.profile for run in runs).most_common()),
        "pages_sent": sum(run.sent for run in runs),
        "pages_acknowledged": sum(len({answer.ord for answer in run.acknowledged}) for run in runs),
        "answers_acknowledged": sum(bool(answer.question) for run in runs for answer in run.acknowledged),
        "problems": dict(Counter(run.problem for run in runs if run.problem).most_common()),
    }
