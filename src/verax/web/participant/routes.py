"""What participants ask of the server: the first page, the way in, the one page where they are, and the way out."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Unpack
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from verax.phrases import language_spoken
from verax.phrases import say as say_phrase
from verax.studies.answers.exclusion import failed_checks
from verax.studies.definition.languages import own_name, spoken_spec
from verax.studies.definition.spec import StudySpec
from verax.studies.display import wording
from verax.studies.protocol.contract import turns_phones_away
from verax.studies.store import ParticipantView, Refused
from verax.studies.store.participant.enter import note_retake
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.studies.store.store import Visitor
from verax.web.pages import front, page, see_other, site_of
from verax.web.participant.arrivals import (
    SIGNATURE,
    NoArrival,
    Opened,
    arrival,
    earlier_here,
    forget,
    leave_address,
    opened_place,
    own_link,
    place,
    remember,
)
from verax.web.participant.notices import PROLIFIC, leads_to_prolific, notice, queued, unknown, way_back
from verax.web.participant.step_page import answers, client_times, step_number, step_page
from verax.web.qr import qr_svg
from verax.web.requests import Form, client_key, limits_of, origin_of, too_many

say = partial(say_phrase, "participant")


def about_study(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """What the spec says of the study, as pairs of a question and its answer; nothing for what it does not say."""
    about = spec.about
    said = (
        ("purpose", about.purpose),
        ("minutes", "" if about.minutes is None else say("about-minutes-answer", minutes=about.minutes)),
        ("pay", about.pay),
        ("run-by", about.run_by),
        ("ethics", about.ethics),
        ("contact", spec.texts.contact and say("about-contact-answer", contact=spec.texts.contact)),
    )
    return tuple((say(f"about-{question}"), answer) for question, answer in said if answer)


SUBMIT = "/mturk/externalSubmit"


def completion(request: Request, token: str, own_code: str | None) -> dict[str, object]:
    """What the last page has: one code, and a way back or MTurk's form.

    Where an address leads back to the platform, that address says who is done; the only code to show then is the
    platform's, if the address holds one. Two codes on one page would be mixed up.
    """
    site = site_of(request)
    told = site.store.return_to(token) if site.study.spec.entry == "mturk" else None
    recruiting = site.study.spec.recruiting
    failed = recruiting.attention_url is not None and failed_checks(site.store, token)
    way_on = way_back(site.study.spec, "attention" if failed else "complete")
    return {
        "completion_code": own_code,
        "code": own_code if way_on is None else code_in(way_on[1]),
        "platform": PROLIFIC if way_on is not None and leads_to_prolific(way_on[1]) else "",
        "way_on": way_on,
        "submit": None if told is None else (f"{told['host']}{SUBMIT}", told["assignmentId"]),
    }


def code_in(url: str) -> str:
    """The completion code in a platform's address, such as Prolific's ``?cc=C1ABCDEF``; empty if there is none."""
    return dict(parse_qsl(urlsplit(url).query)).get("cc", "")


def ask_to_leave(request: Request) -> Response:
    """Asks once more. Nothing is noted: who goes back has never left."""
    if request.method == "HEAD":
        return Response(status_code=204)
    opened = opened_place(request)
    where = site_of(request).store.look(opened.token)
    if where is None:
        return unknown(request)
    if where.status == "withdrawn" and where.steps == 0:
        return see_other(place(request, opened.shown))
    if not opened.own and where.status in ("complete", "withdrawn"):
        return notice(request, "not-own", opened=opened)
    context = {
        "action": leave_address(request, opened.shown),
        "back": place(request, opened.shown),
        "own": opened.own,
        # Who is done, or has stopped, can only have it deleted.
        "stops": where.status not in ("complete", "withdrawn"),
        "gave": where.steps > 0,
        "complete": where.status == "complete",
    }
    return page(request, "leave.html", context)


def leave(request: Request, form: Form) -> Response:
    """Ends somebody's part; a form without a choice, which our page never sends, asks again."""
    opened = opened_place(request)
    choice = form.get("choice")
    if choice not in ("keep", "delete"):
        return see_other(leave_address(request, opened.shown))
    if choice == "delete" and not opened.own:
        return notice(request, "not-own", opened=opened)
    if site_of(request).store.withdraw(opened.token, delete=choice == "delete") is None:
        return unknown(request)
    return see_other(place(request, opened.shown))


