"""A tiny study made by hand: two design rows, eleven steps (two are skipped after a pass), every kind of question.

`small_study()` is ready to be served; nothing is trained. Its protocol is found as "small_study:Small".
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from verax.studies.definition.screen import (
    Bars,
    Evidence,
    Facts,
    Option,
    Passage,
    Question,
    Screen,
    Token,
    class_mark,
)
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.spec_tables import ScreeningQuestion
from verax.studies.definition.study import DesignRow, Item, OwnCells, Phase, Step, Study
from verax.studies.protocol.common_steps import framed_phases, framed_screens, screening
from verax.studies.protocol.contract import Briefing, Material, Protocol, make_protocol
from verax.studies.store import ParticipantView, Store

CLASS_NAMES = ("bad", "good")
CLASSES = tuple(Option(class_mark(number), number) for number in range(2))
PREDICTION = Question("prediction", "What does the model say?", "choice", CLASSES)
RATING = Question(
    "rating",
    "Does this explanation show me why the system thought what it did?",
    "scale",
    tuple(Option(str(point), point) for point in range(1, 8)),
    low="not at all",
    high="completely",
)
REASON = Question("reason", "Why did you take part?", "text")
CHECKS = (
    ScreeningQuestion(question="What do you predict?", answers=["The weather", "The model"], correct=2),
    ScreeningQuestion(question="May you look back?", answers=["No", "Yes", "Twice"], correct=1),
)
GIVEN = {
    "screening-1": "2",
    "screening-2": "1",
    "prediction": "2",
    "rating": "7",
    "reason": "Out of curiosity.",
    "strategy": "By heart.",
}
FAILED = {"screening-1": "1", "screening-2": "1"}


class Small(Protocol):
    """The two items in the order of the row, the second beside its explanation; so many design rows."""

    strategy: bool = True
    design: int = 2
    with_items: bool = True

    def items(self, source) -> list[Item]:
        return list(ITEMS)

    def phases(self, material) -> tuple[Phase, ...]:
        timing = material.spec.timing
        session = None if timing.session_minutes is None else timing.session_minutes * 60
        return (
            Phase("learning", "Learning", "learning"),
            Phase("test", "Your predictions", "test", session, timing.item_seconds, timing.late),
            Phase("about", "About you", "questions"),
        )

    def screens(self, material) -> dict[str, Screen]:
        return SCREENS

    def rows(self, material) -> tuple[DesignRow, ...]:
        """A Latin square: in each row another condition stands beside each group of items."""
        square = [[(row + group) % self.design for group in range(self.design)] for row in range(self.design)]
        return tuple(
            DesignRow(number, material.spec.participants, OwnCells(conditions=conditions))
            for number, conditions in enumerate(square)
        )

    def steps(self, study, row, seed) -> tuple[Step, ...]:
        if not self.with_items:
            return ()
        first, second = ("i001", "i002") if row.number % 2 == 0 else ("i002", "i001")
        condition = study.spec.conditions[row.number % 2].name
        return (
            Step("learning", "learning", "i000", "none"),
            Step("test", f"{first}.plain", first, "none"),
            Step("test", f"{second}.explained", second, condition),
            Step("test", "feedback", second, condition),
            Step("about", "about"),
        )

    def briefing(self, material, audience) -> Briefing:
        said = ("You read reviews and say what a model says of them.", "- Take your time.", "- Do not guess.")
        return Briefing(said, CHECKS)

    def score(self, item, meaning) -> float:
        return float(item.prediction == meaning)

    def names(self, study, number) -> tuple[str, ...]:
        return ("A", "B") if number % 2 else ("B", "A")


def small_study(
    *,
    rows: int = 2,
    target: int = 2,
    timing: dict[str, Any] | None = None,
    entry: Literal["link", "code", "prolific", "mturk"] = "link",
    recruiting: dict[str, Any] | None = None,
    retention_days: int | None = None,
    attempts: int = 2,
    with_items: bool = True,
    title: str = "A small study",
    name: str = "",
    answer_order: str = "fixed",
    method: str = "excludes",
    exclusion: list[dict[str, Any]] | None = None,
    questions: list[dict[str, Any]] | None = None,
    quotas: list[dict[str, Any]] | None = None,
) -> Study:
    """The study, with a hash of its own for every choice; `save_study` works on it too.

    Args:
        rows: of the design.
        target: participants that shall complete each row.
        timing: as in a spec: item_seconds, session_minutes and late of the test phase, hold_minutes.
        entry: by link or by code, or from a platform.
        recruiting: as in a spec: where people go at the end.
        retention_days: as in a spec.
        attempts: at the screening test; 0 leaves it out.
        with_items: False leaves nothing but the instructions, the screening test and the debriefing.
        title: of the study.
        name: of the study, where its title is not its own.
        answer_order: as in a spec; the same for all unless a test asks for another, so that places are known.
        method: as under "screening" of a spec: "teaches" has the test before a row of the design is given.
        exclusion: as in a spec.
        questions, quotas: of one's own, as in a spec.
    """
    spec = make_study_spec(
        {
            "title": title,
            "name": name,
            "dataset": "by-hand",
            "protocol": {
                "name": "small_study:Small",
                "design": rows,
                "with_items": with_items,
                "strategy": with_items,
            },
            "conditions": [{"name": "none"}, {"name": "shown", "explainer": "lime"}],
            "participants": target,
            "timing": timing or {},
            "entry": entry,
            "recruiting": recruiting or {},
            "exclusion": exclusion or [],
            "questions": questions or [],
            "quotas": quotas or [],
            "retention_days": retention_days,
            "answer_order": answer_order,
            "screening": {"pass_mark": 1, "attempts": attempts, "method": method} if attempts else None,
        }
    )
    material = Material(spec=spec, kind="text", class_names=CLASS_NAMES, items=ITEMS)
    protocol = make_protocol(spec.protocol)
    study = Study(
        spec=spec,
        kind=material.kind,
        class_names=material.class_names,
        items={item.id: item for item in ITEMS},
        phases={
            phase.key: phase for phase in (*framed_phases(material, protocol), *protocol.phases(material))
        },
        rows=protocol.rows(material),
        screens=framed_screens(material, protocol) | protocol.screens(material),
        screening=screening(material, protocol),
    )
    return replace(study, hash=hashlib.sha256(repr((spec, study.phases, study.rows)).encode()).hexdigest())


def answers(screen: Screen) -> dict[str, str]:
    """Good answers to all questions of a screen, as a page would send them."""
    given: dict[str, str] = {}
    for question in screen.questions:
        places = range(1, len(question.options) + 1)
        match question.kind:
            case "several":
                given[f"{question.name}.1"] = "1"
            case "ranking":
                given |= {f"{question.name}.{place}": str(place) for place in places}
            case "number":
                given[question.name] = "30"
            case _:
                given[question.name] = GIVEN.get(question.name, "1")
    return given


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def begin(store: Store) -> str:
    """The token of somebody who consented."""
    token = store.enter()
    store.consent(token, True)
    return token


def do_step(store: Store, token: str, given: dict[str, str] | None = None) -> ParticipantView:
    """Shows the step that is due and answers it; what was shown."""
    where = store.show(token)
    assert where is not None
    assert where.screen is not None
    submitted = store.submit(
        token, where.ord, where.nonce, answers(where.screen) if given is None else given, {}
    )
    assert submitted.stored
    return where


def walk_to(store: Store, token: str, phase: str) -> ParticipantView:
    """Answers everything before a phase; where its first step is shown."""
    while (where := store.look(token)) is not None and where.phase is not None and where.phase.key != phase:
        do_step(store, token)
    shown = store.show(token)
    assert shown is not None
    return shown


def finish(store: Store, token: str) -> ParticipantView:
    """Answers everything that is left."""
    while (where := store.look(token)) is not None and where.status == "active":
        do_step(store, token)
    assert where is not None
    return where


def _item(number: int, role: str, text: str, label: int) -> Item:
    return Item(
        f"i{number:03d}", role, text, label, prediction=1 - label, probabilities=(0.3, 0.7), dataset="by-hand"
    )


def _passage(text: str, levels: tuple[int, ...] = ()) -> Passage:
    tokens = []
    for place, word in enumerate(text.split()):
        tokens += [Token(word, level=levels[place] if place < len(levels) else 0), Token(" ", word=False)]
    return Passage(tuple(tokens), title="A review", legend="Darker words matter more." if levels else "")


ITEMS = (
    _item(0, "learning", "A warm and clever film.", 1),
    _item(1, "test", "A dull plot with <b>no</b> story.", 0),
    _item(2, "test", "Funny, moving & never slow.", 1),
)

SCREENS: dict[str, Screen] = {
    "learning": Screen(
        "Look at this review",
        (
            _passage("A warm and clever film."),
            Facts((("True label", class_mark(1)), ("The model says", class_mark(1)))),
        ),
    ),
    "i001.plain": Screen("Predict", (_passage("A dull plot with <b>no</b> story."),), (PREDICTION,)),
    "i002.plain": Screen("Predict", (_passage("Funny, moving & never slow."),), (PREDICTION,)),
    "i001.explained": Screen(
        "Predict", (_passage("A dull plot with <b>no</b> story.", (0, 4, 2, 0, 3, 1)),), (PREDICTION, RATING)
    ),
    "i002.explained": Screen(
        "Predict", (_passage("Funny, moving & never slow.", (4, 3, 0, 2, 1)),), (PREDICTION, RATING)
    ),
    "feedback": Screen(
        "The answer",
        (
            Facts((("The model says", class_mark(0)),)),
            Bars(((class_mark(0), 0.7), (class_mark(1), 0.3)), title="How sure it is"),
            Evidence(("dull", "no story"), title=f"Evidence for {class_mark(0)}"),
        ),
        echo="prediction",
    ),
    "about": Screen("About you", questions=(REASON,)),
}
