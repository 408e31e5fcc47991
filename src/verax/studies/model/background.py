"""What people may be asked about themselves at the end: a few questions that a spec asks for by name.

They come last, when nothing can be bent by them any more, and nobody has to answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from verax.studies.model.screen import Option, Question

BackgroundName = Literal["age", "language", "course", "words"]
PREFIX = "background-"
UNSAID = "I would rather not say"

_CLOSED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "age": ("How old are you?", ("18 to 24", "25 to 34", "35 to 44", "45 to 54", "55 to 64", "65 or older")),
    "language": (
        "How well do you know English?",
        ("It is my first language", "I speak it well", "I speak it a little"),
    ),
    "course": (
        "Have you ever taken a course in computer science or statistics?",
        ("No", "In computer science", "In statistics", "In both"),
    ),
}
_WORDS = "Is there anything that you would like to tell us?"


def background_question(name: BackgroundName) -> Question:
    """The question of this name; what is stored of an answer are its words."""
    if name == "words":
        return Question(PREFIX + name, _WORDS, kind="text", required=False)
    prompt, answers = _CLOSED[name]
    options = tuple(Option(answer, answer) for answer in (*answers, UNSAID))
    return Question(PREFIX + name, prompt, options=options, required=False, fixed_order=True)


def background_answers(name: str) -> tuple[str, ...]:
    """The answers that an exclusion rule may name; none for a question in own words."""
    return _CLOSED[name][1] if name in _CLOSED else ()