LONGEST_CODE = 64
PAGE_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
# What browsers on phones call themselves; those that send a hint of their own are known by that.
PHONE = re.compile(r"Mobi|iPhone|iPod|Android.*Mobile|Windows Phone")
# What became of whoever began in this browser, as far as the first page says something of it.
BEGUN = ("active", "complete", "screened-out", "over-quota", "declined", "withdrawn")


def begun_words(status: str) -> tuple[str, str]:
    """What the first page says to somebody who began in this browser, and the words of the button to their place."""
    known = status if status in BEGUN else "active"
    return say(f"begun-{known}"), say(f"begun-{known}-button")


async def welcome(request: Request) -> Response:
    """The first page: what this is and how to begin, or to go on; who was never here waits for no database."""
    if any(site.cookie in request.cookies for site in site_of(request).sites):
        return await run_in_threadpool(_first_page, request)
    return _first_page(request)


def _first_page(request: Request) -> Response:
    site = site_of(request)
    if turned_away(request):
        return notice(request, "desktop-only")
    from_platform = site.study.spec.entry in ("prolific", "mturk")
    came = arrival(site.study.spec, request.query_params) if from_platform else None
    if came is not None and not isinstance(came, NoArrival):
        # Whoever used this browser before: this is who comes now.
        return _welcome(request, hidden=came.fields)
    if came == NoArrival("preview"):
        return _welcome(request, looking=True)
    for begun in site.sites:
        shown = request.cookies.get(begun.cookie)
        where = begun.store.look(begun.store.opened_by(shown)[0]) if shown else None
        if shown and where is not None:
            going_on = place(request, shown, begun)
            return _welcome(request, going_on=going_on, begun=where.status)
    return _welcome(request) if came is None else _no_arrival(request, came)


def turned_away(request: Request) -> bool:
    """Whether somebody comes with a phone to a study for desktop computers: as browsers say of themselves."""
    if not turns_phones_away(site_of(request).study.spec):
        return False
    hint = request.headers.get("sec-ch-ua-mobile")
    return hint == "?1" or (hint is None and PHONE.search(request.headers.get("user-agent", "")) is not None)


def _welcome(
    request: Request,
    *,
    going_on: str = "",
    begun: str = "",
    code: str = "",
    problem: str = "",
    hidden: Mapping[str, str] = MappingProxyType({}),
    looking: bool = False,
) -> Response:
    site = site_of(request)
    spec = spoken_spec(site.study)
    context = {
        "languages": _languages(request),
        "hidden": hidden,
        "looking": looking,
        "begun": begun_words(begun),
        "welcome": wording.welcome(spec),
        "about": about_study(spec),
        "needs_code": spec.entry == "code",
        "code": code or request.query_params.get("code", "")[:LONGEST_CODE],
        "going_on": going_on,
        "problem": problem,
    }
    return page(request, "welcome.html", context, status=422 if problem else 200)


def _languages(request: Request) -> list[tuple[str, str, str]]:
    """The other languages of the study: the tag of each, what it calls itself, and the address of the page in it."""
    known = site_of(request).study.spec.languages
    others = [language for language in known if language != language_spoken()]
    return [
        (language, own_name(language), f"?{request.url.include_query_params(lang=language).query}")
        for language in others
    ]


def enter(request: Request, form: Form) -> Response:
    """A new participant, or the one whose code this is."""
    if turned_away(request):
        return notice(request, "desktop-only")
    if "bot" in form:
        return _enter_bot(request, form["bot"])
    spec = site_of(request).study.spec
    wait = limits_of(request).enter.allow(client_key(request))
    if wait:
        return too_many(request, wait, (say("no-page-button"), f"{front(request)}/"))
    if spec.entry == "code":
        return _enter_by_code(request, form.get("code", "").strip()[:LONGEST_CODE])
    if spec.entry == "link":
        return _let_in(request)
    came = arrival(spec, form)
    if isinstance(came, NoArrival):
        return _no_arrival(request, came)
    if spec.recruiting.signed:
        right = site_of(request).store.signature(came.platform, came.person)
        if not hmac.compare_digest(came.fields[SIGNATURE].encode("utf-8", "replace"), right.encode()):
            return notice(request, "unsigned")
    return _let_in(
        request,
        platform=came.platform,
        person=came.person,
        return_to=came.return_to,
        session=came.session,
    )


