"""The record of an answer: one builder, whether the answer is read from a database or simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median, stdev
from typing import Literal, TypedDict, get_args

from verax.studies.definition.screen import Meaning, Screen
from verax.studies.definition.study import Study
from verax.studies.design import shown_screen
from verax.studies.protocol.contract import make_protocol

# Of the server's seconds beside the browser's: what a page may take on its way, and how long a page that was displayed
# once may lie unseen. More than a day is no time of an answer.
SLACK, AWAY, DAY = 2.0, 600.0, 24 * 3600.0

Record = dict[str, object]
# By question: what the answers that a page offered mean, in the order in which they stood.
Offered = Mapping[str, list[str]]


class StepColumns(TypedDict):
    """The columns that all records of a step have in common, as far as the study does not know them."""

    participant: str
    bot: bool
    design_row: int | None
    phase: str
    step: int
    number_in_phase: int
    item: str | None
    condition: str | None
    late: bool
    seconds: float | None
    client_ms: float | None
    visible_ms: float | None
    blurs: int | None
    views: int
    minute: float | None


def is_doubtful(seconds: float | None, client_ms: float | None, views: int) -> bool:
    """Whether the server's time of an answer cannot be right, as after its clock was set.

    It is negative, more than a day, less than the browser counted, or far more although the page was displayed once.
    """
    if seconds is None:
        return False
    browser = None if client_ms is None else client_ms / 1000
    return (
        not 0 <= seconds <= DAY
        or (browser is not None and browser > seconds + SLACK)
        or (browser is not None and views == 1 and seconds > browser + AWAY)
    )


class ResponseRecords:
    """Makes the records of answers to a study; the columns are `verax.studies.answers.schema.RESPONSES`.

    What the study says about a phase, an item and an answer is looked up once, since there may be a million answers.
    """

    def __init__(self, study: Study) -> None:
        protocol = make_protocol(study.spec.protocol)
        self.scored = protocol.scored
        self._kinds = {key: phase.kind for key, phase in study.phases.items()}
        self._questions = {
            key: [question.name for question in screen.questions] for key, screen in study.screens.items()
        }
        # Label, prediction, whether it is right, prediction of the variant, whether it flips.
        self._items: dict[str | None, tuple[int | bool | None, ...]] = {None: (None,) * 5}
        for item in study.items.values():
            variant = (None, None) if item.variant is None else (item.variant.prediction, item.flips)
            self._items[item.id] = (item.label, item.prediction, item.correct, *variant)
        self.offered = cache(lambda screen, order: _offered(shown_screen(study, screen, order)))
        self._score = cache(lambda item, meaning: protocol.score(study.items[item], meaning))

    def answered(
        self,
        step: StepColumns,
        question: str,
        meaning: Meaning,
        position: int | None,
        offered: list[str] | None = None,
        *,
        withheld: bool = False,
    ) -> Record:
        """An answer to a question; a text that is withheld was written, but is not in the record."""
        item = step["item"]
        is_scored = self._kinds[step["phase"]] == "test" and item is not None and question == self.scored
        return self._record(
            step,
            "closed",
            question,
            answer=None if withheld else written(meaning),
            position=position,
            offered=offered,
            score=self._score(item, meaning) if is_scored else None,
            withheld=withheld,
        )

    def question_of(self, screen: str) -> str | None:
        """The question under which the expiry of a screen is recorded: the scored one, or else its first."""
        questions = self._questions[screen]
        return self.scored if self.scored in questions else next(iter(questions), None)

    def expired(self, step: StepColumns, question: str | None) -> Record:
        """The one record of a step whose time was over."""
        unanswered: StepColumns = {
            **step,
            "late": True,
            "seconds": None,
            "client_ms": None,
            "visible_ms": None,
            "blurs": None,
        }
        return self._record(unanswered, "expired", question)

    def _record(
        self,
        step: StepColumns,
        state: str,
        question: str | None,
        *,
        answer: str | None = None,
        position: int | None = None,
        offered: list[str] | None = None,
        score: float | None = None,
        withheld: bool = False,
    ) -> Record:
        label, prediction, correct, variant, flips = self._items[step["item"]]
        return {
            "participant": step["participant"],
            "bot": step["bot"],
            "design_row": step["design_row"],
            "phase": step["phase"],
            "phase_kind": self._kinds[step["phase"]],
            "step": step["step"],
            "number_in_phase": step["number_in_phase"],
            "item": step["item"],
            "condition": step["condition"],
            "question": question,
            "answer": answer,
            "position": position,
            "offered": offered,
            "score": score,
            "label": label,
            "prediction": prediction,
            "model_correct": correct,
            "variant_prediction": variant,
            "flips": flips,
            "state": state,
            "late": step["late"],
            "withheld": withheld,
            "seconds": step["seconds"],
            "doubtful": is_doubtful(step["seconds"], step["client_ms"], step["views"]),
            "client_ms": step["client_ms"],
            "visible_ms": step["visible_ms"],
            "blurs": step["blurs"],
            "views": step["views"],
            "minute": step["minute"],
        }


def _offered(screen: Screen) -> Offered:
    return {
        question.name: [str(written(option.means)) for option in question.options]
        for question in screen.questions
        if question.options
    }


def written(meaning: Meaning | None) -> str | None:
    """What an answer means, as text; a number in digits."""
    if isinstance(meaning, float) and meaning.is_integer():
        return str(int(meaning))
    return None if meaning is None else str(meaning)


Sign = Literal["hidden-question", "no-pointer-or-key", "too-quick-to-react", "even-times", "pasted"]
SIGNS: tuple[Sign, ...] = get_args(Sign)

# Answered pages before times or the lack of a pointer say something.
FEWEST_PAGES = 5
# Nobody sees a page and answers it in so many milliseconds.
QUICKEST = 150
# The spread of the logarithm of the times of pages; people's is about 0.5.
EVEN = 0.08
# Characters of an answer in one's own words that nobody typed: at least so many, and with fewer keys than a quarter.
PASTED_TEXT, TYPED_SHARE = 40, 0.25
# The field of a page that people do not see.
HIDDEN_FIELD = "also"


def machine_signs(pages: Sequence[Mapping[str, float]]) -> list[Sign]:
    """The signs in what the browser measured on a participant's answered pages.

    Args:
        pages: what was sent of each: times in milliseconds, counts, and 1 under ``hidden`` where the question that
            people do not see was answered.
    """
    found: set[Sign] = set()
    if any(page.get("hidden") for page in pages):
        found.add("hidden-question")
    answered = [page for page in pages if "submitted" in page and "first_input" in page]
    if len(answered) >= FEWEST_PAGES:
        if not any(page.get("pointer") for page in pages):
            found.add("no-pointer-or-key")
        if median(page["first_input"] - page.get("shown", 0.0) for page in answered) < QUICKEST:
            found.add("too-quick-to-react")
        times = [page["submitted"] - page.get("shown", 0.0) for page in answered]
        if len(times) >= 2 * FEWEST_PAGES and stdev(math.log(max(1.0, time)) for time in times) < EVEN:
            found.add("even-times")
    for page in pages:
        written = page.get("written", 0.0)
        if written >= PASTED_TEXT and page.get("pastes") and page.get("typed", 0.0) < TYPED_SHARE * written:
            found.add("pasted")
    return [sign for sign in SIGNS if sign in found]
