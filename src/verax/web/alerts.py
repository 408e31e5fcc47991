"""Alerts to experimenters, by e-mail or to a webhook: the study is full, pages fail, many leave, nobody comes.

``alerts.toml`` in the study's folder says what is told to whom; it is no part of the frozen study. What was sent is an
action of the study, so that several processes send it once; what could not be sent is one too, and is tried again.
"""

from __future__ import annotations

import json
import logging
import os
import re
import smtplib
import ssl
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from http.client import HTTPException
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlalchemy import func, select

from verax.errors import VeraxError
from verax.options import plain_problem
from verax.phrases import say
from verax.studies.definition.spec import read_spec_text
from verax.studies.store import Store
from verax.studies.store.clock import SECOND
from verax.studies.store.people import Transaction, act, state_of
from verax.studies.store.status import overview
from verax.studies.store.tables import actions, participants, studies
from verax.toml_text import parse_toml

ALERTS = "alerts.toml"
PASSWORD = "VERAX_SMTP_PASSWORD"
HOUR = 3600
DAY = 24 * HOUR
# The same alert is not sent again for so many seconds; None never sends it again.
AGAIN: dict[str, int | None] = {"full": None, "error": HOUR, "dropout": DAY, "silent": DAY}
# And what could not be sent is tried again after so many.
RETRY = HOUR // 4
PATIENCE = 20
ADDRESS = r"^[^\s@<>,;:\"()\[\]\\]+@[A-Za-z0-9.-]+$"
SMTP = r"^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"
WEBHOOK = r"^(https?://[A-Za-z0-9.\[\]:_-]+([/?][\x21-\x7e]*)?)?$"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SENT, UNSENT = "alert", "alert not sent"
Way = Literal["email", "webhook"]

logger = logging.getLogger("verax.web")


class AlertSettings(BaseModel):
    """What is told to whom.

    Attributes:
        email: to whom mail goes.
        sender: from whom; the first of ``email`` if empty.
        smtp: the mail server, as "mail.example.org" or "mail.example.org:587".
        user: of the mail server; the password is in the environment, as VERAX_SMTP_PASSWORD, and is said to nobody
            without ``tls``, but on this machine.
        tls: whether the connection is encrypted (STARTTLS) before anything is said.
        webhook: an address that is sent each alert as JSON.
        full: tell when all places are filled.
        errors: tell when pages cannot be shown or saved.
        dropout: tell when more than this share of those who began have left; 0 never does.
        fewest: of those who began, before dropping out is judged.
        silent_hours: tell when nobody came for so many hours while places are free; 0 never does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    email: tuple[Annotated[str, Field(pattern=ADDRESS)], ...] = ()
    sender: str = Field(default="", pattern=rf"{ADDRESS}|^$")
    smtp: str = Field(default="localhost", pattern=SMTP)
    user: str = ""
    tls: bool = True
    webhook: str = Field(default="", pattern=WEBHOOK)
    full: bool = True
    errors: bool = True
    dropout: float = Field(default=0.3, ge=0, le=1)
    fewest: int = Field(default=10, ge=1)
    silent_hours: float = Field(default=24, ge=0)

    @model_validator(mode="after")
    def _to_somebody(self) -> AlertSettings:
        if not self.email and not self.webhook:
            raise ValueError("nobody is told; give email or webhook")
        if self.user and not self.tls and self.mail_server[0] not in LOOPBACK:
            raise ValueError("the password would be sent for anybody to read; leave tls = false out, or user")
        return self

    @property
    def ways(self) -> tuple[Way, ...]:
        """Those that are set."""
        return (*(("email",) if self.email else ()), *(("webhook",) if self.webhook else ()))

    @property
    def mail_server(self) -> tuple[str, int]:
        """Its host and its port."""
        host, colon, port = self.smtp.rpartition(":")
        if not colon or self.smtp.endswith("]"):
            return self.smtp, 25
        return host, int(port)

    @property
    def told(self) -> tuple[str, ...]:
        """Who is told, by what way; of a webhook's address only the host, since the rest may be a secret."""
        mail = [f"{', '.join(self.email)} (by the mail server {self.smtp})"] if self.email else []
        return (*mail, *([urlsplit(self.webhook).netloc] if self.webhook else []))


def read_alerts(folder: str | Path) -> AlertSettings | None:
    """What the file in a study's folder says; None if there is none."""
    path = Path(folder) / ALERTS
    if not path.exists():
        return None
    try:
        return AlertSettings(**parse_toml(read_spec_text(path), ALERTS))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise VeraxError(f"{ALERTS}{', ' if where else ''}{where}: {plain_problem(first['msg'])}.") from error


@dataclass(frozen=True)
class Alert:
    """Something that experimenters should know."""

    name: str
    subject: str
    text: str


