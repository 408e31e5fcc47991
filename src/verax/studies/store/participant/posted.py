"""What a page sent, checked against its screen: answers, the browser's times, and anything else that is only kept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from verax.phrases import say
from verax.studies.definition.screen import Question, Screen

# Form fields of answers begin so, so that no question's name collides with the form's own fields.
FIELD = "q-"
LONGEST_TEXT = 10_000  # characters of a written answer, on the page and here
LONGEST_LINE = 300  # of a short one
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
        meanings: by question: what the chosen option means, the number, the text, or None where nothing was answered;
            of several options, and of a ranking, a list in JSON, in the order of the page, or the best first.
        positions: by question: the place of the chosen option, from 1.
        errors: by question: what is wrong, in a sentence for the participant.
    """

    meanings: dict[str, str | int | float | None] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def check_answers(screen: Screen, given: Mapping[str, str]) -> Answers:
    """Translates option positions to what they mean; fields that are no questions of the screen are left alone.

    Of several answers, and of a ranking, each option has a field of its own, called by the question and its position.
    """
    answers = Answers()
    for question in screen.questions:
        TAKEN[question.kind](question, given, answers)
    return answers


def part_of(question: str, position: int) -> str:
    """The name of the field of one option, where each has its own."""
    return f"{question}.{position}"


def _take_text(question: Question, given: Mapping[str, str], answers: Answers) -> None:
    text = clean(given.get(question.name, ""))
    most = LONGEST_LINE if question.kind == "line" else LONGEST_TEXT
    if len(text) > most:
        answers.errors[question.name] = say("participant", "write-less", most=most, now=len(text))
    elif text.strip():
        answers.meanings[question.name] = text
    elif question.required:
        answers.errors[question.name] = say("participant", "write-answer")
    else:
        answers.meanings[question.name] = None


def _take_choice(question: Question, given: Mapping[str, str], answers: Answers) -> None:
    value = clean(given.get(question.name, ""))
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


def _take_number(question: Question, given: Mapping[str, str], answers: Answers) -> None:
    text = clean(given.get(question.name, "")).strip().replace(",", ".")
    if not text and not question.required:
        answers.meanings[question.name] = None
        return
    low, high = question.lowest, question.highest
    number = float(text) if DECIMAL.fullmatch(text) else None
    fits = number is not None and (low is None or number >= low) and (high is None or number <= high)
    if number is None or not fits or (question.whole and not number.is_integer()):
        named = {(True, True): "none", (False, True): "least", (True, False): "most", (False, False): "both"}
        answers.errors[question.name] = say(
            "questions",
            "write-number",
            whole=question.whole,
            range=named[low is None, high is None],
            lowest=f"{low or 0:g}",
            highest=f"{high or 0:g}",
        )
    else:
        answers.meanings[question.name] = int(number) if number.is_integer() else number


def _take_several(question: Question, given: Mapping[str, str], answers: Answers) -> None:
    chosen = [
        option.means
        for place, option in enumerate(question.options, 1)
        if given.get(part_of(question.name, place))
    ]
    if chosen:
        answers.meanings[question.name] = json.dumps(chosen, ensure_ascii=False)
    elif question.required:
        answers.errors[question.name] = say("questions", "choose-some")
    else:
        answers.meanings[question.name] = None


def _take_ranking(question: Question, given: Mapping[str, str], answers: Answers) -> None:
    many = len(question.options)
    ranks = [given.get(part_of(question.name, place), "") for place in range(1, many + 1)]
    if not any(ranks) and not question.required:
        answers.meanings[question.name] = None
    elif sorted(ranks) != sorted(map(str, range(1, many + 1))):
        answers.errors[question.name] = say("questions", "rank-all", places=many)
    else:
        best_first = [
            option.means
            for _, option in sorted(
                zip(map(int, ranks), question.options, strict=True), key=lambda one: one[0]
            )
        ]
        answers.meanings[question.name] = json.dumps(best_first, ensure_ascii=False)


TAKEN: Mapping[str, Callable[[Question, Mapping[str, str], Answers], None]] = {
    "choice": _take_choice,
    "scale": _take_choice,
    "text": _take_text,
    "line": _take_text,
    "number": _take_number,
    "several": _take_several,
    "ranking": _take_ranking,
}
DECIMAL = re.compile(r"-?[0-9]{1,12}([.][0-9]{1,6})?")


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
