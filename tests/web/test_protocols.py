"""In each protocol, participants go from the link to the completion code with a real browser, on a desk and a phone."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from real_parts import axe_violations, new_context
from verax.studies.build.build import build_study
from verax.studies.definition.screen import with_names
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import DesignRow, OneCondition, Rounds, Study
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.store import Store
from verax.studies.store.tables import participants, responses, steps
from web.walk import Asked, walk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

EXAMPLES = Path(__file__).parents[2] / "examples"
# The ready specs with less of everything: the data, the items, LIME's samples. SHAP is left out, since it loads slowly.
FEW = {
    "forward": {"learning": 4, "test": 4},
    "counterfactual": {"test": 8},
    "user-test": {"learning": 4, "test": 4, "changed": 8},
    "reverse-turing": {"training": 1, "evaluation": 2},
    "model-choice": {"test": 4, "items_per_participant": 4},
    "class-from-evidence": {"test": 4, "items_per_participant": 4, "threshold": 0.8},
    "uncertain-case": {"test": 4, "items_per_participant": 4},
}
INPUTS = 2000
SAMPLES = 100

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# One after the other they get different rows of the design, and so different conditions.
VISITORS = {"desk": DESK, "phone": PHONE, "no script": DESK | {"java_script_enabled": False}}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Callable[[str], Study]:
    """Builds a reduced example."""

    def build(name: str) -> Study:
        options = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
        options["protocol"] |= FEW[name]
        options["source"] = {"limit": INPUTS}
        options["devices"] = "any"  # phones too
        options["exclusion"] = []  # a browser is fast, and places of excluded people are offered again
        options["conditions"] = [one for one in options["conditions"] if one["name"] != "shap"]
        for condition in options["conditions"]:
            if condition.get("explainer") == "lime":
                condition["parameters"] = {"samples": SAMPLES}
        return build_study(make_study_spec(options), "", tmp_path_factory.mktemp(name))

    return build


# ---- What a participant does


class Answers:
    """Answers whatever is asked, the screening test rightly and the rest in turn; and keeps what was chosen.

    Attributes:
        chosen: question and answer as they stood on the page, in order.
    """

    def __init__(self, study: Study) -> None:
        self.chosen: list[tuple[str, str]] = []
        self._right = study.screening.answers if study.screening else {}

    def __call__(self, asked: Asked) -> str:
        """The place of the answer, or a text."""
        if not asked.options:
            self.chosen.append((asked.name, "By the strong words."))
            return "By the strong words."
        place = int(self._right.get(asked.name, 1 + len(self.chosen) % len(asked.options)))
        self.chosen.append((asked.name, asked.options[place - 1]))
        return str(place)


def failure(request: Request) -> str:
    """What went wrong with a request; empty if the browser gave it up itself, as its icon when the page is left."""
    return "" if request.failure == "net::ERR_ABORTED" else f"{request.failure}: {request.url}"


@contextmanager
def visiting(chromium: Browser, address: str, settings: dict[str, Any]) -> Iterator[Page]:
    """A page in a profile of its own; complaints of the browser and requests to others fail the test."""
    context = new_context(chromium, **settings)
    complaints: list[str] = []
    context.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("requestfailed", lambda request: complaints.append(failure(request)))
    asked_for: set[str] = set()
    context.on("request", lambda request: asked_for.add(request.url))
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()
    assert [complaint for complaint in complaints if complaint] == []
    assert [url for url in asked_for if not url.startswith(f"{address}/")] == []
    assert len(asked_for) > 2, "nothing was listened to"


class Looks:
    """Looks at every page of one walk.

    Attributes:
        looked_at: the sorts of screens that axe has looked at; shared by the walks of a study.
    """

    def __init__(self, store: Store, looked_at: set[str], name: str, *, script: bool) -> None:
        self.looked_at = looked_at
        self._store, self._name, self._script, self._pages = store, name, script, 0

    def __call__(self, page: Page) -> None:
        """The page fits its window, and axe is content."""
        where = self._store.look(page.url.rsplit("/", 1)[1])
        self._pages += 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.title()
        sort = "" if where is None or where.phase is None else sort_of(where.phase.kind, where.step.screen)
        if self._script and sort and sort not in self.looked_at:
            self.looked_at.add(sort)
            assert axe_violations(page) == [], page.title()
        if folder := os.environ.get("VERAX_SHOTS"):  # to be looked at
            page.screenshot(path=f"{folder}/{self._name} {self._pages:03d}.png", full_page=True)


def sort_of(kind: str, screen: str) -> str:
    """The sort of a screen: the kind of its phase, and what is done there unless it only says something."""
    return kind if kind == "instructions" else f"{kind}, {screen.partition(':')[0]}"


# ---- What must be stored then


def one_of(store: Store, code: str) -> Any:
    """The participant with a completion code."""
    look = select(participants).where(participants.c.completion_code == code)
    return store.database.read(lambda connection: connection.execute(look).one())


def ways(store: Store, participant: int) -> list[Any]:
    """All steps of a participant in order; those that were answered have answers."""
    look = (
        select(steps, responses.c.answers, responses.c.late)
        .outerjoin_from(steps, responses)
        .where(steps.c.participant_id == participant)
        .order_by(steps.c.ord)
    )
    return store.database.read(lambda connection: connection.execute(look).all())


def to_be_tested(study: Study, row: DesignRow) -> Counter[tuple[str, str]]:
    """How often each item must be answered in which condition, from the design alone."""
    cells = row.cells
    if isinstance(cells, OneCondition):  # the same items before and after
        tested = [item.id for item in study.items.values() if item.role in ("test", "changed")]
        return Counter({(item, cells.condition): 2 for item in tested})
    if isinstance(cells, Rounds):
        return Counter(
            (item.id, one.condition)
            for one in cells.rounds
            for item in study.items.values()
            if item.role == "evaluation" and item.group == one.group
        )
    return Counter(cells.conditions.items())


def check_answers(study: Study, names: list[str], way: list[Any], chosen: list[tuple[str, str]]) -> None:
    """What is stored is what the chosen words mean, in the participant's own names of the classes."""
    stored = [(row, question) for row in way for question in study.screens[row.screen].questions]
    assert len(stored) == len(chosen)
    for (row, question), (name, words) in zip(stored, chosen, strict=True):
        assert name == question.name
        meanings = {with_names(option.label, names): option.means for option in question.options}
        assert row.answers[name] == (meanings[words] if meanings else words)