def _enter_by_code(request: Request, code: str) -> Response:
    wrong_codes, key = limits_of(request).wrong_codes, client_key(request)
    wait = wrong_codes.wait(key)
    if wait:  # a right code would tell whoever tries them all
        return too_many(request, wait, (say("no-page-button"), f"{front(request)}/"))
    try:
        return _let_in(request, code=code or None)
    except Refused as refused:
        if code:
            wrong_codes.allow(key)
        return _welcome(request, code=code, problem=say(refused.reason))


def _let_in(request: Request, code: str | None = None, **who: Unpack[Visitor]) -> Response:
    """To the place of whoever enters, or to the reason why nobody can.

    Raises:
        Refused: something is wrong with the code, which can be typed again.
    """
    if not who.get("is_bot") and not site_of(request).preview:
        who["origin"] = origin_of(request)
    who["language"] = language_spoken()
    try:
        site, token = site_of(request).enter(request.cookies, code, **who)
    except Refused as refused:
        if refused.reason in ("code-needed", "unknown-code"):
            raise
        return notice(request, refused.reason)
    if (earlier := earlier_here(request, site)) and not who.get("is_bot"):
        site.store.write(note_retake, site.store.opened_by(token)[0], earlier)
    answer = see_other(place(request, token, site))
    remember(request, answer, token, site)
    return answer


def _enter_bot(request: Request, shown: str) -> Response:
    """A simulated person, marked as one; it needs no code, but the pass that only the database's owner has."""
    given = shown.encode("utf-8", "replace")
    if not any(hmac.compare_digest(given, site.store.bot_pass().encode()) for site in site_of(request).sites):
        return notice(request, "no-bot")
    return _let_in(request, is_bot=True)


def _no_arrival(request: Request, came: NoArrival) -> Response:
    """A platform's link that does not say who came; for what is missing, and what is there but cannot be."""
    spec = site_of(request).study.spec
    if came.what == "preview":
        return _welcome(request, looking=True)
    return notice(request, f"{spec.entry}-ids", status=400 if came.what == "missing" else 422)


def forget_me(request: Request, form: Form) -> Response:  # noqa: ARG001
    """The next person at the same device."""
    answer = see_other(f"{front(request)}/")
    forget(request, answer)
    return answer


def here(request: Request) -> Response:
    """Where the participant is, whatever page they came from."""
    if request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", ""):
        # Nobody looks at this, so no clock may start.
        return Response(status_code=204 if request.method == "HEAD" else 503)
    opened = opened_place(request)
    where = site_of(request).store.show(opened.token)
    if where is None:
        return unknown(request)
    answer = _drawn(request, opened, where)
    # Who has the own link keeps it, also when they come by what was lent.
    if request.cookies.get(site_of(request).cookie) not in (opened.shown, opened.token):
        remember(request, answer, opened.shown)
    return answer


def look_back(request: Request) -> Response:
    """An earlier page of the phase, where it may be leafed through; else where the participant is."""
    opened = opened_place(request)
    if request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", ""):
        return Response(status_code=204 if request.method == "HEAD" else 503)
    number = request.path_params["ord"]
    if not PAGE_NUMBER.fullmatch(number):
        raise HTTPException(404)
    where = site_of(request).store.leaf(opened.token, int(number))
    if where is None:
        return see_other(place(request, opened.shown))
    return page(request, "look.html", step_page(where) | _leafing(request, opened, where))


def _leafing(request: Request, opened: Opened, where: ParticipantView) -> dict[str, object]:
    """The addresses of the pages before and after the one that is shown, and of the step that is due."""
    here = place(request, opened.shown)
    return {
        "action": here,
        "link": own_link(request, opened),
        "leaving": (say("leave-the-study"), leave_address(request, opened.shown)),
        "earlier": f"{here}/look/{where.earlier}" if where.earlier else "",
        "later": f"{here}/look/{where.looking + 1}" if 0 < where.looking < where.ord - 1 else here,
    }


