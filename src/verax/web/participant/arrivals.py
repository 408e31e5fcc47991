"""Who comes from a platform, as its links say: Prolific's and MTurk's parameters, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from verax.studies.definition.spec import StudySpec
from verax.web.http.policy import mturk_host

# What each platform adds to the study's address; the first one says who it is.
PARAMETERS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId", "hitId", "turkSubmitTo"),
}
# What MTurk writes for somebody who only looks.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SIGNATURE = "signature"  # of the id, where links are signed
ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True)
class Arrival:
    """Somebody whom a platform sent.

    Attributes:
        platform: "prolific" or "mturk".
        person: the platform's id of the person.
        fields: what the platform's link said, to be sent along with the form of the first page.
        session: the platform's id of this visit: Prolific's session, MTurk's assignment.
        return_to: what the platform must be told at the end.
    """

    platform: str
    person: str
    fields: Mapping[str, str]
    session: str
    return_to: Mapping[str, str] | None = None


@dataclass(frozen=True)
class NoArrival:
    """A link that does not say who came; `what` is "missing", "malformed", or a "preview"."""

    what: Literal["missing", "malformed", "preview"]


def arrival(spec: StudySpec, given: Mapping[str, str]) -> Arrival | NoArrival:
    """Who came, from the parameters of a link or the fields of a form, in a study that is entered from a platform."""
    platform = spec.entry
    if platform == "mturk" and given.get("assignmentId") == PREVIEW:
        return NoArrival("preview")
    names = (*PARAMETERS[platform], *([SIGNATURE] if spec.recruiting.signed else []))
    fields = {name: given.get(name, "") for name in names}
    if not all(fields.values()):
        return NoArrival("missing")
    ids = [value for name, value in fields.items() if name != "turkSubmitTo"]
    if not all(ID.fullmatch(value) for value in ids):
        return NoArrival("malformed")
    person = fields[PARAMETERS[platform][0]]
    if platform == "prolific":
        return Arrival(platform, person, fields, fields["SESSION_ID"])
    if not _is_at(fields["turkSubmitTo"], mturk_host(spec)):
        return NoArrival("malformed")
    return Arrival(
        platform,
        person,
        fields,
        fields["assignmentId"],
        {"assignmentId": fields["assignmentId"], "host": mturk_host(spec)},
    )


def _is_at(url: str, host: str) -> bool:
    """Whether an address is at a host: nobody's answer may be sent anywhere else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return f"{parts.scheme}://{parts.netloc}".lower() == host
