"""The page of a step: its blocks, what its template is told of a place in the study, the form that comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from math import ceil, floor
from types import MappingProxyType

from verax.phrases import language_spoken
from verax.phrases import say as say_phrase
from verax.studies.answers.response_record import HIDDEN_FIELD
from verax.studies.definition.screen import (
    Bars,
    Block,
    Evidence,
    Excerpt,
    Facts,
    Grid,
    Lines,
    Passage,
    Prose,
    Question,
    Quote,
    Row,
    Screen,
    WordedExplanation,
    WordedPart,
    with_names,
)
from verax.studies.definition.study import Phase
from verax.studies.design import Same
from verax.studies.display.markup import literal
from verax.studies.store import ParticipantView
from verax.studies.store.participant.posted import FIELD, LONGEST_LINE, part_of
from verax.text import always_signed
from verax.web.pages import Part
from verax.web.requests import Form

say = partial(say_phrase, "participant")
# So many blocks stand side by side where the window is wide enough.
COLUMNS = 3


@dataclass(frozen=True)
class Bar:
    """A number beside a name; ``length`` in per cent of the longest possible bar."""

    name: str
    number: str
    length: float
    sign: int


@dataclass(frozen=True)
class Chart:
    """Bars as they are drawn; ``shares`` are probabilities of classes."""

    bars: tuple[Bar, ...]
    title: str
    legend: str
    shares: bool = False

    type: str = "bars"


Drawn = Prose | Passage | Row | Facts | Evidence | Quote | WordedExplanation | Chart


def drawn(block: Block, names: Sequence[str]) -> Drawn:
    """The block in one participant's words. The words of the input itself stay as they are."""
    title = with_names(block.title, names)
    match block:
        case Prose():
            literally = [literal(name) for name in names]
            return Prose(tuple(with_names(text, literally) for text in block.paragraphs), title)
        case Passage() | Row() | Quote():
            return replace(block, title=title, legend=with_names(block.legend, names))
        case WordedExplanation():
            parts = tuple(_telling(part, names) for part in block.parts)
            return replace(block, parts=parts, title=title, legend=with_names(block.legend, names))
        case Facts():
            pairs = tuple((with_names(name, names), with_names(value, names)) for name, value in block.pairs)
            return Facts(pairs, title)
        case Evidence():
            return replace(block, title=title)
        case Bars():
            return _chart(block, title, names)


def parted(blocks: Sequence[Drawn]) -> tuple[list[Drawn], list[Drawn]]:
    """What the model said, and the rest: outputs stand above what explains them."""
    outputs = [block for block in blocks if is_output(block)]
    return outputs, [block for block in blocks if not is_output(block)]


def is_output(block: Drawn) -> bool:
    """Whether a block says what the model said: its answer, or how probable it finds each."""
    if isinstance(block, Chart):
        return block.shares
    return isinstance(block, Facts)


def side_by_side(blocks: Sequence[Drawn]) -> Iterator[tuple[Drawn, ...]]:
    """The blocks in order; inputs, and what explains them, are read together and stand together."""
    for spoken, run in groupby(blocks, key=lambda block: isinstance(block, Prose)):
        waiting = list(run)
        many = 1 if spoken else COLUMNS
        for first in range(0, len(waiting), many):
            yield tuple(waiting[first : first + many])


def _telling(part: WordedPart, names: Sequence[str]) -> WordedPart:
    """A part of an explanation with the names of classes wherever the study speaks."""
    match part:
        case Lines():
            return Lines(with_names(part.text, names), with_names(part.heading, names))
        case Grid():
            rows = tuple(tuple(with_names(cell, names) for cell in row) for row in part.rows)
            return Grid(part.header, rows)
        case Excerpt():
            return part


def _chart(block: Bars, title: str, names: Sequence[str]) -> Chart:
    # Names with a class in them stand for probabilities; features are never written with a class mark.
    shares = all(with_names(name, names) != name for name, _ in block.pairs)
    longest = 1.0 if shares else max((abs(value) for _, value in block.pairs), default=0.0)
    bars = tuple(
        Bar(
            name=with_names(name, names),
            number=_percent(value) if shares else always_signed(value),
            length=round(100 * abs(value) / longest, 1) if longest else 0.0,
            sign=0 if shares else (value > 0) - (value < 0),
        )
        for name, value in block.pairs
    )
    return Chart(bars, title, with_names(block.legend, names), shares)


def _percent(share: float) -> str:
    return say("percent", share=f"{100 * share:.0f}")


# Answers stand in a row if none is longer; a few long ones are read better one below the other, and many would push
# each other out of sight.
ROW_LABEL = 24
LONG_ROW_LABEL = 80
MANY = 4
ROW_OPTIONS = 7
# Keys 1 to 9 answer; a longer list has none.
KEYS = 9
# So many questions stay in sight together, below whatever scrolls, if their answers stand in rows; more are asked one
# after the other.
DOCKED = 2


