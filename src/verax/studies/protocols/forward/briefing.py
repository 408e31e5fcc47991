"""The default instructions and screening test of forward simulation."""

from __future__ import annotations

from verax.studies.display.wording import Paragraphs, how_to_read, limits, task, terms
from verax.studies.model.sources import Briefing, Material
from verax.studies.model.spec_tables import ScreeningQuestion as Asked
from verax.studies.protocols.briefing_parts import (
    RATE_THE_REASONS,
    half_right,
    how_often_right,
    nothing_but_answers,
    what_a_mark_means,
    what_to_predict,
)


def brief(material: Material, *, learning: int, test: int, explained: bool, direction: bool) -> Briefing:
    """Forward simulation, for people with or without explanations."""
    many = terms(material).many
    again = "now with an explanation of the model's answer, which you rate" if explained else "as before"
    said: Paragraphs = (
        *task(material),
        "Your task is to predict what the model says, whether that is right or wrong. The model makes mistakes.",
        half_right(material),
        "You will do four things:",
        f"- First look: {learning} {many} with the right answer and the model's answer.",
        f"- First predictions: {test} new {many}. You predict the model's answer. You cannot look back at the others.",
        f"- Second look: the first {learning} {many} again, {again}.",
        f"- Second predictions: the {test} {many} of the first predictions again, in another order.",
        *limits(material.spec.timing),
    )
    if explained:
        said += (how_to_read(material, direction=direction), RATE_THE_REASONS)
    questions = (
        what_to_predict(material),
        how_often_right(material),
        what_a_mark_means(material) if explained else nothing_but_answers(material, "in the second look"),
        Asked(
            question=f"May you look back at the {many} of the first look while you predict?",
            answers=["Yes, at any time", "Yes, but only once", "No"],
            correct=3,
        ),
    )
    return Briefing(said, questions)
