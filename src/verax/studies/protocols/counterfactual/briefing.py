"""The default instructions and screening test of counterfactual simulation."""

from __future__ import annotations

from verax.studies.display.method_questions import method_question
from verax.studies.display.terms import Terms, terms
from verax.studies.display.wording import Paragraphs, limits, reading, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import (
    RATE_THE_REASONS,
    half_right,
    how_often_right,
)


def brief(material: Material, *, test: int, method: str | None, direction: bool) -> Briefing:
    """Counterfactual simulation, for people with the explanations of a condition, or without any."""
    words = terms(material)
    said: Paragraphs = (
        *task(material),
        f"For each of {test} {words.many} you see the right answer, the model's answer, and a changed version of the "
        f"{words.one} in which some {words.pieces} were replaced.",
        "Your task is to predict what the model says about the changed version, even if you think it is wrong. The "
        "model makes mistakes.",
        f"{half_right(material)} And in half of them, the change alters the model's answer.",
        "You will do two things:",
        f"- First predictions: {test} {words.many}.",
        f"- Second predictions: the same {words.many} in another order.",
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them.
    if method is None:
        own = _nothing_new(words)
        introduction: Paragraphs = (
            f"The second predictions show the same {words.many} and changes as the first.",
        )
    else:
        own = method_question(material, method)
        introduction = (
            "In the second predictions the model's answer to the original is explained.",
            *read,
            f"You also rate each explanation. {RATE_THE_REASONS}",
        )
    questions = (
        Asked(
            question="What do you predict?",
            answers=[
                f"The right answer for the changed {words.one}",
                f"What the model says about the original {words.one}",
                f"What the model says about the changed {words.one}, even if it is wrong",
            ],
            correct=3,
        ),
        how_often_right(material),
        Asked(
            question="How often does the change alter the model's answer?",
            answers=["Always", f"In half of the {words.many}", "Never"],
            correct=2,
        ),
    )
    return Briefing(said, questions, own, read, introduction)


def _nothing_new(words: Terms) -> Asked:
    """What people without explanations see in the second predictions; they are not told that others see more."""
    return Asked(
        question="What do you see in the second predictions?",
        answers=[
            f"Other {words.many} than in the first",
            f"The same {words.many} and changes as in the first",
            f"Only the changed {words.many}",
        ],
        correct=2,
    )
