"""The live page: who is where, which places are filled, what needs a decision; its shared link, the export.

The link is made from the database's secret and from how often it was replaced, so that nothing needs to be stored.
"""

from __future__ import annotations

import hmac
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from typing import IO, cast
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import bindparam, func, select
from sqlalchemy.exc import SQLAlchemyError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from verax.errors import VeraxError
from verax.phrases import either
from verax.phrases import say as say_phrase
from verax.studies.answers.exclusion import apply_exclusions, limit_of
from verax.studies.definition.study import Study
from verax.studies.store import Store
from verax.studies.store.accounts import FAILED
from verax.studies.store.clock import from_micros, to_micros
from verax.studies.store.participant.placing import Crowd, crowd
from verax.studies.store.people import Transaction, act, acted
from verax.studies.store.status import Group, Overview, ParticipantStatus, PhaseTime, overview, pace
from verax.studies.store.tables import actions
from verax.text import plain
from verax.web.experimenter.sign_in import Visit, experimenter_page, home, notice_page, to_sign_in
from verax.web.pages import see_other, site_of
from verax.web.requests import Form

say = partial(say_phrase, "experimenter")

REPLACED = "new share link"
TIMES = select(func.count()).where(
    actions.c.study_id == bindparam("study_id"), actions.c.type == bindparam("type")
)


def share_key(store: Store) -> str:
    """What the link ends with now."""

    def times(work: Transaction) -> int:
        asked = {"study_id": work.study_id, "type": REPLACED}
        return int(work.connection.execute(TIMES, asked).scalar_one())

    return store.keyed(f"share {store.read(times)}")[:32]


def share_address(request: Request) -> str:
    """Where the link leads to, on this host."""
    return home(request, f"/shared/{share_key(site_of(request).store)}")


def with_link(handler: Callable[[Request, Visit], Response]) -> Callable[[Request], Response]:
    """A page for whoever has the link, as a reader without an account; a wrong or an older one opens nothing."""

    def endpoint(request: Request) -> Response:
        shown = str(request.path_params["key"]).encode("utf-8", "replace")
        right = share_key(site_of(request).store).encode()
        if not hmac.compare_digest(shown, right):
            return to_sign_in(request)
        return handler(request, Visit("", "", "reader"))

    return endpoint


def replace_link(request: Request, visit: Visit, form: Form) -> Response:  # noqa: ARG001
    """Makes another link; the older one ends."""
    site_of(request).store.write(lambda work: act(work, visit.name, REPLACED, {}))
    return see_other(home(request))


FORMATS = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}
PIECE = 256 * 1024

# An export reads everything: one at a time in each process.
_exporting = Lock()


def export(request: Request, visit: Visit, form: Form) -> Response:
    """All answers without what could tell who gave them; texts that people wrote are withheld too."""
    format = form.get("format", "csv")
    if format not in FORMATS:
        return notice_page(request, "no-format", 400, formats=either(list(FORMATS.values())))
    if not _exporting.acquire(blocking=False):
        return notice_page(request, "export-busy", 503)
    store = site_of(request).store
    try:
        file = _zipped(store, format)
    except (VeraxError, OSError) as error:
        return notice_page(request, "export-failed", 507, text=_reason(error))
    finally:
        _exporting.release()
    store.write(act, visit.name, "export", {"format": format, "identifying": False})
    length = file.seek(0, 2)
    file.seek(0)
    now = from_micros(to_micros(store.clock()))  # in UTC
    name = f"{_file_name(store.study.spec.title)}-{now:%Y%m%d-%H%M}.zip"
    headers = {"Content-Length": str(length), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_pieces(file), media_type="application/zip", headers=headers)


def _zipped(store: Store, format: str) -> IO[bytes]:
    """The zip file; it has no name in any folder, so it is gone when it was sent, or when the server dies."""
    from verax.studies.answers.export import export_study  # loads pyarrow

    file = TemporaryFile()  # noqa: SIM115
    try:
        with (
            TemporaryDirectory(prefix="verax-export-") as scratch,
            ZipFile(file, "w", ZIP_DEFLATED) as archive,
        ):
            export_study(store, Path(scratch) / "export", formats=(format,))
            for path in sorted(Path(scratch).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(scratch))
    except BaseException:
        file.close()
        raise
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return say("disk-full", reason=error.strerror or str(error))
    return str(error)


def _file_name(title: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]
    return plain or "study"


# Actions, and how they are told.
ACTION_WORDS = {
    "open": "did-open",
    "paused": "did-paused",
    "closed": "did-closed",
    "export": "did-export",
    "withdrawal": "did-withdrawal",
    "exclusion": "did-exclusion",
    "inclusion": "did-inclusion",
    "unblinding": "did-unblinding",
    REPLACED: "did-new-share-link",
    "purge": "did-purge",
    FAILED: "did-sign-in-failed",
    "alert": "did-alert",
    "alert not sent": "did-alert-not-sent",
}


