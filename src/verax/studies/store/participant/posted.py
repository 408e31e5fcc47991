"""What a page sent, checked against its screen: answers, the browser's times, and anything else that is only kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from verax.phrases import say
from verax.studies.definition.screen import Question, Screen

# Form fields of answers begin so, so that no question's name collides with the form's own fields.
FIELD = "q-"
LONGEST_TEXT = 10_000  # characters of a written answer, on the page and here
LONGEST_TIME = 1e14  # milliseconds: more than any clock shows
MOST_TIMES = 30
MOST_ENTRIES = 100
DEEPEST = 4
TIME_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
NUL = "\x00"


@dataclass(frozen=True)
class Answers:
    """The answers of a page.

    Attributes:
        meanings: by question: what the chosen option means, the text, or None where nothing was answered.
        positions: by question: the place of the chosen option, from 1.
        errors: by question: what is wrong, in a sentence for the participant.
    """

    meanings: dict[str, str | int | float | None] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def check_answers(screen: Screen, given: Mapping[str, str]) -> Answers:
    """Translates option positions to what they mean; fields that are no questions of the screen are left alone."""
    answers = Answers()
    for question in screen.questions:
        value = clean(given.get(question.name, ""))
        if question.kind == "text":
            _take_text(question, value, answers)
        else:
            _take_choice(question, value, answers)
    return answers


def _take_text(question: Question, text: str, answers: Answers) -> None:
    if len(text) > LONGEST_TEXT:
        answers.errors[question.name] = say("participant", "write-less", most=LONGEST_TEXT, now=len(text))
    elif text.strip():
        answers.meanings[question.name] = text
    elif question.required:
        answers.errors[question.name] = say("participant", "write-answer")
    else:
        answers.meanings[question.name] = None


def _take_choice(question: Question, value: str, answers: Answers) -> None:
    places = {str(place): place for place in range(1, len(question.options) + 1)}
    if value in places:
        answers.positions[question.name] = places[value]
        answers.meanings[question.name] = question.options[places[value] - 1].means
    elif value:
        answers.errors[question.name] = say("participant", "choose-again")
    elif question.required:
        answers.errors[question.name] = say("participant", "choose-answer")
    else:
        answers.meanings[question.name] = None


def clean(text: object) -> str:
    """The text as every database takes it: line ends of one kind, no NUL, no half characters."""
    plain = str(text).replace("\r\n", "\n").replace(NUL, "")
    return plain.encode("utf-8", "replace").decode()


def check_times(client: Mapping[str, object]) -> dict[str, float | list[str]]:
    """The browser's times as numbers; the names of those that are none stand under "refused"."""
    times: dict[str, float | list[str]] = {}
    refused = []
    for name, value in client.items():
        number = _number(value)
        if number is None or len(times) == MOST_TIMES or not TIME_NAME.fullmatch(str(name)):
            refused.append(clean(name)[:40])
        else:
            times[str(name)] = number
    return times | {"refused": refused[:MOST_TIMES]} if refused else times


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not (math.isfinite(number) and 0 <= number <= LONGEST_TIME):
        return None
    return int(number) if number.is_integer() else number


def keepable(data: object, depth: int = 0) -> object:
    """Anything that a browser sent, as JSON of a bounded size; what is cut says so."""
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, int | float):
        return data if abs(data) <= LONGEST_TIME else "a number out of range"  # also NaN
    if isinstance(data, Mapping | list | tuple) and depth < DEEPEST:
        entries = list(data.items()) if isinstance(data, Mapping) else list(enumerate(data))
        kept = {clean(name)[:100]: keepable(value, depth + 1) for name, value in entries[:MOST_ENTRIES]}
        if len(entries) > MOST_ENTRIES:
            kept["left out"] = len(entries) - MOST_ENTRIES
        return kept if isinstance(data, Mapping) else list(kept.values())
    text = clean(data)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"
