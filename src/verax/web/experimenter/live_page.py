"""The live page: who is where, which places are filled, what needs a decision."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from threading import Lock
from typing import cast

from sqlalchemy.exc import SQLAlchemyError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from verax.studies.answers.exclusion import apply_exclusions, limit_of
from verax.studies.store import Store
from verax.studies.store.clock import from_micros
from verax.studies.store.participant.placing import Crowd, crowd
from verax.studies.store.people import acted
from verax.studies.store.status import Overview, overview, pace
from verax.web.experimenter.live_words import by_phase, done_in_words, extremes, minutes, person_in_words
from verax.web.experimenter.share_link import share_address
from verax.web.experimenter.sign_in import Visit, experimenter_page, home
from verax.web.experimenter.zip_export import FORMATS
from verax.web.http.pages import site_of

# Many pages that ask every few seconds share what was counted within so many seconds.
SHARED_SECONDS = 2
JUDGED_EVERY = 60
COUNTED, PEOPLE, ACTIONS = 400, 50, 15

logger = logging.getLogger("verax.web")


class Watch:
    """Looks at a study for all who watch it, not more often than it helps.

    Args:
        store: of the study.
        frozen: when the study was frozen.
    """

    def __init__(self, store: Store, frozen: str | None) -> None:
        self._store, self._frozen = store, frozen
        self._looking, self._judging = Lock(), Lock()
        self._seen: tuple[float, Overview] | None = None
        self._judged = float("-inf")

    def look(self, oldest: float = 0) -> Overview:
        """How the study stands, or stood at most so many seconds ago."""
        with self._looking:
            if self._seen is None or self._seen[0] + oldest <= time.monotonic():
                self._seen = time.monotonic(), overview(self._store, frozen=self._frozen, last=COUNTED)
            return self._seen[1]

    def judge(self) -> None:
        """Applies the exclusion rules, once a minute; after the page was sent, since it may take a while."""
        if not self._judging.acquire(blocking=False):
            return
        try:
            if self._judged + JUDGED_EVERY <= time.monotonic():
                self._judged = time.monotonic()
                apply_exclusions(self._store)
        except SQLAlchemyError as error:
            # Not the whole message: it holds the statement, on many lines.
            reason = getattr(error, "orig", type(error).__name__)
            logger.error("The exclusion rules could not be applied: %s", reason)
        finally:
            self._judging.release()


def live(request: Request, visit: Visit) -> Response:
    """The whole page."""
    link = share_address(request) if visit.role == "owner" else ""
    return _whole(request, visit, home(request, "/live"), link)


def shared(request: Request, visit: Visit) -> Response:
    """The whole page for whoever has the link to it: nobody can be opened, and nothing changed."""
    return _whole(request, visit, f"{home(request)}/shared/{request.path_params['key']}/live", "")


def _whole(request: Request, visit: Visit, again: str, link: str) -> Response:
    seen = _watch(request).look()
    more = {"visit": visit, "formats": FORMATS, "again": again, "share": link, "host": request.url.netloc}
    answer = experimenter_page(request, "experimenter_live.html", _shown(request, seen, visit) | more)
    answer.background = BackgroundTask(_watch(request).judge)
    return answer


def news(request: Request, visit: Visit) -> Response:
    """What changes on the page, for the script that asks every few seconds."""
    seen = _watch(request).look(SHARED_SECONDS)
    answer = experimenter_page(request, "experimenter_news.html", _shown(request, seen, visit))
    if request.query_params.get("state", seen.state) != seen.state:
        # Somebody else opened, paused or closed the study: the buttons are others now.
        answer.headers["HX-Refresh"] = "true"
    answer.background = BackgroundTask(_watch(request).judge)
    return answer


def _watch(request: Request) -> Watch:
    return cast(Watch, request.app.state.watch)


def _shown(request: Request, seen: Overview, visit: Visit) -> dict[str, object]:
    store = site_of(request).store
    left = sum(max(row.target - row.complete, 0) for row in seen.people.rows)
    done = store.read(acted, ACTIONS)
    people = [person for person in seen.last if not person.bot]
    bots = [person for person in seen.last if person.bot]
    return {
        "overview": seen,
        "opens": bool(visit.name),  # whoever is signed in, not who has the link alone
        "pace": store.read(pace, left),
        "decisions": [*_decisions(seen), *_crowded(store.read(crowd))],
        "places": sum(row.target for row in seen.people.rows),
        "people": [person_in_words(store.study, person) for person in people[:PEOPLE]],
        "bots": [person_in_words(store.study, person) for person in bots[:PEOPLE]],
        "phases": by_phase(store.study, seen.people),
        "extremes": extremes(store.study, people),
        "rules": [
            (rule.rule, limit_of(rule), seen.people.excluded.get(rule.rule, 0))
            for rule in store.study.spec.exclusion
        ],
        "minutes": minutes,
        "actions": [
            (from_micros(action.at), action.by, done_in_words(action.type, action.data)) for action in done
        ],
    }


def _crowded(seen: Crowd) -> Iterator[str]:
    if seen.waiting:
        yield f"{seen.waiting} wait for a place, as all are taken or held."
    if seen.from_one >= seen.allowed:
        yield (
            f"{seen.from_one} places are held from one address, where nobody has given an answer yet, and no more are "
            "given there: it is a class, or somebody is filling the study. Signed links (recruiting.signed), or codes, "
            "keep others out."
        )


def _decisions(seen: Overview) -> Iterator[str]:
    """What somebody should do something about."""
    inside = seen.people.counts.get("active", 0)
    if seen.state == "paused":
        yield f"The study is paused: nobody can enter, and the {inside} inside are asked to come back later."
    elif seen.state == "open" and all(row.complete >= row.target for row in seen.people.rows):
        yield "Every place of the design is filled: the study can be closed."
    if seen.frozen is None and not seen.people.came:
        yield "The plan has no date yet: run verax study freeze before the first participant comes."
    if seen.unkept:
        yield (
            f"{seen.unkept:,} pages that were sent in vain were only counted, as too many of them are kept already: "
            "somebody may be trying to fill the disk."
        )
    if seen.due:
        yield (
            f"The answers of {seen.due} people were to be kept for {seen.retention_days} days, which are over: run "
            "verax study purge."
        )