def check_complete(study: Study, store: Store, code: str, chosen: list[tuple[str, str]]) -> DesignRow:
    """Every step is answered once, and every item of the design row is; the row of this participant."""
    who = one_of(store, code)
    assert who.status == "complete"
    row, way = study.rows[who.design_row], ways(store, who.id)
    planned = participant_steps(study, row, who.number)
    assert [(one.phase, one.screen, one.item, one.condition) for one in way] == [
        (step.phase, step.screen, step.item, step.condition) for step in planned
    ]
    # Who passes the screening test at once has neither its instructions nor its questions again.
    skipped = [number for number, one in enumerate(way) if one.state == "skipped"]
    assert skipped == list(range(2, 2 * study.screening.attempts))
    answered = [one for one in way if one.state == "closed"]
    assert len(answered) == sum(one.answers is not None for one in way) == len(way) - len(skipped)
    assert not any(one.late for one in answered)
    check_answers(study, who.names, answered, chosen)
    tests = [one for one in answered if study.phases[one.phase].kind == "test"]
    scored = make_protocol(study.spec.protocol).scored
    for one in tests:
        asked = next(question for question in study.screens[one.screen].questions if question.name == scored)
        assert one.answers[scored] in {option.means for option in asked.options}
    assert Counter((one.item, one.condition) for one in tests) == to_be_tested(study, row)
    return row


@pytest.mark.parametrize("name", FEW)
def test_from_the_link_to_the_completion_code(name, built, serve, chromium):
    study = built(name)
    served = serve(study)
    rows, looked_at = set(), set()
    for visitor, settings in VISITORS.items():
        answers = Answers(study)
        look = Looks(
            served.store, looked_at, f"{name}, {visitor}", script=settings.get("java_script_enabled", True)
        )
        with visiting(chromium, served.address, settings) as page:
            code = walk(page, answers, look=look).code
            assert code
        rows.add(check_complete(study, served.store, code, answers.chosen).number)
    assert len(rows) == min(len(VISITORS), len(study.rows)), "two got the same row while another was empty"
    assert {sort.split(",")[0] for sort in looked_at} == {phase.kind for phase in study.phases.values()}
