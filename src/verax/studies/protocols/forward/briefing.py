"""The default instructions and screening test of forward simulation."""

from __future__ import annotations

from verax.studies.display.method_questions import method_question
from verax.studies.display.terms import terms
from verax.studies.display.wording import Paragraphs, limits, reading, task
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import (
    RATE_THE_REASONS,
    half_right,
    how_often_right,
    what_to_predict,
)


def brief(material: Material, *, learning: int, test: int, method: str | None, direction: bool) -> Briefing:
    """Forward simulation, for people with the explanations of a condition, or without any."""
    many = terms(material).many
    said: Paragraphs = (
        *task(material),
        "Your task is to predict what the model says, even if you think it is wrong. The model makes mistakes.",
        half_right(material),
        "You will do four things:",
        f"- First look: {learning} {many} with the right answer and the model's answer.",
        f"- First predictions: {test} new {many}. You predict the model's answer. You cannot look back at the others.",
        f"- Second look: the first {learning} {many} again.",
        f"- Second predictions: the {test} {many} of the first predictions again, in another order.",
        *limits(material.spec.timing),
    )
    read = () if method is None else reading(material, method, direction=direction)
    # The instructions are the same in all conditions: what comes before explanations must not hint at them.
    if method is None:
        own = _nothing_new(many)
        introduction: Paragraphs = (
            "The second look shows the same as the first: the right answer and the model's answer.",
        )
    else:
        own = method_question(material, method)
        introduction = (
            "In the second look the model's answers are explained, and you rate each explanation.",
            *read,
            RATE_THE_REASONS,
        )
    questions = (
        what_to_predict(material),
        how_often_right(material),
        Asked(
            question=f"May you look back at the {many} of the first look while you predict?",
            answers=["Yes, at any time", "Yes, but only once", "No"],
            correct=3,
        ),
    )
    return Briefing(said, questions, own, read, introduction)


def _nothing_new(many: str) -> Asked:
    """What people without explanations see in the second look; they are not told that others see more."""
    return Asked(
        question="What do you see in the second look?",
        answers=[
            "Other people's answers",
            f"The same {many} again, with the right answer and the model's answer",
            f"Only the {many}, without answers",
        ],
        correct=2,
    )