def take_feedback(request: Request, form: Form) -> Response:
    """A remark on the page where somebody is in a pilot."""
    opened = opened_place(request)
    wait = _held_up(request, opened.token)
    if wait:
        return too_many(request, wait, (say("go-on"), place(request, opened.shown)))
    limits_of(request).in_vain_as.allow(opened.token)
    text = form.get("text", "").strip()[:LONGEST_TEXT]
    if text:
        site_of(request).store.event(opened.token, "feedback", {"text": text})
    return see_other(place(request, opened.shown))


def pilot_page(request: Request) -> Response:
    """The code by which phones open the pilot."""
    url = site_of(request).pilot
    return page(request, "pilot.html", {"code": qr_svg(url, url), "url": url})


def submit(request: Request, form: Form) -> Response:
    """An answer, or the consent; whatever comes of it, the participant is sent to where they are."""
    opened = opened_place(request)
    token, store = opened.token, site_of(request).store
    if "consent" in form:
        store.consent(token, form["consent"] == "yes", linked=form.get("link") == "yes")
        return see_other(place(request, opened.shown))
    wait = _held_up(request, token)
    if wait:
        return too_many(request, wait, (say("go-on"), place(request, opened.shown)))
    given, number = answers(form), step_number(form)
    submitted = store.submit(token, number, form.get("nonce", ""), given, client_times(form))
    if submitted.rejected:
        limits_of(request).in_vain_as.allow(token)
        limits_of(request).in_vain_from.allow(client_key(request))
    # Only looked at: the page was displayed before, and what is missing in it is no reload.
    where = store.look(token) if submitted.errors else None
    if where is None or where.status != "active" or where.ord != number:
        return see_other(place(request, opened.shown))
    return _step(request, opened, where, given, submitted.errors)


def _held_up(request: Request, token: str) -> float:
    """For how many seconds nothing is taken from a participant who sent too much in vain.

    Only this process is asked, since every answer is: another one that takes something in vain counts it for all.
    """
    limits = limits_of(request)
    if limits.in_vain_as.is_full(token):
        return 0  # whatever others at the same address do
    return limits.in_vain_as.wait_here(token) or limits.in_vain_from.wait_here(client_key(request))


def _drawn(request: Request, opened: Opened, where: ParticipantView) -> Response:
    spec = spoken_spec(site_of(request).study)
    address = leave_address(request, opened.shown)
    leaving = (say("leave-the-study"), address)
    own: dict[str, object] = {
        "action": place(request, opened.shown),
        "link": own_link(request, opened),
        "leaving": leaving,
    }
    match where.status:
        case "active":
            return _step(request, opened, where, {}, {})
        case "consent":
            own |= {
                "about": about_study(spec),
                "consent": wording.consent(spec),
                "linking": say("link-answers") if spec.recruiting.link else "",
            }
            return page(request, "consent.html", own)
        case "complete":
            about = {"tally": where.tally, "leaving": (say("delete-my-answers"), address)}
            ended = completion(request, opened.token, where.completion_code)
            return page(request, "complete.html", own | ended | about)
        case "withdrawn":
            more = (say("withdrawn-kept" if where.steps else "withdrawn-nothing-kept"),)
            return notice(
                request,
                "withdrawn",
                opened=opened,
                more=more,
                leaving=(say("delete-my-answers"), address) if where.steps else None,
            )
    if where.queue:
        return queued(request, opened, where.queue, leaving)
    # These are states of the participant, not failures; only a pause asks browsers to come again.
    status = None if where.status == "paused" else 200
    return notice(request, where.status, opened=opened, status=status, leaving=leaving)


def _reading_seconds(request: Request, where: ParticipantView) -> float:
    """How long a page that asks nothing is to be read before it can be left; 0 for all others."""
    asks = where.screen is not None and where.screen.questions
    return 0.0 if asks else site_of(request).study.spec.timing.reading_seconds or 0.0


def _step(
    request: Request,
    opened: Opened,
    where: ParticipantView,
    given: Mapping[str, str],
    errors: Mapping[str, str],
) -> Response:
    context = (
        step_page(where, given, errors, site_of(request).minutes)
        | _leafing(request, opened, where)
        | {"problem": say("answer-missing") if errors else "", "reading": _reading_seconds(request, where)}
    )
    return page(request, "step.html", context, status=422 if errors else 200)
