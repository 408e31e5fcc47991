"""A participant, opened: answers and times; an owner may exclude them with a reason, or delete what they gave."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from verax.errors import VeraxError
from verax.studies.store.one_participant import (
    OneParticipant,
    delete_answers,
    exclude,
    include,
    open_participant,
    unblind,
)
from verax.text import plain
from verax.web.experimenter.live_words import STATUSES, phase_title
from verax.web.experimenter.sign_in import Visit, experimenter_page, home, told
from verax.web.http.forms import Form
from verax.web.http.pages import see_other, site_of


def participant(request: Request, visit: Visit) -> Response:
    """The page of one participant."""
    return _page(request, visit, _opened(request, visit))


def judge(request: Request, visit: Visit, form: Form) -> Response:
    """Excludes somebody with a reason, or takes that back; or shows the conditions, which is kept on record."""
    store, name = site_of(request).store, _opened(request, visit).name
    try:
        if form.get("do") == "unblind":
            unblind(store, by=visit.name)
        elif form.get("do") == "include":
            include(store, name, by=visit.name)
        else:
            exclude(store, name, form.get("reason", ""), by=visit.name)
    except VeraxError as error:
        return _page(request, visit, _opened(request, visit), problem=str(error), status=400)
    return see_other(home(request, f"/participant/{name}"))


def withdraw(request: Request, visit: Visit, form: Form) -> Response:
    """Deletes what somebody gave, once it was asked whether that is meant."""
    person = _opened(request, visit)
    if form.get("sure") != "yes":
        return _page(request, visit, person, sure=True)
    deleted = delete_answers(site_of(request).store, person.name, by=visit.name)
    pages = "1 answered page was" if deleted == 1 else f"{deleted or 0} answered pages were"
    return told(
        request, f"{person.name} has left", f"{pages} deleted for good. Delete backups and exports too.", 200
    )


def _opened(request: Request, visit: Visit) -> OneParticipant:
    """The participant; readers watch, but do not see what people wrote in their own words."""
    store, name = site_of(request).store, request.path_params["name"]
    person = open_participant(store, name, free_text=visit.role != "reader")
    if person is None:
        raise HTTPException(404)
    return person


def _page(
    request: Request,
    visit: Visit,
    person: OneParticipant,
    *,
    problem: str = "",
    sure: bool = False,
    status: int = 200,
) -> Response:
    study = site_of(request).study
    context = {
        "visit": visit,
        "person": person,
        "status": STATUSES.get(person.status, person.status),
        "part": lambda phase: phase_title(study, phase),
        "plain": plain,
        "problem": problem,
        "sure": sure,
    }
    return experimenter_page(request, "experimenter_participant.html", context, status)
