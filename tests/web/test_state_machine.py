"""Participants and an experimenter do whatever they like over HTTP, in any order: nothing is lost, nobody gets stuck.

The machine knows, for every participant, what must be stored: the answers sent with the page of the step that was due.
After each move the database must hold just these, and in the end everybody who has a place can go on to the end of it.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule
from sqlalchemy import select

from real_parts import LONG
from small_study import GIVEN, Clock, small_study
from verax.studies.store import open_store
from verax.studies.store.accounts import add_account
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import participants, responses, steps
from verax.web.app import make_app
from web.serving import running
from web.walk import Form, filled

NAME, PASSWORD = "ada", "correct horse battery"
HOLD = 3600
PLACES = 2


@dataclass(eq=False)
class Person:
    """A participant as the machine knows them.

    Attributes:
        address: their page.
        status: as their page must say: consent, active, done (complete or screened out), over (declined, withdrawn),
            full.
        pages: the forms of steps that they have seen, by number.
        current: the number of the step that they saw last and did not answer yet.
        stored: the answers that must be in the database, by step.
    """

    address: str
    status: str = "consent"
    pages: dict[int, Form] = field(default_factory=dict)
    current: int | None = None
    stored: dict[int, dict[str, int]] = field(default_factory=dict)


class EverythingAtOnce(RuleBasedStateMachine):
    people = Bundle("people")

    @initialize(target=people)
    def serve(self) -> Any:
        self.stack = ExitStack()
        folder = tempfile.mkdtemp()
        self.stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.clock = Clock()
        study = small_study(rows=1, target=PLACES)
        self.store = open_store(study, f"sqlite:///{Path(folder) / 'answers.db'}", clock=self.clock)
        self.stack.callback(self.store.close)
        add_account(self.store, NAME, PASSWORD)
        address = self.stack.enter_context(running(make_app(self.store, study)))
        self.client = self.stack.enter_context(httpx.Client(base_url=address, timeout=LONG))
        self.lab = self.stack.enter_context(httpx.Client(base_url=address, timeout=LONG))
        self.state = "open"
        self.everybody: list[Person] = []
        # Somebody is already there, and the experimenter is signed in: or most moves would meet a shut door.
        self.sign_in(right=True)
        person = self.enter()
        self.decide(person, agreed=True)
        self.read(person)
        return multiple(person)

    def ask(self, method: str, address: str, data: dict[str, str] | None = None) -> httpx.Response:
        """Whatever is asked, no answer is a broken one; a pause is the only reason to be sent away for a while."""
        self.client.cookies.clear()
        answer = self.client.request(method, address, data=data)
        assert answer.status_code < 500 or (answer.status_code == 503 and self.state == "paused"), answer.text
        return answer

    # ---- Participants

    @rule(target=people)
    def enter(self) -> Person | None:
        answer = self.ask("POST", "/enter")
        if self.state == "open" and answer.status_code == 303:
            self.everybody.append(Person(answer.headers["location"]))
            return self.everybody[-1]
        assert answer.status_code in (409, 410, 503), answer.text
        assert self.state != "open" or self.taken() >= PLACES
        return Person("/p/nobody", "nobody")

    def taken(self) -> int:
        """Places that are taken or held for somebody."""
        return sum(person.status in ("active", "done") for person in self.everybody)

    @rule(person=people, decision=st.sampled_from(["agree", "decline", "look"]))
    def look_or_decide(self, person: Person, decision: str) -> None:
        if decision == "look":
            self.read(person)
        else:
            self.decide(person, agreed=decision == "agree")

    def decide(self, person: Person, agreed: bool) -> None:
        self.ask("POST", person.address, {"consent": "yes" if agreed else "no"})
        where = None if person.status == "nobody" else self.store.look(token_of(person))
        if person.status in ("consent", "full") and where is not None:
            person.status = {"consent": "consent", "paused": "consent", "declined": "over"}.get(
                where.status, where.status
            )

    def read(self, person: Person) -> None:
        answer = self.ask("GET", person.address)
        form = Form(answer.text)
        if person.status == "active" and self.state != "paused":
            assert form.is_step, answer.text
        if form.is_step:
            person.current = int(form.hidden["ord"])
            person.pages[person.current] = form
            assert person.current not in person.stored

    @rule(person=people, data=st.data(), fail_the_test=st.booleans())
    def answer(self, person: Person, data: st.DataObject, fail_the_test: bool) -> None:
        """Any page that they have seen, be it the one that is due, an old one, or one sent for the second time."""
        if not person.pages:
            return
        self.send(person, data.draw(st.sampled_from(sorted(person.pages))), fail_the_test=fail_the_test)

    def send(self, person: Person, ord: int, *, fail_the_test: bool) -> None:
        form = person.pages[ord]
        sent = filled(form, lambda asked: "1" if fail_the_test else GIVEN[asked.name])
        due = person.status == "active" and ord == person.current
        assert self.ask("POST", person.address, sent).status_code == 303
        if due:
            person.current = None
            person.stored[ord] = {name: int(sent[f"q-{name}"]) for name in options(form)}
            self.look_at_the_end(person)

    @rule(person=people, pages=st.integers(1, 6))
    def go_on(self, person: Person, pages: int) -> None:
        """A few pages as everybody does them."""
        for _ in range(pages):
            self.decide(person, agreed=True)
            self.read(person)
            if self.state == "paused" or person.current is None or person.status != "active":
                return
            self.send(person, person.current, fail_the_test=False)

    @rule(person=people, wrong=st.sampled_from(["nonce", "missing", "ord", "rubbish", "option"]))
    def answer_wrongly(self, person: Person, wrong: str) -> None:
        if person.current is None:
            return
        sent = filled(person.pages[person.current], lambda asked: GIVEN[asked.name])
        if wrong == "nonce":
            sent["nonce"] = "0" * 32
        elif wrong == "ord":
            sent["ord"] = str(person.current + 1)
        elif wrong == "rubbish":
            sent = {"ord": "\x00", "q-prediction": "'; DROP TABLE response; --", "client": "{" * 1000}
        elif options(person.pages[person.current]):
            name = f"q-{options(person.pages[person.current])[0]}"
            sent = sent | {name: "99"} if wrong == "option" else {k: v for k, v in sent.items() if k != name}
        else:
            return
        self.ask("POST", person.address, sent)

    @rule(person=people, choice=st.sampled_from(["keep", "delete", "neither"]))
    def leave(self, person: Person, choice: str) -> None:
        self.ask("GET", f"{person.address}/leave")
        self.ask("POST", f"{person.address}/leave", {"choice": choice})
        if choice == "delete" and person.status != "nobody":
            person.status, person.stored = "over", {}
        elif choice == "keep" and person.status in ("active", "consent", "full"):
            person.status = "over"

    @rule(seconds=st.sampled_from([1, 60, HOLD + 1]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    # ---- The experimenter

    @rule(
        move=st.sampled_from(
            ["sign in", "guess", "sign out", "open", "paused", "closed", "nonsense", "watch", "export"]
        )
    )
    def experimenter(self, move: str) -> None:
        """One rule for all their moves, or half of all moves would be theirs."""
        if move in ("sign in", "guess"):
            self.sign_in(right=move == "sign in")
        elif move == "sign out":
            assert self.lab.post("/experimenter/sign-out", data=self.lab_form()).status_code == 303
        elif move == "watch":
            watched = self.lab.get("/experimenter/live", headers={"HX-Request": "true"})
            assert watched.status_code in (200, 401), watched.text
        elif move == "export":
            form = self.lab_form()
            exported = self.lab.post("/experimenter/export", data=form | {"format": "csv"})
            assert exported.status_code == (200 if form else 303), exported.text
        else:
            self.set_state(move)

    def sign_in(self, *, right: bool) -> None:
        answer = self.lab.post(
            "/experimenter/sign-in", data={"name": NAME, "password": PASSWORD if right else "wrong password"}
        )
        # 429: nobody tries passwords all day.
        assert answer.status_code in ((303, 429) if right else (403, 429)), answer.text

    def set_state(self, state: str) -> None:
        form = self.lab_form()
        answer = self.lab.post("/experimenter/state", data=form | {"state": state, "sure": "yes"})
        assert answer.status_code == (303 if state != "nonsense" or not form else 400), answer.text
        if form and state != "nonsense":
            self.state = state

    def lab_form(self) -> dict[str, str]:
        """What the forms of the live page hold; nothing for who is not signed in."""
        page = self.lab.get("/experimenter")
        assert page.status_code in (200, 303), page.text
        return {"form": Form(page.text).hidden["form"]} if page.status_code == 200 else {}

    # ---- What must hold

    def look_at_the_end(self, person: Person) -> None:
        """Only the store knows whether an answer was the last one, or the test was failed for good."""
        where = self.store.look(token_of(person))
        assert where is not None
        if where.status in ("complete", "screened-out"):
            person.status = "done" if where.status == "complete" else "over"
            assert (where.completion_code is not None) == (where.status == "complete")

    @invariant()
    def stored_is_what_was_answered(self) -> None:
        if not hasattr(self, "store"):
            return
        query = (
            select(participants.c.token_hash, steps.c.ord, responses.c.positions, responses.c.received_at)
            .join_from(responses, steps)
            .join(participants)
        )
        found: dict[str, dict[int, dict[str, int]]] = {}
        for row in self.store.database.read(lambda connection: connection.execute(query).all()):
            assert row.received_at is not None
            found.setdefault(row.token_hash, {})[row.ord] = row.positions
        for person in self.everybody:
            assert found.pop(token_hash(token_of(person)), {}) == person.stored
        assert found == {}

    def teardown(self) -> None:
        """Everybody who has a place gets to the end of it, however things stand."""
        if not hasattr(self, "store"):
            return
        with self.stack:
            self.store.set_state("open")
            self.state = "open"
            for person in self.everybody:
                while person.status == "active":
                    self.go_on(person, pages=1)
                    self.stored_is_what_was_answered()


def token_of(person: Person) -> str:
    return person.address.rsplit("/", 1)[1]


def options(form: Form) -> list[str]:
    """The questions that have options; what is written in one's own words has no position."""
    return [asked.name for asked in form.questions if asked.options]


TestEverythingAtOnce = EverythingAtOnce.TestCase
TestEverythingAtOnce.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