@dataclass(frozen=True)
class ParticipantLine:
    """A participant in a line."""

    name: str
    row: str
    status: str
    kind: str
    where: str
    time: str
    ago: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class PhaseLine:
    """A phase in a line: who is behind it, how long they took, and who was lost in it."""

    title: str
    times: PhaseTime | None
    dropped: int


def participant_line(study: Study, seen: ParticipantStatus) -> ParticipantLine:
    """Where a participant is."""
    return ParticipantLine(
        name=seen.participant,
        row="" if seen.row is None else str(seen.row),
        status=say(f"status-{seen.status}"),
        kind=seen.status,
        where=_where(study, seen),
        time="" if seen.minutes is None else minutes(seen.minutes),
        ago=_ago(seen.ago),
        rules=seen.rules,
    )


def by_phase(study: Study, group: Group) -> list[PhaseLine]:
    """The phases that anybody has behind them or was lost in."""
    times = {time.phase: time for time in group.phases}
    known = [*times, *(phase for phase in group.dropped if phase not in times)]
    return [
        PhaseLine(phase_title(study, phase), times.get(phase), group.dropped.get(phase, 0)) for phase in known
    ]


def extremes(
    study: Study, people: Sequence[ParticipantStatus]
) -> tuple[ParticipantLine, ParticipantLine] | None:
    """Who of those who finished was the fastest, and who the slowest; None for fewer than two."""
    finished = [person for person in people if person.status == "complete" and person.minutes is not None]
    if len(finished) < 2:
        return None
    finished.sort(key=lambda person: person.minutes or 0)
    return participant_line(study, finished[0]), participant_line(study, finished[-1])


def minutes(count: float) -> str:
    """So many minutes: seconds where there are few, hours where there are many."""
    if count < 1:
        return say("seconds-short", time=str(max(0, round(60 * count))))
    if count < 120:
        return say("minutes-short", time=f"{count:.1f}" if count < 10 else f"{count:.0f}")
    return say("hours-short", time=f"{count / 60:.1f}")


def done_in_words(type: str, data: Mapping[str, object]) -> str:
    """What was done to the study, and how."""
    given = [(name, value) for name, value in data.items() if value is not None and value is not False]
    how = ", ".join(name if value is True else f"{name}: {plain(value)}" for name, value in given)
    said = say(ACTION_WORDS[type]) if type in ACTION_WORDS else type
    return f"{said} ({how})" if how else said


def _where(study: Study, seen: ParticipantStatus) -> str:
    if seen.phase is None or seen.status not in ("active", "left", "screened-out"):
        return ""
    steps = "none" if seen.steps is None else seen.steps
    return say("where", part=phase_title(study, seen.phase), page=seen.step, steps=steps)


def phase_title(study: Study, phase: str) -> str:
    """What a phase is called on pages."""
    known = study.phases.get(phase)
    if known is None or not known.title:
        return phase
    # Instructions have the title of the part that follows them.
    alike = [other for other in study.phases.values() if other.title == known.title]
    own = known.kind == "instructions" and len(alike) > 1
    return say("part-instructions", part=known.title) if own else known.title


def _ago(count: float) -> str:
    if count < 1:
        return say("just-now")
    if count < 120:
        return say("minutes-ago", time=f"{count:.0f}")
    if count < 48 * 60:
        return say("hours-ago", time=f"{count / 60:.0f}")
    return say("days-ago", days=round(count / 1440))


# Many pages that ask every few seconds share what was counted within so many seconds.
SHARED_SECONDS = 2
JUDGED_EVERY = 60
COUNTED, PEOPLE, SHOWN_ACTIONS = 400, 50, 15

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
    done = store.read(acted, SHOWN_ACTIONS)
    people = [person for person in seen.last if not person.bot]
    bots = [person for person in seen.last if person.bot]
    return {
        "overview": seen,
        "opens": bool(visit.name),  # whoever is signed in, not who has the link alone
        "pace": store.read(pace, left),
        "decisions": [*_decisions(seen), *_crowded(store.read(crowd))],
        "places": sum(row.target for row in seen.people.rows),
        "people": [participant_line(store.study, person) for person in people[:PEOPLE]],
        "bots": [participant_line(store.study, person) for person in bots[:PEOPLE]],
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
        yield say("waiting", people=seen.waiting)
    if seen.from_one >= seen.allowed:
        yield say("crowded", places=seen.from_one)


def _decisions(seen: Overview) -> Iterator[str]:
    """What somebody should do something about."""
    inside = seen.people.counts.get("active", 0)
    if seen.state == "paused":
        yield say("decide-paused", inside=inside)
    elif seen.state == "open" and all(row.complete >= row.target for row in seen.people.rows):
        yield say("decide-full")
    if seen.frozen is None and not seen.people.came:
        yield say("decide-freeze")
    if seen.unkept:
        yield say("decide-unkept", pages=seen.unkept)
    if seen.due:
        yield say("decide-due", people=seen.due, days=seen.retention_days or 0)