class Alerts:
    """The alerts of a study that is served: looks now and then, and is told of pages that fail."""

    def __init__(self, settings: AlertSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._errors = 0

    def note_error(self, many: int = 1) -> None:
        """A page could not be shown or saved, or so many."""
        with self._lock:
            self._errors += many

    def look(self, store: Store) -> None:
        """Sends what is due; what cannot be found out or sent is logged and tried again."""
        with self._lock:
            errors, self._errors = self._errors, 0
        try:
            for alert in due_alerts(store, self._settings, errors):
                failed = [way for way in self._settings.ways if not self._sent(store, alert, way)]
                if failed and alert.name == "error":
                    self.note_error(errors)
        except Exception as error:
            # The database, most likely: when it is back, it is time to tell of it.
            self.note_error(errors)
            logger.error("An alert could not be sent: %s", getattr(error, "orig", error))

    def _sent(self, store: Store, alert: Alert, way: Way) -> bool:
        """Whether it need not be sent this way again: it is sent now, or was before."""
        claimed = store.write(_claim, alert, way)
        if claimed is not True:
            return claimed is False
        try:
            send(alert, self._settings, [way])
        except VeraxError as error:
            logger.error("%s", error)
            store.write(act, "server", UNSENT, {"alert": alert.name, "way": way})
            return False
        return True


def due_alerts(store: Store, settings: AlertSettings, errors: int = 0) -> Iterator[Alert]:
    """What experimenters should know now, whether they know it already or not."""
    title = store.study.spec.title
    people = overview(store, last=0).people
    full = all(row.complete >= row.target for row in people.rows)
    if settings.full and full:
        yield _alert("full", title, people=people.counts.get("complete", 0))
    if settings.errors and errors:
        yield _alert("error", title, errors=errors)
    began, left = store.read(_began), store.read(_left)
    if settings.dropout and began >= settings.fewest and left > settings.dropout * began:
        yield _alert("dropout", title, left=left, began=began, share=f"{settings.dropout:.0%}")
    idle = store.read(_seconds_since_anybody)
    if settings.silent_hours and not full and idle >= settings.silent_hours * HOUR and _is_open(store):
        yield _alert("silent", title, hours=int(idle // HOUR))


def _alert(name: str, title: str, **slots: Any) -> Alert:
    # A subject is one line, whatever a title is.
    one_line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", title).split())
    return Alert(
        name, say("launch", f"alert-{name}", title=one_line), say("launch", f"alert-{name}-text", **slots)
    )


def _is_open(store: Store) -> bool:
    return store.read(state_of).state == "open"


def _people(work: Transaction) -> Any:
    return (participants.c.study_id == work.study_id, participants.c.is_bot.is_(False))


def _began(work: Transaction) -> int:
    began = select(func.count()).where(*_people(work), participants.c.consented_at.is_not(None))
    return int(work.connection.execute(began).scalar_one())


def _left(work: Transaction) -> int:
    """Who ended it, or is away for longer than a place is held."""
    left = select(func.count()).where(
        *_people(work),
        participants.c.consented_at.is_not(None),
        (participants.c.status == "withdrawn")
        | ((participants.c.status == "active") & (participants.c.hold_until < work.now)),
    )
    return int(work.connection.execute(left).scalar_one())


def _seconds_since_anybody(work: Transaction) -> float:
    """Since the last person came, or the study was first served."""
    came = select(func.max(participants.c.created_at)).where(*_people(work))
    opened = select(studies.c.created_at).where(studies.c.id == work.study_id)
    found = [work.connection.execute(query).scalar_one() for query in (came, opened)]
    latest = max((at for at in found if at is not None), default=None)
    return 0.0 if latest is None else (work.now - latest) / SECOND


def _claim(work: Transaction, alert: Alert, way: Way) -> bool | None:
    """Whether this process is to send it this way; False if it was sent lately, None if it failed just now."""
    state_of(work, lock=True)
    earlier = [
        (at, type)
        for at, type, data in work.connection.execute(
            select(actions.c.at, actions.c.type, actions.c.data)
            .where(actions.c.study_id == work.study_id, actions.c.type.in_((SENT, UNSENT)))
            .order_by(actions.c.id)
        )
        if data.get("alert") == alert.name and data.get("way", way) == way
    ]
    if earlier:
        at, type = earlier[-1]
        again = RETRY if type == UNSENT else AGAIN[alert.name]
        if again is None or work.now - at < again * SECOND:
            return None if type == UNSENT else False
    act(work, "server", SENT, {"alert": alert.name, "way": way})
    return True


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Whoever sends elsewhere has not taken it: what follows would be a request without the alert, to anywhere."""

    def redirect_request(self, *_: Any) -> None:
        """None is followed."""


_opener = urllib.request.build_opener(_NoRedirects)


def send(alert: Alert, settings: AlertSettings, ways: Sequence[Way] | None = None) -> None:
    """Sends an alert every way that is set, or some of them; one that fails does not keep the others.

    Raises:
        VeraxError: what went wrong.
    """
    problems = []
    for way in settings.ways if ways is None else ways:
        try:
            _mail(alert, settings) if way == "email" else _call(alert, settings.webhook)
        except (OSError, ValueError, HTTPException, smtplib.SMTPException) as error:
            who = f"the mail server {settings.smtp}" if way == "email" else "the webhook"
            problems.append(f"{who} did not take it ({error})")
    if problems:
        raise VeraxError(f"The alert {alert.subject!r} was not sent: {'; '.join(problems)}.")


def _call(alert: Alert, webhook: str) -> None:
    body = json.dumps({"alert": alert.name, "subject": alert.subject, "text": alert.text}).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "verax"}
    with _opener.open(urllib.request.Request(webhook, body, headers), timeout=PATIENCE):
        pass


def _mail(alert: Alert, settings: AlertSettings) -> None:
    message = EmailMessage()
    message["Subject"] = alert.subject
    message["From"] = settings.sender or settings.email[0]
    message["To"] = ", ".join(settings.email)
    message.set_content(f"{alert.text}\n")
    host, port = settings.mail_server
    with smtplib.SMTP(host.strip("[]"), port, timeout=PATIENCE) as server:
        if settings.tls:
            server.starttls(context=ssl.create_default_context())
        if settings.user:
            server.login(settings.user, os.environ.get(PASSWORD, ""))
        server.send_message(message)