@dataclass(frozen=True)
class ShownOption:
    """One answer as drawn.

    Attributes:
        position: its place in the list, from 1: all that the form sends.
        chosen: whether it was chosen before the page came back.
        key: the key that chooses it.
        described_by: the element with the words at this end of a scale.
        field: of the form, where each answer has its own.
        rank: the place that it was given before the page came back.
    """

    position: int
    label: str
    chosen: bool
    key: str
    described_by: str
    field: str = ""
    rank: str = ""


@dataclass(frozen=True)
class ShownQuestion:
    """A question as drawn.

    Attributes:
        id: of its element on the page.
        field: of the form.
        layout: "row", "stack" or "points" of a choice; "several", "ranking", "number", "line" or "text".
        matrix: its place in a table of questions: "first", "line", or nothing.
        bounds: the lowest and the highest number, as written.
        lengthy: whether answers in a row are so long that they need a wide window for it.
        text: what was written before the page came back.
        error: what is missing.
        focus: whether the page opens here.
    """

    id: str
    field: str
    prompt: str
    layout: str
    lengthy: bool
    choices: tuple[ShownOption, ...]
    low: str
    high: str
    required: bool
    text: str
    error: str
    focus: bool
    matrix: str = ""
    bounds: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Progress:
    """How far the participant is: the line at the top, and the words beside it."""

    done: int
    steps: int
    words: str


@dataclass(frozen=True)
class Remaining:
    """How much time is left, in words, and how long the study takes as a whole."""

    words: str
    minutes: float


@dataclass(frozen=True)
class Timer:
    """The limit in words, what it ends, for how long it runs still, and whether answers count after it."""

    limit: str
    what: str
    left: str
    seconds: float
    closes: bool


def step_page(
    where: ParticipantView,
    given: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    minutes: float | None = None,
) -> dict[str, object]:
    """The page of the step where the participant is.

    Args:
        where: the place, with its screen.
        given: answers by question that came with an incomplete form.
        errors: what is missing, by question.
        minutes: how long the study takes; None says nothing of the time that is left.
    """
    screen = where.screen
    assert screen is not None
    content = _content(Same(screen), tuple(where.names), language_spoken())
    if given or errors:
        content = {**content, **_asked(screen, where.names, given or {}, errors or {})}
    return {
        **content,
        "echo": with_names(where.echo, where.names) if where.echo else "",
        "ord": where.ord,
        "nonce": where.nonce,
        "tally": where.tally,
        "progress": progress(where),
        "remaining": None if minutes is None else remaining(where, minutes),
        "timer": timer(where),
        "hidden_field": HIDDEN_FIELD if where.hidden_question else "",
    }


# Everybody with the same names and language sees the same of a screen, and drawing it takes longer than the rest.
@lru_cache(maxsize=1024)
def _content(of: Same[Screen], names: tuple[str, ...], language: str) -> Mapping[str, object]:  # noqa: ARG001 (spoken)
    """What a screen shows and asks, whoever sees it."""
    screen = of.it
    outputs, others = parted([drawn(block, names) for block in screen.blocks])
    groups = tuple(side_by_side(others))
    content = {
        "heading": with_names(screen.heading, names),
        "outputs": Part("blocks.html", "outputs_of", outputs),
        "groups": Part("blocks.html", "shown", groups),
        "alone": sum(len(group) for group in groups if not isinstance(group[0], Prose)) == 1,
        "columns": max((len(group) for group in groups), default=1),
        "survey": screen.survey,
        "button": with_names(screen.button, names),
        **_asked(screen, names, {}, {}),
    }
    return MappingProxyType(content)


def _asked(
    screen: Screen, names: Sequence[str], given: Mapping[str, str], errors: Mapping[str, str]
) -> dict[str, object]:
    """What a screen asks, with what came of it so far."""
    questions = _shown_question(screen.questions, names, given, errors)
    heading = with_names(screen.heading, names)
    return {
        "questions": questions,
        "asked": Part("questions.html", "asked", questions, heading, LONGEST_LINE),
        "long": screen.survey
        or len(questions) > DOCKED
        or (len(questions) > 1 and any(one.layout == "stack" for one in questions)),
    }


def answers(form: Form) -> dict[str, str]:
    """The answers by question: places in the lists of options, and texts."""
    return {field.removeprefix(FIELD): value for field, value in form.items() if field.startswith(FIELD)}


def client_times(form: Form) -> dict[str, object]:
    """What the browser measured; nothing where it has no script or sends something else.

    And whether the question was answered that people do not see.
    """
    try:
        measured = json.loads(form.get("client", ""))
    except (ValueError, RecursionError):
        measured = {}
    known = measured if isinstance(measured, dict) else {}
    return {**known, "hidden": 1} if form.get(HIDDEN_FIELD, "").strip() else known


