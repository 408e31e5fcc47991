"""A pilot: the study as it will run, on this network, with a box for remarks on every page; its answers lie apart."""

from __future__ import annotations

import shutil
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import select
from starlette.applications import Starlette

from verax.studies.definition.study import Study
from verax.studies.definition.study_files import load_study
from verax.studies.protocol.contract import turns_phones_away
from verax.studies.store import Store, open_store
from verax.studies.store.people import Transaction
from verax.studies.store.tables import events, participants, steps
from verax.web.app import make_app
from verax.web.qr import qr_lines
from verax.web.serve import listen, run

# In the study's folder; what is in it is no answer of the study.
PILOT = "pilot"
FEEDBACK = "feedback"


@dataclass(frozen=True)
class Remark:
    """What somebody wrote on a page of the pilot."""

    phase: str
    screen: str
    text: str


@dataclass(frozen=True)
class PilotResults:
    """What a pilot gave.

    Attributes:
        came, completed: how many people.
        minutes: of each who completed it, from the consent to the end.
        remarks: in their order.
    """

    came: int
    completed: int
    minutes: tuple[float, ...]
    remarks: tuple[Remark, ...]


def pilot_database(folder: str | Path) -> str:
    """Where the answers of a pilot go."""
    return f"sqlite:///{Path(folder).resolve() / PILOT / 'answers.sqlite'}"


def has_pilot(folder: str | Path) -> bool:
    """Whether somebody began a pilot there."""
    return (Path(folder) / PILOT / "answers.sqlite").exists()


def open_pilot(study: Study, folder: str | Path) -> Store:
    """The store of a study's pilot; codes and platforms are not asked for."""
    (Path(folder) / PILOT).mkdir(exist_ok=True)
    return open_store(_open_to_all(study), pilot_database(folder))


def _open_to_all(study: Study) -> Study:
    from dataclasses import replace

    recruiting = type(study.spec.recruiting)()
    return replace(study, spec=study.spec.model_copy(update={"entry": "link", "recruiting": recruiting}))


def pilot_app(folder: str | Path, url: str) -> Starlette:
    """The pages of a pilot.

    Args:
        folder: of the study.
        url: where phones find it.
    """
    study = load_study(folder)
    store = open_pilot(study, folder)
    return make_app(store, store.study, pilot=url)


def pilot(folder: str | Path, port: int = 8000, host: str = "0.0.0.0") -> None:
    """Serves the pilot of a built study until Ctrl-C, to everybody on this network."""
    study = load_study(folder)
    open_pilot(study, folder).close()
    listener = listen(host, port)
    url = f"http://{local_address(host)}:{listener.getsockname()[1]}/"
    print("\n".join(qr_lines(url)))
    print(
        f"The pilot of {study.spec.title!r} is served at {url}\nPhones on the same network open it by the code above, "
        f"which is also at {url}pilot\nIts answers lie apart, in {Path(folder) / PILOT}. Press Ctrl-C to end.",
        flush=True,
    )
    if turns_phones_away(study.spec):
        print("This study turns phones away: open it on another computer in the network.", flush=True)
    run(partial(pilot_app, str(folder), url), listener)


def local_address(host: str) -> str:
    """The address of this machine in its network; nothing is sent to find it."""
    if host not in ("0.0.0.0", "::"):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def pilot_results(folder: str | Path) -> PilotResults:
    """What the pilot of a study gave so far; nothing if there was none."""
    if not has_pilot(folder):
        return PilotResults(0, 0, (), ())
    store = open_pilot(load_study(folder), folder)
    try:
        return store.read(_results)
    finally:
        store.close()


def _results(work: Transaction) -> PilotResults:
    people = work.connection.execute(
        select(participants.c.status, participants.c.consented_at, participants.c.finished_at).where(
            participants.c.study_id == work.study_id
        )
    ).all()
    minutes = [
        (finished - began) / 60_000_000
        for status, began, finished in people
        if status == "complete" and finished
    ]
    said = work.connection.execute(
        select(steps.c.phase, steps.c.screen, events.c.data)
        .join_from(events, participants)
        .outerjoin(steps, (steps.c.participant_id == events.c.participant_id) & (steps.c.ord == events.c.ord))
        .where(participants.c.study_id == work.study_id, events.c.type == FEEDBACK)
        .order_by(events.c.id)
    )
    remarks = tuple(
        Remark(phase or "", screen or "", str(data.get("text", ""))) for phase, screen, data in said
    )
    return PilotResults(len(people), len(minutes), tuple(minutes), remarks)


def wipe_pilot(folder: str | Path) -> bool:
    """Deletes all that a pilot gave; whether there was any."""
    there = has_pilot(folder)
    shutil.rmtree(Path(folder) / PILOT, ignore_errors=True)
    return there
