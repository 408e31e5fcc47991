"""What participants ask of the server: the first page, the way in, and the one page where they are."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from verax.studies import wording
from verax.studies.store import Refused, Where
from verax.web.forms import Form, answers, client_times, step_number
from verax.web.pages import step_page
from verax.web.site import forget, notice, own_link, page, place, remember, root, see_other, site_of

LONGEST_CODE = 64
MISSING = "Something is missing below; this page is not saved yet."


def welcome(request: Request) -> Response:
    """The first page: what this is and how to begin, or to go on."""
    token = request.cookies.get(site_of(request).cookie)
    begun = token is not None and site_of(request).store.look(token) is not None
    return _welcome(request, going_on=place(request, token) if token and begun else "")


def _welcome(request: Request, *, going_on: str = "", code: str = "", problem: str = "") -> Response:
    spec = site_of(request).study.spec
    context = {
        "welcome": wording.welcome(spec),
        "needs_code": spec.entry == "code",
        "code": code or request.query_params.get("code", "")[:LONGEST_CODE],
        "going_on": going_on,
        "problem": problem,
    }
    return page(request, "welcome.html", context, status=422 if problem else 200)


def enter(request: Request, form: Form) -> Response:
    """A new participant, or the one whose code this is."""
    site = site_of(request)
    needs_code = site.study.spec.entry == "code"
    code = form.get("code", "").strip()[:LONGEST_CODE] if needs_code else ""
    try:
        token = site.store.enter(code=code or None)
    except Refused as refused:
        if needs_code and refused.reason in ("code-needed", "unknown-code"):
            return _welcome(request, code=code, problem=str(refused))
        return notice(request, refused.reason)
    answer = see_other(place(request, token))
    remember(request, answer, token)
    return answer


def leave(request: Request, form: Form) -> Response:  # noqa: ARG001
    """The next person at the same device."""
    answer = see_other(f"{root(request)}/")
    forget(request, answer)
    return answer


def here(request: Request) -> Response:
    """Where the participant is, whatever page they came from."""
    if request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", ""):
        # Nobody looks at this, so no clock may start.
        return Response(status_code=204 if request.method == "HEAD" else 503)
    token = request.path_params["token"]
    where = site_of(request).store.show(token)
    if where is None:
        return _unknown(request)
    answer = _drawn(request, token, where)
    if request.cookies.get(site_of(request).cookie) != token:
        remember(request, answer, token)
    return answer


def submit(request: Request, form: Form) -> Response:
    """An answer, or the consent; whatever comes of it, the participant is sent to where they are."""
    token = request.path_params["token"]
    store = site_of(request).store
    if "consent" in form:
        store.consent(token, form["consent"] == "yes")
        return see_other(place(request, token))
    given, number = answers(form), step_number(form)
    submitted = store.submit(token, number, form.get("nonce", ""), given, client_times(form))
    # Only looked at: the page was displayed before, and what is missing in it is no reload.
    where = store.look(token) if submitted.errors else None
    if where is None or where.status != "active" or where.ord != number:
        return see_other(place(request, token))
    return _step(request, token, where, given, submitted.errors)


def _drawn(request: Request, token: str, where: Where) -> Response:
    spec = site_of(request).study.spec
    own = {"action": place(request, token), "link": own_link(request, token)}
    match where.status:
        case "active":
            return _step(request, token, where, {}, {})
        case "consent":
            return page(request, "consent.html", own | {"consent": wording.consent(spec)})
        case "complete":
            return page(request, "complete.html", own | {"completion_code": where.completion_code})
    # These are states of the participant, not failures; only a pause asks browsers to come again.
    status = None if where.status == "paused" else 200
    return notice(request, where.status, token=token, status=status)


def _step(
    request: Request, token: str, where: Where, given: Mapping[str, str], errors: Mapping[str, str]
) -> Response:
    context = step_page(where, given, errors) | {
        "action": place(request, token),
        "link": own_link(request, token),
        "problem": MISSING if errors else "",
    }
    return page(request, "step.html", context, status=422 if errors else 200)


def _unknown(request: Request) -> Response:
    answer = notice(request, "unknown-link")
    if request.cookies.get(site_of(request).cookie) == request.path_params["token"]:
        forget(request, answer)
    return answer
