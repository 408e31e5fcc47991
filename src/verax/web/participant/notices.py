"""What a participant is told where there is nothing to answer: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse

from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.studies.definition.spec import StudySpec
from verax.studies.store.participant.placing import LOOK_AGAIN_SECONDS
from verax.web.pages import front, page, site_of
from verax.web.participant.arrivals import Opened, forget, own_link, place


@dataclass(frozen=True)
class Notice:
    """A page of words; what it says are the phrases of its name.

    Attributes:
        status: of HTTP.
        leads_on: whether a button leads on: to the study's first page, or to the step where the participant is.
        retry_after: seconds after which it may be tried again, for programs.
    """

    status: int
    leads_on: bool = False
    retry_after: int = 0


say = partial(say_phrase, "participant")
PROLIFIC = "Prolific"
# Pages after which nothing is paid unless an address for them is given.
UNPAID = ("declined", "screened-out", "over-quota", "full", "closed", "withdrawn")
# Ways in whose platforms take a place back.
GIVES_BACK = ("prolific", "mturk")

NOTICES = {
    "unknown-link": Notice(404, leads_on=True),
    "desktop-only": Notice(200),
    "no-page": Notice(404, leads_on=True),
    "no-bot": Notice(403, leads_on=True),
    "full": Notice(409, leads_on=True),
    "queue": Notice(200, leads_on=True),
    "closed": Notice(410),
    "paused": Notice(503, leads_on=True, retry_after=600),
    "declined": Notice(200),
    "withdrawn": Notice(200),
    "foreign": Notice(403, leads_on=True),
    "prolific-ids": Notice(400),
    "unsigned": Notice(403),
    "mturk-ids": Notice(400),
    "other-session": Notice(403),
    "not-own": Notice(403, leads_on=True),
    "screened-out": Notice(200),
    "over-quota": Notice(200),
    "too-large": Notice(413),
    "too-slow": Notice(408),
    "bad-form": Notice(400),
    "wrong-method": Notice(405, leads_on=True),
    "busy": Notice(503, retry_after=60),
    "broken": Notice(500),
}


def notice_words(name: str) -> tuple[str, tuple[str, ...], str]:
    """What a notice says: what happened, the paragraphs, and the words of its button, which may be none."""
    button = say(f"{name}-button") if NOTICES[name].leads_on else ""
    return say(name), say_lines("participant", f"{name}-text"), button


def notice(
    request: Request,
    name: str,
    *,
    opened: Opened | None = None,
    status: int | None = None,
    more: Sequence[str] = (),
    leaving: tuple[str, str] | None = None,
) -> HTMLResponse:
    """A page of words; where the study is over for somebody, with the way back to the platform that sent them.

    Args:
        request: what is answered.
        name: of the notice.
        opened: the place to which the notice's button leads; it leads to the first page if None.
        status: of HTTP; the notice's own if None.
        more: what is said besides.
        leaving: the words of a link in the footer and its address, where leaving the study is offered.
    """
    shown, spec = NOTICES[name], site_of(request).study.spec
    heading, says, button = notice_words(name)
    way_on = way_back(spec, "full" if name in ("queue", "over-quota") else name)
    if way_on is None and name in UNPAID and spec.entry in GIVES_BACK:
        more = (*more, say(f"give-back-{spec.entry}"))
    address = f"{front(request)}/" if opened is None else place(request, opened.shown)
    context = {
        "name": name,
        "heading": heading,
        "says": (*says, *more),
        "way_on": way_on or ((button, address) if button else None),
        "link": "" if opened is None else own_link(request, opened),
        "leaving": leaving,
    }
    answer = page(request, "notice.html", context, status or shown.status)
    if shown.retry_after:
        answer.headers["Retry-After"] = str(shown.retry_after)
    return answer


def queued(request: Request, opened: Opened, place_in_queue: int, leaving: tuple[str, str]) -> HTMLResponse:
    """The page of somebody who waits for a place; it looks again by itself."""
    before = say("queue-ahead", ahead=place_in_queue - 1)
    answer = notice(request, "queue", opened=opened, more=(before,), leaving=leaving)
    answer.headers["Refresh"] = str(LOOK_AGAIN_SECONDS)
    return answer


def way_back(spec: StudySpec, name: str) -> tuple[str, str] | None:
    """The words of the button that leads back from a page, and its address."""
    url = spec.recruiting.urls.get(name)
    if url is None:
        return None
    return (say("return-to-prolific" if leads_to_prolific(url) else "go-on"), url)


def leads_to_prolific(url: str) -> bool:
    """Whether an address is one of Prolific's."""
    return f".{urlsplit(url).hostname or ''}".endswith(".prolific.com")


def unknown(request: Request) -> HTMLResponse:
    """Nobody has this link."""
    answer = notice(request, "unknown-link")
    if request.cookies.get(site_of(request).cookie) == request.path_params["token"]:
        forget(request, answer)
    return answer
