"""What is missing before a study begins, a sentence each."""

from __future__ import annotations

import ctypes
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import func, select

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.studies.build.build import unsaid
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import frozen, load_study
from verax.studies.store.people import Transaction
from verax.studies.store.tables import codes
from verax.workflows.analysis import opened
from verax.workflows.spec_draft import ABOUT, PROLIFIC_ENDS

say = partial(say_phrase, "launch")
State = Literal["fine", "missing", "unknown"]
# What the kernel says of a clock that nothing keeps right.
UNSYNCHRONISED = 5
PATIENCE = 10
URLS = (*PROLIFIC_ENDS, "attention_url")
# What `examples/prolific` has where researchers put their own.
EXAMPLE_CONTACT, EXAMPLE_ATTENTION = "you@example.org", "ATTENTION"


@dataclass(frozen=True)
class Check:
    """One line of the checklist: what it is about, how it stands, and the sentence on it."""

    name: str
    state: State
    sentence: str


def launch_checks(
    folder: str | Path, database: str | None = None, url: str | None = None
) -> tuple[Check, ...]:
    """The checklist before a study begins.

    Args:
        folder: of the study.
        database: of its answers; a SQLite file in the study's folder if None.
        url: the address that participants open.
    """
    study = load_study(folder)
    return (
        _pilot(folder),
        _frozen(folder),
        _power(study),
        _consent(study),
        _codes(study, folder, database),
        _backup(folder),
        _clock(),
        _https(url),
    )


def _pilot(folder: str | Path) -> Check:
    from verax.web.pilot import pilot_results

    people = pilot_results(folder).completed
    if not people:
        return Check("pilot", "missing", say("pilot-missing", folder=str(folder)))
    return Check("pilot", "fine", say("pilot-fine", people=people))


def _frozen(folder: str | Path) -> Check:
    made = frozen(folder)
    if made is None:
        return Check("frozen", "missing", say("frozen-missing", folder=str(folder)))
    return Check("frozen", "fine", say("frozen-fine", at=made.at))


def _power(study: Study) -> Check:
    from verax.studies.planning.power import design_power

    try:
        found = design_power(study.spec)
    except VeraxError as error:
        return Check("power", "unknown", say("power-unknown", reason=str(error)))
    if found.is_low:
        return Check("power", "missing", say("power-missing", sentence=found.sentence()))
    return Check("power", "fine", say("power-fine", sentence=found.sentence()))


def _consent(study: Study) -> Check:
    missing = [*unsaid(study.spec), *_unfilled(study.spec)]
    if missing:
        return Check("consent", "missing", say("consent-missing", entries=", ".join(missing)))
    return Check("consent", "fine", say("consent-fine"))


def _unfilled(spec: StudySpec) -> Iterator[str]:
    """Entries that still have the words of a draft or of an example."""
    yield from (f"about.{name}" for name, drafted in ABOUT.items() if getattr(spec.about, name) == drafted)
    if spec.texts.contact == EXAMPLE_CONTACT:
        yield "texts.contact"


def _codes(study: Study, folder: str | Path, database: str | None) -> Check:
    spec = study.spec
    lacking = list(_unset_codes(study, folder, database))
    if lacking:
        sentence = say("codes-missing", entry=spec.entry, folder=str(folder), entries=", ".join(lacking))
        return Check("codes", "missing", sentence)
    return Check("codes", "fine", say("codes-fine"))


def _unset_codes(study: Study, folder: str | Path, database: str | None) -> Iterator[str]:
    recruiting = study.spec.recruiting
    if study.spec.entry == "code":
        with opened(study, folder, database) as store:
            if not store.read(_many_codes):
                yield "codes"
    elif study.spec.entry == "prolific":
        needed = {"completion_url": recruiting.completion_url, "full_url": recruiting.full_url}
        if study.screening is not None:
            needed["screened_out_url"] = recruiting.screened_out_url
        yield from (name for name, url in needed.items() if url is None)
        drafted = tuple(f"cc={code}" for code in (*PROLIFIC_ENDS.values(), EXAMPLE_ATTENTION))
        yield from (name for name in URLS if (getattr(recruiting, name) or "").endswith(drafted))


def _many_codes(work: Transaction) -> int:
    many = select(func.count()).select_from(codes).where(codes.c.study_id == work.study_id)
    return int(work.connection.execute(many).scalar_one())


def _backup(folder: str | Path) -> Check:
    """A backup is any further database in or below the study's folder, or beside it."""
    home = Path(folder).resolve()
    found = [
        path
        for path in (*home.glob("*backup*"), *home.parent.glob("*backup*"), *home.parent.glob("*backup*/*"))
        if path.is_file()
    ]
    if not found:
        return Check("backup", "missing", say("backup-missing", folder=str(folder)))
    latest = max(found, key=lambda path: path.stat().st_mtime)
    return Check("backup", "fine", say("backup-fine", name=latest.name))


def _clock() -> Check:
    state = clock_state()
    return Check("clock", state, say(f"clock-{state}"))


def clock_state() -> State:
    """Whether something keeps the clock of this machine right, as the kernel knows it."""
    if not sys.platform.startswith("linux"):
        return "unknown"
    try:
        # Asks only: no field is set to be changed.
        answer = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    except (OSError, AttributeError):
        return "unknown"
    if answer < 0:
        return "unknown"
    return "missing" if answer == UNSYNCHRONISED else "fine"


def _https(url: str | None) -> Check:
    if url is None:
        return Check("https", "missing", say("https-missing"))
    if not url.startswith("https://"):
        return Check("https", "missing", say("https-plain", url=url))
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=PATIENCE):
            return Check("https", "fine", say("https-fine"))
    except (OSError, ValueError, urllib.error.URLError) as error:
        reason = str(getattr(error, "reason", error))
        return Check("https", "missing", say("https-unreachable", url=url, reason=reason))
