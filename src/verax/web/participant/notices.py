"""What a participant is told where there is nothing to answer: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse

from verax.studies.definition.spec import StudySpec
from verax.studies.store.participant.placing import LOOK_AGAIN_SECONDS
from verax.web.pages import front, page, site_of
from verax.web.participant.arrivals import Opened, forget, own_link, place


@dataclass(frozen=True)
class Notice:
    """A page of words.

    Attributes:
        status: of HTTP.
        heading: what happened.
        says: the paragraphs.
        way_on: the words of a button that leads on, if there is a way: to the study's first page, or to the step
            where the participant is.
        retry_after: seconds after which it may be tried again, for programs.
    """

    status: int
    heading: str
    says: tuple[str, ...]
    way_on: str = ""
    retry_after: int = 0


_SAVED = "All answers that you have sent are saved."

RETURN = "Return to Prolific"
# Pages after which nothing is paid unless an address for them is given.
UNPAID = ("declined", "screened-out", "full", "closed", "withdrawn")
GIVE_BACK = {
    "prolific": "Please return your submission on Prolific, so that somebody else can take the place.",
    "mturk": "Please return the HIT on MTurk, so that somebody else can take it.",
}

NOTICES = {
    "unknown-link": Notice(
        404,
        "We do not know this link",
        (
            "Perhaps part of it was lost on the way. Please copy the whole link again, or start from the first page.",
        ),
        "To the first page",
    ),
    "desktop-only": Notice(
        200,
        "Please open this study on a computer",
        (
            "This study shows things side by side, which needs a larger screen than that of a phone. Please open the "
            "same link on a laptop or a desktop computer.",
            "Nothing was recorded, and you can still take part.",
        ),
    ),
    "no-page": Notice(404, "There is no such page", ("Please go to the first page.",), "To the first page"),
    "no-bot": Notice(
        403,
        "This is not a pass of this study",
        ("Simulated people enter with the pass of the study's own database. Please go to the first page.",),
        "To the first page",
    ),
    "full": Notice(
        409,
        "There are no free places",
        (
            "Enough people are already taking part. Thank you for coming.",
            "If somebody leaves, a place becomes free: you can try again in an hour.",
        ),
        "Try again",
    ),
    "queue": Notice(
        200,
        "Please wait for a place",
        (
            "All places are taken at the moment, and some may become free in the next minutes.",
            "Leave this page open: it looks again by itself, and you go on from here.",
        ),
        "Look now",
    ),
    "closed": Notice(
        410, "This study has ended", ("No more answers are taken. Thank you for your interest.",)
    ),
    "paused": Notice(
        503,
        "This study is paused",
        (f"Please come back later and open the same link. {_SAVED}",),
        "Try again",
        retry_after=600,
    ),
    "declined": Notice(
        200,
        "You chose not to take part",
        ("That is fine. You can close this page now. Thank you for your interest.",),
    ),
    "withdrawn": Notice(
        200,
        "You have left this study",
        ("You can close this page now. Thank you for your time.",),
    ),
    "foreign": Notice(
        403,
        "That did not come from this study",
        ("A page of another site sent it, so nothing was done. Please begin at the first page.",),
        "To the first page",
    ),
    "prolific-ids": Notice(
        400,
        "Please open this study from Prolific",
        (
            "The link was opened without the ids that Prolific adds to it, or a part of them was lost. So we cannot "
            "know that it is you.",
            "Please go back to Prolific and open the study there again, with its own button. If you have begun "
            "already, you go on where you were.",
        ),
    ),
    "unsigned": Notice(
        403,
        "This link is not yours",
        ("The link was changed, or was made for somebody else. Please open the link that you were sent.",),
    ),
    "mturk-ids": Notice(
        400,
        "Please open this study from MTurk",
        (
            "The page was opened without what MTurk adds to its address, or a part of it was lost. So we cannot know "
            "that it is you.",
            "Please go back to MTurk and open the HIT there again. If you have begun already, you go on where you "
            "were.",
        ),
    ),
    "other-session": Notice(
        403,
        "You have started this study before",
        (
            "You started with another submission, so we cannot be sure that it is you. Please continue in the browser "
            "in which you started, or by your own link, which stands under “Continue later” on every page.",
            "If you have neither, please write to those who sent you.",
        ),
    ),
    "not-own": Notice(
        403,
        "Please delete your answers where you started",
        (
            "You came here by the ids of a platform, which others may know too. So nothing was deleted.",
            "Please open the study in the browser in which you began, or by your own link, and press “Leave the "
            "study” there; or write to those who sent you, who can delete it for you.",
        ),
        "Go back",
    ),
    "screened-out": Notice(
        200,
        "Thank you for trying",
        (
            "To go on, most answers to the questions about the instructions have to be right, and not enough of yours "
            "were. This says nothing about you: the instructions may not have been clear enough.",
            "You can close this page now.",
        ),
    ),
    "too-large": Notice(
        413,
        "That was too long",
        ("Nothing was saved of what you just sent. Please go back and make your text shorter.",),
    ),
    "too-slow": Notice(
        408,
        "That took too long",
        (f"The form did not arrive as a whole. Please go back, and press the button once more. {_SAVED}",),
    ),
    "bad-form": Notice(
        400,
        "That could not be read",
        (f"The form did not arrive as a whole. Please go back, and press the button once more. {_SAVED}",),
    ),
    "wrong-method": Notice(
        405,
        "Nothing to do here",
        ("This address takes no such request. Please go to the first page.",),
        "To the first page",
    ),
    "busy": Notice(
        503,
        "That could not be saved just now",
        (
            "Please go back and press the button again in a minute: your last answer is not saved yet, all others are.",
        ),
        retry_after=60,
    ),
    "broken": Notice(
        500,
        "Something went wrong here",
        (
            "It is not your fault. Please open your link again; if this page comes back, tell those who sent you.",
            _SAVED,
        ),
    ),
}


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
    way_on = way_back(spec, "full" if name == "queue" else name)
    if way_on is None and name in UNPAID and spec.entry in GIVE_BACK:
        more = (*more, GIVE_BACK[spec.entry])
    address = f"{front(request)}/" if opened is None else place(request, opened.shown)
    context = {
        "name": name,
        "heading": shown.heading,
        "says": (*shown.says, *more),
        "way_on": way_on or ((shown.way_on, address) if shown.way_on else None),
        "link": "" if opened is None else own_link(request, opened),
        "leaving": leaving,
    }
    answer = page(request, "notice.html", context, status or shown.status)
    if shown.retry_after:
        answer.headers["Retry-After"] = str(shown.retry_after)
    return answer


def queued(request: Request, opened: Opened, place_in_queue: int, leaving: tuple[str, str]) -> HTMLResponse:
    """The page of somebody who waits for a place; it looks again by itself."""
    ahead = place_in_queue - 1
    before = {0: "You are the next.", 1: "One person is before you."}.get(
        ahead, f"{ahead} people are before you."
    )
    answer = notice(request, "queue", opened=opened, more=(before,), leaving=leaving)
    answer.headers["Refresh"] = str(LOOK_AGAIN_SECONDS)
    return answer


def way_back(spec: StudySpec, name: str) -> tuple[str, str] | None:
    """The words of the button that leads back from a page, and its address."""
    url = spec.recruiting.urls.get(name)
    if url is None:
        return None
    host = urlsplit(url).hostname or ""
    return (RETURN if f".{host}".endswith(".prolific.com") else "Go on", url)


def unknown(request: Request) -> HTMLResponse:
    """Nobody has this link."""
    answer = notice(request, "unknown-link")
    if request.cookies.get(site_of(request).cookie) == request.path_params["token"]:
        forget(request, answer)
    return answer