def step_number(form: Form) -> int:
    """The step that the form belongs to; -1, which no step has, where it does not say."""
    number = form.get("ord", "")
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else -1


def progress(where: ParticipantView) -> Progress:
    """The progress line, such as "Part 2 of 4, item 7 of 16: Learning"; the title alone where it is in no part."""
    phase = where.phase
    assert phase is not None
    title = with_names(phase.title, where.names)
    if where.phase_number == 0:
        return Progress(where.ord - 1, where.steps, title)
    unit = "item" if where.step is not None and where.step.item is not None else "page"
    # Nobody knows beforehand how many pages a screening test takes: who passes is done with it.
    counted = where.steps_in_phase > 1 and phase.kind != "screening"
    words = say(
        "progress",
        part=where.phase_number,
        parts=where.phases,
        unit=unit if counted else "none",
        number=where.number_in_phase,
        steps=where.steps_in_phase,
        title=title or "none",
    )
    return Progress(where.ord - 1, where.steps, words)


def remaining(where: ParticipantView, minutes: float) -> Remaining:
    """The time that is left, in proportion to the steps; the script goes by the participant's own pace meanwhile."""
    left = minutes * (where.steps - where.ord + 1) / max(1, where.steps)
    return Remaining(say("minutes-left", minutes=0 if left < 1 else ceil(left)), round(minutes, 1))


def timer(where: ParticipantView) -> Timer | None:
    """The timer of a limited page."""
    if where.seconds_left is None or where.phase is None:
        return None
    seconds = max(0.0, where.seconds_left)
    left = say("time-left", time=duration(seconds)) if seconds else say("time-over", what=where.limited)
    return Timer(_limit(where.phase), where.limited, left, round(seconds, 1), where.phase.late == "close")


def duration(seconds: float) -> str:
    """A time as people say it: "45 seconds", "5 minutes", "3 minutes 20 seconds"."""
    minutes, rest = divmod(floor(seconds), 60)
    parts = "seconds" if not minutes else "both" if rest else "minutes"
    return say("duration", parts=parts, minutes=minutes, seconds=rest)


def _limit(phase: Phase) -> str:
    part, page = (
        "" if seconds is None else duration(seconds)
        for seconds in (phase.session_seconds, phase.item_seconds)
    )
    return say(
        "time-limit", limits="both" if part and page else "part" if part else "page", part=part, page=page
    )


def _shown_question(
    questions: Sequence[Question], names: Sequence[str], given: Mapping[str, str], errors: Mapping[str, str]
) -> tuple[ShownQuestion, ...]:
    first_wrong = next((question.name for question in questions if question.name in errors), None)
    return tuple(
        ShownQuestion(
            id=f"question-{number}",
            field=FIELD + question.name,
            prompt=with_names(question.prompt, [literal(name) for name in names]),
            layout=_layout(question, names),
            lengthy=_longest(question, names) > ROW_LABEL,
            choices=_choices(question, f"question-{number}", names, given),
            low=with_names(question.low, names),
            high=with_names(question.high, names),
            required=question.required,
            text=given.get(question.name, "") if question.in_own_words or question.kind == "number" else "",
            error=errors.get(question.name, ""),
            focus=question.name == first_wrong,
            matrix="" if not question.in_matrix else "first" if number == 1 else "line",
            bounds=(_bound(question.lowest), _bound(question.highest)),
        )
        for number, question in enumerate(questions, start=1)
    )


def _bound(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _layout(question: Question, names: Sequence[str]) -> str:
    if not question.one_of_them:
        return question.kind
    longest = _longest(question, names)
    if question.kind == "scale" and longest <= 3:
        return "points"
    many = len(question.options)
    longest_in_row = LONG_ROW_LABEL if many >= MANY else ROW_LABEL
    return "row" if longest <= longest_in_row and many <= ROW_OPTIONS else "stack"


def _longest(question: Question, names: Sequence[str]) -> int:
    return max((len(with_names(option.label, names)) for option in question.options), default=0)


def _choices(
    question: Question, id: str, names: Sequence[str], given: Mapping[str, str]
) -> tuple[ShownOption, ...]:
    last = len(question.options)
    ends = {1: f"{id}-low" if question.low else "", last: f"{id}-high" if question.high else ""}
    return tuple(
        ShownOption(
            position=position,
            label=with_names(option.label, names),
            chosen=given.get(question.name) == str(position)
            or (question.kind == "several" and bool(given.get(part_of(question.name, position)))),
            key=_key(question, position) if question.one_of_them else "",
            described_by=ends.get(position, ""),
            field=FIELD + part_of(question.name, position),
            rank=given.get(part_of(question.name, position), ""),
        )
        for position, option in enumerate(question.options, start=1)
    )


def _key(question: Question, position: int) -> str:
    labels = [option.label for option in question.options]
    if all(len(label) == 1 and label.isdecimal() for label in labels):
        return labels[position - 1]
    return str(position) if len(labels) <= KEYS else ""
